//! [`Course`]: the critical path of a packet, with its time split by cause.

use crate::packet::PacketType;
use shortflow_units::{FlowId, Instant, PortId, Span};
use std::sync::Arc;

/// Places of queues: the host, then each tier of switches upward and downward. Tiers above the third count as the
/// third.
pub const PLACES: usize = 7;
/// Number of causes of a packet's time on its way.
const TRANSIT: usize = 6 + PLACES;
/// Causes of the time before a packet leaves its host.
const WAITS: [Cause; 8] = [
    Cause::Pacing,
    Cause::SmallQueue,
    Cause::HostOrder,
    Cause::Grant,
    Cause::Handshake,
    Cause::Recovery,
    Cause::Timeout,
    Cause::EarlierMessage,
];
const ROUNDS: [Round; 3] = [Round::Last, Round::Window, Round::Credit];
/// Number of parts of a completion time.
pub const PARTS: usize = ROUNDS.len() * TRANSIT + WAITS.len();

/// Cause of a part of a completion time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cause {
    /// Transmission of the flow's own packets.
    Serialisation,
    /// Propagation on links.
    Propagation,
    /// Wait behind the packets of other flows, at a place below [`PLACES`].
    Queueing(u8),
    /// Wait at a port that sent nothing.
    Pause,
    /// Jitter and stalls of a sending host.
    HostDelay,
    /// Delay that faults add on the wire.
    WireDelay,
    /// The receiver delayed an acknowledgement, or sent it with the acknowledgement of later data.
    LateAck,
    /// The pacer held the next packet.
    Pacing,
    /// The host's small queue held the next packet, while other packets of the host went first.
    SmallQueue,
    /// The host's agent let other messages go first.
    HostOrder,
    /// The receiver granted other messages first.
    Grant,
    /// The handshake of the connection.
    Handshake,
    /// Time from the sending of a lost packet to its retransmission, if acknowledgements, a probe or a request
    /// revealed the loss.
    Recovery,
    /// Time from the sending of a lost packet to its retransmission after a timeout.
    Timeout,
    /// Earlier messages of the connection held the window.
    EarlierMessage,
}

/// Kind of round trip that a packet belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Round {
    /// The last round trip.
    Last,
    /// An earlier round trip, whose acknowledgement opened the window.
    Window,
    /// An earlier round trip, which brought a grant.
    Credit,
}

impl Cause {
    /// Index of the cause: `Ok` among the causes on a packet's way, `Err` among the causes of waits before it leaves.
    fn index(self) -> Result<usize, usize> {
        match self {
            Cause::Serialisation => Ok(0),
            Cause::Propagation => Ok(1),
            Cause::Pause => Ok(2),
            Cause::HostDelay => Ok(3),
            Cause::WireDelay => Ok(4),
            Cause::LateAck => Ok(5),
            Cause::Queueing(place) => Ok(6 + (place as usize).min(PLACES - 1)),
            wait => Err(WAITS.iter().position(|each| *each == wait).unwrap_or(0)),
        }
    }

    fn of_transit(index: usize) -> Cause {
        match index {
            0 => Cause::Serialisation,
            1 => Cause::Propagation,
            2 => Cause::Pause,
            3 => Cause::HostDelay,
            4 => Cause::WireDelay,
            5 => Cause::LateAck,
            place => Cause::Queueing((place - 6) as u8),
        }
    }

    /// Name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Cause::Serialisation => "serialisation",
            Cause::Propagation => "propagation",
            Cause::Queueing(0) => "queueing at the host",
            Cause::Queueing(1) => "queueing at tier 1 to switches",
            Cause::Queueing(2) => "queueing at tier 1 to hosts",
            Cause::Queueing(3) => "queueing at tier 2 upward",
            Cause::Queueing(4) => "queueing at tier 2 downward",
            Cause::Queueing(5) => "queueing at tier 3 upward",
            Cause::Queueing(_) => "queueing at tier 3 downward",
            Cause::Pause => "pause",
            Cause::HostDelay => "host delay",
            Cause::WireDelay => "wire delay",
            Cause::LateAck => "late acknowledgement",
            Cause::Pacing => "pacing",
            Cause::SmallQueue => "small queue",
            Cause::HostOrder => "host order",
            Cause::Grant => "wait for grant",
            Cause::Handshake => "handshake",
            Cause::Recovery => "loss recovery",
            Cause::Timeout => "timeout",
            Cause::EarlierMessage => "earlier message",
        }
    }
}

