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
pub struct Tally([u64; 4]);

impl Tally {
    /// Counts one input.
    pub fn count(&mut self, verdict: Verdict) {
        self.0[verdict as usize] += 1;
    }

    /// Number of inputs.
    pub fn inputs(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Accepted inputs, which ran if there is something to run.
    pub fn accepted(&self) -> u64 {
        self.inputs() - self.0[Verdict::Rejected as usize]
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [ran, capped, _, rejected] = self.0;
        write!(f, "{} inputs, {} accepted, {rejected} rejected", self.inputs(), self.accepted())?;
        match ran + capped {
            0 => Ok(()),
            ran => write!(f, "; {ran} accepted and run, {capped} of them up to the cap of events"),
        }
    }
}
