//! A testbed that is killed leaves nothing behind, and the next one works. Needs root, `ip` and `tc`; skipped
//! without. `SHORTFLOW_KILLS` says how often, by default four times.

mod common;

use common::{obstacle, program, scenario};
use std::collections::BTreeSet;
use std::fs;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// With the eBPF part, programs are in the kernel too: pECN has a congestion control, and stamps on every device.
const SCHEME: &str = if cfg!(feature = "bpf") { "pecn" } else { "tcp-ecn" };
const PATIENCE: Duration = Duration::from_secs(10);

/// What the links of all files of a process say, if it is there.
fn open_files(process: &str) -> Vec<String> {
    let files = fs::read_dir(format!("/proc/{process}/fd")).into_iter().flatten().flatten();
    let links = files.filter_map(|file| fs::read_link(file.path()).ok());
    links.map(|link| link.to_string_lossy().into_owned()).collect()
}

/// The network namespaces that a process holds.
fn namespaces(process: &str) -> BTreeSet<String> {
    open_files(process).into_iter().filter(|link| link.starts_with("net:[")).collect()
}

fn processes() -> Vec<String> {
    let names =
        fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| entry.file_name().into_string().ok());
    names.filter(|name| name.bytes().all(|byte| byte.is_ascii_digit())).collect()
}

/// Whether anybody still holds one of these namespaces, by a file or by living there.
fn is_held(gone: &BTreeSet<String>) -> bool {
    processes().iter().any(|process| {
        let home = fs::read_link(format!("/proc/{process}/ns/net"));
        home.is_ok_and(|home| gone.contains(&*home.to_string_lossy()))
            || !namespaces(process).is_disjoint(gone)
    })
}

/// Devices of this namespace, namespaces with names, mounted namespaces.
fn visible() -> (BTreeSet<String>, BTreeSet<String>, usize) {
    let names = |directory: &str| {
        let entries = fs::read_dir(directory).into_iter().flatten().flatten();
        entries.filter_map(|entry| entry.file_name().into_string().ok()).collect()
    };
    let mounts = fs::read_to_string("/proc/mounts").unwrap_or_default();
    (
        names("/sys/class/net"),
        names("/run/netns"),
        mounts.lines().filter(|line| line.starts_with("nsfs")).count(),
    )
}

/// Whether our program is registered though nothing is pinned for it.
fn is_left_registered() -> bool {
    const KNOWN: &str = "/proc/sys/net/ipv4/tcp_available_congestion_control";
    let known = fs::read_to_string(KNOWN).unwrap_or_default();
    known.split_whitespace().any(|name| name == "sf_dctcp")
        && !fs::exists("/sys/fs/bpf/shortflow/sf_dctcp").unwrap_or(false)
}

/// How many programs for TCP and for devices the kernel keeps, whether in use or not; `None` without bpftool.
fn kept_programs() -> Option<usize> {
    let lines = |what: [&str; 2]| {
        let output = std::process::Command::new("bpftool").args(what).output().ok()?;
        Some(String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect::<Vec<_>>())
    };
    let controls = lines(["struct_ops", "list"])?;
    let of_devices = lines(["prog", "list"])?;
    let is_control = |line: &&String| line.trim_end().ends_with("congestion_ops");
    let is_of_device = |line: &&String| line.contains("sched_cls") && line.contains("name stamp");
    Some(controls.iter().filter(is_control).count() + of_devices.iter().filter(is_of_device).count())
}

fn eventually(what: &str, holds: impl Fn() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < PATIENCE, "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_killed_testbed_leaves_nothing() {
    if let Some(reason) = obstacle() {
        eprintln!("skipped: {reason}");
        return;
    }
    let kills: u64 = std::env::var("SHORTFLOW_KILLS").map_or(4, |text| text.parse().unwrap());
    let (long, short) = (scenario("killed", "20s"), scenario("after-kills", "300ms"));
    let (before, programs) = (visible(), kept_programs());
    let mut held = 0;
    for kill in 0..kills {
        let mut testbed = program();
        testbed.arg("testbed").arg(&long).args(["--scheme", SCHEME]);
        let mut child = testbed.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        // Spread over setting up, connecting and running.
        std::thread::sleep(Duration::from_millis(10 + kill * 367 % 1500));
        let namespaces = namespaces(&child.id().to_string());
        held += namespaces.len();
        child.kill().unwrap();
        child.wait().unwrap();
        eventually("a namespace is held", || !is_held(&namespaces));
        eventually("a congestion control is registered", || !is_left_registered());
        eventually("the kernel keeps a program", || kept_programs() <= programs);
        assert_eq!(visible(), before);
    }
    assert!(held > 0, "every testbed was killed before it had a namespace");
    let after = program().arg("testbed").arg(&short).args(["--scheme", SCHEME]).output().unwrap();
    assert!(after.status.success(), "{}", String::from_utf8_lossy(&after.stderr));
    let cleanup = program().arg("cleanup").output().unwrap();
    assert!(cleanup.status.success(), "{}", String::from_utf8_lossy(&cleanup.stderr));
    assert!(!is_left_registered());
}
