//! Queue disciplines of ports, in switches and in hosts. Each has its own file. There are two kinds:
//!
//! - A `QueueDiscipline` judges each arriving packet by the backlog that it finds. The port keeps the
//!   packets in order of arrival.
//! - A `Scheduler` holds the headers of the waiting packets and chooses the next packet to send. It may
//!   mark or drop packets at their departure. A scheduler costs one more event per packet.

mod backlog;
pub(crate) mod codel;
mod discipline;
pub(crate) mod droptail;
pub(crate) mod fair;
mod fifo;
mod first_come;
mod marking;
mod pausable;
pub(crate) mod pfabric;
pub(crate) mod pias;
pub(crate) mod pie;
pub(crate) mod priority_ecn;
mod ranked;
pub(crate) mod red;
pub(crate) mod step_ecn;
pub(crate) mod tcn;
#[cfg(test)]
pub(crate) mod testing;
pub(crate) mod trim;

pub use backlog::Backlog;
pub use discipline::{DropReason, PortSetup, QueueInfo};

pub(crate) use backlog::Room;
pub(crate) use discipline::{
    Fate, QueueDiscipline, QueuedPacket, Scheduler, SchedulerEffects, TrafficClass, Verdict,
};
pub(crate) use marking::MarkAt;
pub(crate) use pausable::{DataPriorities, LossyLimit, Pausable};

use first_come::FirstCome;

use crate::packet::Frame;
use crate::priorities::PrioritySet;
use shortflow_spec::{ConfigError, ParamInfo, Reader};
use shortflow_units::{Bytes, Instant, Occupancy, PortId};
use std::collections::BTreeMap;

/// The discipline of a port.
#[derive(Debug, Clone)]
pub enum Queue {
    /// The departure of a packet is known on its arrival.
    InOrder(InOrder),
    /// A scheduler chooses the next packet at each departure.
    Scheduled(Box<Scheduled>),
}

impl Queue {
    /// Converts the discipline to one that decides at departures. Its decisions stay the same.
    pub fn decided_at_departure(self) -> Queue {
        match self {
            Queue::InOrder(queue) => {
                let queue = FirstCome::new(queue, MarkAt::Arrival);
                Queue::Scheduled(Box::new(Scheduled::FirstCome(queue)))
            }
            scheduled => scheduled,
        }
    }

    /// Converts the discipline to one that marks a packet by the backlog that the packet leaves behind.
    fn marking_at_departure(self) -> Queue {
        match self {
            Queue::InOrder(queue) => {
                let queue = FirstCome::new(queue, MarkAt::Departure);
                Queue::Scheduled(Box::new(Scheduled::FirstCome(queue)))
            }
            scheduled => scheduled,
        }
    }

    /// Converts the discipline to one for each priority of data, which can be paused.
    pub fn pausable(self, priorities: DataPriorities) -> Queue {
        match self.decided_at_departure() {
            Queue::Scheduled(data) => {
                Queue::Scheduled(Box::new(Scheduled::Pausable(Pausable::new(&data, priorities))))
            }
            queue => queue,
        }
    }

    /// Sets the priorities that are paused, if data can be paused.
    pub fn pause(&mut self, paused: PrioritySet) {
        if let Queue::Scheduled(queue) = self
            && let Scheduled::Pausable(queue) = &mut **queue
        {
            queue.pause(paused);
        }
    }

    /// The classes of packets, if data may be paused.
    pub fn classes(&self) -> Option<&Pausable<Scheduled>> {
        match self {
            Queue::Scheduled(queue) => match &**queue {
                Scheduled::Pausable(queue) => Some(queue),
                _ => None,
            },
            Queue::InOrder(_) => None,
        }
    }

    /// Packets that wait in a scheduler, not in the port's ring.
    #[inline]
    pub fn waiting(&self) -> Backlog {
        match self {
            Queue::InOrder(_) => Backlog::default(),
            Queue::Scheduled(queue) => queue.backlog(),
        }
    }

