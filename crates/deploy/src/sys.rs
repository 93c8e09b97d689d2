//! The kernel's interfaces that the standard library does not have: namespaces, network devices, mounts, locks. The
//! unsafe code of the loader is here, behind safe functions.
#![allow(unsafe_code)]

use std::ffi::{CStr, CString};
use std::fs::File;
use std::io::{self, Error, ErrorKind, Seek, Write};
use std::mem::{size_of_val, zeroed};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::process::{Command, Stdio};

/// -1 as the error that it stands for.
fn check(code: impl Into<i64>) -> io::Result<i64> {
    match code.into() {
        -1 => Err(Error::last_os_error()),
        code => Ok(code),
    }
}

/// A network namespace. It has no name, so it is gone once nobody holds it: however a process ends,
/// nothing is left behind.
#[derive(Debug)]
pub struct Namespace(File);

impl Namespace {
    /// A new one.
    ///
    /// # Errors
    /// Fails without `CAP_SYS_ADMIN`.
    pub fn new() -> io::Result<Namespace> {
        let born = std::thread::spawn(|| {
            // SAFETY: unshare touches no memory; the namespace is that of this short-lived thread.
            check(unsafe { libc::unshare(libc::CLONE_NEWNET) })?;
            File::open("/proc/thread-self/ns/net").map(Namespace)
        });
        born.join().unwrap_or_else(|_| Err(Error::other("the thread that makes a namespace died")))
    }

    /// What `action` gives when it runs inside; sockets and child processes that it makes belong there.
    ///
    /// # Errors
    /// Fails where `action` does, or without `CAP_SYS_ADMIN`.
    pub fn within<T: Send>(&self, action: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
        let fd = self.0.as_raw_fd();
        std::thread::scope(|scope| {
            let inside = scope.spawn(move || {
                // SAFETY: setns touches no memory; fd is open for as long as self lives.
                check(unsafe { libc::setns(fd, libc::CLONE_NEWNET) })?;
                action()
            });
            inside.join().unwrap_or_else(|_| Err(Error::other("the thread inside a namespace died")))
        })
    }
}

impl From<File> for Namespace {
    /// From its file, for example `/proc/PID/ns/net`.
    fn from(file: File) -> Namespace {
        Namespace(file)
    }
}

fn interface(name: &str) -> libc::ifreq {
    // SAFETY: an ifreq of zeros is valid.
    let mut request: libc::ifreq = unsafe { zeroed() };
    for (slot, byte) in request.ifr_name.iter_mut().take(libc::IFNAMSIZ - 1).zip(name.bytes()) {
        *slot = byte as libc::c_char;
    }
    request
}

/// A closed pipe on stdout ends this process quietly, as `| head` expects.
pub fn end_with_closed_pipes() {
    // SAFETY: no handler of this process is replaced but the one that Rust's start ignores the signal with.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
}

/// Number of the network device `name` of this thread's namespace.
pub fn interface_index(name: &str) -> io::Result<i32> {
    let name = CString::new(name)?;
    // SAFETY: the name ends with a zero byte.
    match unsafe { libc::if_nametoindex(name.as_ptr()) } {
        0 => Err(Error::last_os_error()),
        index => Ok(index as i32),
    }
}

/// Whether what leaves the device `name` of this thread's namespace begins with an Ethernet header, as over loopback too.
///
/// # Errors
/// Fails without such a device.
pub fn has_ethernet_header(name: &str) -> io::Result<bool> {
    let socket = std::net::UdpSocket::bind("0.0.0.0:0")?;
    let mut request = interface(name);
    // SAFETY: SIOCGIFHWADDR reads and writes one ifreq, which outlives the call.
    check(unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCGIFHWADDR as _, &raw mut request) })?;
    // SAFETY: the kernel has filled in this address, whose family is the kind of the device.
    let kind = unsafe { request.ifr_ifru.ifru_hwaddr.sa_family };
    Ok([libc::ARPHRD_ETHER, libc::ARPHRD_LOOPBACK].contains(&kind))
}

/// Names of the network devices of this thread's namespace.
///
/// # Errors
/// Fails without /proc.
pub fn interfaces() -> io::Result<Vec<String>> {
    let table = std::fs::read_to_string("/proc/thread-self/net/dev")?;
    Ok(table
        .lines()
        .filter_map(|line| line.split_once(": "))
        .map(|(name, _)| name.trim().to_owned())
        .collect())
}

