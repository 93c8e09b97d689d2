//! Files of the bpf file system, which keep programs loaded after the command has ended.
//!
//! ```text
//! /sys/fs/bpf/shortflow/
//!   flows, ports          maps that all programs share
//!   defaults              default congestion control of each namespace before ours
//!   routes/INODE/NAME@TO  that network namespace has a route of --route for the control NAME to the prefix TO
//!   segments/INODE        that network namespace has the routes of --segments
//!   setsockopt_INODE      the hooks of that cgroup; getsockopt_INODE beside it
//!   host                  the host's default before the first of ours
//!   sf_NAME/config        its parameters
//!   sf_NAME/link          its registration; before Linux 6.4 `map`
//!   sf_NAME/next-config   parameters of a replacement, and next-map its operations
//! ```

use super::messages;
pub(super) use crate::laws::PREFIX;
use crate::{Failure, check, sys};
use libbpf_rs::query::LinkTypeInfo;
use libbpf_rs::{Link, MapCore, MapFlags, MapHandle, ObjectBuilder, OpenObject};
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

pub(super) const DIRECTORY: &str = "/sys/fs/bpf/shortflow";
const AVAILABLE: &str = "/proc/sys/net/ipv4/tcp_available_congestion_control";
/// Files of a congestion control.
pub(super) const CONFIG: &str = "config";
pub(super) const LINK: &str = "link";
pub(super) const NEXT_CONFIG: &str = "next-config";
pub(super) const NEXT_MAP: &str = "next-map";
/// Lock of the pins. Only root may open it: any user who may open a file can hold its lock.
const LOCK: &str = "/run/shortflow.lock";
/// `BPF_STRUCT_OPS_STATE_INUSE`: the word after the reference count in a registered map.
const IN_USE: [u8; 4] = 1u32.to_ne_bytes();
/// Longest wait for the end of a registration, which the kernel ends some time after the last file is gone.
const UNREGISTER_TIMEOUT: Duration = Duration::from_secs(5);
/// Time that a command waits for other commands: before it says so, and before it gives up.
const QUIET_WAIT: Duration = Duration::from_secs(1);
const LONGEST_WAIT: Duration = Duration::from_secs(60);
/// Time between two checks.
const PAUSE: Duration = Duration::from_millis(5);

/// The directory of the pins, locked against other commands.
#[derive(Debug)]
pub struct Pins {
    _lock: File,
}

impl Pins {
    /// Locks the directory; waits for other commands.
    pub(super) fn lock() -> Result<Pins, Failure> {
        check::privileged()?;
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).mode(0o600).custom_flags(libc::O_NOFOLLOW);
        let lock = options.open(LOCK).map_err(Failure::host(LOCK))?;
        await_lock(&lock)?;
        Ok(Pins { _lock: lock })
    }

    /// Path of the file called `name`.
    pub fn path(&self, name: &str) -> PathBuf {
        Path::new(DIRECTORY).join(name)
    }

    /// Opens an object file, which will reuse the shared maps of this directory when it is loaded.
    pub(super) fn open_object(&self, code: &[u8]) -> libbpf_rs::Result<OpenObject> {
        ObjectBuilder::default().pin_root_path(DIRECTORY)?.open_memory(code)
    }

    /// Names of our registered congestion controls.
    /// Fails if the kernel does not list registrations.
    pub fn loaded(&self) -> Result<Vec<String>, Failure> {
        let registered = registered()?;
        let is_loaded = |name: &String| registered.contains(name) && self.is_held(name);
        Ok(self.names().into_iter().filter(is_loaded).collect())
    }

    /// True if `name` has a pin whose registration is in use.
    fn is_held(&self, name: &str) -> bool {
        let by_link = self.registered_map(name).is_some();
        let map = || MapHandle::from_pinned_path(self.path(name).join("map"));
        let value = || map().and_then(|map| map.lookup(&0u32.to_ne_bytes(), MapFlags::ANY));
        by_link || value().is_ok_and(|value| value.is_some_and(|value| value.get(4..8) == Some(&IN_USE)))
    }

    /// Number, in the kernel, of the operations that the link of `name` has registered.
    fn registered_map(&self, name: &str) -> Option<u32> {
        let info = Link::open(self.path(name).join(LINK)).and_then(|link| link.info());
        match info.ok()?.info {
            LinkTypeInfo::StructOps(found) => Some(found.map_id).filter(|id| *id != 0),
            _ => None,
        }
    }

    /// True if the operations pinned as the replacement of `name` are registered.
    pub(super) fn has_been_replaced(&self, name: &str) -> bool {
        let next = MapHandle::from_pinned_path(self.path(name).join(NEXT_MAP)).and_then(|map| map.info());
        next.is_ok_and(|next| Some(next.info.id) == self.registered_map(name))
    }

    /// Names of all files and directories.
    pub fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(DIRECTORY).into_iter().flatten().flatten();
        let mut names: Vec<String> =
            entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.sort();
        names
    }

    /// Unregisters the congestion control `name` and removes its files. Connections keep it until they end.
    /// Fails if the kernel keeps the registration.
    pub fn unregister(&self, name: &str) -> Result<(), Failure> {
        let directory = self.path(name);
        let (link, map) = (directory.join(LINK), directory.join("map"));
        if link.exists() {
            let held = Link::open(&link).map_err(failure_of(name))?;
            // Links can be detached since Linux 6.11. In earlier kernels the link ends when its file is gone.
            let _ = held.detach();
            remove(&link)?;
        } else if map.exists() {
            let held = MapHandle::from_pinned_path(&map).map_err(failure_of(name))?;
            held.delete(&0u32.to_ne_bytes()).map_err(failure_of(name))?;
        }
        // The parameters are removed last, so every registered program has them.
        remove(&directory)?;
        await_unregistered(name)
    }
}