impl Round {
    /// Name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Round::Last => "last",
            Round::Window => "window",
            Round::Credit => "credit",
        }
    }
}

/// Round and cause of each part of a completion time.
pub fn parts() -> impl Iterator<Item = (Round, Cause)> {
    let transit =
        ROUNDS.iter().flat_map(|round| (0..TRANSIT).map(|index| (*round, Cause::of_transit(index))));
    transit.chain(WAITS.iter().map(|wait| (Round::Last, *wait)))
}

/// Packets of one flow that a port sent while another packet waited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InFront {
    /// Number of their connection.
    pub connection: u32,
    /// Their flow, if it has a row in the flow table.
    pub flow: Option<FlowId>,
    /// Number of packets.
    pub packets: u32,
    /// Their transmission time within the wait.
    pub takes: Span,
}

/// The packet and the port of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Passage {
    /// The port, if the step is at a port or on its link.
    pub port: Option<PortId>,
    /// Type and sequence number of the packet.
    pub packet: Option<(PacketType, u64)>,
}

/// One step of a critical path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// Begin.
    pub from: Instant,
    /// End.
    pub until: Instant,
    /// Round trip.
    pub round: Round,
    /// Cause.
    pub cause: Cause,
    /// The packet and its port.
    pub passage: Passage,
    /// Packets that went first during the step.
    pub in_front: Vec<InFront>,
}

/// The account of a flow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlowAccount {
    /// Row of the flow in the flow table.
    pub flow: FlowId,
    /// Start of the flow.
    pub start: Instant,
    /// Completion of the flow: the sender knows that all bytes have arrived.
    pub finish: Instant,
    /// Time by round and cause, in the order of [`parts`]. The parts add up to the completion time.
    pub parts: [Span; PARTS],
    /// Steps in order of time; empty unless the flow is traced.
    pub steps: Vec<Step>,
}

/// A step or the end of a round trip, linked to the previous one.
#[derive(Debug)]
struct Link {
    /// At the end of a round trip: the kind of round trip that the steps before belong to.
    turn: Option<Round>,
    step: Option<Step>,
    before: Option<Arc<Link>>,
}

/// Frees a chain link by link. Recursion would overflow the stack, because a chain may have a million links.
impl Drop for Link {
    fn drop(&mut self) {
        let mut next = self.before.take();
        while let Some(mut link) = next.and_then(Arc::into_inner) {
            next = link.before.take();
        }
    }
}

/// The critical path of a packet from the start of its flow to `at`. The parts add up to this time.
#[derive(Debug, Clone)]
pub(super) struct Course {
    pub flow: FlowId,
    pub start: Instant,
    pub at: Instant,
    parts: [Span; PARTS],
    /// Steps, if the flow is traced.
    trail: Option<Arc<Link>>,
    traced: bool,
}

impl Course {
    pub(super) fn new(flow: FlowId, start: Instant, traced: bool) -> Course {
        Course { flow, start, at: start, parts: [Span::ZERO; PARTS], trail: None, traced }
    }

    /// Extends the path to `until`; the time since `at` has this cause.
    pub(super) fn to(self, cause: Cause, until: Instant) -> Course {
        self.through(cause, until, Passage::default(), Vec::new())
    }

    /// [`Course::to`] for a packet at a port.
    pub(super) fn through(
        mut self,
        cause: Cause,
        until: Instant,
        passage: Passage,
        in_front: Vec<InFront>,
    ) -> Course {
        if until <= self.at {
            return self;
        }
        let from = std::mem::replace(&mut self.at, until);
        let part = cause.index().unwrap_or_else(|wait| ROUNDS.len() * TRANSIT + wait);
        self.parts[part] += until.since(from);
        if self.traced {
            let step = Some(Step { from, until, round: Round::Last, cause, passage, in_front });
            self.trail = Some(Arc::new(Link { turn: None, step, before: self.trail.take() }));
        }
        self
    }

