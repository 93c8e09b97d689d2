//! The congestion control that a network namespace gives to new sockets, and the one from before.

use super::PREFIX;
use super::namespaces::{Place, Seen, inode_here};
use super::pins::{Pins, refused};
use crate::{Failure, check};
use libbpf_rs::libbpf_sys::bpf_map_create_opts;
use libbpf_rs::{MapCore, MapFlags, MapHandle, MapType};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::mem::size_of;

const SYSCTL: &str = "/proc/sys/net/ipv4/tcp_congestion_control";
/// `TCP_CA_NAME_MAX` of the kernel.
const NAME: usize = 16;
/// The congestion control that every kernel has.
const ALWAYS_THERE: &str = "reno";

/// The default of this namespace.
pub fn default_here() -> String {
    fs::read_to_string(SYSCTL).unwrap_or_default().trim().to_owned()
}

/// Makes `name` the default of this namespace, and remembers what was.
///
/// # Errors
/// Fails without `CAP_NET_ADMIN`.
pub fn make_default(pins: &Pins, name: &str) -> Result<(), Failure> {
    let before = default_here();
    if !before.starts_with(PREFIX) {
        let inode = inode_here()?;
        let mut value = before.into_bytes();
        value.resize(NAME, 0);
        let map = open_or_create(pins).map_err(refused("defaults"))?;
        map.update(&inode.to_ne_bytes(), &value, MapFlags::ANY).map_err(refused("defaults"))?;
    }
    fs::write(SYSCTL, name).map_err(Failure::host(format_args!("{SYSCTL} = {name}")))
}

fn open_or_create(pins: &Pins) -> libbpf_rs::Result<MapHandle> {
    let path = pins.path("defaults");
    if path.exists() {
        return MapHandle::from_pinned_path(path);
    }
    let options = bpf_map_create_opts { sz: size_of::<bpf_map_create_opts>() as u64, ..Default::default() };
    let mut map = MapHandle::create(MapType::Hash, Some("defaults"), 8, NAME as u32, 1024, &options)?;
    map.pin(path)?;
    Ok(map)
}

/// What came of restoring.
#[derive(Debug, Default)]
pub struct Restored {
    /// A line for each namespace that has another default now.
    pub defaults: Vec<String>,
    /// A line for each that could not be inspected, whose record stays, and for each that has not what it had before.
    pub warnings: Vec<String>,
}

impl Restored {
    /// `name` is the default of `place` again, where `before` was.
    fn note(&mut self, place: &Place, name: &str, before: &str) {
        let inode = place.inode;
        let which = if place.is_here() { "this".to_owned() } else { format!("another ({inode})") };
        self.defaults.push(format!("{name}: default of {which} network namespace again"));
        if name != before {
            let why = format!("{name}, because {before} cannot be chosen there");
            self.warnings.push(format!("network namespace {inode}: {why}"));
        }
    }
}

/// Where one of `names` is the default, what was before comes back; `reno` where that cannot be. A namespace
/// that has inherited it gets what was before in this one, or else in the one with the smallest number.
///
/// # Errors
/// Fails without the right to change this namespace.
pub fn restore_defaults(pins: &Pins, names: impl Fn(&str) -> bool + Sync) -> Result<Restored, Failure> {
    let path = pins.path("defaults");
    let map = path.exists().then(|| MapHandle::from_pinned_path(&path)).transpose();
    let map = map.map_err(refused("defaults"))?;
    let mut records = match &map {
        Some(map) => records(map).map_err(refused("defaults"))?,
        None => BTreeMap::new(),
    };
    let inherited = records.get(&inode_here()?).or(records.values().next());
    let inherited = inherited.map_or(ALWAYS_THERE, String::as_str).to_owned();
    let Seen { namespaces, hidden } = Seen::now()?;
    let mut done = Restored::default();
    for place in namespaces {
        let inode = place.inode;
        let before = records.get(&inode).unwrap_or(&inherited).clone();
        let settled = place.within(|| {
            let now = default_here();
            let restored = names(&now).then(|| restore(&before)).transpose()?;
            Ok((restored, now.starts_with(PREFIX)))
        });
        match settled {
            Ok((restored, is_ours)) if restored.is_some() || !is_ours => {
                if let Some(name) = restored {
                    done.note(&place, name, &before);
                }
                if let (Some(_), Some(map)) = (records.remove(&inode), &map) {
                    map.delete(&inode.to_ne_bytes()).map_err(refused("defaults"))?;
                }
            }
            Ok(_) => drop(records.remove(&inode)),
            Err(error) if place.is_here() => return Err(Failure::host(SYSCTL)(error)),
            Err(error) if records.remove(&inode).is_some() => {
                done.warnings.push(format!("network namespace {inode}: its default stays: {error}"));
            }
            Err(_) => {}
        }
    }
    // What hides from all capabilities, nobody can restore either.
    let is_gone = hidden == 0 || check::may_inspect_all();
    for (inode, before) in records {
        match &map {
            Some(map) if is_gone => map.delete(&inode.to_ne_bytes()).map_err(refused("defaults"))?,
            _ => done.warnings.push(format!(
                "network namespace {inode}: not found among those that may be inspected (CAP_SYS_ADMIN and \
                 CAP_SYS_PTRACE show all); its default was {before}"
            )),
        }
    }
    if map.is_some_and(|map| map.keys().next().is_none()) {
        fs::remove_file(&path).map_err(Failure::host(path.display()))?;
    }
    Ok(done)
}

/// Makes `before` the default of this namespace, or what every kernel has: a module or a program may have gone since, and
/// not all are for every namespace.
fn restore(before: &str) -> io::Result<&str> {
    match fs::write(SYSCTL, before) {
        Ok(()) => Ok(before),
        Err(_) => fs::write(SYSCTL, ALWAYS_THERE).map(|()| ALWAYS_THERE),
    }
}

/// Where `name` is the default, new sockets take what is registered under it now: the kernel's default is a program,
/// not a name.
///
/// # Errors
/// Fails without the right to change this namespace.
pub fn renew_default(name: &str) -> Result<(), Failure> {
    let renew = || if default_here() == name { fs::write(SYSCTL, name) } else { Ok(()) };
    for place in Seen::now()?.namespaces {
        match place.within(renew) {
            Err(error) if place.is_here() => return Err(Failure::host(SYSCTL)(error)),
            _ => {}
        }
    }
    Ok(())
}

/// What was before, by the number of the namespace.
fn records(map: &MapHandle) -> libbpf_rs::Result<BTreeMap<u64, String>> {
    let mut records = BTreeMap::new();
    for key in map.keys() {
        let value = map.lookup(&key, MapFlags::ANY)?.unwrap_or_default();
        let before = String::from_utf8_lossy(&value).trim_end_matches('\0').to_owned();
        records.insert(u64::from_ne_bytes(key.as_slice().try_into().unwrap_or_default()), before);
    }
    Ok(records)
}
