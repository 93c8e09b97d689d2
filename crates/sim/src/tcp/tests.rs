//! Message data that the sender gives to switches and laws.

use super::Sender;
use super::testing::{Bench, IDENTITY, tcp};
use crate::host::EndpointContext;
use crate::host::priority::PriorityRule;
use crate::packet::{Packet, PacketType};
use crate::specs::TcpSpec;
use shortflow_cc::{AckSample, Cause, CongestionControl, FlowView, TransportConfig, Window};
use shortflow_spec::read_toml;
use shortflow_units::{Bytes, Instant, Span};
use std::sync::{Arc, Mutex};

/// NewReno sends 30 KB, of which ten segments of 1460 bytes leave at once.
fn bench(by: &str) -> Bench {
    let tcp = TcpSpec { initial_window: 10.0, ..tcp() };
    let rule = read_toml(&format!("by = '{by}'"), |reader| PriorityRule::read(&reader)).unwrap();
    let transport = TransportConfig::named("newreno").unwrap();
    let sender = Sender::new(IDENTITY, &transport, &tcp, Span::from_millis(10)).with_priority(rule);
    Bench::new(sender, tcp, 30_000)
}

/// First byte and priority of each sent packet if the second segment is lost. The ACK of the first segment
/// releases two segments, and the third duplicate ACK resends the second segment.
fn lose_the_second_segment(bench: &mut Bench) -> Vec<(u64, u64)> {
    let mut sent: Vec<Packet> = bench.sent.drain(..).collect();
    for _ in 0..4 {
        let ack = bench.sender.stream.identity.control(1460, &bench.tcp);
        bench.sender.on_ack(&ack, EndpointContext { now: Instant::ZERO, tcp: &bench.tcp }, &mut sent);
    }
    sent.iter().map(|packet| (packet.seq, packet.priority)).collect()
}

#[test]
fn each_packet_carries_the_priority_of_its_moment() {
    // Twelve segments in order, then the second segment again, after 17,520 bytes were sent and 1460
    // acknowledged.
    let starts: Vec<u64> = (0..12).map(|segment| segment * 1460).chain([1460]).collect();
    let sent = |i: usize| if i < 12 { starts[i] } else { 17_520 };
    let cases: [(&str, &dyn Fn(usize) -> u64); 3] = [
        ("sent", &sent),
        ("remaining", &|i| if i < 10 { 30_000 } else { 28_540 }),
        ("levels", &|i| u64::from(sent(i) >= 10_000)),
    ];
    for (by, priority) in cases {
        let expected: Vec<(u64, u64)> =
            starts.iter().enumerate().map(|(i, &seq)| (seq, priority(i))).collect();
        assert_eq!(lose_the_second_segment(&mut bench(by)), expected, "{by}");
    }
}

#[test]
fn the_law_sees_sent_and_remaining_bytes() {
    let mut bench = bench("none");
    let view = |bench: &Bench| {
        let view = bench.sender.flow_view(EndpointContext { now: Instant::ZERO, tcp: &bench.tcp });
        [view.sent, view.remaining, view.flight].map(Bytes::get)
    };
    assert_eq!(view(&bench), [14_600, 30_000, 14_600], "ten segments are out, none acknowledged");
    bench.ack(1460, false, &[]);
    assert_eq!(view(&bench), [17_520, 28_540, 16_060]);
    let released = [(); 3].map(|()| bench.ack(1460, false, &[]));
    assert_eq!(released[2].last(), Some(&(1460, 1460)), "retransmitted");
    assert_eq!(view(&bench), [17_520, 28_540, 16_060], "which is neither new nor acknowledged");
}

/// Twenty segments of 1460 bytes leave at once, and the first is acknowledged.
fn with_recovery(recovery: &str) -> Bench {
    let transport = TransportConfig::with("sack", [("recovery", recovery)]).unwrap();
    let mut bench = Bench::of(&transport, TcpSpec { initial_window: 20.0, ..tcp() }, 1_000_000);
    bench.ack(1460, false, &[]);
    bench
}

/// Captures distinguish a connection request from an ACK by its kind.
#[test]
fn a_handshake_begins_with_a_request() {
    let transport = TransportConfig::named("newreno").unwrap();
    let mut peer = Bench::of(&transport, TcpSpec { handshake: true, ..tcp() }, 2920);
    peer.sent.clear();
    let cx = EndpointContext { now: Instant::ZERO, tcp: &peer.tcp };
    peer.sender.on_timeout(cx, &mut peer.sent);
    peer.sender.on_syn_ack(cx, &mut peer.sent);
    assert!(peer.sent.iter().map(|packet| packet.kind).eq([
        PacketType::Syn,
        PacketType::Data,
        PacketType::Data
    ]));
}

