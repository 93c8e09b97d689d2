//! RED — Floyd and Jacobson, "Random Early Detection Gateways for Congestion Avoidance", ToN 1993. The gentle
//! variant and the defaults (max_th = 3 min_th, max_p = 0.1, w_q = 0.002) are by Floyd, 2000, and the marks
//! by RFC 3168.
//!
//! | symbol | field |
//! |---|---|
//! | min_th | [`Params::min`], in packets or bytes; `auto` is K of the switch |
//! | max_th | [`Params::max`] · min_th, or `mark_all_above` of the switch |
//! | max_p | [`Params::max_p`], or `mark_probability` of the switch |
//! | min_th, max_th and max_p by the rate of the port | [`Params::curves`] |
//! | w_q | [`Params::weight`] |
//! | avg, count | `average`, `count` |
//! | q_time | `idle_from`: end of the transmission of the last packet accepted so far |
//! | s | `slot`: time to send 1500 bytes |
//!
//! With weight 1, the average is the present backlog. With max 1 too, RED is step marking.
//!
//! Deviations and choices:
//! - q is the backlog that the arriving packet finds, including the packet in transmission. With
//!   [`Params::mark`] at departure, q is the backlog that a packet leaves behind, and the average changes at
//!   departures.
//! - Above max_th (2 max_th if gentle), every ECN-capable packet is marked and not dropped. Linux and the
//!   DCTCP configuration of RED do this, and RFC 3168 §7 allows it.
//! - Probabilities do not depend on the size of a packet, even with thresholds in bytes (the paper's "packet
//!   mode").
//! - The count is that of §7, so the first packet after a mark sees 0. In Fig. 2, it sees 1. The longest gap
//!   is then one packet shorter than the paper's analysis states.
//! - A drop by a full buffer restarts the count, as in ns-2.

use super::{Backlog, DropReason, MarkAt, PortSetup, QueueDiscipline, QueueInfo, Room, Verdict};
use crate::config::{Flag, Format, KeywordOr, OCCUPANCY, Shape, Unit, keys};
use crate::engine::Stream;
use crate::packet::Frame;
use shortflow_spec::{Curve, RATE_CURVES, RateCurves, Value};
use shortflow_units::{Bytes, Instant, Occupancy, Rate, Span};

/// Registry entry.
pub(crate) const INFO: QueueInfo = QueueInfo {
    name: "red",
    summary: "first in, first out; marks or drops at random, more often the longer the average queue",
    source: "RED, ToN 1993; RFC 3168",
    by_priority: false,
    reads_k: true,
    trims: false,
};

/// A minimum threshold, which is above zero.
struct Threshold;

impl Format for Threshold {
    type Value = Occupancy;
    fn read(&self, value: &Value) -> Option<Occupancy> {
        OCCUPANCY.read(value).filter(|threshold| !is_zero(*threshold))
    }
    fn shape(&self) -> Shape {
        Shape::Quantity { unit: Unit::Threshold, low: None, high: None }
    }
}

fn is_zero(threshold: Occupancy) -> bool {
    matches!(threshold, Occupancy::Packets(0) | Occupancy::Bytes(Bytes::ZERO))
}

impl Params {
    /// True if K of the port can be the minimum threshold, or is not read. With K = 0, an empty queue reaches
    /// both thresholds, and every packet that cannot be marked is dropped.
    pub fn accepts(&self, mark_above: Occupancy) -> bool {
        !self.reads_k() || !is_zero(mark_above)
    }

    /// True if K of the port is the minimum threshold.
    pub fn reads_k(&self) -> bool {
        self.min.is_none() && self.curves.is_none()
    }
}

