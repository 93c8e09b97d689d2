//! The steps of the operator's page of docs/linux.md, between two hosts: check, canary by route, roll-back. Needs
//! root, iproute2 and the kernel's BTF; skipped without them, or while foreign programs are loaded.
#![cfg(feature = "bpf")]

mod common;

use common::hosts::{SCENARIO, accept, between, host, tool};
use common::{eventually, is_nothing_loaded, must, output_of, program, programs_guard};
use rustix::net::sockopt::tcp_congestion;
use serde_json::Value;
use shortflow_deploy::sys::Namespace;
use shortflow_testbed::switch::ipv4;
use shortflow_testbed::sys;
use shortflow_units::HostId;
use std::io::{self, Error, Read, Write};
use std::net::{TcpListener, TcpStream};
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
            "route to {} by eth0: new connections use sf_dctcp, rto_min 10ms; the other end seems to lack this control: see `without ECN`",
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

/// `load` fails before it loads anything, and says what it expected.
#[test]
fn routes_that_cannot_be_are_refused() {
    let Some(_guard) = programs_guard() else { return };
    let (a, _device) = host(0, FORMER, "1").unwrap();
    for (arguments, why) in [
        (&["--route", "db1"][..], "expected an address or a prefix"),
        (&["--route", "10.0.0.1/8"], "expected 10.0.0.0/8"),
        (&["--route", "192.0.2.1"], "--route 192.0.2.1: no route of table main leads there"),
        (&["--rto-min", "5ms"], "--route"),
        (&["--route", "10.0.0.1", "--rto-min", "1500us"], "expected whole milliseconds"),
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
