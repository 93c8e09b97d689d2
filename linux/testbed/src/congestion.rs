//! The kernel's congestion control for a scheme's transport, and its knowledge of flows.

use crate::programs::{Lock, Programs};
use crate::switch::Clock;
use shortflow_deploy::Failure;
use shortflow_deploy::laws::NAMES;
use shortflow_sim::host::Message;
use shortflow_sim::scheme::Scheme;
use std::io;
use std::os::fd::AsRawFd;

/// The kernel's part of a scheme, during the life of this value.
#[derive(Debug)]
pub struct Control {
    name: String,
    programs: Option<Programs>,
}

impl Control {
    /// The kernel's congestion control `of_kernel`, else this project's program with the scheme's parameters. If the scheme
    /// has priorities, also the program that marks the DSCP. The lock keeps other commands from replacing the program.
    /// Fails if the kernel lacks the congestion control, or refuses a program.
    pub fn of(scheme: &Scheme, of_kernel: Option<&str>) -> Result<(Control, Option<Lock>), Failure> {
        of_kernel.map_or(Ok(()), check)?;
        let (programs, lock) = Programs::load(scheme, of_kernel.is_some())?.unzip();
        let name =
            of_kernel.or(programs.as_ref().and_then(Programs::congestion)).unwrap_or_default().to_owned();
        Ok((Control { name, programs }, lock))
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Marks packets that leave a device of this network namespace with the scheme's priorities.
    /// Fails without such a device.
    pub fn mark_dscp(&self, device: &str) -> Result<(), Failure> {
        self.programs.as_ref().map_or(Ok(()), |programs| programs.attach(device))
    }

    /// The connection of this socket carries `message` now: so a simulation's sender knows it.
    /// Fails if it is not a socket.
    pub fn tell(&self, socket: &impl AsRawFd, message: &Message, clock: Clock) -> io::Result<()> {
        self.programs.as_ref().map_or(Ok(()), |programs| programs.tell(socket, message, clock))
    }
}

/// The kernel's congestion control that runs a scheme: `instead` if given, else `reno` or `cubic` for TCP and CUBIC. None if
/// an eBPF program runs the scheme.
/// Fails if there is neither.
pub fn of_kernel<'a>(scheme: &Scheme, instead: Option<&'a str>) -> Result<Option<&'a str>, Failure> {
    match scheme.transport.info().name {
        _ if instead.is_some() => Ok(instead),
        "newreno" | "sack" => Ok(Some("reno")),
        "cubic" => Ok(Some("cubic")),
        name if NAMES.contains(&name) => Ok(None),
        name => {
            let (scheme, programs) = (&scheme.name, NAMES.join(", "));
            let what = format!("scheme {scheme}: the testbed has no program for the transport {name}");
            Err(Failure::Input(format!("{what}; it has {programs}, and the kernel's reno and cubic")))
        }
    }
}

/// True if the kernel has its own congestion control of this name.
fn check(name: &str) -> Result<(), Failure> {
    const KNOWN: &str = "/proc/sys/net/ipv4/tcp_available_congestion_control";
    let known = std::fs::read_to_string(KNOWN).map_err(Failure::host(KNOWN))?;
    if known.split_whitespace().any(|each| each == name) {
        return Ok(());
    }
    let why = format!("testbed: the kernel has no congestion control {name} (it has {})", known.trim());
    Err(Failure::Host(why))
}
