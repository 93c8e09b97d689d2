//! State of the kernel after `load` and `unload`, when programs are replaced or commands are killed in the middle.
//! Needs root, iproute2 and the kernel's BTF; skipped without them, or while foreign programs are loaded.
#![cfg(feature = "bpf")]

mod common;

use common::hosts::{Cgroup, OccupiedNamespace, output_without, started};
use common::{
    allowed_default, eventually, hides_connections, is_nothing_loaded, is_registered, must, output_of,
    program, programs_guard, took,
};
use libbpf_rs::query::{LinkTypeInfo, MapInfoIter};
use libbpf_rs::{Link, MapCore, MapFlags, MapHandle};
use rustix::net::sockopt::{set_tcp_congestion, tcp_congestion};
use serde_json::{Value, json};
use shortflow_deploy::sys::{Namespace, try_lock};
use shortflow_testbed::sys;
use std::fs::{self, File, Permissions};
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

const DIRECTORY: &str = "/sys/fs/bpf/shortflow";
const DEFAULT: &str = "/proc/sys/net/ipv4/tcp_congestion_control";

fn default_here() -> String {
    fs::read_to_string(DEFAULT).unwrap().trim().to_owned()
}

impl OccupiedNamespace {
    /// Makes a namespace with `default`, or else with the default that it inherits.
    fn new(default: Option<&str>) -> OccupiedNamespace {
        let namespace = Namespace::new().unwrap();
        if let Some(name) = default {
            namespace.within(|| fs::write(DEFAULT, name)).unwrap();
        }
        OccupiedNamespace::of(namespace)
    }

    fn default(&self) -> String {
        self.namespace.within(|| Ok(default_here())).unwrap()
    }

    /// True if `lo` has our DSCP filter.
    fn marks_dscp(&self) -> bool {
        let line = ["tc", "filter", "show", "dev", "lo", "egress"];
        self.namespace.within(|| Ok(started(&line))).unwrap().1.contains("handle 0x5346")
    }

    fn load(&self, arguments: &[&str]) {
        let (code, text) = self.namespace.within(|| Ok(output_of(arguments))).unwrap();
        assert_eq!(code, 0, "{arguments:?}: {text}");
    }
}

/// Returns the kernel's id of the program that is registered as `name`.
fn registered(name: &str) -> u32 {
    let link = Link::open(format!("{DIRECTORY}/{name}/link")).unwrap();
    match link.info().unwrap().info {
        LinkTypeInfo::StructOps(found) => found.map_id,
        other => panic!("{other:?}"),
    }
}

/// True if the kernel has released this program.
fn is_gone(program: u32) -> bool {
    MapInfoIter::default().all(|map| map.id != program)
}

/// The kernel's default refers to a program, not to a name. Unless `load` sets the default again, new sockets would
/// take the replaced program, and the kernel would keep that program for them.
#[test]
fn new_sockets_do_not_take_the_replaced_default() {
    let Some(_guard) = programs_guard() else { return };
    let host = OccupiedNamespace::new(Some(allowed_default()));
    let congestion =
        || host.namespace.within(|| Ok(tcp_congestion(TcpListener::bind("127.0.0.1:0")?)?)).unwrap();
    host.load(&["load", "sf_dctcp", "--default"]);
    assert_eq!(congestion(), "sf_dctcp");
    let replaced = registered("sf_dctcp");
    // `load` runs in another namespace than the one with this default.
    must(&["load", "sf_dctcp", "--param", "g=0.25"]);
    assert_eq!(congestion(), "sf_dctcp");
    assert_ne!(registered("sf_dctcp"), replaced);
    assert!(eventually(|| is_gone(replaced)), "the kernel still uses the replaced program");
    must(&["unload"]);
    assert_eq!(congestion(), allowed_default());
}

