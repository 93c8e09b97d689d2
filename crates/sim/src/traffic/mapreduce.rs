//! MapReduce jobs: read, map, shuffle, reduce, collect.
//!
//! A mapper with its input computes, and then sends a block to every reducer. A reducer with a block from
//! every mapper computes, and then sends its result to the collector. The job ends when the collector has all
//! results, so one late flow delays the whole job.

use super::context::{Context, four_digits, size_text};
use super::hosts::{HostSet, Hosts};
use super::messages::{Draws, Messages};
use super::rounds::Rounds;
use super::{
    AppActions, Application, Count, Expected, FlowArrival, MeasurementWindow, TaskId, TaskKind, Traffic,
    Workload,
};
use crate::config::{ANY_SIZE, ANY_TIME, ConfigError, Kind, POSITIVE_TIME, ParamInfo, Reader, keys};
use crate::engine::{Seeds, Stream};
use shortflow_units::{Bytes, ClassId, HostId, Instant, Span};
use std::sync::Arc;

/// Registry entry.
pub(super) const KIND: Kind<super::Read> = Kind {
    name: "mapreduce",
    summary: "jobs: read, map, shuffle many-to-many, reduce, collect",
    source: "ATCP, Wu et al., §VII-C: blocks of 8 MB",
    parameters,
    read,
};

keys! {
    /// Hosts, sizes of flows outside the shuffle, and computing times.
    struct JobKeys {
        /// hosts of the mappers, one host for each mapper
        mappers: HostSet = required, Hosts;
        /// hosts of the reducers, one host for each reducer; may also be hosts of mappers
        reducers: HostSet = required, Hosts;
        /// the host that collects the results; has neither a mapper nor a reducer
        collector: HostSet = required, Hosts;
        /// hosts from which mappers read; unless given, each mapper has its input on its own host
        storage: Option<HostSet> = optional, Hosts;
        /// data that a mapper reads from storage
        input: Bytes = "8MB", ANY_SIZE, acts: storage != "";
        /// data that a reducer sends to the collector
        result: Bytes = "1MB", ANY_SIZE;
        /// computing time of a mapper
        map: Span = "0s", ANY_TIME;
        /// computing time of a reducer
        reduce: Span = "0s", ANY_TIME;
        /// largest random extension of a computing time, as a share of the time
        straggle: f64 = "0", 0.0..=100.0, acts: map > 0 || reduce > 0;
        /// time allowed for a job
        job_deadline: Option<Span> = optional, POSITIVE_TIME;
    }
}

#[derive(Debug, Clone)]
struct Jobs {
    rounds: Rounds,
    keys: JobKeys,
    mappers: Vec<HostId>,
    reducers: Vec<HostId>,
    storage: Vec<HostId>,
    collector: HostId,
    /// Messages for the blocks of the shuffle.
    blocks: Messages,
    /// Class of the flows from storage and to the collector.
    other_class: ClassId,
}

fn parameters() -> Vec<ParamInfo> {
    [JobKeys::parameters(), Rounds::parameters(), Messages::parameters()].concat()
}

fn read(reader: &Reader, context: &mut Context) -> Result<Box<dyn Traffic>, ConfigError> {
    let keys = JobKeys::read(reader)?;
    let rounds = Rounds::read(reader, context)?;
    let blocks = Messages::read(reader, context)?;
    let hosts = |set: &HostSet, key| set.resolve(&context.names, reader, key);
    let (mappers, reducers) = (hosts(&keys.mappers, "mappers")?, hosts(&keys.reducers, "reducers")?);
    let storage = keys.storage.as_ref().map_or(Ok(Vec::new()), |set| hosts(set, "storage"))?;
    let &[collector] = hosts(&keys.collector, "collector")?.as_slice() else {
        return Err(reader.impossible("collector", "several hosts given; expected one, such as 0"));
    };
    if let Some((key, host)) = [("mappers", &mappers), ("reducers", &reducers)]
        .into_iter()
        .find_map(|(key, hosts)| hosts.contains(&collector).then_some((key, context.names.name(collector))))
    {
        return Err(reader.impossible(key, format!("host {host} is the collector")));
    }
    if let Some(host) = mappers.iter().find(|host| !storage.is_empty() && storage.iter().all(|s| s == *host))
    {
        return Err(reader.impossible(
            "storage",
            format!("host {} could only read from itself", context.names.name(*host)),
        ));
    }
    let other_class = context.class("storage");
    let jobs = Jobs { rounds, keys, mappers, reducers, storage, collector, blocks, other_class };
    jobs.announce(reader, context);
    Ok(Box::new(jobs))
}

