//! Faults at a port: random loss, damage, delay and marks, exact losses for tests ("drop the fifth data
//! packet"), and link failures.

use crate::engine::{Seeds, Stream, below};
use crate::packet::{Packet, PacketType};
use crate::queue::{DropReason, Verdict};
use crate::scenario::{Fault, Scenario};
use crate::specs::HostSpec;
use shortflow_units::{Instant, NodeId, PortId, Span};
use std::collections::BTreeMap;

/// Outcome for a packet at the far end of its link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WireOutcome {
    /// The packet arrives.
    Delivered,
    /// The packet is damaged and dropped.
    Corrupted,
    /// The packet arrives later by this time.
    Delayed(Span),
}

/// One fault entry of the scenario at one port. Each kind of fault has its own random stream.
#[derive(Debug, Clone)]
struct Rule {
    fault: Fault,
    seen: u64,
    data: Stream,
    acks: Stream,
    damage: Stream,
    delays: Stream,
}

/// Delays of a host's packets. Delayed packets keep their order and stay a transmission time apart.
#[derive(Debug, Clone)]
pub struct HostDelay {
    jitter: Span,
    stalls: Option<HostPauses>,
    /// State of the random generator for delays.
    state: u64,
    /// Number of the last packet in its ring, and its arrival time.
    last: (u32, Instant),
}

/// With jitter or pauses, a host's clock is slower than a switch's by one part in this number: 122 ppm, where
/// IEEE 802.3 allows two devices to differ by 200 ppm.
const CLOCK: u64 = 8192;

/// Pauses of a host, during which its packets wait.
#[derive(Debug, Clone)]
struct HostPauses {
    mean_gap_s: f64,
    shortest: Span,
    /// Longest pause minus shortest pause.
    range: Span,
    draws: Stream,
    /// Start and end of the present or next pause.
    begin: Instant,
    end: Instant,
}

/// Faults of one port.
#[derive(Debug, Clone)]
pub struct FaultInjector {
    rules: Vec<Rule>,
    /// Number of present outages, as several entries may overlap.
    outages: u32,
    /// Late packets by arrival time, then in order of arrival at `hold`.
    held: BTreeMap<(Instant, u64), Packet>,
    holds: u64,
}

impl FaultInjector {
    /// The injector of port `index` with these ends, or `None` if no fault can occur there.
    pub fn new(
        scenario: &Scenario,
        index: usize,
        ends: (NodeId, NodeId),
        seeds: Seeds,
    ) -> Option<Box<FaultInjector>> {
        let port = PortId::from(index);
        let ports = 2 * scenario.graph.links.len();
        let exact = scenario.measure.ports.first() == Some(&ends);
        let mut fails = false;
        let mut rules = Vec::new();
        for (entry, fault) in scenario.faults.iter().enumerate().filter(|(_, fault)| fault.covers(port)) {
            let stream = |purpose| seeds.stream(purpose, entry * ports + index);
            let mut fault = Fault { ports: Vec::new(), ..fault.clone() };
            if !exact {
                fault.drop_data.clear();
                fault.mark_data.clear();
            }
            fails |= fault.outage.is_some();
            let rule = Rule {
                fault,
                seen: 0,
                data: stream("faults"),
                acks: stream("lost acks"),
                damage: stream("damage"),
                delays: stream("reordering"),
            };
            rules.extend((!rule.is_idle()).then_some(rule));
        }
        let is_idle = !fails && rules.is_empty();
        let injector = FaultInjector { rules, outages: 0, held: BTreeMap::new(), holds: 0 };
        (!is_idle).then(|| Box::new(injector))
    }

    /// An injector without faults.
    pub(super) fn idle() -> Box<FaultInjector> {
        let (rules, held) = (Vec::new(), BTreeMap::new());
        Box::new(FaultInjector { rules, outages: 0, held, holds: 0 })
    }

    /// Judges a packet on arrival. `Queued` leaves the decision to the queue discipline.
    pub(super) fn arrive(&mut self, packet: &mut Packet) -> Verdict {
        if self.is_down() {
            return Verdict::Dropped(DropReason::LinkDown);
        }
        let mut verdict = Verdict::Queued;
        for rule in &mut self.rules {
            match rule.arrive(packet) {
                Verdict::Queued => {}
                Verdict::Marked => verdict = Verdict::Marked,
                lost => return lost,
            }
        }
        verdict
    }

    /// Draws the outcome for the next packet from the link.
    pub(super) fn pass(&mut self) -> WireOutcome {
        let mut late = Span::ZERO;
        for rule in &mut self.rules {
            let Fault { corrupt, reorder: (share, delay), .. } = rule.fault;
            if corrupt > 0.0 && rule.damage.unit() < corrupt {
                return WireOutcome::Corrupted;
            }
            if share > 0.0 && rule.delays.unit() < share {
                late += delay;
            }
        }
        if late.is_zero() { WireOutcome::Delivered } else { WireOutcome::Delayed(late) }
    }

    /// Holds a packet until its arrival at `until`.
    pub(super) fn hold(&mut self, until: Instant, packet: Packet) {
        self.held.insert((until, self.holds), packet);
        self.holds += 1;
    }

    /// A held packet that arrives now; `None` if an outage has discarded it.
    pub(super) fn release(&mut self, now: Instant) -> Option<Packet> {
        let first = self.held.first_entry().filter(|first| first.key().0 <= now)?;
        Some(first.remove())
    }