    /// Ends a round trip for which the sender waited; the way so far belongs to this round trip.
    pub(super) fn turn(mut self, round: Round) -> Course {
        let first = ROUNDS.iter().position(|each| *each == round).unwrap_or(0) * TRANSIT;
        for index in 0..TRANSIT {
            let time = std::mem::take(&mut self.parts[index]);
            self.parts[first + index] += time;
        }
        if self.traced {
            self.trail = Some(Arc::new(Link { turn: Some(round), step: None, before: self.trail.take() }));
        }
        self
    }

    /// Ends the handshake; the way so far belongs to it.
    pub(super) fn connected(mut self) -> Course {
        let way: Span =
            self.parts[..TRANSIT].iter_mut().map(std::mem::take).fold(Span::ZERO, |sum, part| sum + part);
        let waits = ROUNDS.len() * TRANSIT;
        self.parts[waits + Cause::Handshake.index().unwrap_or_else(|wait| wait)] += way;
        if self.traced {
            let mut steps = self.steps();
            let of_way = |step: &&mut Step| step.round == Round::Last && step.cause.index().is_ok();
            steps.iter_mut().filter(of_way).for_each(|step| step.cause = Cause::Handshake);
            self.trail = steps
                .into_iter()
                .fold(None, |before, step| Some(Arc::new(Link { turn: None, step: Some(step), before })));
        }
        self
    }

    pub(super) fn parts(&self) -> [Span; PARTS] {
        self.parts
    }

    pub(super) fn is_traced(&self) -> bool {
        self.traced
    }

    /// Steps in order of time.
    pub(super) fn steps(&self) -> Vec<Step> {
        let (mut steps, mut round, mut next) = (Vec::new(), Round::Last, self.trail.as_ref());
        while let Some(link) = next {
            round = link.turn.unwrap_or(round);
            steps.extend(link.step.iter().map(|step| {
                let of_way = step.cause.index().is_ok();
                Step { round: if of_way { round } else { Round::Last }, ..step.clone() }
            }));
            next = link.before.as_ref();
        }
        steps.reverse();
        steps
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(us: u64) -> Instant {
        Instant::ZERO + Span::from_micros(us)
    }

    /// 1 µs of serialisation and 9 µs on the wire, after which the window opens, and then 3 µs of queueing.
    #[test]
    fn the_round_that_opened_the_window_differs_from_the_last_round() {
        let course = Course::new(FlowId(0), at(5), true);
        let course =
            course.to(Cause::Serialisation, at(6)).to(Cause::Propagation, at(15)).turn(Round::Window);
        let course = course.to(Cause::Queueing(2), at(18));
        let told = parts().zip(course.parts()).filter(|(_, time)| *time > Span::ZERO);
        let us = Span::from_micros;
        assert_eq!(
            told.collect::<Vec<_>>(),
            [
                ((Round::Last, Cause::Queueing(2)), us(3)),
                ((Round::Window, Cause::Serialisation), us(1)),
                ((Round::Window, Cause::Propagation), us(9)),
            ]
        );
        let steps = course.steps();
        assert!(steps.iter().map(|step| step.round).eq([Round::Window, Round::Window, Round::Last]));
        assert!(steps.windows(2).all(|pair| pair[0].until == pair[1].from));
    }

    #[test]
    fn every_part_has_its_own_name() {
        let mut names: Vec<_> = parts().map(|(round, cause)| (round.name(), cause.name())).collect();
        assert_eq!(names.len(), PARTS);
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), PARTS);
    }

    #[test]
    fn a_chain_of_a_million_steps_is_freed() {
        let long = (1..1_000_000)
            .fold(Course::new(FlowId(0), at(0), true), |course, us| course.to(Cause::Pacing, at(us)));
        assert_eq!(long.at, at(999_999));
    }
}
