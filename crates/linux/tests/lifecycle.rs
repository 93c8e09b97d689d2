//! What load and unload leave in the kernel when programs are replaced, and when commands are killed in the middle.
//! Needs root and the kernel's BTF; skipped without, or while something is loaded that is not of this test.
#![cfg(feature = "bpf")]

mod common;

use common::{alone, is_registered, must, program, said};
use libbpf_rs::Link;
use libbpf_rs::query::{LinkTypeInfo, MapInfoIter};
use shortflow_linux::sys::{self, Namespace};
use std::fs::{self, File};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const DIRECTORY: &str = "/sys/fs/bpf/shortflow";
const DEFAULT: &str = "/proc/sys/net/ipv4/tcp_congestion_control";

fn default_here() -> String {
    fs::read_to_string(DEFAULT).unwrap().trim().to_owned()
}

/// A namespace with a process in it, by which it is found.
struct Inhabited {
    namespace: Namespace,
    process: Child,
}

impl Inhabited {
    /// With the default that it inherits, or `default`.
    fn new(default: Option<&str>) -> Inhabited {
        let namespace = Namespace::new().unwrap();
        if let Some(name) = default {
            namespace.within(|| fs::write(DEFAULT, name)).unwrap();
        }
        let process = namespace.within(|| Command::new("sleep").arg("60").spawn()).unwrap();
        Inhabited { namespace, process }
    }

    fn default(&self) -> String {
        self.namespace.within(|| Ok(default_here())).unwrap()
    }

    fn load(&self, arguments: &[&str]) {
        let (code, text) = self.namespace.within(|| Ok(said(arguments))).unwrap();
        assert_eq!(code, 0, "{arguments:?}: {text}");
    }
}

