//! [`Verdict`]: outcome of an input. [`Tally`]: counts of outcomes.

use std::fmt;

/// Outcome of an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Accepted, and the run ended.
    Ran,
    /// Accepted, and the run reached the limit of events.
    Capped,
    /// Accepted by a parser.
    Accepted,
    /// Rejected with an error message for the user.
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

    /// Number of accepted inputs, whether or not they ran.
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