    /// Bytes of a priority that wait in a scheduler at `now`, by the port from which they came.
    pub fn waiting_by_origin(&self, priority: u8, now: Instant) -> BTreeMap<PortId, Bytes> {
        let (mut queue, mut waiting) = (self.clone(), BTreeMap::new());
        queue.pause(PrioritySet::NONE);
        let Queue::Scheduled(mut queue) = queue else { return waiting };
        let mut effects = SchedulerEffects::default();
        while let Some(next) = queue.dequeue(now, &mut effects) {
            if next.class.priority() == Some(priority) {
                *waiting.entry(next.from).or_insert(Bytes::ZERO) += next.wire_size();
            }
        }
        waiting
    }
}

impl QueueConfig {
    /// Time at which a discipline in arrival order decides on marks.
    fn marks_at(&self) -> MarkAt {
        match self {
            QueueConfig::StepEcn(params) => params.mark,
            QueueConfig::Red(params) => params.mark,
            _ => MarkAt::Arrival,
        }
    }

    /// True if the discipline returns headers to the senders of their data.
    pub fn returns(&self) -> bool {
        matches!(self, QueueConfig::Trim(params) if params.returns)
    }

    /// Bytes that a full queue sends at most before the last packet, if the discipline itself limits them, for
    /// packets of these sizes without payload and with a full one.
    pub fn most_ahead(&self, header: Bytes, packet: Bytes) -> Option<Bytes> {
        match self {
            QueueConfig::Trim(params) => Some(params.most_ahead(header, packet)),
            _ => None,
        }
    }
}