impl Drop for Inhabited {
    fn drop(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

/// The kernel's number of the program that is registered as sf_dctcp.
fn registered() -> u32 {
    let link = Link::open(format!("{DIRECTORY}/sf_dctcp/link")).unwrap();
    match link.info().unwrap().info {
        LinkTypeInfo::StructOps(found) => found.map_id,
        other => panic!("{other:?}"),
    }
}

/// The kernel's default is a program rather than a name: new sockets take the replaced one, which the kernel keeps for
/// that, unless the default is set again.
#[test]
fn new_sockets_do_not_take_the_replaced_default() {
    let Some(_alone) = alone() else { return };
    let host = Inhabited::new(Some("reno"));
    let congestion =
        || host.namespace.within(|| sys::congestion(&TcpListener::bind("127.0.0.1:0")?)).unwrap();
    host.load(&["load", "sf_dctcp", "--default"]);
    assert_eq!(congestion(), "sf_dctcp");
    let replaced = registered();
    // From another namespace than the one that has it.
    must(&["load", "sf_dctcp", "--param", "g=0.25"]);
    assert_eq!(congestion(), "sf_dctcp");
    assert_ne!(registered(), replaced);
    let begun = Instant::now();
    while MapInfoIter::default().any(|map| map.id == replaced) {
        assert!(begun.elapsed() < Duration::from_secs(10), "the kernel still uses the replaced program");
        std::thread::sleep(Duration::from_millis(20));
    }
    must(&["unload"]);
    assert_eq!(congestion(), "reno");
}

#[test]
fn a_namespace_that_inherited_the_default_gets_another() {
    let Some(_alone) = alone() else { return };
    let before = default_here();
    let heir = Inhabited::new(None);
    must(&["load", "sf_dctcp", "sf_fast"]);
    // As a child of a namespace with that default has it: without a record.
    heir.namespace.within(|| fs::write(DEFAULT, "sf_fast")).unwrap();
    must(&["unload", "sf_dctcp"]);
    assert_eq!(heir.default(), "sf_fast");
    must(&["unload"]);
    assert_eq!((heir.default().as_str(), default_here()), ("reno", before));
}

/// Kills of `unload` and of a replacement, at moments spread over both: what the next `load` says is so is so.
#[test]
fn a_killed_unload_or_replacement_leaves_nothing_half_done() {
    let Some(_alone) = alone() else { return };
    let host = Inhabited::new(Some("reno"));
    let (mut early, mut midway) = (0, 0);
    for step in 0..48u64 {
        host.load(&["load", "sf_dctcp", "sf_l2dct", "--default"]);
        let arguments: &[&str] =
            if step % 2 == 0 { &["unload"] } else { &["load", "sf_dctcp", "sf_l2dct", "--param", "g=0.25"] };
        let quiet = program().args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let mut command = quiet.unwrap();
        std::thread::sleep(Duration::from_micros(step / 2 * if step % 2 == 0 { 1500 } else { 6000 }));
        let _ = command.kill();
        let was_killed = !command.wait().unwrap().success();
        let held = ["sf_dctcp/link", "sf_l2dct/link", "sf_dctcp/config", "sf_l2dct/config"];
        let held =
            held.iter().filter(|file| fs::exists(format!("{DIRECTORY}/{file}")).unwrap_or(false)).count();
        let is_whole = held == 4 && host.default() == "sf_l2dct";
        if was_killed {
            early += usize::from(is_whole);
            midway += usize::from(!is_whole);
        }
        must(&["load", "sf_dctcp"]);
        assert!(is_registered("sf_dctcp"), "step {step}");
        let status = must(&["status"]);
        assert_eq!(status.contains("sf_l2dct"), is_registered("sf_l2dct"), "step {step}: {status}");
        must(&["unload"]);
        assert!(!is_registered("sf_") && !fs::exists(DIRECTORY).unwrap(), "step {step}");
        assert_eq!(host.default(), "reno", "step {step}");
    }
    eprintln!("killed before the first change {early}, in the middle {midway}");
    assert!(midway > 0, "no kill has landed in the middle");
}

/// Exit code and output of a command as root without some capabilities.
fn said_without(capabilities: &str, arguments: &[&str]) -> (i32, String) {
    let mut limited = Command::new("setpriv");
    limited.args(["--bounding-set", capabilities]).arg(env!("CARGO_BIN_EXE_shortflow-linux")).args(arguments);
    let output = limited.output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.code().unwrap_or(-1), String::from_utf8_lossy(&text).into_owned())
}

#[test]
fn the_record_of_a_namespace_that_cannot_be_inspected_stays() {
    let Some(_alone) = alone() else { return };
    let host = Inhabited::new(Some("reno"));
    host.load(&["load", "sf_dctcp", "--default"]);
    let (code, text) = said_without("-sys_admin,-sys_ptrace", &["unload"]);
    assert!(
        code == 0 && text.contains("CAP_SYS_ADMIN") && text.contains("its default was reno"),
        "{code} {text}"
    );
    assert!(!is_registered("sf_"));
    assert_eq!((host.default().as_str(), must(&["unload"]).as_str()), ("sf_dctcp", "nothing is loaded\n"));
    assert_eq!(host.default(), "reno");
    assert!(!fs::exists(DIRECTORY).unwrap());
}

/// Where a bpf file system is mounted.
#[test]
fn the_rights_of_the_unit_are_enough_for_its_own_namespace() {
    let Some(_alone) = alone() else { return };
    must(&["load", "sf_fast"]);
    let host = Inhabited::new(Some("reno"));
    for (arguments, default) in
        [(&["load", "sf_dctcp", "--default"][..], "sf_dctcp"), (&["unload", "sf_dctcp"], "reno")]
    {
        let unit = host.namespace.within(|| Ok(said_without("-all,+bpf,+perfmon,+net_admin", arguments)));
        let (code, text) = unit.unwrap();
        assert!(code == 0 && !text.contains("warning"), "{arguments:?}: {code} {text}");
        assert_eq!(host.default(), default);
    }
}

#[test]
fn a_rule_that_may_not_be_removed_is_not_said_to_be_gone() {
    let (code, text) = said_without("-net_admin", &["stamp", "lo", "--by", "none"]);
    assert!(code == 3 && text.starts_with("lo: "), "{code} {text}");
}

/// A `load` that was killed between mount and mkdir, where the host has no bpf file system.
#[test]
fn a_file_system_that_nothing_is_in_goes() {
    let Some(_alone) = alone() else { return };
    let lines = "umount --quiet /sys/fs/bpf
        mount -t bpf shortflow /sys/fs/bpf && \"$0\" status && ! grep ' /sys/fs/bpf bpf ' /proc/self/mounts";
    let mut apart = Command::new("unshare");
    let output =
        apart.args(["--mount", "sh", "-c", lines, env!("CARGO_BIN_EXE_shortflow-linux")]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "nothing is loaded\n");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// What any user may open, any user may lock.
#[test]
fn only_root_can_hold_the_lock() {
    let Some(_alone) = alone() else { return };
    let mode = fs::metadata("/run/shortflow.lock").unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let readable = File::open("/sys/fs").unwrap();
    sys::lock(&readable).unwrap();
    assert_eq!(must(&["status"]), "nothing is loaded\n");
}

#[test]
fn a_wrong_cgroup_is_refused_before_anything_is_loaded() {
    let Some(_alone) = alone() else { return };
    for cgroup in ["/nope", "/tmp"] {
        let (code, text) = said(&["load", "sf_dctcp", "--cgroup", cgroup]);
        assert!(code == 2 && text.starts_with(&format!("--cgroup {cgroup}: ")), "{code} {text}");
        assert!(!text.contains("loaded"), "{text}");
    }
}
