//! [`Ahead`]: the time up to which a node has no events but those of its lanes.

use super::due::NodeScope;
use shortflow_units::Instant;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Times of pending events, and of some past ones.
type Times = BinaryHeap<Reverse<Instant>>;

/// Times of events without a lane.
#[derive(Debug, Clone)]
pub(super) struct Ahead {
    /// By node; the last of global events.
    times: Box<[Times]>,
    /// First of each node, perhaps past.
    first: Box<[Instant]>,
    /// First global event.
    everywhere: Instant,
}

impl Ahead {
    /// No events yet, for so many nodes.
    pub fn new(sites: usize) -> Ahead {
        let (times, first) = (vec![Times::new(); sites + 1], vec![Instant::MAX; sites]);
        Ahead { times: times.into(), first: first.into(), everywhere: Instant::MAX }
    }

    /// Adds an event.
    pub fn expect(&mut self, at: Instant, NodeScope(site): NodeScope) {
        let (sites, site) = (self.first.len(), site as usize);
        let (place, first) = match self.first.get_mut(site) {
            Some(first) => (site, first),
            None if site == NodeScope::GLOBAL.0 as usize => (sites, &mut self.everywhere),
            None => return,
        };
        *first = at.min(*first);
        self.times[place].push(Reverse(at));
    }

    /// True if no event without a lane happens at this node from `past` to `at`.
    #[inline]
    pub fn is_quiet(&mut self, NodeScope(site): NodeScope, (past, at): (Instant, Instant)) -> bool {
        let Some(first) = self.first.get(site as usize) else { return false };
        at < *first && at < self.everywhere || self.is_quiet_after(site as usize, (past, at))
    }

    /// [`Ahead::is_quiet`] after dropping past events.
    #[inline(never)] // keeps the path of most packets short
    fn is_quiet_after(&mut self, site: usize, (past, at): (Instant, Instant)) -> bool {
        let next = |times: &mut Times| {
            while times.peek().is_some_and(|Reverse(first)| *first < past) {
                times.pop();
            }
            times.peek().map_or(Instant::MAX, |Reverse(first)| *first)
        };
        self.first[site] = next(&mut self.times[site]);
        self.everywhere = next(&mut self.times[self.first.len()]);
        at < self.first[site].min(self.everywhere)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_site_goes_ahead_up_to_its_own_next_event_and_to_those_of_all() {
        let (mut ahead, at) = (Ahead::new(2), Instant::from_ps);
        ahead.expect(at(50), NodeScope(0));
        ahead.expect(at(20), NodeScope(0));
        ahead.expect(at(90), NodeScope::GLOBAL);
        let mut quiet = |site, past, until| ahead.is_quiet(NodeScope(site), (at(past), at(until)));
        assert_eq!([19, 20].map(|until| quiet(0, 0, until)), [true, false]);
        assert_eq!([49, 50].map(|until| quiet(0, 21, until)), [true, false]);
        assert_eq!([89, 90].map(|until| quiet(1, 21, until)), [true, false]);
        assert!(quiet(1, 91, 1000) && !quiet(2, 91, 1000));
    }
}
