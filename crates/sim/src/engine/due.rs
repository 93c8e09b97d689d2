//! Events as the queue stores them: [`EventCode`], an event in 32 bits; [`NodeScope`], the node that an event
//! affects; [`ScheduledEvent`], a pending event as one number.

use shortflow_units::{HostId, Instant, NodeId};
use std::cmp::{Ordering, Reverse};

/// An event that fits into 32 bits.
pub trait EventCode: Copy {
    /// Encodes the event as a number.
    fn pack(self) -> u32;
    /// Decodes a number from [`EventCode::pack`].
    fn unpack(bits: u32) -> Self;
    /// Rank of the event among simultaneous events at `at`. Different numbers have different ranks.
    fn rank(bits: u32, at: Instant) -> u32;
    /// True if a global event precedes the simultaneous events of nodes, false if it follows them.
    fn precedes_nodes(bits: u32) -> bool;
    /// True if a node must not handle packets early beyond this event; false if the order has no effect.
    fn is_barrier(bits: u32) -> bool;
    /// True if the event affects only its node, which may handle it early.
    fn is_local(bits: u32) -> bool;
    /// Channel of the event, if any. A channel has at most one pending event, which is always the same event.
    fn channel(bits: u32) -> Option<u32>;
    /// Number of a channel's event.
    fn of_channel(channel: u32) -> u32;
}

/// Rank of an event at `at`: its number with the lowest 27 bits scrambled, differently at each instant, so
/// that all ports take turns in coming first. Ties are common in a star with equal links. With a fixed order,
/// packets of one port would always find room in full queues, and packets of another never.
pub(crate) fn tie_break_rank(bits: u32, at: Instant) -> u32 {
    let turn = (at.as_ps().wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 37) as u32;
    let low = (1 << 27) - 1;
    let mix = |bits: u32, factor: u32| bits.wrapping_mul(factor) & low;
    let once = mix(bits ^ turn, 0x4f1_bbcd);
    let twice = mix(once ^ once >> 14, 0x2c1_b3c7);
    bits & !low | twice ^ twice >> 13
}

/// The place of an event: one node, or all nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NodeScope(pub(super) u32);

impl NodeScope {
    /// All nodes.
    pub const GLOBAL: NodeScope = NodeScope(u32::MAX);
}

impl From<NodeId> for NodeScope {
    #[inline]
    fn from(NodeId(node): NodeId) -> NodeScope {
        NodeScope(node)
    }
}

impl From<HostId> for NodeScope {
    #[inline]
    fn from(HostId(host): HostId) -> NodeScope {
        NodeScope(host)
    }
}

/// Longest list that is sorted by comparison of ranks computed on demand.
const FEW: usize = 20;

/// A pending event as one number. Later events are smaller. From the highest bits: 64 bits of time; 32 bits
/// with the node in the far heap, with the rank once it is computed, and otherwise 0; 32 bits of event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ScheduledEvent(Reverse<u128>);

impl ScheduledEvent {
    #[inline]
    pub(super) fn new(at: Instant, event: u32) -> ScheduledEvent {
        ScheduledEvent(Reverse(u128::from(at.as_ps()) << 64 | u128::from(event)))
    }

    /// A pending event with its node.
    #[inline]
    pub(super) fn sited(at: Instant, NodeScope(site): NodeScope, event: u32) -> ScheduledEvent {
        ScheduledEvent(Reverse(ScheduledEvent::new(at, event).0.0 | u128::from(site) << 32))
    }

    #[inline]
    pub(super) fn at(self) -> Instant {
        Instant::from_ps((self.0.0 >> 64) as u64)
    }

    #[inline]
    pub(super) fn site(self) -> NodeScope {
        NodeScope((self.0.0 >> 32) as u32)
    }

    #[inline]
    pub(super) fn event(self) -> u32 {
        self.0.0 as u32
    }

    /// Order of two events whose ranks may not be computed yet. The later event is smaller.
    #[inline]
    pub(super) fn in_order<E: EventCode>(&self, other: &ScheduledEvent) -> Ordering {
        let rank = |due: &ScheduledEvent| E::rank(due.event(), due.at());
        other.at().cmp(&self.at()).then_with(|| rank(other).cmp(&rank(self)))
    }

    /// The event with its rank.
    #[inline]
    fn ranked<E: EventCode>(self) -> ScheduledEvent {
        let rank = E::rank(self.event(), self.at());
        ScheduledEvent(Reverse(self.0.0 >> 64 << 64 | u128::from(rank) << 32 | u128::from(self.event())))
    }

    /// Sorts events, with the next event last. Most lists are short and have few ties. In long lists each
    /// rank is computed once.
    #[inline(never)] // keeps the path of slots with one event short
    pub(super) fn sort<E: EventCode>(list: &mut [ScheduledEvent]) {
        if list.len() > FEW {
            list.iter_mut().for_each(|due| *due = due.ranked::<E>());
            list.sort_unstable();
        } else {
            list.sort_unstable_by(ScheduledEvent::in_order::<E>);
        }
    }

    /// Inserts the event into a sorted list. In a list of one node, few events are passed.
    #[inline]
    pub(super) fn insert<E: EventCode>(self, list: &mut Vec<ScheduledEvent>) {
        if list.last().is_none_or(|next| self.at() < next.at()) {
            return list.push(self);
        }
        let is_sooner = |next: &&ScheduledEvent| next.at() < self.at() || next.in_order::<E>(&self).is_gt();
        let sooner = list.iter().rev().take_while(is_sooner).count();
        list.insert(list.len() - sooner, self);
    }
}
