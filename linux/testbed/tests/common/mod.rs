//! Shared parts of the tests on a real kernel.
#![allow(dead_code, reason = "every test uses a part of it")]

pub(crate) mod hosts;
pub(crate) mod messages;
pub(crate) mod wire;

use serde_json::Value;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

const AVAILABLE: &str = "/proc/sys/net/ipv4/tcp_available_congestion_control";

/// The program under test.
pub(crate) fn program() -> Command {
    Command::new(env!("CARGO_BIN_EXE_shortflow-linux"))
}

/// Runs the program under test. Returns its exit code and output.
pub(crate) fn output_of(arguments: &[&str]) -> (i32, String) {
    let output = program().args(arguments).output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.code().unwrap_or(-1), String::from_utf8_lossy(&text).into_owned())
}

/// Runs a command that must succeed. Returns its output.
pub(crate) fn must(arguments: &[&str]) -> String {
    let (code, text) = output_of(arguments);
    assert_eq!(code, 0, "{arguments:?}: {text}");
    text
}

/// Runs a command that must succeed. Returns its duration.
pub(crate) fn took(arguments: &[&str]) -> Duration {
    let begun = Instant::now();
    must(arguments);
    begun.elapsed()
}

/// True if the kernel has a congestion control with this prefix.
pub(crate) fn is_registered(prefix: &str) -> bool {
    let names = std::fs::read_to_string(AVAILABLE).unwrap_or_default();
    names.split_whitespace().any(|name| name.starts_with(prefix))
}

/// Congestion control of the kernel that every namespace may have as its default. It is `reno`, to which failures fall
/// back, only if the kernel permits no other.
pub(crate) fn allowed_default() -> &'static str {
    let allowed = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_allowed_congestion_control").unwrap();
    let is_allowed = |name: &&str| allowed.split_whitespace().any(|other| other == *name);
    ["cubic", "bbr"].into_iter().find(is_allowed).unwrap_or("reno")
}

/// The congestion controls that `load` knows, by the kernel's names.
pub(crate) const LAWS: [&str; 6] = ["sf_dctcp", "sf_l2dct", "sf_d2tcp", "sf_xdctcp", "sf_atcp", "sf_fast"];

