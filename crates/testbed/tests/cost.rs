//! Cost of the congestion controls, by the kernel's own account of its programs: time per call, also of the
//! kernel's CUBIC called from programs (cubic.bpf.c). Needs root, iproute2 and the kernel's BTF; skipped without
//! them, or while foreign programs are loaded. `--nocapture` prints the numbers.
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

/// Bytes of a transfer: a few hundred calls.
const SIZE: usize = 500_000;
/// Transfers of which the cheapest counts. A busy host sometimes takes the processor away in the middle of a call, which makes
/// the mean of that transfer many times as large.
const TRANSFERS: usize = 15;

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

/// Time in calls so far, in nanoseconds, and calls, of each program that is newer than `newest`, by name.
fn spent(prefix: &str, newest: u32) -> BTreeMap<String, (u64, u64)> {
    let infos = ProgInfoIter::default().filter(|info| info.id > newest);
    infos
        .filter_map(|info| {
            let name = info.name.to_string_lossy().strip_prefix(prefix)?.to_owned();
            Some((name, (info.run_time_ns, info.run_cnt)))
        })
        .collect()
}

/// The least mean time of a call in nanoseconds, over transfers through a link that marks, of each program that is newer than
/// `newest` and was called, by name.
fn costs(control: &str, prefix: &str, newest: u32) -> io::Result<BTreeMap<String, u64>> {
    let mut least = BTreeMap::new();
    between(SCENARIO, "tcp-ecn", [host(0, control, "1")?, host(1, control, "1")?], |[a, b]| {
        let listener = b.within(|| TcpListener::bind((ipv4(HostId(1)), 7000)))?;
        let mut sending = a.within(|| TcpStream::connect((ipv4(HostId(1)), 7000)))?;
        let (mut receiving, _) = listener.accept()?;
        sys::end_when_closed(&sending)?;
        sys::end_when_closed(&receiving)?;
        for _ in 0..TRANSFERS {
            let before = spent(prefix, newest);
            std::thread::scope(|scope| {
                let sender = scope.spawn(|| sending.write_all(&vec![0; SIZE]));
                receiving.read_exact(&mut vec![0; SIZE])?;
                sender.join().unwrap()
            })?;
            for (name, (time, calls)) in spent(prefix, newest) {
                let (time_before, calls_before) = before.get(&name).copied().unwrap_or_default();
                if let Some(mean) = (time - time_before).checked_div(calls - calls_before) {
                    least.entry(name).and_modify(|least: &mut u64| *least = mean.min(*least)).or_insert(mean);
                }
            }
        }
        Ok::<_, io::Error>(())
    })?;
    eprintln!("{control}: nanoseconds a call {least:?}");
    Ok(least)
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
    for law in LAWS {
        best_of_three(|| {
            let cubic = costs("measured_cubic", "cubic_", newest).unwrap();
            let cubic = cubic["grow"] + cubic["acked"];
            let ours = costs(law, &format!("{}_", &law[3..]), newest).unwrap()["control"];
            assert!(ours < 3 * cubic, "{law} {ours} ns, CUBIC {cubic} ns");
        });
    }
}
