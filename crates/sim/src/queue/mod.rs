//! Queue disciplines of switch ports, one per file, of two kinds:
//!
//! - A [`QueueDiscipline`] judges each arriving packet by the backlog it finds; the port keeps the
//!   packets, in order of arrival.
//! - A [`Scheduler`] keeps the packets that wait and chooses which is sent next. It costs an event per
//!   packet more, which arrival order does not need.

mod backlog;
mod discipline;
pub mod droptail;
pub mod pfabric;
pub mod pias;
pub mod priority_ecn;
mod ranked;
pub mod red;
pub mod step_ecn;
#[cfg(test)]
mod testing;

pub use backlog::Backlog;
pub use discipline::{
    Admission, DropReason, PortSetup, QueueDiscipline, QueueInfo, Scheduler, Verdict, Waiting,
};

use crate::packet::Packet;
use shortflow_spec::{ConfigError, ParamInfo, Reader};
use shortflow_units::{Instant, Occupancy};

/// The discipline of a port.
#[derive(Debug, Clone)]
pub enum Queue {
    /// Departures follow arrivals.
    InOrder(InOrder),
    /// Departures are chosen.
    Scheduled(Box<Scheduled>),
}

impl Queue {
    /// The packets that wait here and not in the port's ring.
    #[inline]
    pub fn waiting(&self) -> Backlog {
        match self {
            Queue::InOrder(_) => Backlog::default(),
            Queue::Scheduled(queue) => queue.backlog(),
        }
    }

    /// Changes what the port may hold.
    pub fn set_limit(&mut self, limit: Occupancy) {
        match self {
            Queue::InOrder(queue) => queue.set_limit(limit),
            Queue::Scheduled(queue) => queue.set_limit(limit),
        }
    }
}

macro_rules! registry {
    (
        in_order { $($fifo:ident => $fifo_module:ident,)+ }
        scheduled { $($reordering:ident => $reordering_module:ident,)+ }
    ) => {
        /// A registered discipline.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum QueueKind {
            $(#[doc = concat!("See [`", stringify!($fifo_module), "`].")] $fifo,)+
            $(#[doc = concat!("See [`", stringify!($reordering_module), "`].")] $reordering,)+
        }

        impl QueueKind {
            /// Every discipline.
            pub const ALL: &'static [QueueKind] = &[$(QueueKind::$fifo,)+ $(QueueKind::$reordering,)+];

            /// Name, summary and source.
            pub fn info(self) -> QueueInfo {
                match self {
                    $(QueueKind::$fifo => $fifo_module::INFO,)+
                    $(QueueKind::$reordering => $reordering_module::INFO,)+
                }
            }

            /// Whether it chooses what is sent next, by the priority of packets.
            pub fn reorders(self) -> bool {
                match self {
                    $(QueueKind::$fifo => false,)+
                    $(QueueKind::$reordering => true,)+
                }
            }

            /// The discipline with the parameters that `reader` gives.
            pub fn read(self, reader: &Reader) -> Result<QueueConfig, ConfigError> {
                Ok(match self {
                    $(QueueKind::$fifo => QueueConfig::$fifo($fifo_module::Params::read(reader)?),)+
                    $(QueueKind::$reordering => QueueConfig::$reordering($reordering_module::Params::read(reader)?),)+
                })
            }

            /// Its parameters.
            pub fn parameters(self) -> Vec<ParamInfo> {
                match self {
                    $(QueueKind::$fifo => $fifo_module::Params::parameters(),)+
                    $(QueueKind::$reordering => $reordering_module::Params::parameters(),)+
                }
            }
        }

        /// A discipline with its parameters, before a port gives it buffer and threshold.
        #[derive(Debug, Clone, Copy, PartialEq)]
        pub enum QueueConfig {
            $(#[doc = concat!("See [`", stringify!($fifo_module), "`].")] $fifo($fifo_module::Params),)+
            $(#[doc = concat!("See [`", stringify!($reordering_module), "`].")] $reordering($reordering_module::Params),)+
        }

        impl QueueConfig {
            /// Which discipline it is.
            pub fn kind(&self) -> QueueKind {
                match self {
                    $(QueueConfig::$fifo(_) => QueueKind::$fifo,)+
                    $(QueueConfig::$reordering(_) => QueueKind::$reordering,)+
                }
            }

            /// The discipline of one port.
            pub fn build(&self, port: PortSetup) -> Queue {
                match *self {
                    $(QueueConfig::$fifo(params) => $fifo_module::$fifo::new(params, port).into(),)+
                    $(QueueConfig::$reordering(params) => $reordering_module::$reordering::new(params, port).into(),)+
                }
            }
        }

        /// A discipline with arrival order, dispatched by a match.
        #[derive(Debug, Clone)]
        pub enum InOrder {
            $(#[doc = concat!("See [`", stringify!($fifo_module), "`].")] $fifo($fifo_module::$fifo),)+
        }

        impl QueueDiscipline for InOrder {
            #[inline]
            fn arrive(&mut self, now: Instant, found: Backlog, packet: &mut Packet) -> Verdict {
                match self { $(InOrder::$fifo(queue) => queue.arrive(now, found, packet),)+ }
            }
            fn set_limit(&mut self, limit: Occupancy) {
                match self { $(InOrder::$fifo(queue) => queue.set_limit(limit),)+ }
            }
        }

        $(impl From<$fifo_module::$fifo> for Queue {
            fn from(queue: $fifo_module::$fifo) -> Queue {
                Queue::InOrder(InOrder::$fifo(queue))
            }
        })+

        /// A discipline that reorders, dispatched by a match.
        #[derive(Debug, Clone)]
        pub enum Scheduled {
            $(#[doc = concat!("See [`", stringify!($reordering_module), "`].")] $reordering($reordering_module::$reordering),)+
        }

        impl Scheduler for Scheduled {
            fn enqueue(&mut self, found: Backlog, waiting: Waiting) -> Admission {
                match self { $(Scheduled::$reordering(queue) => queue.enqueue(found, waiting),)+ }
            }
            fn dequeue(&mut self) -> Option<Waiting> {
                match self { $(Scheduled::$reordering(queue) => queue.dequeue(),)+ }
            }
            fn backlog(&self) -> Backlog {
                match self { $(Scheduled::$reordering(queue) => queue.backlog(),)+ }
            }
            fn set_limit(&mut self, limit: Occupancy) {
                match self { $(Scheduled::$reordering(queue) => queue.set_limit(limit),)+ }
            }
        }

        $(impl From<$reordering_module::$reordering> for Queue {
            fn from(queue: $reordering_module::$reordering) -> Queue {
                Queue::Scheduled(Box::new(Scheduled::$reordering(queue)))
            }
        })+
    };
}

registry! {
    in_order {
        DropTail => droptail,
        StepEcn => step_ecn,
        Red => red,
    }
    scheduled {
        PriorityEcn => priority_ecn,
        PFabric => pfabric,
        Pias => pias,
    }
}
