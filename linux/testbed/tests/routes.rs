//! The steps of the operator's page of docs/linux.md, between two hosts: check, canary by route, roll-back. Needs
//! root, iproute2 and the kernel's BTF; skipped without them, or while foreign programs are loaded.
#![cfg(feature = "bpf")]

mod common;

use common::hosts::{SCENARIO, accept, between, host, output_without, tool};
use common::{eventually, is_nothing_loaded, is_registered, must, output_of, program, programs_guard};
use rustix::net::sockopt::tcp_congestion;
use serde_json::Value;
use shortflow_deploy::sys::Namespace;
use shortflow_testbed::switch::ipv4;
use shortflow_testbed::sys;
use shortflow_units::HostId;
use std::fs::{self, File, Permissions};
use std::io::{self, Error, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// A process in a namespace, by which commands find the namespace.
struct Occupant(Child);

impl Occupant {
    fn of(namespace: &Namespace) -> io::Result<Occupant> {
        namespace.within(|| Command::new("cat").stdin(Stdio::piped()).spawn()).map(Occupant)
    }
}

impl Drop for Occupant {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A congestion control that every namespace may have as its default.
const FORMER: &str = "reno";
/// Bytes of a transfer.
const SIZE: usize = 100_000;

/// Runs a command in a namespace. Returns its output.
fn ran(namespace: &Namespace, arguments: &[&str]) -> io::Result<String> {
    namespace.within(|| match output_of(arguments) {
        (0, text) => Ok(text),
        (code, text) => Err(Error::other(format!("{arguments:?}: {code}: {text}"))),
    })
}

/// Returns the congestion controls of both ends of a new connection after a transfer, and the retransmission timeout
/// of its sender.
fn controls(from: &Namespace, listener: &TcpListener) -> io::Result<([String; 2], Duration)> {
    let mut sender = from.within(|| TcpStream::connect(listener.local_addr()?))?;
    let mut accepted = accept(listener)?;
    sys::end_when_closed(&sender)?;
    sys::end_when_closed(&accepted)?;
    std::thread::scope(|scope| {
        let sending = scope.spawn(|| sender.write_all(&vec![0; SIZE]));
        accepted.read_exact(&mut vec![0; SIZE])?;
        sending.join().unwrap()
    })?;
    let timeout = Duration::from_micros(sys::tcp_info(&sender)?.tcpi_rto.into());
    Ok(([tcp_congestion(&sender)?, tcp_congestion(&accepted)?], timeout))
}

fn routes(namespace: &Namespace) -> io::Result<String> {
    namespace.within(|| tool("ip route show"))
}

/// Checks that `status` lists a route to each address, which uses `sf_dctcp` with an rto_min of 10 ms.
fn check_routes(status: &Value, addresses: &[String]) {
    let listed = status["routes"].as_array().unwrap();
    assert_eq!(listed.len(), addresses.len(), "{listed:?}");
    for route in listed {
        assert_eq!((&route["congestion_control"], &route["rto_min"]), (&"sf_dctcp".into(), &"10ms".into()));
        assert_eq!((&route["change"], &route["is_one_sided"]), (&Value::Null, &false.into()));
        assert!(addresses.iter().any(|address| route["prefix"] == **address), "{route}");
    }
}

#[test]
fn a_canary_by_route_begins_and_ends_with_the_commands() {
    let Some(_guard) = programs_guard() else { return };
    let hosts = [host(0, FORMER, "1").unwrap(), host(1, FORMER, "1").unwrap()];
    let addresses = [0, 1].map(|number| ipv4(HostId(number)).to_string());
    let both = |control: &str| [control.to_owned(), control.to_owned()];
    let done = between(SCENARIO, "tcp-ecn", hosts, |[a, b]| {
        let _occupants = [Occupant::of(a)?, Occupant::of(b)?];
        let before = [routes(a)?, routes(b)?];
        let listener = b.within(|| TcpListener::bind((ipv4(HostId(1)), 7000)))?;
        let (found, timeout) = controls(a, &listener)?;
        assert_eq!(found, both(FORMER));
        assert!(timeout > Duration::from_millis(200), "{timeout:?}");

        // With a route at one end only, connections fall back, and `status` names the other end.
        let load = |to: &str| {
            ["load", "sf_dctcp", "--restrict", "--route", to, "--rto-min", "10ms"].map(str::to_owned)
        };
        let load = |to: &str| load(to).to_vec();
        let run =
            |at: &Namespace, line: Vec<String>| ran(at, &line.iter().map(|word| &**word).collect::<Vec<_>>());
        let text = run(a, load(&addresses[1]))?;
        let words = format!(
            "sf_dctcp: new connections to {} use this control; the other end needs the control too",
            addresses[1]
        );
        assert!(text.contains(&words), "{text}");
        assert_eq!(controls(a, &listener)?.0, both(FORMER));
        let status = ran(a, &["status"])?;
        let lacks = format!(
            "route to {0} by eth0: new connections use sf_dctcp, rto_min 10ms; the other end seems to lack this control: the last connection with {0}, ",
            addresses[1]
        );
        assert!(status.contains(&lacks), "{status}");
        assert!(status.contains(&format!("; the last with {}\n", addresses[1])), "{status}");

        // With routes at both ends, new connections of the old listener use the control too. Loading again changes
        // nothing.
        run(b, load(&addresses[0]))?;
        run(a, load(&addresses[1]))?;
        let (found, timeout) = controls(a, &listener)?;
        assert_eq!(found, both("sf_dctcp"));
        assert!(timeout < Duration::from_millis(150), "{timeout:?}");
        let status: Value = serde_json::from_str(&must(&["status", "--json"])).unwrap();
        check_routes(&status, &addresses);
        // The connection with ECN ends the hint, also after it has ended.
        assert!(!must(&["status"]).contains("the other end seems to lack"));

        // `unload` rolls back from any namespace, and a later `load` does not revive the canary.
        let text = must(&["unload"]);
        assert_eq!(text.matches(": removed").count(), 2, "{text}");
        assert_eq!([routes(a)?, routes(b)?], before);
        must(&["load", "sf_dctcp"]);
        assert_eq!(controls(a, &listener)?.0, both(FORMER));
        assert!(!must(&["status"]).contains("route to"));
        must(&["unload"]);
        Ok(())
    });
    done.unwrap();
    assert!(eventually(|| is_nothing_loaded(&output_of(&["status"]))));
}

/// Address of host 0.
const OWN: &str = "10.83.0.1";

/// `load` fails before it loads anything, and says what it expected.
#[test]
fn routes_that_cannot_be_are_refused() {
    let Some(_guard) = programs_guard() else { return };
    let (a, _device) = host(0, FORMER, "1").unwrap();
    assert_eq!(ipv4(HostId(0)).to_string(), OWN);
    for (arguments, why) in [
        (&["--route", "db1"][..], "expected an address or a prefix"),
        (&["--route", "10.0.0.1/8"], "expected 10.0.0.0/8"),
        (&["--route", "192.0.2.1"], "--route 192.0.2.1: no route of table main leads there"),
        (&["--rto-min", "5ms"], "--route"),
        (&["--route", "10.0.0.1", "--rto-min", "1500us"], "expected whole milliseconds"),
        (
            &["--route", "10.0.0.9", "--rto-min", "5000000s"],
            "'--rto-min <TIME>': expected whole milliseconds from 1ms to 120s",
        ),
        (&["--route", "127.0.0.1"], "--route 127.0.0.1: a loopback address"),
        (&["--route", "::1"], "--route ::1: a loopback address"),
        (&["--route", "224.0.0.1"], "--route 224.0.0.1: a multicast address"),
        (&["--route", OWN], "an address of this host (local 10.83.0.1 dev eth0"),
        (&["--route", "10.83.255.255"], "an address of this host (broadcast"),
        (&["--restrict", "--default"], "cannot be used with"),
    ] {
        let (code, text) = a.within(|| Ok(output_of(&[&["load", "sf_dctcp"], arguments].concat()))).unwrap();
        assert!(code == 2 && text.contains(why), "{arguments:?}: {code}: {text}");
    }
    assert!(is_nothing_loaded(&output_of(&["status"])));
}

/// Returns `true` if a user without capabilities may choose the control, in Python. If this cannot be tried, prints
/// the reason and returns `None`.
fn chosen_by_nobody() -> Option<bool> {
    let code =
        "import socket; socket.socket().setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b'sf_dctcp')";
    let nobody = ["--reuid=65534", "--regid=65534", "--clear-groups", "python3", "-c"];
    let output = Command::new("setpriv").args(nobody).arg(code).output();
    match output {
        Ok(output) if output.status.success() => Some(true),
        Ok(output) if String::from_utf8_lossy(&output.stderr).contains("PermissionError") => Some(false),
        other => {
            eprintln!("skipped: needs setpriv and Python: {other:?}");
            None
        }
    }
}

#[test]
fn a_restricted_control_is_refused_to_users() {
    let Some(_guard) = programs_guard() else { return };
    let text = must(&["load", "sf_dctcp"]);
    assert!(text.contains("every user of every network namespace may choose loaded controls"), "{text}");
    let Some(is_chosen) = chosen_by_nobody() else { return };
    assert!(is_chosen);
    let text = must(&["load", "sf_dctcp", "--restrict"]);
    assert!(text.contains("replaced for new connections") && !text.contains("every user"), "{text}");
    assert!(must(&["status"]).contains("restricted=yes"));
    assert_eq!(chosen_by_nobody(), Some(false));
    must(&["load", "sf_dctcp"]);
    assert_eq!(chosen_by_nobody(), Some(true));
}

/// Returns the routes of a namespace that `load --route` has made (protocol 83).
fn leftovers(namespace: &Namespace) -> io::Result<String> {
    namespace.within(|| tool("ip route show proto 83"))
}

/// A host with a process in it, and the address of another host.
fn occupied_host() -> (Namespace, File, Occupant, String) {
    let (namespace, device) = host(0, FORMER, "1").unwrap();
    let occupant = Occupant::of(&namespace).unwrap();
    (namespace, device, occupant, ipv4(HostId(1)).to_string())
}

/// The directory of the pins, without which no record is left.
const DIRECTORY: &str = "/sys/fs/bpf/shortflow";

#[test]
fn routes_without_pins_are_named_and_removed() {
    let Some(_guard) = programs_guard() else { return };
    let (a, _device, _occupant, to) = occupied_host();
    ran(&a, &["load", "sf_dctcp", "--default", "--route", &to]).unwrap();
    fs::remove_dir_all(DIRECTORY).unwrap();
    assert!(eventually(|| !is_registered("sf_")));
    let status = ran(&a, &["status"]).unwrap();
    let named = format!(
        "route to {to} by eth0: new connections use no loaded congestion control; left by an earlier load: `unload` removes it\n"
    );
    assert!(status.contains(&named), "{status}");
    assert!(status.contains("sf_dctcp  (default of this network namespace, but not loaded"), "{status}");
    let text = must(&["unload"]);
    assert!(text.contains(&format!("route to {to} by eth0 of ")) && text.contains(": removed\n"), "{text}");
    assert_eq!(leftovers(&a).unwrap(), "");
    let default = a.within(|| fs::read_to_string("/proc/sys/net/ipv4/tcp_congestion_control")).unwrap();
    assert!(!default.starts_with("sf_"), "{default}");
    assert!(is_nothing_loaded(&output_of(&["status"])));
}

/// `unload` removes what it can, and says what remains. The next `unload` removes the rest.
#[test]
fn what_unload_cannot_remove_is_named_with_its_command() {
    let Some(_guard) = programs_guard() else { return };
    let (a, _device, _occupant, to) = occupied_host();
    let broken = format!("{}/broken", env!("CARGO_TARGET_TMPDIR"));
    fs::create_dir_all(&broken).unwrap();
    fs::write(format!("{broken}/ip"), "#!/bin/sh\necho broken >&2\nexit 9\n").unwrap();
    fs::set_permissions(format!("{broken}/ip"), Permissions::from_mode(0o755)).unwrap();
    let with_path = |path: &str, arguments: &[&str]| {
        let output = program().args(arguments).env("PATH", path).output().unwrap();
        let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        (output.status.code(), text)
    };
    let without_rights = || {
        let (code, text) = output_without("-sys_admin,-sys_ptrace", &["unload"]);
        (Some(code), text)
    };
    let command = format!("ip -4 route del {to} proto 83` removes it");
    for (unload, why) in [
        (&(|| with_path(&broken, &["unload"])) as &dyn Fn() -> (Option<i32>, String), "ip: broken"),
        (&|| with_path("/nowhere", &["unload"]), "ip (of iproute2): No such file"),
        (&without_rights, "CAP_SYS_ADMIN"),
    ] {
        ran(&a, &["load", "sf_dctcp", "sf_fast", "--route", &to]).unwrap();
        let (code, text) = unload();
        assert_eq!(code, Some(3), "{text}");
        assert!(text.contains("sf_dctcp: unloaded") && text.contains("sf_fast: unloaded"), "{text}");
        assert!(text.contains(&format!("remains: route to {to}")) && text.contains(why), "{text}");
        assert!(text.contains(&command), "{text}");
        assert!(!is_registered("sf_") && !leftovers(&a).unwrap().is_empty());
        let (code, text) = with_path("/nowhere", &["unload", "--json"]);
        assert_eq!(code, Some(3), "{text}");
        let document: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
        assert!(document["remaining"][0].as_str().unwrap().contains(&command), "{text}");
        let (code, text) = with_path("/nowhere", &["status"]);
        assert!(code == Some(0) && text.contains(&command), "{code:?}: {text}");
        must(&["unload"]);
        assert_eq!(leftovers(&a).unwrap(), "");
        assert!(eventually(|| is_nothing_loaded(&output_of(&["status"]))));
    }
    // A host without `ip` has nothing to say if no route was made.
    must(&["load", "sf_dctcp"]);
    let (code, text) = with_path("/nowhere", &["unload"]);
    assert!(code == Some(0) && !text.contains("remains"), "{text}");
}

/// The second route cannot be made, because its gateway is not reachable any more.
#[test]
fn a_load_that_fails_restores_the_route_of_an_earlier_load() {
    let Some(_guard) = programs_guard() else { return };
    let (a, _device, _occupant, to) = occupied_host();
    a.within(|| {
        tool("ip route add 10.9.0.0/24 dev eth0")?;
        tool("ip route add 10.8.0.0/24 via 10.9.0.1")?;
        tool("ip route del 10.9.0.0/24")?;
        tool("ip route add unreachable 10.9.0.0/24")
    })
    .unwrap();
    ran(&a, &["load", "sf_dctcp", "--route", &to, "--rto-min", "10ms"]).unwrap();
    let before = leftovers(&a).unwrap();
    assert!(before.contains("rto_min lock 10ms congctl sf_dctcp"), "{before}");
    let line = ["load", "sf_fast", "--route", &to, "--route", "10.8.0.0/24"];
    let (code, text) = a.within(|| Ok(output_of(&line))).unwrap();
    assert!(code == 3 && text.contains("--route 10.8.0.0/24: ip: "), "{code}: {text}");
    assert!(text.contains("(before: sf_dctcp, rto_min 10ms)"), "{text}");
    assert_eq!(leftovers(&a).unwrap(), before);
    let status = must(&["status"]);
    assert!(
        status.contains("new connections use sf_dctcp, rto_min 10ms") && !status.contains("sf_fast"),
        "{status}"
    );
}

#[test]
fn status_compares_routes_with_the_hosts_and_with_the_record() {
    let Some(_guard) = programs_guard() else { return };
    let (a, _device, _occupant, to) = occupied_host();
    ran(&a, &["load", "sf_dctcp", "--route", &to]).unwrap();
    assert!(!must(&["status"]).contains("the host's route"));
    a.within(|| tool("ip route add 10.83.0.0/24 via 10.83.0.9 dev eth0")).unwrap();
    let status = must(&["status"]);
    assert!(
        status.contains("; the host's route is now `via 10.83.0.9 dev eth0`, the copy is `dev eth0 "),
        "{status}"
    );
    a.within(|| tool("ip route flush root 10.83.0.0/16 proto 83")).unwrap();
    let status = must(&["status"]);
    let gone =
        "the kernel no longer has it, so new connections do not use sf_dctcp; run `load sf_dctcp --route ";
    assert!(status.contains(gone), "{status}");
    ran(&a, &["load", "sf_dctcp", "--route", &to]).unwrap();
    let status = must(&["status"]);
    assert!(!status.contains("the host's route") && !status.contains(gone), "{status}");
}

/// A route keeps the ECN needs that its control had when the route was made.
#[test]
fn routes_follow_the_ecn_needs_of_a_replacement() {
    let Some(_guard) = programs_guard() else { return };
    let hosts = [host(0, FORMER, "2").unwrap(), host(1, FORMER, "2").unwrap()];
    let done = between(SCENARIO, "tcp-ecn", hosts, |[a, b]| {
        let _occupants = [Occupant::of(a)?, Occupant::of(b)?];
        let listener = b.within(|| TcpListener::bind((ipv4(HostId(1)), 7000)))?;
        for (at, to) in [(a, 1), (b, 0)] {
            ran(at, &["load", "sf_atcp", "--route", &ipv4(HostId(to)).to_string()])?;
        }
        let text = must(&["load", "sf_atcp", "--param", "base=dctcp", "--param", "ecn=exact"]);
        assert!(text.contains("(changed: base ") && text.contains("ecn off → exact"), "{text}");
        assert_eq!(controls(a, &listener)?.0, ["sf_atcp", "sf_atcp"]);
        assert!(!must(&["status"]).contains("without ECN"));
        Ok(())
    });
    done.unwrap();
}

/// A `load` names the whole state of its controls.
#[test]
fn a_second_load_prints_each_change() {
    let Some(_guard) = programs_guard() else { return };
    must(&["load", "sf_dctcp", "--restrict", "--param", "g=0.25"]);
    let text = must(&["load", "sf_dctcp"]);
    assert!(text.contains("(changed: g 0.25 → 0.0625, restricted yes → no)"), "{text}");
    assert!(must(&["load", "--help"]).contains("names the whole state of the control"));
}

#[test]
fn the_default_of_another_namespace_cannot_be_restricted() {
    let Some(_guard) = programs_guard() else { return };
    let (a, _device, _occupant, _) = occupied_host();
    ran(&a, &["load", "sf_dctcp", "--default"]).unwrap();
    let (code, text) = output_of(&["load", "sf_dctcp", "--restrict"]);
    assert!(
        code == 2 && text.contains("--restrict: sf_dctcp is the default of network namespace "),
        "{text}"
    );
    // The kernel permits a default that is set later to every user, and `status` says so.
    must(&["unload"]);
    must(&["load", "sf_dctcp", "--restrict"]);
    assert!(!must(&["status"]).contains("without effect"));
    if fs::write("/proc/sys/net/ipv4/tcp_congestion_control", "sf_dctcp").is_err() {
        return eprintln!("skipped: this is not the kernel's first network namespace");
    }
    assert!(must(&["status"]).contains("  restricted   without effect: every user may choose it"));
}

/// Kills `load --route` and `unload` at various moments. The next `unload` leaves no route and no program.
/// `SHORTFLOW_KILLS` sets the number of kills (default: 6).
#[test]
fn kills_leave_no_route() {
    let Some(_guard) = programs_guard() else { return };
    let kills: u64 = std::env::var("SHORTFLOW_KILLS").map_or(6, |text| text.parse().unwrap());
    let (a, _device) = host(0, FORMER, "1").unwrap();
    let _occupant = Occupant::of(&a).unwrap();
    let to = ipv4(HostId(1)).to_string();
    let load = ["load", "sf_dctcp", "sf_fast", "--route", &to];
    // The kills are spread over the time that an undisturbed command takes.
    let begun = std::time::Instant::now();
    ran(&a, &load).unwrap();
    let whole = begun.elapsed();
    let (mut cut, mut with_route) = (0, 0);
    for kill in 0..kills {
        let line: &[&str] = if kill % 2 == 0 { &load } else { &["unload"] };
        if kill % 2 == 0 {
            must(&["unload"]);
        } else {
            ran(&a, &load).unwrap();
        }
        let spawn = || program().args(line).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let mut child = a.within(spawn).unwrap();
        std::thread::sleep(whole.mul_f64((kill * 37 % 100) as f64 / 100.0));
        cut += u64::from(child.try_wait().unwrap().is_none());
        child.kill().unwrap();
        child.wait().unwrap();
        with_route += u64::from(!leftovers(&a).unwrap().is_empty());
        must(&["unload"]);
        assert_eq!(leftovers(&a).unwrap(), "", "after kill {kill} of {line:?}");
        assert!(eventually(|| is_nothing_loaded(&output_of(&["status"]))), "after kill {kill} of {line:?}");
    }
    eprintln!("{kills} kills, {cut} of running commands, {with_route} while a route was there");
    assert!(2 * cut >= kills, "of {kills} kills only {cut} were in time");
}
