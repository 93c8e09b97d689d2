//! Queue disciplines of ports, in switches and in hosts, one per file, of two kinds:
//!
//! - A [`QueueDiscipline`] judges each arriving packet by the backlog it finds; the port keeps the
//!   packets, in order of arrival.
//! - A [`Scheduler`] has the headers of the packets that wait, chooses which is sent next, and may mark or drop when that
//!   leaves. It costs an event per packet more, which the others do not need.

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
mod testing;
pub(crate) mod trim;

pub use backlog::Backlog;
pub use discipline::{DropReason, PortSetup, QueueInfo};

pub(crate) use backlog::Room;
pub(crate) use discipline::{
    Fate, QueueDiscipline, QueuedPacket, Scheduler, SchedulerEffects, TrafficClass, Verdict,
};
pub(crate) use marking::MarkAt;

use first_come::FirstCome;
use pausable::Pausable;

use crate::packet::Frame;
use shortflow_spec::{ConfigError, ParamInfo, Reader};
use shortflow_units::{Instant, Occupancy};

/// The discipline of a port.
#[derive(Debug, Clone)]
pub enum Queue {
    /// Departures are known on arrival.
    InOrder(InOrder),
    /// Departures are chosen.
    Scheduled(Box<Scheduled>),
}

impl Queue {
    /// The same discipline, with departures that are decided when they come.
    pub fn decided_at_departure(self) -> Queue {
        match self {
            Queue::InOrder(queue) => {
                let queue = FirstCome::new(queue, MarkAt::Arrival);
                Queue::Scheduled(Box::new(Scheduled::FirstCome(queue)))
            }
            scheduled => scheduled,
        }
    }

    /// The same discipline, which marks a packet by the backlog that it leaves behind.
    fn marking_at_departure(self) -> Queue {
        match self {
            Queue::InOrder(queue) => {
                let queue = FirstCome::new(queue, MarkAt::Departure);
                Queue::Scheduled(Box::new(Scheduled::FirstCome(queue)))
            }
            scheduled => scheduled,
        }
    }

    /// The same discipline for data that may be paused.
    pub fn pausable(self) -> Queue {
        match self.decided_at_departure() {
            Queue::Scheduled(data) => Queue::Scheduled(Box::new(Scheduled::Pausable(Pausable::new(data)))),
            queue => queue,
        }
    }

    /// Pauses data, or lets it go on, if that can be.
    pub fn pause(&mut self, is_paused: bool) {
        if let Queue::Scheduled(queue) = self
            && let Scheduled::Pausable(queue) = &mut **queue
        {
            queue.pause(is_paused);
        }
    }

    /// The packets that wait here and not in the port's ring.
    #[inline]
    pub fn waiting(&self) -> Backlog {
        match self {
            Queue::InOrder(_) => Backlog::default(),
            Queue::Scheduled(queue) => queue.backlog(),
        }
    }
}

impl QueueConfig {
    /// Moment at which a discipline in arrival order decides on marks.
    fn marks_at(&self) -> MarkAt {
        match self {
            QueueConfig::StepEcn(params) => params.mark,
            QueueConfig::Red(params) => params.mark,
            _ => MarkAt::Arrival,
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
            $(#[doc = concat!("See [`", stringify!($fifo_module), "`].")] $fifo,)+
            $(#[doc = concat!("See [`", stringify!($scheduler_module), "`].")] $scheduler,)+
        }

        impl QueueKind {
            /// Every discipline.
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

            /// Its parameters.
            pub fn parameters(self) -> Vec<ParamInfo> {
                match self {
                    $(QueueKind::$fifo => $fifo_module::Params::parameters(),)+
                    $(QueueKind::$scheduler => $scheduler_module::Params::parameters(),)+
                }
            }
        }

        /// A discipline with its parameters, before a port gives it its threshold.
        #[derive(Debug, Clone, PartialEq)]
        pub enum QueueConfig {
            $(#[doc = concat!("See [`", stringify!($fifo_module), "`].")] $fifo($fifo_module::Params),)+
            $(#[doc = concat!("See [`", stringify!($scheduler_module), "`].")] $scheduler($scheduler_module::Params),)+
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

        /// A discipline with arrival order, dispatched by a match.
        #[derive(Debug, Clone)]
        #[repr(u8)] // the tag is read for every packet, which takes longer where a niche holds it
        pub enum InOrder {
            $(#[doc = concat!("See [`", stringify!($fifo_module), "`].")] $fifo($fifo_module::$fifo),)+
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

        /// A discipline that decides at departure, dispatched by a match.
        #[derive(Debug, Clone)]
        pub enum Scheduled {
            $(#[doc = concat!("See [`", stringify!($scheduler_module), "`].")] $scheduler($scheduler_module::$scheduler),)+
            /// A discipline in arrival order, at a port that reports.
            FirstCome(FirstCome<InOrder>),
            /// Any discipline, at a port whose other end may pause data.
            Pausable(Pausable<Scheduled>),
        }

        impl Scheduler for Scheduled {
            #[inline(always)] // the path of every packet
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
            fn backlog(&self) -> Backlog {
                match self {
                    $(Scheduled::$scheduler(queue) => queue.backlog(),)+
                    Scheduled::FirstCome(queue) => queue.backlog(),
                    Scheduled::Pausable(queue) => queue.backlog(),
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
