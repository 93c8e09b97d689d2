//! Trustworthiness of a measurement: limits on the lateness of the switch and of the hosts' thread. Ports compute
//! with due times, so a late switch adds delay to frames. The hosts' thread records the times of flows, so its delays
//! are measured as part of them. Rare stalls of a few packets change a queue, but no percentile of all frames shows
//! them, so stalls are counted.

use crate::measured::Measured;
use crate::switch::{STALL_PACKETS, Stalls, packet_time};
use shortflow_sim::scenario::Scenario;
use shortflow_units::{Instant, Span};
use std::fmt;

/// Quantile of the timing errors of frames and rounds that is compared with the limit.
const SHARE: f64 = 0.99;
/// Limit of that timing error, in packet times. A packet time is the time of a full packet on the slowest link.
const LATE_PACKETS: u64 = 1;
/// Limit of the stalls of a thread, per second. A measured time of less than 1 s may have none.
const STALLS_PER_SECOND: f64 = 1.0;
/// Limit of the longest stall, in packet times.
const LONGEST_STALL_PACKETS: u64 = 20;
/// Limit of the start error of a flow, in packet times. A delay above it is a stall.
const START_ERROR_PACKETS: u64 = STALL_PACKETS;
/// Limit of the share of time in which the switch computes. A busier switch has no time left for bursts.
const BUSY: f64 = 0.9;

/// Verdict on a measurement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trust {
    /// Reasons against trust. Without any, the measurement is trustworthy.
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

/// Returns the verdict. A run is trustworthy if frames and flows were in time, stalls were rare and short, only
/// queues lost packets, and the switch was not too busy.
pub fn verdict(scenario: &Scenario, measured: &Measured) -> Trust {
    let packet = packet_time(scenario);
    let (switch, mut against) = (&measured.switch, Vec::new());
    let late = |what: &str, late: Span, packets: u64| {
        let bound = packet.times(packets);
        let text = || format!("{what} {} late, more than {}", micros(late), micros(bound));
        (late > bound).then(text)
    };
    against.extend(late(
        "1 % of the frames left at least",
        switch.timing_errors.percentile(SHARE),
        LATE_PACKETS,
    ));
    against.extend(late("a flow started", measured.start_error, START_ERROR_PACKETS));
    for (who, stalls) in [("the switch", &switch.stalls), ("the hosts' thread", &measured.host_stalls)] {
        let steadily = format!("in 1 % of its rounds {who} was at least");
        against.extend(late(&steadily, stalls.errors().percentile(SHARE), LATE_PACKETS));
        against.extend(late(&format!("{who} was"), stalls.longest(), LONGEST_STALL_PACKETS));
        against.extend(
            rates(scenario, measured, stalls).iter().find_map(|rate| rate.against(who, stalls.limit())),
        );
    }
    if switch.lost > 0 {
        against.push(format!("{} frames were lost outside the queues", switch.lost));
    }
    if switch.busy > BUSY {
        against.push(format!("the switch was busy {:.0} % of the time", switch.busy * 100.0));
    }
    Trust { against }
}

/// Stalls of a thread in a part of a run.
#[derive(Debug)]
pub(crate) struct StallRate {
    count: u64,
    seconds: f64,
    part: &'static str,
}

/// Returns the stalls in two parts of a run: in the measured time, whose stalls change queues and goodput, and from
/// the end of the warm-up to the end of the run, whose stalls change completion times.
pub(crate) fn rates(scenario: &Scenario, measured: &Measured, stalls: &Stalls) -> [StallRate; 2] {
    let (warm, over) = (Instant::ZERO + scenario.warmup, Instant::ZERO + scenario.duration);
    let rate = |count, end: Instant, part| StallRate { count, seconds: end.since(warm).as_secs_f64(), part };
    [
        rate(stalls.measured(), over, "measured"),
        rate(stalls.count(), measured.outcome.end.max(over), "after the warm-up"),
    ]
}

impl StallRate {
    /// Stalls per second.
    pub(crate) fn per_second(&self) -> f64 {
        self.count as f64 / self.seconds.max(f64::MIN_POSITIVE)
    }

    /// Returns a reason against trust if there are too many stalls per second.
    fn against(&self, who: &str, limit: Span) -> Option<String> {
        let StallRate { count, seconds, part } = self;
        if self.per_second() <= STALLS_PER_SECOND {
            return None;
        }
        let times = if *count == 1 { "once".to_owned() } else { format!("{count} times") };
        let remedy = match seconds * STALLS_PER_SECOND < 1.0 {
            true => ", too short for one stall: measure a second or more",
            false => "",
        };
        Some(format!(
            "{who} was more than {} late {times} in the {seconds:.1} s {part}{remedy}",
            micros(limit)
        ))
    }
}

