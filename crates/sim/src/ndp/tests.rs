//! Tests of NDP's hosts without a network.

use super::*;
use crate::host::PacketSink;
use crate::packet::Handover;
use crate::specs::TcpSpec;
use crate::tcp::testing::{FLOW, IDENTITY, tcp};
use shortflow_cc::Opening;
use std::any::Any;

/// Payload of a full packet.
const MSS: u64 = 1_460;
/// No packets.
const NONE: [u64; 0] = [];

/// 1,500 bytes at 10 Gbit/s.
const GAP: Span = Span::from_nanos(1_200);

fn of(number: u32) -> Turn {
    Turn { flow_id: number, ..IDENTITY.turn() }
}

/// Times in nanoseconds and connections of the pulls, for connections that have earned their pulls by
/// time zero.
fn pulls(agent: &mut Agent) -> Vec<(u64, u32)> {
    let mut given = Vec::new();
    while let Some(at) = agent.wakes_at() {
        let turn = agent.next_turn(at);
        given.extend(turn.map(|turn| (at.as_ps() / 1_000, turn.flow_id)));
        assert!(agent.next_turn(at).is_none(), "two at a time");
    }
    given
}

/// §3.2: one connection has four pulls, and another has one. They take turns, at one pull per packet
/// time. After a pause, the next pull goes at once.
#[test]
fn pulls_go_in_turn_at_the_rate_of_the_link() {
    let mut agent = Agent::default();
    for number in [3, 3, 3, 8, 3] {
        agent.earn(of(number), GAP);
    }
    assert_eq!(pulls(&mut agent), [(0, 3), (1_200, 8), (2_400, 3), (3_600, 3), (4_800, 3)]);
    let later = Instant::ZERO + Span::from_micros(9);
    agent.earn(of(3), GAP);
    assert_eq!(agent.next_turn(later), Some(of(3)));
}

/// §3.2: a complete transfer takes no more turns.
#[test]
fn pulls_of_a_complete_transfer_are_removed() {
    let mut agent = Agent::default();
    for number in [3, 8, 3, 3] {
        agent.earn(of(number), GAP);
    }
    agent.forget(3);
    assert_eq!(pulls(&mut agent), [(0, 8)]);
}

/// D6, D7: timeouts of 1, 2, 4, … ms, and at most 64 ms.
#[test]
fn timeouts_double_six_times() {
    let waits = [0, 1, 2, 6, 7, 40].map(|times| doubled(Span::from_millis(1), times));
    assert_eq!(waits, [1, 2, 4, 64, 64, 64].map(Span::from_millis));
}

/// Time that a packet and its answer take in the tests, in microseconds.
const TRIP: u64 = 100;

/// A host whose packets leave at once.
#[derive(Debug, Default)]
struct Card {
    now: Instant,
    sent: Vec<Packet>,
    alarm: Option<Instant>,
    agent: Agent,
}

impl PacketSink for Card {
    fn send(&mut self, packet: Packet) -> Handover {
        self.sent.push(packet);
        Handover { waits: Span::ZERO, departs: self.now }
    }
}

impl Outbox for Card {
    fn set_timer(&mut self, _: u8, at: Instant) {
        self.alarm = Some(self.alarm.map_or(at, |alarm| alarm.min(at)));
    }

    fn agent<A: HostAgent + Default>(&mut self) -> &mut A {
        let agent: &mut dyn Any = &mut self.agent;
        agent.downcast_mut().unwrap()
    }
}

/// Both ends of a connection over links of 10 Gbit/s, without a network between them.
struct Bench {
    sender: Sender,
    receiver: Receiver,
    tcp: TcpSpec,
    card: Card,
}

impl Bench {
    /// A message of `packets` full packets. The sender has sent a first window of `window` packets at time
    /// zero.
    fn new(packets: u64, window: u32, rto: Option<Span>) -> Bench {
        let tcp = tcp();
        let line = Rate::new(10_000_000_000).unwrap();
        let base_rtt = Span::from_micros(TRIP);
        let setup = ConnectionSetup {
            tcp: &tcp,
            at: Opening { now: Instant::ZERO, line, base_rtt, mss: tcp.mss, header: tcp.header },
            receiver_line: line,
            full_queue: Span::from_millis(2),
            priority: Default::default(),
            initial_rto: Span::ZERO,
            small_queue: 0,
            predicts: false,
        };
        let transport = TransportConfig::named("ndp").unwrap();
        let params = Params { window: Some(window), rto };
        let (sender, receiver) = open([IDENTITY; 2], &transport, &params, &setup);
        let mut bench = Bench { sender, receiver, tcp, card: Card::default() };
        bench.sender.stream.messages.push(FLOW, Bytes::new(packets * MSS));
        bench.sender.start(EndpointContext { now: Instant::ZERO, tcp: &bench.tcp }, &mut bench.card);
        bench
    }

    /// Numbers of the packets sent since the last call.
    fn sent(&mut self) -> Vec<u64> {
        self.card.sent.drain(..).map(|packet| packet.seq / MSS).collect()
    }