/// Puts another `BPF_MAP_TYPE_STRUCT_OPS` map in the place of the one that a link has registered (`BPF_LINK_UPDATE` of
/// linux/bpf.h): at no moment is none registered.
///
/// # Errors
/// Fails if the new one has another name, or is of another kind.
pub fn update_link(link: &impl AsRawFd, map: &impl AsRawFd) -> io::Result<()> {
    const BPF_LINK_UPDATE: libc::c_int = 29;
    // The link, the new map, flags, and an old map, which no flag asks for.
    let attributes = [link.as_raw_fd() as u32, map.as_raw_fd() as u32, 0, 0];
    let size = size_of_val(&attributes);
    // SAFETY: the kernel reads `size` bytes.
    check(unsafe { libc::syscall(libc::SYS_bpf, BPF_LINK_UPDATE, attributes.as_ptr(), size) })?;
    Ok(())
}

/// Mounts a bpf file system at `directory`, only root's, under the name `source`.
///
/// # Errors
/// Fails without `CAP_SYS_ADMIN`.
pub fn mount_bpf(source: &CStr, directory: &CStr) -> io::Result<()> {
    let (kind, options) = (c"bpf", c"mode=0700");
    let (source, directory, data) = (source.as_ptr(), directory.as_ptr(), options.as_ptr().cast());
    // SAFETY: all arguments are strings that end with a zero byte.
    check(unsafe { libc::mount(source, directory, kind.as_ptr(), 0, data) })?;
    Ok(())
}

/// Takes the topmost file system away from `directory`, once nobody uses it.
///
/// # Errors
/// Fails without `CAP_SYS_ADMIN`.
pub fn unmount(directory: &CStr) -> io::Result<()> {
    // SAFETY: the argument is a string that ends with a zero byte.
    check(unsafe { libc::umount2(directory.as_ptr(), libc::MNT_DETACH) })?;
    Ok(())
}

/// Whether an open file is on the cgroup2 file system.
///
/// # Errors
/// Fails if the kernel cannot tell.
pub fn is_cgroup2(file: &impl AsRawFd) -> io::Result<bool> {
    // SAFETY: a statfs of zeros is valid, and the kernel writes one.
    let mut found: libc::statfs = unsafe { zeroed() };
    check(unsafe { libc::fstatfs(file.as_raw_fd(), &raw mut found) })?;
    Ok(i128::from(found.f_type) == i128::from(libc::CGROUP2_SUPER_MAGIC))
}

/// What a tool of iproute2 prints, in the namespace of the calling thread. It has all of its input from the start: when
/// this process is killed, the tool does not stop in the middle of a line.
///
/// # Errors
/// Fails where the tool does, and without it.
pub fn iproute2(tool: &str, arguments: &[&str], input: &str) -> io::Result<String> {
    let named = |error: Error| Error::new(error.kind(), format!("{tool} (of iproute2): {error}"));
    let child = Command::new(tool)
        .args(arguments)
        .stdin(memory_file(input)?)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(named)?;
    let output = child.wait_with_output()?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    Err(Error::other(format!("{tool}: {}", String::from_utf8_lossy(&output.stderr).trim())))
}

/// A file without a name that is read from its beginning.
fn memory_file(text: &str) -> io::Result<File> {
    // SAFETY: the name ends with a zero byte; the descriptor is new and owned by nobody else.
    let mut file = unsafe {
        let fd = check(libc::memfd_create(c"input".as_ptr(), libc::MFD_CLOEXEC))?;
        File::from(OwnedFd::from_raw_fd(fd as RawFd))
    };
    file.write_all(text.as_bytes())?;
    file.rewind()?;
    Ok(file)
}

/// Locks `file` unless another process has, for as long as it is open, here or in a child process of this one: what a
/// killed process has begun keeps the lock until it is done. False if another has.
///
/// # Errors
/// Fails if it is not a file that can be locked.
pub fn try_lock(file: &impl AsRawFd) -> io::Result<bool> {
    // SAFETY: flock touches no memory.
    match check(unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) }) {
        Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
        locked => locked?,
    };
    // SAFETY: fcntl touches no memory.
    check(unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETFD, 0) })?;
    Ok(true)
}
