//! Whether a measurement can be trusted. The network computes with the times at which things are due, so what
//! a late thread costs is delay; here is how much of it is too much.

use super::Measured;
use shortflow_sim::scenario::Scenario;
use shortflow_units::Span;
use std::fmt;

/// Frames whose lateness counts: all but the worst hundredth.
const SHARE: f64 = 0.99;
/// How late they may be, in packets: the time that a full one takes on the slowest link.
const LATE_PACKETS: u64 = 1;
/// How late a flow may start, in packets.
const LATE_START_PACKETS: u64 = 20;
/// A switch that computes for a larger share of the time has no room for bursts.
const BUSY: f64 = 0.9;

/// The answer: the reasons against trust.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trust {
    /// Without any, the measurement can be trusted.
    pub against: Vec<String>,
}

impl fmt::Display for Trust {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.against.as_slice() {
            [] => f.write_str("trustworthy"),
            reasons => write!(f, "not trustworthy: {}", reasons.join("; ")),
        }
    }
}

/// Whether frames left and flows started in time, and nothing was lost outside queues.
pub fn verdict(scenario: &Scenario, measured: &Measured) -> Trust {
    let full = scenario.tcp.mss + scenario.tcp.header;
    let packet = scenario.graph.links.iter().map(|link| link.rate.tx_time(full)).max().unwrap_or(Span::ZERO);
    let (switch, mut against) = (&measured.switch, Vec::new());
    let mut too_late = |what: &str, late: Span, packets: u64| {
        let bound = packet.times(packets);
        if late > bound {
            let (late, bound) = (late.as_secs_f64() * 1e6, bound.as_secs_f64() * 1e6);
            against.push(format!("{what} {late:.0} µs late, more than {bound:.0} µs"));
        }
    };
    too_late("1 % of the frames left at least", switch.lateness.percentile(SHARE), LATE_PACKETS);
    too_late("a flow started", measured.late_starts, LATE_START_PACKETS);
    if switch.lost > 0 {
        against.push(format!("{} frames were lost outside the queues", switch.lost));
    }
    if switch.busy > BUSY {
        against.push(format!("the switch computed for {:.0} % of the time", switch.busy * 100.0));
    }
    Trust { against }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::switch::SwitchReport;
    use shortflow_sim::outcome::{Counters, Outcome};
    use shortflow_units::Instant;

    /// At 100 Mbit/s a packet of 1500 bytes takes 120 µs.
    const SCENARIO: &str = "title = \"t\"\nduration = \"1s\"\n[topology]\nkind = \"star\"\nhosts = 3\n\
        rate = \"100Mbps\"\nrtt = \"1ms\"\n[switch]\nbuffer = \"100pkt\"\nmark_above = \"8pkt\"\n\
        [[traffic]]\nkind = \"long-lived\"\nflows = 1\nfrom = [0]\nto = 2";

    fn measured(late_micros: u64) -> Measured {
        let mut switch = SwitchReport::default();
        (0..100).for_each(|i| switch.lateness.add(Span::from_micros(if i < 98 { 1 } else { late_micros })));
        let (flows, tasks, samples) = (Vec::new(), Vec::new(), Vec::new());
        let (ports, drops, counters) = (Vec::new(), Vec::new(), Counters::default());
        let outcome = Outcome { flows, tasks, samples, ports, drops, counters, end: Instant::ZERO };
        Measured { outcome, switch, late_starts: Span::ZERO, congestion: "reno".to_owned() }
    }

    #[test]
    fn a_packet_time_is_the_bound() {
        let scenario = Scenario::parse(SCENARIO, "t", &[], &|_| Err(String::new())).unwrap();
        assert_eq!(verdict(&scenario, &measured(100)).to_string(), "trustworthy");
        let late = verdict(&scenario, &measured(200)).to_string();
        assert!(late.starts_with("not trustworthy: 1 % of the frames left at least 200 µs late"), "{late}");
        assert!(late.ends_with("more than 120 µs"), "{late}");
        let mut lossy = measured(1);
        (lossy.switch.lost, lossy.switch.busy, lossy.late_starts) = (2, 0.95, Span::from_millis(3));
        assert_eq!(verdict(&scenario, &lossy).against.len(), 3);
    }
}
