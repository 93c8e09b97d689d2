//! What packets find on their way, for controls that read it: stamps, and samples of round-trip time, delays and delivery
//! rate (draft-ietf-ccwg-bbr §4.1).
//!
//! The stamp of a packet holds what the draft has a sender remember of it, and the answer brings it back, so nothing is
//! looked up. An ACK answers the packet that caused it, a delayed one the last of those that it stands for.

use crate::packet::{Extension, Stamp};
use shortflow_cc::PathSample;
use shortflow_units::{Bytes, Instant, Rate, Span};

/// What a sender keeps for its stamps and samples.
#[derive(Debug)]
pub struct PathMeter {
    /// C.delivered and C.delivered_time of the draft.
    delivered: u64,
    delivered_at: Instant,
    /// C.first_send_time.
    first_sent: Instant,
    /// C.app_limited: what is delivered when the last packet is that left before data ran out.
    idle_until: u64,
    min_rtt: Span,
    last_rtt: Span,
}

impl Default for PathMeter {
    fn default() -> PathMeter {
        PathMeter {
            delivered: 0,
            delivered_at: Instant::ZERO,
            first_sent: Instant::ZERO,
            idle_until: 0,
            min_rtt: Span::MAX,
            last_rtt: Span::ZERO,
        }
    }
}

impl PathMeter {
    /// The last round-trip time; zero before the first.
    pub fn last_rtt(&self) -> Span {
        self.last_rtt
    }

    /// Data has run out, with all up to byte `sent` on its way.
    pub fn note_idle(&mut self, sent: u64) {
        self.idle_until = sent;
    }

    /// What a packet carries that leaves now; with nothing else in flight a new rate sample begins.
    pub fn stamp(&mut self, now: Instant, is_alone: bool) -> Box<Extension> {
        if is_alone {
            (self.first_sent, self.delivered_at) = (now, now);
        }
        let PathMeter { delivered, delivered_at, first_sent, .. } = *self;
        let app_limited = self.idle_until > delivered;
        let stamp = Stamp { sent: now, delivered, delivered_at, first_sent, app_limited, ..Stamp::default() };
        Box::new(Extension { stamp: Some(stamp), ..Extension::default() })
    }

    /// The answer to a packet with this stamp, when `delivered` bytes are known to be.
    pub fn sample(&mut self, now: Instant, stamp: Stamp, delivered: u64) -> PathSample {
        if delivered > self.delivered {
            (self.delivered, self.delivered_at) = (delivered, now);
        }
        self.last_rtt = now.since(stamp.sent);
        self.min_rtt = self.min_rtt.min(self.last_rtt);
        let send_elapsed = stamp.sent.since(stamp.first_sent);
        let ack_elapsed = self.delivered_at.since(stamp.delivered_at);
        self.first_sent = self.first_sent.max(stamp.sent);
        let interval = send_elapsed.max(ack_elapsed);
        let gained = Bytes::new(self.delivered.saturating_sub(stamp.delivered));
        PathSample {
            rtt: self.last_rtt,
            min_rtt: self.min_rtt,
            in_switches: stamp.in_switches,
            in_hosts: stamp.in_hosts,
            hops: stamp.hops,
            delivered: Bytes::new(self.delivered),
            rate: if interval < self.min_rtt { None } else { Rate::of(gained, interval) },
            app_limited: stamp.app_limited,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(us: u64) -> Instant {
        Instant::ZERO + Span::from_micros(us)
    }

    /// Ten packets of 1500 bytes, 12 µs apart, whose ACKs come 100 µs later, 24 µs apart: 1 Gbit/s sent, half of it
    /// delivered. The last ACK comes at 316 µs; the packet left when nothing was delivered, and sampling began at 0.
    #[test]
    fn the_slower_of_sending_and_delivery_is_the_rate() {
        let mut meter = PathMeter::default();
        let stamps: Vec<Stamp> = (0..10).map(|i| meter.stamp(at(12 * i), i == 0).stamp.unwrap()).collect();
        let samples: Vec<PathSample> =
            (0..10).map(|i| meter.sample(at(100 + 24 * i), stamps[i as usize], 1500 * (i + 1))).collect();
        assert_eq!(samples[0].rate, Rate::of(Bytes::new(1500), Span::from_micros(100)));
        assert_eq!(samples[9].rate, Rate::of(Bytes::new(15_000), Span::from_micros(316)));
        assert_eq!((samples[9].rtt, samples[9].min_rtt), (Span::from_micros(208), Span::from_micros(100)));
        let late = meter.stamp(at(316), false).stamp.unwrap();
        let sample = meter.sample(at(436), late, 16_500);
        assert_eq!(
            sample.rate,
            Rate::of(Bytes::new(1500), Span::from_micros(208)),
            "sent 208 us after the one before"
        );
    }

    /// Over less than the smallest round-trip time a rate says nothing; data that ran out marks what was sent since.
    #[test]
    fn what_a_sample_cannot_tell_is_said() {
        let mut meter = PathMeter::default();
        let first = meter.stamp(at(0), true).stamp.unwrap();
        meter.sample(at(100), first, 1500);
        let retransmitted = Stamp { sent: at(90), first_sent: at(80), delivered_at: at(100), ..first };
        assert_eq!(meter.sample(at(200), retransmitted, 1500).rate, None);
        meter.note_idle(3000);
        let limited = meter.stamp(at(210), false).stamp.unwrap();
        meter.sample(at(310), limited, 3000);
        let free = meter.stamp(at(320), false).stamp.unwrap();
        assert_eq!((limited.app_limited, free.app_limited), (true, false));
    }
}
