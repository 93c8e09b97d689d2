//! Tail loss probes — RFC 8985 §7: if no ACK arrives, one segment requests an ACK before the retransmission
//! timer expires.
//!
//! | RFC 8985 | here |
//! |---|---|
//! | TLP.end_seq, TLP.is_retrans | `outstanding` |
//! | TLP.max_ack_delay | [`TcpSpec::tlp_ack_delay`]; by default [`TcpSpec::ack_delay`] if ACKs are delayed, else zero |
//! | PTO | [`pto`] |
//!
//! Deviations:
//! - If no round trip was measured since the last probe, §7.3 skips a probe; here it is not scheduled. The
//!   PTO of one second for an unknown round trip (§7.2) never occurs: a handshake measures a round trip, and
//!   a connection opened before the run knows the round trip of an empty network.
//! - [`TcpSpec::tlp_slack`] adds two clock ticks to the PTO of several segments, as in Linux; RFC 8985 adds
//!   nothing.

use crate::specs::TcpSpec;
use shortflow_units::Span;

/// A probe that has not been answered.
#[derive(Debug, Clone, Copy)]
struct Outstanding {
    /// SND.NXT when the probe was sent.
    end: u64,
    /// True if the probe repeats data.
    again: bool,
}

/// Properties of an ACK that may answer a probe.
#[derive(Debug, Clone, Copy)]
pub(super) struct Answer {
    /// The cumulative acknowledgement.
    pub ack: u64,
    /// End of a segment that arrived twice (DSACK).
    pub duplicate: Option<u64>,
    /// True if the ACK acknowledges no new data and has no SACK block.
    pub is_bare: bool,
    /// True if the ACK measures a round trip.
    pub measured: bool,
}

/// State of §7.1.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Tlp {
    outstanding: Option<Outstanding>,
    /// True if no round trip was measured since the last probe.
    unmeasured: bool,
}

impl Tlp {
    /// §7.3: true if a probe may be sent.
    pub(super) fn is_due(&self) -> bool {
        self.outstanding.is_none() && !self.unmeasured
    }

    /// True if the outstanding probe ends at `end`.
    pub(super) fn ended_at(&self, end: u64) -> bool {
        self.outstanding.is_some_and(|probe| probe.end == end)
    }

    /// Records a probe. `again` is true if it repeats data.
    pub(super) fn on_sent(&mut self, snd_nxt: u64, again: bool) {
        *self = Tlp { outstanding: Some(Outstanding { end: snd_nxt, again }), unmeasured: true };
    }

    /// §7.1: a recovery begins and repairs losses in place of the probe.
    pub(super) fn on_recovery(&mut self) {
        self.outstanding = None;
    }

    /// §7.4.2, TLP_process_ack: true if the probe has repaired a loss that was not detected otherwise.
    pub(super) fn on_ack(&mut self, answer: Answer) -> bool {
        self.unmeasured &= !answer.measured;
        let Some(Outstanding { end, again }) = self.outstanding.filter(|probe| answer.ack >= probe.end)
        else {
            return false;
        };
        let arrived_twice = answer.duplicate == Some(end); // case 1
        let beyond = answer.ack > end;
        // These ACKs end the probe: an ACK of a probe with new data, a DSACK, an ACK beyond the probe, and a bare
        // duplicate ACK.
        if !again || arrived_twice || beyond || answer.is_bare {
            self.outstanding = None;
        }
        again && !arrived_twice && beyond
    }
}

/// §7.2, TLP_calc_PTO: probe timeout for a sender with smoothed round trip `srtt`.
pub(super) fn pto(srtt: Span, one_segment: bool, tcp: &TcpSpec) -> Span {
    let delayed = if tcp.ack_every > 1 { tcp.ack_delay } else { Span::ZERO };
    srtt.times(2) + if one_segment { tcp.tlp_ack_delay.unwrap_or(delayed) } else { tcp.tlp_slack }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::testing::tcp;

    /// With SRTT 300 µs, a probe waits 600 µs. A single segment also waits for the longest delay of its ACK.
    #[test]
    fn a_probe_waits_for_two_round_trips_and_for_a_delayed_ack() {
        let us = Span::from_micros;
        let each = tcp();
        assert_eq!([pto(us(300), false, &each), pto(us(300), true, &each)], [us(600), us(600)]);
        let delayed = TcpSpec { ack_every: 2, ack_delay: us(500), ..tcp() };
        assert_eq!([pto(us(300), false, &delayed), pto(us(300), true, &delayed)], [us(600), us(1100)]);
        let linux = TcpSpec { tlp_ack_delay: Some(us(200_000)), tlp_slack: us(2000), ..delayed };
        assert_eq!([pto(us(300), false, &linux), pto(us(300), true, &linux)], [us(2600), us(200_600)]);
    }

    const PROBED: u64 = 14_600;

    fn answer(ack: u64, duplicate: Option<u64>, is_bare: bool) -> Answer {
        Answer { ack, duplicate, is_bare, measured: false }
    }

    /// For each answer: whether a probe is still outstanding, and whether the probe has repaired a loss.
    fn answers(again: bool, answers: &[Answer]) -> Vec<(bool, bool)> {
        let mut tlp = Tlp::default();
        tlp.on_sent(PROBED, again);
        let mut each = |answer: &Answer| {
            let found = tlp.on_ack(*answer);
            (tlp.outstanding.is_some(), found)
        };
        answers.iter().map(&mut each).collect()
    }

    #[test]
    fn only_an_ack_beyond_a_retransmitted_probe_shows_a_loss() {
        let (below, at, beyond) =
            (answer(1460, None, false), answer(PROBED, None, false), answer(16_060, None, false));
        assert_eq!(
            answers(true, &[below, at, beyond, beyond]),
            [(true, false), (true, false), (false, true), (false, false)]
        );
        assert_eq!(answers(false, &[below, at, beyond]), [(true, false), (false, false), (false, false)]);
    }

    /// Cases 1 and 2: the original had arrived, with or without DSACK.
    #[test]
    fn a_probe_that_arrives_twice_has_repaired_nothing() {
        let at = answer(PROBED, None, false);
        for twice in [
            answer(PROBED, Some(PROBED), false),
            answer(PROBED, None, true),
            answer(16_060, Some(PROBED), false),
        ] {
            assert_eq!(answers(true, &[at, twice]), [(true, false), (false, false)], "{twice:?}");
        }
        let another = answer(PROBED, Some(1460), false);
        assert_eq!(answers(true, &[another]), [(true, false)], "another segment arrived twice");
    }

    #[test]
    fn the_next_probe_waits_for_the_end_of_this_one_and_for_a_measured_round_trip() {
        let mut tlp = Tlp::default();
        assert!(tlp.is_due());
        tlp.on_sent(PROBED, false);
        tlp.on_ack(Answer { measured: true, ..answer(1460, None, false) });
        assert!(!tlp.is_due(), "still out");
        tlp.on_ack(answer(PROBED, None, false));
        assert!(tlp.is_due());
        tlp.on_sent(PROBED, true);
        tlp.on_recovery();
        assert!(!tlp.is_due(), "no round trip measured since");
        tlp.on_ack(Answer { measured: true, ..answer(1460, None, false) });
        assert!(tlp.is_due());
    }
}
