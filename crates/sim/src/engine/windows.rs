//! [`Windows`]: pending events by node and window.
//!
//! A window is at most as long as the shortest delay of a link, so no event affects another node within the
//! same window. Nodes handle the window one after another, each in order of time. The data of a node thus
//! stays in the near caches.
//!
//! The arrivals from a port form a channel, and the ends of its transmissions another. At most one event of a
//! channel is pending, in the channel list of its node. Other events of a node are sorted at the start of
//! their slot; some local events are in the node's list before. A global event, such as the start of a flow
//! or a sample, ends a window: all nodes first reach its instant.

use super::due::{EventCode, NodeScope, ScheduledEvent};
use super::wheel::Wheel;
use shortflow_units::{Instant, Span};

const PICOSECOND: Span = Span::from_ps(1);
/// Largest number of events of a node for which an insertion costs less than the wheel.
const MOST_LOCAL: usize = 16;
/// Minimum number of channels to prefetch together.
const SOON: usize = 48;

/// Next step of a run in windows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step<E> {
    /// The node that handles the window next.
    Node(u32),
    /// A global event.
    Global(E),
}

/// Pending event of a channel.
#[derive(Debug, Clone, Copy)]
struct Pending {
    at: Instant,
    channel: u32,
}

/// Events of the present slot, and the pending events of all channels.
#[derive(Debug, Clone)]
pub(super) struct Windows {
    /// Node of each channel.
    site_of: Box<[u32]>,
    /// Pending channel events by node. For the present node, only events after the window.
    channels: Box<[Vec<Pending>]>,
    /// By node: other events of the present slot, and some local events, sorted with the next event last. For
    /// the present node, also its channel events.
    node_events: Box<[Vec<ScheduledEvent>]>,
    /// Global events, sorted in the same order.
    global: Vec<ScheduledEvent>,
    /// Time of the next event of each node; out of date for the present node.
    next: Box<[Instant]>,
    /// Time before which no node has an event.
    soonest: Instant,
    /// The present node, which handles the window.
    site: NodeScope,
    /// Index of the node to examine next.
    candidate: usize,
    /// Start of the window.
    begin: Instant,
    /// End of the window, exclusive.
    end: Instant,
    /// End of the present slot.
    end_of_slot: Instant,
    /// Channels of the present node with events in the window, and the time of the first later channel event.
    active: Vec<Pending>,
    rest: Instant,
    /// Index of the first node that is not prefetched.
    unfetched: usize,
    /// Nodes whose lists need sorting.
    touched: Vec<u32>,
}

impl Windows {
    /// Windows without events. `channels` has the node of each channel; global channels stay unused.
    pub(super) fn new(sites: usize, channels: impl Iterator<Item = NodeScope>, wheel: &Wheel) -> Windows {
        Windows {
            site_of: channels.map(|site| site.0).collect(),
            channels: vec![Vec::new(); sites].into(),
            node_events: vec![Vec::new(); sites].into(),
            global: Vec::new(),
            next: vec![Instant::MAX; sites].into(),
            soonest: Instant::MAX,
            site: NodeScope::GLOBAL,
            candidate: 0,
            begin: Instant::ZERO,
            end: Instant::ZERO,
            end_of_slot: wheel.end_of_slot(),
            active: Vec::new(),
            rest: Instant::MAX,
            unfetched: 0,
            touched: Vec::new(),
        }
    }

    /// Sets the next event of a channel. Returns `false` if the channel's node may have passed this time.
    #[inline]
    pub(super) fn set<E: EventCode>(&mut self, channel: u32, at: Instant) -> bool {
        let site = self.site_of[channel as usize];
        if site != self.site.0 {
            self.channels[site as usize].push(Pending { at, channel });
            return self.expect(site, at);
        }
        if at < self.end {
            ScheduledEvent::new(at, E::of_channel(channel)).insert::<E>(&mut self.node_events[site as usize]);
        } else {
            self.put_off(at, channel);
        }
        true
    }

    /// Sets the next event, after the window, of a channel of the present node.
    #[inline]
    pub(super) fn put_off(&mut self, at: Instant, channel: u32) {
        self.rest = at.min(self.rest);
        self.channels[self.site.0 as usize].push(Pending { at, channel });
    }

    /// Notes an event of another node. Returns `false` if that node may have passed this time.
    #[inline]
    fn expect(&mut self, site: u32, at: Instant) -> bool {
        let next = &mut self.next[site as usize];
        *next = at.min(*next);
        self.soonest = at.min(self.soonest);
        at >= self.end || self.site == NodeScope::GLOBAL
    }

