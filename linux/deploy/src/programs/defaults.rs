//! The default congestion control of network namespaces, and the earlier default.

use super::namespaces::{Place, Seen, inode_here};
use super::pins::{PREFIX, Pins, failure_of};
use crate::sys::Namespace;
use crate::{Failure, check};
use libbpf_rs::{MapCore, MapFlags, MapHandle};
use std::collections::BTreeMap;
use std::fs;
use std::io;

const SYSCTL: &str = "/proc/sys/net/ipv4/tcp_congestion_control";
/// `TCP_CA_NAME_MAX` of the kernel.
const NAME: usize = 16;
/// Pins of two maps: the earlier defaults by namespace, and the host's.
const DEFAULTS: &str = "defaults";
const HOST: &str = "host";
/// A congestion control that every kernel has.
const ALWAYS_THERE: &str = "reno";

/// Default of this network namespace.
pub fn default_here() -> String {
    fs::read_to_string(SYSCTL).unwrap_or_default().trim().to_owned()
}

/// Default of the host, read in the namespace of its first process; the default of this namespace if that is hidden.
fn default_of_host() -> String {
    let first = fs::File::open("/proc/1/ns/net").map(Namespace::from);
    first.and_then(|first| first.within(|| Ok(default_here()))).unwrap_or_else(|_| default_here())
}

/// Records the default of the host, if it is not yet recorded. The record lasts until nothing is loaded.
/// Fails if the kernel refuses the map of the record.
pub fn remember_host_default(pins: &Pins) -> Result<(), Failure> {
    let before = default_of_host();
    let map = open(pins, HOST)?;
    if before.starts_with(PREFIX) || map.keys().next().is_some() {
        return Ok(());
    }
    map.update(&0u64.to_ne_bytes(), &padded(before), MapFlags::ANY).map_err(failure_of(HOST))
}

/// The host's default before the first of ours; if there is no record, the current default.
fn host_default(pins: &Pins) -> String {
    let remembered = MapHandle::from_pinned_path(pins.path(HOST)).and_then(|map| records(&map)).ok();
    let known = remembered.and_then(|records| records.into_values().next());
    let now = || Some(default_of_host()).filter(|name| !name.starts_with(PREFIX));
    known.or_else(now).unwrap_or_else(|| ALWAYS_THERE.to_owned())
}

/// A name, padded as in the kernel.
fn padded(name: String) -> Vec<u8> {
    let mut value = name.into_bytes();
    value.resize(NAME, 0);
    value
}

/// Makes `name` the default of this namespace, and records the former default.
/// Fails without `CAP_NET_ADMIN`.
pub fn make_default(pins: &Pins, name: &str) -> Result<(), Failure> {
    let before = default_here();
    if !before.starts_with(PREFIX) {
        let inode = inode_here()?;
        let map = open(pins, DEFAULTS)?;
        map.update(&inode.to_ne_bytes(), &padded(before), MapFlags::ANY).map_err(failure_of(DEFAULTS))?;
    }
    fs::write(SYSCTL, name).map_err(Failure::host(format_args!("{SYSCTL} = {name}")))
}

/// Opens a map that the programs have pinned, because they read it too.
fn open(pins: &Pins, name: &str) -> Result<MapHandle, Failure> {
    MapHandle::from_pinned_path(pins.path(name)).map_err(failure_of(name))
}

/// True if the default of any namespace is recorded.
pub(super) fn has_records(pins: &Pins) -> bool {
    open(pins, DEFAULTS).is_ok_and(|map| map.keys().next().is_some())
}

/// Result of [`restore_defaults`].
#[derive(Debug, Default)]
pub struct Restored {
    /// A line for each namespace whose default was restored.
    pub defaults: Vec<String>,
    /// A line for each namespace that got another default than its earlier one.
    pub others: Vec<String>,
    /// A line for each namespace that could not be inspected or changed, whose record stays.
    pub remaining: Vec<String>,
}

impl Restored {
    /// Notes that `name` is the default of `place` again; `before` was the earlier default.
    fn note(&mut self, place: &Place, name: &str, before: &str) {
        let inode = place.inode;
        let which = if place.is_here() { "this".to_owned() } else { format!("another ({inode})") };
        self.defaults.push(format!("{name}: again the default of {which} network namespace"));
        if name != before {
            let why = format!("the default is now {name}, because {before} is not available");
            self.others.push(format!("network namespace {inode}: {why}"));
        }
    }
}