/// Waits until `holds` returns `true`, for at most 10 s. Returns `false` if it did not.
pub(crate) fn eventually(mut holds: impl FnMut() -> bool) -> bool {
    let begun = Instant::now();
    while !holds() {
        if begun.elapsed() > Duration::from_secs(10) {
            return false;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    true
}

/// Runs `attempt` up to three times, and returns its first result. This is the rule for tests with numbers from real
/// time, which other work on the host may disturb. The failures of the first two attempts are in the output. No suite
/// is run again.
pub(crate) fn best_of_three<T>(mut attempt: impl FnMut() -> T) -> T {
    for _ in 0..2 {
        if let Ok(found) = catch_unwind(AssertUnwindSafe(&mut attempt)) {
            return found;
        }
    }
    attempt()
}

/// Time limit of a test, several times the duration of the longest.
const TEST_TIMEOUT: Duration = Duration::from_secs(300);

/// Exclusive use of the host by one test. Registrations and processors belong to the whole host, so only one test runs
/// at a time, and each has a time limit.
pub(crate) struct HostGuard {
    _lock: MutexGuard<'static, ()>,
    _alive: Sender<()>,
}

/// Watches the test that holds the returned sender. If the test hangs, runs the command `last` and ends the whole
/// test program.
fn watched(last: &'static str) -> Sender<()> {
    let (alive, watch) = mpsc::channel();
    let test = std::thread::current().name().unwrap_or_default().to_owned();
    std::thread::spawn(move || {
        if watch.recv_timeout(TEST_TIMEOUT) == Err(RecvTimeoutError::Timeout) {
            let _ = writeln!(std::io::stderr(), "{test} hangs");
            // This command hangs too if the test holds the lock, so the wait has a limit.
            let ending = program().arg(last).spawn();
            let _ = ending.map(|mut ending| eventually(|| !matches!(ending.try_wait(), Ok(None))));
            std::process::exit(1);
        }
    });
    alive
}

/// Waits for exclusive use of the host, for a test that makes hosts. If this host cannot have any, prints the reason
/// and returns `None`.
pub(crate) fn host_guard() -> Option<HostGuard> {
    static LOCK: Mutex<()> = Mutex::new(());
    let lock = LOCK.lock().unwrap_or_else(PoisonError::into_inner);
    match obstacle() {
        None => return Some(HostGuard { _lock: lock, _alive: watched("cleanup") }),
        Some(reason) => eprintln!("skipped: {reason}"),
    }
    None
}

/// Exclusive use of the host by a test that loads programs. Dropping the guard unloads them, also after a panic.
pub(crate) struct ProgramsGuard(HostGuard);

impl Drop for ProgramsGuard {
    fn drop(&mut self) {
        output_of(&["unload"]);
    }
}

/// Waits for exclusive use of the host, for a test that loads programs. If the test cannot or should not load any,
/// prints the reason and returns `None`.
pub(crate) fn programs_guard() -> Option<ProgramsGuard> {
    let guard = host_guard()?;
    let reason = match output_of(&["status"]) {
        status if status.0 == 0 && !is_nothing_loaded(&status) => {
            "programs are loaded on this host".to_owned()
        }
        (0, _) if is_registered("sf_") => "another process runs them".to_owned(),
        (0, _) if output_of(&["check"]).0 != 0 => {
            "`shortflow-linux check` finds something missing".to_owned()
        }
        (0, _) => return Some(ProgramsGuard(HostGuard { _alive: watched("unload"), ..guard })),
        (_, text) => text,
    };
    eprintln!("skipped: {reason}");
    None
}

const HIDDEN: &str = "connections: this kernel does not allow programs to read connections; use `ss -ti`\n";

const HIDDEN_LISTENERS: &str =
    "listeners: this kernel does not allow programs to read listeners; use `ss -lti`\n";

/// True if the kernel does not permit `status`, of which this is the output, to read connections. Then also prints
/// that the test is skipped.
pub(crate) fn hides_connections(status: &str) -> bool {
    let is_hidden = status.ends_with(HIDDEN);
    if is_hidden {
        eprintln!("skipped: the kernel does not permit reading connections");
    }
    is_hidden
}

/// True if nothing is loaded, by the exit code and output of `status`. Sockets that close may keep maps, so the
/// output may also say that connections are hidden.
pub(crate) fn is_nothing_loaded((code, status): &(i32, String)) -> bool {
    let status = status.strip_suffix(HIDDEN).unwrap_or(status);
    *code == 0 && status.strip_suffix(HIDDEN_LISTENERS).unwrap_or(status) == "nothing is loaded\n"
}

/// Returns the reason if this host cannot have testbed hosts. Root of a container may lack rights, or find /proc/sys
/// read-only.
fn obstacle() -> Option<String> {
    if let Some(tool) = ["ip", "tc"].into_iter().find(|tool| Command::new(tool).arg("-V").output().is_err()) {
        return Some(format!("needs {tool} of iproute2"));
    }
    hosts::host(0, "reno", "1")
        .err()
        .map(|error| format!("needs root's rights, /dev/net/tun and a writable /proc/sys: {error}"))
}

/// Writes a scenario file for one test: short flows beside a long one over 50 Mbit/s.
pub(crate) fn scenario(name: &str, duration: &str) -> PathBuf {
    let text = format!(
        "title = \"Short flows beside a long one\"\nduration = \"{duration}\"\n\
         [topology]\nkind = \"dumbbell\"\npairs = 2\nrate = \"100Mbps\"\nbottleneck = \"50Mbps\"\nrtt = \"2ms\"\n\
         [switch]\nbuffer = \"100pkt\"\nmark_above = \"8pkt\"\n\
         [tcp]\nmss = \"1448B\"\nheader = \"52B\"\ninitial_window = 10\nrto_min = \"200ms\"\nack_every = 2\n\
         [[traffic]]\nkind = \"long-lived\"\nflows = 1\nfrom = [0]\nto = 2\n\
         [[traffic]]\nkind = \"incast\"\nflows = 4\nfrom = [1]\nto = 2\nat = \"100ms\"\nrepeat = 2\n\
         every = \"100ms\"\nsizes = {{ kind = \"fixed\", value = \"50KB\" }}\n\
         [measure]\nports = [\"s0->s1\"]\nsample_every = \"10ms\"\n"
    );
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.toml"));
    std::fs::write(&path, text).unwrap();
    path
}

/// Runs a testbed. Returns its exit code, stdout and stderr.
pub(crate) fn run(scenario: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = program().arg("testbed").arg(scenario).args(arguments).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

/// Runs a testbed, and returns its document. Asserts that the exit code agrees with the verdict.
pub(crate) fn measured(scenario: &Path, arguments: &[&str]) -> Value {
    let (code, out, errors) = run(scenario, arguments);
    let document: Value = serde_json::from_str(&out).unwrap_or_else(|_| panic!("{arguments:?}: {errors}"));
    match document["testbed"]["verdict"].as_str().unwrap().strip_prefix("not trustworthy: ") {
        None => assert_eq!((code, errors.as_str()), (Some(0), "")),
        Some(why) => {
            let says = format!("the testbed did not keep time: {why}; ");
            assert!(code == Some(1) && errors.starts_with(&says), "{code:?}: {errors}");
        }
    }
    document
}

/// Returns the link targets of all open files of a process; none if the process does not exist.
pub(crate) fn open_files(process: &str) -> Vec<String> {
    let files = std::fs::read_dir(format!("/proc/{process}/fd")).into_iter().flatten().flatten();
    let links = files.filter_map(|file| std::fs::read_link(file.path()).ok());
    links.map(|link| link.to_string_lossy().into_owned()).collect()
}

/// Returns the values of a column of a table.
pub(crate) fn column<'a>(document: &'a Value, table: &str, name: &str) -> Vec<&'a Value> {
    let columns = document["tables"][table].as_array().unwrap();
    let column = columns.iter().find(|column| column[0] == name).unwrap();
    column[2].as_array().unwrap().iter().collect()
}
