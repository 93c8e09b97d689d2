//! `cleanup`: removes leftovers of killed commands.

use crate::Failure;
use crate::programs::{Opened, Pins};

/// Removes pins of programs, and what an earlier load has left outside of them. Namespaces, devices and sockets of the
/// testbed end with its process.
pub(super) fn run() -> Result<(), Failure> {
    // Opening the pins removes leftovers.
    let Opened { pins, is_loaded, mut traces } = Pins::opened()?;
    if !is_loaded {
        let others = pins.remove_traces();
        traces.removed.extend(others.removed);
        traces.remaining = others.remaining;
    }
    traces.removed.iter().for_each(|line| println!("{line}"));
    if is_loaded {
        println!("loaded: {}; remove with `unload`", pins.loaded()?.join(", "));
    } else if traces.removed.is_empty() && traces.remaining.is_empty() {
        println!("nothing to remove");
    }
    traces.verdict()
}
