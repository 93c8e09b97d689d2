//! Queue disciplines of switch ports, one per file. A discipline judges each arriving packet by the
//! backlog it finds; the port keeps the packets, in order of arrival.

pub mod droptail;
pub mod step_ecn;

use crate::net::Packet;
use crate::scenario::SwitchSpec;
use shortflow_units::{Bytes, Instant, Occupancy};

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

/// Why a packet was dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DropReason {
    /// No room in the buffer.
    BufferFull,
    /// The scenario's `[faults]` asked for it.
    Fault,
}

/// A queue discipline with arrival order.
pub trait QueueDiscipline {
    /// Judges `packet`, which arrives at `now` and finds `found`; marks it where that is due.
    fn arrive(&mut self, now: Instant, found: Backlog, packet: &mut Packet) -> Verdict;
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

macro_rules! registry {
    ($($variant:ident => $module:ident,)+) => {
        /// A registered discipline, before a switch gives it buffer and threshold.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum QueueKind { $(#[doc = concat!("See [`", stringify!($module), "`].")] $variant,)+ }

        impl QueueKind {
            /// Every discipline.
            pub const ALL: &'static [QueueKind] = &[$(QueueKind::$variant,)+];

            /// Name, summary and source.
            pub fn info(self) -> QueueInfo {
                match self { $(QueueKind::$variant => $module::INFO,)+ }
            }

            /// The discipline for one port of a switch.
            pub fn build(self, switch: &SwitchSpec) -> Queue {
                match self { $(QueueKind::$variant => Queue::$variant($module::$variant::new(switch)),)+ }
            }
        }

        /// The discipline of a port, dispatched by a match.
        #[derive(Debug, Clone)]
        pub enum Queue { $(#[doc = concat!("See [`", stringify!($module), "`].")] $variant($module::$variant),)+ }

        impl QueueDiscipline for Queue {
            #[inline]
            fn arrive(&mut self, now: Instant, found: Backlog, packet: &mut Packet) -> Verdict {
                match self { $(Queue::$variant(queue) => queue.arrive(now, found, packet),)+ }
            }
        }
    };
}

registry! {
    DropTail => droptail,
    StepEcn => step_ecn,
}
