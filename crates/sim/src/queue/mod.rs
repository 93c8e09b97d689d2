//! Queue disciplines of switch ports, one per file, of two kinds:
//!
//! - A [`QueueDiscipline`] judges each arriving packet by the backlog it finds; the port keeps the
//!   packets, in order of arrival.
//! - A [`Scheduler`] keeps the packets that wait and chooses which is sent next. It costs an event per
//!   packet more, which arrival order does not need.

pub mod droptail;
pub mod pfabric;
pub mod pias;
pub mod priority_ecn;
mod ranked;
pub mod red;
pub mod step_ecn;
#[cfg(test)]
mod testing;

use crate::engine::Seeds;
use crate::net::{EcnField, Packet};
use crate::scenario::SwitchSpec;
use shortflow_spec::{ConfigError, ParamInfo, Reader};
use shortflow_units::{Bytes, Instant, Occupancy, Rate};
use std::ops::{Add, Sub};

/// What a port holds: the packets waiting and the one in transmission.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Backlog {
    /// Packets.
    pub packets: u32,
    /// Their bytes on the wire.
    pub bytes: Bytes,
}

impl Backlog {
    /// True if one more packet of `size` fits within `limit`.
    #[inline]
    pub fn has_room(&self, size: Bytes, limit: Occupancy) -> bool {
        match limit {
            Occupancy::Packets(packets) => self.packets < packets,
            Occupancy::Bytes(bytes) => self.bytes + size <= bytes,
            Occupancy::Unlimited => true,
        }
    }

    /// Counts a packet in.
    #[inline]
    pub fn add(&mut self, packet: &Packet) {
        self.packets += 1;
        self.bytes += packet.wire_size();
    }

    /// Counts a packet out.
    #[inline]
    pub fn remove(&mut self, packet: &Packet) {
        self.packets -= 1;
        self.bytes = self.bytes - packet.wire_size();
    }

    /// Takes over what is larger of `other`.
    #[inline]
    pub fn rise(&mut self, other: Backlog) {
        self.packets = self.packets.max(other.packets);
        self.bytes = self.bytes.max(other.bytes);
    }

    /// True if the backlog is above `threshold`.
    #[inline]
    pub fn is_above(&self, threshold: Occupancy) -> bool {
        match threshold {
            Occupancy::Packets(packets) => self.packets > packets,
            Occupancy::Bytes(bytes) => self.bytes > bytes,
            Occupancy::Unlimited => false,
        }
    }
}

impl Add for Backlog {
    type Output = Backlog;
    fn add(self, other: Backlog) -> Backlog {
        Backlog { packets: self.packets + other.packets, bytes: self.bytes + other.bytes }
    }
}

impl Sub for Backlog {
    type Output = Backlog;
    fn sub(self, other: Backlog) -> Backlog {
        Backlog { packets: self.packets - other.packets, bytes: self.bytes - other.bytes }
    }
}

/// What became of an arriving packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Accepted.
    Queued,
    /// Accepted, with CE set.
    Marked,
    /// Gone; the caller counts why.
    Dropped(DropReason),
}

/// Why a packet was dropped. The reasons after the first two are the scenario's faults.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DropReason {
    /// No room in the buffer, for itself or beside a packet with a better priority.
    BufferFull,
    /// The discipline gave up room to signal congestion.
    Early,
    /// Lost by chance, or because the scenario names it.
    Loss,
    /// Damaged on the wire, and dropped at its end.
    Corrupted,
    /// It was queued for, on, or sent to a link that was down.
    LinkDown,
    /// No path of links that are up leads to its host.
    NoRoute,
}

impl DropReason {
    /// Every reason.
    pub const ALL: [DropReason; 6] = [
        DropReason::BufferFull,
        DropReason::Early,
        DropReason::Loss,
        DropReason::Corrupted,
        DropReason::LinkDown,
        DropReason::NoRoute,
    ];

    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            DropReason::BufferFull => "buffer full",
            DropReason::Early => "early",
            DropReason::Loss => "loss",
            DropReason::Corrupted => "corrupted",
            DropReason::LinkDown => "link down",
            DropReason::NoRoute => "no route",
        }
    }
}

/// A queue discipline with arrival order.
pub trait QueueDiscipline {
    /// Judges `packet`, which arrives at `now` and finds `found`; marks it where that is due.
    fn arrive(&mut self, now: Instant, found: Backlog, packet: &mut Packet) -> Verdict;

    /// Changes what the port may hold, where its buffer is a share of the switch's memory.
    fn set_limit(&mut self, limit: Occupancy);
}

/// A packet that waits.
#[derive(Debug, Clone, Copy)]
pub struct Waiting {
    /// The packet.
    pub packet: Packet,
    /// When it came.
    pub arrived: Instant,
}

/// What an arrival did, to the arriving packet or to any that waited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Admission {
    /// Packets marked.
    pub marks: u32,
    /// Packets dropped.
    pub drops: u32,
}

impl Admission {
    const DROPPED: Admission = Admission { marks: 0, drops: 1 };
}

/// A queue discipline that reorders. It holds the packets that wait; the one in transmission is with
/// the port.
pub trait Scheduler {
    /// Takes a packet in, or drops it or others for it. `found` is the backlog of the port, the packet in
    /// transmission included. A queue in which packets wait does not become empty by this.
    fn enqueue(&mut self, found: Backlog, waiting: Waiting) -> Admission;

