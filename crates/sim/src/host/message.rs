//! Messages of applications on a connection. Each message is a flow in the flow table.

use crate::packet::{EcnField, Packet};
use shortflow_cc::{FlowView, Role};
use shortflow_units::{Bytes, ClassId, FlowId, Instant, Span};
use std::collections::VecDeque;
use std::ops::Range;

/// Flow of a message.
#[derive(Debug, Clone, Copy)]
pub struct Flow {
    /// Row of the flow table.
    pub flow: FlowId,
    /// Traffic class.
    pub class: ClassId,
    /// Role that the class implies.
    pub role: Role,
    /// Deadline for the ACK of the last byte.
    pub deadline: Option<Instant>,
}

/// Counts and waits of a message's data packets.
#[derive(Debug, Clone, Copy, Default)]
pub struct DeliveryCounters {
    /// Packets that left the sender.
    pub left: u64,
    /// Sum of the packets' waits in the queue of the sender's host.
    pub waited_at_host: Span,
    /// Time during which the sender had more to send but its host's small queue was full.
    pub held: Span,
    /// Packets that arrived before all parts of the network knew that the message was complete, including
    /// duplicates.
    pub arrived: u64,
    /// Arrived packets with a CE mark.
    pub marks: u32,
    /// Sum of the packets' waits in queues.
    pub waited: Span,
    /// Part of these waits in switches, in picoseconds. Not in the digest.
    pub waited_in_switches: f64,
}

impl DeliveryCounters {
    /// Counts a packet that leaves and waits at its host for `waits`.
    #[inline]
    pub fn count_left(&mut self, waits: Span) {
        self.left += 1;
        self.waited_at_host += waits;
    }

    /// Counts a packet that arrives.
    #[inline]
    pub fn count_arrived(&mut self, packet: &Packet) {
        self.arrived += 1;
        self.marks += u32::from(packet.ecn == EcnField::Ce);
        self.waited += packet.waited;
        self.waited_in_switches += f64::from(packet.in_switches);
    }

    /// Takes the counts of arrivals from another copy of the same message.
    pub fn take_arrived(&mut self, other: &DeliveryCounters) {
        (self.arrived, self.marks, self.waited) = (other.arrived, other.marks, other.waited);
        self.waited_in_switches = other.waited_in_switches;
    }

    /// Difference from `before`.
    pub fn since(self, before: DeliveryCounters) -> DeliveryCounters {
        DeliveryCounters {
            left: self.left.saturating_sub(before.left),
            waited_at_host: self.waited_at_host.saturating_sub(before.waited_at_host),
            held: self.held.saturating_sub(before.held),
            arrived: self.arrived.saturating_sub(before.arrived),
            marks: self.marks.saturating_sub(before.marks),
            waited: self.waited.saturating_sub(before.waited),
            waited_in_switches: self.waited_in_switches - before.waited_in_switches,
        }
    }
}

/// Counters of a message.
#[derive(Debug, Clone, Copy, Default)]
pub struct MessageCounts {
    /// Distinct bytes that have arrived.
    pub delivered: u64,
    /// Retransmitted segments.
    pub retransmits: u32,
    /// Retransmission timeouts.
    pub timeouts: u32,
    /// Counts of the message's data packets.
    pub tally: DeliveryCounters,
}

impl MessageCounts {
    /// Difference from `before`.
    fn since(self, before: MessageCounts) -> MessageCounts {
        MessageCounts {
            delivered: self.delivered.saturating_sub(before.delivered),
            retransmits: self.retransmits.saturating_sub(before.retransmits),
            timeouts: self.timeouts.saturating_sub(before.timeouts),
            tally: self.tally.since(before.tally),
        }
    }
}

/// Counters of a message in the measured time.
#[derive(Debug, Clone, Copy)]
enum InMeasurement {
    /// The counters at the start of the measured time, which continues.
    Since(MessageCounts),
    /// The counters of the whole measured time, which is over.
    Exactly(MessageCounts),
}

