//! [`Sites`]: the events of the present slot, site by site.
//!
//! A slot is no longer than the shortest delay of a link, so what happens at one node within it reaches no other node before
//! the next. The nodes may then take their slots one after another, each in order of time: the outcome is the same, what a
//! node works on stays in the processor's nearer caches, and what a port delivers next is put into a short list.
//!
//! Some events concern all nodes: flows start and end, probes take samples. In slots that have such ones, and in those that
//! are not handled to their end, nodes take turns: each goes on up to the next of them.

use super::due::{Due, Pack, Site};
use super::wheel::Wheel;
use shortflow_units::{Instant, Span};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Events that are told of at once, or a few more.
const SOON: usize = 48;
const PICOSECOND: Span = Span::from_ps(1);

/// What is still to come in the present slot, but for the present site.
#[derive(Debug, Clone)]
pub(super) struct Sites {
    /// By site; sorted, the next one last, where sites take turns.
    lists: Vec<Vec<Due>>,
    /// Events that happen everywhere, the next one last.
    everywhere: Vec<Due>,
    /// The site whose events are present.
    site: Site,
    /// Those that are still to come, one after another.
    coming: Vec<u32>,
    /// Of them, those that have not been told of.
    untold: usize,
    takes_turns: bool,
    /// When those that take turns go on; out of date where the list says otherwise.
    turns: BinaryHeap<Reverse<(Instant, u32)>>,
}

impl Sites {
    /// So many, without events.
    pub fn new(sites: usize) -> Sites {
        Sites {
            lists: vec![Vec::new(); sites],
            everywhere: Vec::new(),
            site: Site::EVERYWHERE,
            coming: Vec::new(),
            takes_turns: true,
            untold: usize::MAX,
            turns: BinaryHeap::new(),
        }
    }

    /// Adds an event of the present slot; whether its order is certain: other sites may be further.
    pub fn insert<E: Pack>(&mut self, due: Due, site: Site, present: &mut Vec<Due>) -> bool {
        let is_certain = self.site == site || self.site == Site::EVERYWHERE;
        if site != self.site || site == Site::EVERYWHERE {
            self.take_turns::<E>();
        }
        if site == Site::EVERYWHERE {
            due.insert::<E>(&mut self.everywhere);
        } else if site == self.site {
            due.insert::<E>(present);
        } else if let Some(list) = self.lists.get_mut(site.0 as usize) {
            due.insert::<E>(list);
            self.turns.push(Reverse((due.at(), site.0)));
        }
        is_certain
    }

    /// Has `present` hold what comes next, if that is up to `limit`; then, before which instant it comes next.
    pub fn seek<E: Pack>(
        &mut self,
        present: &mut Vec<Due>,
        wheel: &mut Wheel,
        limit: Instant,
    ) -> Option<Instant> {
        loop {
            if self.takes_turns || wheel.end_of_slot() > limit + PICOSECOND {
                self.put_back(present);
                self.take_turns::<E>();
                let before = self.next_in_turn::<E>(present, limit);
                if before.is_some() || !self.is_empty() {
                    return before;
                }
            } else if let Some(site) = self.coming.pop() {
                self.begin(site, present);
                if present.len() > 1 {
                    Due::sort::<E>(present);
                }
                return Some(Instant::MAX);
            }
            if !self.turn::<E>(wheel, limit) {
                return None;
            }
        }
    }

    /// Whether [`Sites::soon`] has told of the present site.
    pub fn has_told(&self) -> bool {
        self.coming.len() >= self.untold
    }

    /// Tells of the events at the next sites, of as many as have some dozens together with the `events` present.
    pub fn soon(&mut self, mut events: usize) -> impl Iterator<Item = &Due> {
        self.untold = self.coming.len();
        while events < SOON
            && let Some(next) = self.untold.checked_sub(1)
        {
            events += self.lists[self.coming[next] as usize].len();
            self.untold = next;
        }
        self.coming[self.untold..].iter().flat_map(|site| &self.lists[*site as usize])
    }

