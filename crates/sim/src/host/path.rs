//! Telemetry of packets for laws that read the path, and samples of round-trip time, delays and delivery rate
//! (draft-ietf-ccwg-bbr §4.1).
//!
//! A packet's telemetry holds the draft's per-packet state. The ACK returns the telemetry, so the sender
//! stores no list of packets. A delayed ACK returns the telemetry of the last packet that it acknowledges.
//!
//! Deviation: a packet that waits in the queue of its host counts as in flight (the draft's
//! C.pending_transmissions).

use crate::packet::{Extension, Telemetry};
use shortflow_cc::PathSample;
use shortflow_units::{Bytes, Instant, Rate, Span};

/// Sender state for telemetry and samples.
#[derive(Debug)]
pub struct RateSampler {
    /// C.delivered and C.delivered_time of the draft.
    delivered: u64,
    delivered_at: Instant,
    /// C.first_send_time.
    first_sent: Instant,
    /// C.app_limited: packets are marked as application-limited until `delivered` exceeds this value.
    app_limited: Option<u64>,
    min_rtt: Span,
    last_rtt: Span,
    /// Extensions of acknowledged packets, for the next packets. Each packet would allocate one otherwise, and
    /// each report of a port might enlarge its list.
    #[expect(clippy::vec_box, reason = "a packet takes the box itself")]
    spare: Vec<Box<Extension>>,
}

impl Default for RateSampler {
    fn default() -> RateSampler {
        RateSampler {
            delivered: 0,
            delivered_at: Instant::ZERO,
            first_sent: Instant::ZERO,
            app_limited: None,
            min_rtt: Span::MAX,
            last_rtt: Span::ZERO,
            spare: Vec::new(),
        }
    }
}

impl RateSampler {
    /// The last round-trip time; zero before the first.
    pub fn last_rtt(&self) -> Span {
        self.last_rtt
    }

    /// Notes that data ran out before the window, with `in_flight` bytes in flight
    /// (MarkConnectionAppLimited).
    pub fn note_app_limited(&mut self, in_flight: u64) {
        self.app_limited = Some(self.delivered + in_flight);
    }

    /// Telemetry of a packet that leaves now. If no other data is in flight (`is_alone`), a new rate sample
    /// begins.
    pub fn on_sent(&mut self, now: Instant, is_alone: bool) -> Box<Extension> {
        if is_alone {
            (self.first_sent, self.delivered_at) = (now, now);
        }
        let RateSampler { delivered, delivered_at, first_sent, .. } = *self;
        let app_limited = self.app_limited.is_some();
        let telemetry =
            Telemetry { sent: now, delivered, delivered_at, first_sent, app_limited, ..Telemetry::default() };
        let mut extension = self.spare.pop().unwrap_or_default();
        let mut hops = std::mem::take(&mut extension.hops);
        hops.clear();
        *extension = Extension { telemetry: Some(telemetry), hops, ..Extension::default() };
        extension
    }

    /// Keeps the extension of an ACK that has been read, for a later packet.
    pub fn reuse(&mut self, extension: Option<Box<Extension>>) {
        self.spare.extend(extension);
    }

