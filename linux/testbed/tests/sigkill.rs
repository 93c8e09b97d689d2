//! A testbed that is killed leaves nothing behind, and the next testbed works. Needs root, `ip` and `tc`; skipped
//! without them. `SHORTFLOW_KILLS` sets the number of kills (default: 4).
#![cfg(feature = "bpf")]

mod common;

use common::{eventually, host_guard, is_registered, measured, open_files, program, run, scenario};
use std::collections::BTreeSet;
use std::fs;
use std::process::Stdio;
use std::time::Duration;

/// Returns the network namespaces that a process holds open.
fn namespaces(process: &str) -> BTreeSet<String> {
    open_files(process).into_iter().filter(|link| link.starts_with("net:[")).collect()
}

fn processes() -> Vec<String> {
    let names =
        fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| entry.file_name().into_string().ok());
    names.filter(|name| name.bytes().all(|byte| byte.is_ascii_digit())).collect()
}

/// True if a mount, a process or an open file still holds one of these namespaces.
fn is_held(gone: &BTreeSet<String>) -> bool {
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
    let has_name = mounts.split(' ').any(|word| gone.contains(word));
    has_name
        || processes().iter().any(|process| {
            let home = fs::read_link(format!("/proc/{process}/ns/net"));
            home.is_ok_and(|home| gone.contains(&*home.to_string_lossy()))
                || !namespaces(process).is_disjoint(gone)
        })
}

/// True if our program is registered without a pin.
fn is_left_registered() -> bool {
    is_registered("sf_dctcp") && !fs::exists("/sys/fs/bpf/shortflow/sf_dctcp").unwrap_or(false)
}

/// Number of our congestion controls and device programs in the kernel, in use or not; `None` without bpftool.
fn kept_programs() -> Option<usize> {
    let lines = |what: [&str; 2]| {
        let output = std::process::Command::new("bpftool").args(what).output().ok()?;
        Some(String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect::<Vec<_>>())
    };
    let controls = lines(["struct_ops", "list"])?;
    let of_devices = lines(["prog", "list"])?;
    let is_control = |line: &&String| line.contains(" sf_") && line.trim_end().ends_with("congestion_ops");
    let is_of_device = |line: &&String| line.contains("sched_cls") && line.contains("name dscp");
    Some(controls.iter().filter(is_control).count() + of_devices.iter().filter(is_of_device).count())
}

#[test]
fn a_killed_testbed_leaves_nothing() {
    let Some(_guard) = host_guard() else { return };
    let kills: u64 = std::env::var("SHORTFLOW_KILLS").map_or(4, |text| text.parse().unwrap());
    let (long, short) = (scenario("killed", "20s"), scenario("after-kills", "300ms"));
    let programs = kept_programs();
    if programs.is_none() {
        eprintln!("skipped: whether the kernel keeps programs: needs bpftool");
    }
    // Runs that load programs, if this host can: pECN has a congestion control, and every device marks the DSCP.
    let (code, _, why) = run(&short, &["--scheme", "pecn", "--check"]);
    let scheme = if code == Some(3) { "tcp-ecn" } else { "pecn" };
    eprintln!("{scheme} {why}");
    let (mounts, mut landed) = (fs::read_to_string("/proc/self/mounts").unwrap(), 0);
    // Programs that the host had loaded before must stay.
    let loaded = || (is_registered("sf_"), fs::exists("/sys/fs/bpf/shortflow").unwrap());
    let before = loaded();
    for kill in 0..kills {
        let mut testbed = program();
        testbed.arg("testbed").arg(&long).args(["--scheme", scheme]);
        let mut child = testbed.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        // The kills are spread over set-up, connecting and the run.
        std::thread::sleep(Duration::from_millis(10 + kill * 367 % 1500));
        let namespaces = namespaces(&child.id().to_string());
        landed += u64::from(!namespaces.is_empty());
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(eventually(|| !is_held(&namespaces)), "a namespace is held");
        assert!(eventually(|| !is_left_registered()), "a congestion control is registered");
        assert!(
            eventually(|| programs.is_none() || kept_programs() <= programs),
            "the kernel keeps a program"
        );
    }
    assert!(4 * landed >= kills, "of {kills} testbeds only {landed} were killed when they had a namespace");
    measured(&short, &["--scheme", scheme]);
    let cleanup = program().arg("cleanup").output().unwrap();
    assert!(cleanup.status.success(), "{}", String::from_utf8_lossy(&cleanup.stderr));
    assert_eq!(loaded(), before, "registered, pinned");
    assert_eq!(fs::read_to_string("/proc/self/mounts").unwrap(), mounts);
}