#[test]
fn a_namespace_that_inherited_the_default_gets_another() {
    let Some(_guard) = programs_guard() else { return };
    let before = default_here();
    let heir = OccupiedNamespace::new(None);
    must(&["load", "sf_dctcp", "sf_fast"]);
    // A child of a namespace with this default inherits it without a record.
    heir.namespace.within(|| fs::write(DEFAULT, "sf_fast")).unwrap();
    must(&["unload", "sf_dctcp"]);
    assert_eq!(heir.default(), "sf_fast");
    must(&["unload"]);
    assert_eq!((heir.default(), default_here()), (before.clone(), before));
}

/// A socket can choose a congestion control at any moment, even during its replacement.
#[test]
fn a_replacement_is_not_noticed() {
    let Some(_guard) = programs_guard() else { return };
    must(&["load", "sf_fast"]);
    if !fs::exists(format!("{DIRECTORY}/sf_fast/link")).unwrap() {
        return eprintln!("skipped: needs Linux 6.4");
    }
    let is_over = AtomicBool::new(false);
    let (tried, replaced) = std::thread::scope(|scope| {
        let chooser = scope.spawn(|| {
            let mut tried = 0;
            while !is_over.load(Ordering::Relaxed) {
                let socket = sys::tcp_socket([127, 0, 0, 1].into()).unwrap();
                set_tcp_congestion(&socket, "sf_fast").unwrap();
                tried += 1;
            }
            tried
        });
        let replaced: Vec<(String, String)> = (11..20)
            .map(|hundredths| format!("g=0.{hundredths}"))
            .map(|gain| {
                // A panic here would make the scope wait for the chooser forever.
                let load = output_of(&["load", "sf_fast", "--param", &gain]).1;
                (load + &output_of(&["status"]).1, gain)
            })
            .collect();
        is_over.store(true, Ordering::Relaxed);
        (chooser.join().unwrap(), replaced)
    });
    assert!(tried > 100, "{tried}");
    for (text, gain) in replaced {
        assert!(
            text.starts_with("sf_fast: replaced") && text.contains(&format!("{gain} ")),
            "{gain}: {text}"
        );
    }
    let files = |directory: &str| fs::read_dir(directory).unwrap().count();
    assert_eq!(files(&format!("{DIRECTORY}/sf_fast")), 2, "a part of a replacement is left");
}

#[test]
fn connections_that_outlive_an_unload_are_seen() {
    let Some(_guard) = programs_guard() else { return };
    must(&["load", "sf_dctcp"]);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    set_tcp_congestion(&listener, "sf_dctcp").unwrap();
    let address = listener.local_addr().unwrap();
    let sender = sys::tcp_socket(address.ip()).unwrap();
    set_tcp_congestion(&sender, "sf_dctcp").unwrap();
    sys::connect(&sender, address).unwrap();
    let (receiver, _) = listener.accept().unwrap();
    let unloaded = must(&["unload"]);
    if hides_connections(&must(&["status"])) {
        return;
    }
    assert!(unloaded.contains("2 connections keep it until they end"));
    let status: Value = serde_json::from_str(&must(&["status", "--json"])).unwrap();
    assert_eq!(status["loaded"], json!([]));
    assert_eq!(
        (&status["unloaded"][0]["name"], &status["unloaded"][0]["connections"]),
        (&json!("sf_dctcp"), &json!(2))
    );
    let status = must(&["status"]);
    assert!(
        status.starts_with("nothing is loaded\nsf_dctcp  (not loaded; connections keep it until they end)"),
        "{status}"
    );
    drop((sender, receiver, listener));
    assert!(eventually(|| is_nothing_loaded(&output_of(&["status"]))));
}

/// The default was set without `--default`, so there is no record of the default before it.
#[test]
fn a_default_that_was_set_by_hand_gives_way_to_the_hosts() {
    let Some(_guard) = programs_guard() else { return };
    let before = default_here();
    must(&["load", "sf_dctcp"]);
    fs::write(DEFAULT, "sf_dctcp").unwrap();
    let output = must(&["unload"]);
    assert_eq!(default_here(), before, "{output}");
}