/// Bytes `start..end` of a connection's stream. Segments never span two messages.
#[derive(Debug, Clone, Copy)]
pub struct Message {
    /// Row of the flow table.
    pub flow: FlowId,
    /// Class of the flow.
    pub class: ClassId,
    /// First byte in the stream.
    pub start: u64,
    /// One past the last byte; `u64::MAX` for a backlogged flow that has not stopped.
    pub end: u64,
    is_backlogged: bool,
    /// Deadline for the ACK of the last byte.
    pub deadline: Option<Instant>,
    /// Role that the class implies.
    pub role: Role,
    /// Counts of the message's data packets.
    pub tally: DeliveryCounters,
    /// Number of retransmitted segments.
    pub retransmits: u32,
    /// Number of retransmission timeouts.
    pub timeouts: u32,
    /// Time of the last byte's ACK.
    pub finish: Option<Instant>,
    /// Time at which the receiver first had all bytes of the message and of all earlier messages.
    pub received: Option<Instant>,
    measured: InMeasurement,
}

impl Message {
    /// A message with the bytes `bytes` of the stream, none of them acknowledged.
    pub fn new(flow: Flow, bytes: Range<u64>) -> Message {
        let (Flow { flow, class, role, deadline }, Range { start, end }) = (flow, bytes);
        Message {
            flow,
            class,
            start,
            end,
            is_backlogged: end == u64::MAX,
            deadline,
            role,
            tally: DeliveryCounters::default(),
            retransmits: 0,
            timeouts: 0,
            finish: None,
            received: None,
            measured: InMeasurement::Since(MessageCounts::default()),
        }
    }

    /// Acknowledged bytes of the message, if all bytes below `snd_una` are acknowledged.
    pub fn acked(&self, snd_una: u64) -> u64 {
        snd_una.min(self.end).saturating_sub(self.start)
    }

    /// Starts the measured time, when `delivered` bytes have arrived.
    pub fn begin_measured(&mut self, delivered: u64) {
        self.measured = InMeasurement::Since(self.counts(delivered));
    }

    /// Ends the measured time, when `delivered` bytes have arrived.
    pub fn end_measured(&mut self, delivered: u64) {
        self.measured = InMeasurement::Exactly(self.in_window(delivered));
    }

    /// Counters in the measured time, when `delivered` bytes have arrived.
    pub fn in_window(&self, delivered: u64) -> MessageCounts {
        match self.measured {
            InMeasurement::Since(before) => self.counts(delivered).since(before),
            InMeasurement::Exactly(counts) => counts,
        }
    }

    fn counts(&self, delivered: u64) -> MessageCounts {
        let Message { retransmits, timeouts, tally, .. } = *self;
        MessageCounts { delivered, retransmits, timeouts, tally }
    }

    /// Takes the arrivals from another copy of the same message.
    pub fn take_arrived(&mut self, other: &Message) {
        self.tally.take_arrived(&other.tally);
        self.received = other.received;
        if let (InMeasurement::Exactly(mine), InMeasurement::Exactly(theirs)) =
            (&mut self.measured, &other.measured)
        {
            mine.delivered = theirs.delivered;
            mine.tally.take_arrived(&theirs.tally);
        }
    }

    /// True for a backlogged flow.
    pub fn is_backlogged(&self) -> bool {
        self.is_backlogged
    }
}

/// Messages of a connection's stream, in order. A fully acknowledged message stays until both ends know of
/// its end; the sender ignores it.
#[derive(Debug, Clone, Default)]
pub struct Messages {
    /// The oldest message. It is outside the queue because most connections have no other message.
    oldest: Option<Message>,
    others: VecDeque<Message>,
    /// Number of leading messages that are fully acknowledged.
    finished: u32,
    end: u64,
}

impl Messages {
    /// Appends a message of `size` bytes, or [`Bytes::MAX`] for an endless message. Returns its end in the
    /// stream.
    pub fn push(&mut self, flow: Flow, size: Bytes) -> u64 {
        let start = self.end;
        self.end = start.saturating_add(size.get());
        let message = Message::new(flow, start..self.end);
        match &self.oldest {
            None => self.oldest = Some(message),
            Some(_) => self.others.push_back(message),
        }
        self.end
    }

    /// End of the last message in the stream.
    #[inline]
    pub fn end(&self) -> u64 {
        self.end
    }