    /// Adds an event of the present slot without a channel. Returns `false` if its node may have passed this
    /// time.
    pub(super) fn insert<E: EventCode>(&mut self, due: ScheduledEvent, site: NodeScope) -> bool {
        if site == NodeScope::GLOBAL {
            due.insert::<E>(&mut self.global);
            self.end = self.end.min(barrier::<E>(&due));
            return self.site == NodeScope::GLOBAL;
        }
        due.insert::<E>(&mut self.node_events[site.0 as usize]);
        site == self.site || self.expect(site.0, due.at())
    }

    /// Advances to the next node with events in the window, or to a global event, up to `limit`.
    pub(super) fn next_step<E: EventCode>(
        &mut self,
        wheel: &mut Wheel,
        limit: Instant,
    ) -> Option<Step<ScheduledEvent>> {
        loop {
            if let Some(site) = self.next_site() {
                return Some(Step::Node(site));
            }
            let is_next = |due: &mut ScheduledEvent| barrier::<E>(due) <= self.end && due.at() <= limit;
            if let Some(due) = self.global.pop_if(is_next) {
                self.open::<E>(limit);
                return Some(Step::Global(due));
            }
            let (end, begins) = (self.end, self.end >= self.end_of_slot);
            if begins && !self.begin_slot::<E>(wheel, limit) {
                return None;
            }
            self.open::<E>(limit);
            if self.end <= end && !begins {
                return None;
            }
        }
    }

    /// Next node with events in the window.
    #[inline]
    fn next_site(&mut self) -> Option<u32> {
        if self.site != NodeScope::GLOBAL {
            self.leave();
        }
        if self.candidate == 0 && self.soonest >= self.end {
            return None;
        }
        let is_due = |next: &Instant| *next < self.end;
        let Some(found) = self.next.get(self.candidate..)?.iter().position(is_due) else {
            let first = || self.next.iter().copied().min().unwrap_or(Instant::MAX);
            self.soonest = if self.candidate == 0 { first() } else { self.end };
            self.candidate = self.next.len();
            return None;
        };
        let site = self.candidate + found;
        self.candidate = site + 1;
        self.enter(site);
        Some(site as u32)
    }

    #[inline]
    fn enter(&mut self, site: usize) {
        self.site = NodeScope(site as u32);
        let (list, mut rest, mut place) = (&mut self.channels[site], Instant::MAX, 0);
        while let Some(pending) = list.get(place) {
            if pending.at < self.end {
                self.active.push(list.swap_remove(place));
            } else {
                rest = rest.min(pending.at);
                place += 1;
            }
        }
        self.rest = rest;
    }

    #[inline]
    fn leave(&mut self) {
        let site = self.site.0 as usize;
        let next = self.node_events[site].last().map_or(self.rest, |first| self.rest.min(first.at()));
        self.next[site] = next;
        self.site = NodeScope::GLOBAL;
    }

    /// Extends the window to the next global event, the end of the slot, or just beyond `limit`.
    fn open<E: EventCode>(&mut self, limit: Instant) {
        let next = self.global.last().map_or(Instant::MAX, barrier::<E>);
        self.begin = self.end;
        self.end = next.min(self.end_of_slot).min(limit + PICOSECOND);
        (self.candidate, self.unfetched) = (0, 0);
    }

    /// Advances to the next slot with events. Returns `false` if it begins after `limit`.
    fn begin_slot<E: EventCode>(&mut self, wheel: &mut Wheel, limit: Instant) -> bool {
        let Windows { node_events, global, next, soonest, touched, .. } = self;
        let has_turned = wheel.advance(*soonest, limit, |at, site, event| {
            let due = ScheduledEvent::new(at, event);
            match node_events.get_mut(site.0 as usize) {
                Some(list) => {
                    touched.push(site.0);
                    list.push(due);
                    next[site.0 as usize] = next[site.0 as usize].min(at);
                    *soonest = at.min(*soonest);
                }
                None => global.push(due),
            }
        });
        if has_turned {
            ScheduledEvent::sort::<E>(global);
            touched.drain(..).for_each(|site| ScheduledEvent::sort::<E>(&mut node_events[site as usize]));
            self.end_of_slot = wheel.end_of_slot();
        }
        has_turned
    }

    /// Inserts the present node's channel events among its other events.
    pub(super) fn line_up<E: EventCode>(&mut self) {
        let list = &mut self.node_events[self.site.0 as usize];
        for Pending { at, channel } in self.active.drain(..) {
            ScheduledEvent::new(at, E::of_channel(channel)).insert::<E>(list);
        }
    }

    /// True if `site` is the present node, `at` lies in the window, and no other event of the node precedes
    /// `at`.
    #[inline]
    pub(super) fn is_next(&self, site: NodeScope, at: Instant) -> bool {
        let first = self.node_events.get(site.0 as usize).and_then(|list| list.last());
        site == self.site && at < self.end && first.is_none_or(|first| at < first.at())
    }

