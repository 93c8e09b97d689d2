//! `cleanup`: removes leftovers of killed commands.

use crate::Failure;
use crate::programs::Pins;

/// Namespaces, devices and sockets of the testbed end with its process; only pins of programs can outlive it.
pub fn run() -> Result<(), Failure> {
    match Pins::open()? {
        Some(pins) => println!("loaded: {}; remove with `unload`", pins.loaded()?.join(", ")),
        None => println!("nothing to remove"),
    }
    Ok(())
}
