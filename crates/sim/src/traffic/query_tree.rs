//! Queries that descend a tree of hosts, and answers that return: the common part of one-level and two-level
//! aggregation.
//!
//! A host that gets a request asks its children at once. When all children have answered, or at once without
//! children, the host computes and answers. The query ends when the root has all answers.

use super::messages::{Draws, Messages};
use super::rounds::Rounds;
use super::{AppActions, Application, FlowArrival, TaskId, TaskKind, Traffic, Workload};
use crate::config::{ANY_SIZE, ANY_TIME, ConfigError, POSITIVE_TIME, ParamInfo, Reader, keys};
use crate::engine::{Seeds, Stream};
use crate::traffic::Context;
use shortflow_units::{Bytes, ClassId, HostId, Instant, Span};
use std::sync::Arc;

keys! {
    /// Keys of one level of hosts, other than its answers.
    #[derive(Copy)]
    pub(super) struct LevelKeys {
        /// size of the request to each host of this level
        request: Bytes = "100B", ANY_SIZE;
        /// time allowed for the request
        request_deadline: Option<Span> = optional, POSITIVE_TIME;
        /// time from the request, or from the last answer of the lower level, to the start of the answer
        compute: Span = "0s", ANY_TIME;
        /// largest random delay of the answer
        jitter: Span = "0s", ANY_TIME;
    }
}

keys! {
    /// Keys of the whole query.
    #[derive(Copy)]
    pub(super) struct TreeKeys {
        /// time allowed for the whole query
        query_deadline: Option<Span> = optional, POSITIVE_TIME;
    }
}

/// Hosts at the same distance from the root.
#[derive(Debug, Clone)]
pub(super) struct Level {
    keys: LevelKeys,
    pub answers: Messages,
}

impl Level {
    /// The keys as users see them.
    pub(super) fn parameters() -> Vec<ParamInfo> {
        [LevelKeys::parameters(), Messages::parameters()].concat()
    }

    pub(super) fn read(reader: &Reader, context: &mut Context) -> Result<Level, ConfigError> {
        let keys = LevelKeys::read(reader)?;
        context.deadlines |= keys.request_deadline.is_some();
        Ok(Level { keys, answers: Messages::read(reader, context)? })
    }
}

/// A host below the root.
#[derive(Debug, Clone)]
struct Member {
    host: HostId,
    /// Index of the host that asks this member.
    parent: usize,
    /// Index of the member's level.
    level: usize,
    /// Distinguishes members of one level on the same host.
    number: u32,
}

/// A query that repeats.
#[derive(Debug, Clone)]
pub(super) struct Tree {
    rounds: Rounds,
    deadline: Option<Span>,
    request_class: ClassId,
    levels: Vec<Level>,
    /// The root, followed by all members; each member comes after its parent.
    members: Vec<Member>,
    children: Vec<Vec<usize>>,
}

impl Tree {
    /// Index of the root.
    pub(super) const ROOT: usize = 0;

    /// A tree with a root and no other members.
    pub(super) fn new(
        root: HostId,
        levels: Vec<Level>,
        rounds: Rounds,
        keys: TreeKeys,
        context: &mut Context,
    ) -> Tree {
        Tree {
            rounds,
            deadline: keys.query_deadline,
            request_class: context.class("request"),
            levels,
            members: vec![Member { host: root, parent: 0, level: 0, number: 0 }],
            children: vec![Vec::new()],
        }
    }

    /// Adds a member that `parent` asks. Returns its index.
    pub(super) fn add(&mut self, parent: usize, level: usize, host: HostId, number: u32) -> usize {
        let member = self.members.len();
        self.members.push(Member { host, parent, level, number });
        self.children.push(Vec::new());
        self.children[parent].push(member);
        member
    }

    /// Declares the expected flows to the context.
    pub(super) fn announce(&self, context: &mut Context) {
        for member in &self.members[1..] {
            let level = &self.levels[member.level];
            context.expect(f64::from(self.rounds.repeat), level.answers.sizes.mean());
            context.expect(f64::from(self.rounds.repeat), level.keys.request.as_f64());
        }
        let asked = self.members[1..].iter().map(|member| (self.members[member.parent].host, member.host));
        context.peers.add_pairs(asked.flat_map(|(parent, member)| [(parent, member), (member, parent)]));
    }
}

/// Independent queries of several roots.
#[derive(Debug)]
pub(super) struct Trees(pub Vec<Tree>);

impl Traffic for Trees {
    fn start(&self, seeds: Seeds, index: usize) -> Workload {
        let mut tags = 0;
        let query = |(place, tree): (usize, &Tree)| {
            let first = tags;
            tags += 2 * tree.members.len() as u64;
            tree.query(seeds, index, (place, first))
        };
        Workload::Closed(Box::new(Queries(self.0.iter().enumerate().map(query).collect())))
    }
}

