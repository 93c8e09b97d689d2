//! `cleanup`: removes leftovers of killed commands.

use crate::Failure;
use crate::programs::Pins;

/// Removes pins of programs. Namespaces, devices and sockets of the testbed end with its process, so only pins can
/// outlive it.
pub(super) fn run() -> Result<(), Failure> {
    // `Pins::open` removes the leftovers.
    match Pins::open()? {
        Some(pins) => println!("loaded: {}; remove with `unload`", pins.loaded()?.join(", ")),
        None => println!("nothing to remove"),
    }
    Ok(())
}
