//! System calls of the loader that `rustix` lacks, or that need several of its calls.
#![allow(unsafe_code)]

use rustix::fs::{FlockOperation, MemfdFlags};
use rustix::io::{Errno, FdFlags};
use rustix::thread::{LinkNameSpaceType, UnshareFlags, move_into_link_name_space, unshare_unsafe};
use std::fs::File;
use std::io::{self, Error, Seek, Write};
use std::mem::zeroed;
use std::os::fd::{AsFd, AsRawFd};
use std::process::Command;

/// A network namespace without a name. It ends when nobody holds it, so nothing is left behind, however a process
/// ends.
#[derive(Debug)]
pub struct Namespace(File);

impl Namespace {
    /// Creates a new network namespace.
    /// Fails without `CAP_SYS_ADMIN`.
    pub fn new() -> io::Result<Namespace> {
        let born = std::thread::spawn(|| {
            // SAFETY: no file descriptors are unshared; the namespace is that of this short-lived thread.
            unsafe { unshare_unsafe(UnshareFlags::NEWNET) }?;
            File::open("/proc/thread-self/ns/net").map(Namespace)
        });
        born.join().unwrap_or_else(|_| Err(Error::other("the thread that creates a namespace panicked")))
    }

    /// Runs `action` in the namespace, where its sockets and child processes belong.
    /// Fails if `action` fails, or without `CAP_SYS_ADMIN`.
    pub fn within<T: Send>(&self, action: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
        std::thread::scope(|scope| {
            let inside = scope.spawn(|| {
                move_into_link_name_space(self.0.as_fd(), Some(LinkNameSpaceType::Network))?;
                action()
            });
            inside.join().unwrap_or_else(|_| Err(Error::other("the thread inside a namespace panicked")))
        })
    }
}

impl From<File> for Namespace {
    /// The namespace of a file such as `/proc/PID/ns/net`.
    fn from(file: File) -> Namespace {
        Namespace(file)
    }
}

/// Time of the monotonic clock in nanoseconds, which eBPF programs read too.
pub fn monotonic_ns() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// Makes a closed pipe on stdout end this process quietly, as `| head` expects.
pub fn end_with_closed_pipes() {
    // SAFETY: the only replaced handler is the one with which Rust's start code ignores the signal.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
}

/// Request for ioctl(2) about the network device `name`.
pub fn interface(name: &str) -> libc::ifreq {
    // SAFETY: an ifreq of zeros is valid.
    let mut request: libc::ifreq = unsafe { zeroed() };
    for (slot, byte) in request.ifr_name.iter_mut().take(libc::IFNAMSIZ - 1).zip(name.bytes()) {
        *slot = byte as libc::c_char;
    }
    request
}

/// Number of the network device `name` in this thread's namespace.
/// Fails without such a device.
pub fn interface_index(name: &str) -> io::Result<i32> {
    let socket = std::net::UdpSocket::bind("0.0.0.0:0")?;
    Ok(rustix::net::netdevice::name_to_index(socket, name)? as i32)
}

/// True if frames on the device `name` of this namespace start with an Ethernet header, as they also do on loopback.
/// Fails without such a device.
pub fn has_ethernet_header(name: &str) -> io::Result<bool> {
    let socket = std::net::UdpSocket::bind("0.0.0.0:0")?;
    let mut request = interface(name);
    // SAFETY: SIOCGIFHWADDR reads and writes one ifreq, which outlives the call. After the call, the kernel has
    // filled in the address, whose family is the type of the device.
    let kind = unsafe {
        if libc::ioctl(socket.as_raw_fd(), libc::SIOCGIFHWADDR as _, &raw mut request) != 0 {
            return Err(Error::last_os_error());
        }
        request.ifr_ifru.ifru_hwaddr.sa_family
    };
    Ok([libc::ARPHRD_ETHER, libc::ARPHRD_LOOPBACK].contains(&kind))
}

/// Names of the network devices of this thread's namespace.
/// Fails without /proc.
pub fn interfaces() -> io::Result<Vec<String>> {
    let table = std::fs::read_to_string("/proc/thread-self/net/dev")?;
    Ok(table
        .lines()
        .filter_map(|line| line.split_once(": "))
        .map(|(name, _)| name.trim().to_owned())
        .collect())
}

/// Replaces the `BPF_MAP_TYPE_STRUCT_OPS` map that a link has registered; a map is registered at every moment.
/// (`bpf_link__update_map` of libbpf accepts only links that this process has made, not links from a pin.)
/// Fails if the new map has another name or another type.
#[cfg(feature = "bpf")]
pub fn update_link(link: &impl AsFd, map: &impl AsFd) -> io::Result<()> {
    let [link, map] = [link.as_fd(), map.as_fd()].map(|file| file.as_raw_fd());
    // SAFETY: both files are open, and there are no options.
    match unsafe { libbpf_rs::libbpf_sys::bpf_link_update(link, map, std::ptr::null()) } {
        0 => Ok(()),
        code => Err(Error::from_raw_os_error(-code)),
    }
}

/// Output of an iproute2 tool in the namespace of the calling thread. The tool has all its input from the start, so
/// it does not stop in the middle of a line if this process is killed.
/// Fails if the tool fails or is missing.
pub fn iproute2(tool: &str, arguments: &[&str], input: &str) -> io::Result<String> {
    let mut file = File::from(rustix::fs::memfd_create("input", MemfdFlags::CLOEXEC)?);
    file.write_all(input.as_bytes())?;
    file.rewind()?;
    let named = |error: Error| Error::new(error.kind(), format!("{tool} (of iproute2): {error}"));
    let output = Command::new(tool).args(arguments).stdin(file).output().map_err(named)?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    Err(Error::other(format!("{tool}: {}", String::from_utf8_lossy(&output.stderr).trim())))
}

/// Locks `file` for as long as it is open in this process or in a child process. Children of a killed process keep
/// the lock until they are done. Returns `false` if another process has the lock.
/// Fails if the file cannot be locked.
pub fn try_lock(file: &File) -> io::Result<bool> {
    match rustix::fs::flock(file, FlockOperation::NonBlockingLockExclusive) {
        Err(Errno::WOULDBLOCK) => return Ok(false),
        locked => locked?,
    }
    rustix::io::fcntl_setfd(file, FdFlags::empty())?;
    Ok(true)
}
