//! [`Pack`]: what the event queue asks of an event, [`Site`]: where it happens, and [`Due`]: a pending event as one number.

use shortflow_units::{HostId, Instant, NodeId};
use std::cmp::{Ordering, Reverse};

/// An event that fits into 32 bits.
pub trait Pack: Copy {
    /// The event as a number.
    fn pack(self) -> u32;
    /// The event of a number that [`Pack::pack`] gave.
    fn unpack(bits: u32) -> Self;
    /// Where the event of a number stands among all that happen at `at`: another place for every number.
    fn rank(bits: u32, at: Instant) -> u32;
    /// Whether an event that happens everywhere ranks before all that happen at one site, and not behind them.
    fn is_early(bits: u32) -> bool;
    /// The lane of an event, if it is of one. A lane has one event at a time, always the same.
    fn lane(bits: u32) -> Option<u32>;
    /// The event of a lane as a number.
    fn of_lane(lane: u32) -> u32;
}

/// The same number with its last 27 bits mixed, in another way for each instant: a rank by which all take turns in coming
/// first. Were it always the port with the lower number, its packets would find room in full queues and the others' none:
/// in a star with equal links ties are common.
pub fn in_turn(bits: u32, at: Instant) -> u32 {
    let turn = (at.as_ps().wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 37) as u32;
    let low = (1 << 27) - 1;
    let mix = |bits: u32, factor: u32| bits.wrapping_mul(factor) & low;
    let once = mix(bits ^ turn, 0x4f1_bbcd);
    let twice = mix(once ^ once >> 14, 0x2c1_b3c7);
    bits & !low | twice ^ twice >> 13
}

/// Where an event happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Site(pub(super) u32);

impl Site {
    /// It concerns all sites.
    pub const EVERYWHERE: Site = Site(u32::MAX);
}

impl From<NodeId> for Site {
    #[inline]
    fn from(NodeId(node): NodeId) -> Site {
        Site(node)
    }
}

impl From<HostId> for Site {
    #[inline]
    fn from(HostId(host): HostId) -> Site {
        Site(host)
    }
}

/// Up to so many events are sorted by inserting them.
const FEW: usize = 20;

/// A pending event, later ones being less, as one number that is compared at once: its time; 32 bits that are its rank once
/// that has been worked out, its site as long as it is beyond the wheel, and otherwise 0; and its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Due(Reverse<u128>);

impl Due {
    #[inline]
    pub fn new(at: Instant, event: u32) -> Due {
        Due(Reverse(u128::from(at.as_ps()) << 64 | u128::from(event)))
    }

    /// The same with its site.
    #[inline]
    pub fn sited(at: Instant, Site(site): Site, event: u32) -> Due {
        Due(Reverse(Due::new(at, event).0.0 | u128::from(site) << 32))
    }

    #[inline]
    pub fn at(self) -> Instant {
        Instant::from_ps((self.0.0 >> 64) as u64)
    }

    #[inline]
    pub fn site(self) -> Site {
        Site((self.0.0 >> 32) as u32)
    }

    #[inline]
    pub fn event(self) -> u32 {
        self.0.0 as u32
    }

    /// The later one is less, also where their ranks have not been worked out.
    #[inline]
    pub fn in_order<E: Pack>(&self, other: &Due) -> Ordering {
        let rank = |due: &Due| E::rank(due.event(), due.at());
        other.at().cmp(&self.at()).then_with(|| rank(other).cmp(&rank(self)))
    }

    /// The same event with its rank.
    #[inline]
    fn ranked<E: Pack>(self) -> Due {
        let rank = E::rank(self.event(), self.at());
        Due(Reverse(self.0.0 >> 64 << 64 | u128::from(rank) << 32 | u128::from(self.event())))
    }

    /// Sorts events, the next one last. Most lists are short, and few of their events tie. Where hundreds do, each rank is
    /// worked out once.
    #[inline(never)] // keeps the path of slots with one event short
    pub fn sort<E: Pack>(list: &mut [Due]) {
        if list.len() > FEW {
            list.iter_mut().for_each(|due| *due = due.ranked::<E>());
            list.sort_unstable();
        } else {
            list.sort_unstable_by(Due::in_order::<E>);
        }
    }

    /// Adds this one to a sorted list. Few come before it if the list is that of one site.
    #[inline]
    pub fn insert<E: Pack>(self, list: &mut Vec<Due>) {
        let is_sooner = |next: &&Due| next.at() < self.at() || next.in_order::<E>(&self).is_gt();
        let sooner = list.iter().rev().take_while(is_sooner).count();
        list.insert(list.len() - sooner, self);
    }
}
