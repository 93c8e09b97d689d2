//! Collectives over a ring: each rank sends a chunk to its right neighbour, and forwards chunks from its left
//! neighbour.
//!
//! With n ranks and S bytes per rank, a chunk has S / n bytes. A reduce-scatter or an all-gather takes n − 1
//! steps, and an all-reduce takes twice as many. A collective ends when the last rank has its last chunk. On
//! links of rate B this takes at least S (n − 1) / (n B), and twice as long for an all-reduce.

use super::context::{Context, four_digits, size_text};
use super::flow::Connections;
use super::hosts::{HostSet, Hosts};
use super::rounds::Rounds;
use super::{AppActions, Application, FlowArrival, TaskId, TaskKind, Traffic, Workload};
use crate::config::{ANY_SIZE, ConfigError, Kind, ParamInfo, Reader, Text, keys};
use crate::engine::Seeds;
use shortflow_spec::words;
use shortflow_units::{Bytes, ClassId, HostId, Instant};

/// Registry entry.
pub(super) const KIND: Kind<super::Read> = Kind {
    name: "ring",
    summary: "collectives over a ring of ranks: in each step, each rank sends a chunk to the next rank",
    source: "nccl-tests, doc/PERFORMANCE.md",
    parameters,
    read,
};

words! {
    /// Collective operation of a ring.
    pub enum Operation {
        /// Reduce-scatter, followed by all-gather.
        AllReduce = "all-reduce",
        /// Each rank ends with the sum of one chunk.
        ReduceScatter = "reduce-scatter",
        /// Each rank begins with one chunk and ends with all chunks.
        AllGather = "all-gather",
    }
}

impl Operation {
    fn steps(self, ranks: usize) -> usize {
        match self {
            Operation::AllReduce => 2 * (ranks - 1),
            Operation::ReduceScatter | Operation::AllGather => ranks - 1,
        }
    }
}

keys! {
    /// Keys for ranks and sizes.
    struct RingKeys {
        /// hosts of the ranks, in the order of the ring
        ranks: HostSet = required, Hosts;
        /// size of the data of the collective at each rank
        size: Bytes = "8MB", ANY_SIZE;
        /// collective operation; all-reduce is reduce-scatter followed by all-gather
        operation: Operation = "all-reduce", Operation::WORDS;
        /// name of the traffic class in results
        class: String = "ring", Text::Name;
        /// sharing of connections: new: each chunk has a connection; persistent: all chunks between two neighbours
        /// share a connection; shared: also with flows of other entries with shared
        connections: Connections = "persistent", Connections::WORDS;
    }
}

#[derive(Debug, Clone)]
struct Ring {
    rounds: Rounds,
    ranks: Vec<HostId>,
    steps: usize,
    chunk: Bytes,
    class: ClassId,
    connections: Connections,
}

fn parameters() -> Vec<ParamInfo> {
    [RingKeys::parameters(), Rounds::parameters()].concat()
}

fn read(reader: &Reader, context: &mut Context) -> Result<Box<dyn Traffic>, ConfigError> {
    let keys = RingKeys::read(reader)?;
    let rounds = Rounds::read(reader, context)?;
    let ranks = keys.ranks.resolve(&context.names, reader, "ranks")?;
    if ranks.len() < 2 {
        return Err(reader.impossible("ranks", "one rank has no neighbour; expected two hosts or more"));
    }
    if let Some(host) = (1..ranks.len()).map(|rank| ranks[rank]).find(|host| {
        let first = ranks.iter().position(|rank| rank == host);
        ranks.iter().rposition(|rank| rank == host) != first
    }) {
        return Err(
            reader.impossible("ranks", format!("host {} is in the ring twice", context.names.name(host)))
        );
    }
    let (steps, chunk) =
        (keys.operation.steps(ranks.len()), Bytes::new(keys.size.get().div_ceil(ranks.len() as u64)));
    let ring = Ring {
        rounds,
        steps,
        chunk,
        class: context.class(&keys.class),
        connections: keys.connections,
        ranks,
    };
    ring.announce(reader, context);
    Ok(Box::new(ring))
}

impl Ring {
    fn announce(&self, reader: &Reader, context: &mut Context) {
        let (ranks, steps) = (self.ranks.len(), self.steps as f64);
        context.expect(f64::from(self.rounds.repeat) * steps * ranks as f64, self.chunk.as_f64());
        context.peers.add_pairs((0..ranks).map(|rank| (self.ranks[rank], self.right_of(rank))));
        let slowest = self.ranks.iter().map(|host| context.access_rate(*host).as_bps()).min();
        let least = steps * self.chunk.as_f64() * 8e3 / slowest.unwrap_or(1) as f64;
        let note = format!(
            "{} x {} steps of {ranks} ranks, chunks of {}; the slowest rank's link needs {}ms for its chunks",
            self.rounds.repeat,
            self.steps,
            size_text(self.chunk.as_f64()),
            four_digits(least)
        );
        context.note(reader, &note);
    }

    fn right_of(&self, rank: usize) -> HostId {
        self.ranks[(rank + 1) % self.ranks.len()]
    }
}

impl Traffic for Ring {
    fn start(&self, _: Seeds, _: usize) -> Workload {
        Workload::Closed(Box::new(Run { ring: self.clone(), done: 0, under_way: None }))
    }
}

/// The collectives of one run.
struct Run {
    ring: Ring,
    /// Number of collectives begun so far.
    done: u32,
    /// The present collective, and the number of ranks that wait for their last chunk.
    under_way: Option<(TaskId, usize)>,
}

impl Run {
    fn begin_collective(&mut self, at: Instant, actions: &mut AppActions) {
        let ranks = self.ring.ranks.len();
        self.done += 1;
        self.under_way = Some((actions.open(TaskKind::Collective, self.ring.class, at, None), ranks));
        (0..ranks).for_each(|rank| self.send(rank, 0, at, actions));
    }

    /// Sends the chunk of step `step` from rank `rank`.
    fn send(&self, rank: usize, step: usize, at: Instant, actions: &mut AppActions) {
        let (ring, Some((task, _))) = (&self.ring, self.under_way) else { return };
        let arrival = FlowArrival {
            at,
            source: ring.ranks[rank],
            destination: ring.right_of(rank),
            size: ring.chunk,
            class: ring.class,
            deadline: None,
            connection: ring.connections.of(0),
            stop: None,
        };
        actions.send(task, (step * ring.ranks.len() + rank) as u64, arrival);
    }
}

impl Application for Run {
    fn begin(&mut self, actions: &mut AppActions) {
        self.begin_collective(self.ring.rounds.first, actions);
    }

    fn delivered(&mut self, now: Instant, tag: u64, actions: &mut AppActions) {
        let ranks = self.ring.ranks.len();
        let (step, rank) = (tag as usize / ranks, tag as usize % ranks);
        if step + 1 < self.ring.steps {
            return self.send((rank + 1) % ranks, step + 1, now, actions);
        }
        let Some((task, waiting)) = &mut self.under_way else { return };
        *waiting -= 1;
        if *waiting > 0 {
            return;
        }
        actions.close(*task, now);
        self.under_way = None;
        if let Some(at) = self.ring.rounds.next(now, self.done) {
            self.begin_collective(at, actions);
        }
    }
}
