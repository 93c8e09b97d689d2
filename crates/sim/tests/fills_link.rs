//! One long flow fills its link, under every scheme whose transport declares it.

use crate::common::{run, scenario, scheme};
use proptest::prelude::*;
use shortflow_sim::scheme::{SchemeInfo, schemes};

/// Share of the largest possible goodput, 1460 of 1500 bytes on the wire, that a flow from a host of 1 Gbit/s has from the
/// fifth second on, behind a port of 100 Mbit/s. The round trip is 5 ms: the bandwidth-delay product is 42 packets.
fn share(name: &str, settings: &[(&str, &str)], [buffer, mark_above]: [&str; 2], rto_min: &str) -> f64 {
    let text = format!(
        r#"
title = "one long flow"
duration = "15s"
warmup = "5s"
drain = "0s"
topology = {{ kind = "dumbbell", pairs = 1, rate = "1Gbps", bottleneck = "100Mbps", rtt = "5ms" }}
switch = {{ buffer = "{buffer}", mark_above = "{mark_above}" }}
tcp = {{ rto_min = "{rto_min}" }}
traffic = [{{ kind = "long-lived", flows = 1, from = 0, to = 1 }}]
"#
    );
    let outcome = run(&scenario(&text, &[]), &scheme(name, settings));
    outcome.flows[0].delivered_in_window.as_f64() * 8.0 / 10.0 / (1e8 * 1460.0 / 1500.0)
}

/// Schemes whose transport fills a link, or does not.
fn declaring(fills_link: bool) -> impl Iterator<Item = &'static SchemeInfo> {
    let fills = |info: &SchemeInfo| scheme(&info.name, &[]).transport.info().fills_link;
    schemes().iter().filter(move |info| fills(info) == fills_link)
}

/// The ramp overflows the buffer. NewReno repairs one loss in a round trip, so that the timer expires within its recovery.
/// At a timeout it once took all bytes without a cumulative ACK for bytes in the network, and overflowed the buffer again:
/// 58 % with 167 packets and 200 ms, 77 % with 250 packets and 10 ms.
#[test]
fn a_recovery_that_times_out_does_not_repeat_itself() {
    for name in ["newreno", "tcp-ecn", "red", "atcp"] {
        for (buffer, rto_min) in
            [("84pkt", "200ms"), ("126pkt", "200ms"), ("167pkt", "200ms"), ("250pkt", "10ms")]
        {
            let share = share(name, &[], [buffer, "unlimited"], rto_min);
            assert!(share >= 0.99, "{name}, {buffer}, {rto_min}: {share}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4))]

    /// Buffers of 1 to 8 bandwidth-delay products, that mark above one or not at all. RED marks from one product on to three:
    /// smaller buffers overflow before, so that its marks and losses add up.
    #[test]
    fn one_flow_fills_the_link(buffer in 43u32..336, slow in any::<bool>(), marks in any::<bool>()) {
        let (port, rto_min) = (format!("{buffer}pkt"), if slow { "200ms" } else { "10ms" });
        for info in declaring(true) {
            let (most, least) = if info.name == "red" { (126, 0.98) } else { (42, 0.99) };
            let mark_above = if marks && buffer > most { "42pkt" } else { "unlimited" };
            let share = share(&info.name, &[], [&port, mark_above], rto_min);
            prop_assert!(share >= least, "{}, {port}, {rto_min}, {mark_above}: {share}", info.name);
        }
    }

    /// Laws over each kind of loss recovery.
    #[test]
    fn one_flow_fills_the_link_with_any_recovery(buffer in 43u32..336, slow in any::<bool>()) {
        let (buffer, rto_min) = (format!("{buffer}pkt"), if slow { "200ms" } else { "10ms" });
        for name in ["tcp", "cubic", "dctcp", "atcp", "fast"] {
            for recovery in crate::common::recoveries() {
                let share = share(name, &[("transport.recovery", recovery)], [&buffer, "unlimited"], rto_min);
                prop_assert!(share >= 0.99, "{name}, {recovery}, {buffer}, {rto_min}: {share}");
            }
        }
    }
}

/// A buffer of one bandwidth-delay product is 63 KB. DCQCN's paper marks every packet above 200 KB, and 0.3 % at 63 KB.
#[test]
fn transports_that_do_not_fill_a_link_say_so() {
    let names: Vec<&str> = declaring(false).map(|info| &*info.name).collect();
    assert_eq!(names, ["pfabric-minimal", "dcqcn"]);
    for name in names {
        let share = share(name, &[], ["42pkt", "41pkt"], "10ms");
        assert!(share < 0.99, "{name}: {share}");
    }
}
