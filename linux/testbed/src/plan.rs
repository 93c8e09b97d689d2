//! Plan of a run: the flows of a simulation with the same seed, and the connections that carry them.

use shortflow_deploy::Failure;
use shortflow_sim::engine::Seeds;
use shortflow_sim::scenario::Scenario;
use shortflow_sim::traffic::{ConnectionUse, FlowArrival, Workload};
use shortflow_units::{HostId, Instant};
use std::collections::HashMap;

/// Largest number of connections of a run. More would need more memory and ports than a host of the testbed has.
const MAX_CONNECTIONS: usize = 8000;

/// A flow and its connection.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Transfer {
    /// The flow.
    pub arrival: FlowArrival,
    /// Position in [`Plan::connections`].
    pub connection: usize,
    /// True if the flow has a row in the flow table. Flows that start after the measured time only add load.
    pub counted: bool,
}

/// All flows and connections of a run.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    /// Flows in order of their starts.
    pub transfers: Vec<Transfer>,
    /// Sending and receiving host of each connection.
    pub connections: Vec<(HostId, HostId)>,
}

impl Plan {
    /// Plans the flows of `scenario` with the random draws of `seed`.
    /// Fails if traffic waits for answers, stops flows or has a transport of its own, or if the run has too many
    /// connections.
    pub(crate) fn of(scenario: &Scenario, seed: u64) -> Result<Plan, Failure> {
        if !scenario.transports.is_empty() {
            let why = "the testbed runs one congestion control; remove transport from the traffic";
            return Err(Failure::Input(format!("traffic: {why}")));
        }
        let end = Instant::ZERO + scenario.duration + scenario.drain;
        let mut arrivals: Vec<(usize, FlowArrival)> = Vec::new();
        for (index, traffic) in scenario.traffic.iter().enumerate() {
            let Workload::Open(flows) = traffic.start(Seeds::new(seed), index) else {
                let number = index + 1;
                let why =
                    "its flows depend on answers, but the testbed sends only flows with known start times";
                return Err(Failure::Input(format!("traffic.{number}: {why}")));
            };
            let mine = flows.take_while(|arrival| arrival.at < end).take(MAX_CONNECTIONS + 1);
            arrivals.extend(mine.map(|arrival| (index, arrival)));
        }
        if let Some((index, _)) = arrivals.iter().find(|(_, arrival)| arrival.stop.is_some()) {
            let number = index + 1;
            let why = "the testbed cannot stop flows before the end of the run; remove stop";
            return Err(Failure::Input(format!("traffic.{number}: {why}")));
        }
        arrivals.sort_by_key(|(index, arrival)| (arrival.at, *index));
        let mut plan = Plan::default();
        let mut kept = HashMap::new();
        let measured = Instant::ZERO + scenario.duration;
        for (index, arrival) in arrivals {
            let ends = (arrival.source, arrival.destination);
            let next = plan.connections.len();
            let mut keep = |entry, number| *kept.entry((entry, ends, number)).or_insert(next);
            let connection = match arrival.connection {
                ConnectionUse::New => next,
                ConnectionUse::Persistent(number) => keep(Some(index), number),
                ConnectionUse::Shared(number) => keep(None, number),
            };
            if connection == next {
                plan.connections.push(ends);
            }
            plan.transfers.push(Transfer { arrival, connection, counted: arrival.at < measured });
        }
        match plan.connections.len() {
            0..=MAX_CONNECTIONS => Ok(plan),
            _ => {
                let (limit, what) =
                    (MAX_CONNECTIONS, "connections; shorten duration or drain, or lower the load");
                Err(Failure::Input(format!("traffic: the testbed opens at most {limit} {what}")))
            }
        }
    }

    /// Returns every host that sends or receives, in ascending order.
    pub(crate) fn hosts(&self) -> Vec<HostId> {
        let mut hosts: Vec<HostId> = self.connections.iter().flat_map(|&(from, to)| [from, to]).collect();
        hosts.sort_unstable();
        hosts.dedup();
        hosts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shortflow_sim::scheme::Scheme;
    use shortflow_sim::simulation::{self, NoObserver};

    fn scenario(traffic: &str) -> Scenario {
        let text = format!(
            "title = \"t\"\nduration = \"200ms\"\ndrain = \"100ms\"\n\
             [topology]\nkind = \"star\"\nhosts = 4\nrate = \"100Mbps\"\nrtt = \"1ms\"\n\
             [switch]\nbuffer = \"100pkt\"\nmark_above = \"8pkt\"\n[[traffic]]\n{traffic}"
        );
        Scenario::parse(&text, "test", &[], &|_| Err("no files".to_owned())).unwrap()
    }

    #[test]
    fn a_run_sends_the_flows_of_a_simulation() {
        let scenario = scenario(
            "kind = \"poisson\"\nto = 3\nload = 0.5\nsizes = { kind = \"uniform\", min = \"2KB\", max = \"98KB\" }",
        );
        let plan = Plan::of(&scenario, 7).unwrap();
        let scheme = Scheme::named("dctcp", &[]).unwrap();
        let simulated = simulation::run(&scenario, &scheme, 7, &mut NoObserver).unwrap();
        let counted: Vec<&Transfer> = plan.transfers.iter().filter(|transfer| transfer.counted).collect();
        assert!(counted.len() > 10 && counted.len() < plan.transfers.len());
        assert_eq!(counted.len(), simulated.flows.len());
        for (transfer, row) in counted.iter().zip(&simulated.flows) {
            let arrival = transfer.arrival;
            assert_eq!((arrival.at, arrival.size, arrival.source), (row.start, row.size, row.source));
        }
        assert_eq!(plan.connections.len(), plan.transfers.len());
        assert_eq!(plan.hosts().last(), Some(&HostId(3)));
    }

    #[test]
    fn flows_that_stop_are_refused_by_name() {
        let error = Plan::of(&scenario("kind = \"long-lived\"\nto = 3\nstop = \"5ms\""), 1).unwrap_err();
        assert!(error.to_string().starts_with("traffic.1: the testbed cannot stop flows"), "{error}");
    }

    #[test]
    fn traffic_that_waits_for_answers_is_refused_by_name() {
        let text = "kind = \"queries\"\nworkers = 3\nto = 3\nthink = \"10ms\"\n\
                    sizes = { kind = \"fixed\", value = \"10KB\" }";
        let error = Plan::of(&scenario(text), 1).unwrap_err().to_string();
        assert!(error.starts_with("traffic.1: its flows depend on answers"), "{error}");
    }
}
