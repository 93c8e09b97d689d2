//! The event queue: a timing wheel under the total order (time, rank of the event).
//!
//! Time is divided into slots, and only the present slot is sorted. In order of time, a slot holds about two
//! events of any nodes. In windows, a slot is at most the shortest delay of a link, and nodes handle the slot
//! one after another.
//!
//! At equal times the lower [`EventCode::rank`] comes first. Therefore the order depends neither on the time
//! of scheduling nor on other events. Events with equal numbers are equal.

use super::due::{EventCode, NodeScope, ScheduledEvent};
use super::safe_times::SafeTimes;
use super::wheel::Wheel;
use super::windows::{Step, Windows};
use shortflow_units::{Instant, Span};
use std::marker::PhantomData;

/// Pending events.
#[derive(Debug, Clone)]
pub struct EventQueue<E> {
    now: Instant,
    /// First event scheduled in the past: its due time, and the time of scheduling.
    scheduled_in_past: Option<(Instant, Instant)>,
    /// In order of time: sorted events of the present slot, with the next event last.
    present: Vec<ScheduledEvent>,
    /// In windows: the events of the present slot by node.
    windows: Option<Box<Windows>>,
    /// Events beyond the present slot.
    wheel: Wheel,
    /// Times up to which nodes have only channel events, if some nodes handle events early.
    safe_times: Option<Box<SafeTimes>>,
    kind: PhantomData<E>,
}

impl<E: EventCode> EventQueue<E> {
    /// An empty queue at time zero, in order of time.
    pub fn new() -> Self {
        EventQueue {
            now: Instant::ZERO,
            scheduled_in_past: None,
            present: Vec::new(),
            windows: None,
            wheel: Wheel::new(),
            safe_times: None,
            kind: PhantomData,
        }
    }

    /// Sets the length of slots. Slots become longer if the wheel could not hold events scheduled `ahead`
    /// otherwise.
    pub fn slotted(self, slot: Span, ahead: Span) -> Self {
        EventQueue { wheel: self.wheel.slotted(slot.max(Wheel::shortest(ahead))), ..self }
    }

    /// Switches an empty queue to windows of at most `apart`, the shortest delay between two of the `sites`
    /// nodes. `channels` has the node of each channel.
    pub fn windowed(self, sites: usize, channels: impl Iterator<Item = NodeScope>, apart: Span) -> Self {
        let wheel = self.wheel.slotted(apart);
        EventQueue { windows: Some(Box::new(Windows::new(sites, channels, &wheel))), wheel, ..self }
    }

    /// Makes an empty queue track the safe times of the first `sites` nodes.
    pub fn with_safe_times(self, sites: usize) -> Self {
        EventQueue { safe_times: Some(Box::new(SafeTimes::new(sites))), ..self }
    }

    /// Time of the event taken last.
    #[inline]
    pub fn now(&self) -> Instant {
        self.now
    }

    /// First event scheduled in the past, or within the window of another node: its due time, and the time of
    /// scheduling.
    pub fn scheduled_in_past(&self) -> Option<(Instant, Instant)> {
        self.scheduled_in_past
    }

    /// Adds an event. An event in the past is moved to the present and reported by
    /// [`EventQueue::scheduled_in_past`].
    #[inline(always)] // most callers know the kind of the event, so packing costs nothing
    pub fn schedule(&mut self, at: Instant, site: impl Into<NodeScope>, event: E) {
        let event = event.pack();
        match E::channel(event) {
            Some(channel) if self.windows.is_some() => self.set(channel, at),
            Some(_) => self.insert(at, site.into(), event),
            None => self.insert_other(at, site.into(), event),
        }
    }

    /// Adds an event without a channel.
    #[inline(never)] // most events belong to channels
    fn insert_other(&mut self, at: Instant, site: NodeScope, event: u32) {
        if let Some(windows) = &self.windows
            && E::is_local(event)
            && at >= self.now
            && windows.has_room(site)
        {
            self.safe_times.iter_mut().for_each(|safe_times| safe_times.expect_local(at, site));
            return self.insert_present(at, site, event);
        }
        if E::is_barrier(event)
            && let Some(safe_times) = &mut self.safe_times
        {
            safe_times.expect(at, site);
        }
        self.insert(at, site, event);
    }