/// Kills `unload` and a replacement at moments spread over both commands. The next command reports the kernel's
/// actual state.
#[test]
fn a_killed_unload_or_replacement_leaves_nothing_half_done() {
    let Some(_guard) = programs_guard() else { return };
    let host = OccupiedNamespace::new(Some(allowed_default()));
    let load = || host.load(&["load", "sf_dctcp", "sf_l2dct", "--default"]);
    load();
    let commands = [&["load", "sf_dctcp", "sf_l2dct", "--param", "g=0.25"][..], &["unload"]];
    let commands = commands.map(|arguments| (arguments, took(arguments)));
    let (mut early, mut midway) = (0, 0);
    for step in 0..48 {
        load();
        let former = registered("sf_l2dct");
        let (arguments, undisturbed) = commands[step % 2];
        let quiet = program().args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let mut command = quiet.unwrap();
        std::thread::sleep(undisturbed.mul_f64((step / 2) as f64 / 24.0));
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
        if step % 2 == 0 {
            must(&["status"]);
            let is_settled = || registered("sf_l2dct") == former || is_gone(former);
            assert!(
                eventually(is_settled),
                "step {step}: new sockets have other parameters than status says"
            );
            must(arguments);
            assert!(eventually(|| is_gone(former)), "step {step}: the default is the replaced program");
        }
        must(&["load", "sf_dctcp"]);
        assert!(is_registered("sf_dctcp"), "step {step}");
        let status = must(&["status"]);
        assert_eq!(status.contains("sf_l2dct"), is_registered("sf_l2dct"), "step {step}: {status}");
        must(&["unload"]);
        assert!(!is_registered("sf_") && !fs::exists(DIRECTORY).unwrap(), "step {step}");
        assert_eq!(host.default(), allowed_default(), "step {step}");
    }
    eprintln!("{commands:?}: killed before the first change {early}, in the middle {midway}");
    assert!(midway > 0, "no kill has landed in the middle");
}

#[test]
fn the_record_of_a_namespace_that_cannot_be_inspected_stays() {
    let Some(_guard) = programs_guard() else { return };
    let host = OccupiedNamespace::new(Some(allowed_default()));
    host.load(&["load", "sf_dctcp", "--default"]);
    let (code, text) = output_without("-sys_admin,-sys_ptrace", &["unload"]);
    assert!(
        code == 3
            && text.contains("remains: network namespace ")
            && text.contains("CAP_SYS_ADMIN")
            && text.contains(&format!("its default was {}", allowed_default())),
        "{code} {text}"
    );
    assert!(!is_registered("sf_"));
    assert_eq!(host.default(), "sf_dctcp");
    let text = must(&["unload"]);
    assert!(
        text.ends_with("nothing is loaded\n") && text.contains(": again the default of another ("),
        "{text}"
    );
    assert_eq!(host.default(), allowed_default());
    assert!(!fs::exists(DIRECTORY).unwrap());
}

/// The unit may not mount the bpf file system, so the first `load` runs as root and mounts it if necessary.
#[test]
fn the_rights_of_the_unit_are_enough_for_its_own_namespace() {
    let Some(_guard) = programs_guard() else { return };
    must(&["load", "sf_fast"]);
    let host = OccupiedNamespace::new(Some(allowed_default()));
    for (arguments, default) in [
        (&["load", "sf_dctcp", "--default"][..], "sf_dctcp"),
        (&["unload", "sf_dctcp"], allowed_default()),
        (&["unload"], allowed_default()),
    ] {
        let unit = host.namespace.within(|| Ok(output_without("-all,+bpf,+perfmon,+net_admin", arguments)));
        let (code, text) = unit.unwrap();
        assert!(code == 0 && !text.contains("warning"), "{arguments:?}: {code} {text}");
        assert_eq!(host.default(), default);
    }
}

