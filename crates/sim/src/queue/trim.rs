//! NDP's switch queue — Handley et al., "Re-architecting datacenter networks and stacks for low latency and
//! high performance", SIGCOMM 2017, §3.1. The queue of data is short. A packet that finds it full loses its
//! payload, and its header is forwarded before data.
//!
//! | paper | here |
//! |---|---|
//! | data queue of eight packets | [`Params::data`] waiting packets, without the packet in transmission |
//! | queue of trimmed headers, acknowledgements and pulls | [`Params::headers`] packets, of any type without payload |
//! | weighted round robin, ten headers per data packet | [`Params::weight`], `headers_sent` |
//! | a fair coin decides whether the arriving packet or the last waiting packet is trimmed | [`Params::tail`] |
//!
//! Choices:
//! - A header for which the queue of headers has no room goes back to the sender of its data ([`Params::returns`],
//!   return to sender). It goes back once: a returned header that finds no room is dropped, and so are
//!   acknowledgements and pulls. The port's buffer, which both queues share, has no room either if it is full. In the published simulator, headers have twice the bytes of the data queue. The
//!   default of [`Params::headers`] is the memory of eight packets of 9 KB, in headers of 64 bytes. In a
//!   buffer in packets, a header counts as a packet.
//! - The authors' simulator counts the packet in transmission among the eight. Here eight packets wait
//!   beside it.
//! - Pauses (`switch.xoff`) stop data only. Trimmed packets leave, as control packets do.
//! - Later versions of the authors' simulator give headers strict priority: 100,000 headers per data packet.
//! - A trimmed packet has the size of a packet without payload: `tcp.header`, and the framing of `tcp.wire`.
//! - A packet that finds the port idle does not change the round robin, which counts headers only while data
//!   waits.

use super::fifo::Fifo;
use super::{
    Backlog, DropReason, PortSetup, QueueInfo, QueuedPacket, Room, Scheduler, SchedulerEffects, TrafficClass,
};
use crate::config::{Flag, keys};
use crate::engine::Stream;
use shortflow_units::{Bytes, Instant, Occupancy};

/// Registry entry.
pub(crate) const INFO: QueueInfo = QueueInfo {
    name: "trim",
    summary: "a short queue of data; packets that find it full lose their payload, and headers go first",
    source: "NDP, SIGCOMM 2017",
    by_priority: false,
    reads_k: false,
    trims: true,
};

keys! {
    /// Limits and order of the two queues.
    #[derive(Copy)]
    pub struct Params {
        /// number of data packets that may wait, without the packet in transmission
        pub data: u32 = "8", 1..=1_000_000u32;
        /// number of trimmed packets and control packets that may wait
        pub headers: u32 = "1125", 1..=1_000_000u32;
        /// number of headers sent per data packet while both wait
        pub weight: u32 = "10", 1..=1_000_000u32;
        /// probability that the last waiting data packet is trimmed instead of the arriving packet
        pub tail: f64 = "0.5", 0.0..=1.0;
        /// whether a switch returns a header that finds no room to the sender of its data
        pub returns: bool = "true", Flag;
    }
}

impl Params {
    /// Bytes that full queues send at most before the last packet: all headers, the data packets of the round
    /// robin among them, and the data queue.
    pub fn most_ahead(&self, header: Bytes, packet: Bytes) -> Bytes {
        let headers = u64::from(self.headers);
        let packets = headers / u64::from(self.weight) + u64::from(self.data) + 1;
        Bytes::new(headers * header.get() + packets * packet.get())
    }
}

/// The two queues of a port.
#[derive(Debug, Clone)]
pub struct Trim {
    params: Params,
    /// Size of a trimmed packet.
    header: Bytes,
    coin: Stream,
    headers: Fifo,
    data: Fifo,
    /// Headers sent while data waited, since the last data packet that was sent while headers waited.
    headers_sent: u32,
}