    #[inline]
    fn insert(&mut self, at: Instant, site: NodeScope, event: u32) {
        if !self.wheel.has_reached(at) {
            self.wheel.insert(at, site, event);
        } else if at >= self.now {
            self.insert_present(at, site, event);
        } else {
            self.insert_past(at, site, event);
        }
    }

    /// Sets the next event of a channel.
    #[inline(never)] // keeps the path in order of time short
    fn set(&mut self, channel: u32, at: Instant) {
        let is_certain = self.windows.as_mut().is_none_or(|windows| windows.set::<E>(channel, at));
        if !is_certain {
            self.scheduled_in_past.get_or_insert((at, self.now));
        }
    }

    #[cold]
    fn insert_past(&mut self, at: Instant, site: NodeScope, event: u32) {
        self.scheduled_in_past.get_or_insert((at, self.now));
        self.insert(self.now, site, event);
    }

    #[inline(never)] // most events go to the wheel
    fn insert_present(&mut self, at: Instant, site: NodeScope, event: u32) {
        let due = ScheduledEvent::new(at, event);
        match &mut self.windows {
            None => due.insert::<E>(&mut self.present),
            Some(windows) => {
                if !windows.insert::<E>(due, site) {
                    self.scheduled_in_past.get_or_insert((at, self.now));
                }
            }
        }
    }

    /// Takes the next event in order of time up to `limit`, and moves time to it. `limit` must not decrease
    /// between calls.
    #[inline(always)]
    pub fn next(&mut self, limit: Instant) -> Option<E> {
        let (at, event) = match self.present.last().copied() {
            Some(next) if next.at() <= limit => {
                self.present.pop();
                (next.at(), next.event())
            }
            None => self.wheel.take_lone(limit).or_else(|| self.next_of_several(limit))?,
            _ => return None,
        };
        self.now = at;
        Some(E::unpack(event))
    }

    #[inline(never)] // keeps the path of an event that is alone in its slot short
    fn next_of_several(&mut self, limit: Instant) -> Option<(Instant, u32)> {
        self.seek(limit);
        let next = self.present.pop_if(|next| next.at() <= limit)?;
        Some((next.at(), next.event()))
    }

    /// Advances to the next slot if it begins up to `limit`. Returns `true` if it does.
    fn seek(&mut self, limit: Instant) -> bool {
        let has_turned = self
            .wheel
            .advance(Instant::MAX, limit, |at, _, event| self.present.push(ScheduledEvent::new(at, event)));
        if self.present.len() > 1 {
            ScheduledEvent::sort::<E>(&mut self.present);
        }
        has_turned
    }

    /// In windows: advances to the next node with events in a window, or takes a global event, up to `limit`.
    /// `limit` must not decrease between calls.
    #[inline]
    pub fn next_step(&mut self, limit: Instant) -> Option<Step<E>> {
        match self.windows.as_mut()?.next_step::<E>(&mut self.wheel, limit)? {
            Step::Node(site) => Some(Step::Node(site)),
            Step::Global(due) => {
                self.now = due.at();
                Some(Step::Global(E::unpack(due.event())))
            }
        }
    }

    /// True if only channel events affect this node up to and at `at`. May return false when unsure;
    /// [`EventQueue::take_local`] then finds out.
    #[inline]
    pub fn is_safe(&self, site: impl Into<NodeScope>, at: Instant) -> bool {
        self.safe_times.as_ref().is_some_and(|safe_times| safe_times.is_safe(site.into(), at))
    }

    /// Takes the next event of this node and moves time to the event. The event must be local and due before
    /// `limit`, and no other event may affect the node before it.
    #[inline(never)] // most packets find no other event
    pub fn take_local(&mut self, site: impl Into<NodeScope>, limit: Instant) -> Option<E> {
        let (site, safe_times) = (site.into(), self.safe_times.as_mut()?);
        let past = self.windows.as_ref().map_or(self.now, |windows| windows.begin());
        let first = self.windows.as_ref().and_then(|windows| windows.first_of(site));
        let at = first.map_or(Instant::MAX, ScheduledEvent::at);
        let is_free = safe_times.is_free(site, (past, at.min(limit)));
        let Some(next) = first.filter(|next| is_free && at < limit && E::is_local(next.event())) else {
            safe_times.set_local(at, site);
            return None;
        };
        let follows = self.windows.as_mut().map_or(Instant::MAX, |windows| windows.take_first_of(site));
        safe_times.set_local(follows, site);
        self.now = at;
        Some(E::unpack(next.event()))
    }