    /// An answer reaches the sender. Returns the numbers of the packets that it releases.
    fn answer(&mut self, us: u64, kind: PacketType, received: u64, words: [u64; 2]) -> Vec<u64> {
        let mut packet =
            Packet { kind, extension: header(words), ..IDENTITY.control(received * MSS, &self.tcp) };
        self.card.now = Instant::ZERO + Span::from_micros(us);
        let cx = EndpointContext { now: self.card.now, tcp: &self.tcp };
        self.sender.on_packet(&mut packet, cx, &mut self.card);
        self.sent()
    }

    fn ack(&mut self, us: u64, received: u64) -> Vec<u64> {
        self.answer(us, PacketType::Ack, received, [0; 2])
    }

    fn nack(&mut self, us: u64, number: u64) -> Vec<u64> {
        self.answer(us, PacketType::Nack, 0, [number * MSS, 0])
    }

    fn returned(&mut self, us: u64, number: u64) -> Vec<u64> {
        self.answer(us, PacketType::Returned, number, [20 * MSS, 0])
    }

    fn pull(&mut self, us: u64, pulls: u64, received: u64) -> Vec<u64> {
        self.answer(us, PacketType::Grant, received, [pulls, 0])
    }

    /// The sender's timer fires at its deadline. Returns the deadline in microseconds, and the packets sent.
    fn expire(&mut self) -> (u64, Vec<u64>) {
        let deadline = self.sender.alarm.deadline.unwrap();
        self.card.now = deadline;
        self.sender.on_timer(TIMEOUT, EndpointContext { now: deadline, tcp: &self.tcp }, &mut self.card);
        (deadline.as_ps() / 1_000_000, self.sent())
    }

    fn timeouts(&self) -> u32 {
        self.sender.stream.messages.first().unwrap().timeouts
    }

    /// A packet reaches the receiver, as a header if `is_trimmed`. Returns the answer, and the pulls that wait.
    fn arrive(&mut self, number: u64, is_trimmed: bool) -> (PacketType, u64) {
        let kind = if is_trimmed { PacketType::Trimmed } else { PacketType::Data };
        let extension = header([20 * MSS, 0]);
        let mut packet = Packet { kind, extension, ..IDENTITY.control(number * MSS, &self.tcp) };
        let cx = EndpointContext { now: self.card.now, tcp: &self.tcp };
        self.receiver.on_packet(&mut packet, cx, &mut self.card);
        let pulls = self.card.agent.waiting.get(&IDENTITY.flow_id).map_or(0, |(_, pulls, _)| *pulls);
        (self.card.sent.pop().unwrap().kind, pulls)
    }
}

/// §3.2: each pull releases a packet, trimmed ones first. A pull counts those that were lost before it.
#[test]
fn a_pull_releases_a_packet_and_trimmed_packets_go_first() {
    let mut bench = Bench::new(20, 3, None);
    assert_eq!(bench.sent(), [0, 1, 2]);
    assert_eq!(bench.nack(100, 1), NONE);
    assert_eq!(bench.pull(101, 1, 0), [1]);
    assert_eq!(bench.pull(102, 3, 0), [3, 4]);
    assert_eq!(bench.pull(103, 2, 0), NONE, "an overtaken pull");
}

/// D3: the headers of packets 0 and 2 return while an answer for packet 1 is due, and wait for its pull. All
/// headers of a window of three return: the last one sends a packet at once. A header of a packet that is not
/// in flight sends nothing.
#[test]
fn a_returned_header_sends_a_packet_at_once_if_nothing_else_is_due() {
    let mut bench = Bench::new(20, 3, None);
    bench.sent();
    assert_eq!([bench.returned(50, 0), bench.returned(51, 2)], [NONE, NONE]);
    assert_eq!(bench.nack(100, 1), NONE);
    assert_eq!(bench.pull(101, 1, 0), [0]);
    assert_eq!(bench.returned(150, 0), [0], "no packet is in flight, and no pull is due");
    let mut lost = Bench::new(20, 3, None);
    lost.sent();
    assert_eq!([50, 51].map(|us| lost.returned(us, us - 50)), [NONE, NONE]);
    assert_eq!(lost.returned(52, 2), [0]);
    assert_eq!(lost.returned(53, 1), NONE, "packet 1 is queued");
    assert_eq!(lost.pull(100, 2, 0), [1, 2]);
}

/// D5: four packets are all of a message. Pulls that find nothing to send are kept for packets in flight,
/// and only as many.
#[test]
fn a_pull_is_kept_while_a_packet_may_have_been_trimmed() {
    let mut bench = Bench::new(4, 4, None);
    bench.sent();
    assert_eq!(bench.pull(100, 3, 2), NONE);
    assert_eq!(bench.sender.credit, 2, "packets 2 and 3 are in flight");
    assert_eq!(bench.nack(101, 3), [3]);
    assert_eq!(bench.ack(102, 3), NONE);
    assert_eq!(bench.sender.credit, 1);
    assert_eq!(bench.ack(200, 4), NONE);
    assert_eq!(bench.sender.credit, 0);
}

