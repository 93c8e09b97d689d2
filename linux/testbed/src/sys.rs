//! System calls for switch and hosts that `rustix` lacks, or that need several of its calls.
#![allow(unsafe_code)]

use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::fs::Timespec;
use rustix::io::Errno;
use rustix::net::sockopt::set_socket_linger;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType};
use rustix::process::{Resource, Rlimit, Signal};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use rustix::time::{ClockId, clock_gettime};
use shortflow_deploy::sys::interface;
use std::fs::{File, OpenOptions};
use std::io::{self, Error, ErrorKind};
use std::mem::{MaybeUninit, offset_of, zeroed};
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::num::NonZeroU64;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::time::Duration;

/// Returns the error in `errno` if a system call returned -1.
fn check(code: libc::c_int) -> io::Result<()> {
    if code == -1 { Err(Error::last_os_error()) } else { Ok(()) }
}

/// Makes a TAP device `name` in the network namespace of the calling thread. The device is gone when the file is
/// closed.
/// Fails without `/dev/net/tun` or `CAP_NET_ADMIN`.
pub fn tap(name: &str) -> io::Result<File> {
    const TUN: &str = "/dev/net/tun";
    let named = |error: Error| Error::new(error.kind(), format!("{TUN}: {error}"));
    let mut options = OpenOptions::new();
    let file = options.read(true).write(true).custom_flags(libc::O_NONBLOCK).open(TUN).map_err(named)?;
    let mut request = interface(name);
    request.ifr_ifru.ifru_flags = (libc::IFF_TAP | libc::IFF_NO_PI) as libc::c_short;
    // SAFETY: TUNSETIFF reads and writes one ifreq, which outlives the call.
    check(unsafe { libc::ioctl(file.as_raw_fd(), libc::TUNSETIFF, &raw mut request) })?;
    Ok(file)
}

/// Time of the monotonic clock in nanoseconds.
pub fn monotonic_ns() -> u64 {
    nanoseconds(clock_gettime(ClockId::Monotonic))
}

/// Processor time of the calling thread in nanoseconds.
pub fn thread_cpu_ns() -> u64 {
    nanoseconds(clock_gettime(ClockId::ThreadCPUTime))
}