    /// Sets the time for a node that handles events early, or back to the common time.
    #[inline]
    pub fn set_now(&mut self, now: Instant) {
        self.now = now;
    }

    /// True if `site` is the present node, `at` lies in the window, and no remaining event of the node
    /// precedes `at`.
    #[inline]
    pub fn is_next(&self, site: impl Into<NodeScope>, at: Instant) -> bool {
        self.windows.as_ref().is_some_and(|windows| windows.is_next(site.into(), at))
    }

    /// Sorts the window's events of the present node for [`EventQueue::next_here`].
    pub fn line_up(&mut self) {
        self.windows.iter_mut().for_each(|windows| windows.line_up::<E>());
    }

    /// Takes the next event of the present node in the window, and moves time to it.
    #[inline]
    pub fn next_here(&mut self) -> Option<E> {
        let next = self.windows.as_mut()?.next_here()?;
        self.now = next.at();
        Some(E::unpack(next.event()))
    }

    /// Sets the next event, after the window, of a channel of the present node.
    #[inline]
    pub fn put_off(&mut self, channel: u32, at: Instant) {
        self.windows.iter_mut().for_each(|windows| windows.put_off(at, channel));
    }

    /// Takes a channel of the present node, with all its events up to the end of the window.
    #[inline]
    pub fn take_channel(&mut self) -> Option<u32> {
        self.windows.as_mut()?.take_channel()
    }

    /// Start of the window.
    #[inline]
    pub fn begin_of_window(&self) -> Instant {
        self.windows.as_ref().map_or(Instant::ZERO, |windows| windows.begin())
    }

    /// End of the window, exclusive.
    #[inline]
    pub fn end_of_window(&self) -> Instant {
        self.windows.as_ref().map_or(Instant::ZERO, |windows| windows.end())
    }

    /// Advances to the next slot, up to `limit`, if the present slot is empty. Returns `true` if it advances.
    #[inline]
    pub fn advance_slot(&mut self, limit: Instant) -> bool {
        self.present.is_empty() && self.seek(limit)
    }

    /// Passes the next events to `visit`: events of the slot or, in windows, of the channels of the next
    /// nodes.
    pub fn upcoming(&mut self, mut visit: impl FnMut(E)) {
        match &mut self.windows {
            None => self.present.iter().rev().for_each(|next| visit(E::unpack(next.event()))),
            Some(windows) => windows.upcoming(|channel| visit(E::unpack(E::of_channel(channel)))),
        }
    }

    /// True if the event taken last may belong to `site`.
    #[inline]
    pub fn are_of(&self, site: impl Into<NodeScope>) -> bool {
        self.windows.as_ref().is_none_or(|windows| windows.are_of(site.into()))
    }

    /// End of the last slot that ends after `start` and up to `limit`. Returns `limit` if there is none, or
    /// in order of time.
    pub fn end_of_slot(&self, start: Instant, limit: Instant) -> Instant {
        let end = self.wheel.begin_of_slot(limit);
        if self.windows.is_some() && end > start { end } else { limit }
    }

    /// Time of the next event.
    pub fn next_at(&self) -> Option<Instant> {
        let present = self.present.last().map(|next| next.at());
        let windows = self.windows.as_ref().and_then(|windows| windows.next_at());
        present.into_iter().chain(windows).chain(self.wheel.next_at()).min()
    }

    /// Moves time to `to`, or to the next pending event if that is earlier. For callers with a real clock.
    pub fn advance(&mut self, to: Instant) {
        let next = self.next_at().unwrap_or(Instant::MAX);
        self.now = self.now.max(to.min(next));
    }
}