#[test]
fn a_rule_that_may_not_be_removed_is_not_reported_as_removed() {
    let Some(_guard) = programs_guard() else { return };
    let (code, text) = output_without("-net_admin", &["dscp", "lo", "--by", "none"]);
    assert!(code == 3 && text.starts_with("missing: CAP_NET_ADMIN;"), "{code} {text}");
}

/// After a `load` killed between mount and mkdir, the next command unmounts the host's only bpf file system.
#[test]
fn a_file_system_that_nothing_is_in_goes() {
    let Some(_guard) = programs_guard() else { return };
    if is_mounted() {
        eprintln!("skipped: the host has a bpf file system");
        return;
    }
    let mount = Command::new("mount").args(["-t", "bpf", "shortflow", "/sys/fs/bpf"]).status();
    assert!(mount.unwrap().success() && is_mounted());
    assert!(eventually(|| is_nothing_loaded(&output_of(&["status"]))));
    assert!(!is_mounted());
}

/// By default the kernel mounts a bpf file system in which every user may make directories and links.
#[test]
fn nothing_is_removed_at_the_end_of_another_users_link() {
    let Some(_guard) = programs_guard() else { return };
    let victim = format!("{}/victim", env!("CARGO_TARGET_TMPDIR"));
    fs::create_dir_all(format!("{victim}/below")).unwrap();
    let status = |user: &str, made: &str| {
        let made = made.replace("LINK", &format!("ln -s {victim} shortflow/sf_x"));
        let line = format!(
            "mount -t bpf bpf /sys/fs/bpf && cd /sys/fs/bpf && \
             setpriv --reuid {user} --clear-groups -- sh -ec '{made}' && exec \"$0\" status"
        );
        started(&["unshare", "--mount", "sh", "-c", &line, env!("CARGO_BIN_EXE_shortflow-linux")])
    };
    for made in ["mkdir shortflow; LINK", "mkdir -m 777 shortflow", "ln -s / shortflow"] {
        let (code, text) = status("65534", made);
        assert!(code == 3 && text.contains("user 65534, mode"), "{made}: {code} {text}");
    }
    let (code, text) = status("0", "mkdir -m 777 shortflow");
    assert!(code == 3 && text.contains("user 0, mode 777"), "{code} {text}");
    assert!(is_nothing_loaded(&status("0", "mkdir shortflow; LINK")));
    assert!(fs::exists(format!("{victim}/below")).unwrap());
}

fn is_mounted() -> bool {
    fs::read_to_string("/proc/self/mounts").unwrap().contains(" /sys/fs/bpf bpf ")
}

/// A network namespace with a name. Dropping this value deletes it.
struct Named(String);

impl Named {
    fn new() -> Named {
        let name = format!("shortflow-{}", std::process::id());
        assert_eq!(started(&["ip", "netns", "add", &name]), (0, String::new()));
        Named(name)
    }

    fn ip_netns_exec(&self, arguments: &[&str]) -> (i32, String) {
        let line = ["ip", "netns", "exec", &self.0, env!("CARGO_BIN_EXE_shortflow-linux")];
        started(&[&line, arguments].concat())
    }

    fn nsenter(&self, arguments: &[&str]) -> (i32, String) {
        let file = format!("--net=/run/netns/{}", self.0);
        started(&[&["nsenter", &file, env!("CARGO_BIN_EXE_shortflow-linux")], arguments].concat())
    }
}

impl Drop for Named {
    fn drop(&mut self) {
        started(&["ip", "netns", "delete", &self.0]);
    }
}

