//! Message data that the sender gives to switches and window laws.

use super::Sender;
use super::testing::tcp;
use crate::host::priority::PriorityRule;
use crate::host::{EndpointContext, EndpointId, Flow, PacketSink};
use crate::packet::{Extension, Handover, Packet, PacketType, SackBlocks};
use crate::specs::TcpSpec;
use shortflow_cc::{AckSample, Cause, CongestionControl, FlowView, Role, TransportConfig, Window};
use shortflow_spec::read_toml;
use shortflow_units::{Bytes, ClassId, ConnId, FlowId, HostId, Instant, Span};
use std::sync::{Arc, Mutex};

/// Sent packets: first byte and priority.
#[derive(Default)]
struct Wire(Vec<(u64, u64)>);

impl PacketSink for Wire {
    fn send(&mut self, packet: Packet) -> Handover {
        self.0.push((packet.seq, packet.priority));
        Handover::DROPPED
    }
}

/// NewReno with 30 KB to send, ten segments of 1460 bytes at once.
struct Bench {
    sender: Sender,
    tcp: TcpSpec,
    wire: Wire,
}

fn bench(by: &str) -> Bench {
    let tcp = TcpSpec { initial_window: 10.0, ..tcp() };
    let rule = read_toml(&format!("by = '{by}'"), |reader| PriorityRule::read(&reader)).unwrap();
    let identity = EndpointId { conn: ConnId(0), flow_id: 0, peer: HostId(1), way: 0 };
    let transport = TransportConfig::named("newreno").unwrap();
    let mut sender = Sender::new(identity, &transport, &tcp, Span::from_millis(10)).with_priority(rule);
    let flow = Flow { flow: FlowId(0), class: ClassId(0), role: Role::Unknown, deadline: None };
    sender.push(flow, Bytes::new(30_000));
    let mut bench = Bench { sender, tcp, wire: Wire::default() };
    bench.sender.start(EndpointContext { now: Instant::ZERO, tcp: &bench.tcp }, &mut bench.wire);
    bench
}

impl Bench {
    fn ack(&mut self, seq: u64) {
        let ack = self.sender.stream.identity.control(seq, &self.tcp);
        self.sender.on_ack(
            &ack,
            EndpointContext { now: Instant::from_ps(1), tcp: &self.tcp },
            &mut self.wire,
        );
    }

    /// The second segment is lost: the ACK of the first releases two more, the third duplicate sends the
    /// second again.
    fn lose_the_second_segment(&mut self) {
        (0..4).for_each(|_| self.ack(1460));
    }

    /// Bytes sent, remaining and in flight, as the law is told.
    fn view(&self) -> [u64; 3] {
        let view = self.sender.flow_view(EndpointContext { now: Instant::ZERO, tcp: &self.tcp });
        [view.sent, view.remaining, view.flight].map(Bytes::get)
    }
}

#[test]
fn each_packet_carries_the_priority_of_its_moment() {
    // Twelve segments in order, then the second again, when 17,520 bytes have been sent and 1460 acknowledged.
    let starts: Vec<u64> = (0..12).map(|segment| segment * 1460).chain([1460]).collect();
    let sent = |i: usize| if i < 12 { starts[i] } else { 17_520 };
    let cases: [(&str, &dyn Fn(usize) -> u64); 3] = [
        ("sent", &sent),
        ("remaining", &|i| if i < 10 { 30_000 } else { 28_540 }),
        ("levels", &|i| u64::from(sent(i) >= 10_000)),
    ];
    for (by, priority) in cases {
        let mut bench = bench(by);
        bench.lose_the_second_segment();
        let expected: Vec<(u64, u64)> =
            starts.iter().enumerate().map(|(i, &seq)| (seq, priority(i))).collect();
        assert_eq!(bench.wire.0, expected, "{by}");
    }
}