impl Jobs {
    fn announce(&self, reader: &Reader, context: &mut Context) {
        let (m, r, jobs) =
            (self.mappers.len() as f64, self.reducers.len() as f64, f64::from(self.rounds.repeat));
        let block = self.blocks.sizes.mean();
        context.expect(jobs * m * r, block);
        context.expect(jobs * r, self.keys.result.as_f64());
        if !self.storage.is_empty() {
            context.expect(jobs * m, self.keys.input.as_f64());
            context.peers.add(&self.storage, &self.mappers);
        }
        context.peers.add(&self.mappers, &self.reducers);
        context.peers.add(&self.reducers, &[self.collector]);
        let note = format!(
            "{} x {} mappers to {} reducers, blocks of mean {}; a reducer's link needs {}ms for its blocks",
            self.rounds.repeat,
            self.mappers.len(),
            self.reducers.len(),
            size_text(block),
            four_digits(m * block * 8e3 / context.access_rate(self.reducers[0]).as_bps() as f64),
        );
        context.note(reader, &note);
    }

    /// A flow outside the shuffle: input from storage, or a result.
    fn other(&self, at: Instant, ends: (HostId, HostId), size: Bytes) -> FlowArrival {
        let (source, destination) = ends;
        let connection = self.blocks.connection(0);
        FlowArrival {
            at,
            source,
            destination,
            size,
            class: self.other_class,
            deadline: None,
            connection,
            stop: None,
        }
    }
}

impl Traffic for Jobs {
    /// Only the first flows of the first job are certain: its reads from storage or, without storage, its
    /// shuffle. With `straggle`, the start of the shuffle is random.
    fn expected(&self, measured: MeasurementWindow) -> Expected {
        match self.storage.is_empty() && self.keys.straggle > 0.0 {
            true => Expected::finite(Count::AtLeast(0)),
            false => self.start(Seeds::new(0), 0).expected(measured),
        }
    }

    fn start(&self, seeds: Seeds, index: usize) -> Workload {
        Workload::Closed(Box::new(Run {
            jobs: Arc::new(self.clone()),
            draws: self.blocks.draws(seeds, index),
            times: seeds.stream("traffic gaps", index),
            hosts: seeds.stream("traffic hosts", index),
            done: 0,
            job: None,
        }))
    }
}

/// The jobs of one run.
struct Run {
    jobs: Arc<Jobs>,
    draws: Draws,
    times: Stream,
    hosts: Stream,
    /// Number of jobs begun so far.
    done: u32,
    job: Option<Job>,
}

/// A job in progress.
struct Job {
    task: TaskId,
    shuffle: Option<TaskId>,
    /// Computing times of mappers and of reducers.
    map: Vec<Span>,
    reduce: Vec<Span>,
    /// Blocks from every mapper to every reducer, mapper by mapper.
    blocks: Vec<FlowArrival>,
    /// For each reducer, the number of missing blocks and the earliest time at which it may start.
    inputs: Vec<(usize, Instant)>,
    /// Number of blocks that have not arrived over the network.
    on_the_way: usize,
    /// Number of results that the collector still waits for.
    results: usize,
}

/// Role of a flow in its job, encoded in its tag.
enum Flow {
    Input(usize),
    Block(usize),
    Result,
}

impl Flow {
    fn tag(self) -> u64 {
        match self {
            Flow::Input(mapper) => 3 * mapper as u64,
            Flow::Block(reducer) => 3 * reducer as u64 + 1,
            Flow::Result => 2,
        }
    }

    fn of(tag: u64) -> Flow {
        let number = (tag / 3) as usize;
        match tag % 3 {
            0 => Flow::Input(number),
            1 => Flow::Block(number),
            _ => Flow::Result,
        }
    }
}

