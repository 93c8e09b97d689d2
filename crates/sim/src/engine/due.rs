//! [`EventCode`]: what the event queue asks of an event, [`Scope`]: where it happens, and [`ScheduledEvent`]: a pending event as one number.

use shortflow_units::{HostId, Instant, NodeId};
use std::cmp::{Ordering, Reverse};

/// An event that fits into 32 bits.
pub trait EventCode: Copy {
    /// The event as a number.
    fn pack(self) -> u32;
    /// The event of a number that [`EventCode::pack`] gave.
    fn unpack(bits: u32) -> Self;
    /// Where the event of a number stands among all that happen at `at`: another place for every number.
    fn rank(bits: u32, at: Instant) -> u32;
    /// Whether an event that happens everywhere ranks before all that happen at one site, and not behind them.
    fn precedes_nodes(bits: u32) -> bool;
    /// The lane of an event, if it is of one. A lane has one event at a time, always the same.
    fn lane(bits: u32) -> Option<u32>;
    /// The event of a lane as a number.
    fn of_lane(lane: u32) -> u32;
}

/// The same number with its last 27 bits mixed, in another way for each instant: a rank by which all take turns in coming
/// first. Were it always the port with the lower number, its packets would find room in full queues and the others' none:
/// in a star with equal links ties are common.
pub fn tie_break_rank(bits: u32, at: Instant) -> u32 {
    let turn = (at.as_ps().wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 37) as u32;
    let low = (1 << 27) - 1;
    let mix = |bits: u32, factor: u32| bits.wrapping_mul(factor) & low;
    let once = mix(bits ^ turn, 0x4f1_bbcd);
    let twice = mix(once ^ once >> 14, 0x2c1_b3c7);
    bits & !low | twice ^ twice >> 13
}

/// Where an event happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scope(pub(super) u32);

impl Scope {
    /// It concerns all sites.
    pub const GLOBAL: Scope = Scope(u32::MAX);
}

impl From<NodeId> for Scope {
    #[inline]
    fn from(NodeId(node): NodeId) -> Scope {
        Scope(node)
    }
}

impl From<HostId> for Scope {
    #[inline]
    fn from(HostId(host): HostId) -> Scope {
        Scope(host)
    }
}

/// Up to so many events are sorted by inserting them.
const FEW: usize = 20;

/// A pending event, later ones being less, as one number that is compared at once: its time; 32 bits that are its rank once
/// that has been worked out, its site as long as it is beyond the wheel, and otherwise 0; and its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ScheduledEvent(Reverse<u128>);

impl ScheduledEvent {
    #[inline]
    pub fn new(at: Instant, event: u32) -> ScheduledEvent {
        ScheduledEvent(Reverse(u128::from(at.as_ps()) << 64 | u128::from(event)))
    }

    /// The same with its site.
    #[inline]
    pub fn sited(at: Instant, Scope(site): Scope, event: u32) -> ScheduledEvent {
        ScheduledEvent(Reverse(ScheduledEvent::new(at, event).0.0 | u128::from(site) << 32))
    }

    #[inline]
    pub fn at(self) -> Instant {
        Instant::from_ps((self.0.0 >> 64) as u64)
    }

    #[inline]
    pub fn site(self) -> Scope {
        Scope((self.0.0 >> 32) as u32)
    }

    #[inline]
    pub fn event(self) -> u32 {
        self.0.0 as u32
    }

    /// The later one is less, also where their ranks have not been worked out.
    #[inline]
    pub fn in_order<E: EventCode>(&self, other: &ScheduledEvent) -> Ordering {
        let rank = |due: &ScheduledEvent| E::rank(due.event(), due.at());
        other.at().cmp(&self.at()).then_with(|| rank(other).cmp(&rank(self)))
    }

    /// The same event with its rank.
    #[inline]
    fn ranked<E: EventCode>(self) -> ScheduledEvent {
        let rank = E::rank(self.event(), self.at());
        ScheduledEvent(Reverse(self.0.0 >> 64 << 64 | u128::from(rank) << 32 | u128::from(self.event())))
    }

    /// Sorts events, the next one last. Most lists are short, and few of their events tie. Where hundreds do, each rank is
    /// worked out once.
    #[inline(never)] // keeps the path of slots with one event short
    pub fn sort<E: EventCode>(list: &mut [ScheduledEvent]) {
        if list.len() > FEW {
            list.iter_mut().for_each(|due| *due = due.ranked::<E>());
            list.sort_unstable();
        } else {
            list.sort_unstable_by(ScheduledEvent::in_order::<E>);
        }
    }

    /// Adds this one to a sorted list. Few come before it if the list is that of one site.
    #[inline]
    pub fn insert<E: EventCode>(self, list: &mut Vec<ScheduledEvent>) {
        let is_sooner = |next: &&ScheduledEvent| next.at() < self.at() || next.in_order::<E>(&self).is_gt();
        let sooner = list.iter().rev().take_while(is_sooner).count();
        list.insert(list.len() - sooner, self);
    }
}
