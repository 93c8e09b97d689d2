//! One long flow fills its link under every scheme whose transport declares that it does.

use crate::common::{run, scenario, scheme};
use proptest::prelude::*;
use shortflow_sim::scheme::{SchemeInfo, schemes};

/// A port of 100 Mbit/s, and a round trip of 5 ms. The bandwidth-delay product is 42 packets.
const USUAL: (u32, u32) = (100, 5);

/// Goodput of a flow, divided by the largest possible goodput, which is 1460/1500 of the rate of the port.
/// The flow's host is ten times as fast as the port. The goodput is measured over twice as many round trips as
/// the warm-up of `round_trips`. The port has a rate in Mbit/s, and the round trip is in ms.
fn share(
    round_trips: u32,
    name: &str,
    settings: &[(&str, &str)],
    (rate, rtt): (u32, u32),
    [buffer, mark_above]: [&str; 2],
    rto_min: &str,
) -> f64 {
    let (host, warmup) = (10 * rate, rtt * round_trips);
    let duration = 3 * warmup;
    let text = format!(
        r#"
title = "one long flow"
duration = "{duration}ms"
warmup = "{warmup}ms"
drain = "0s"
topology = {{ kind = "dumbbell", pairs = 1, rate = "{host}Mbps", bottleneck = "{rate}Mbps", rtt = "{rtt}ms" }}
switch = {{ buffer = "{buffer}", mark_above = "{mark_above}" }}
tcp = {{ rto_min = "{rto_min}" }}
traffic = [{{ kind = "long-lived", flows = 1, from = 0, to = 1 }}]
"#
    );
    let outcome = run(&scenario(&text, &[]), &scheme(name, settings));
    let (drops, timeouts) = (outcome.counters.packets_dropped, outcome.flows[0].timeouts);
    assert!(drops > 0 || timeouts == 0, "{name}: {timeouts} timeouts, although no packet was dropped");
    let goodput = outcome.flows[0].delivered_in_window.as_f64() * 8e3 / f64::from(2 * warmup);
    goodput / (f64::from(rate) * 1e6 * 1460.0 / 1500.0)
}

/// Schemes whose transport declares that it fills a link, or that it does not.
fn declaring(fills_link: bool) -> impl Iterator<Item = &'static SchemeInfo> {
    let fills = |info: &SchemeInfo| scheme(&info.name, &[]).transport.info().fills_link;
    schemes().iter().filter(move |info| fills(info) == fills_link)
}

/// The ramp overflows the buffer. NewReno repairs one loss per round trip, so its timer expires during
/// recovery. After such a timeout, bytes without a cumulative ACK must not all count as bytes in the network,
/// or the buffer overflows again.
#[test]
fn a_recovery_that_times_out_does_not_repeat_itself() {
    for name in ["newreno", "tcp-ecn", "red", "atcp"] {
        for (buffer, rto_min) in
            [("84pkt", "200ms"), ("126pkt", "200ms"), ("167pkt", "200ms"), ("250pkt", "10ms")]
        {
            let share = share(1_000, name, &[], USUAL, [buffer, "unlimited"], rto_min);
            assert!(share >= 0.99, "{name}, {buffer}, {rto_min}: {share}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4))]

    /// Bandwidth-delay products are 21 to 84 packets, and round trips 1 to 20 ms. Buffers have 1 to 8
    /// products, and mark above one product, above two products, or never. RED marks between its threshold
    /// and three times this threshold. Smaller buffers overflow before that, so that marks and losses add up.
    /// Swift keeps its queue near a target of delay, so that a buffer of 1.02 products leaves it 98.99 %.
    #[test]
    fn one_flow_fills_the_link(
        product in prop::sample::select(vec![21u32, 42, 84]),
        rtt in prop::sample::select(vec![1u32, 5, 20]),
        room in 1.02f64..8.0,
        slow in any::<bool>(),
        above in prop::sample::select(vec![0.0, 1.0, 2.0]),
    ) {
        let rate = (product * 12).div_ceil(rtt);
        let product = f64::from(rate * rtt) / 12.0;
        let buffer = (room * product).ceil();
        let (port, rto_min) = (format!("{buffer}pkt"), if slow { "200ms" } else { "10ms" });
        for info in declaring(true) {
            let threshold = (above * product).ceil();
            let (most, least) = match &*info.name {
                "red" => (3.0 * threshold, 0.98),
                "swift" => (threshold, 0.985),
                _ => (threshold, 0.99),
            };
            let marks = threshold > 0.0 && buffer > most;
            let mark_above = if marks { format!("{threshold}pkt") } else { "unlimited".to_owned() };
            let share = share(1_000, &info.name, &[], (rate, rtt), [&port, &mark_above], rto_min);
            prop_assert!(
                share >= least,
                "{}, {rate} Mbps, {rtt} ms, {port}, {rto_min}, {mark_above}: {share}",
                info.name
            );
        }
    }

    /// Laws over each kind of loss recovery.
    #[test]
    fn one_flow_fills_the_link_with_any_recovery(buffer in 43u32..336, slow in any::<bool>()) {
        let (buffer, rto_min) = (format!("{buffer}pkt"), if slow { "200ms" } else { "10ms" });
        for name in ["tcp", "cubic", "dctcp", "atcp", "fast"] {
            for recovery in crate::common::recoveries() {
                let share = share(1_000, name, &[("transport.recovery", recovery)], USUAL, [&buffer, "unlimited"], rto_min);
                prop_assert!(share >= 0.99, "{name}, {recovery}, {buffer}, {rto_min}: {share}");
            }
        }
    }
}

/// A buffer of one bandwidth-delay product is 63 KB. DCQCN's paper marks every packet above 200 KB, and 0.3 %
/// at 63 KB. NDP's pulls have the rate of the host's link, which is ten times the rate of the port. The port
/// therefore sends headers of trimmed packets between the packets, at most ten for each. NDP's queue has limits
/// of its own.
#[test]
fn transports_that_do_not_fill_a_link_say_so() {
    for info in declaring(false) {
        let (name, trims) = (&*info.name, info.queue.info().trims);
        let buffer = if trims { "unlimited" } else { "42pkt" };
        let share = share(100, name, &[], USUAL, [buffer, "41pkt"], "10ms");
        assert!(share < 0.99, "{name}: {share}");
        assert!(!trims || share > 1_500.0 / 1_900.0, "{name}: {share}");
    }
    assert!(declaring(false).count() > 0);
}
