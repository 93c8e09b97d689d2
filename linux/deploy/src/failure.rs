//! Reasons of failed commands, with their exit codes.

use std::fmt;
use std::process::ExitCode;

/// The reason of a failed command, in words for the user.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// A check or a claim did not hold.
    #[error("{0}")]
    NotHeld(String),
    /// The input was wrong.
    #[error("{0}")]
    Input(String),
    /// The host lacks something, or refused.
    #[error("{0}")]
    Host(String),
}

impl Failure {
    /// Exit code of the command.
    pub fn code(&self) -> ExitCode {
        match self {
            Failure::NotHeld(_) => ExitCode::from(1),
            Failure::Input(_) => ExitCode::from(2),
            Failure::Host(_) => ExitCode::from(3),
        }
    }

    /// The failure of `what` on this host.
    pub fn host<E: fmt::Display>(what: impl fmt::Display) -> impl FnOnce(E) -> Failure {
        move |error| Failure::Host(format!("{what}: {error}"))
    }
}
