//! The sender with RACK-TLP (RFC 8985): its ACKs, its timers, and what it sends.

use super::Sender;
use crate::host::{EndpointContext, PacketSink};
use crate::packet::Packet;
use crate::specs::TcpSpec;
use crate::tcp::recovery::Phase;
use crate::tcp::tlp::Answer;
use crate::tcp::usage::End;
use shortflow_cc::Cause;
use shortflow_units::{Instant, Span};

impl Sender {
    /// Handles an ACK: §6.2, then §7.4.2, then sending.
    #[inline(never)] // keeps the path of other senders short
    pub(super) fn on_ack_by_rack(
        &mut self,
        ack: &Packet,
        cx: EndpointContext<'_>,
        out: &mut impl PacketSink,
    ) {
        let (blocks, advances) = (ack.sack(), ack.seq > self.stream.snd_una);
        let recovering = self.loss.phase != Phase::Open;
        let Some(state) = self.rack.as_deref_mut() else { return };
        let delivery = state.rack.on_ack(cx.now, ack.seq, blocks.ranges(ack.seq), &mut self.loss.scoreboard);
        if advances {
            self.on_new_ack(ack, cx, out);
        } else {
            self.observe(ack, cx);
        }
        let Some(state) = self.rack.as_deref_mut() else { return };
        if advances {
            (state.rto, state.progress) = (self.alarm.deadline, true); // RFC 6298 (5.2), (5.3)
        }
        let duplicate = blocks.duplicate(ack.seq);
        let recovered = recovering && self.loss.phase == Phase::Open;
        let was_spurious = duplicate.is_some_and(|(_, end)| !state.tlp.ended_at(end));
        state.rack.adapt(self.stream.snd_una, self.stream.snd_max, was_spurious, recovered);
        let answer = Answer {
            ack: ack.seq,
            duplicate: duplicate.map(|(_, end)| end),
            is_bare: !advances && blocks.is_empty(),
            measured: delivery.measured,
        };
        if state.tlp.on_ack(answer) && self.loss.phase == Phase::Open {
            self.decrease(Cause::FastRetransmit, self.stream.window_bytes(cx.tcp), cx); // the flight when the probe left is unknown
        }
        let lost = self.detect(cx);
        if let Some(state) = self.rack.as_deref_mut() {
            state.prr.on_ack(delivery.bytes, state.rack.pipe(), advances && !lost, cx.tcp.mss.get());
        }
        self.send_by_rack(cx, out);
        self.set_timers(cx);
    }

    /// Handles the reordering timer (RACK) or the probe timer (TLP) if one is due. Returns false if the
    /// retransmission timer is due.
    pub(super) fn on_alarm(&mut self, cx: EndpointContext<'_>, out: &mut impl PacketSink) -> bool {
        let Some(state) = self.rack.as_deref() else { return false };
        let is_due = |at: Option<Instant>| at.is_some_and(|at| at <= cx.now);
        if is_due(state.reorder) {
            self.detect(cx);
            self.send_by_rack(cx, out);
        } else if is_due(state.probe) {
            self.send_probe(cx, out);
        } else {
            return false;
        }
        self.set_timers(cx);
        true
    }

    /// After a timeout, §6.3: resends the first segment even if the window is full, then other segments
    /// within the window.
    pub(super) fn resend_by_rack(&mut self, cx: EndpointContext<'_>, out: &mut impl PacketSink) {
        let reo_wnd = self.reo_wnd();
        let Some(state) = self.rack.as_deref_mut() else { return };
        state.on_timeout(cx.now, reo_wnd);
        if let Some((start, end)) = state.rack.first() {
            self.send_segment(start, end, cx, out);
        }
        self.send_by_rack(cx, out);
        self.set_timers(cx);
    }

    /// Sends lost segments, then new data, within the window.
    pub(super) fn send_by_rack(&mut self, cx: EndpointContext<'_>, out: &mut impl PacketSink) {
        let end = loop {
            let Some((start, end)) = self.next_by_rack(cx.tcp) else { break self.end_by_rack(cx.tcp) };
            if self.is_paced_out(cx.now) {
                break End::Pacer;
            }
            if self.is_held_by_card(cx.now) {
                break End::Card(start);
            }
            self.send_segment(start, end, cx, out);
            self.stream.snd_nxt = self.stream.snd_max;
        };
        self.usage.note_end(end, &mut self.card, &mut self.stream, cx);
    }