macro_rules! registry {
    (
        in_order { $($fifo:ident => $fifo_module:ident,)+ }
        scheduled { $($scheduler:ident => $scheduler_module:ident,)+ }
    ) => {
        /// A registered discipline.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum QueueKind {
            $(#[doc = concat!("The discipline of `queue/", stringify!($fifo_module), ".rs`.")] $fifo,)+
            $(#[doc = concat!("The discipline of `queue/", stringify!($scheduler_module), ".rs`.")] $scheduler,)+
        }

        impl QueueKind {
            /// All disciplines.
            pub const ALL: &'static [QueueKind] = &[$(QueueKind::$fifo,)+ $(QueueKind::$scheduler,)+];

            /// Name, summary and source.
            pub fn info(self) -> QueueInfo {
                match self {
                    $(QueueKind::$fifo => $fifo_module::INFO,)+
                    $(QueueKind::$scheduler => $scheduler_module::INFO,)+
                }
            }

            /// The discipline with the parameters that `reader` gives.
            pub fn read(self, reader: &Reader) -> Result<QueueConfig, ConfigError> {
                Ok(match self {
                    $(QueueKind::$fifo => QueueConfig::$fifo($fifo_module::Params::read(reader)?),)+
                    $(QueueKind::$scheduler => QueueConfig::$scheduler($scheduler_module::Params::read(reader)?),)+
                })
            }

            /// Parameters of the discipline.
            pub fn parameters(self) -> Vec<ParamInfo> {
                match self {
                    $(QueueKind::$fifo => $fifo_module::Params::parameters(),)+
                    $(QueueKind::$scheduler => $scheduler_module::Params::parameters(),)+
                }
            }
        }

        /// A discipline with its parameters, without the thresholds of a port.
        #[derive(Debug, Clone, PartialEq)]
        pub enum QueueConfig {
            $(#[doc = concat!("The discipline of `queue/", stringify!($fifo_module), ".rs`.")] $fifo($fifo_module::Params),)+
            $(#[doc = concat!("The discipline of `queue/", stringify!($scheduler_module), ".rs`.")] $scheduler($scheduler_module::Params),)+
        }

        impl QueueConfig {
            /// Kind of discipline.
            pub fn kind(&self) -> QueueKind {
                match self {
                    $(QueueConfig::$fifo(_) => QueueKind::$fifo,)+
                    $(QueueConfig::$scheduler(_) => QueueKind::$scheduler,)+
                }
            }

            /// The discipline of one port.
            pub fn build(&self, port: PortSetup) -> Queue {
                let queue: Queue = match self {
                    $(QueueConfig::$fifo(params) => $fifo_module::$fifo::new(params.clone(), port).into(),)+
                    $(QueueConfig::$scheduler(params) => $scheduler_module::$scheduler::new(params.clone(), port).into(),)+
                };
                match self.marks_at() {
                    MarkAt::Arrival => queue,
                    MarkAt::Departure => queue.marking_at_departure(),
                }
            }
        }

        /// A discipline in arrival order. A `match` dispatches its calls.
        #[derive(Debug, Clone)]
        #[repr(u8)] // every packet reads the tag, and a tag in a niche takes longer to read
        pub enum InOrder {
            $(#[doc = concat!("The discipline of `queue/", stringify!($fifo_module), ".rs`.")] $fifo($fifo_module::$fifo),)+
        }

        impl QueueDiscipline for InOrder {
            #[inline]
            fn arrive(&mut self, now: Instant, room: Room, packet: Frame) -> Verdict {
                match self { $(InOrder::$fifo(queue) => queue.arrive(now, room, packet),)+ }
            }
            fn threshold(&self) -> Option<Occupancy> {
                match self { $(InOrder::$fifo(queue) => queue.threshold(),)+ }
            }
        }

        $(impl From<$fifo_module::$fifo> for Queue {
            fn from(queue: $fifo_module::$fifo) -> Queue {
                Queue::InOrder(InOrder::$fifo(queue))
            }
        })+

        /// A discipline that decides at departure. A `match` dispatches its calls.
        #[derive(Debug, Clone)]
        pub enum Scheduled {
            $(#[doc = concat!("The discipline of `queue/", stringify!($scheduler_module), ".rs`.")] $scheduler($scheduler_module::$scheduler),)+
            /// A discipline in arrival order, at a port that reports, that can be paused, or that marks at
            /// departure.
            FirstCome(FirstCome<InOrder>),
            /// Any discipline, at a port whose other end may pause data.
            Pausable(Pausable<Scheduled>),
        }

        impl Scheduler for Scheduled {
            #[inline(always)] // every packet passes here
            fn enqueue(&mut self, room: Room, waiting: QueuedPacket, effects: &mut SchedulerEffects) {
                match self {
                    $(Scheduled::$scheduler(queue) => queue.enqueue(room, waiting, effects),)+
                    Scheduled::FirstCome(queue) => queue.enqueue(room, waiting, effects),
                    Scheduled::Pausable(queue) => queue.enqueue(room, waiting, effects),
                }
            }
            fn dequeue(&mut self, now: Instant, effects: &mut SchedulerEffects) -> Option<QueuedPacket> {
                match self {
                    $(Scheduled::$scheduler(queue) => queue.dequeue(now, effects),)+
                    Scheduled::FirstCome(queue) => queue.dequeue(now, effects),
                    Scheduled::Pausable(queue) => queue.dequeue(now, effects),
                }
            }
            fn dequeue_control(&mut self) -> Option<QueuedPacket> {
                match self {
                    $(Scheduled::$scheduler(queue) => queue.dequeue_control(),)+
                    Scheduled::FirstCome(queue) => queue.dequeue_control(),
                    Scheduled::Pausable(queue) => queue.dequeue_control(),
                }
            }
            fn backlog(&self) -> Backlog {
                match self {
                    $(Scheduled::$scheduler(queue) => queue.backlog(),)+
                    Scheduled::FirstCome(queue) => queue.backlog(),
                    Scheduled::Pausable(queue) => queue.backlog(),
                }
            }
            fn may_return(&self, limit: Occupancy, arrivals: u32) -> bool {
                match self {
                    $(Scheduled::$scheduler(queue) => queue.may_return(limit, arrivals),)+
                    Scheduled::FirstCome(_) | Scheduled::Pausable(_) => false,
                }
            }
            fn passes_idle(&self) -> bool {
                match self {
                    $(Scheduled::$scheduler(queue) => queue.passes_idle(),)+
                    Scheduled::FirstCome(queue) => queue.passes_idle(),
                    Scheduled::Pausable(queue) => queue.passes_idle(),
                }
            }
        }

        $(impl From<$scheduler_module::$scheduler> for Queue {
            fn from(queue: $scheduler_module::$scheduler) -> Queue {
                Queue::Scheduled(Box::new(Scheduled::$scheduler(queue)))
            }
        })+
    };
}

registry! {
    in_order {
        DropTail => droptail,
        StepEcn => step_ecn,
        Red => red,
        Pie => pie,
    }
    scheduled {
        CoDel => codel,
        Tcn => tcn,
        Fair => fair,
        PriorityEcn => priority_ecn,
        PFabric => pfabric,
        Pias => pias,
        Trim => trim,
    }
}