impl Trim {
    /// The discipline of a port.
    pub fn new(params: Params, port: PortSetup) -> Self {
        let PortSetup { header, seeds, index, .. } = port;
        let (headers, data) = (Fifo::default(), Fifo::default());
        Trim { params, header, coin: seeds.stream("trim", index), headers, data, headers_sent: 0 }
    }

    /// Returns a header that finds no room, or drops it.
    fn refuse(&self, packet: QueuedPacket, effects: &mut SchedulerEffects) {
        match self.params.returns {
            true => effects.give_back(packet),
            false => effects.drop(DropReason::BufferFull, packet),
        }
    }

    fn has_room_for_header(&self, room: Room, size: Bytes) -> bool {
        room.fits(size) && self.headers.backlog().packets < self.params.headers
    }
}

impl Scheduler for Trim {
    fn enqueue(&mut self, room: Room, arriving: QueuedPacket, effects: &mut SchedulerEffects) {
        let size = arriving.wire_size();
        if arriving.class == TrafficClass::CONTROL {
            return match self.has_room_for_header(room, size) {
                true => self.headers.push(arriving),
                false => self.refuse(arriving, effects),
            };
        }
        let fits = room.fits(size);
        if fits && self.data.backlog().packets < self.params.data {
            return self.data.push(arriving);
        }
        let last = if fits && self.coin.unit() < self.params.tail { self.data.pop_last() } else { None };
        let mut cut = match last {
            Some(last) => {
                self.data.push(arriving);
                last
            }
            None => arriving,
        };
        let has_room = self.has_room_for_header(room, self.header.min(cut.wire_size()));
        if !has_room && !self.params.returns {
            return effects.drop(DropReason::BufferFull, cut);
        }
        effects.trim(&mut cut, self.header.get() as u16);
        match has_room {
            true => self.headers.push(cut),
            false => effects.give_back(cut),
        }
    }

    fn dequeue(&mut self, _: Instant, _: &mut SchedulerEffects) -> Option<QueuedPacket> {
        if self.headers.is_empty() || self.data.is_empty() {
            return self.headers.pop().or_else(|| self.data.pop());
        }
        if self.headers_sent < self.params.weight {
            self.headers_sent += 1;
            return self.headers.pop();
        }
        self.headers_sent = 0;
        self.data.pop()
    }

    fn dequeue_control(&mut self) -> Option<QueuedPacket> {
        self.headers.pop()
    }

    fn backlog(&self) -> Backlog {
        self.headers.backlog() + self.data.backlog()
    }

    fn may_return(&self, limit: Occupancy, arrivals: u32) -> bool {
        let may_fill = self.headers.backlog().packets.saturating_add(arrivals) > self.params.headers;
        self.params.returns && (may_fill || limit != Occupancy::Unlimited)
    }