    /// Reason why no segment may be sent.
    fn end_by_rack(&self, tcp: &TcpSpec) -> End {
        let pipe = self.rack.as_deref().map_or(0, |state| state.rack.pipe());
        let is_full = pipe + self.stream.segment_size(u64::MAX, tcp) > self.stream.window_bytes(tcp);
        if is_full { End::Window } else { End::Data }
    }

    /// The next segment that may be sent. If the network is empty, one segment may always leave.
    fn next_by_rack(&mut self, tcp: &TcpSpec) -> Option<(u64, u64)> {
        let window = self.stream.window_bytes(tcp);
        let state = self.rack.as_deref_mut()?;
        let allowed = if self.loss.phase == Phase::Recovery { state.prr.window() } else { window };
        let pipe = state.rack.pipe();
        let room = allowed.saturating_sub(pipe);
        if let Some((start, end)) = state.rack.first_lost() {
            return (pipe == 0 || end - start <= room).then_some((start, end));
        }
        let end = self.segment_end(self.stream.snd_max, room, tcp)?;
        (end - self.stream.snd_max <= room || self.may_exceed(pipe)).then_some((self.stream.snd_max, end))
    }

    /// §7.3: sends a probe, which is new data or else the last segment again, as soon as the pacer permits.
    fn send_probe(&mut self, cx: EndpointContext<'_>, out: &mut impl PacketSink) {
        if self.is_paced_out(cx.now) {
            let paced = self.path.as_deref().and_then(|path| path.pace.deadline);
            return self.rack.iter_mut().for_each(|state| state.probe = paced);
        }
        let new =
            self.segment_end(self.stream.snd_max, u64::MAX, cx.tcp).map(|end| (self.stream.snd_max, end));
        let last = self.rack.as_deref().and_then(|state| state.rack.last());
        let Some((start, end)) = new.or(last) else { return };
        self.send_segment(start, end, cx, out);
        self.stream.snd_nxt = self.stream.snd_max;
        let rto = cx.now + self.rto.rto();
        if let Some(state) = self.rack.as_deref_mut() {
            state.tlp.on_sent(self.stream.snd_max, new.is_none());
            state.rto = Some(rto);
        }
    }

    /// Runs §6.2 steps 4 and 5. Returns true if they find new losses.
    fn detect(&mut self, cx: EndpointContext<'_>) -> bool {
        let reo_wnd = self.reo_wnd();
        let Some(state) = self.rack.as_deref_mut() else { return false };
        let found = state.rack.detect(cx.now, reo_wnd, &self.loss.scoreboard);
        state.reorder = found.wait.map(|wait| cx.now + wait);
        if found.lost && self.loss.phase == Phase::Open {
            self.enter_recovery_by_rack(cx);
        }
        found.lost
    }

    fn reo_wnd(&self) -> Span {
        let (srtt, recovering) = (self.rto.srtt(), self.loss.phase != Phase::Open);
        let state = self.rack.as_deref();
        state.map_or(Span::ZERO, |state| state.reo_wnd(srtt, recovering, self.loss.dupthresh))
    }

    /// Enters recovery and reduces the window at once; RFC 6937 then spreads the effect. The flight excludes
    /// segments of limited transmit (RFC 5681 §3.2), because `decrease` halves at most the window.
    fn enter_recovery_by_rack(&mut self, cx: EndpointContext<'_>) {
        let out = self.stream.snd_max - self.stream.snd_una;
        self.decrease(Cause::FastRetransmit, out, cx);
        (self.loss.phase, self.loss.recover) = (Phase::Recovery, Some(self.stream.snd_max));
        let ssthresh = self.stream.window_bytes(cx.tcp);
        if let Some(state) = self.rack.as_deref_mut() {
            state.enter_recovery(out, ssthresh, cx.tcp.mss.get());
        }
    }