/// RFC 5681 §2 and RFC 6675 §2: old ACKs never signal a loss. With SACK, neither do ACKs without blocks or
/// with known blocks.
#[test]
fn acks_that_are_no_duplicates_repair_nothing() {
    let mut newreno = with_recovery("newreno");
    let mut sack = with_recovery("sack");
    assert_eq!(sack.ack(1460, false, &[(2920, 4380)]), []);
    for _ in 0..5 {
        assert_eq!((newreno.ack(0, false, &[]), sack.ack(0, false, &[])), (vec![], vec![]));
        assert_eq!(sack.ack(1460, false, &[]), []);
        assert_eq!(sack.ack(1460, false, &[(2920, 4380)]), []);
    }
}

/// RFC 6675 §5 (1): a hole is lost if more than two segments above it are SACKed, even by one ACK. NewReno
/// ignores blocks and counts three duplicates.
#[test]
fn one_ack_with_three_segments_is_enough_for_sack() {
    let hole = [(1460, 1460)];
    assert_eq!(with_recovery("sack").ack(1460, false, &[(2920, 7300)]), hole);
    let mut newreno = with_recovery("newreno");
    let released = [(); 3].map(|()| newreno.ack(1460, false, &[(2920, 7300)]));
    assert_eq!(released, [vec![], vec![], hole.to_vec()]);
}

#[test]
fn an_ack_of_all_that_is_out_is_no_duplicate() {
    let transport = TransportConfig::named("newreno").unwrap();
    let mut peer = Bench::of(&transport, TcpSpec { initial_window: 20.0, ..tcp() }, 2920);
    for _ in 0..5 {
        assert_eq!(peer.ack(2920, false, &[]), []);
    }
    assert_eq!(peer.sender.window().ssthresh, f64::INFINITY);
}

/// RFC 6582 §4: after a timeout NewReno resends all data, and SACK only missing data: segment 1, then 2 and
/// 3, or 5 and 6 if segments 2 to 4 are SACKed.
#[test]
fn after_a_timeout_only_sack_skips_segments_that_arrived() {
    for (recovery, next) in [("newreno", [2920, 4380]), ("sack", [7300, 8760])] {
        let mut peer = with_recovery(recovery);
        peer.ack(1460, false, &[(2920, 7300)]);
        assert_eq!(peer.expire(), [(1460, 1460)], "{recovery}");
        assert_eq!(peer.ack(2920, false, &[]), next.map(|start| (start, 1460)), "{recovery}");
    }
}

/// RFC 6582 §3.2 step 2: duplicates of the ACK that ended recovery come from segments sent twice. Duplicates
/// of an ACK that covers one byte more signal a loss.
#[test]
fn duplicates_at_the_recovery_point_do_not_start_recovery_again() {
    let mut peer = with_recovery("newreno");
    (0..3).for_each(|_| drop(peer.ack(1460, false, &[])));
    let recover = peer.sender.stream.snd_max;
    peer.ack(recover, false, &[]);
    let window = peer.sender.window();
    (0..3).for_each(|_| assert!(peer.ack(recover, false, &[]).iter().all(|&(start, _)| start >= recover)));
    assert_eq!(peer.sender.window(), window);
    peer.ack(recover + 1460, false, &[]);
    let last: Vec<_> = (0..3).map(|_| peer.ack(recover + 1460, false, &[])).collect();
    assert_eq!(last[2].first(), Some(&(recover + 1460, 1460)));
}

/// Twenty-one segments are in flight, the first is lost, and forty duplicates follow.
fn in_long_recovery(recovery: &str) -> Bench {
    let mut peer = with_recovery(recovery);
    for arrived in 1..=40 {
        peer.ack(1460, false, &[(2920, 2920 + arrived * 1460)]);
    }
    assert_eq!(peer.sender.window(), Window { cwnd: 10.5, ssthresh: 10.5 }, "{recovery}");
    peer
}

/// NewReno's forty duplicates have released 29 new segments, so 50 are not acknowledged. RFC 5681 Eq. 4 would
/// set ssthresh to 25; ns-2 sets (int) (10.5 / 2) = 5. Linux halves its cwnd of 10 to 5 at a timeout, but
/// counts a recovery and a timeout within it as one reduction, which leaves 10. SACK and RACK know which
/// segments have arrived: RACK has one in the network, and ssthresh is at least 2.
#[test]
fn a_timeout_halves_at_most_the_window() {
    for recovery in ["newreno", "sack", "rack"] {
        let mut peer = in_long_recovery(recovery);
        let out = (peer.sender.stream.snd_max - peer.sender.stream.snd_una) / 1460;
        peer.expire();
        let Window { cwnd, ssthresh } = peer.sender.window();
        assert!(cwnd == 1.0 && (2.0..=5.25).contains(&ssthresh), "{recovery}: {ssthresh}");
        if recovery == "newreno" {
            assert!(out == 50 && ssthresh > 5.249, "{out} out, {ssthresh}");
        }
    }
}