keys! {
    /// Parameters of thresholds and marks. The scenario sets the buffer.
    pub struct Params {
        /// minimum threshold, maximum threshold, and probability at the maximum, for each rate of a port; none: min,
        /// max and max_p
        pub curves: Option<RateCurves> = "none", KeywordOr("none", RATE_CURVES);
        /// minimum threshold; auto: mark_above of the switch; mark_all_above and mark_probability of the switch then
        /// apply too
        pub min: Option<Occupancy> = "auto", KeywordOr("auto", Threshold), acts: curves == none;
        /// maximum threshold, in multiples of the minimum
        pub max: f64 = "3", 1.0..=100.0, acts: curves == none && min != auto || curves == none && leaves_max;
        /// probability of a mark at the maximum threshold
        pub max_p: f64 = "0.1", 0.0..=1.0, acts: curves == none && min != auto || curves == none && leaves_max_p;
        /// weight of a new arrival in the average backlog; 1: the instantaneous backlog
        pub weight: f64 = "0.002", 0.000001..=1.0, acts: curves != none || min != auto || has_threshold;
        /// above the maximum threshold, let the probability rise linearly, up to 1 at twice this threshold
        pub gentle: bool = "true", Flag, acts: curves != none || min != auto || has_threshold;
        /// mark ECN-capable packets; false: drop them
        pub ecn: bool = "true", Flag, acts: ecn && curves != none || ecn && min != auto || ecn && has_threshold;
        /// drop chosen packets that are not ECN-capable, such as ACKs; false: let them pass. Linux's DCTCP sends
        /// ECN-capable ACKs, and the simulator's DCTCP does not
        pub drop_not_ect: bool = "true", Flag, acts: ecn && curves != none || ecn && min != auto || ecn && has_threshold;
        /// time of the decision: arrival: by the backlog that the packet finds; departure: by the backlog that it
        /// leaves behind
        pub mark: MarkAt = "arrival", MarkAt::WORDS, acts: curves != none || min != auto || has_threshold;
        /// space marks evenly; false: mark each packet independently, so that the share of marked packets is the
        /// probability
        pub spread: bool = "true", Flag, acts: curves != none || min != auto || has_threshold;
    }
}

/// Number of packets or bytes.
fn amount(threshold: Occupancy) -> f64 {
    match threshold {
        Occupancy::Bytes(bytes) => bytes.as_f64(),
        Occupancy::Packets(packets) => f64::from(packets),
        Occupancy::Unlimited => f64::INFINITY,
    }
}

/// Random early detection with a finite buffer.
#[derive(Debug, Clone)]
pub struct Red {
    weight: f64,
    gentle: bool,
    ecn: bool,
    drop_not_ect: bool,
    spread: bool,
    min: Occupancy,
    /// max_th, in the unit of `min`.
    max: f64,
    max_p: f64,
    rate: Rate,
    gap: Bytes,
    slot: Span,
    stream: Stream,
    average: f64,
    /// Packets since the last mark or drop; 0 below the minimum threshold.
    count: u32,
    idle_from: Instant,
}

impl Red {
    /// The discipline of a port.
    pub fn new(params: Params, port: PortSetup) -> Self {
        let PortSetup { mark_above, mark_all_above, mark_probability, rate, gap, seeds, index, .. } = port;
        let of_port = params.min.is_none(); // with a threshold of the scheme, the other values are the scheme's too
        let min = params.min.unwrap_or(mark_above);
        let max = mark_all_above.filter(|_| of_port).map_or(amount(min) * params.max, amount);
        let max_p = mark_probability.filter(|_| of_port).unwrap_or(params.max_p);
        // Runs are refused if a port's rate has no curve.
        let of_rate = params.curves.as_ref().and_then(|curves| curves.of(rate));
        let of_rate = of_rate.map(|Curve { min, max, max_p }| (min, amount(max), max_p));
        let (min, max, max_p) = of_rate.unwrap_or((min, max, max_p));
        let Params { weight, gentle, ecn, drop_not_ect, spread, .. } = params;
        Red {
            weight,
            gentle,
            ecn,
            drop_not_ect,
            spread,
            min,
            max,
            max_p,
            rate,
            gap,
            slot: rate.tx_time(Bytes::new(1500)),
            stream: seeds.stream("red", index),
            average: 0.0,
            count: 0,
            idle_from: Instant::ZERO,
        }
    }

