//! The eBPF programs of a run. They end with this process, even if it is killed. Their shared maps are pinned only
//! during loading. If the process is killed during that time, the next run or `unload` removes the pins.

use crate::switch::Clock;
use shortflow_cc::TransportConfig;
use shortflow_deploy::Failure;
use shortflow_deploy::programs::{
    By, DscpProgram, Flow, Flows, Held, Pins, Prepared, Rule, Users, loaded_text,
};
use shortflow_sim::host::Message;
use shortflow_sim::host::priority::{self, PriorityRule};
use shortflow_sim::scheme::Scheme;
use shortflow_units::Bytes;
use std::io;
use std::os::fd::AsRawFd;

/// Loaded programs: a congestion control and DSCP marking, with the data on flows that both read.
#[derive(Debug)]
pub(crate) struct Programs {
    congestion: Option<String>,
    dscp: Option<DscpProgram>,
    flows: Flows,
    _held: Option<Held>,
}

/// Lock on loaded programs. While it is held, no other command can replace a program.
pub(crate) type Lock = Pins;

impl Programs {
    /// Loads the programs of `scheme`: DSCP marking if it has priorities, and a congestion control unless the
    /// kernel's own runs it (`has_own`). Returns `None` if no program is necessary.
    /// Fails if the kernel refuses a program, or has a congestion control of the same name loaded with other
    /// parameters.
    pub(crate) fn load(scheme: &Scheme, has_own: bool) -> Result<Option<(Programs, Lock)>, Failure> {
        let transport = (!has_own).then_some(&scheme.transport);
        let rule = rule(&scheme.priority);
        if transport.is_none() && rule.is_none() {
            return Ok(None);
        }
        let pins = Pins::create()?;
        let programs = Programs::with(&pins, transport, rule);
        pins.sweep()?;
        Ok(Some((programs?, pins)))
    }

    fn with(
        pins: &Pins,
        transport: Option<&TransportConfig>,
        rule: Option<Rule>,
    ) -> Result<Programs, Failure> {
        let control = transport.map(|transport| hold(pins, transport)).transpose()?;
        let dscp = rule.map(|rule| DscpProgram::load(pins, rule)).transpose()?;
        let (congestion, held) = control.unzip();
        Ok(Programs { congestion, dscp, flows: Flows::open(pins)?, _held: held.flatten() })
    }

    /// Name of the congestion control.
    pub(crate) fn congestion(&self) -> Option<&str> {
        self.congestion.as_deref()
    }

    /// Marks the DSCP of packets that leave `device` of this network namespace, if the scheme has priorities.
    /// Fails if the namespace has no such device.
    pub(crate) fn attach(&self, device: &str) -> Result<(), Failure> {
        self.dscp.as_ref().map_or(Ok(()), |program| program.attach(device))
    }

    /// Gives the programs `message`, the flow that the connection of `socket` carries now.
    /// Fails if `socket` is not a socket.
    pub(crate) fn tell(&self, socket: &impl AsRawFd, message: &Message, clock: Clock) -> io::Result<()> {
        let size = (!message.is_backlogged()).then_some(message.end - message.start);
        let deadline_ns = message.deadline.map(|deadline| clock.monotonic_ns(deadline));
        self.flows.set(socket, &Flow { start: message.start, size, deadline_ns, role: message.role })
    }
}

/// Returns the rule of DSCP marking, `None` for a scheme without priorities.
fn rule(priority: &PriorityRule) -> Option<Rule> {
    match priority.by {
        priority::By::None => None,
        priority::By::Size | priority::By::SizeDscp => Some(Rule::By(By::Size)),
        priority::By::SizeClass => Some(Rule::SizeClass),
        priority::By::Remaining => Some(Rule::By(By::Remaining)),
        priority::By::Sent => Some(Rule::By(By::Sent)),
        priority::By::Deadline => Some(Rule::By(By::Deadline)),
        priority::By::Levels => Some(Rule::Levels(priority.thresholds.all().map(Bytes::get))),
    }
}

/// Returns the name of the congestion control, and its registration unless the same program was loaded before.
fn hold(pins: &Pins, transport: &TransportConfig) -> Result<(String, Option<Held>), Failure> {
    let prepared = Prepared::new(transport, None, Users::All, pins)?;
    let name = prepared.name().to_owned();
    if !pins.loaded()?.contains(&name) {
        return Ok((name, Some(prepared.hold()?)));
    }
    let (wanted, found) = (prepared.text(), loaded_text(pins, &name)?);
    if found == wanted {
        return Ok((name, None));
    }
    Err(Failure::Host(format!("testbed: {name} {}", difference(&found, wanted))))
}

/// Describes the difference of two lists of parameters, with the remedy.
fn difference(found: &str, wanted: &str) -> String {
    let only = |these: &str, others: &str| {
        let pairs = these.split(' ').filter(|pair| others.split(' ').all(|other| other != *pair));
        pairs.map(str::to_owned).collect::<Vec<_>>()
    };
    let (of_found, of_wanted) = (only(found, wanted), only(wanted, found));
    let keys = |pairs: &[String]| -> Vec<String> {
        pairs.iter().filter_map(|pair| Some(pair.split_once('=')?.0.to_owned())).collect()
    };
    if keys(&of_found) != keys(&of_wanted) {
        return format!("is loaded with {}, which the run does not use; unload it", of_found.join(" "));
    }
    let set: String = of_found.iter().map(|pair| format!(" --set transport.{pair}")).collect();
    let (found, wanted) = (of_found.join(" "), of_wanted.join(" "));
    format!("is loaded with {found}, but the run uses {wanted}; unload it, or add{set}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_names_the_keys_to_set() {
        assert_eq!(
            difference("g=0.0625 cwnd_floor=2 ecn=exact", "g=0.0625 cwnd_floor=1 ecn=exact"),
            "is loaded with cwnd_floor=2, but the run uses cwnd_floor=1; unload it, or add --set \
             transport.cwnd_floor=2"
        );
        assert_eq!(
            difference("beta=10 segments=eth0", "beta=10"),
            "is loaded with segments=eth0, which the run does not use; unload it"
        );
    }
}