#[test]
fn the_law_is_told_what_was_sent_and_what_remains() {
    let mut bench = bench("none");
    assert_eq!(bench.view(), [14_600, 30_000, 14_600], "ten segments are out, none acknowledged");
    bench.ack(1460);
    assert_eq!(bench.view(), [17_520, 28_540, 16_060]);
    (0..3).for_each(|_| bench.ack(1460));
    assert_eq!(bench.wire.0.last(), Some(&(1460, 0)), "retransmitted");
    assert_eq!(bench.view(), [17_520, 28_540, 16_060], "which is neither new nor acknowledged");
}

/// A sender and its sent segments: first byte and payload of each.
struct Peer {
    sender: Sender,
    tcp: TcpSpec,
    wire: Segments,
}

#[derive(Default)]
struct Segments(Vec<(u64, u32)>);

impl PacketSink for Segments {
    fn send(&mut self, packet: Packet) -> Handover {
        self.0.push((packet.seq, packet.payload.into()));
        Handover::DROPPED
    }
}

impl Peer {
    fn new(transport: &TransportConfig, tcp: TcpSpec, bytes: u64) -> Peer {
        let identity = EndpointId { conn: ConnId(0), flow_id: 0, peer: HostId(1), way: 0 };
        let mut sender = Sender::new(identity, transport, &tcp, Span::from_millis(10));
        let flow = Flow { flow: FlowId(0), class: ClassId(0), role: Role::Unknown, deadline: None };
        sender.push(flow, Bytes::new(bytes));
        let mut wire = Segments::default();
        sender.start(EndpointContext { now: Instant::ZERO, tcp: &tcp }, &mut wire);
        Peer { sender, tcp, wire }
    }

    /// Twenty segments of 1460 bytes were sent at once, and the first is acknowledged.
    fn with_recovery(recovery: &str) -> Peer {
        let transport = TransportConfig::with("sack", [("recovery", recovery)]).unwrap();
        let mut peer = Peer::new(&transport, TcpSpec { initial_window: 20.0, ..tcp() }, 1_000_000);
        peer.ack(1460, &[]);
        peer
    }

    /// An ACK with SACK blocks; returns the released segments.
    fn ack(&mut self, seq: u64, blocks: &[(u64, u64)]) -> Vec<(u64, u32)> {
        self.wire.0.clear();
        let extension = Extension::of_sack(SackBlocks::new(seq, blocks));
        let ack = Packet { extension, ..self.sender.stream.identity.control(seq, &self.tcp) };
        self.sender.on_ack(
            &ack,
            EndpointContext { now: Instant::from_ps(1), tcp: &self.tcp },
            &mut self.wire,
        );
        std::mem::take(&mut self.wire.0)
    }
}

/// Captures tell a connection request from an ACK by its kind.
#[test]
fn a_handshake_begins_with_a_request() {
    struct Kinds(Vec<PacketType>);
    impl PacketSink for Kinds {
        fn send(&mut self, packet: Packet) -> Handover {
            self.0.push(packet.kind);
            Handover::DROPPED
        }
    }
    let transport = TransportConfig::named("newreno").unwrap();
    let mut peer = Peer::new(&transport, TcpSpec { handshake: true, ..tcp() }, 2920);
    let mut wire = Kinds(Vec::new());
    peer.sender.on_timeout(EndpointContext { now: Instant::from_ps(1), tcp: &peer.tcp }, &mut wire);
    peer.sender.on_syn_ack(EndpointContext { now: Instant::from_ps(2), tcp: &peer.tcp }, &mut wire);
    assert_eq!(wire.0, [PacketType::Syn, PacketType::Data, PacketType::Data]);
}

/// RFC 5681 §2 and RFC 6675 §2: neither ACKs below the last one, nor, with SACK, ACKs without blocks or with
/// blocks that are known, tell of a loss, however many.
#[test]
fn what_is_no_duplicate_repairs_nothing() {
    let mut newreno = Peer::with_recovery("newreno");
    let mut sack = Peer::with_recovery("sack");
    assert_eq!(sack.ack(1460, &[(2920, 4380)]), []);
    for _ in 0..5 {
        assert_eq!((newreno.ack(0, &[]), sack.ack(0, &[])), (vec![], vec![]));
        assert_eq!(sack.ack(1460, &[]), []);
        assert_eq!(sack.ack(1460, &[(2920, 4380)]), []);
    }
}