impl<E: EventCode> Default for EventQueue<E> {
    fn default() -> Self {
        EventQueue::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::tie_break_rank;
    use proptest::prelude::*;

    const HERE: NodeScope = NodeScope::GLOBAL;

    impl EventCode for u32 {
        fn pack(self) -> u32 {
            self
        }
        fn unpack(bits: u32) -> u32 {
            bits
        }
        fn rank(bits: u32, _: Instant) -> u32 {
            bits
        }
        fn precedes_nodes(bits: u32) -> bool {
            bits >> 28 == 0
        }
        fn is_barrier(_: u32) -> bool {
            true
        }
        fn is_local(_: u32) -> bool {
            false
        }
        fn channel(bits: u32) -> Option<u32> {
            (bits >> 20 == 0x1ff).then_some(bits & 0xfff)
        }
        fn of_channel(channel: u32) -> u32 {
            0x1ff << 20 | channel
        }
    }

    /// Times within a slot, within the wheel and beyond the wheel, with many ties.
    fn time() -> impl Strategy<Value = u64> {
        prop_oneof![0u64..50, (0u64..12_000).prop_map(|slot| slot << 19), (0u64..50).prop_map(|n| n << 32)]
    }

    proptest! {
        #[test]
        fn events_come_out_by_time_then_by_number(
            events in prop::collection::vec((time(), any::<u32>()), 1..200),
        ) {
            let mut queue = EventQueue::new();
            events.iter().for_each(|&(at, event)| queue.schedule(Instant::from_ps(at), HERE, event));
            let mut expected = events;
            expected.sort();
            let taken = || queue.next(Instant::MAX).map(|event| (queue.now().as_ps(), event));
            prop_assert_eq!(std::iter::from_fn(taken).collect::<Vec<_>>(), expected);
        }

        /// Each event schedules another event while time advances. Compared with a sorted list.
        #[test]
        fn agrees_with_a_sorted_list(delays in prop::collection::vec((time(), time()), 1..100)) {
            let mut queue = EventQueue::new();
            let mut list: Vec<(u64, u32)> = Vec::new();
            for (i, &(at, _)) in (0..).zip(&delays) {
                queue.schedule(Instant::from_ps(at), HERE, i);
                list.push((at, i));
            }
            for (i, &(_, delay)) in (delays.len() as u32..).zip(&delays) {
                list.sort();
                let (at, event) = list.remove(0);
                prop_assert_eq!(queue.next(Instant::MAX), Some(event));
                prop_assert_eq!(queue.now(), Instant::from_ps(at));
                queue.schedule(Instant::from_ps(at + delay), HERE, i);
                list.push((at + delay, i));
            }
        }
    }

    /// Five ports have ten thousand simultaneous events. Each port comes first in a fifth of the cases and
    /// keeps its number.
    #[test]
    fn events_take_turns() {
        let mut first = [0; 5];
        for ns in 0..10_000 {
            let at = Instant::ZERO + Span::from_nanos(ns);
            let ranks = [0, 2, 4, 6, 8].map(|port| tie_break_rank(1 << 29 | port, at));
            assert!(ranks.iter().all(|rank| rank >> 27 == 4), "{ranks:?}");
            let lowest = (0..5).min_by_key(|place| ranks[*place]);
            first[lowest.unwrap()] += 1;
        }
        assert!(first.iter().all(|times| (1600..2400).contains(times)), "{first:?}");
    }

    #[test]
    fn time_moves_by_a_clock_up_to_the_next_event() {
        let mut queue = EventQueue::new();
        queue.advance(Instant::from_ps(7 << 30));
        queue.schedule(Instant::from_ps(9 << 30), HERE, 1u32);
        assert_eq!(queue.next_at(), Some(Instant::from_ps(9 << 30)));
        queue.advance(Instant::from_ps(8 << 30));
        queue.schedule(Instant::ZERO, HERE, 2);
        assert_eq!((queue.next(Instant::MAX), queue.now()), (Some(2), Instant::from_ps(8 << 30)));
        queue.advance(Instant::from_ps(10 << 30));
        assert_eq!(queue.now(), Instant::from_ps(9 << 30));
        assert_eq!(queue.next(Instant::MAX), Some(1));
    }

    #[test]
    fn time_never_goes_back_and_stops_at_the_limit() {
        let mut queue = EventQueue::new();
        queue.schedule(Instant::from_ps(10), HERE, 1u32);
        assert_eq!(queue.next(Instant::from_ps(9)), None);
        assert_eq!(queue.next(Instant::from_ps(10)), Some(1));
        assert_eq!(queue.scheduled_in_past(), None);
        queue.schedule(Instant::from_ps(5), HERE, 2);
        queue.schedule(Instant::from_ps(6), HERE, 3);
        assert_eq!(queue.scheduled_in_past(), Some((Instant::from_ps(5), Instant::from_ps(10))));
        assert_eq!(queue.next(Instant::MAX), Some(2));
        assert_eq!(queue.next(Instant::MAX), Some(3));
        assert_eq!(queue.now(), Instant::from_ps(10));
        assert_eq!(queue.next(Instant::MAX), None);
    }
}