    fn passes_idle(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::Fate;
    use super::super::testing::{Admission, ack, drain, offer, offer_within, packet, port, queued, seqs};
    use super::*;
    use crate::packet::{Packet, PacketId};

    const FULL: Fate = Fate::Dropped(DropReason::BufferFull);

    fn queue(params: Params) -> Trim {
        Trim::new(params, port("unlimited"))
    }

    /// Sequence numbers in order of departure. Headers have a minus sign.
    fn departures(queue: &mut Trim) -> Vec<i64> {
        let is_header = |packet: &Packet| packet.wire == 40;
        drain(queue).iter().map(|packet| packet.seq as i64 * if is_header(packet) { -1 } else { 1 }).collect()
    }

    /// Eight of twelve packets keep their payload. Four headers go before them.
    #[test]
    fn packets_beyond_the_data_queue_are_trimmed_to_headers() {
        let mut queue = queue(Params { tail: 0.0, ..Params::default() });
        (1..=12).for_each(|seq| assert_eq!(offer(&mut queue, packet(0, seq, 0)), Admission::default()));
        assert_eq!(queue.backlog(), Backlog { packets: 12, bytes: Bytes::new(8 * 1500 + 4 * 40) });
        assert_eq!(departures(&mut queue), [-9, -10, -11, -12, 1, 2, 3, 4, 5, 6, 7, 8]);
    }

    /// If the coin decides so, the arriving packet takes the place of the last waiting packet.
    #[test]
    fn the_last_waiting_packet_may_be_trimmed_in_place_of_the_arriving_one() {
        let mut always = queue(Params { tail: 1.0, ..Params::default() });
        (1..=10).for_each(|seq| assert_eq!(offer(&mut always, packet(0, seq, 0)), Admission::default()));
        assert_eq!(departures(&mut always), [-8, -9, 1, 2, 3, 4, 5, 6, 7, 10]);
    }

    /// Half of 10,000 packets are trimmed on arrival, within three standard deviations of 50 packets.
    #[test]
    fn the_coin_is_fair() {
        let mut queue = queue(Params::default());
        (0..8).for_each(|seq| assert_eq!(offer(&mut queue, packet(0, seq, 0)), Admission::default()));
        let arriving = (8..10_008).filter(|seq| {
            offer(&mut queue, packet(0, *seq, 0));
            queue.headers.pop_last().map(|last| last.id) == Some(PacketId(*seq as u32))
        });
        let arriving = arriving.count();
        assert!((4_850..=5_150).contains(&arriving), "{arriving} of 10,000");
    }

    /// 22 headers and three data packets wait. Ten headers go for each data packet while both wait.
    #[test]
    fn ten_headers_go_for_each_data_packet() {
        let mut queue = queue(Params { tail: 0.0, data: 3, ..Params::default() });
        (1..=25).for_each(|seq| assert_eq!(offer(&mut queue, packet(0, seq, 0)), Admission::default()));
        let order = departures(&mut queue);
        let places: Vec<usize> = (0..25).filter(|place| order[*place] > 0).collect();
        assert_eq!(places, [10, 21, 24]);
    }

    /// The third packet loses its payload, and its header finds no room.
    #[test]
    fn a_header_without_room_is_returned_or_dropped() {
        for (returns, fates) in
            [(true, vec![Fate::Trimmed { was: 1500 }, Fate::Returned]), (false, vec![FULL])]
        {
            let mut queue = queue(Params { tail: 0.0, data: 1, headers: 1, returns, ..Params::default() });
            (1..=2).for_each(|seq| assert_eq!(offer(&mut queue, packet(0, seq, 0)), Admission::default()));
            let room = Room { found: queue.backlog(), limit: Occupancy::Unlimited };
            let mut effects = SchedulerEffects::default();
            queue.enqueue(room, queued(&packet(0, 3, 0)), &mut effects);
            assert_eq!(effects.fates.iter().map(|(fate, _)| *fate).collect::<Vec<_>>(), fates);
            assert_eq!(departures(&mut queue), [-2, 1]);
        }
    }

    /// Acknowledgements wait with the headers, and are dropped as headers are.
    #[test]
    fn control_packets_go_with_the_headers() {
        let mut queue = queue(Params { tail: 0.0, data: 1, headers: 2, returns: false, ..Params::default() });
        offer(&mut queue, packet(0, 1, 0));
        assert_eq!(offer(&mut queue, ack(0)), Admission::default());
        assert_eq!(offer(&mut queue, packet(0, 2, 0)), Admission::default());
        assert_eq!(offer(&mut queue, packet(0, 3, 0)), Admission::DROPPED);
        assert_eq!(offer(&mut queue, ack(0)), Admission::DROPPED);
        assert_eq!(seqs(&drain(&mut queue)), [0, 2, 1]);
    }

    /// A buffer of 3,080 bytes holds two packets of 1,500 bytes and two headers. The fifth packet finds no
    /// room for its header.
    #[test]
    fn the_buffer_limits_both_queues_together() {
        let mut queue = queue(Params { returns: false, ..Params::default() });
        let dropped = (0..5).map(|seq| offer_within("3080B", &mut queue, packet(0, seq, 0)).drops);
        assert_eq!(dropped.collect::<Vec<_>>(), [0, 0, 0, 0, 1]);
    }
}