    /// Whether the present events are of that site.
    pub fn are_of(&self, site: Site) -> bool {
        self.site == site
    }

    fn is_empty(&self) -> bool {
        self.coming.is_empty() && self.turns.is_empty() && self.everywhere.is_empty()
    }

    #[inline]
    fn begin(&mut self, site: u32, present: &mut Vec<Due>) {
        std::mem::swap(present, &mut self.lists[site as usize]);
        self.site = Site(site);
    }

    /// What the present site has left waits for its next turn.
    fn put_back(&mut self, present: &mut Vec<Due>) {
        self.untold = usize::MAX;
        let Some(next) = present.last() else { return };
        if let Some(list) = self.lists.get_mut(self.site.0 as usize) {
            self.turns.push(Reverse((next.at(), self.site.0)));
            std::mem::swap(present, list);
        } else {
            self.everywhere.append(present);
        }
    }

    fn next_in_turn<E: Pack>(&mut self, present: &mut Vec<Due>, limit: Instant) -> Option<Instant> {
        let edge = |due: &Due| if E::is_early(due.event()) { due.at() } else { due.at() + PICOSECOND };
        let before = self.everywhere.last().map_or(Instant::MAX, edge).min(limit + PICOSECOND);
        while let Some(&Reverse((at, site))) = self.turns.peek() {
            let is_up_to_date = self.lists[site as usize].last().is_some_and(|next| next.at() == at);
            if is_up_to_date && at >= before {
                break;
            }
            self.turns.pop();
            if is_up_to_date {
                self.begin(site, present);
                return Some(before);
            }
        }
        let next = self.everywhere.pop_if(|next| next.at() <= limit);
        self.site = Site::EVERYWHERE;
        present.extend(next);
        next.map(|_| Instant::MAX)
    }

    fn take_turns<E: Pack>(&mut self) {
        for site in self.coming.drain(..) {
            let list = &mut self.lists[site as usize];
            Due::sort::<E>(list);
            self.turns.extend(list.last().map(|next| Reverse((next.at(), site))));
        }
        self.takes_turns = true;
    }

    /// Goes on with the next slot, if it begins up to `limit`; whether it does.
    fn turn<E: Pack>(&mut self, wheel: &mut Wheel, limit: Instant) -> bool {
        let Sites { lists, everywhere, coming, .. } = self;
        let has_turned = wheel.turn(limit, |at, site, event| {
            let due = Due::new(at, event);
            match lists.get_mut(site.0 as usize) {
                Some(list) => {
                    if list.is_empty() {
                        coming.push(site.0);
                    }
                    list.push(due);
                }
                None => everywhere.push(due),
            }
        });
        Due::sort::<E>(everywhere);
        coming.sort_unstable_by_key(|site| Reverse(*site));
        self.takes_turns = !self.everywhere.is_empty();
        self.untold = usize::MAX;
        self.site = Site::EVERYWHERE;
        has_turned
    }

