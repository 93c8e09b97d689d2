//! `cleanup`: removes what a killed command has left behind.

use super::Failure;

/// Namespaces, devices and sockets of the testbed end with its process; only pins of programs can outlive it.
pub fn run() -> Result<(), Failure> {
    #[cfg(feature = "bpf")]
    if let Some(pins) = shortflow_linux::programs::Pins::open()? {
        println!("loaded: {}; `unload` removes them", pins.loaded()?.join(", "));
        return Ok(());
    }
    println!("nothing is left");
    Ok(())
}
