//! Why a command failed, and the exit code that says so.

use std::fmt;
use std::process::ExitCode;

/// The reason, in words for the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// A check or a claim did not hold.
    NotHeld(String),
    /// The input was wrong.
    Input(String),
    /// The host lacks something, or refused.
    Host(String),
}

impl Failure {
    /// The exit code of the command.
    pub fn code(&self) -> ExitCode {
        match self {
            Failure::NotHeld(_) => ExitCode::from(1),
            Failure::Input(_) => ExitCode::from(2),
            Failure::Host(_) => ExitCode::from(3),
        }
    }

    /// The host's refusal to do `what`.
    pub fn host(what: impl fmt::Display) -> impl FnOnce(std::io::Error) -> Failure {
        move |error| Failure::Host(format!("{what}: {error}"))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::NotHeld(why) | Failure::Input(why) | Failure::Host(why) => f.write_str(why),
        }
    }
}