fn nanoseconds(time: Timespec) -> u64 {
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Gives the calling thread real-time priority (`SCHED_FIFO`) and a timer slack of 1 ns. Returns `true` if the
/// priority was granted.
pub fn real_time(priority: i32) -> bool {
    let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
    schedule(libc::SCHED_FIFO, priority).is_ok()
}

/// Lets the calling thread run only while its processor would be idle (`SCHED_IDLE`).
/// Fails if the kernel refuses the policy.
pub fn when_idle() -> io::Result<()> {
    schedule(libc::SCHED_IDLE, 0)
}

fn schedule(policy: libc::c_int, sched_priority: i32) -> io::Result<()> {
    let param = libc::sched_param { sched_priority };
    // SAFETY: sched_setscheduler reads its argument; 0 is the calling thread.
    check(unsafe { libc::sched_setscheduler(0, policy, &raw const param) })
}

/// The processors on which this process may run.
pub fn processors() -> Vec<usize> {
    let allowed = sched_getaffinity(None).unwrap_or_default();
    (0..CpuSet::MAX_CPU).filter(|processor| allowed.is_set(*processor)).collect()
}

/// Lets the calling thread run on `processors` only.
/// Fails if the process may run on none of them.
pub fn run_on(processors: &[usize]) -> io::Result<()> {
    let mut only = CpuSet::new();
    processors.iter().for_each(|processor| only.set(*processor));
    Ok(sched_setaffinity(None, &only)?)
}

/// Sets the limit of open files to `files`, and raises its maximum if necessary. Without the right to raise the
/// maximum, sets the limit to the maximum.
pub fn raise_open_files(files: u64) {
    let most = rustix::process::getrlimit(Resource::Nofile).maximum;
    let raise = |current, maximum| rustix::process::setrlimit(Resource::Nofile, Rlimit { current, maximum });
    if raise(Some(files), most.map(|most| most.max(files))).is_err() {
        let _ = raise(most, most);
    }
}

/// Interest in a file that has something to read, reported for as long as it has (level-triggered).
pub const READABLE: EventFlags = EventFlags::IN;
/// Interest in a file that has new data or new room, reported once per change (edge-triggered).
pub const CHANGES: EventFlags =
    EventFlags::IN.union(EventFlags::OUT).union(EventFlags::RDHUP).union(EventFlags::ET);

/// Set of watched files (epoll).
#[derive(Debug)]
pub struct Poll(OwnedFd);

impl Poll {
    /// Makes an empty set.
    /// Fails if there are too many open files.
    pub fn new() -> io::Result<Poll> {
        Ok(Poll(epoll::create(epoll::CreateFlags::CLOEXEC)?))
    }

    /// Adds `file` with the number `token`, for [`READABLE`] or [`CHANGES`].
    /// Fails if the file cannot be watched.
    pub fn add(&self, file: &impl AsFd, token: u64, interest: EventFlags) -> io::Result<()> {
        Ok(epoll::add(&self.0, file, EventData::new_u64(token), interest)?)
    }

    /// Waits for at most `timeout`. Replaces the contents of `ready` by the tokens of the files that are ready.
    /// Fails on kernels before Linux 5.11.
    pub fn wait(&self, timeout: Duration, ready: &mut Vec<u64>) -> io::Result<()> {
        let timeout = Timespec::try_from(timeout).map_err(Error::other)?;
        let mut events = [const { MaybeUninit::uninit() }; 256];
        ready.clear();
        match epoll::wait(&self.0, &mut events, Some(&timeout)) {
            Err(Errno::INTR) => {}
            waited => ready.extend(waited?.0.iter().map(|event| { event.data }.u64())),
        }
        Ok(())
    }
}

/// Makes a non-blocking TCP socket in the network namespace of the calling thread, for addresses of the family of
/// `like`. The socket is not connected.
/// Fails if there are too many open files.
pub fn tcp_socket(like: IpAddr) -> io::Result<TcpStream> {
    let family = if like.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let socket = TcpStream::from(rustix::net::socket_with(family, SocketType::STREAM, flags, None)?);
    socket.set_nodelay(true)?;
    Ok(socket)
}

/// Makes the kernel reset a TCP socket and drop its unsent data when the socket is closed, also by the end of the
/// process (a linger time of 0 s). Otherwise the socket would live on for minutes, and its namespace with it.
/// Fails if `socket` is not a socket.
pub fn end_when_closed(socket: &impl AsFd) -> io::Result<()> {
    Ok(set_socket_linger(socket, Some(Duration::ZERO))?)
}

/// Starts to connect `socket`, which becomes writable when the connection is established.
/// Fails if no route leads to the address.
pub fn connect(socket: &TcpStream, to: SocketAddr) -> io::Result<()> {
    match rustix::net::connect(socket, &to) {
        Err(Errno::INPROGRESS) => Ok(()),
        done => Ok(done?),
    }
}

/// Writes to a socket. Returns the number of bytes written, `None` if the socket has no room. With `more`, TCP holds
/// back a segment that is not full.
/// Fails if the connection has failed.
pub fn send(socket: &impl AsFd, bytes: &[u8], more: bool) -> io::Result<Option<usize>> {
    let mut flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
    flags.set(SendFlags::MORE, more);
    unless_blocked(rustix::net::send(socket, bytes, flags))
}

/// Discards received bytes of a TCP socket without copying them, up to the length of `room`. Returns their number,
/// `None` if there are none.
/// Fails if the connection has failed.
pub fn discard_received(socket: &impl AsFd, room: &mut [u8]) -> io::Result<Option<usize>> {
    let flags = RecvFlags::TRUNC | RecvFlags::DONTWAIT; // see MSG_TRUNC in tcp(7)
    unless_blocked(rustix::net::recv(socket, room, flags).map(|(_, length)| length))
}

fn unless_blocked(done: rustix::io::Result<usize>) -> io::Result<Option<usize>> {
    match done {
        Err(Errno::WOULDBLOCK) => Ok(None),
        done => Ok(Some(done?)),
    }
}

/// Returns the kernel's counters of a connection (`TCP_INFO`).
/// Fails if the socket is not TCP, and on kernels before Linux 6.7, which do not count timeouts.
pub fn tcp_info(socket: &impl AsRawFd) -> io::Result<libc::tcp_info> {
    // SAFETY: a tcp_info of zeros is valid, and the kernel writes at most `length` bytes of it.
    let (info, length) = unsafe {
        let mut info: libc::tcp_info = zeroed();
        let mut length = size_of_val(&info) as libc::socklen_t;
        let (fd, to) = (socket.as_raw_fd(), (&raw mut info).cast());
        check(libc::getsockopt(fd, libc::IPPROTO_TCP, libc::TCP_INFO, to, &raw mut length))?;
        (info, length)
    };
    if has_timeouts(length as usize) {
        return Ok(info);
    }
    Err(Error::new(
        ErrorKind::Unsupported,
        "the kernel does not count a connection's timeouts; Linux 6.7 does",
    ))
}

/// True if a `tcp_info` of `length` bytes includes the number of timeouts.
fn has_timeouts(length: usize) -> bool {
    length >= offset_of!(libc::tcp_info, tcpi_total_rto) + size_of::<u16>()
}

/// Makes the kernel kill this process when its parent, the process `parent`, ends.
/// Fails if the parent is another process, or has ended already.
pub fn end_with_parent(parent: u32) -> io::Result<()> {
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    if std::os::unix::process::parent_id() == parent {
        return Ok(());
    }
    Err(Error::other(format!("process {parent} is not the parent of this one, or has ended")))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lengths are those of Linux 5.10, 6.4 and 6.7.
    #[test]
    fn an_old_kernels_tcp_info_ends_before_the_timeouts() {
        assert_eq!([232, 240, 248].map(has_timeouts), [false, false, true]);
    }
}
