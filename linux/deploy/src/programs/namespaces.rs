//! The network namespaces of this host.

use crate::Failure;
use crate::sys::Namespace;
use std::collections::HashSet;
use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

const HERE: &str = "/proc/thread-self/ns/net";

/// A network namespace.
pub(super) struct Place {
    /// Number of the namespace.
    pub inode: u64,
    /// The file by which the namespace was found, and the namespace; `None` for this thread's own namespace.
    elsewhere: Option<(PathBuf, Namespace)>,
}

impl Place {
    /// True for this thread's own namespace.
    pub(super) fn is_here(&self) -> bool {
        self.elsewhere.is_none()
    }

    /// The file by which the namespace was found; `None` for this thread's own namespace.
    pub(super) fn path(&self) -> Option<String> {
        self.elsewhere.as_ref().map(|(path, _)| path.display().to_string())
    }

    /// Runs `action` in the namespace. This thread's own namespace needs no right to enter.
    pub(super) fn within<T: Send>(&self, action: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
        match &self.elsewhere {
            Some((_, namespace)) => namespace.within(action),
            None => action(),
        }
    }
}

/// Number of this thread's own namespace.
pub(super) fn inode_here() -> Result<u64, Failure> {
    Ok(fs::metadata(HERE).map_err(Failure::host(HERE))?.ino())
}

/// The network namespaces that this process can find.
pub(super) struct Seen {
    /// The namespaces; this thread's own is first.
    pub namespaces: Vec<Place>,
    /// Number of processes with hidden namespaces.
    pub hidden: usize,
}

impl Seen {
    /// Finds the namespaces of processes, and those that a mount keeps, such as those of `ip netns`.
    pub(super) fn now() -> Result<Seen, Failure> {
        let entries =
            |path: &str| fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path());
        let of_processes = entries("/proc").map(|process| process.join("ns/net"));
        let here = inode_here()?;
        let mut numbers = HashSet::from([here]);
        let mut seen = Seen { namespaces: vec![Place { inode: here, elsewhere: None }], hidden: 0 };
        for path in entries("/run/netns").chain(mounted()).chain(of_processes) {
            let opened = fs::File::open(&path).and_then(|file| Ok((file.metadata()?.ino(), file)));
            match opened {
                Ok((inode, file)) if numbers.insert(inode) => {
                    seen.namespaces.push(Place { inode, elsewhere: Some((path, file.into())) });
                }
                Err(error) if error.kind() == ErrorKind::PermissionDenied => seen.hidden += 1,
                _ => {} // a known namespace, or one that has ended meanwhile
            }
        }
        Ok(seen)
    }
}

/// Files on which network namespaces are mounted: container engines have directories of their own.
fn mounted() -> Vec<PathBuf> {
    let mounts = fs::read_to_string("/proc/thread-self/mountinfo").unwrap_or_default();
    let is_namespace = |line: &&str| line.split(' ').nth(3).is_some_and(|root| root.starts_with("net:["));
    let lines = mounts.lines().filter(is_namespace);
    lines.filter_map(|line| line.split(' ').nth(4)).map(PathBuf::from).collect()
}