    /// Sets the deadline of the next of the timers.
    pub(super) fn set_timers(&mut self, cx: EndpointContext<'_>) {
        let (srtt, is_open) = (self.rto.srtt(), self.loss.phase == Phase::Open);
        if let Some(state) = self.rack.as_deref_mut() {
            self.alarm.deadline = state.set_timers(is_open, srtt, cx);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::testing::{self, tcp};
    use shortflow_cc::TransportConfig;

    const MSS: u64 = 1460;

    /// Senders and ACKs in whole segments, numbered from 0.
    struct Bench(testing::Bench);

    fn at(us: u64) -> Instant {
        Instant::ZERO + Span::from_micros(us)
    }

    fn numbers(sent: Vec<(u64, u32)>) -> Vec<u64> {
        sent.into_iter().map(|(seq, _)| seq / MSS).collect()
    }

    /// Sends a message of `segments` segments: the first ten leave at time zero, and the first is
    /// acknowledged after 300 µs.
    fn bench(segments: u64) -> Bench {
        let tcp = TcpSpec { initial_window: 10.0, ..tcp() };
        let transport = TransportConfig::with("sack", [("recovery", "rack")]).unwrap();
        let mut bench = Bench(testing::Bench::of(&transport, tcp, segments * MSS));
        assert_eq!(numbers(bench.0.take()), (0..segments.min(10)).collect::<Vec<_>>());
        bench.ack(300, 1, &[]);
        bench
    }

    impl Bench {
        fn push(&mut self, now: u64, segments: u64) {
            self.0.now = at(now);
            self.0.push(segments * MSS);
        }

        /// Receives an ACK of the first `whole` segments with SACK blocks. Returns the released segments.
        fn ack(&mut self, now: u64, whole: u64, block: &[(u64, u64)]) -> Vec<u64> {
            let blocks: Vec<_> = block.iter().map(|(first, end)| (first * MSS, end * MSS)).collect();
            self.0.now = at(now);
            numbers(self.0.ack(whole * MSS, false, &blocks))
        }

        /// Fires the timer, which is due now.
        fn expire(&mut self, now: u64) -> Vec<u64> {
            assert_eq!(self.deadline(), Some(at(now)));
            self.0.now = at(now);
            numbers(self.0.expire())
        }

        fn deadline(&self) -> Option<Instant> {
            self.0.sender.alarm.deadline
        }

        fn cwnd(&self) -> f64 {
            self.0.sender.window().cwnd
        }
    }

    /// With an SRTT of 300 µs, the probe leaves 600 µs after the ACK at 300 µs. The retransmission timer then
    /// starts from the probe (§7.3).
    #[test]
    fn one_probe_and_then_the_retransmission_timer() {
        let mut bench = bench(10);
        assert_eq!(bench.expire(900), [9], "no new data: the last segment again");
        assert_eq!(bench.deadline(), Some(at(900 + 10_000)));
        assert_eq!(bench.expire(10_900), [1]);
        assert_eq!(bench.cwnd(), 1.0);
    }

    /// A probe with new data exceeds the window of eleven segments and does not restart the probe timer.
    #[test]
    fn a_probe_is_new_data_where_there_is_some() {
        let mut bench = bench(30);
        assert_eq!(bench.0.sender.stream.snd_max, 12 * MSS);
        assert_eq!(bench.expire(900), [12]);
        assert_eq!(bench.deadline(), Some(at(10_900)));
    }

    /// §7.2: no probe leaves while segments are SACKed. The reordering window is a quarter of 300 µs and ends
    /// 375 µs after the second segment left.
    #[test]
    fn during_loss_detection_no_probe_is_sent() {
        let mut bench = bench(10);
        assert!(bench.ack(310, 1, &[(2, 3)]).is_empty());
        assert_eq!(bench.expire(385), [1]);
        assert_eq!(bench.cwnd(), 4.5);
        assert_eq!(
            bench.deadline(),
            Some(at(10_385)),
            "the timer of retransmissions, since the first was retransmitted"
        );
        bench.ack(400, 1, &[(2, 4)]);
        assert_eq!(bench.deadline(), Some(at(10_385)), "an ACK that does not advance");
    }

    /// Two of nine segments are lost and three are SACKed. The target window is 4.5 segments, and four are in
    /// the network. The first lost segment leaves at once and starts the retransmission timer. The second
    /// leaves when it fits.
    #[test]
    fn a_lost_segment_waits_until_the_window_has_room_for_all_of_it() {
        let mut bench = bench(10);
        for (now, end, released) in [(310, 6, &[1][..]), (320, 7, &[]), (330, 8, &[2])] {
            assert_eq!(bench.ack(now, 1, &[(3, end)]), released, "{now}");
            assert_eq!(bench.deadline(), Some(at(10_310)), "{now}");
        }
    }

    /// Seven of eleven segments are lost, and the target window is 5.5 segments. Each ACK releases as many
    /// segments as it delivers, and one more if it advances.
    #[test]
    fn after_heavy_loss_an_ack_that_advances_releases_one_more() {
        let mut bench = bench(100);
        let released = [(310, 1, 11), (320, 1, 12), (620, 2, 12)]
            .map(|(now, whole, end)| bench.ack(now, whole, &[(8, end)]));
        assert_eq!(released, [vec![1, 2, 3], vec![4], vec![5, 6]]);
    }

    /// §7.4.2: the probe repeated the last segment, and the next message begins. An ACK beyond the probe
    /// without DSACK shows that the last segment was lost, and halves the window of nineteen segments. With
    /// DSACK the segment was only late.
    #[test]
    fn a_loss_that_a_probe_has_repaired_cuts_the_window() {
        for (duplicate, cwnd) in [(&[][..], 10.0), (&[(9, 10)][..], 20.0)] {
            let mut bench = bench(10);
            (2..10).for_each(|whole| drop(bench.ack(300, whole, &[])));
            assert_eq!(bench.expire(900), [9]);
            bench.ack(1200, 10, &[]);
            assert_eq!((bench.deadline(), bench.cwnd()), (None, 20.0 - 1.0 + 1.0));
            bench.push(2000, 5);
            bench.ack(2300, 11, duplicate);
            assert_eq!(
                bench.cwnd().floor(),
                cwnd + if duplicate.is_empty() { 0.0 } else { 1.0 },
                "{duplicate:?}"
            );
        }
    }

    /// RFC 6937: the window is twelve segments, and limited transmit has sent fourteen when three are SACKed.
    /// The third SACK releases a retransmission. Of the next seven arrivals, three release a segment each.
    /// Then six are in the network, the target window, and each arrival releases one segment.
    #[test]
    fn recovery_reduces_in_proportion() {
        let mut bench = bench(100);
        bench.ack(300, 2, &[]);
        assert_eq!(bench.cwnd(), 12.0);
        let released: Vec<usize> = (4..14).map(|end| bench.ack(310, 2, &[(3, end)]).len()).collect();
        assert_eq!(bench.cwnd(), 6.0);
        assert_eq!(released, [1, 1, 1, 0, 0, 0, 1, 0, 0, 1]);
        assert_eq!(bench.ack(620, 14, &[]).len(), 2, "two have arrived");
    }

    /// Of ten segments, the second and the last are lost. The handshake took 300 µs; behind a queue, the
    /// first segment takes 400 µs. The second segment leaves again after 410 µs and is acknowledged 310 µs
    /// later, when the queue is empty. As 310 µs exceeds the handshake's 300 µs, the ACK is for the
    /// retransmission, so the last segment, sent before it, is lost. With a minimum of 400 µs, the ACK would
    /// count as that of the original (RFC 8985 §6.2 step 2), and the last segment would wait for the timeout.
    #[test]
    fn after_a_handshake_retransmissions_differ_from_originals() {
        for handshake in [false, true] {
            let tcp = TcpSpec { initial_window: 10.0, handshake, ..tcp() };
            let transport = TransportConfig::with("sack", [("recovery", "rack")]).unwrap();
            let sender = Sender::new(testing::IDENTITY, &transport, &tcp, Span::from_millis(10));
            let sender = sender.with_round_trip(Span::from_micros(300));
            let mut bench = Bench(testing::Bench::new(sender, tcp, 10 * MSS));
            let start = if handshake { 300 } else { 0 };
            if handshake {
                bench.0.now = at(start);
                let cx = EndpointContext { now: bench.0.now, tcp: &bench.0.tcp };
                bench.0.sender.on_syn_ack(cx, &mut bench.0.sent);
            }
            bench.ack(start + 400, 1, &[]);
            assert_eq!(bench.ack(start + 410, 1, &[(2, 5)]), [1]);
            assert!(bench.ack(start + 415, 1, &[(2, 9)]).is_empty());
            assert_eq!(bench.ack(start + 720, 9, &[]), [9], "{handshake}");
        }
    }

    /// After a timeout the first segment leaves, even if other segments may be in the network.
    #[test]
    fn a_timeout_sends_segments_within_the_window() {
        let mut bench = bench(12);
        assert_eq!(bench.expire(900), [11]);
        assert_eq!(bench.expire(10_900), [1]);
        assert_eq!(bench.ack(11_200, 2, &[]), [2, 3], "slow start from one");
    }
}
