//! Events as the queue sees them: [`EventCode`], an event in 32 bits; [`NodeScope`], its place; [`ScheduledEvent`], a pending event
//! as one number.

use shortflow_units::{HostId, Instant, NodeId};
use std::cmp::{Ordering, Reverse};

/// An event that fits into 32 bits.
pub trait EventCode: Copy {
    /// The event as a number.
    fn pack(self) -> u32;
    /// The event of a number that [`EventCode::pack`] gave.
    fn unpack(bits: u32) -> Self;
    /// Rank of the event among all at `at`. No two numbers have the same.
    fn rank(bits: u32, at: Instant) -> u32;
    /// True if a global event ranks before those of nodes, false if behind them.
    fn precedes_nodes(bits: u32) -> bool;
    /// True if it matters to all that its sites do, and false if they may go past it without a difference.
    fn is_barrier(bits: u32) -> bool;
    /// True if the event affects only its node, which may take it early.
    fn is_local(bits: u32) -> bool;
    /// Channel of the event, if any. A channel has at most one pending event, always the same.
    fn channel(bits: u32) -> Option<u32>;
    /// The event of a channel as a number.
    fn of_channel(channel: u32) -> u32;
}

/// Rank at `at` of an event: its number with the last 27 bits mixed, differently at each instant. So all ports take turns in
/// coming first. By number, one port's packets would always find room in full queues and another's never: ties are common
/// in a star with equal links.
pub fn tie_break_rank(bits: u32, at: Instant) -> u32 {
    let turn = (at.as_ps().wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 37) as u32;
    let low = (1 << 27) - 1;
    let mix = |bits: u32, factor: u32| bits.wrapping_mul(factor) & low;
    let once = mix(bits ^ turn, 0x4f1_bbcd);
    let twice = mix(once ^ once >> 14, 0x2c1_b3c7);
    bits & !low | twice ^ twice >> 13
}

/// Place of an event: a node, or all of them.
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

/// Longest list sorted by insertion.
const FEW: usize = 20;

/// A pending event as one number, which is compared at once; later events are less. From the top: 64 bits of time; 32 bits of
/// scope beyond the wheel, of rank once computed, otherwise 0; 32 bits of event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ScheduledEvent(Reverse<u128>);

impl ScheduledEvent {
    #[inline]
    pub fn new(at: Instant, event: u32) -> ScheduledEvent {
        ScheduledEvent(Reverse(u128::from(at.as_ps()) << 64 | u128::from(event)))
    }

    /// With its scope.
    #[inline]
    pub fn sited(at: Instant, NodeScope(site): NodeScope, event: u32) -> ScheduledEvent {
        ScheduledEvent(Reverse(ScheduledEvent::new(at, event).0.0 | u128::from(site) << 32))
    }

    #[inline]
    pub fn at(self) -> Instant {
        Instant::from_ps((self.0.0 >> 64) as u64)
    }

    #[inline]
    pub fn site(self) -> NodeScope {
        NodeScope((self.0.0 >> 32) as u32)
    }

    #[inline]
    pub fn event(self) -> u32 {
        self.0.0 as u32
    }

    /// Order of two events whose ranks may not be computed yet: the later one is less.
    #[inline]
    pub fn in_order<E: EventCode>(&self, other: &ScheduledEvent) -> Ordering {
        let rank = |due: &ScheduledEvent| E::rank(due.event(), due.at());
        other.at().cmp(&self.at()).then_with(|| rank(other).cmp(&rank(self)))
    }

    /// With its rank.
    #[inline]
    fn ranked<E: EventCode>(self) -> ScheduledEvent {
        let rank = E::rank(self.event(), self.at());
        ScheduledEvent(Reverse(self.0.0 >> 64 << 64 | u128::from(rank) << 32 | u128::from(self.event())))
    }

    /// Sorts events, the next one last. Most lists are short with few ties. In long ones each rank is computed once.
    #[inline(never)] // keeps the path of slots with one event short
    pub fn sort<E: EventCode>(list: &mut [ScheduledEvent]) {
        if list.len() > FEW {
            list.iter_mut().for_each(|due| *due = due.ranked::<E>());
            list.sort_unstable();
        } else {
            list.sort_unstable_by(ScheduledEvent::in_order::<E>);
        }
    }

    /// Inserts it into a sorted list. In the list of one node it passes few others.
    #[inline]
    pub fn insert<E: EventCode>(self, list: &mut Vec<ScheduledEvent>) {
        if list.last().is_none_or(|next| self.at() < next.at()) {
            return list.push(self);
        }
        let is_sooner = |next: &&ScheduledEvent| next.at() < self.at() || next.in_order::<E>(&self).is_gt();
        let sooner = list.iter().rev().take_while(is_sooner).count();
        list.insert(list.len() - sooner, self);
    }
}
