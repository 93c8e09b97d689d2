//! What the congestion controls cost, by the kernel's own account of its programs: time per call, also of the
//! kernel's CUBIC called from programs (cubic.bpf.c). Needs root, iproute2 and the kernel's BTF; skipped without, or
//! while something is loaded that is not of this test. `--nocapture` prints it.
#![cfg(feature = "bpf")]

mod common;

use common::hosts::{SCENARIO, between, host};
use common::{LAWS, alone, best_of_three, must};
use libbpf_rs::query::ProgInfoIter;
use libbpf_rs::{ObjectBuilder, OpenObject};
use shortflow_deploy::programs::CUBIC;
use shortflow_testbed::switch::ipv4;
use shortflow_testbed::sys;
use shortflow_units::HostId;
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};

const SIZE: usize = 4_000_000;

/// While it lives, the kernel measures its programs; afterwards as before.
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

/// Mean time of a call in nanoseconds, and calls, of each program that is newer than `newest`, by name, while `SIZE` bytes
/// go through a link that marks.
fn costs(control: &str, prefix: &str, newest: u32) -> io::Result<BTreeMap<String, (u64, u64)>> {
    between(SCENARIO, "tcp-ecn", [host(0, control, "1")?, host(1, control, "1")?], |[a, b]| {
        let listener = b.within(|| TcpListener::bind((ipv4(HostId(1)), 7000)))?;
        let mut sending = a.within(|| TcpStream::connect((ipv4(HostId(1)), 7000)))?;
        let (mut receiving, _) = listener.accept()?;
        sys::end_when_closed(&sending)?;
        sys::end_when_closed(&receiving)?;
        std::thread::scope(|scope| {
            let sender = scope.spawn(|| sending.write_all(&vec![0; SIZE]));
            receiving.read_exact(&mut vec![0; SIZE])?;
            sender.join().unwrap()
        })
    })?;
    let infos = ProgInfoIter::default().filter(|info| info.id > newest && info.run_cnt > 0);
    let costs: BTreeMap<_, _> = infos
        .filter(|info| info.name.to_string_lossy().starts_with(prefix))
        .map(|info| {
            let name = info.name.to_string_lossy()[prefix.len()..].to_owned();
            (name, (info.run_time_ns / info.run_cnt, info.run_cnt))
        })
        .collect();
    let shown = costs.iter().map(|(name, (nanoseconds, calls))| format!("{name} {nanoseconds} ns x {calls}"));
    eprintln!("{control}: {}", shown.collect::<Vec<_>>().join(", "));
    Ok(costs)
}

/// For each ACK ours is called once and CUBIC twice, which takes about as long here; three times as long leaves room for
/// other processors and kernels. The kernel then does for CUBIC what ours do themselves: recovery and pacing.
#[test]
fn the_cost_of_an_ack_is_of_the_order_of_the_kernels_cubic() {
    let Some(_alone) = alone() else { return };
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
    let cubic = costs("measured_cubic", "cubic_", newest).unwrap();
    let cubic = cubic["grow"].0 + cubic["acked"].0;
    for law in LAWS {
        // A busy host sometimes takes a call's processor away: the means of later transfers are over all calls.
        best_of_three(|| {
            let ours = costs(law, &format!("{}_", &law[3..]), newest).unwrap()["control"].0;
            assert!(ours < 3 * cubic, "{law} {ours} ns, CUBIC {cubic} ns");
        });
    }
}