    /// "Calculate the new average queue size", Fig. 2 of the paper.
    fn observe(&mut self, now: Instant, found: Backlog) {
        let weight = self.weight;
        if weight == 1.0 {
            self.average = self.measure(found); // at m = 0 the power below is 1
        } else if found.packets == 0 {
            let idle = now.since(self.idle_from).as_ps() as f64 / self.slot.as_ps() as f64; // m
            self.average *= libm::pow(1.0 - weight, idle);
        } else {
            self.average += weight * (self.measure(found) - self.average);
        }
    }

    /// A backlog in the unit of the thresholds.
    fn measure(&self, found: Backlog) -> f64 {
        match self.min {
            Occupancy::Bytes(_) => found.bytes.as_f64(),
            Occupancy::Packets(_) | Occupancy::Unlimited => f64::from(found.packets),
        }
    }

    /// p_b (Eq. 2 of the paper), with gentle RED's second slope; `None` below the minimum threshold.
    fn probability(&self) -> Option<f64> {
        let (min, max, max_p) = (amount(self.min), self.max, self.max_p);
        if self.average < min {
            None
        } else if self.average < max {
            Some(max_p * (self.average - min) / (max - min))
        } else if self.gentle && self.average < 2.0 * max {
            Some(max_p + (1.0 - max_p) * (self.average - max) / max)
        } else {
            Some(1.0)
        }
    }

    /// Decides whether to mark or drop this packet. The gaps between such packets are uniformly distributed
    /// (Eq. 3 and 4 of the paper).
    fn is_chosen(&mut self) -> bool {
        let Some(probability) = self.probability() else {
            self.count = 0;
            return false;
        };
        let since = if self.spread { self.count } else { 0 };
        let spread = 1.0 - f64::from(since) * probability;
        let chosen = probability >= spread || self.stream.unit() < probability / spread; // p_a
        self.count = if chosen { 0 } else { self.count + 1 };
        chosen
    }
}

impl QueueDiscipline for Red {
    fn arrive(&mut self, now: Instant, room: Room, packet: Frame) -> Verdict {
        self.observe(now, room.found);
        if !room.fits(packet.size) {
            self.count = 0;
            return Verdict::Dropped(DropReason::BufferFull);
        }
        let verdict = match self.is_chosen() {
            false => Verdict::Queued,
            true if self.ecn && packet.is_ecn_capable() => Verdict::Marked,
            true if self.ecn && !self.drop_not_ect => Verdict::Queued,
            true => return Verdict::Dropped(DropReason::Early),
        };
        self.idle_from = self.idle_from.max(now) + self.rate.tx_time(packet.size + self.gap);
        verdict
    }
}

#[cfg(test)]
mod tests {
    use super::super::step_ecn::{self, StepEcn};
    use super::super::testing::{ack, packet, port};
    use super::*;

    /// Room of a packet that finds `packets` packets in a buffer of 250.
    fn found(packets: u32) -> Room {
        let found = Backlog { packets, bytes: Bytes::new(u64::from(packets) * 1500) };
        Room { found, limit: Occupancy::Packets(250) }
    }

    fn red(min: &str, params: Params) -> Red {
        Red::new(Params { min: min.parse().ok(), ..params }, port("20pkt"))
    }

    fn instantaneous() -> Params {
        Params { weight: 1.0, ..Params::default() }
    }

    /// With min 10, max 30 and max_p 0.1, the probability is 0.05 half-way, and gently 0.1 + 0.9 · (45 −
    /// 30)/30 = 0.55 at 45.
    #[test]
    fn probability_rises_between_the_thresholds_and_gently_beyond() {
        let mut red = red("10pkt", instantaneous());
        for (backlog, expected) in
            [(9, None), (10, Some(0.0)), (20, Some(0.05)), (45, Some(0.55)), (60, Some(1.0))]
        {
            red.observe(Instant::ZERO, found(backlog).found);
            assert_eq!(red.probability(), expected, "{backlog}");
        }
        red.gentle = false;
        red.observe(Instant::ZERO, found(30).found);
        assert_eq!(red.probability(), Some(1.0));
    }

