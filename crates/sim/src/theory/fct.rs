//! Completion time of a flow that is alone in the network.

use crate::net::{LinkChoice, Stage};
use crate::specs::TcpSpec;
use shortflow_units::{Bytes, PortId, Rate, Span};

/// Segments of `size` bytes: the number of full segments before the last one, and the payload of the last
/// segment.
pub(crate) fn segments(size: Bytes, mss: Bytes) -> (u64, Bytes) {
    let mss = mss.get().max(1);
    let full = size.get().div_ceil(mss).saturating_sub(1);
    (full, size.saturating_sub(Bytes::new(full * mss)))
}

/// Transmission time of all segments of `size` bytes on a link of this rate.
pub(crate) fn serialisation(size: Bytes, tcp: &TcpSpec, rate: Rate) -> Span {
    let (full, last) = segments(size, tcp.mss);
    tcp.tx_time(rate, tcp.mss).times(full) + tcp.tx_time(rate, last)
}

/// Path from one host to another.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Path {
    /// Rate and one-way propagation delay of each link. Where each packet chooses among parallel links, the
    /// fastest of them.
    pub links: Vec<(Rate, Span)>,
    /// Number of links before the first choice of this kind.
    pub before_choice: usize,
    /// If packets choose: the smallest total rate of parallel links.
    pub spread: Option<Rate>,
}

impl Path {
    /// The path through these stages.
    pub fn of(stages: &[Stage], link: impl Fn(PortId) -> (Rate, Span)) -> Path {
        let links = stages.iter().map(|stage| link(stage.fastest)).collect();
        let chooses = |stage: &&Stage| stage.choice == LinkChoice::PerPacket;
        let before_choice = stages.iter().take_while(|stage| !chooses(stage)).count();
        let spread = stages.iter().filter(chooses).map(|stage| stage.rate).min();
        Path { links, before_choice, spread }
    }

    /// Rate at which packets pass the slowest link or group of parallel links.
    pub fn rate(&self) -> Option<Rate> {
        self.links.iter().map(|(rate, _)| *rate).chain(self.spread).min()
    }
}