/// The queries of several roots in one run.
struct Queries(Vec<Query>);

impl Application for Queries {
    fn begin(&mut self, actions: &mut AppActions) {
        self.0.iter_mut().for_each(|query| query.begin(actions));
    }

    fn delivered(&mut self, now: Instant, tag: u64, actions: &mut AppActions) {
        let place = self.0.partition_point(|query| query.first_tag <= tag) - 1;
        self.0[place].delivered(now, tag, actions);
    }
}

impl Tree {
    /// The query of root number `place`, whose tags begin with `first_tag`.
    fn query(&self, seeds: Seeds, index: usize, (place, first_tag): (usize, u64)) -> Query {
        let levels = self.levels.len();
        let draws = |level: usize| self.levels[level].answers.draws_of(seeds, index, place * levels + level);
        let gaps = if place == 0 { "traffic gaps".to_owned() } else { format!("traffic gaps of {place}") };
        Query {
            tree: Arc::new(self.clone()),
            first_tag,
            draws: (0..levels).map(draws).collect(),
            jitter: seeds.stream(&gaps, index),
            asked: 0,
            task: None,
            answers: Vec::new(),
            waiting: Vec::new(),
        }
    }
}

/// The queries of one root in one run.
struct Query {
    tree: Arc<Tree>,
    /// First tag of this query; queries before it in the list have smaller tags.
    first_tag: u64,
    draws: Vec<Draws>,
    jitter: Stream,
    asked: u32,
    task: Option<TaskId>,
    /// For each member except the root, its answer and its computing time.
    answers: Vec<(FlowArrival, Span)>,
    /// For each member, the number of answers that it waits for.
    waiting: Vec<usize>,
}

impl Query {
    /// Draws all answers and asks the first level.
    fn ask(&mut self, at: Instant, actions: &mut AppActions) {
        let tree = Arc::clone(&self.tree);
        let class = tree.levels[0].answers.class();
        self.asked += 1;
        self.task = Some(actions.open(TaskKind::Query, class, at, tree.deadline));
        self.waiting = tree.children.iter().map(Vec::len).collect();
        self.answers = tree.members.iter().skip(1).map(|member| self.draw(member)).collect();
        self.ask_children(0, at, actions);
    }

    fn draw(&mut self, member: &Member) -> (FlowArrival, Span) {
        let Tree { levels, members, .. } = &*self.tree;
        let level = &levels[member.level];
        let ends = (member.host, members[member.parent].host);
        let late = Span::from_ps(self.jitter.below(level.keys.jitter.as_ps() + 1));
        let draws = &mut self.draws[member.level];
        let answer = level.answers.arrival(draws, Instant::ZERO, ends, member.number);
        (answer, level.keys.compute + late)
    }

    fn ask_children(&self, parent: usize, at: Instant, actions: &mut AppActions) {
        let Tree { levels, members, children, request_class, .. } = &*self.tree;
        let Some(task) = self.task else { return };
        for &child in &children[parent] {
            let member = &members[child];
            let level = &levels[member.level];
            let request = FlowArrival {
                at,
                source: members[parent].host,
                destination: member.host,
                size: level.keys.request,
                class: *request_class,
                deadline: level.keys.request_deadline,
                connection: level.answers.connection(member.number),
                stop: None,
            };
            actions.send(task, self.first_tag + 2 * child as u64, request);
        }
    }

    fn answer(&self, member: usize, now: Instant, actions: &mut AppActions) {
        let (Some(task), Some((answer, compute))) = (self.task, self.answers.get(member - 1)) else { return };
        actions.send(
            task,
            self.first_tag + 2 * member as u64 + 1,
            FlowArrival { at: now + *compute, ..*answer },
        );
    }

    /// An answer has arrived at `parent`.
    fn answered(&mut self, parent: usize, now: Instant, actions: &mut AppActions) {
        self.waiting[parent] -= 1;
        if self.waiting[parent] > 0 {
            return;
        }
        if parent > 0 {
            return self.answer(parent, now, actions);
        }
        if let Some(task) = self.task.take() {
            actions.close(task, now);
        }
        if let Some(at) = self.tree.rounds.next(now, self.asked) {
            self.ask(at, actions);
        }
    }
}

impl Query {
    fn begin(&mut self, actions: &mut AppActions) {
        self.ask(self.tree.rounds.first, actions);
    }

    fn delivered(&mut self, now: Instant, tag: u64, actions: &mut AppActions) {
        let tag = tag - self.first_tag;
        let member = (tag / 2) as usize;
        match (tag % 2 == 1, self.tree.children[member].is_empty()) {
            (true, _) => self.answered(self.tree.members[member].parent, now, actions),
            (false, true) => self.answer(member, now, actions),
            (false, false) => self.ask_children(member, now, actions),
        }
    }
}
