//! What laws need that read the path ([`CongestionControl::reads_path`]): stamps on packets, the pacer, and the law's timer.
//! Other senders have none of it.

use super::sender::Sender;
use crate::host::Outbox;
use crate::packet::{Extension, Packet};
use crate::specs::TcpSpec;
use shortflow_cc::{CongestionControl, PathSample};
use shortflow_units::{Bytes, Instant};

/// Numbers of the sender's timers.
const PACE: u8 = 1;
const LAW: u8 = 2;

impl Sender {
    /// What the data packet that leaves now carries for the law.
    #[inline]
    pub(super) fn stamp(&mut self, now: Instant, wire: u32) -> Option<Box<Extension>> {
        if self.path.is_some() { self.new_stamp(now, wire) } else { None }
    }

    #[inline(never)]
    fn new_stamp(&mut self, now: Instant, wire: u32) -> Option<Box<Extension>> {
        let is_alone = self.scoreboard.unsacked_bytes(self.snd_una, self.snd_nxt) == 0;
        let wire = Bytes::new(wire.into());
        self.law.on_sent(wire, now);
        let path = self.path.as_mut()?;
        path.sent = Some((now, wire));
        Some(path.meter.stamp(now, is_alone))
    }

    /// What the packet found that `ack` answers.
    #[inline]
    pub(super) fn path_sample(&mut self, now: Instant, ack: &Packet) -> Option<PathSample> {
        if ack.extension.is_some() { self.new_path_sample(now, ack) } else { None }
    }

    #[inline(never)]
    fn new_path_sample(&mut self, now: Instant, ack: &Packet) -> Option<PathSample> {
        let outstanding = self.scoreboard.unsacked_bytes(self.snd_una, self.snd_max);
        Some(self.path.as_mut()?.meter.sample(now, ack.stamp()?, self.snd_max - outstanding))
    }

    /// There is no data to send.
    #[inline]
    pub(super) fn note_idle(&mut self) {
        let snd_max = self.snd_max;
        if let Some(path) = &mut self.path {
            path.meter.note_idle(snd_max);
        }
    }

    /// Whether a segment may leave that the window has no room for: a window below one segment is paced, and holds
    /// one at a time.
    #[inline]
    pub(super) fn may_exceed(&self, outstanding: u64) -> bool {
        self.window.cwnd < 1.0 && outstanding == 0 && self.path.is_some()
    }

    /// Whether the pacer holds back what the window would let go, until its timer.
    #[inline]
    pub(super) fn is_held_back(&mut self, now: Instant) -> bool {
        self.path.is_some() && self.hold_back(now)
    }

    #[inline(never)]
    fn hold_back(&mut self, now: Instant) -> bool {
        let (rate, cwnd) = (self.law.pacing_rate(), self.window.cwnd);
        let Some(path) = &mut self.path else { return false };
        let due = path.due(rate, cwnd);
        path.pace.deadline = (due > now).then_some(due);
        due > now
    }

    /// Sees to it that the pacer and the law are woken.
    pub(super) fn arm_path(&mut self, out: &mut impl Outbox) {
        let Some(path) = &mut self.path else { return };
        path.law.deadline = self.law.timer();
        for (timer, alarm) in [(PACE, &mut path.pace), (LAW, &mut path.law)] {
            if let Some(at) = alarm.arm() {
                out.wake(timer, at);
            }
        }
    }

    /// The pacer's timer or the law's has come.
    pub(super) fn on_path_timer(&mut self, timer: u8, now: Instant, tcp: &TcpSpec, out: &mut impl Outbox) {
        let Some(path) = &mut self.path else { return };
        if timer == PACE {
            if path.pace.rings(now) {
                path.pace.deadline = None;
                self.send(now, tcp, out);
            }
        } else if path.law.rings(now) {
            let flow = self.flow_view(now, tcp);
            self.law.on_timer(&mut self.window, &flow);
            self.send(now, tcp, out);
        }
    }
}