/// `ip netns exec` also makes a mount namespace, and pins in it are gone when the command ends.
#[test]
fn nothing_is_loaded_where_the_pins_would_not_last() {
    let Some(_guard) = programs_guard() else { return };
    let named = Named::new();
    let advice = format!("nsenter --net=/run/netns/{}", named.0);
    let (code, text) = named.ip_netns_exec(&["load", "sf_dctcp"]);
    assert!(code == 3 && text.contains(&advice), "{code} {text}");
    assert!(!is_registered("sf_"));
    let (code, text) = named.ip_netns_exec(&["check"]);
    assert!(code == 3 && text.contains(&advice), "{code} {text}");

    let (code, text) = named.nsenter(&["load", "sf_dctcp", "--default"]);
    assert_eq!(code, 0, "{text}");
    for arguments in [&["status"][..], &["unload"], &["load", "sf_fast"]] {
        let (code, text) = named.ip_netns_exec(arguments);
        assert!(code == 3 && text.contains(&advice), "{arguments:?}: {code} {text}");
    }
    assert!(named.nsenter(&["status"]).1.starts_with("sf_dctcp  (default of this network namespace)"));
    let apart = ["unshare", "--mount", env!("CARGO_BIN_EXE_shortflow-linux"), "status"];
    assert!(started(&apart).1.starts_with("sf_dctcp"), "a copy of the host's mounts shows the host's pins");
    must(&["unload"]);
}

#[test]
fn an_ordinary_user_learns_the_required_capabilities() {
    let Some(_guard) = programs_guard() else { return };
    // A copy in a directory from which an ordinary user can run it.
    let copy = std::env::temp_dir().join(format!("shortflow-{}", std::process::id()));
    fs::copy(env!("CARGO_BIN_EXE_shortflow-linux"), &copy).unwrap();
    fs::set_permissions(&copy, Permissions::from_mode(0o755)).unwrap();
    let user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", copy.to_str().unwrap()];
    let (can_run, why) = started(&[&user[..], &["--version"]].concat());
    let mut answers = Vec::new();
    for arguments in ["status", "unload", "cleanup", "class 80=short", "dscp lo --by none", "load fast"] {
        let words: Vec<&str> = arguments.split(' ').collect();
        answers.push((arguments, started(&[&user, &words[..]].concat())));
    }
    fs::remove_file(&copy).unwrap();
    if can_run != 0 {
        return eprintln!("skipped: an ordinary user cannot run a program there: {why}");
    }
    for (arguments, (code, text)) in answers {
        let is_told = text.contains("CAP_NET_ADMIN, CAP_PERFMON, CAP_BPF; run it as root");
        assert!(code == 3 && is_told, "{arguments}: {code} {text}");
    }
}

#[test]
fn dscp_marking_is_listed_and_ends_with_the_loaded_programs() {
    let Some(_guard) = programs_guard() else { return };
    let host = OccupiedNamespace::new(Some(allowed_default()));
    must(&["load", "sf_dctcp", "sf_fast"]);
    host.load(&["dscp", "lo", "--by", "size"]);
    host.load(&["dscp", "lo", "--by", "sent"]);
    let file = format!("/proc/{}/ns/net", host.process.id());
    let status: Value = serde_json::from_str(&must(&["status", "--json"])).unwrap();
    assert_eq!(status["dscp"], json!([{ "namespace": file, "device": "lo", "by": "sent" }]));
    assert!(must(&["status"]).contains(&format!("lo of {file}: marks DSCP by sent\n")));
    assert!(!must(&["unload", "sf_fast"]).contains("DSCP"));
    assert!(must(&["unload"]).contains(&format!("lo of {file}: no longer marks DSCP\n")));
    must(&["load", "sf_dctcp"]);
    assert!(!must(&["status"]).contains("DSCP"));
    host.load(&["dscp", "lo", "--by", "sent"]);
    assert!(host.marks_dscp());
    // The state that an `unload` leaves if it is killed when it has ended all registrations.
    fs::remove_dir_all(format!("{DIRECTORY}/sf_dctcp")).unwrap();
    assert!(eventually(|| is_nothing_loaded(&output_of(&["status"]))));
    assert!(!host.marks_dscp());
}

