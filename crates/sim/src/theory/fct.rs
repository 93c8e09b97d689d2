//! The completion time of a flow that is alone in the network.

use shortflow_units::{Bytes, Rate, Span};

/// Segments of `size` bytes: the number of full segments of `mss` payload before the last one, and
/// the last one on the wire, `header` included.
fn segments(size: Bytes, mss: Bytes, header: Bytes) -> (u64, Bytes) {
    let mss = mss.get().max(1);
    let full = size.get().div_ceil(mss).saturating_sub(1);
    (full, size.saturating_sub(Bytes::new(full * mss)) + header)
}

/// Time that the segments of `size` bytes take on a link of this rate.
pub fn serialisation(size: Bytes, mss: Bytes, header: Bytes, rate: Rate) -> Span {
    let (full, last) = segments(size, mss, header);
    rate.tx_time(mss + header).times(full) + rate.tx_time(last)
}

/// Time from handing the first of `size` bytes to the transport until the last one is acknowledged,
/// over the links of `path` (rate, one-way propagation delay), when nothing else is on the way and
/// no window limits the sender.
///
/// Packets are stored and forwarded: full segments of `mss` payload and `header`, then the rest. The
/// ACK of the last segment is a header that returns over the links of `back`, which equal-cost paths may
/// lead another way.
pub fn ideal_fct(
    size: Bytes,
    mss: Bytes,
    header: Bytes,
    path: &[(Rate, Span)],
    back: &[(Rate, Span)],
) -> Span {
    let (full_segments, last) = segments(size, mss, header);
    let (mut first_arrives, mut last_arrives) = (Span::ZERO, Span::ZERO); // at the end of each link
    let mut slowest = Span::ZERO;
    for (rate, delay) in path {
        let full_tx = rate.tx_time(mss + header);
        // Equal packets follow each other at the pace of the slowest link so far.
        slowest = slowest.max(full_tx);
        first_arrives += full_tx + *delay;
        let link_free = match full_segments {
            0 => Span::ZERO,
            full => (first_arrives + slowest.times(full - 1)).saturating_sub(*delay),
        };
        last_arrives = last_arrives.max(link_free) + rate.tx_time(last) + *delay;
    }
    back.iter().fold(last_arrives, |sum, (rate, delay)| sum + rate.tx_time(header) + *delay)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MSS: Bytes = Bytes::new(1460);
    const HEADER: Bytes = Bytes::new(40);

    fn gigabit_star() -> [(Rate, Span); 2] {
        [(Rate::new(1_000_000_000).unwrap(), Span::from_micros(75)); 2]
    }

    /// 1500 bytes take 12 us, 40 bytes 0.32 us. The first of three packets arrives after 2 (12 + 75)
    /// = 174 us, the third 24 us later; the ACK needs 2 (0.32 + 75) us.
    #[test]
    fn three_full_segments_over_a_star() {
        let fct = ideal_fct(Bytes::new(3 * 1460), MSS, HEADER, &gigabit_star(), &gigabit_star());
        assert_eq!(fct, Span::from_nanos(174_000 + 24_000 + 150_640));
    }

    /// The last 140 bytes (1.12 us) wait for the second full packet to leave the switch at 111 us.
    #[test]
    fn a_short_last_segment_follows_the_full_ones() {
        let fct = ideal_fct(Bytes::new(2 * 1460 + 100), MSS, HEADER, &gigabit_star(), &gigabit_star());
        assert_eq!(fct, Span::from_nanos(111_000 + 1_120 + 75_000 + 150_640));
    }

    #[test]
    fn one_byte_needs_a_round_trip() {
        let fct = ideal_fct(Bytes::new(1), MSS, HEADER, &gigabit_star(), &gigabit_star());
        assert_eq!(fct, Span::from_nanos(2 * (328 + 75_000) + 150_640));
    }

    /// Two full segments of 12 us and 140 bytes.
    #[test]
    fn headers_take_time_too() {
        let (rate, _) = gigabit_star()[0];
        let time = serialisation(Bytes::new(2 * 1460 + 100), MSS, HEADER, rate);
        assert_eq!(time, Span::from_nanos(24_000 + 1_120));
    }

    #[test]
    fn a_backlogged_flow_saturates() {
        assert_eq!(ideal_fct(Bytes::MAX, MSS, HEADER, &gigabit_star(), &gigabit_star()), Span::MAX);
    }

    /// Oracle that follows each packet: it leaves a node once it has arrived and its predecessor has left.
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
            let path: Vec<(Rate, Span)> = links
                .iter()
                .map(|(rate, us)| (Rate::new(rate * 100_000_000).unwrap(), Span::from_micros(*us)))
                .collect();
            prop_assert_eq!(ideal_fct(Bytes::new(size), MSS, HEADER, &path, &path), packet_by_packet(size, &path));
        }
    }
}
