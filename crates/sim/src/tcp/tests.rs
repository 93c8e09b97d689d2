//! What the sender tells switches and window laws of the message that it sends.

use super::testing::tcp;
use super::{Egress, Flow, Identity, Sender, priority::PriorityRule};
use crate::net::Packet;
use crate::scenario::TcpSpec;
use shortflow_cc::settings::Params;
use shortflow_cc::{Role, TransportConfig};
use shortflow_units::{Bytes, ClassId, ConnId, FlowId, HostId, Instant, Span};

/// What left: first byte and priority.
#[derive(Default)]
struct Wire(Vec<(u64, u64)>);

impl Egress for Wire {
    fn send(&mut self, packet: Packet) -> Span {
        self.0.push((packet.seq, packet.priority));
        Span::ZERO
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
    let mut rule = PriorityRule::default();
    rule.set("by", by).unwrap();
    let identity = Identity { conn: ConnId(0), ordinal: 0, peer: HostId(1) };
    let transport = TransportConfig::named("newreno").unwrap();
    let mut sender = Sender::new(identity, &transport, &tcp, Span::from_millis(10)).with_priority(rule);
    let flow = Flow { flow: FlowId(0), class: ClassId(0), role: Role::Unknown, deadline: None };
    sender.push(flow, Bytes::new(30_000));
    let mut bench = Bench { sender, tcp, wire: Wire::default() };
    bench.sender.start(Instant::ZERO, &bench.tcp, &mut bench.wire);
    bench
}

impl Bench {
    fn ack(&mut self, seq: u64) {
        let ack = self.sender.identity.control(seq, &self.tcp);
        self.sender.on_ack(Instant::from_ps(1), &ack, &self.tcp, &mut self.wire);
    }

    /// The second segment is lost: the ACK of the first releases two more, the third duplicate sends the
    /// second again.
    fn lose_the_second_segment(&mut self) {
        (0..4).for_each(|_| self.ack(1460));
    }

    /// Bytes sent, remaining and in flight, as the law is told.
    fn view(&self) -> [u64; 3] {
        let view = self.sender.flow_view(Instant::ZERO, &self.tcp);
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
    assert_eq!(bench.wire.0.last(), Some(&(1460, 0)), "sent again");
    assert_eq!(bench.view(), [17_520, 28_540, 16_060], "which is neither new nor acknowledged");
}
