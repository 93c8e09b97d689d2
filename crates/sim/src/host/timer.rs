//! Timers that are re-armed lazily: moving a deadline back costs nothing.

use super::Outbox;
use shortflow_units::Instant;

/// A deadline, and the one live event that wakes for it. Moving the deadline back costs nothing: the event finds out
/// when it comes.
#[derive(Debug, Clone, Copy)]
pub struct LazyTimer {
    /// Deadline, if armed.
    pub deadline: Option<Instant>,
    /// Time of the live event; never without one.
    event: Instant,
}

impl LazyTimer {
    /// Nothing is due.
    pub const IDLE: LazyTimer = LazyTimer { deadline: None, event: Instant::MAX };

    /// Time of an event to schedule, so that none comes after the deadline.
    #[inline]
    pub fn arm(&mut self) -> Option<Instant> {
        let deadline = self.deadline.filter(|deadline| *deadline < self.event)?;
        self.event = deadline;
        Some(deadline)
    }

    /// Has the end called in time, as its timer of this number.
    pub fn set(&mut self, timer: u8, out: &mut impl Outbox) {
        if let Some(at) = self.arm() {
            out.set_timer(timer, at);
        }
    }

    /// Handles an event of this timer, or of one of an earlier connection in its slot, which is none of its own. Returns `true` if the deadline has come: not if it was moved back, or if
    /// an earlier event replaced this one.
    pub fn expired(&mut self, now: Instant) -> bool {
        if self.event == now {
            self.event = Instant::MAX;
        }
        self.deadline.is_some_and(|deadline| deadline <= now)
    }
}
