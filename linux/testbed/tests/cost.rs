//! Cost of the congestion controls: the time per call, as the kernel measures it for its programs, compared with the
//! kernel's CUBIC called from programs (cubic.bpf.c). Needs root, iproute2 and the kernel's BTF; skipped without
//! them, or while foreign programs are loaded. `--nocapture` prints the numbers.
#![cfg(feature = "bpf")]

mod common;

use common::hosts::{accept, between, host};
use common::{LAWS, best_of_three, must, programs_guard};
use libbpf_rs::query::ProgInfoIter;
use libbpf_rs::{ObjectBuilder, OpenObject};
use rustix::net::sockopt::set_tcp_congestion;
use shortflow_deploy::programs::CUBIC;
use shortflow_deploy::sys::Namespace;
use shortflow_testbed::switch::ipv4;
use shortflow_testbed::sys;
use shortflow_units::HostId;
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};

/// A link on which ACKs arrive in batches, so that most calls find code and data in the processor's caches. On a slow
/// link other processes take the caches between two ACKs. A call then costs up to three times as much, and long code
/// suffers more than short code.
const LINK: &str = r#"
title = "One flow over a fast link"
duration = "20s"
topology = { kind = "dumbbell", pairs = 1, rate = "2Gbps", bottleneck = "500Mbps", rtt = "1ms" }
switch = { buffer = "100pkt", mark_above = "20pkt" }
traffic = [{ kind = "long-lived", from = [0], to = 1 }]
"#;
/// Bytes of a transfer, which takes several hundred calls.
const SIZE: usize = 3_000_000;
/// Number of calls of a program from which a transfer counts. With fewer, a few short calls, such as calls without
/// window growth, could decide the minimum.
const CALLS: u64 = 100;
/// Transfers of each control; the two controls take turns. The smallest mean of each control counts: a busy host
/// sometimes takes the processor away in the middle of a call, which makes the mean of that transfer many times as
/// large.
const TRANSFERS: usize = 25;

/// Makes the kernel measure its programs while this value lives. Dropping it restores the kernel's setting.
struct Measuring(String);

impl Measuring {
    const SWITCH: &str = "/proc/sys/kernel/bpf_stats_enabled";

    fn new() -> io::Result<Measuring> {
        let before = fs::read_to_string(Measuring::SWITCH)?;
        fs::write(Measuring::SWITCH, "1").map(|()| Measuring(before))
    }
}

impl Drop for Measuring {
    fn drop(&mut self) {
        let _ = fs::write(Measuring::SWITCH, &self.0);
    }
}

/// Time in calls so far in nanoseconds and number of calls, by the name of each program that is newer than `newest`.
fn spent(newest: u32) -> BTreeMap<String, (u64, u64)> {
    let infos = ProgInfoIter::default().filter(|info| info.id > newest);
    infos.map(|info| (info.name.to_string_lossy().into_owned(), (info.run_time_ns, info.run_cnt))).collect()
}

/// Opens a connection whose sender and listener use `control`. Returns its two ends.
fn connection([a, b]: &[Namespace; 2], control: &str, port: u16) -> io::Result<[TcpStream; 2]> {
    let address = SocketAddr::from((ipv4(HostId(1)), port));
    let listener = b.within(|| TcpListener::bind(address))?;
    set_tcp_congestion(&listener, control)?;
    let sender = a.within(|| {
        let socket = sys::tcp_socket(address.ip())?;
        set_tcp_congestion(&socket, control)?;
        sys::connect(&socket, address).map(|()| socket)
    })?;
    let receiver = accept(&listener)?;
    sender.set_nonblocking(false)?;
    sys::end_when_closed(&sender)?;
    sys::end_when_closed(&receiver)?;
    Ok([sender, receiver])
}

fn transfer([sender, receiver]: &mut [TcpStream; 2]) -> io::Result<()> {
    std::thread::scope(|scope| {
        let sending = scope.spawn(|| sender.write_all(&vec![0; SIZE]));
        receiver.read_exact(&mut vec![0; SIZE])?;
        sending.join().unwrap()
    })
}

/// Runs transfers by two controls in turn through a link that marks. Returns the smallest mean time of a call in a
/// transfer, in nanoseconds, by the name of each program that is newer than `newest` and was called.
fn costs(controls: [&str; 2], newest: u32) -> io::Result<BTreeMap<String, u64>> {
    let mut least = BTreeMap::new();
    between(LINK, "tcp-ecn", [host(0, "reno", "1")?, host(1, "reno", "1")?], |hosts| {
        let mut connections = [connection(hosts, controls[0], 7000)?, connection(hosts, controls[1], 7001)?];
        for number in 0..2 * TRANSFERS {
            let before = spent(newest);
            transfer(&mut connections[number % 2])?;
            for (name, (time, calls)) in spent(newest) {
                let (time_before, calls_before) = before.get(&name).copied().unwrap_or_default();
                let calls = calls - calls_before;
                if calls >= CALLS {
                    let mean = (time - time_before) / calls;
                    least.entry(name).and_modify(|least: &mut u64| *least = mean.min(*least)).or_insert(mean);
                }
            }
        }
        Ok::<_, io::Error>(())
    })?;
    eprintln!("{controls:?}: nanoseconds a call {least:?}");
    Ok(least)
}

/// The kernel calls our programs once for each ACK, and CUBIC twice. Both take about the same time here, including
/// the kernel's measuring; the factor of three leaves room for other processors and kernels. For CUBIC, recovery and
/// pacing run in the kernel outside these calls. Our programs do both themselves.
#[test]
fn the_cost_of_an_ack_is_of_the_order_of_the_kernels_cubic() {
    let Some(_guard) = programs_guard() else { return };
    let newest = ProgInfoIter::default().map(|info| info.id).max().unwrap_or(0);
    must(&[&["load"][..], &LAWS].concat());
    let mut object = match ObjectBuilder::default().open_memory(CUBIC).and_then(OpenObject::load) {
        Ok(object) => object,
        Err(error) => return eprintln!("skipped: programs cannot call this kernel's CUBIC: {error}"),
    };
    let _registered = object.maps_mut().next().unwrap().attach_struct_ops().unwrap();
    let _measuring = match Measuring::new() {
        Ok(measuring) => measuring,
        Err(error) => return eprintln!("skipped: {}: {error}", Measuring::SWITCH),
    };
    for law in LAWS {
        best_of_three(|| {
            let costs = costs(["measured_cubic", law], newest).unwrap();
            let cubic = costs["cubic_grow"] + costs["cubic_acked"];
            let ours = costs[&format!("{}_control", &law[3..])];
            assert!(ours < 3 * cubic, "{law} {ours} ns, CUBIC {cubic} ns");
        });
    }
}