/// Time from handing the first of `size` bytes to the transport until the last byte is acknowledged, over the
/// links of `path`, if the network is empty and no window limits the sender.
///
/// Packets are stored and forwarded: full segments, followed by the remainder. After the first choice per
/// packet, packets do not queue behind each other, but pass parallel links at the links' total rate. Full
/// packets queue again on the last link. The ACK of the last segment is a packet without payload. It returns
/// over the links of `back`, which may be another of several equal paths.
pub fn ideal_fct(size: Bytes, tcp: &TcpSpec, path: &Path, back: &Path) -> Span {
    let (full_segments, last) = segments(size, tcp.mss);
    let (mut first_arrives, mut last_arrives) = (Span::ZERO, Span::ZERO); // at the end of each link
    let (mut slowest, mut full_arrive) = (Span::ZERO, Span::ZERO);
    for (link, (rate, delay)) in path.links.iter().enumerate() {
        let full_tx = tcp.tx_time(*rate, tcp.mss);
        // Packets of equal size follow each other at the pace of the slowest link so far.
        if link < path.before_choice || link + 1 == path.links.len() {
            slowest = slowest.max(full_tx);
        }
        if link == path.before_choice
            && let Some(rate) = path.spread
        {
            slowest = slowest.max(tcp.tx_time(rate, tcp.mss));
        }
        first_arrives += full_tx + *delay;
        full_arrive = match full_segments {
            0 => Span::ZERO,
            full => first_arrives + slowest.times(full - 1),
        };
        if link < path.before_choice {
            // On the common path, the last segment waits behind the last full segment.
            last_arrives = last_arrives.max(full_arrive.saturating_sub(*delay));
        }
        last_arrives += tcp.tx_time(*rate, last) + *delay;
    }
    let arrived = last_arrives.max(full_arrive);
    back.links.iter().fold(arrived, |sum, (rate, delay)| sum + tcp.tx_time(*rate, Bytes::ZERO) + *delay)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Header of a packet with 1460 bytes of payload.
    const HEADER: Bytes = Bytes::new(40);

    fn gigabit(links: usize, before_choice: usize) -> Path {
        let link = (Rate::new(1_000_000_000).unwrap(), Span::from_micros(75));
        Path { links: vec![link; links], before_choice, spread: None }
    }

    /// 1500 bytes take 12 µs and 40 bytes take 0.32 µs; the ACK needs 2 (0.32 + 75) µs. Of three packets, the
    /// first arrives after 2 (12 + 75) = 174 µs, and the third 24 µs later. The last 100 bytes, 1.12 µs with
    /// their header, wait until the second full packet leaves the switch at 111 µs.
    #[test]
    fn times_over_a_star() {
        for (bytes, ns) in [
            (3 * 1460, 174_000 + 24_000 + 150_640),
            (2 * 1460 + 100, 111_000 + 1_120 + 75_000 + 150_640),
            (1, 2 * (328 + 75_000) + 150_640),
        ] {
            let fct = ideal_fct(Bytes::new(bytes), &TcpSpec::default(), &gigabit(2, 2), &gigabit(2, 2));
            assert_eq!(fct, Span::from_nanos(ns), "{bytes} bytes");
        }
        assert_eq!(ideal_fct(Bytes::MAX, &TcpSpec::default(), &gigabit(2, 2), &gigabit(2, 2)), Span::MAX);
    }

    /// The last 140 bytes (1.12 µs) leave 24 µs after the first packet and catch up by 10.88 µs on each of
    /// four links. The second full packet arrives 12 µs after the first, at 4 (12 + 75) + 12 µs.
    #[test]
    fn a_short_last_segment_overtakes_on_another_path() {
        let time = |full: u64| {
            ideal_fct(Bytes::new(full * 1460 + 100), &TcpSpec::default(), &gigabit(4, 1), &Path::default())
        };
        assert_eq!(time(2), Span::from_nanos(4 * 87_000 + 12_000));
        assert_eq!(time(0), Span::from_nanos(4 * 76_120));
        let (together, choice) = (gigabit(4, 4), gigabit(4, 1));
        let full = |path| ideal_fct(Bytes::new(7 * 1460), &TcpSpec::default(), path, &together);
        assert_eq!(full(&choice), full(&together));
    }

    /// A link of 10 Gbit/s, followed by two parallel links of 2 Gbit/s, passes a packet of 1500 bytes every 3
    /// µs. Of 1000 full packets, the first arrives after 1.2 + 2 (6) + 1.2 µs, and the last 2.997 ms later.
    /// The 100 bytes that follow overtake.
    #[test]
    fn sprayed_packets_pass_parallel_links_at_their_rate_together() {
        let gigabits = |rate: u64| (Rate::new(rate * 1_000_000_000).unwrap(), Span::ZERO);
        let links = vec![gigabits(10), gigabits(2), gigabits(2), gigabits(10)];
        let path = Path { links, before_choice: 1, spread: Rate::new(4_000_000_000) };
        let time = ideal_fct(Bytes::new(1000 * 1460 + 100), &TcpSpec::default(), &path, &Path::default());
        assert_eq!(time, Span::from_nanos(1_200 + 2 * 6_000 + 1_200 + 999 * 3_000));
    }

    /// Two full segments of 12 µs, and 140 bytes.
    #[test]
    fn headers_take_time_too() {
        let (rate, _) = gigabit(2, 2).links[0];
        let time = serialisation(Bytes::new(2 * 1460 + 100), &TcpSpec::default(), rate);
        assert_eq!(time, Span::from_nanos(24_000 + 1_120));
    }

    /// Reference model that follows each packet: a packet leaves a node when it has arrived and its
    /// predecessor has left.
    fn packet_by_packet(size: u64, path: &[(Rate, Span)]) -> Span {
        let mut left = vec![Span::ZERO; path.len()];
        let mut done = Span::ZERO;
        for start in (0..size).step_by(1460) {
            let packet = Bytes::new((size - start).min(1460)) + HEADER;
            done = Span::ZERO;
            for ((rate, delay), left) in path.iter().zip(&mut left) {
                *left = done.max(*left) + rate.tx_time(packet);
                done = *left + *delay;
            }
        }
        path.iter().rev().fold(done, |sum, (rate, delay)| sum + rate.tx_time(HEADER) + *delay)
    }

    proptest! {
        #[test]
        fn agrees_with_a_packet_by_packet_account(
            size in 1u64..100_000,
            links in prop::collection::vec((1u64..100, 0u64..500), 1..5),
        ) {
            let link = |(rate, us): &(u64, u64)| (Rate::new(rate * 100_000_000).unwrap(), Span::from_micros(*us));
            let path = Path { links: links.iter().map(link).collect(), before_choice: links.len(), spread: None };
            let back = Path { links: path.links.iter().rev().copied().collect(), ..path.clone() };
            prop_assert_eq!(
                ideal_fct(Bytes::new(size), &TcpSpec::default(), &path, &back),
                packet_by_packet(size, &path.links)
            );
        }
    }
}
