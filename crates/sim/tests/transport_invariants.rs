//! Invariants of every registered scheme in every small network, under any faults.

use crate::common::{recoveries, scheme};
use proptest::prelude::*;
use shortflow_cc::CongestionControl;
use shortflow_sim::outcome::Outcome;
use shortflow_sim::probe::Subject;
use shortflow_sim::queue::QueueKind;
use shortflow_sim::routing::routings;
use shortflow_sim::scenario::Scenario;
use shortflow_sim::scheme::schemes;
use shortflow_sim::simulation::{self, NoObserver};
use shortflow_sim::topology::topologies;
use shortflow_units::Bytes;

#[derive(Debug, Clone)]
struct Case {
    topology: &'static str,
    senders: u32,
    routing: &'static str,
    buffer: u32,
    threshold: u32,
    host_queue: &'static str,
    host_buffer: u32,
    loss: f64,
    mark: f64,
    ack_every: u32,
    handshake: bool,
    persistent: bool,
    recovery: &'static str,
    seed: u64,
}

fn setting() -> impl Strategy<Value = Case> {
    let topologies: Vec<&str> = topologies().iter().map(|topology| topology.name).collect();
    let topology = prop::sample::select(topologies);
    let routing = prop::sample::select(routings().iter().map(|routing| routing.name).collect::<Vec<_>>());
    let network = (topology, 2u32..6, 4u32..60, 1u32..20, routing);
    let queues: Vec<&str> = QueueKind::ALL.iter().map(|kind| kind.info().name).collect();
    let host = (prop::sample::select(queues), 4u32..60);
    let faults = (0.0..0.02f64, 0.0..0.3f64);
    let tcp = (1u32..3, any::<bool>(), any::<bool>(), prop::sample::select(recoveries()));
    (network, host, faults, tcp, 1u64..1000).prop_map(|(network, host, faults, tcp, seed)| Case {
        topology: network.0,
        senders: network.1,
        buffer: network.2,
        threshold: network.3.min(network.2 - 1),
        routing: network.4,
        host_queue: host.0,
        host_buffer: host.1,
        loss: faults.0,
        mark: faults.1,
        ack_every: tcp.0,
        handshake: tcp.1,
        persistent: tcp.2,
        recovery: tcp.3,
        seed,
    })
}

impl Case {
    /// Two waves of incast beside one backlogged flow.
    fn scenario(&self) -> Scenario {
        let Case { senders, routing, buffer, threshold, host_buffer, loss, .. } = self;
        let Case { mark, ack_every, handshake, .. } = self;
        let topology = crate::common::small_topology(self.topology, *senders);
        let connections = if self.persistent { "persistent" } else { "new" };
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
buffer = "{buffer}pkt"
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
[faults]
loss = {loss}
mark = {mark}
"#
        );
        crate::common::scenario_with_file(&text, crate::common::EDGES)
    }

    fn run(&self, scheme: &str) -> Outcome {
        let settings = [("host.queue", self.host_queue), ("transport.recovery", self.recovery)];
        let scheme = crate::common::scheme_with_what_it_has(scheme, &settings);
        simulation::run(&self.scenario(), &scheme, self.seed, &mut NoObserver)
            .unwrap_or_else(|error| panic!("{error}"))
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Conservation is checked inside every run, with each discipline in hosts too; here: no deadlock, every byte arrives, nothing is
    /// faster than light, ports send for as long as what departs takes, up to the packet at either end of the measured time,
    /// windows keep their floor, and a run repeats exactly.
    #[test]
    fn every_finite_flow_finishes_and_the_accounts_balance(setting in setting()) {
        for info in schemes() {
            let outcome = setting.run(&info.name);
            prop_assert_eq!(outcome.counters.unfinished, 0, "{}", info.name);
            for flow in outcome.flows.iter().filter(|flow| flow.size != Bytes::MAX) {
                prop_assert_eq!(flow.acked, flow.size);
                prop_assert!(flow.fct() >= flow.ideal, "{}: {:?}", info.name, flow);
            }
            for port in &outcome.ports {
                let sent = port.utilisation * 0.017 * port.rate.as_bps() as f64 / 8.0;
                prop_assert!((port.tx_bytes.as_f64() - sent).abs() <= 1500.5, "{}: {port:?}, {sent}", info.name);
            }
            let windows = crate::common::values(&outcome, |subject| matches!(subject, Subject::Cwnd(_)));
            let floor = scheme(&info.name, &[]).transport.start().floor(Bytes::new(1460));
            prop_assert!(windows.iter().all(|window| *window >= floor), "{}: {:?}", info.name, windows);
            let alphas = crate::common::values(&outcome, |subject| matches!(subject, Subject::Alpha(_)));
            prop_assert!(alphas.iter().all(|alpha| (0.0..=1.0).contains(alpha)));
            prop_assert_eq!(outcome.digest(), setting.run(&info.name).digest());
        }
    }

    /// All schemes meet the same flows.
    #[test]
    fn arrivals_do_not_depend_on_the_scheme(setting in setting()) {
        let arrivals = |name: &str| {
            let flows = setting.run(name).flows;
            flows.iter().map(|flow| (flow.start, flow.source, flow.destination, flow.size)).collect::<Vec<_>>()
        };
        let first = arrivals(&schemes()[0].name);
        for info in &schemes()[1..] {
            prop_assert_eq!(&first, &arrivals(&info.name));
        }
    }
}

/// Growth stops while every ACK is marked: after an ECN-Echo no window exceeds what it was before.
#[test]
fn no_window_grows_under_full_marking() {
    let setting = Case {
        topology: "star",
        senders: 2,
        routing: "flow-hash",
        buffer: 50,
        threshold: 10,
        host_queue: "droptail",
        host_buffer: 1000,
        loss: 0.0,
        mark: 1.0,
        ack_every: 1,
        handshake: false,
        persistent: false,
        recovery: "sack",
        seed: 1,
    };
    for info in
        schemes().iter().filter(|info| scheme(&info.name, &[]).transport.ecn() != shortflow_cc::Ecn::Off)
    {
        let outcome = setting.run(&info.name);
        let windows = crate::common::windows(&outcome);
        assert!(windows.windows(2).all(|pair| pair[1] <= pair[0]), "{}: {windows:?}", info.name);
    }
}