    /// Takes out the packet to be sent next. One that waits is always given: ports never idle.
    fn dequeue(&mut self) -> Option<Waiting>;

    /// What waits.
    fn backlog(&self) -> Backlog;

    /// Changes what the port may hold, where its buffer is a share of the switch's memory.
    fn set_limit(&mut self, limit: Occupancy);
}

/// Sets CE on an ECN-capable packet that has none; returns how many packets that are.
fn mark_anew(packet: &mut Packet) -> u32 {
    u32::from(packet.ecn == EcnField::Ect && packet.mark())
}

/// What a discipline is, for lists and documentation.
#[derive(Debug, Clone, Copy)]
pub struct QueueInfo {
    /// Name that users type.
    pub name: &'static str,
    /// One line on what it does.
    pub summary: &'static str,
    /// Paper or RFC.
    pub source: &'static str,
}

/// The port that a discipline is for.
#[derive(Debug, Clone)]
pub struct PortSetup {
    /// Buffer and marking threshold.
    pub switch: SwitchSpec,
    /// Rate of the link.
    pub rate: Rate,
    /// Random streams of the run.
    pub seeds: Seeds,
    /// Number of the port: disciplines that draw have a stream per port.
    pub index: usize,
}

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
        scheduled { $($choosy:ident => $choosy_module:ident,)+ }
    ) => {
        /// A registered discipline.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum QueueKind {
            $(#[doc = concat!("See [`", stringify!($fifo_module), "`].")] $fifo,)+
            $(#[doc = concat!("See [`", stringify!($choosy_module), "`].")] $choosy,)+
        }

        impl QueueKind {
            /// Every discipline.
            pub const ALL: &'static [QueueKind] = &[$(QueueKind::$fifo,)+ $(QueueKind::$choosy,)+];

            /// Name, summary and source.
            pub fn info(self) -> QueueInfo {
                match self {
                    $(QueueKind::$fifo => $fifo_module::INFO,)+
                    $(QueueKind::$choosy => $choosy_module::INFO,)+
                }
            }

            /// Whether it chooses what is sent next, by the priority of packets.
            pub fn reorders(self) -> bool {
                match self {
                    $(QueueKind::$fifo => false,)+
                    $(QueueKind::$choosy => true,)+
                }
            }

            /// The discipline with the parameters that `reader` gives.
            pub fn read(self, reader: &Reader) -> Result<QueueConfig, ConfigError> {
                Ok(match self {
                    $(QueueKind::$fifo => QueueConfig::$fifo($fifo_module::Params::read(reader)?),)+
                    $(QueueKind::$choosy => QueueConfig::$choosy($choosy_module::Params::read(reader)?),)+
                })
            }

            /// Its parameters.
            pub fn parameters(self) -> Vec<ParamInfo> {
                match self {
                    $(QueueKind::$fifo => $fifo_module::Params::parameters(),)+
                    $(QueueKind::$choosy => $choosy_module::Params::parameters(),)+
                }
            }
        }

        /// A discipline with its parameters, before a port gives it buffer and threshold.
        #[derive(Debug, Clone, Copy, PartialEq)]
        pub enum QueueConfig {
            $(#[doc = concat!("See [`", stringify!($fifo_module), "`].")] $fifo($fifo_module::Params),)+
            $(#[doc = concat!("See [`", stringify!($choosy_module), "`].")] $choosy($choosy_module::Params),)+
        }

        impl QueueConfig {
            /// Which discipline it is.
            pub fn kind(&self) -> QueueKind {
                match self {
                    $(QueueConfig::$fifo(_) => QueueKind::$fifo,)+
                    $(QueueConfig::$choosy(_) => QueueKind::$choosy,)+
                }
            }

            /// The discipline of one port.
            pub fn build(&self, port: PortSetup) -> Queue {
                match *self {
                    $(QueueConfig::$fifo(params) => $fifo_module::$fifo::new(params, port).into(),)+
                    $(QueueConfig::$choosy(params) => $choosy_module::$choosy::new(params, port).into(),)+
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
            $(#[doc = concat!("See [`", stringify!($choosy_module), "`].")] $choosy($choosy_module::$choosy),)+
        }

        impl Scheduler for Scheduled {
            fn enqueue(&mut self, found: Backlog, waiting: Waiting) -> Admission {
                match self { $(Scheduled::$choosy(queue) => queue.enqueue(found, waiting),)+ }
            }
            fn dequeue(&mut self) -> Option<Waiting> {
                match self { $(Scheduled::$choosy(queue) => queue.dequeue(),)+ }
            }
            fn backlog(&self) -> Backlog {
                match self { $(Scheduled::$choosy(queue) => queue.backlog(),)+ }
            }
            fn set_limit(&mut self, limit: Occupancy) {
                match self { $(Scheduled::$choosy(queue) => queue.set_limit(limit),)+ }
            }
        }

        $(impl From<$choosy_module::$choosy> for Queue {
            fn from(queue: $choosy_module::$choosy) -> Queue {
                Queue::Scheduled(Box::new(Scheduled::$choosy(queue)))
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
