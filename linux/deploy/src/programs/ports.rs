//! Roles of ports, for applications that state no role.

use super::pins::{Pins, failure_of};
use crate::Failure;
use crate::laws::role_number;
use libbpf_rs::{MapCore, MapFlags, MapHandle};
use shortflow_cc::Role;

fn map(pins: &Pins) -> Result<MapHandle, Failure> {
    MapHandle::from_pinned_path(pins.path("ports")).map_err(failure_of("ports"))
}

/// The role with this number of [`role_number`].
pub(super) fn role_of(word: u64) -> Role {
    let is_it = |role: &Role| u64::from(role_number(*role)) == word;
    [Role::Short, Role::Long].into_iter().find(is_it).unwrap_or(Role::Unknown)
}

/// All ports that have a role, in order.
/// Fails if the map cannot be read.
pub fn ports(pins: &Pins) -> Result<Vec<(u16, Role)>, Failure> {
    let map = map(pins)?;
    let entry = |key: Vec<u8>| -> Option<(u16, Role)> {
        let value = map.lookup(&key, MapFlags::ANY).ok()??;
        let port = u16::from_ne_bytes(key.try_into().ok()?);
        Some((port, role_of(u64::from_ne_bytes(value.try_into().ok()?))))
    };
    let mut ports: Vec<_> = map.keys().filter_map(entry).collect();
    ports.sort_by_key(|(port, _)| *port);
    Ok(ports)
}

/// Gives new connections to or from `port` a role; [`Role::Unknown`] removes the role.
/// Fails if there are too many ports.
pub fn set_port(pins: &Pins, port: u16, role: Role) -> Result<(), Failure> {
    let (map, key) = (map(pins)?, port.to_ne_bytes());
    if role != Role::Unknown {
        return map
            .update(&key, &u64::from(role_number(role)).to_ne_bytes(), MapFlags::ANY)
            .map_err(failure_of("ports"));
    }
    match map.delete(&key) {
        Err(error) if error.kind() != libbpf_rs::ErrorKind::NotFound => Err(failure_of("ports")(error)),
        _ => Ok(()),
    }
}
