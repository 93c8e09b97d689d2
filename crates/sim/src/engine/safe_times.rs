//! [`SafeTimes`]: the time up to which a node has only channel events.

use super::due::NodeScope;
use shortflow_units::Instant;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Times of pending events, possibly with some past ones.
type Times = BinaryHeap<Reverse<Instant>>;

/// Times of events without a channel.
#[derive(Debug, Clone)]
pub(super) struct SafeTimes {
    /// Times of events by node, without local events; the last entry is for global events.
    times: Box<[Times]>,
    first: Box<[First]>,
    /// Time of the first global event.
    everywhere: Instant,
}

/// Times of a node's first events, possibly past.
#[derive(Debug, Clone, Copy)]
struct First {
    /// Time of the first event that is not local.
    other: Instant,
    /// Time of the first event, local or not.
    any: Instant,
}

impl SafeTimes {
    /// No events, for `sites` nodes.
    pub(super) fn new(sites: usize) -> SafeTimes {
        let never = First { other: Instant::MAX, any: Instant::MAX };
        let (times, first) = (vec![Times::new(); sites + 1], vec![never; sites]);
        SafeTimes { times: times.into(), first: first.into(), everywhere: Instant::MAX }
    }

    /// Adds an event.
    pub(super) fn expect(&mut self, at: Instant, NodeScope(site): NodeScope) {
        let (sites, site) = (self.first.len(), site as usize);
        let place = match self.first.get_mut(site) {
            Some(first) => {
                (first.other, first.any) = (at.min(first.other), at.min(first.any));
                site
            }
            None if site == NodeScope::GLOBAL.0 as usize => {
                self.everywhere = at.min(self.everywhere);
                sites
            }
            None => return,
        };
        self.times[place].push(Reverse(at));
    }

    /// Adds a local event of a node.
    #[inline]
    pub(super) fn expect_local(&mut self, at: Instant, NodeScope(site): NodeScope) {
        self.first.get_mut(site as usize).into_iter().for_each(|first| first.any = at.min(first.any));
    }

    /// Sets the time of the next local event of a node.
    #[inline]
    pub(super) fn set_local(&mut self, at: Instant, NodeScope(site): NodeScope) {
        self.first.get_mut(site as usize).into_iter().for_each(|first| first.any = at.min(first.other));
    }

    /// True if neither this node nor the whole network has an event without a channel up to `at`.
    #[inline]
    pub(super) fn is_safe(&self, NodeScope(site): NodeScope, at: Instant) -> bool {
        self.first.get(site as usize).is_some_and(|first| at < first.any && at < self.everywhere)
    }

    /// Answers [`SafeTimes::is_safe`] without regard to local events. Drops times before `past`.
    #[inline]
    pub(super) fn is_free(&mut self, NodeScope(site): NodeScope, (past, at): (Instant, Instant)) -> bool {
        let Some(first) = self.first.get(site as usize) else { return false };
        at < first.other && at < self.everywhere || self.is_free_after(site as usize, (past, at))
    }

    #[inline(never)] // rare
    fn is_free_after(&mut self, site: usize, (past, at): (Instant, Instant)) -> bool {
        let next = |times: &mut Times| {
            while times.peek().is_some_and(|Reverse(first)| *first < past) {
                times.pop();
            }
            times.peek().map_or(Instant::MAX, |Reverse(first)| *first)
        };
        self.first[site].other = next(&mut self.times[site]);
        self.everywhere = next(&mut self.times[self.first.len()]);
        at < self.first[site].other.min(self.everywhere)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_is_safe_up_to_its_next_event_and_the_next_global_event() {
        let (mut safe_times, at) = (SafeTimes::new(2), Instant::from_ps);
        safe_times.expect(at(50), NodeScope(0));
        safe_times.expect(at(20), NodeScope(0));
        safe_times.expect(at(90), NodeScope::GLOBAL);
        let mut quiet = |site, past, until| safe_times.is_free(NodeScope(site), (at(past), at(until)));
        assert_eq!([19, 20].map(|until| quiet(0, 0, until)), [true, false]);
        assert_eq!([49, 50].map(|until| quiet(0, 21, until)), [true, false]);
        assert_eq!([89, 90].map(|until| quiet(1, 21, until)), [true, false]);
        assert!(quiet(1, 91, 1000) && !quiet(2, 91, 1000));
        safe_times.expect_local(at(400), NodeScope(1));
        assert_eq!([399, 400].map(|until| safe_times.is_safe(NodeScope(1), at(until))), [true, false]);
        safe_times.set_local(Instant::MAX, NodeScope(1));
        assert!(safe_times.is_safe(NodeScope(1), at(400)));
    }
}
