//! Sockets that keep another congestion control: listeners from before `load --default`, and sockets after `unload`,
//! which `unload` names and `unload --live` moves to another. Needs root, iproute2 and the kernel's BTF; skipped without them, or while foreign programs are loaded.
#![cfg(feature = "bpf")]

mod common;

use common::hosts::{OccupiedNamespace, tool};
use common::{
    allowed_default, eventually, hides_connections, is_nothing_loaded, must, output_of, programs_guard,
};
use rustix::net::sockopt::{set_tcp_congestion, tcp_congestion};
use serde_json::{Value, json};
use shortflow_deploy::sys::Namespace;
use shortflow_testbed::sys;
use std::fs;
use std::io;
use std::net::{TcpListener, TcpStream};

/// Returns a listener and a connected socket that have both chosen `control` themselves, and the accepted end of the
/// connection.
fn sockets(control: &str) -> io::Result<(TcpListener, TcpStream, TcpStream)> {
    tool("ip link set dev lo up")?; // down in a new namespace
    let listener = TcpListener::bind("127.0.0.1:0")?;
    set_tcp_congestion(&listener, control)?;
    let address = listener.local_addr()?;
    let sender = sys::tcp_socket(address.ip())?;
    set_tcp_congestion(&sender, control)?;
    sys::connect(&sender, address)?;
    let (accepted, _) = listener.accept()?;
    Ok((listener, sender, accepted))
}

#[test]
fn listeners_of_an_unloaded_control_are_named_and_moved() {
    let Some(_guard) = programs_guard() else { return };
    let host = OccupiedNamespace::of(Namespace::new().unwrap());
    let before = host.namespace.within(|| fs::read_to_string("/proc/sys/net/ipv4/tcp_congestion_control"));
    let before = before.unwrap().trim().to_owned();
    must(&["load", "sf_dctcp", "sf_fast"]);
    let (listener, sender, accepted) = host.namespace.within(|| sockets("sf_dctcp")).unwrap();
    let port = listener.local_addr().unwrap().port();
    let named = format!("sf_dctcp on port {port} of ");
    let status = must(&["status"]);
    if hides_connections(&status) {
        return;
    }
    assert!(status.contains(&format!("listener {named}")) && !status.contains("--live"), "{status}");
    let unloaded = must(&["unload", "sf_dctcp"]);
    assert!(unloaded.contains(&format!("warning: a listener keeps {named}")), "{unloaded}");
    assert!(unloaded.contains(&format!("({})", std::process::id())), "{unloaded}");
    let document: Value = serde_json::from_str(&must(&["status", "--json"])).unwrap();
    let found = &document["listeners"][0];
    assert_eq!(
        (&found["congestion_control"], &found["port"], &found["is_loaded"]),
        (&json!("sf_dctcp"), &json!(port), &json!(false))
    );
    let words = "not loaded, but its new connections use it: restart it, or move it by `unload --live`";
    assert!(must(&["status"]).contains(words));
    // A name restricts `--live` to sockets of that control, even if the control is no longer loaded.
    let other = host.namespace.within(|| TcpListener::bind("127.0.0.1:0")).unwrap();
    set_tcp_congestion(&other, "sf_fast").unwrap();
    let moved = must(&["unload", "sf_dctcp", "--live"]);
    let words = "sf_dctcp: connections 2 and listeners 1 now use the default of their network namespace\n";
    assert!(moved.ends_with(words), "{moved}");
    for socket in [tcp_congestion(&listener), tcp_congestion(&sender), tcp_congestion(&accepted)] {
        assert_eq!(socket.unwrap(), before);
    }
    assert_eq!(tcp_congestion(&other).unwrap(), "sf_fast");
    let all = must(&["unload", "--live"]);
    assert!(all.contains("sf_*: connections 0 and listeners 1 now use the default"), "{all}");
    assert_eq!(tcp_congestion(&other).unwrap(), before);
    assert!(eventually(|| is_nothing_loaded(&output_of(&["status"]))));
}

/// A namespace with a process in it, and with a default that is not ours.
fn host_with_default() -> OccupiedNamespace {
    let namespace = Namespace::new().unwrap();
    let write = || fs::write("/proc/sys/net/ipv4/tcp_congestion_control", allowed_default());
    namespace.within(write).unwrap();
    OccupiedNamespace::of(namespace)
}

/// A listening socket keeps the congestion control with which it was made.
#[test]
fn listeners_from_before_are_named() {
    let Some(_guard) = programs_guard() else { return };
    let host = host_with_default();
    let listen = || host.namespace.within(|| TcpListener::bind("127.0.0.1:0")).unwrap();
    let port = |listener: &TcpListener| listener.local_addr().unwrap().port().to_string();
    let status = || host.namespace.within(|| Ok(must(&["status"]))).unwrap();
    let before = listen();
    let named = format!("until the listeners restart: {} on port {}\n", allowed_default(), port(&before));
    let load = host.namespace.within(|| Ok(output_of(&["load", "sf_dctcp", "--default"]))).unwrap();
    assert!(load.0 == 0 && load.1.contains(&named), "{load:?}");
    let after = listen();
    assert!(status().contains(&named), "{}", status());
    drop(before);
    assert!(!status().contains("restart"), "{}", status());
    // A listener whose application has chosen another control passes it on.
    set_tcp_congestion(&after, allowed_default()).unwrap();
    let chosen = format!("listeners that chose {} themselves", allowed_default());
    assert!(status().contains(&chosen), "{}", status());
}
