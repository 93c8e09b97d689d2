//! `class`: roles of ports.

use crate::Failure;
use crate::programs::{self, Pins};
use shortflow_cc::Role;
use std::num::NonZeroU16;

#[derive(clap::Args)]
pub struct Args {
    /// Class of new connections to or from PORT: short, long, or none to clear it.
    #[arg(value_name = "PORT=CLASS", value_parser = port_class)]
    ports: Vec<(u16, Role)>,
}

fn port_class(text: &str) -> Result<(u16, Role), String> {
    let (port, class) = text.split_once('=').ok_or("expected PORT=CLASS, for example 5001=short")?;
    let port: NonZeroU16 = port.parse().map_err(|_| format!("{port:?} is not a port from 1 to 65535"))?;
    let role = [Role::Short, Role::Long, Role::Unknown].into_iter().find(|role| word(*role) == class);
    Ok((port.get(), role.ok_or_else(|| format!("{class:?} is not one of short, long, none"))?))
}

/// Name of a role on the command line.
pub(super) fn word(role: Role) -> &'static str {
    match role {
        Role::Short => "short",
        Role::Long => "long",
        Role::Unknown => "none",
    }
}

pub(super) fn run(args: Args) -> Result<(), Failure> {
    let Some(pins) = Pins::open()? else {
        return Err(Failure::Input("nothing is loaded; run `load sf_xdctcp` first".to_owned()));
    };
    for (port, role) in args.ports {
        programs::set_port(&pins, port, role)?;
    }
    for (port, role) in programs::ports(&pins)? {
        println!("port {port}: {}", word(role));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_and_classes() {
        assert_eq!(port_class("5001=short"), Ok((5001, Role::Short)));
        assert!(port_class("0=short").unwrap_err().contains("from 1"));
        assert_eq!(port_class("80=none"), Ok((80, Role::Unknown)));
        for wrong in ["5001", "70000=short", "80=tall"] {
            assert!(port_class(wrong).is_err(), "{wrong}");
        }
    }
}