    /// A curve of a switch, in bytes: the probability is 0.2 · (300 − 100)/(500 − 100) = 0.1 at 300 KB, and 1
    /// from 500 KB on.
    #[test]
    fn a_port_may_have_a_curve_of_its_own() {
        let bytes = |kb: u64| Occupancy::Bytes(Bytes::new(kb * 1000));
        let port =
            PortSetup { mark_all_above: Some(bytes(500)), mark_probability: Some(0.2), ..port("100KB") };
        let at = |red: &mut Red, kb: u64| {
            red.observe(Instant::ZERO, Backlog { packets: 1, bytes: Bytes::new(kb * 1000) });
            red.probability()
        };
        let mut red = Red::new(Params { gentle: false, ..instantaneous() }, port.clone());
        let curve = [99, 100, 300, 500].map(|kb| at(&mut red, kb));
        assert_eq!(curve, [None, Some(0.0), Some(0.1), Some(1.0)]);
        let own = Params { min: Some(bytes(200)), max: 2.0, ..instantaneous() };
        assert_eq!(at(&mut Red::new(own, port), 300), Some(0.05), "the scheme's: 0.1 · (300 − 200)/200");
    }

    /// A port of 1 Gbit/s has a curve between 100 and 500 KB. Its probability is 0.2 · (300 − 100)/(500 −
    /// 100) = 0.1 at 300 KB, whatever min, max and K are.
    #[test]
    fn a_port_takes_the_curve_of_its_rate() {
        let text = toml::Value::String("1Gbps 100KB 500KB 0.2; 40Gbps 5KB 200KB 0.01".to_owned());
        let params = Params { curves: RATE_CURVES.read(&text), ..instantaneous() };
        assert!(params.accepts(Occupancy::Packets(0)), "K is not read");
        let mut red = red("10pkt", Params { gentle: false, ..params });
        let curve = [99, 100, 300, 500].map(|kb: u64| {
            red.observe(Instant::ZERO, Backlog { packets: 1, bytes: Bytes::new(kb * 1000) });
            red.probability()
        });
        assert_eq!(curve, [None, Some(0.0), Some(0.1), Some(1.0)]);
    }

    /// Section 7 of the paper: with p_b = 0.05, the gap between two marks is uniform on 1 … 20. Each gap has
    /// the same probability, and the longest gap is 20.
    #[test]
    fn gaps_between_marks_are_uniform() {
        let mut red = red("10pkt", instantaneous());
        let (mut gaps, mut gap) = ([0u32; 21], 0);
        for _ in 0..210_000 {
            gap += 1;
            if red.arrive(Instant::ZERO, found(20), packet(0, 0, 0).frame()) == Verdict::Marked {
                gaps[gap] += 1;
                gap = 0;
            }
        }
        assert_eq!(gaps[0], 0);
        let expected = 20_000.0 / 20.0;
        assert!(gaps[1..].iter().all(|&n| (f64::from(n) / expected - 1.0).abs() < 0.2), "{gaps:?}");
    }

    /// Without `spread`, each packet is chosen with probability 0.05. In 19 of 20 series, the share deviates
    /// by at most 0.0005.
    #[test]
    fn each_packet_may_be_chosen_by_itself() {
        let mut red = red("10pkt", Params { spread: false, ..instantaneous() });
        let mut chosen = || red.arrive(Instant::ZERO, found(20), packet(0, 0, 0).frame()) == Verdict::Marked;
        let marks = (0..800_000).filter(|_| chosen()).count();
        assert!((marks as f64 / 800_000.0 - 0.05).abs() < 0.001, "{marks}");
    }

