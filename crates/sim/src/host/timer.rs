//! Timers that are re-armed lazily: moving a deadline back costs nothing.

use shortflow_units::Instant;

/// A timer with at most one live event. Moving its deadline back costs nothing: the event finds out
/// when it fires.
#[derive(Debug, Clone, Copy)]
pub struct LazyTimer(Instant);

/// What a timer event means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fired {
    /// The deadline has come.
    Due,
    /// Not yet, or an earlier event took its place.
    Early,
}

impl LazyTimer {
    /// A timer without an event.
    pub const IDLE: LazyTimer = LazyTimer(Instant::MAX);

    /// When an event must be scheduled so that none comes after `deadline`.
    #[inline]
    pub fn arm(&mut self, deadline: Option<Instant>) -> Option<Instant> {
        let deadline = deadline.filter(|deadline| *deadline < self.0)?;
        self.0 = deadline;
        Some(deadline)
    }

    /// An event of this timer happens.
    pub fn fire(&mut self, now: Instant, deadline: Option<Instant>) -> Fired {
        if self.0 == now {
            self.0 = Instant::MAX;
        }
        match deadline {
            Some(deadline) if deadline <= now => Fired::Due,
            _ => Fired::Early,
        }
    }
}
