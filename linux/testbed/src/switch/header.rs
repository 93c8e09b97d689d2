//! Frame fields that the switch reads, and the ECN field, which it also writes.

use shortflow_sim::packet::EcnField;
use shortflow_units::HostId;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// Length of an Ethernet header.
pub const ETHERNET: usize = 14;
const IPV4: [u8; 2] = [0x08, 0x00];
const IPV6: [u8; 2] = [0x86, 0xdd];
const TCP: u8 = 6;

/// Returns the IPv4 address of a host of the testbed, in 10.83.0.0/16. Host 0 has 10.83.0.1.
pub fn ipv4(host: HostId) -> Ipv4Addr {
    let [high, low] = ((host.0 + 1) as u16).to_be_bytes();
    Ipv4Addr::new(10, 83, high, low)
}

/// Returns the IPv6 address of a host of the testbed, in fd53:46::/64. Host 0 has fd53:46::1.
pub fn ipv6(host: HostId) -> Ipv6Addr {
    Ipv6Addr::new(0xfd53, 0x46, 0, 0, 0, 0, 0, (host.0 + 1) as u16)
}

/// Returns the host with this address, `None` for an address outside the testbed.
pub fn host_of(address: IpAddr) -> Option<HostId> {
    let number = match address {
        IpAddr::V4(address) => match address.octets() {
            [10, 83, high, low] => u16::from_be_bytes([high, low]),
            _ => return None,
        },
        IpAddr::V6(address) => match address.segments() {
            [0xfd53, 0x46, 0, 0, 0, 0, 0, number] => number,
            _ => return None,
        },
    };
    number.checked_sub(1).map(|number| HostId(number.into()))
}

/// Fields of a frame on which queues act.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// Destination.
    pub to: HostId,
    /// ECN field.
    pub ecn: EcnField,
    /// Rank that the sender's DSCP marking wrote: the flow label of IPv6, or the DSCP of IPv4. A packet of lower rank
    /// leaves sooner.
    pub priority: u32,
    /// Length of the IP packet in bytes, which is the packet's size on a link of the simulator.
    pub wire: u16,
    /// TCP payload in bytes.
    pub payload: u16,
    /// Number of the connection in this direction: a hash of addresses and ports.
    pub flow: u32,
}

/// Reads a frame. Returns `None` unless it is an IP packet to a host of the testbed.
pub fn read(frame: &[u8]) -> Option<Header> {
    let packet = frame.get(ETHERNET..)?;
    match [*frame.get(12)?, *frame.get(13)?] {
        IPV4 => read_ipv4(packet),
        IPV6 => read_ipv6(packet),
        _ => None,
    }
}

fn read_ipv4(packet: &[u8]) -> Option<Header> {
    let fixed: &[u8; 20] = packet.first_chunk()?;
    let header = usize::from(fixed[0] & 15) * 4;
    let wire = u16::from_be_bytes([fixed[2], fixed[3]]);
    let to = host_of(Ipv4Addr::new(fixed[16], fixed[17], fixed[18], fixed[19]).into())?;
    let (payload, ports) = transport(fixed[9], packet.get(header..usize::from(wire))?);
    Some(Header {
        to,
        ecn: ecn(fixed[1]),
        priority: u32::from(fixed[1] >> 2),
        wire,
        payload,
        flow: hash(&[&fixed[12..20], &ports]),
    })
}

fn read_ipv6(packet: &[u8]) -> Option<Header> {
    let fixed: &[u8; 40] = packet.first_chunk()?;
    let wire = u16::from_be_bytes([fixed[4], fixed[5]]).checked_add(40)?;
    let destination: [u8; 16] = *fixed[24..].first_chunk()?;
    let to = host_of(Ipv6Addr::from(destination).into())?;
    let (payload, ports) = transport(fixed[6], packet.get(40..usize::from(wire))?);
    Some(Header {
        to,
        ecn: ecn(fixed[1] >> 4),
        priority: u32::from_be_bytes([0, fixed[1] & 15, fixed[2], fixed[3]]),
        wire,
        payload,
        flow: hash(&[&fixed[8..40], &ports]),
    })
}

/// Returns the bytes of payload and the ports of a TCP segment; zeros for another protocol.
fn transport(protocol: u8, segment: &[u8]) -> (u16, [u8; 4]) {
    match segment.first_chunk::<20>().filter(|_| protocol == TCP) {
        Some(tcp) => {
            let header = usize::from(tcp[12] >> 4) * 4;
            (segment.len().saturating_sub(header) as u16, [tcp[0], tcp[1], tcp[2], tcp[3]])
        }
        None => (0, [0; 4]),
    }
}

fn ecn(traffic_class: u8) -> EcnField {
    match traffic_class & 3 {
        0 => EcnField::NotEct,
        3 => EcnField::Ce,
        _ => EcnField::Ect,
    }
}

/// Returns the [`Header::flow`] of packets from one address to another.
pub fn flow_of(from: SocketAddr, to: SocketAddr) -> u32 {
    let octets = |address: SocketAddr| match address.ip() {
        IpAddr::V4(address) => address.octets().to_vec(),
        IpAddr::V6(address) => address.octets().to_vec(),
    };
    let ports = [from.port().to_be_bytes(), to.port().to_be_bytes()].concat();
    hash(&[&octets(from), &octets(to), &ports])
}