/// Returns `true` if the directory exists. Its contents count as ours and are removed, so nobody else may write
/// there. In many bpf file systems, every user may create directories and links.
/// An error names the owner if another user owns the directory.
pub(super) fn is_there() -> Result<bool, Failure> {
    let found = match fs::symlink_metadata(DIRECTORY) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
        found => found.map_err(Failure::host(DIRECTORY))?,
    };
    let (owner, mode) = (found.uid(), found.mode() & 0o7777);
    if found.is_dir() && owner == 0 && mode & 0o022 == 0 {
        return Ok(true);
    }
    let what = format!("user {owner}, mode {mode:o}");
    Err(Failure::Host(format!("{DIRECTORY}: not writable by root alone: {what}; remove it")))
}

/// Makes the directory if there is none, with access only for root.
/// Fails if another user owns it.
pub(super) fn make() -> Result<(), Failure> {
    match DirBuilder::new().mode(0o700).create(DIRECTORY) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => is_there().map(drop),
        made => made.map_err(Failure::host(DIRECTORY)),
    }
}

/// Waits for other commands, and says so after a while.
fn await_lock(lock: &File) -> Result<(), Failure> {
    let why = format!("another command holds {LOCK}; `fuser -v {LOCK}` names it");
    let begun = Instant::now();
    let mut is_said = false;
    while !sys::try_lock(lock).map_err(Failure::host(LOCK))? {
        if begun.elapsed() >= LONGEST_WAIT {
            return Err(Failure::Host(why));
        }
        if begun.elapsed() >= QUIET_WAIT && !is_said {
            eprintln!("waiting: {why}");
            is_said = true;
        }
        std::thread::sleep(PAUSE);
    }
    Ok(())
}

/// Names of all congestion controls in the kernel, whoever registered them.
/// Fails if the kernel does not list them.
pub fn registered() -> Result<Vec<String>, Failure> {
    let names = fs::read_to_string(AVAILABLE).map_err(Failure::host(AVAILABLE))?;
    Ok(names.split_whitespace().map(str::to_owned).collect())
}

/// Waits until no congestion control of this name is registered.
/// Fails after a while, or if registrations cannot be read.
pub(super) fn await_unregistered(name: &str) -> Result<(), Failure> {
    let mut waited = Duration::ZERO;
    while registered()?.iter().any(|other| other == name) {
        if waited >= UNREGISTER_TIMEOUT {
            return Err(Failure::Host(format!("{name}: still registered in the kernel")));
        }
        std::thread::sleep(PAUSE);
        waited += PAUSE;
    }
    Ok(())
}

/// The failure of `what` by an error of libbpf: missing kernel types, or libbpf's own text, such as the verifier's
/// reason.
pub(super) fn failure_of(what: &str) -> impl FnOnce(libbpf_rs::Error) -> Failure {
    move |error| {
        let why = match check::without_types() {
            Some(remedy) => remedy.to_owned(),
            None => format!("{error:#}\n{}", messages::taken()),
        };
        Failure::Host(format!("{what}: {}", why.trim_end()))
    }
}

/// Removes a file, a link, or a directory with its contents.
pub(super) fn remove(path: &Path) -> Result<(), Failure> {
    let removed = if fs::symlink_metadata(path).is_ok_and(|found| found.is_dir()) {
        for entry in fs::read_dir(path).into_iter().flatten().flatten() {
            remove(&entry.path())?;
        }
        fs::remove_dir(path)
    } else {
        fs::remove_file(path)
    };
    removed.map_err(Failure::host(path.display()))
}