/// RFC 6675 §5 (1): more than two segments above a hole say that it is lost, also when one ACK tells of them.
/// NewReno does not read blocks and counts three duplicates.
#[test]
fn one_ack_with_three_segments_is_enough_for_sack() {
    let hole = [(1460, 1460)];
    assert_eq!(Peer::with_recovery("sack").ack(1460, &[(2920, 7300)]), hole);
    let mut newreno = Peer::with_recovery("newreno");
    let released = [(); 3].map(|()| newreno.ack(1460, &[(2920, 7300)]));
    assert_eq!(released, [vec![], vec![], hole.to_vec()]);
}

#[test]
fn an_ack_of_all_that_is_out_is_no_duplicate() {
    let transport = TransportConfig::named("newreno").unwrap();
    let mut peer = Peer::new(&transport, TcpSpec { initial_window: 20.0, ..tcp() }, 2920);
    for _ in 0..5 {
        assert_eq!(peer.ack(2920, &[]), []);
    }
    assert_eq!(peer.sender.window().ssthresh, f64::INFINITY);
}

/// RFC 6582 §4: after a timeout NewReno sends everything again, SACK only what is missing: here segment 1, then 2
/// and 3, or 5 and 6 where segments 2 to 4 are known to have arrived.
#[test]
fn after_a_timeout_only_sack_leaves_out_what_arrived() {
    for (recovery, next) in [("newreno", [2920, 4380]), ("sack", [7300, 8760])] {
        let mut peer = Peer::with_recovery(recovery);
        peer.ack(1460, &[(2920, 7300)]);
        peer.wire.0.clear();
        peer.sender.on_timeout(EndpointContext { now: Instant::from_ps(2), tcp: &peer.tcp }, &mut peer.wire);
        assert_eq!(peer.wire.0, [(1460, 1460)], "{recovery}");
        assert_eq!(peer.ack(2920, &[]), next.map(|start| (start, 1460)), "{recovery}");
    }
}

/// RFC 6582 §3.2 step 2: duplicates of the ACK that ended recovery tell of segments sent twice; a byte further
/// they tell of a loss.
#[test]
fn duplicates_at_the_recovery_point_do_not_start_recovery_again() {
    let mut peer = Peer::with_recovery("newreno");
    (0..3).for_each(|_| drop(peer.ack(1460, &[])));
    let recover = peer.sender.stream.snd_max;
    peer.ack(recover, &[]);
    let window = peer.sender.window();
    (0..3).for_each(|_| assert!(peer.ack(recover, &[]).iter().all(|&(start, _)| start >= recover)));
    assert_eq!(peer.sender.window(), window);
    peer.ack(recover + 1460, &[]);
    let last: Vec<_> = (0..3).map(|_| peer.ack(recover + 1460, &[])).collect();
    assert_eq!(last[2].first(), Some(&(recover + 1460, 1460)));
}

/// A law that records its calls.
#[derive(Debug, Clone, Default)]
struct Recorder(Arc<Mutex<Vec<(u64, u64)>>>);

impl CongestionControl for Recorder {
    fn on_ack(&mut self, _: &mut Window, ack: &AckSample) {
        self.0.lock().unwrap().push((ack.acked.get(), ack.snd_una));
    }
    fn on_congestion(&mut self, _: &mut Window, _: Cause, _: &FlowView) {}
}

/// `tcp.grow_by_segments`: one ACK of two and a half segments is three to the law.
#[test]
fn the_law_is_told_of_each_segment_that_an_ack_covers() {
    let seen = Recorder::default();
    let law = seen.clone();
    let transport =
        TransportConfig::named("newreno").unwrap().with_law(Arc::new(move || Box::new(law.clone())));
    let spec = TcpSpec { initial_window: 20.0, grow_by_segments: true, ..tcp() };
    let mut peer = Peer::new(&transport, spec, 5110);
    peer.ack(1460, &[]);
    peer.ack(5110, &[]);
    assert_eq!(*seen.0.lock().unwrap(), [(1460, 1460), (1460, 2920), (1460, 4380), (730, 5110)]);
}
