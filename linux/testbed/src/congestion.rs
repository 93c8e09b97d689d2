//! The kernel's congestion control for a scheme's transport, and the data on flows that it receives.

use crate::programs::{Lock, Programs};
use crate::switch::Clock;
use shortflow_deploy::Failure;
use shortflow_deploy::laws::NAMES;
use shortflow_sim::host::Message;
use shortflow_sim::scheme::Scheme;
use std::io;
use std::os::fd::AsRawFd;

/// The kernel's part of a scheme: its congestion control and the marking of its priorities. Dropping this value ends
/// both.
#[derive(Debug)]
pub(crate) struct Control {
    name: String,
    programs: Option<Programs>,
}

impl Control {
    /// Returns the kernel's congestion control `kernel_control` if it is given. Otherwise loads this project's program
    /// with the scheme's parameters. If the scheme has priorities, also loads the program that marks the DSCP. While
    /// the lock is held, no other command can replace a program.
    /// Fails if the kernel lacks the congestion control, or refuses a program.
    pub(crate) fn of(
        scheme: &Scheme,
        kernel_control: Option<&str>,
    ) -> Result<(Control, Option<Lock>), Failure> {
        kernel_control.map_or(Ok(()), check)?;
        let (programs, lock) = Programs::load(scheme, kernel_control.is_some())?.unzip();
        let name = kernel_control
            .or(programs.as_ref().and_then(Programs::congestion))
            .unwrap_or_default()
            .to_owned();
        Ok((Control { name, programs }, lock))
    }

    /// Name of the congestion control.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Marks the scheme's priorities on packets that leave `device` of this network namespace.
    /// Fails if the namespace has no such device.
    pub(crate) fn mark_dscp(&self, device: &str) -> Result<(), Failure> {
        self.programs.as_ref().map_or(Ok(()), |programs| programs.attach(device))
    }

    /// Gives the kernel `message`, the flow that the connection of `socket` carries now. A simulated sender knows the
    /// same of its flow.
    /// Fails if `socket` is not a socket.
    pub(crate) fn tell(&self, socket: &impl AsRawFd, message: &Message, clock: Clock) -> io::Result<()> {
        self.programs.as_ref().map_or(Ok(()), |programs| programs.tell(socket, message, clock))
    }
}

/// Returns the kernel's congestion control that runs a scheme: `instead` if given, else `reno` or `cubic` for TCP and
/// CUBIC. Returns `None` if an eBPF program runs the scheme.
/// Fails if the transport has neither a program nor a congestion control of the kernel.
pub(crate) fn kernel_control<'a>(
    scheme: &Scheme,
    instead: Option<&'a str>,
) -> Result<Option<&'a str>, Failure> {
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

/// Fails if the kernel has no congestion control `name`.
fn check(name: &str) -> Result<(), Failure> {
    const KNOWN: &str = "/proc/sys/net/ipv4/tcp_available_congestion_control";
    let known = std::fs::read_to_string(KNOWN).map_err(Failure::host(KNOWN))?;
    if known.split_whitespace().any(|each| each == name) {
        return Ok(());
    }
    let why = format!("testbed: the kernel has no congestion control {name} (it has {})", known.trim());
    Err(Failure::Host(why))
}
