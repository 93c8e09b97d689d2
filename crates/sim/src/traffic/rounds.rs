//! [`Rounds`]: consecutive tasks of an application, each after a think time.

use super::context::Context;
use crate::config::{ANY_TIME, ConfigError, ParamInfo, Reader, keys};
use shortflow_units::{Instant, Span};

keys! {
    /// Keys for the starts of tasks.
    struct RoundKeys {
        /// start of the first task
        at: Span = "0s", ANY_TIME;
        /// number of tasks, one after another; no task starts after duration
        repeat: u32 = "1", 1..=1_000_000u32;
        /// time from the end of a task to the start of the next task
        think: Span = "0s", ANY_TIME, acts: repeat > 1;
    }
}

/// Starts of tasks.
#[derive(Debug, Clone)]
pub(super) struct Rounds {
    /// Start of the first task.
    pub first: Instant,
    /// Largest number of tasks.
    pub repeat: u32,
    think: Span,
    end: Instant,
}

impl Rounds {
    /// The keys as users see them.
    pub(super) fn parameters() -> Vec<ParamInfo> {
        RoundKeys::parameters()
    }

    pub(super) fn read(reader: &Reader, context: &Context) -> Result<Rounds, ConfigError> {
        let keys = RoundKeys::read(reader)?;
        let first = context.start(reader, "at", keys.at)?;
        Ok(Rounds { first, repeat: keys.repeat, think: keys.think, end: Instant::ZERO + context.duration })
    }

    /// Start of the next task, if `done` tasks are done and the last of them ends now.
    pub(super) fn next(&self, now: Instant, done: u32) -> Option<Instant> {
        let at = now + self.think;
        (done < self.repeat && at < self.end).then_some(at)
    }
}
