//! The congestion control that a network namespace gives to new sockets, and the one from before.

use super::PREFIX;
use super::pins::{Pins, refused};
use crate::Failure;
use crate::sys::Namespace;
use libbpf_rs::libbpf_sys::bpf_map_create_opts;
use libbpf_rs::{MapCore, MapFlags, MapHandle, MapType};
use std::fs;
use std::mem::size_of;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

const SYSCTL: &str = "/proc/sys/net/ipv4/tcp_congestion_control";
const HERE: &str = "/proc/thread-self/ns/net";
/// `TCP_CA_NAME_MAX` of the kernel.
const NAME: usize = 16;

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
        let inode = fs::metadata(HERE).map_err(Failure::host(HERE))?.ino();
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

/// Where one of `names` is the default because of us, what was before comes back.
///
/// # Errors
/// Fails without the right to.
pub fn restore_defaults(pins: &Pins, names: &[String]) -> Result<(), Failure> {
    let path = pins.path("defaults");
    if !path.exists() {
        return Ok(());
    }
    let map = MapHandle::from_pinned_path(path).map_err(refused("defaults"))?;
    for key in map.keys() {
        let value = map.lookup(&key, MapFlags::ANY).map_err(refused("defaults"))?.unwrap_or_default();
        let before = String::from_utf8_lossy(&value).trim_end_matches('\0').to_owned();
        let inode = u64::from_ne_bytes(key.as_slice().try_into().unwrap_or_default());
        let restore = || {
            let is_theirs = names.contains(&default_here());
            if is_theirs {
                fs::write(SYSCTL, &before).map(|()| true)
            } else {
                Ok(!default_here().starts_with(PREFIX))
            }
        };
        let is_settled = match namespace_of(inode) {
            Where::Here => restore().map_err(Failure::host(SYSCTL))?,
            Where::There(namespace) => namespace.within(restore).map_err(Failure::host(SYSCTL))?,
            Where::Gone => true,
        };
        if is_settled {
            map.delete(&key).map_err(refused("defaults"))?;
        }
    }
    Ok(())
}

/// A network namespace, as this process sees it.
enum Where {
    Here,
    There(Namespace),
    Gone,
}

/// The network namespace with that number, if a process is in it or `ip netns` keeps it. To enter another one takes
/// `CAP_SYS_ADMIN`.
fn namespace_of(inode: u64) -> Where {
    let is_it = |path: &Path| fs::metadata(path).is_ok_and(|found| found.ino() == inode);
    if is_it(Path::new(HERE)) {
        return Where::Here;
    }
    let entries = |path: &str| fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path());
    let of_processes = entries("/proc").map(|process| process.join("ns/net"));
    let file = entries("/run/netns").chain(of_processes).find(|path| is_it(path)).map(fs::File::open);
    file.and_then(Result::ok).map_or(Where::Gone, |file| Where::There(Namespace::from(file)))
}