impl Run {
    /// Makes all random draws of a job and starts to read its inputs.
    fn begin_job(&mut self, at: Instant, actions: &mut AppActions) {
        let jobs = Arc::clone(&self.jobs);
        self.done += 1;
        let task = actions.open(TaskKind::Job, jobs.blocks.class(), at, jobs.keys.job_deadline);
        let mut time = |base: Span| {
            let longer = base.as_secs_f64() * jobs.keys.straggle * self.times.unit();
            base + Span::from_secs_f64(longer)
        };
        let map = jobs.mappers.iter().map(|_| time(jobs.keys.map)).collect();
        let reduce = jobs.reducers.iter().map(|_| time(jobs.keys.reduce)).collect();
        let ends = jobs.mappers.iter().flat_map(|from| jobs.reducers.iter().map(move |to| (*from, *to)));
        let blocks: Vec<FlowArrival> =
            ends.map(|ends| jobs.blocks.arrival(&mut self.draws, Instant::ZERO, ends, 0)).collect();
        let remote = |block: &&FlowArrival| block.source != block.destination;
        let on_the_way = blocks.iter().filter(remote).count();
        let inputs = vec![(jobs.mappers.len(), at); jobs.reducers.len()];
        let results = jobs.reducers.len();
        self.job = Some(Job { task, shuffle: None, map, reduce, blocks, inputs, on_the_way, results });
        for mapper in 0..jobs.mappers.len() {
            self.read_input(mapper, at, actions);
        }
    }

    fn read_input(&mut self, mapper: usize, at: Instant, actions: &mut AppActions) {
        let jobs = Arc::clone(&self.jobs);
        let host = jobs.mappers[mapper];
        let others: Vec<HostId> = jobs.storage.iter().copied().filter(|storage| *storage != host).collect();
        let Some(job) = &self.job else { return };
        if others.is_empty() {
            return self.map(mapper, at, actions);
        }
        let storage = others[self.hosts.below(others.len() as u64) as usize];
        actions.send(job.task, Flow::Input(mapper).tag(), jobs.other(at, (storage, host), jobs.keys.input));
    }

    /// A mapper has its input.
    fn map(&mut self, mapper: usize, now: Instant, actions: &mut AppActions) {
        let jobs = Arc::clone(&self.jobs);
        let Some(job) = &mut self.job else { return };
        let at = now + job.map[mapper];
        let class = jobs.blocks.class();
        let shuffle =
            *job.shuffle.get_or_insert_with(|| actions.open_part(job.task, TaskKind::Shuffle, class, at));
        actions.begins(shuffle, at);
        let reducers = jobs.reducers.len();
        // A block for a reducer on the mapper's own host crosses no network.
        let mut on_the_spot = None;
        for (reducer, block) in job.blocks[mapper * reducers..][..reducers].iter().enumerate() {
            match block.source == block.destination {
                true => on_the_spot = Some(reducer),
                false => actions.send(shuffle, Flow::Block(reducer).tag(), FlowArrival { at, ..*block }),
            }
        }
        if let Some(reducer) = on_the_spot {
            self.receive_block(reducer, at, actions);
        }
    }

    /// A reducer has a block from time `at` on.
    fn receive_block(&mut self, reducer: usize, at: Instant, actions: &mut AppActions) {
        let jobs = Arc::clone(&self.jobs);
        let Some(job) = &mut self.job else { return };
        let (missing, from) = &mut job.inputs[reducer];
        *missing -= 1;
        *from = at.max(*from);
        if *missing > 0 {
            return;
        }
        let ends = (jobs.reducers[reducer], jobs.collector);
        let result = jobs.other(*from + job.reduce[reducer], ends, jobs.keys.result);
        actions.send(job.task, Flow::Result.tag(), result);
    }

    /// A block has arrived over the network.
    fn count_block(&mut self, now: Instant, actions: &mut AppActions) {
        let Some(job) = &mut self.job else { return };
        job.on_the_way -= 1;
        if let Some(shuffle) = job.shuffle.filter(|_| job.on_the_way == 0) {
            actions.close(shuffle, now);
        }
    }

    fn collect(&mut self, now: Instant, actions: &mut AppActions) {
        let Some(job) = &mut self.job else { return };
        job.results -= 1;
        if job.results > 0 {
            return;
        }
        actions.close(job.task, now);
        self.job = None;
        if let Some(at) = self.jobs.rounds.next(now, self.done) {
            self.begin_job(at, actions);
        }
    }
}

impl Application for Run {
    fn begin(&mut self, actions: &mut AppActions) {
        self.begin_job(self.jobs.rounds.first, actions);
    }

    fn delivered(&mut self, now: Instant, tag: u64, actions: &mut AppActions) {
        match Flow::of(tag) {
            Flow::Input(mapper) => self.map(mapper, now, actions),
            Flow::Block(reducer) => {
                self.count_block(now, actions);
                self.receive_block(reducer, now, actions);
            }
            Flow::Result => self.collect(now, actions),
        }
    }
}