/// Restores the earlier default, or else the host's default, in each namespace whose default is one of `names`. A
/// namespace that has inherited ours gets the earlier default of this namespace, or else the host's.
/// Fails if the record cannot be read or changed.
pub fn restore_defaults(pins: &Pins, names: impl Fn(&str) -> bool + Sync) -> Result<Restored, Failure> {
    let path = pins.path(DEFAULTS);
    let map = path.exists().then(|| MapHandle::from_pinned_path(&path)).transpose();
    let map = map.map_err(failure_of(DEFAULTS))?;
    let mut records = match &map {
        Some(map) => records(map).map_err(failure_of(DEFAULTS))?,
        None => BTreeMap::new(),
    };
    let host = host_default(pins);
    let inherited = records.get(&inode_here()?).unwrap_or(&host).clone();
    let Seen { namespaces, hidden } = Seen::now()?;
    let mut done = Restored::default();
    for place in namespaces {
        let inode = place.inode;
        let before = records.get(&inode).unwrap_or(&inherited).clone();
        let settled = place.within(|| {
            let now = default_here();
            let restored = names(&now).then(|| restore([&before, &host])).transpose()?;
            Ok((restored, now.starts_with(PREFIX)))
        });
        match settled {
            Ok((restored, is_ours)) if restored.is_some() || !is_ours => {
                if let Some(name) = restored {
                    done.note(&place, &name, &before);
                }
                if let (Some(_), Some(map)) = (records.remove(&inode), &map) {
                    map.delete(&inode.to_ne_bytes()).map_err(failure_of(DEFAULTS))?;
                }
            }
            Ok(_) => drop(records.remove(&inode)),
            Err(error) if records.remove(&inode).is_some() || place.is_here() => {
                done.remaining.push(format!(
                    "network namespace {inode}: the default is not restored: {error}; it was {before}"
                ));
            }
            Err(_) => {}
        }
    }
    // A namespace that is hidden even from all capabilities cannot be restored, so it counts as gone.
    let is_gone = hidden == 0 || check::may_inspect_all();
    for (inode, before) in records {
        match &map {
            Some(map) if is_gone => map.delete(&inode.to_ne_bytes()).map_err(failure_of(DEFAULTS))?,
            _ => done.remaining.push(format!(
                "network namespace {inode}: not found among those that may be inspected (CAP_SYS_ADMIN and \
                 CAP_SYS_PTRACE show all); its default was {before}"
            )),
        }
    }
    Ok(done)
}

/// Names of `names` that are the default of a network namespace, each with the number of the first such namespace.
/// Fails if namespaces cannot be found.
pub fn defaults_among(names: &[String]) -> Result<BTreeMap<String, u64>, Failure> {
    let mut found = BTreeMap::new();
    for place in Seen::now()?.namespaces {
        // This process may not enter every namespace.
        let default = place.within(|| Ok(default_here())).unwrap_or_default();
        if names.contains(&default) {
            found.entry(default).or_insert(place.inode);
        }
    }
    Ok(found)
}

/// Makes the first available of `wanted` the default of this namespace, or else Reno. A module or a program may be
/// gone, and some congestion controls are not available in every namespace.
fn restore(wanted: [&str; 2]) -> io::Result<String> {
    let can_be = wanted.into_iter().find(|name| fs::write(SYSCTL, name).is_ok());
    match can_be {
        Some(name) => Ok(name.to_owned()),
        None => fs::write(SYSCTL, ALWAYS_THERE).map(|()| ALWAYS_THERE.to_owned()),
    }
}

/// Sets the default `name` again, where it is the default, so that new sockets use its current registration. This is
/// necessary because the kernel's default is a program, not a name. Returns a line for each namespace in which this
/// fails.
pub fn renew_default(name: &str) -> Result<Vec<String>, Failure> {
    let renew = || if default_here() == name { fs::write(SYSCTL, name) } else { Ok(()) };
    let mut warnings = Vec::new();
    for place in Seen::now()?.namespaces {
        match place.within(renew) {
            Err(error) if place.is_here() => return Err(Failure::host(SYSCTL)(error)),
            Err(error) => warnings.push(format!(
                "network namespace {}: new sockets may keep the former program of {name}, the default: {error}",
                place.inode
            )),
            Ok(()) => {}
        }
    }
    Ok(warnings)
}

/// Earlier defaults by namespace number.
fn records(map: &MapHandle) -> libbpf_rs::Result<BTreeMap<u64, String>> {
    let mut records = BTreeMap::new();
    for key in map.keys() {
        let value = map.lookup(&key, MapFlags::ANY)?.unwrap_or_default();
        let before = String::from_utf8_lossy(&value).trim_end_matches('\0').to_owned();
        records.insert(u64::from_ne_bytes(key.as_slice().try_into().unwrap_or_default()), before);
    }
    Ok(records)
}
