//! Departures of a port as a capture file: pcapng with times in nanoseconds, Ethernet II, IPv4 (RFC 791), and
//! TCP (RFC 9293) or UDP headers. The payload of zeros is left out. Each packet has the time of its
//! departure. Its comment lists the drops of the port since the last departure. docs/results.md explains each
//! field.

use super::watch::{PacketEvent, PacketEventKind};
use crate::packet::{EcnField, Packet, PacketType};
use crate::priorities::PRIORITIES;
use shortflow_cc::Host;
use shortflow_units::{HostId, Instant, PortId};

const SECTION: u32 = 0x0A0D_0D0A;
const INTERFACE: u32 = 1;
const STATISTICS: u32 = 5;
const PACKET: u32 = 6;
const BYTE_ORDER: u32 = 0x1A2B_3C4D;
const COMMENT: u16 = 1;
const SNAP: u32 = 128;
const FIRST_PORT: u32 = 49_152;
const PORTS: u32 = 16_384;
/// Largest number of drops named in a comment.
const NAMED: usize = 16;

/// A capture at one port.
#[derive(Debug, Clone)]
pub struct Capture {
    port: PortId,
    bytes: Vec<u8>,
    dropped: Vec<String>,
    /// Number of drops beyond those in the comment.
    unnamed: usize,
    packets: u64,
    drops: u64,
    last: Instant,
}

impl Capture {
    /// A capture at `port`, which has this name.
    pub fn new(port: PortId, name: &str) -> Capture {
        let mut bytes = Vec::new();
        let begin = [BYTE_ORDER.to_le_bytes().to_vec(), vec![1, 0, 0, 0], vec![0xff; 8]].concat();
        let application = concat!("shortflow ", env!("CARGO_PKG_VERSION"));
        block(&mut bytes, SECTION, &begin, &[(4, application.as_bytes())]);
        let ethernet = [1u32.to_le_bytes(), SNAP.to_le_bytes()].concat();
        block(&mut bytes, INTERFACE, &ethernet, &[(2, name.as_bytes()), (9, &[9])]);
        Capture { port, bytes, dropped: Vec::new(), unnamed: 0, packets: 0, drops: 0, last: Instant::ZERO }
    }

    /// Records departures, drops and frames of flow control at the port. Other events are ignored.
    pub fn note(&mut self, event: &PacketEvent) {
        if event.port != Some(self.port) {
            return;
        }
        match event.kind {
            PacketEventKind::Pause(priority) => {
                return self.write(event.at, (pause_frame(priority, u16::MAX), 0));
            }
            PacketEventKind::Resume(priority) => return self.write(event.at, (pause_frame(priority, 0), 0)),
            _ => {}
        }
        let Some(packet) = &event.packet else { return };
        match event.kind {
            PacketEventKind::Departed => self.write(event.at, frame(event, packet)),
            PacketEventKind::Dropped(reason) => {
                self.drops += 1;
                if self.dropped.len() < NAMED {
                    let Packet { flow_id, seq, payload, .. } = packet;
                    let what = format!("connection {flow_id} seq {seq} length {payload}");
                    self.dropped.push(format!("{} {what} ({})", packet.kind.word(), reason.name()));
                } else {
                    self.unnamed += 1;
                }
            }
            _ => {}
        }
    }

    /// Takes the bytes of the file that were not taken yet.
    pub fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.bytes)
    }

    /// Number of bytes that were not taken yet.
    pub fn pending(&self) -> usize {
        self.bytes.len()
    }

    /// Ends the file with a block of counters.
    pub fn finish(&mut self) {
        let head = [[0; 4], time(self.last).0, time(self.last).1].concat();
        let (packets, drops) = (self.packets.to_le_bytes(), self.drops.to_le_bytes());
        block(&mut self.bytes, STATISTICS, &head, &[(4, &packets), (5, &drops)]);
    }

    /// Writes a frame that has left at `at`. `cut` is the number of bytes left out after it.
    fn write(&mut self, at: Instant, (mut frame, cut): (Vec<u8>, u32)) {
        let (high, low) = time(at);
        let kept = (frame.len() as u32).to_le_bytes();
        let whole = (frame.len() as u32 + cut).to_le_bytes();
        frame.resize(frame.len().next_multiple_of(4), 0);
        let body = [&[[0; 4], high, low, kept, whole].concat()[..], &frame].concat();
        let mut comment = std::mem::take(&mut self.dropped).join("; ");
        if self.unnamed > 0 {
            comment = format!("{comment}; and {} more", std::mem::take(&mut self.unnamed));
        }
        let comment = (!comment.is_empty()).then(|| format!("dropped before: {comment}"));
        let options: Vec<(u16, &[u8])> = comment.iter().map(|text| (COMMENT, text.as_bytes())).collect();
        block(&mut self.bytes, PACKET, &body, &options);
        self.packets += 1;
        self.last = at;
    }
}

/// A block of a pcapng file.
fn block(bytes: &mut Vec<u8>, kind: u32, body: &[u8], options: &[(u16, &[u8])]) {
    let mut rest = Vec::new();
    for (code, value) in options {
        rest.extend([code.to_le_bytes(), (value.len() as u16).to_le_bytes()].concat());
        rest.extend(*value);
        rest.resize(rest.len().next_multiple_of(4), 0);
    }
    if !options.is_empty() {
        rest.extend([0; 4]);
    }
    let length = ((12 + body.len() + rest.len()) as u32).to_le_bytes();
    bytes.extend([&kind.to_le_bytes()[..], &length, body, &rest, &length].concat());
}

/// Upper and lower half of a time in nanoseconds.
fn time(at: Instant) -> ([u8; 4], [u8; 4]) {
    let ns = at.as_ps() / 1000;
    (((ns >> 32) as u32).to_le_bytes(), (ns as u32).to_le_bytes())
}