#[test]
fn status_as_a_document() {
    let Some(_guard) = programs_guard() else { return };
    let read = || serde_json::from_str::<Value>(&must(&["status", "--json"])).unwrap();
    assert_eq!(read()["loaded"], json!([]));
    must(&["load", "sf_dctcp", "--param", "g=0.25"]);
    must(&["class", "5001=short"]);
    let status = read();
    assert_eq!(status["ports"], json!([{ "port": 5001, "class": "short" }]));
    let control = &status["loaded"][0];
    assert_eq!((&control["name"], &control["is_default"]), (&json!("sf_dctcp"), &json!(false)));
    assert_eq!(control["parameters"]["g"], json!("0.25"));
    let sees = !hides_connections(&must(&["status"]));
    assert_eq!(control["connections"], if sees { json!(0) } else { Value::Null }, "{control}");
    assert_eq!((&status["sees_connections"], &control["cwnd"]), (&json!(sees), &Value::Null));
    let unload: Value = serde_json::from_str(&must(&["unload", "--json"])).unwrap();
    assert_eq!((&unload["sees_connections"], &unload["remaining"]), (&json!(sees), &json!([])));
}

/// libbpf by itself complains of devices without filters, and of a `clsact` qdisc that exists already.
#[test]
fn successful_commands_print_nothing_on_stderr() {
    let Some(_guard) = programs_guard() else { return };
    let host = OccupiedNamespace::new(Some(allowed_default()));
    let mark: &[&str] = &["dscp", "lo", "--by", "sent"];
    for arguments in [&["load", "sf_dctcp"], mark, mark, &["status"], &["unload"]] {
        let output = host.namespace.within(|| program().args(arguments).output()).unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{arguments:?}");
    }
}

#[test]
fn a_control_that_is_named_twice_is_loaded_once() {
    let Some(_guard) = programs_guard() else { return };
    let text = must(&["load", "sf_fast", "sf_dctcp", "fast"]);
    let names: Vec<&str> =
        text.lines().filter_map(|line| line.split_once(": loaded")).map(|one| one.0).collect();
    assert_eq!(names, ["sf_dctcp", "sf_fast"]);
}

#[test]
fn unload_names_the_settings_that_end_with_the_last_control() {
    let Some(_guard) = programs_guard() else { return };
    let host = OccupiedNamespace::new(Some(allowed_default()));
    host.load(&["load", "sf_dctcp", "sf_fast", "--default"]);
    must(&["class", "5001=short"]);
    let unload = |name| {
        let text = host.namespace.within(|| Ok(must(&["unload", name]))).unwrap();
        // Some kernels hide connections.
        text.replace("; connections that keep it are not known", "")
    };
    assert_eq!(unload("sf_dctcp"), "sf_dctcp: unloaded\n");
    let default = format!("{}: again the default of this network namespace\n", allowed_default());
    assert_eq!(unload("sf_fast"), default + "sf_fast: unloaded\nport 5001: no class\n");
}

/// The namespace of a default counts as gone though some processes hide their namespace even from root.
#[test]
fn to_root_a_namespace_that_is_gone_is_gone() {
    let Some(_guard) = programs_guard() else { return };
    let host = OccupiedNamespace::new(Some(allowed_default()));
    host.load(&["load", "sf_dctcp", "--default"]);
    drop(host);
    assert!(!must(&["unload"]).contains("warning"));
    assert!(!fs::exists(DIRECTORY).unwrap());
}

/// A user may lock every file that the user may open, so only root may open the lock file.
#[test]
fn only_root_can_hold_the_lock() {
    let Some(_guard) = programs_guard() else { return };
    let mode = fs::metadata("/run/shortflow.lock").unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let readable = File::open("/sys/fs").unwrap();
    assert!(try_lock(&readable).unwrap());
    assert!(eventually(|| is_nothing_loaded(&output_of(&["status"]))));
}