    /// True if there is no message, acknowledged or not.
    pub fn is_empty(&self) -> bool {
        self.oldest.is_none()
    }

    /// True if there is exactly one message, and it is not fully acknowledged.
    pub fn is_single(&self) -> bool {
        self.oldest.is_some() && self.others.is_empty() && self.finished == 0
    }

    /// The oldest message that is not fully acknowledged.
    #[inline]
    pub fn first(&self) -> Option<&Message> {
        match self.finished.checked_sub(1) {
            None => self.oldest.as_ref(),
            Some(place) => self.others.get(place as usize),
        }
    }

    /// A law's view of the oldest message at `now`. Bytes below `una` are acknowledged, byte `nxt` is the
    /// next to send, and `max` is one past the highest byte sent.
    #[inline]
    pub fn view(
        &self,
        (now, srtt, mss): (Instant, Span, Bytes),
        (una, nxt, max): (u64, u64, u64),
    ) -> FlowView {
        let first = self.first();
        let (start, end) = first.map_or((0, 0), |message| (message.start, message.end));
        let remaining = if end == u64::MAX { u64::MAX } else { end.saturating_sub(una) };
        FlowView {
            now,
            srtt,
            mss,
            sent: Bytes::new(max.min(end).saturating_sub(start)),
            remaining: Bytes::new(remaining),
            flight: Bytes::new(nxt - una),
            deadline: first.and_then(|message| message.deadline),
            role: first.map_or(Role::Unknown, |message| message.role),
        }
    }

    /// Mutable access to [`Messages::first`].
    pub fn first_mut(&mut self) -> Option<&mut Message> {
        match self.finished.checked_sub(1) {
            None => self.oldest.as_mut(),
            Some(place) => self.others.get_mut(place as usize),
        }
    }

    /// The message that contains byte `seq`, most often the oldest one.
    #[inline]
    pub fn of(&self, seq: u64) -> Option<&Message> {
        match &self.oldest {
            Some(oldest) if seq < oldest.end => Some(oldest),
            _ => self.others.iter().find(|message| seq < message.end),
        }
    }

    /// Mutable access to [`Messages::of`]. `None` also if the byte's message has been taken.
    #[inline]
    pub fn of_mut(&mut self, seq: u64) -> Option<&mut Message> {
        let message = match &mut self.oldest {
            Some(oldest) if seq < oldest.end => Some(oldest),
            _ => self.others.iter_mut().find(|message| seq < message.end),
        };
        message.filter(|message| message.start <= seq)
    }

    /// All messages.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Message> {
        self.oldest.iter_mut().chain(&mut self.others)
    }

    /// True if the first message is fully acknowledged when all bytes below `acked` are.
    #[inline]
    pub fn has_finished(&self, acked: u64) -> bool {
        self.first().is_some_and(|message| message.end <= acked)
    }

    /// Ends the last message, which is backlogged, at byte `end`.
    pub fn stop(&mut self, end: u64) {
        let last = self.others.back_mut().or(self.oldest.as_mut());
        last.into_iter().for_each(|message| message.end = end);
        self.end = end;
    }

    /// Finishes the messages whose bytes all lie below `acked`, which was acknowledged at `now`. If the
    /// sender is in another part, a backlogged message ends at `acked`.
    pub fn finish(&mut self, acked: u64, now: Instant) {
        if self.end == u64::MAX {
            self.stop(acked);
        }
        while let Some(message) = self.first_mut().filter(|message| message.end <= acked) {
            message.finish = Some(now);
            self.finished += 1;
        }
    }

    /// Notes that the receiver has all bytes below `received` from `now` on.
    #[inline(never)] // keeps the path of packets within a message short
    pub fn receive(&mut self, received: u64, now: Instant) {
        let whole = self.iter_mut().take_while(|message| message.end <= received);
        whole.for_each(|message| message.received = message.received.or(Some(now)));
    }

    /// Takes the oldest message if it finished by `until`.
    pub fn take_finished(&mut self, until: Instant) -> Option<Message> {
        self.oldest.filter(|oldest| oldest.finish.is_some_and(|finish| finish <= until))?;
        self.finished -= 1;
        std::mem::replace(&mut self.oldest, self.others.pop_front())
    }
}