/// Segment 23 is lost too. Recovery ends with 28 segments in flight without a cumulative ACK, of which 18
/// have arrived. RFC 5681 Eq. 4 would set cwnd to 14, above the 10.6 segments before the loss.
#[test]
fn a_loss_after_a_long_recovery_halves_at_most_the_window() {
    let mut peer = in_long_recovery("newreno");
    peer.ack(23 * 1460, false, &[]);
    let before = peer.sender.window().cwnd;
    assert_eq!((peer.sender.stream.snd_max / 1460, before), (51, 10.5 + 1.0 / 10.5));
    let released = [(); 3].map(|()| peer.ack(23 * 1460, false, &[]));
    assert_eq!(released[2].first(), Some(&(23 * 1460, 1460)));
    assert!((peer.sender.window().cwnd - before / 2.0).abs() < 1e-3, "{:?}", peer.sender.window());
}

/// RFC 3168 §6.1.2: a mark and a loss in one window of data cause one reduction. Of twenty segments, the
/// first is acknowledged with ECN-Echo, which leaves a window of ten. The second is lost, which leaves half
/// of the nineteen in flight. DCTCP with alpha 0 keeps twenty at the mark and then also halves the nineteen
/// in flight. The next window of data can reduce the window again.
#[test]
fn a_mark_and_a_loss_of_one_window_reduce_it_once() {
    for recovery in ["newreno", "sack", "rack"] {
        for (name, ecn, marked) in [("newreno", "classic", 10.0), ("dctcp", "exact", 20.0)] {
            let alpha = (name == "dctcp").then_some([("initial_alpha", "0"), ("g", "0")]);
            let settings = alpha.into_iter().flatten().chain([("recovery", recovery), ("ecn", ecn)]);
            let transport = TransportConfig::with(name, settings).unwrap();
            let spec = TcpSpec { initial_window: 20.0, ..tcp() };
            let mut peer = Bench::of(&transport, spec, 1_000_000);
            peer.ack(1460, true, &[]);
            assert_eq!(peer.sender.window().cwnd, marked, "{name} {recovery}");
            (1..=3).for_each(|arrived| drop(peer.ack(1460, false, &[(2920, 2920 + arrived * 1460)])));
            let cwnd = peer.sender.window().cwnd;
            assert!((9.5..=10.0).contains(&cwnd), "{name} {recovery}: {cwnd}");
        }
    }
}

/// A law that records its calls.
#[derive(Debug, Clone, Default)]
struct Recorder {
    seen: Arc<Mutex<Vec<(u64, u64)>>>,
    reads_path: bool,
}

impl Recorder {
    fn bench(&self, spec: TcpSpec, bytes: u64) -> Bench {
        let law = self.clone();
        let transport =
            TransportConfig::named("newreno").unwrap().with_law(Arc::new(move || Box::new(law.clone())));
        Bench::of(&transport, spec, bytes)
    }
}

impl CongestionControl for Recorder {
    fn on_ack(&mut self, _: &mut Window, ack: &AckSample) {
        self.seen.lock().unwrap().push((ack.acked.get(), ack.snd_una));
    }
    fn on_congestion(&mut self, _: &mut Window, _: Cause, _: &FlowView) {}
    fn reads_path(&self) -> bool {
        self.reads_path
    }
}

/// `tcp.grow_by_segments`: the law sees one ACK of 2.5 segments as three ACKs.
#[test]
fn the_law_sees_each_segment_that_an_ack_covers() {
    let law = Recorder::default();
    let spec = TcpSpec { initial_window: 20.0, grow_by_segments: true, ..tcp() };
    let mut peer = law.bench(spec, 5110);
    peer.ack(1460, false, &[]);
    peer.ack(5110, false, &[]);
    assert_eq!(*law.seen.lock().unwrap(), [(1460, 1460), (1460, 2920), (1460, 4380), (730, 5110)]);
}

/// The ACK of the first segment arrives after the one of the second: it acknowledges nothing, and a law that reads
/// the path still learns how its packet fared.
#[test]
fn an_overtaken_ack_shows_its_path() {
    for reads_path in [false, true] {
        let law = Recorder { reads_path, ..Recorder::default() };
        let mut peer = law.bench(TcpSpec { initial_window: 2.0, ..tcp() }, 2920);
        let data: Vec<Packet> = peer.sent.clone();
        for (packet, end) in data.iter().zip([1460, 2920]).rev() {
            let ack = peer.sender.stream.identity.control(end, &peer.tcp);
            let ack = Packet { extension: packet.extension.clone(), ..ack };
            let cx = EndpointContext { now: Instant::ZERO + Span::from_micros(10), tcp: &peer.tcp };
            peer.sender.on_ack(&ack, cx, &mut peer.sent);
        }
        let late: &[(u64, u64)] = if reads_path { &[(0, 2920)] } else { &[] };
        assert_eq!(*law.seen.lock().unwrap(), [&[(2920, 2920)], late].concat());
    }
}