fn micros(span: Span) -> String {
    let micros = span.as_secs_f64() * 1e6;
    format!("{micros:.*} µs", if micros >= 10.0 { 0 } else { 2 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::switch::{SwitchReport, no_stalls};
    use shortflow_sim::outcome::{Counters, Outcome};

    /// At 100 Mbit/s a packet of 1500 bytes takes 120 µs.
    const SCENARIO: &str = "title = \"t\"\nduration = \"3s\"\n[topology]\nkind = \"star\"\nhosts = 3\n\
        rate = \"100Mbps\"\nrtt = \"1ms\"\n[switch]\nbuffer = \"100pkt\"\nmark_above = \"8pkt\"\n\
        [[traffic]]\nkind = \"long-lived\"\nflows = 1\nfrom = [0]\nto = 2";

    fn measured(late_micros: u64) -> Measured {
        let mut switch = SwitchReport::default();
        (0..100)
            .for_each(|i| switch.timing_errors.add(Span::from_micros(if i < 98 { 1 } else { late_micros })));
        let (flows, drain_flows, tasks, samples) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let (ports, drops, counters) = (Vec::new(), Vec::new(), Counters::default());
        let end = Instant::ZERO;
        let outcome = Outcome {
            flows,
            drain_flows,
            tasks,
            samples: samples.into_iter().collect(),
            ports,
            drops,
            counters,
            end,
            long_paths: Vec::new(),
        };
        let (host_stalls, start_error) = (Stalls::default(), Span::ZERO);
        Measured { outcome, switch, host_stalls, start_error, congestion: "reno".to_owned() }
    }

    /// The verdict on a run of 30,000 rounds in 3 s, in which one thread is late by `micros` microseconds at the
    /// milliseconds `late_at`. The measured time is from `warmup` to `duration`.
    fn verdict_at(
        is_switch: bool,
        [warmup, duration]: [&str; 2],
        late_at: impl AsRef<[u64]>,
        micros: u64,
    ) -> String {
        let settings = [("warmup", warmup), ("duration", duration)];
        let settings = settings.map(|(key, value)| (key.to_owned(), value.to_owned()));
        let scenario = Scenario::parse(SCENARIO, "t", &settings, &|_| Err(String::new())).unwrap();
        let (mut measured, mut counted) = (measured(1), no_stalls(&scenario));
        for round in 0..30_000 {
            let due = Instant::ZERO + Span::from_micros(100 * round);
            let is_late = round % 10 == 0 && late_at.as_ref().contains(&(round / 10));
            counted.note(due, due + Span::from_micros(if is_late { micros } else { 1 }));
        }
        *if is_switch { &mut measured.switch.stalls } else { &mut measured.host_stalls } = counted;
        measured.outcome.end = Instant::ZERO + Span::from_millis(3000);
        verdict(&scenario, &measured).to_string()
    }

    /// The verdict on a run without a warm-up, in which one thread has `stalls` stalls of `micros` microseconds,
    /// spread evenly.
    fn verdict_of(is_switch: bool, stalls: u64, micros: u64) -> String {
        let late_at: Vec<u64> = (0..stalls).map(|i| i * 3000 / stalls).collect();
        verdict_at(is_switch, ["0s", "3s"], late_at, micros)
    }

    #[test]
    fn neither_warm_up_nor_drain_dilutes_the_stalls_of_the_measured_time() {
        for (who, is_switch) in [("the switch", true), ("the hosts' thread", false)] {
            let of_warm_up = verdict_at(is_switch, ["1s", "3s"], [100, 300, 500, 700, 1200, 2400], 2200);
            assert_eq!(of_warm_up, "trustworthy");
            let late = format!("not trustworthy: {who} was more than 480 µs late");
            for (window, late_at, times) in [
                (["1s", "3s"], &[1200, 1700, 2400][..], "3 times in the 2.0 s measured"),
                (["0s", "2s"], &[500, 700, 900], "3 times in the 2.0 s measured"),
                (["0s", "2s"], &[500, 2100, 2300, 2500], "4 times in the 3.0 s after the warm-up"),
                (
                    ["2500ms", "3s"],
                    &[2700],
                    "once in the 0.5 s measured, too short for one stall: measure a second or more",
                ),
            ] {
                assert_eq!(verdict_at(is_switch, window, late_at, 2200), format!("{late} {times}"));
            }
        }
    }

    /// Six stalls of 1 ms in a second of 8,000 frames delay 48 frames, fewer than the 1 % that the 99th percentile
    /// would show.
    #[test]
    fn stalls_of_either_thread_decide_where_the_percentile_sees_none() {
        for (who, is_switch) in [("the switch", true), ("the hosts' thread", false)] {
            assert_eq!(verdict_of(is_switch, 18, 480), "trustworthy");
            assert_eq!(verdict_of(is_switch, 3, 1000), "trustworthy");
            let many =
                format!("not trustworthy: {who} was more than 480 µs late 4 times in the 3.0 s measured");
            assert_eq!(verdict_of(is_switch, 4, 1000), many);
            assert_eq!(verdict_of(is_switch, 1, 2400), "trustworthy");
            let long = format!("not trustworthy: {who} was 15000 µs late, more than 2400 µs");
            assert_eq!(verdict_of(is_switch, 1, 15_000), long);
        }
    }

    #[test]
    fn steady_lateness_of_either_thread_decides_though_none_is_a_stall() {
        for (who, is_switch) in [("the switch", true), ("the hosts' thread", false)] {
            assert_eq!(verdict_of(is_switch, 290, 300), "trustworthy");
            let steadily = format!(
                "not trustworthy: in 1 % of its rounds {who} was at least 300 µs late, more than 120 µs"
            );
            assert_eq!(verdict_of(is_switch, 310, 300), steadily);
        }
    }

    #[test]
    fn limits_of_fast_links_are_not_rounded_to_nothing() {
        assert_eq!([480, 120_400].map(|nanos| micros(Span::from_nanos(nanos))), ["0.48 µs", "120 µs"]);
    }

    #[test]
    fn a_packet_time_is_the_bound() {
        let scenario = Scenario::parse(SCENARIO, "t", &[], &|_| Err(String::new())).unwrap();
        assert_eq!(verdict(&scenario, &measured(100)).to_string(), "trustworthy");
        let late = verdict(&scenario, &measured(200)).to_string();
        assert!(late.starts_with("not trustworthy: 1 % of the frames left at least 200 µs late"), "{late}");
        assert!(late.ends_with("more than 120 µs"), "{late}");
        let mut lossy = measured(1);
        (lossy.switch.lost, lossy.switch.busy, lossy.start_error) = (2, 0.95, Span::from_micros(500));
        assert_eq!(verdict(&scenario, &lossy).against.len(), 3);
    }
}