#[test]
fn a_wrong_cgroup_is_refused_before_anything_is_loaded() {
    let Some(_guard) = programs_guard() else { return };
    for cgroup in ["/nope", "/tmp"] {
        let (code, text) = output_of(&["load", "sf_dctcp", "--cgroup", cgroup]);
        let names_place = text.contains("(mounted at /");
        assert!(cgroup == "/nope" || names_place, "{text}");
        assert!(code == 2 && text.starts_with(&format!("--cgroup {cgroup}: ")), "{code} {text}");
        assert!(!text.contains("loaded"), "{text}");
    }
}

/// The namespaces' records name congestion controls that the kernel does not have, as if a module or a program had
/// gone since.
#[test]
fn if_the_old_default_is_gone_the_hosts_default_is_used() {
    let Some(_guard) = programs_guard() else { return };
    // If the first process hides its namespace, the namespace that loads first stands for the host's.
    let first = File::open("/proc/1/ns/net").map(Namespace::from);
    let of_host =
        first.map_or(allowed_default().to_owned(), |first| first.within(|| Ok(default_here())).unwrap());
    let [heir, one, other] = [(); 3].map(|()| OccupiedNamespace::new(Some(allowed_default())));
    let records = [(&one, "gone-one"), (&other, "gone-other")];
    for (here, expected) in records {
        for (host, name) in records {
            host.load(&["load", "sf_dctcp", "--default"]);
            let inode = host.namespace.within(|| fs::metadata("/proc/thread-self/ns/net")).unwrap().ino();
            let map = MapHandle::from_pinned_path(format!("{DIRECTORY}/defaults")).unwrap();
            let mut value = [0; 16];
            value[..name.len()].copy_from_slice(name.as_bytes());
            map.update(&inode.to_ne_bytes(), &value, MapFlags::EXIST).unwrap();
        }
        heir.namespace.within(|| fs::write(DEFAULT, "sf_dctcp")).unwrap();
        let (code, text) = here.namespace.within(|| Ok(output_of(&["unload"]))).unwrap();
        assert!(code == 0 && !is_registered("sf_"), "{code} {text}");
        // One line for the namespace's own default, and one for the namespace without a record.
        let named = text
            .matches(&format!(": the default is now {of_host}, because {expected} is not available"))
            .count();
        assert_eq!(named, 2, "{text}");
        for host in [&heir, &one, &other] {
            assert_eq!(host.default(), of_host);
        }
    }
}

#[test]
fn where_registrations_cannot_be_seen_nothing_counts_as_gone() {
    let Some(_guard) = programs_guard() else { return };
    must(&["load", "sf_dctcp"]);
    let hide = "mount -t tmpfs none /proc/sys/net/ipv4 && exec \"$0\" status";
    let line = ["unshare", "--mount", "sh", "-c", hide, env!("CARGO_BIN_EXE_shortflow-linux")];
    let (code, text) = started(&line);
    assert!(code == 3 && text.contains("tcp_available_congestion_control"), "{code} {text}");
    assert!(must(&["status"]).starts_with("sf_dctcp"));
}

#[test]
fn a_waiting_command_names_the_lock() {
    let Some(_guard) = programs_guard() else { return };
    let lock = File::open("/run/shortflow.lock").unwrap();
    assert!(try_lock(&lock).unwrap());
    // Child processes inherit the locked file, but not its clone.
    let held = lock.try_clone().unwrap();
    drop(lock);
    let mut status = program().arg("status").stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(status.stderr.take().unwrap()).read_line(&mut line).unwrap();
    assert!(line.starts_with("waiting: another command holds /run/shortflow.lock"), "{line}");
    drop(held);
    assert!(status.wait().unwrap().success());
}

/// The kernel detaches the programs some time after the cgroup is removed.
#[test]
fn a_cgroup_that_is_gone_is_not_counted() {
    let Some(_guard) = programs_guard() else { return };
    let Some(cgroup) = Cgroup::new("gone") else { return };
    must(&["load", "sf_dctcp", "--cgroup", &cgroup.0]);
    assert!(must(&["status"]).contains("1 cgroup"));
    drop(cgroup);
    assert!(eventually(|| !must(&["status"]).contains("cgroup")));
}