    /// At 1 ms, 20 packets are queued. With weight 0.5, the average is 10. It is 10 / 2¹⁰ after 10 idle slots
    /// of 12 µs.
    #[test]
    fn the_average_decays_while_the_port_is_idle() {
        let mut red = red("10pkt", Params { weight: 0.5, ..Params::default() });
        let start = Instant::ZERO + Span::from_micros(1_000);
        red.arrive(start, found(20), packet(0, 0, 0).frame());
        assert_eq!(red.average, 10.0);
        let idle_from = start + Span::from_micros(12); // the packet's own transmission
        red.arrive(idle_from + Span::from_micros(120), found(0), packet(0, 0, 0).frame());
        assert!((red.average / (10.0 / 1024.0) - 1.0).abs() < 1e-12, "{}", red.average);
    }

    /// A packet finds 30 packets and is marked. The next packet comes when the port becomes idle.
    #[test]
    fn with_weight_one_a_port_that_is_just_empty_marks_nothing() {
        let mut red = red("10pkt", Params { max: 1.0, gentle: false, ..instantaneous() });
        assert_eq!(red.arrive(Instant::ZERO, found(30), packet(0, 0, 0).frame()), Verdict::Marked);
        let idle_from = Instant::ZERO + Span::from_micros(12);
        assert_eq!(red.arrive(idle_from, found(0), packet(0, 1, 0).frame()), Verdict::Queued);
        assert_eq!(red.average, 0.0);
    }

    #[test]
    fn what_is_not_ecn_capable_is_dropped_early() {
        let mut red = red("10pkt", Params { max: 1.0, gentle: false, ..instantaneous() });
        assert_eq!(red.arrive(Instant::ZERO, found(10), ack(0).frame()), Verdict::Dropped(DropReason::Early));
        red.ecn = false;
        let data = packet(0, 0, 0);
        assert_eq!(red.arrive(Instant::ZERO, found(10), data.frame()), Verdict::Dropped(DropReason::Early));
        assert_eq!(red.arrive(Instant::ZERO, found(9), data.frame()), Verdict::Queued);
        assert_eq!(
            red.arrive(Instant::ZERO, found(250), data.frame()),
            Verdict::Dropped(DropReason::BufferFull)
        );
    }

    #[test]
    fn packets_that_cannot_be_marked_may_pass() {
        let mut red = red("10pkt", Params { max: 1.0, drop_not_ect: false, ..instantaneous() });
        assert_eq!(red.arrive(Instant::ZERO, found(30), ack(0).frame()), Verdict::Queued);
        assert_eq!(red.arrive(Instant::ZERO, found(30), packet(0, 0, 0).frame()), Verdict::Marked);
        red.ecn = false;
        assert_eq!(red.arrive(Instant::ZERO, found(30), ack(0).frame()), Verdict::Dropped(DropReason::Early));
    }

    /// With a minimum threshold of 0, an empty queue reaches the threshold, and ACKs would never pass.
    #[test]
    fn the_minimum_threshold_is_above_zero() {
        let (automatic, given) =
            (Params::default(), Params { min: "5pkt".parse().ok(), ..Params::default() });
        assert!(!automatic.accepts(Occupancy::Packets(0)) && automatic.accepts(Occupancy::Packets(1)));
        assert!(given.accepts(Occupancy::Packets(0)));
    }

    /// Both thresholds are at 21 packets, and the weight is 1. This is DCTCP's step above 20 packets.
    #[test]
    fn step_marking_is_a_special_case() {
        let mut red = red("21pkt", Params { max: 1.0, gentle: false, ..instantaneous() });
        let mut step = StepEcn::new(step_ecn::Params::default(), port("20pkt"));
        for backlog in (0..=250).chain((0..250).rev()) {
            let red = red.arrive(Instant::ZERO, found(backlog), packet(0, 0, 0).frame());
            assert_eq!(red, step.arrive(Instant::ZERO, found(backlog), packet(0, 0, 0).frame()), "{backlog}");
        }
    }
}