/// D6: packets 0 to 2 are lost, and count as one timeout. The next one takes 2 ms, and the one after it 4
/// ms. An answer ends that.
#[test]
fn timeouts_double_until_an_answer_and_count_once() {
    let mut bench = Bench::new(20, 3, Some(Span::from_millis(1)));
    bench.sent();
    assert_eq!(bench.expire(), (1_000, vec![0, 1, 2]));
    assert_eq!(bench.timeouts(), 1);
    assert_eq!(bench.expire(), (3_000, vec![0, 1, 2]));
    assert_eq!(bench.nack(3_100, 2), NONE);
    assert_eq!(bench.pull(3_101, 1, 0), [2]);
    assert_eq!(bench.expire(), (4_101, vec![2]), "1 ms after its departure");
    assert_eq!(bench.timeouts(), 3);
}

/// D6: 1 ms is less than a round trip through two full queues of 2 ms. A sample of 10 ms has a mean
/// deviation of 5 ms. A packet that was sent twice gives no sample.
#[test]
fn the_timeout_follows_the_round_trip_time() {
    let mut bench = Bench::new(20, 2, None);
    bench.sent();
    assert_eq!(bench.sender.rto(), Span::from_micros(4_100));
    assert_eq!(bench.nack(50, 0), NONE);
    assert_eq!(bench.sender.rto(), Span::from_micros(4_100));
    assert_eq!(bench.pull(51, 1, 0), [0]);
    bench.ack(4_000, 1);
    assert_eq!(bench.sender.rtt.timeout(Span::ZERO), Span::from_micros(150), "50 and four times 25 us");
    let mut slow = Bench::new(20, 1, None);
    slow.ack(10_000, 1);
    assert_eq!(slow.sender.rto(), Span::from_millis(30));
}

/// A NACK after the timeout of its packet does not send the packet twice.
#[test]
fn a_late_nack_finds_its_packet_sent_again() {
    let mut bench = Bench::new(20, 1, Some(Span::from_millis(1)));
    bench.sent();
    assert_eq!(bench.expire(), (1_000, vec![0]));
    assert_eq!(bench.nack(1_010, 0), NONE);
    assert_eq!(bench.pull(1_011, 1, 0), [0]);
    assert_eq!(bench.nack(1_012, 0), NONE);
    assert_eq!(bench.nack(1_013, 0), NONE, "queued once");
    assert_eq!(bench.pull(1_014, 3, 0), [0, 1]);
}

/// D7: all is answered, and the receiver's host has announced the next pull within 5 ms. Silence of 1 ms
/// after that sends packet 2 without a pull, and silence of 2 ms the next one. The time is not reset.
#[test]
fn silence_sends_a_packet_after_the_announced_pull() {
    let mut bench = Bench::new(20, 2, Some(Span::from_millis(1)));
    bench.sent();
    assert_eq!(bench.answer(100, PacketType::Ack, 1, [0, 5_000_000_000]), NONE);
    assert_eq!(bench.ack(200, 2), NONE);
    assert_eq!(bench.expire(), (6_100, vec![2]));
    bench.ack(6_200, 3);
    assert_eq!(bench.expire(), (8_200, vec![3]));
    bench.ack(8_300, 4);
    assert_eq!(bench.expire(), (12_300, vec![4]));
}

/// A copy of a packet, or a header of one that is there, earns no pull and gets an ACK.
#[test]
fn copies_earn_no_pull() {
    let mut bench = Bench::new(20, 1, None);
    bench.sent();
    assert_eq!(bench.arrive(0, false), (PacketType::Ack, 1));
    assert_eq!(bench.arrive(0, false), (PacketType::Ack, 1));
    assert_eq!(bench.arrive(3, true), (PacketType::Nack, 2));
    assert_eq!(bench.arrive(3, false), (PacketType::Ack, 3));
    assert_eq!(bench.arrive(3, true), (PacketType::Ack, 3));
}

/// Pulls of 3, 8 and 3 at the rate of a packet in 1.2 us: connection 3 has its second pull third, so within
/// 3.6 us. A pull of another connection that comes later does not delay it. A closed connection takes no
/// turn.
#[test]
fn a_host_knows_when_a_connection_has_its_turn() {
    let mut agent = Agent::default();
    [3, 8].into_iter().for_each(|number| agent.earn(of(number), GAP));
    agent.earn(of(3), GAP);
    assert_eq!(agent.until_pull(3, Instant::ZERO), GAP.times(2));
    assert_eq!(agent.next_turn(Instant::ZERO), Some(of(3)));
    let announced = agent.until_pull(3, Instant::ZERO);
    assert_eq!(announced, GAP.times(3));
    agent.earn(of(9), GAP);
    agent.on_close(8);
    assert_eq!(pulls(&mut agent), [(1_200, 3), (2_400, 9)]);
    assert_eq!(agent.until_pull(3, Instant::ZERO), Span::ZERO);
}
