//! The program that gives packets pECN's priority as they leave a device.

use super::object::open;
use super::pins::{Pins, refused};
use crate::{Failure, sys};
use libbpf_rs::{ErrorKind, OpenObject, TC_EGRESS, TcHook, TcHookBuilder};
use shortflow_cc::settings::choice;
use std::os::fd::AsFd;

choice! {
    /// What the priority is made from, as in `shortflow_sim::tcp::priority`.
    pub enum By {
        /// The bytes of the message.
        Size = "size",
        /// Those not yet acknowledged.
        Remaining = "remaining",
        /// Those sent before.
        Sent = "sent",
        /// The time left until the deadline.
        Deadline = "deadline",
    }
}

/// Handle and preference of our filter, so that a host's own are not touched.
const HANDLE: u32 = 0x5346;
const PREFERENCE: u32 = 0x5346;

/// Stamps what leaves `device` of this network namespace from now on, in place of an earlier rule.
///
/// # Errors
/// Fails without such a device, or if the kernel refuses the program.
pub fn stamp(pins: &Pins, device: &str, by: By) -> Result<(), Failure> {
    const CODE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/stamp.bpf.o"));
    let index = index_of(device)?;
    let mut object = open(CODE, pins).map_err(refused("stamp"))?;
    for mut map in object.maps_mut().filter(|map| map.name().to_string_lossy().ends_with("rule")) {
        map.set_initial_value(&(by as u64).to_ne_bytes()).map_err(refused("stamp"))?;
    }
    let object = OpenObject::load(object).map_err(refused("stamp"))?;
    for program in object.progs_mut() {
        let mut hook = TcHookBuilder::new(program.as_fd())
            .ifindex(index)
            .replace(true)
            .handle(HANDLE)
            .priority(PREFERENCE)
            .hook(TC_EGRESS);
        hook.create().and_then(|mut hook| hook.attach()).map_err(refused(device))?;
    }
    Ok(())
}

/// Stamps no more. False if nothing did. The `clsact` of the device stays: others may use it.
///
/// # Errors
/// Fails without such a device, or without `CAP_NET_ADMIN`.
pub fn unstamp(device: &str) -> Result<bool, Failure> {
    let index = index_of(device)?;
    let nothing = std::io::stdin();
    let mut hook = TcHook::new(nothing.as_fd());
    hook.ifindex(index).attach_point(TC_EGRESS).handle(HANDLE).priority(PREFERENCE);
    match hook.detach() {
        Ok(()) => Ok(true),
        // No such filter, or no `clsact` at all.
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::InvalidInput) => Ok(false),
        Err(error) => Err(refused(device)(error)),
    }
}

fn index_of(device: &str) -> Result<i32, Failure> {
    sys::interface_index(device).map_err(|error| Failure::Input(format!("device {device:?}: {error}")))
}
