//! Hosts that handle events early see the same events in the same order as in order of time.

use proptest::prelude::*;
use shortflow_sim::engine::{EventCode, EventQueue, NodeScope, Step};
use shortflow_units::{Instant, NodeId, Span};

const APART: u64 = 1000;
/// Number of hosts. Hosts are linked only with the last node.
const HOSTS: u32 = 3;
/// Bit that marks events that affect only their host.
const LOCAL: u32 = 1 << 19;

/// From the top: 4 bits of kind (1 for events of nodes; otherwise global events before these, behind these, or
/// without effect on hosts), 8 bits of node, [`LOCAL`], and 19 bits of number.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Code(u32);

impl Code {
    /// `to` is a node or, above the nodes, a global kind.
    fn new(to: u32, number: u32) -> Code {
        Code(if to <= HOSTS { 1 } else { (to - HOSTS - 1) * 2 } << 28 | to << 20 | number)
    }
    fn node(self) -> Option<u32> {
        (self.0 >> 28 == 1).then_some(self.0 >> 20 & 0xff)
    }
    fn scope(self) -> NodeScope {
        self.node().map_or(NodeScope::GLOBAL, |node| NodeId(node).into())
    }
    fn is_seen_by(self, host: u32) -> bool {
        self.node().map_or(Code::is_barrier(self.0), |node| node == host)
    }
}

impl EventCode for Code {
    fn pack(self) -> u32 {
        self.0
    }
    fn unpack(bits: u32) -> Code {
        Code(bits)
    }
    fn rank(bits: u32, _: Instant) -> u32 {
        bits
    }
    fn precedes_nodes(bits: u32) -> bool {
        bits >> 28 == 0
    }
    fn is_barrier(bits: u32) -> bool {
        bits >> 28 != 4
    }
    fn is_local(bits: u32) -> bool {
        bits >> 28 == 1 && bits & LOCAL != 0
    }
    fn channel(_: u32) -> Option<u32> {
        None
    }
    fn of_channel(channel: u32) -> u32 {
        channel
    }
}

/// Node and delay of the next event, and true if it is local there.
type Next = (u32, u64, bool);

struct Run<'a> {
    queue: EventQueue<Code>,
    first: u32,
    chains: &'a [Next],
    taken: Vec<(u64, Code)>,
    quiet: [u64; HOSTS as usize],
}

impl Run<'_> {
    /// Handles an event. Each of the first events leads to a chain of three more.
    fn take(&mut self, event: Code) {
        let (at, number) = (self.queue.now().as_ps(), event.0 & (LOCAL - 1));
        assert!((0..HOSTS).all(|host| !event.is_seen_by(host) || at > self.quiet[host as usize]));
        self.taken.push((at, event));
        let (mut to, mut delay, is_local) = self.chains[number as usize % self.chains.len()];
        match event.node() {
            Some(node) if to != node => {
                to = if node < HOSTS { to.max(HOSTS) } else { to };
                delay += APART;
            }
            Some(_) => {}
            None => delay += 1, // no packet arrives when its flow starts
        }
        if number < 3 * self.first && Code::is_barrier(event.0) {
            let is_local = if is_local && event.node() == Some(to) { LOCAL } else { 0 };
            let next = Code::new(to, is_local | (number + self.first));
            self.queue.schedule(Instant::from_ps(at + delay), next.scope(), next);
        }
    }

    /// Handles events of hosts early: after an event of a host, its own next ones; after an event of the node between
    /// the hosts, those of all hosts.
    fn take_early(&mut self, node: u32) {
        let now = self.queue.now();
        let (known, hosts) = match node < HOSTS {
            true => (self.queue.begin_of_window(), node..node + 1),
            false => (now, 0..HOSTS),
        };
        let limit = known + Span::from_ps(APART);
        let before = limit - Span::from_ps(1);
        for host in hosts {
            loop {
                if self.queue.is_safe(NodeId(host), before) {
                    self.quiet[host as usize] = before.as_ps();
                    break;
                }
                let Some(event) = self.queue.take_local(NodeId(host), limit) else { break };
                assert!(event.node() == Some(host) && Code::is_local(event.0) && self.queue.now() < limit);
                self.take(event);
            }
            self.queue.set_now(now);
        }
    }
}

fn run(queue: EventQueue<Code>, first: &[Next], chains: &[Next]) -> Vec<(u64, Code)> {
    let quiet = [0; HOSTS as usize];
    let mut run = Run { queue, first: first.len() as u32, chains, taken: Vec::new(), quiet };
    for (number, &(to, at, is_local)) in (0..).zip(first) {
        let is_local = if is_local && to < HOSTS { LOCAL } else { 0 };
        let event = Code::new(to, is_local | number);
        run.queue.schedule(Instant::from_ps(at + 1), event.scope(), event);
    }
    let end = Instant::from_ps(u64::MAX - 1);
    while let Some(step) = run.queue.next_step(end) {
        match step {
            Step::Global(event) => run.take(event),
            Step::Node(node) => {
                run.queue.line_up();
                while let Some(event) = run.queue.next_here() {
                    run.take(event);
                    run.take_early(node);
                }
            }
        }
    }
    while let Some(event) = run.queue.next(end) {
        run.take(event);
    }
    assert_eq!(run.queue.scheduled_in_past(), None);
    run.taken
}

fn events() -> impl Strategy<Value = Vec<Next>> {
    let time = prop_oneof![0u64..30, 0..2 * APART, (0u64..4).prop_map(|n| n * 3000 * APART)];
    prop::collection::vec((0..HOSTS + 4, time, any::<bool>()), 1..60)
}

proptest! {
    #[test]
    fn hosts_that_take_events_early_see_the_order_of_time(first in events(), chains in events()) {
        let by_time = run(EventQueue::new(), &first, &chains);
        let channels = std::iter::empty();
        let nodes = HOSTS as usize + 1;
        let queue = EventQueue::new().windowed(nodes, channels, Span::from_ps(APART)).with_safe_times(nodes);
        let early = run(queue, &first, &chains);
        for host in 0..=HOSTS {
            let of = |taken: &[(u64, Code)]| -> Vec<_> {
                taken.iter().copied().filter(|(_, event)| event.is_seen_by(host)).collect()
            };
            prop_assert_eq!(of(&early), of(&by_time));
        }
    }
}
