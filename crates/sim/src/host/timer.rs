//! Lazy timers: moving a deadline to a later time costs no event.

use super::Outbox;
use shortflow_units::Instant;

/// A deadline, and at most one live event for it. When the deadline moves to a later time, the event stays.
/// On its expiry, the timer is armed again.
#[derive(Debug, Clone, Copy)]
pub struct LazyTimer {
    /// Deadline, if armed.
    pub deadline: Option<Instant>,
    /// Time of the live event; [`Instant::MAX`] if there is none.
    event: Instant,
}

impl LazyTimer {
    /// A timer without a deadline.
    pub const IDLE: LazyTimer = LazyTimer { deadline: None, event: Instant::MAX };

    /// Time of an event to schedule, if no live event comes by the deadline.
    #[inline]
    pub fn arm(&mut self) -> Option<Instant> {
        let deadline = self.deadline.filter(|deadline| *deadline < self.event)?;
        self.event = deadline;
        Some(deadline)
    }

    /// Schedules an event as timer number `timer` of the endpoint, if one is needed.
    pub fn set(&mut self, timer: u8, out: &mut impl Outbox) {
        if let Some(at) = self.arm() {
            out.set_timer(timer, at);
        }
    }

    /// Handles an event of this timer. Returns `true` if the deadline has come. There are three other cases:
    /// the deadline has moved to a later time, an earlier event has replaced this event, or the event is left
    /// from an earlier connection in the same slot.
    pub fn expired(&mut self, now: Instant) -> bool {
        if self.event == now {
            self.event = Instant::MAX;
        }
        self.deadline.is_some_and(|deadline| deadline <= now)
    }
}
