//! Messages on connections, stated by the process that has the sockets. This needs no cgroup. The starts of messages
//! are exact stream offsets; with setsockopt(2) they are the bytes that TCP has sent.

use super::pins::{Pins, failure_of};
use crate::Failure;
use crate::laws::role_number;
use libbpf_rs::{MapCore, MapFlags, MapHandle};
use shortflow_cc::Role;
use std::io::{self, Error};
use std::os::fd::AsRawFd;

/// The message on a connection, as in `struct flow` of flow.h.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flow {
    /// Bytes of the connection before the message.
    pub start: u64,
    /// Bytes of the message, if known.
    pub size: Option<u64>,
    /// Deadline, in nanoseconds of the monotonic clock.
    pub deadline_ns: Option<u64>,
    /// Role that the application states.
    pub role: Role,
}

impl Flow {
    /// The words of `struct flow`. Unknown values are 0. The kernel counts the SYN as a byte of the connection.
    fn words(&self) -> [u64; 4] {
        let stated = |value: Option<u64>| value.map_or(0, |value| value.max(1));
        [self.start + 1, stated(self.size), stated(self.deadline_ns), role_number(self.role).into()]
    }
}

/// The map in which the programs find flows.
#[derive(Debug)]
pub struct Flows(MapHandle);

impl Flows {
    /// Opens the map of the programs that share these pins.
    /// Fails if no program has been loaded.
    pub fn open(pins: &Pins) -> Result<Flows, Failure> {
        MapHandle::from_pinned_path(pins.path("flows")).map(Flows).map_err(failure_of("flows"))
    }

    /// States that the connection of this socket carries `flow` from now on.
    /// Fails if the socket is not one of this process.
    pub fn set(&self, socket: &impl AsRawFd, flow: &Flow) -> io::Result<()> {
        let value: Vec<u8> = flow.words().iter().flat_map(|word| word.to_ne_bytes()).collect();
        self.0.update(&socket.as_raw_fd().to_ne_bytes(), &value, MapFlags::ANY).map_err(Error::other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_values_are_zero_and_a_deadline_of_zero_is_known() {
        let plain = Flow { start: 0, size: None, deadline_ns: None, role: Role::Unknown };
        assert_eq!(plain.words(), [1, 0, 0, 0]);
        let stated = Flow { start: 7, size: Some(32_000), deadline_ns: Some(0), role: Role::Long };
        assert_eq!(stated.words(), [8, 32_000, 1, 2]);
    }
}