    /// Held packets.
    pub(super) fn kept(&self) -> impl Iterator<Item = &Packet> {
        self.held.values()
    }

    /// Number of held packets.
    pub(super) fn held(&self) -> usize {
        self.held.len()
    }

    /// True if the link is down.
    pub(super) fn is_down(&self) -> bool {
        self.outages > 0
    }

    /// Begins an outage, which discards the held packets. Returns their number.
    pub(super) fn fail(&mut self) -> u64 {
        self.outages += 1;
        let lost = self.held.len() as u64;
        self.held.clear();
        lost
    }

    /// Ends an outage.
    pub(super) fn restore(&mut self) {
        self.outages -= 1;
    }
}

impl HostDelay {
    /// Delays of `host`, with this jitter and the port `index`; `None` if the host never delays packets.
    pub(super) fn of(host: &HostSpec, jitter: Span, index: usize, seeds: Seeds) -> Option<HostDelay> {
        let stalls = (host.stalls > 0.0).then(|| HostPauses::new(host, seeds.stream("host stalls", index)));
        let delays = stalls.is_some() || !jitter.is_zero();
        let state = seeds.stream("host jitter", index).bits();
        delays.then_some(HostDelay { jitter, stalls, state, last: (u32::MAX, Instant::ZERO) })
    }

    /// Idle time of the transmitter after a packet with this transmission time, because the host's clock is
    /// slower than the switch's. With equal clocks, a host that fills its link would stay in phase with a
    /// port of the same rate.
    #[inline(always)]
    pub(super) fn lags(&self, takes: Span) -> Span {
        Span::from_ps(takes.as_ps() / CLOCK)
    }

    /// Arrival time of the last packet, if it has this number in its ring.
    #[inline(always)]
    pub(super) fn known(&self, number: u32) -> Option<Instant> {
        (self.last.0 == number).then_some(self.last.1)
    }

    /// Arrival time of the next packet, which would arrive at `on_time` without delays, after a transmission
    /// time of `takes`.
    #[inline(always)]
    pub(super) fn put_off(&mut self, number: u32, on_time: Instant, takes: Span) -> Instant {
        let late = Span::from_ps(below(self.draw(), self.jitter.as_ps()));
        let mut at = (on_time + late).max(self.last.1 + takes);
        if let Some(stalls) = &mut self.stalls {
            at = stalls.end_of(at);
        }
        self.last = (number, at);
        at
    }

    /// Draws 64 random bits by wyrand, which needs fewer instructions than a [`Stream`].
    #[inline(always)]
    fn draw(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0xa076_1d64_78bd_642f);
        let product = u128::from(self.state) * u128::from(self.state ^ 0xe703_7ed1_a0b4_28db);
        (product >> 64) as u64 ^ product as u64
    }
}

impl HostPauses {
    fn new(host: &HostSpec, draws: Stream) -> HostPauses {
        let range = host.stall_max.saturating_sub(host.stall_min);
        let (mean_gap_s, shortest) = (1.0 / host.stalls, host.stall_min);
        let mut stalls =
            HostPauses { mean_gap_s, shortest, range, draws, begin: Instant::ZERO, end: Instant::ZERO };
        stalls.draw();
        stalls
    }

    /// Draws the next pause.
    fn draw(&mut self) {
        self.begin = self.end + Span::from_secs_f64(self.draws.exponential(self.mean_gap_s));
        self.end = self.begin + self.shortest + Span::from_ps(self.draws.below(self.range.as_ps() + 1));
    }

    /// Time at which a packet that is ready at `at` leaves the host. `at` must not decrease between calls.
    fn end_of(&mut self, at: Instant) -> Instant {
        while self.end <= at {
            self.draw();
        }
        if self.begin <= at { self.end } else { at }
    }
}

impl Rule {
    fn is_idle(&self) -> bool {
        let Fault { loss, loss_every, ack_loss, corrupt, reorder, mark, drop_data, mark_data, .. } =
            &self.fault;
        let chances = [*loss, *ack_loss, *corrupt, reorder.0, *mark];
        let by_number = loss_every.is_some() || !drop_data.is_empty() || !mark_data.is_empty();
        chances.iter().all(|chance| *chance == 0.0) && !by_number
    }

    fn arrive(&mut self, packet: &mut Packet) -> Verdict {
        let Fault { loss, loss_every, ack_loss, mark, drop_data, mark_data, .. } = &self.fault;
        match packet.kind {
            PacketType::Data => {}
            PacketType::Ack if *ack_loss > 0.0 && self.acks.unit() < *ack_loss => {
                return Verdict::Dropped(DropReason::Loss);
            }
            _ => return Verdict::Queued,
        }
        self.seen += 1;
        // Draw both numbers for each packet, so that one probability does not shift the draws of the other.
        let (lost, marked) = (self.data.unit(), self.data.unit());
        let is_nth = loss_every.is_some_and(|every| self.seen.is_multiple_of(every));
        if is_nth || lost < *loss || drop_data.contains(&self.seen) {
            return Verdict::Dropped(DropReason::Loss);
        }
        if (marked < *mark || mark_data.contains(&self.seen)) && packet.mark() {
            return Verdict::Marked;
        }
        Verdict::Queued
    }
}