    /// Path sample from the ACK of a packet with this telemetry, when `delivered` bytes are known to have
    /// arrived.
    pub fn sample(&mut self, now: Instant, telemetry: Telemetry, delivered: u64) -> PathSample {
        let newly_delivered = Bytes::new(delivered.saturating_sub(self.delivered));
        if newly_delivered > Bytes::ZERO {
            (self.delivered, self.delivered_at) = (delivered, now);
            self.app_limited = self.app_limited.filter(|until| delivered <= *until);
        }
        self.last_rtt = now.since(telemetry.sent);
        self.min_rtt = self.min_rtt.min(self.last_rtt);
        let send_elapsed = telemetry.sent.since(telemetry.first_sent);
        let ack_elapsed = self.delivered_at.since(telemetry.delivered_at);
        self.first_sent = self.first_sent.max(telemetry.sent);
        let interval = send_elapsed.max(ack_elapsed);
        let gained = Bytes::new(self.delivered.saturating_sub(telemetry.delivered));
        let says_nothing = newly_delivered == Bytes::ZERO || interval < self.min_rtt;
        PathSample {
            rtt: self.last_rtt,
            min_rtt: self.min_rtt,
            in_switches: telemetry.in_switches,
            in_hosts: telemetry.in_hosts,
            at_sender: telemetry.at_sender,
            at_receiver: telemetry.at_receiver,
            ack_delay: telemetry.ack_delay,
            hops: telemetry.hops,
            delivered: Bytes::new(self.delivered),
            newly_delivered,
            rate: if says_nothing { None } else { Rate::of(gained, interval) },
            app_limited: telemetry.app_limited,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shortflow_cc::HopSample;

    fn at(us: u64) -> Instant {
        Instant::ZERO + Span::from_micros(us)
    }

    /// Nothing of an acknowledged packet stays in the next one.
    #[test]
    fn a_used_extension_is_as_a_new_one() {
        let [mut meter, mut other] = [RateSampler::default(), RateSampler::default()];
        let mut used = meter.on_sent(at(0), true);
        let hop = HopSample { port: 1, at: at(1), sent: Bytes::ZERO, queued: Bytes::ZERO, rate: Rate::MAX };
        used.hops.push(hop);
        used.header = [1, 2];
        meter.reuse(Some(used));
        other.on_sent(at(0), true);
        assert_eq!(
            format!("{:?}", meter.on_sent(at(2), false)),
            format!("{:?}", other.on_sent(at(2), false))
        );
    }

    /// Ten packets of 1500 bytes leave 12 µs apart, at 1 Gbit/s. Their ACKs arrive from 100 µs on, 24 µs
    /// apart, at half this rate. The last ACK arrives at 316 µs; its packet left before any delivery, so its
    /// sample starts at 0.
    #[test]
    fn the_slower_of_sending_and_delivery_is_the_rate() {
        let mut meter = RateSampler::default();
        let telemetry: Vec<Telemetry> =
            (0..10).map(|i| meter.on_sent(at(12 * i), i == 0).telemetry.unwrap()).collect();
        let samples: Vec<PathSample> =
            (0..10).map(|i| meter.sample(at(100 + 24 * i), telemetry[i as usize], 1500 * (i + 1))).collect();
        assert_eq!(samples[0].rate, Rate::of(Bytes::new(1500), Span::from_micros(100)));
        assert_eq!(samples[9].rate, Rate::of(Bytes::new(15_000), Span::from_micros(316)));
        assert_eq!((samples[9].rtt, samples[9].min_rtt), (Span::from_micros(208), Span::from_micros(100)));
        let late = meter.on_sent(at(316), false).telemetry.unwrap();
        let sample = meter.sample(at(436), late, 16_500);
        assert_eq!(
            sample.rate,
            Rate::of(Bytes::new(1500), Span::from_micros(208)),
            "sent 208 us after the one before"
        );
    }

    /// No rate results from an interval below the smallest round-trip time, or from an ACK that delivers no
    /// new bytes.
    #[test]
    fn a_sample_without_delivery_has_no_rate() {
        let mut meter = RateSampler::default();
        let first = meter.on_sent(at(0), true).telemetry.unwrap();
        meter.sample(at(100), first, 1500);
        let soon = Telemetry { sent: at(90), first_sent: at(80), delivered_at: at(100), ..first };
        assert_eq!(meter.sample(at(180), soon, 3000).rate, None);
        let again = meter.sample(at(300), first, 3000);
        assert_eq!((again.rate, again.newly_delivered), (None, Bytes::ZERO));
        assert!(meter.sample(at(310), first, 4500).rate.is_some());
    }

    /// Data ran out with 1500 bytes in flight: packets are marked as application-limited until more bytes are
    /// delivered. This also holds for the first packet, with nothing in flight.
    #[test]
    fn packets_sent_after_data_ran_out_are_marked() {
        let mut meter = RateSampler::default();
        let sent = |meter: &mut RateSampler, us| meter.on_sent(at(us), false).telemetry.unwrap();
        meter.note_app_limited(0);
        let first = sent(&mut meter, 0);
        meter.sample(at(100), first, 1500);
        meter.note_app_limited(1500);
        let second = sent(&mut meter, 110);
        meter.sample(at(210), second, 3000);
        let third = sent(&mut meter, 220);
        meter.sample(at(320), third, 4500);
        let limited = [first, second, third, sent(&mut meter, 330)].map(|telemetry| telemetry.app_limited);
        assert_eq!(limited, [true, true, true, false]);
    }
}
