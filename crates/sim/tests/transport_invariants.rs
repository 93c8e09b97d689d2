//! Invariants of every registered scheme in small networks of all kinds, with faults.

use crate::common::{
    EDGES, recoveries, scenario_with_file, scheme, scheme_with_what_it_has, small_topology, values,
};
use proptest::prelude::*;
use proptest::sample::select;
use shortflow_cc::CongestionControl;
use shortflow_sim::outcome::{Outcome, PortRow};
use shortflow_sim::probe::Subject;
use shortflow_sim::queue::QueueKind;
use shortflow_sim::routing::routings;
use shortflow_sim::scheme::schemes;
use shortflow_sim::simulation::{self, NoObserver};
use shortflow_sim::topology::topologies;
use shortflow_units::{Bytes, NodeId};

/// A scenario, and settings for schemes that have these keys.
#[derive(Debug, Clone)]
struct Case {
    text: String,
    settings: [(&'static str, String); 3],
    seed: u64,
}

/// Topology, number of senders and routing.
fn network() -> impl Strategy<Value = (&'static str, u32, &'static str)> {
    let topologies = topologies().iter().map(|topology| topology.name).collect::<Vec<_>>();
    let routings = routings().iter().map(|routing| routing.name).collect::<Vec<_>>();
    (select(topologies), 2u32..6, select(routings))
}

/// Queue disciplines that hosts may have under every transport.
fn queues_of_hosts() -> Vec<&'static str> {
    QueueKind::ALL.iter().map(|kind| kind.info()).filter(|info| !info.trims).map(|info| info.name).collect()
}

/// Keys of faults other than losses and marks.
fn trouble() -> impl Strategy<Value = String> {
    let drawn = (0.0..0.02f64, 0.0..0.1f64, 0.0..0.1f64, 0u32..8000, 1u32..8000);
    drawn.prop_map(|(corrupt, reorder, ack_loss, down, lasts)| {
        format!(
            "corrupt = {corrupt}\nreorder = {reorder}\nreorder_delay = '70us'\nack_loss = {ack_loss}\n\
             [[faults]]\nhosts = [0, 1]\ndown_at = '{down}us'\nup_at = '{}us'\n",
            down + lasts
        )
    })
}

/// Two waves of incast and one backlogged flow, with losses and marks. In half of all cases there are other
/// faults too: the links of two hosts fail, packets are damaged or late, and ACKs are lost.
fn case() -> impl Strategy<Value = Case> {
    let switch = (4u32..60, 1u32..20, any::<bool>());
    let host = (select(queues_of_hosts()), 4u32..60);
    let connections = select(vec!["persistent", "new"]);
    let tcp = (1u32..3, any::<bool>(), connections, select(recoveries()), 2u32..40);
    let faults = (0.0..0.02f64, 0.0..0.3f64, prop_oneof![Just(String::new()), trouble()]);
    let drawn = (network(), switch, host, tcp, faults, 1u64..1000);
    drawn.prop_map(|(network, switch, host, tcp, faults, seed)| {
        let (topology, senders, routing) = network;
        let (topology, (buffer, threshold, shared)) = (small_topology(topology, senders), switch);
        let threshold = threshold.min(buffer - 1);
        let buffer =
            if shared { "'unlimited'\nmemory = '100KB'".to_owned() } else { format!("'{buffer}pkt'") };
        let ((queue, host_buffer), (loss, mark, trouble)) = (host, faults);
        let (ack_every, handshake, connections, recovery, dupthresh) = tcp;
        let text = format!(
            r#"
title = "invariants"
duration = "20ms"
warmup = "3ms"
drain = "1000s"
[topology]
{topology}
[routing]
kind = "{routing}"
[switch]
buffer = {buffer}
mark_above = "{threshold}pkt"
[host]
buffer = "{host_buffer}pkt"
mark_above = "2pkt"
[tcp]
rto_max = "40ms"
ack_every = {ack_every}
handshake = {handshake}
[[traffic]]
kind = "incast"
flows = {senders}
sizes = {{ kind = "uniform", min = "1B", max = "60KB" }}
repeat = 2
every = "5ms"
connections = "{connections}"
[[traffic]]
kind = "long-lived"
flows = 1
[measure]
sample_every = "1ms"
[[faults]]
loss = {loss}
mark = {mark}
{trouble}"#
        );
        let settings = [
            ("host.queue", queue.to_owned()),
            ("transport.recovery", recovery.to_owned()),
            ("transport.dupthresh", dupthresh.to_string()),
        ];
        Case { text, settings, seed }
    })
}

impl Case {
    fn run(&self, scheme: &str) -> Outcome {
        let settings = self.settings.each_ref().map(|(key, value)| (*key, value.as_str()));
        let scheme = scheme_with_what_it_has(scheme, &settings);
        simulation::run(&scenario_with_file(&self.text, EDGES), &scheme, self.seed, &mut NoObserver)
            .unwrap_or_else(|error| panic!("{error}"))
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Every run checks conservation, with each discipline in hosts too. This test checks that there is no
    /// deadlock, that every byte arrives, that every drop has a reason and a place, that no flow is faster
    /// than its ideal time, that windows keep their floor, and that a run repeats exactly. It also compares
    /// the busy time of each port whose link does not fail with the bytes that departed. They agree within
    /// the packet at either end of the measured time.
    #[test]
    fn every_finite_flow_finishes_and_the_accounts_balance(case in case()) {
        for info in schemes() {
            let outcome = case.run(&info.name);
            prop_assert_eq!(outcome.counters.unfinished, 0, "{}", info.name);
            for flow in outcome.flows.iter().filter(|flow| flow.size != Bytes::MAX) {
                prop_assert_eq!(flow.acked, flow.size);
                prop_assert!(flow.fct() >= flow.ideal, "{}: {:?}", info.name, flow);
            }
            let dropped: u64 = outcome.drops.iter().map(|row| row.in_run).sum();
            prop_assert_eq!(dropped, outcome.counters.packets_dropped, "{}", info.name);
            let fails = |port: &&PortRow| case.text.contains("down_at") && port.from.min(port.to) < NodeId(2);
            for port in outcome.ports.iter().filter(|port| !fails(port)) {
                let sent = port.utilisation * 0.017 * port.rate.as_bps() as f64 / 8.0;
                prop_assert!((port.tx_bytes.as_f64() - sent).abs() <= 1500.5, "{}: {port:?}, {sent}", info.name);
            }
            let windows = values(&outcome, |subject| matches!(subject, Subject::Cwnd(_)));
            let floor = scheme(&info.name, &[]).transport.start().floor(Bytes::new(1460));
            prop_assert!(windows.iter().all(|window| *window >= floor), "{}: {:?}", info.name, windows);
            let alphas = values(&outcome, |subject| matches!(subject, Subject::Alpha(_)));
            prop_assert!(alphas.iter().all(|alpha| (0.0..=1.0).contains(alpha)));
            prop_assert_eq!(outcome.digest(), case.run(&info.name).digest());
        }
    }

    /// All schemes get the same flows.
    #[test]
    fn arrivals_do_not_depend_on_the_scheme(case in case()) {
        let arrivals = |name: &str| {
            let flows = case.run(name).flows;
            flows.iter().map(|flow| (flow.start, flow.source, flow.destination, flow.size)).collect::<Vec<_>>()
        };
        let first = arrivals(&schemes()[0].name);
        for info in &schemes()[1..] {
            prop_assert_eq!(&first, &arrivals(&info.name), "{}", info.name);
        }
    }
}