/// A frame of priority flow control (IEEE 802.1Qbb). It sets the pause time of one priority.
fn pause_frame(priority: u8, time: u16) -> Vec<u8> {
    const TO_THE_OTHER_END: [u8; 6] = [0x01, 0x80, 0xc2, 0x00, 0x00, 0x01];
    let mut times = [0u16; PRIORITIES];
    times[usize::from(priority)] = time;
    let mut frame = [&TO_THE_OTHER_END[..], &[2, 0xff, 0, 0, 0, 0], &[0x88, 0x08, 0x01, 0x01]].concat();
    frame.extend((1u16 << priority).to_be_bytes());
    frame.extend(times.map(u16::to_be_bytes).concat());
    frame.resize(60, 0); // captures have no frame check sequence
    frame
}

/// Headers of a packet, and number of payload bytes left out after them.
fn frame(event: &PacketEvent, packet: &Packet) -> (Vec<u8>, u32) {
    let connection = event.connection.unwrap_or_default();
    let client = (FIRST_PORT + connection % PORTS) as u16;
    let server = (FIRST_PORT + connection / PORTS % PORTS) as u16;
    let ports = if packet.kind.is_answer() { [server, client] } else { [client, server] };
    let (protocol, mut transport, checksum_at) = match event.host {
        Host::Tcp => (6, tcp(ports, packet), 16),
        Host::Roce | Host::Minimal | Host::Homa | Host::Ndp => (17, udp(ports, packet), 6),
    };
    let length = transport.len() as u32 + u32::from(packet.payload);
    let (from, to) = (address(event.source), address(packet.to));
    let pseudo = [&from[..], &to, &u32::from(protocol).to_be_bytes(), &length.to_be_bytes()].concat();
    let sum = match checksum(&[&pseudo, &transport]) {
        0 if protocol == 17 => 0xffff, // 0 means that there is no checksum
        sum => sum,
    };
    transport[checksum_at..checksum_at + 2].copy_from_slice(&sum.to_be_bytes());

    let mut ip = vec![0x45, traffic_class(packet)];
    ip.extend((20 + length as u16).to_be_bytes());
    ip.extend([0, 0, 0x40, 0, 64, protocol, 0, 0]);
    ip.extend([from, to].concat());
    let sum = checksum(&[&ip]).to_be_bytes();
    ip[10..12].copy_from_slice(&sum);

    let mac = |host: HostId| [&[2, 0][..], &host.0.to_be_bytes()].concat();
    ([mac(packet.to), mac(event.source), vec![8, 0], ip, transport].concat(), packet.payload.into())
}

fn address(host: HostId) -> [u8; 4] {
    (0x0a00_0001 + host.0).to_be_bytes()
}

/// DSCP and ECN field.
fn traffic_class(packet: &Packet) -> u8 {
    let ecn = match packet.ecn {
        EcnField::NotEct => 0,
        EcnField::Ect => 2,
        EcnField::Ce => 3,
    };
    (packet.priority.min(63) as u8) << 2 | ecn
}

fn tcp(ports: [u16; 2], packet: &Packet) -> Vec<u8> {
    let stream = |seq: u64| (seq as u32).wrapping_add(1);
    let flag = |is: bool, bit: u8| if is { bit } else { 0 };
    let echo = flag(packet.ece(), 0x40) | flag(packet.cwr(), 0x80);
    let (seq, ack, flags) = match packet.kind {
        PacketType::Syn => (0, 0, 0x02),
        PacketType::SynAck => (0, 1, 0x12),
        PacketType::Data => (stream(packet.seq), 1, 0x10),
        _ => (1, stream(packet.seq), 0x10),
    };
    let options = options(packet);
    let mut header = ports.map(u16::to_be_bytes).concat();
    header.extend([u32::to_be_bytes(seq), u32::to_be_bytes(ack)].concat());
    header.extend([((20 + options.len()) as u8 / 4) << 4, flags | echo, 0xff, 0xff, 0, 0, 0, 0]);
    header.extend(options);
    header
}

/// Timestamps (RFC 7323) and SACK blocks (RFC 2018).
fn options(packet: &Packet) -> Vec<u8> {
    let mut options = Vec::new();
    if let Some(telemetry) = packet.telemetry() {
        let sent = (telemetry.sent.as_ps() / 1_000_000) as u32;
        let (value, echo) = if packet.kind == PacketType::Data { (sent, 0) } else { (0, sent) };
        options.extend([[1, 1, 8, 10], value.to_be_bytes(), echo.to_be_bytes()].concat());
    }
    if !packet.sack().is_empty() {
        let edge = |seq: u64| (seq as u32).wrapping_add(1).to_be_bytes();
        let blocks: Vec<u8> = packet
            .sack()
            .ranges(packet.seq)
            .flat_map(|(start, end)| [edge(start), edge(end)].concat())
            .collect();
        options.extend([1, 1, 5, 2 + blocks.len() as u8]);
        options.extend(blocks);
    }
    options
}

fn udp(ports: [u16; 2], packet: &Packet) -> Vec<u8> {
    let mut header = ports.map(u16::to_be_bytes).concat();
    header.extend((24 + packet.payload).to_be_bytes());
    header.extend([0, 0, b'S', b'H', b'F', b'L', packet.kind as u8, 0, 0, 0]);
    header.extend(packet.seq.to_be_bytes());
    header
}

/// The Internet checksum (RFC 1071) over parts of even length.
fn checksum(parts: &[&[u8]]) -> u16 {
    let words = parts.iter().flat_map(|part| part.chunks_exact(2));
    let mut sum: u32 = words.map(|word| u32::from(u16::from_be_bytes([word[0], word[1]]))).sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}
