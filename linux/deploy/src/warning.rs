//! Warnings of commands.

use std::fmt::Display;

/// Prints a warning to stderr.
pub(crate) fn warn(text: &impl Display) {
    eprintln!("warning: {text}");
}