    /// True if the list of this node is short enough for another local event. Other local events wait in the
    /// wheel.
    #[inline]
    pub(super) fn has_room(&self, site: NodeScope) -> bool {
        self.node_events.get(site.0 as usize).is_some_and(|events| events.len() < MOST_LOCAL)
    }

    /// First event of this node without a channel, among events of the present slot and local events.
    #[inline]
    pub(super) fn first_of(&self, site: NodeScope) -> Option<ScheduledEvent> {
        self.node_events.get(site.0 as usize)?.last().copied()
    }

    /// Removes the event of [`Windows::first_of`]. Returns the time of the following event.
    #[inline]
    pub(super) fn take_first_of(&mut self, site: NodeScope) -> Instant {
        let (place, events) = (site.0 as usize, &mut self.node_events[site.0 as usize]);
        events.pop();
        let follows = events.last().map_or(Instant::MAX, |other| other.at());
        if site != self.site {
            self.next[place] =
                self.channels[place].iter().fold(follows, |next, pending| next.min(pending.at));
        }
        follows
    }

    /// Takes the next event of the present node in the window, after [`Windows::line_up`].
    #[inline]
    pub(super) fn next_here(&mut self) -> Option<ScheduledEvent> {
        self.node_events.get_mut(self.site.0 as usize)?.pop_if(|next| next.at() < self.end)
    }

    /// Takes a channel of the present node, with all its events in the window.
    #[inline]
    pub(super) fn take_channel(&mut self) -> Option<u32> {
        self.active.pop().map(|pending| pending.channel)
    }

    /// Start of the window.
    #[inline]
    pub(super) fn begin(&self) -> Instant {
        self.begin
    }

    /// End of the window, exclusive.
    #[inline]
    pub(super) fn end(&self) -> Instant {
        self.end
    }

    /// Passes channels with events to `visit`, for the present node and the next nodes, some dozens at a time.
    /// Skips nodes that were already passed.
    pub(super) fn upcoming(&mut self, mut visit: impl FnMut(u32)) {
        let NodeScope(mut site) = self.site;
        if (site as usize) < self.unfetched {
            return;
        }
        let mut count = 0;
        while count < SOON && (site as usize) < self.next.len() {
            if self.next[site as usize] < self.end {
                let active = if site == self.site.0 { &self.active } else { &self.channels[site as usize] };
                for pending in active.iter().filter(|pending| pending.at < self.end) {
                    visit(pending.channel);
                    count += 1;
                }
            }
            site += 1;
        }
        self.unfetched = site as usize;
    }

    /// True if the present node is `site`.
    pub(super) fn are_of(&self, site: NodeScope) -> bool {
        self.site == site
    }

    /// Time of the first channel event or event of the present slot.
    pub(super) fn next_at(&self) -> Option<Instant> {
        let sorted = self.node_events.iter().flatten().chain(&self.global).map(|due| due.at());
        sorted.chain(self.channels.iter().flatten().map(|pending| pending.at)).min()
    }
}

/// Instant that all nodes must reach before this global event.
fn barrier<E: EventCode>(due: &ScheduledEvent) -> Instant {
    if E::precedes_nodes(due.event()) { due.at() } else { due.at() + PICOSECOND }
}

#[cfg(test)]
mod tests {
    use crate::engine::{EventQueue, NodeScope, Step};
    use proptest::prelude::*;
    use shortflow_units::{Instant, NodeId, Span};

    const APART: u64 = 1000;
    const SITES: u32 = 4;
    const CHANNELS: u32 = 8;
    const EARLY: u32 = 0;
    const LATE: u32 = 2;
    const OF_CHANNEL: u32 = 0x1ff;

    /// The next event of a chain: its node, or global before or after nodes, and its delay.
    type Next = (u32, u64);

    /// Number of an event at a node, or of a global event before or after nodes. Unpacked, it yields the
    /// node.
    fn number(site: u32, id: u32) -> u32 {
        let kind = if site < SITES { 1 } else { (site - SITES) * LATE };
        kind << 28 | site << 20 | id
    }

    /// Node of an event. Two channels lead to each node.
    fn site(number: u32) -> NodeScope {
        let site = if number >> 20 == OF_CHANNEL { number % SITES } else { number >> 20 & 0xff };
        if site < SITES { NodeId(site).into() } else { NodeScope::GLOBAL }
    }

    fn windowed() -> EventQueue<u32> {
        EventQueue::new().windowed(SITES as usize, (0..CHANNELS).map(site_of_channel), Span::from_ps(APART))
    }

    fn site_of_channel(channel: u32) -> NodeScope {
        site(OF_CHANNEL << 20 | channel)
    }

