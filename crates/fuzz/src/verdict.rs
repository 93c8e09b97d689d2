//! [`Verdict`]: outcome of an input, and [`Tally`], which counts.

use std::fmt;

/// Outcome of an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Accepted, and its run ended.
    Ran,
    /// Accepted, and its run went on until it had had as many events as a run may have here.
    Capped,
    /// Accepted by a parser.
    Accepted,
    /// A clean error for the user.
    Rejected,
}

/// Number of inputs by outcome.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    ran: u64,
    capped: u64,
    parsed: u64,
    rejected: u64,
}

impl Tally {
    /// Counts one input.
    pub fn count(&mut self, verdict: Verdict) {
        *match verdict {
            Verdict::Ran => &mut self.ran,
            Verdict::Capped => &mut self.capped,
            Verdict::Accepted => &mut self.parsed,
            Verdict::Rejected => &mut self.rejected,
        } += 1;
    }

    /// Number of inputs.
    pub fn inputs(&self) -> u64 {
        self.accepted() + self.rejected
    }

    /// Accepted inputs, which ran if there is something to run.
    pub fn accepted(&self) -> u64 {
        self.ran + self.capped + self.parsed
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Tally { ran, capped, rejected, .. } = self;
        write!(f, "{} inputs, {} accepted, {rejected} rejected", self.inputs(), self.accepted())?;
        match ran + capped {
            0 => Ok(()),
            ran => write!(f, "; {ran} accepted and run, {capped} of them up to the cap of events"),
        }
    }
}