/// FNV-1a.
fn hash(parts: &[&[u8]]) -> u32 {
    let mix = |hash: u32, byte: &u8| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193);
    parts.iter().flat_map(|part| part.iter()).fold(0x811c_9dc5, mix)
}

/// Sets CE, and in an IPv4 packet updates the header checksum (RFC 1624).
pub fn set_ce(frame: &mut [u8]) {
    let Some((ethernet, packet)) = frame.split_at_mut_checked(ETHERNET) else { return };
    match ([ethernet[12], ethernet[13]], packet) {
        (IPV4, packet) if packet.len() >= 20 => {
            let word = |packet: &[u8], at: usize| u16::from_be_bytes([packet[at], packet[at + 1]]);
            let before = word(packet, 0);
            packet[1] |= 3;
            let sum = u32::from(!word(packet, 10)) + u32::from(!before) + u32::from(word(packet, 0));
            let folded = (sum & 0xffff) + (sum >> 16);
            let folded = (folded & 0xffff) + (folded >> 16);
            packet[10..12].copy_from_slice(&(!(folded as u16)).to_be_bytes());
        }
        (IPV6, [_, second, ..]) => *second |= 0x30,
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A TCP segment with 100 bytes of payload from host 0 to host 299.
    fn frame_v4(traffic_class: u8, id: u16) -> Vec<u8> {
        let mut packet =
            vec![0x45, traffic_class, 0, 140, 0, 0, 0x40, 0, 64, TCP, 0, 0, 10, 83, 0, 1, 10, 83, 1, 44];
        packet[4..6].copy_from_slice(&id.to_be_bytes());
        let sum = checksum(&packet);
        packet[10..12].copy_from_slice(&sum.to_be_bytes());
        let mut tcp = vec![0; 120];
        (tcp[1], tcp[3], tcp[12]) = (7, 9, 5 << 4);
        [[0; 12].to_vec(), IPV4.to_vec(), packet, tcp].concat()
    }

    /// RFC 791: the ones' complement of the ones' complement sum, the checksum taken as 0.
    fn checksum(header: &[u8]) -> u16 {
        let words = header.chunks(2).enumerate().filter(|(i, _)| *i != 5);
        let sum: u32 = words.map(|(_, word)| u32::from(u16::from_be_bytes([word[0], word[1]]))).sum();
        !((sum & 0xffff) + (sum >> 16)) as u16
    }

    #[test]
    fn an_ipv4_frame() {
        let header = read(&frame_v4(46 << 2 | 2, 1)).unwrap();
        assert_eq!((header.to, header.ecn, header.priority), (HostId(299), EcnField::Ect, 46));
        assert_eq!((header.wire, header.payload), (140, 100));
        let (from, to): (SocketAddr, SocketAddr) =
            ((ipv4(HostId(0)), 7).into(), (ipv4(HostId(299)), 9).into());
        assert_eq!(header.flow, flow_of(from, to));
        assert_ne!(header.flow, flow_of(to, from));
    }

    #[test]
    fn an_ipv6_frame_and_its_mark() {
        let (from, to) = (ipv6(HostId(0)).octets(), ipv6(HostId(2)).octets());
        let fixed = [0x60, 0x2a, 0xbc, 0xde, 0, 20, TCP, 64];
        let mut tcp = [0; 20];
        tcp[12] = 5 << 4;
        let mut frame = [&[0; 12][..], &IPV6, &fixed, &from, &to, &tcp].concat();
        let header = read(&frame).unwrap();
        assert_eq!((header.to, header.ecn, header.priority), (HostId(2), EcnField::Ect, 0xabcde));
        assert_eq!((header.wire, header.payload), (60, 0));
        assert_eq!(header.flow, flow_of((from, 0).into(), (to, 0).into()));
        set_ce(&mut frame);
        let marked = read(&frame).unwrap();
        assert_eq!(marked, Header { ecn: EcnField::Ce, ..header });
    }

    #[test]
    fn packets_for_no_host_are_not_read() {
        let mut arp = frame_v4(0, 1);
        arp[12..14].copy_from_slice(&[0x08, 0x06]);
        let mut elsewhere = frame_v4(0, 1);
        elsewhere[ETHERNET + 16] = 11;
        for frame in [&arp[..], &elsewhere, &elsewhere[..20], &[]] {
            assert_eq!(read(frame), None);
        }
    }

    #[test]
    fn addresses_and_hosts() {
        for host in [0, 1, 254, 255, 256, 999].map(HostId) {
            assert_eq!(host_of(ipv4(host).into()), Some(host));
            assert_eq!(host_of(ipv6(host).into()), Some(host));
        }
        assert_eq!(host_of("10.83.0.0".parse().unwrap()), None);
    }

    proptest! {
        #[test]
        fn a_mark_keeps_the_checksum_right(class: u8, id: u16) {
            let mut frame = frame_v4(class, id);
            set_ce(&mut frame);
            let packet = &frame[ETHERNET..];
            prop_assert_eq!(packet[1], class | 3);
            let stored = u16::from_be_bytes([packet[10], packet[11]]);
            // 0 and 0xffff are the same number in ones' complement.
            let right = checksum(&packet[..20]);
            prop_assert!(stored == right || (stored ^ right) == 0xffff && (right == 0 || stored == 0));
        }
    }
}