    /// Next event in order of time, or in windows.
    fn next(queue: &mut EventQueue<u32>, limit: Instant, in_windows: bool) -> Option<u32> {
        if !in_windows {
            return queue.next(limit);
        }
        loop {
            match queue.next_here() {
                Some(event) => return Some(event),
                None => match queue.next_step(limit)? {
                    Step::Node(_) => queue.line_up(),
                    Step::Global(event) => return Some(event),
                },
            }
        }
    }

    /// Takes all events up to one limit after another, and returns their order. Each event schedules another
    /// one, three times. Events of a channel are spaced.
    fn run(
        mut queue: EventQueue<u32>,
        in_windows: bool,
        first: &[(u64, u32)],
        chains: &[Next],
        limits: &[u64],
        channels: &[(u64, u64)],
    ) -> Vec<(u64, u32)> {
        let (count, mut taken) = (first.len() as u32, Vec::new());
        for (id, &(at, site_number)) in (0..).zip(first) {
            let event = number(site_number, id);
            queue.schedule(Instant::from_ps(at), site(event), event);
        }
        for (channel, &(at, _)) in (0..).zip(channels) {
            let event = OF_CHANNEL << 20 | channel;
            queue.schedule(Instant::from_ps(at), site(event), event);
        }
        let (mut now, mut of_channels) = (0, [0; CHANNELS as usize]);
        let limits = limits.iter().map(|step| {
            now += step;
            now
        });
        for limit in limits.chain([u64::MAX - 1]) {
            while let Some(event) = next(&mut queue, Instant::from_ps(limit), in_windows) {
                let at = queue.now().as_ps();
                assert!(at <= limit);
                taken.push((at, event));
                if event >> 20 == OF_CHANNEL {
                    let channel = event as usize & 0xfff;
                    let (_, every) = channels[channel];
                    of_channels[channel] += 1;
                    if of_channels[channel] < 50 {
                        queue.schedule(Instant::from_ps(at + every), site(event), event);
                    }
                    continue;
                }
                let id = event & 0xf_ffff;
                let (to, mut delay) = chains[id as usize % chains.len()];
                let next = number(to, id + count);
                if site(event) != NodeScope::GLOBAL && site(next) != site(event) {
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
        /// Each node sees its own events and global events in order of time.
        #[test]
        fn every_site_sees_the_order_of_time(
            first in prop::collection::vec((time(), 0..SITES + 2), 1..60),
            chains in prop::collection::vec((0..SITES + 2, time()), 1..60),
            limits in prop::collection::vec(0..3 * APART, 0..20),
            channels in prop::collection::vec((time(), 1..2 * APART), 0..=CHANNELS as usize),
        ) {
            let by_time = run(EventQueue::new(), false, &first, &chains, &limits, &channels);
            let by_site = run(windowed(), true, &first, &chains, &limits, &channels);
            for seen in (0..SITES).map(|node| NodeScope::from(NodeId(node))) {
                let of = |taken: &[(u64, u32)]| -> Vec<_> {
                    let sees = |event| site(event) == seen || site(event) == NodeScope::GLOBAL;
                    taken.iter().copied().filter(|&(_, event)| sees(event)).collect()
                };
                prop_assert_eq!(of(&by_site), of(&by_time));
            }
        }
    }

    /// Without global events, a node handles its whole window at once.
    #[test]
    fn sites_take_their_windows_one_after_another() {
        let mut queue = windowed();
        for (at, event) in [
            (1001, number(0, 1)),
            (1002, OF_CHANNEL << 20 | 1),
            (1003, OF_CHANNEL << 20),
            (1004, number(1, 2)),
        ] {
            queue.schedule(Instant::from_ps(at), site(event), event);
        }
        let order: Vec<_> = std::iter::from_fn(|| next(&mut queue, Instant::MAX, true)).map(site).collect();
        assert_eq!(order, [0, 0, 1, 1].map(|node| NodeScope::from(NodeId(node))));
    }

    /// An event within the window, at a node that may have passed its time, is reported.
    #[test]
    fn an_event_too_soon_at_another_node_is_reported() {
        let of_channel = OF_CHANNEL << 20 | 1;
        for event in [number(1, 2), number(SITES + EARLY, 2), number(SITES + 1, 2), of_channel] {
            let mut queue = windowed();
            queue.schedule(Instant::from_ps(1001), NodeId(0), number(0, 1));
            next(&mut queue, Instant::MAX, true).unwrap();
            queue.schedule(Instant::from_ps(1500), site(event), event);
            assert_eq!(next(&mut queue, Instant::MAX, true), Some(event));
            let past = Some((Instant::from_ps(1500), Instant::from_ps(1001)));
            assert_eq!(queue.scheduled_in_past(), past);
        }
    }
}