    /// When the first of what is not present happens.
    pub fn next_at(&self) -> Option<Instant> {
        if self.is_empty() {
            return None;
        }
        self.lists.iter().flatten().chain(&self.everywhere).map(|due| due.at()).min()
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::{EventQueue, Site};
    use proptest::prelude::*;
    use shortflow_units::{Instant, NodeId, Span};

    const APART: u64 = 1000;
    const SITES: u32 = 4;
    const EARLY: u32 = 0;
    const LATE: u32 = 2;

    /// What an event leads to: where, or everywhere and whether early there, and how much later.
    type Next = (u32, u64);

    /// The number of an event at one of the sites, or everywhere before or behind them; unpacked, the site.
    fn number(site: u32, id: u32) -> u32 {
        let kind = if site < SITES { 1 } else { (site - SITES) * LATE };
        kind << 28 | site << 20 | id
    }

    fn site(number: u32) -> Site {
        let site = number >> 20 & 0xff;
        if site < SITES { NodeId(site).into() } else { Site::EVERYWHERE }
    }

    /// Events as they come out up to one limit after another, each of which leads to one more, three times.
    fn run(
        mut queue: EventQueue<u32>,
        first: &[(u64, u32)],
        chains: &[Next],
        limits: &[u64],
    ) -> Vec<(u64, u32)> {
        let (count, mut taken) = (first.len() as u32, Vec::new());
        for (id, &(at, site_number)) in (0..).zip(first) {
            let event = number(site_number, id);
            queue.schedule(Instant::from_ps(at), site(event), event);
        }
        let mut now = 0;
        for limit in limits
            .iter()
            .map(|step| {
                now += step;
                now
            })
            .chain([u64::MAX - 1])
        {
            while let Some(event) = queue.next(Instant::from_ps(limit)) {
                let (at, id) = (queue.now().as_ps(), event & 0xf_ffff);
                assert!(at <= limit);
                taken.push((at, event));
                let (to, mut delay) = chains[id as usize % chains.len()];
                let next = number(to, id + count);
                if site(event) != Site::EVERYWHERE && site(next) != site(event) {
                    delay += APART;
                }
                if id < 3 * count {
                    queue.schedule(Instant::from_ps(at + delay), site(next), next);
                }
            }
            assert!(queue.next_at().is_none_or(|next| next.as_ps() > limit));
        }
        assert_eq!(queue.scheduled_in_past(), None);
        taken
    }

    fn time() -> impl Strategy<Value = u64> {
        prop_oneof![
            0u64..30,
            (0u64..40).prop_map(|slots| slots * APART / 4),
            (0u64..4).prop_map(|n| n * 3000 * APART)
        ]
    }

    proptest! {
        /// What happens at a site and what happens everywhere come in the order of time, site by site.
        #[test]
        fn every_site_sees_the_order_of_time(
            first in prop::collection::vec((time(), 0..SITES + 2), 1..60),
            chains in prop::collection::vec((0..SITES + 2, time()), 1..60),
            limits in prop::collection::vec(0..3 * APART, 0..20),
        ) {
            let by_time = run(EventQueue::new(), &first, &chains, &limits);
            let apart = Span::from_ps(APART);
            let by_site = run(EventQueue::new().sited(SITES as usize, apart), &first, &chains, &limits);
            prop_assert_eq!(by_site.len(), by_time.len());
            for seen in (0..SITES).map(|node| Site::from(NodeId(node))) {
                let of = |taken: &[(u64, u32)]| -> Vec<_> {
                    let sees = |event| site(event) == seen || site(event) == Site::EVERYWHERE;
                    taken.iter().copied().filter(|&(_, event)| sees(event)).collect()
                };
                prop_assert_eq!(of(&by_site), of(&by_time));
            }
        }
    }

    /// Without anything that happens everywhere a site takes its slot at once.
    #[test]
    fn sites_take_their_slots_one_after_another() {
        let mut queue = EventQueue::new().sited(2, Span::from_ps(APART));
        for (at, site) in [(1001, 0), (1002, 1), (1003, 0), (1004, 1)] {
            queue.schedule(Instant::from_ps(at), NodeId(site), number(site, at as u32));
        }
        let order: Vec<_> =
            std::iter::from_fn(|| queue.next(Instant::MAX)).map(|event| event >> 20 & 0xff).collect();
        assert!(order == [0, 0, 1, 1] || order == [1, 1, 0, 0], "{order:?}");
    }

    /// Before the next slot nobody else may be concerned.
    #[test]
    fn an_event_too_soon_elsewhere_is_told_of() {
        for other in [1, SITES + EARLY, SITES + 1] {
            let mut queue = EventQueue::new().sited(2, Span::from_ps(APART));
            queue.schedule(Instant::from_ps(1001), NodeId(0), number(0, 1));
            queue.next(Instant::MAX).unwrap();
            let event = number(other, 2);
            queue.schedule(Instant::from_ps(1500), site(event), event);
            assert_eq!(queue.next(Instant::MAX), Some(event));
            let told = Some((Instant::from_ps(1500), Instant::from_ps(1001)));
            assert_eq!(queue.scheduled_in_past(), told);
        }
    }
}
