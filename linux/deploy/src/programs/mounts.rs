//! The bpf file system of the pins: mounting, unmounting and lifetime.

use crate::Failure;
use rustix::fs::{major, minor};
use rustix::io::Errno;
use rustix::mount::{MountFlags, UnmountFlags};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Mount point of bpf file systems.
pub(crate) const BPFFS: &str = "/sys/fs/bpf";
/// Source of our own mounts, which /proc/mounts shows.
const OURS: &str = "shortflow";

/// A line of /proc/PID/mountinfo.
#[derive(Debug, PartialEq)]
struct Mount<'a> {
    /// Number of the mount, unique on the host.
    id: &'a str,
    /// Major and minor number of the file system, the same in every mount namespace.
    device: &'a str,
    directory: &'a str,
    kind: &'a str,
    source: &'a str,
}

impl Mount<'_> {
    fn read(line: &str) -> Option<Mount<'_>> {
        let (place, what) = line.split_once(" - ")?;
        let (mut place, mut what) = (place.split(' '), what.split(' '));
        let (id, device, directory) = (place.next()?, place.nth(1)?, place.nth(1)?);
        Some(Mount { id, device, directory, kind: what.next()?, source: what.next()? })
    }

    fn all(mountinfo: &str) -> impl Iterator<Item = Mount<'_>> {
        mountinfo.lines().filter_map(Mount::read)
    }
}

/// Mounts that a process sees; empty if they are hidden.
fn mountinfo(process: &str) -> String {
    fs::read_to_string(format!("/proc/{process}/mountinfo")).unwrap_or_default()
}

/// Device and source of the bpf file system that this process sees at [`BPFFS`].
fn here() -> Option<(String, String)> {
    let device = fs::metadata(BPFFS).ok()?.dev();
    let device = format!("{}:{}", major(device), minor(device));
    let text = mountinfo("self");
    let found = Mount::all(&text).find(|mount| mount.kind == "bpf" && mount.device == device)?;
    Some((device, found.source.to_owned()))
}

/// Mounts a bpf file system, if there is none.
/// Fails without `CAP_SYS_ADMIN`.
pub(crate) fn mount() -> Result<(), Failure> {
    if here().is_some() {
        return Ok(());
    }
    // Only root may enter it.
    rustix::mount::mount(OURS, BPFFS, "bpf", MountFlags::empty(), Some(c"mode=0700"))
        .map_err(Failure::host("mount -t bpf bpf /sys/fs/bpf"))
}

/// Unmounts the bpf file system if we mounted it and it is empty. Without `CAP_SYS_ADMIN`, a later command unmounts
/// it.
/// Fails if the kernel refuses.
pub(crate) fn unmount_ours() -> Result<(), Failure> {
    // Every bpf file system has maps.debug and progs.debug.
    let is_debug = |entry: &fs::DirEntry| entry.path().extension().is_some_and(|end| end == "debug");
    let is_empty = fs::read_dir(BPFFS)
        .is_ok_and(|mut entries| entries.all(|entry| entry.is_ok_and(|entry| is_debug(&entry))));
    if !is_empty || here().is_none_or(|(_, source)| source != OURS) {
        return Ok(());
    }
    match rustix::mount::unmount(BPFFS, UnmountFlags::DETACH) {
        Err(error) if error != Errno::PERM => Err(Failure::host("umount /sys/fs/bpf")(error)),
        _ => Ok(()),
    }
}

/// Returns `true` if a bpf file system is mounted here, and `false` if one can be mounted. In both cases pins outlast
/// this mount namespace, because the host's first process has the same file system or namespace.
/// An error states the remedy if pins would not last.
pub(crate) fn lasting() -> Result<bool, String> {
    let (first, own, here) = (mountinfo("1"), mountinfo("self"), here());
    let is_shared = match &here {
        Some((device, _)) => Mount::all(&first).any(|mount| mount.device == device),
        None => Mount::all(&first).any(|mount| Mount::all(&own).any(|own| own.id == mount.id)),
    };
    if is_shared || first.is_empty() {
        Ok(here.is_some())
    } else {
        Err(apart("other processes would not see pinned programs, and the programs would end with it"))
    }
}

/// Checks that the host's pins are visible here.
/// An error states the remedy if they are hidden.
pub(crate) fn check_view() -> Result<(), Failure> {
    let first = mountinfo("1");
    let host = Mount::all(&first).filter(|mount| mount.directory == BPFFS).last();
    match host {
        Some(host) if host.kind == "bpf" && here().is_none_or(|(device, _)| device != host.device) => {
            Err(Failure::Host(apart("loaded programs are not visible here")))
        }
        _ => Ok(()),
    }
}

/// Text of an error about a separate bpf file system, with the remedy. `ip netns exec NAME` mounts /sys anew, with
/// the name of the namespace as source.
fn apart(consequence: &str) -> String {
    let text = mountinfo("self");
    let sysfs = Mount::all(&text).filter(|mount| mount.directory == "/sys").last();
    let name = sysfs.map(|mount| mount.source).filter(|name| Path::new("/run/netns").join(name).exists());
    let name = name.unwrap_or("NAME");
    format!(
        "this mount namespace has a /sys/fs/bpf of its own, as `ip netns exec` makes it: {consequence}; \
         instead: nsenter --net=/run/netns/{name} COMMAND"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_mountinfo() {
        let expected = Mount { id: "43", device: "0:39", directory: BPFFS, kind: "bpf", source: "shortflow" };
        let line = "43 23 0:39 / /sys/fs/bpf rw,relatime shared:7 - bpf shortflow rw,mode=700";
        assert_eq!(Mount::read(line), Some(expected));
        assert_eq!(Mount::read("43 23 0:39 /"), None);
    }
}
