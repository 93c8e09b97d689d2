//! System calls of switch and hosts that `rustix` lacks, or that take several of its calls.
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

/// -1 as the error that it stands for.
fn check(code: libc::c_int) -> io::Result<()> {
    if code == -1 { Err(Error::last_os_error()) } else { Ok(()) }
}

/// A TAP device called `name` in the namespace of the calling thread. It goes when the file is closed.
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

/// Nanoseconds of the clock that does not jump.
pub fn monotonic_ns() -> u64 {
    nanoseconds(clock_gettime(ClockId::Monotonic))
}

/// Nanoseconds that the calling thread has computed.
pub fn thread_cpu_ns() -> u64 {
    nanoseconds(clock_gettime(ClockId::ThreadCPUTime))
}

fn nanoseconds(time: Timespec) -> u64 {
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Gives the calling thread real-time priority and sharp timers. Returns `true` if the priority was granted.
pub fn real_time(priority: i32) -> bool {
    let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
    schedule(libc::SCHED_FIFO, priority).is_ok()
}

/// Lets the calling thread run only while its processor would be idle.
/// Fails where that is not allowed.
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

/// Lets the calling thread run on these processors alone.
/// Fails where the process may run on none of them.
pub fn run_on(processors: &[usize]) -> io::Result<()> {
    let mut only = CpuSet::new();
    processors.iter().for_each(|processor| only.set(*processor));
    Ok(sched_setaffinity(None, &only)?)
}

/// Raises the limit of open files to its maximum, or to `files` if the maximum may be changed.
pub fn raise_open_files(files: u64) {
    let most = rustix::process::getrlimit(Resource::Nofile).maximum;
    let raise = |current, maximum| rustix::process::setrlimit(Resource::Nofile, Rlimit { current, maximum });
    if raise(Some(files), most.map(|most| most.max(files))).is_err() {
        let _ = raise(most, most);
    }
}

/// To watch a file for something to read, for as long as there is.
pub const READABLE: EventFlags = EventFlags::IN;
/// To watch a file for something new to read or to write, told once.
pub const CHANGES: EventFlags =
    EventFlags::IN.union(EventFlags::OUT).union(EventFlags::RDHUP).union(EventFlags::ET);

/// Watches many files at once.
#[derive(Debug)]
pub struct Poll(OwnedFd);

impl Poll {
    /// Watches nothing yet.
    /// Fails when there are too many open files.
    pub fn new() -> io::Result<Poll> {
        Ok(Poll(epoll::create(epoll::CreateFlags::CLOEXEC)?))
    }

    /// Watches `file` too, under the name `token`, for [`READABLE`] or [`CHANGES`].
    /// Fails if the file cannot be watched.
    pub fn add(&self, file: &impl AsFd, token: u64, interest: EventFlags) -> io::Result<()> {
        Ok(epoll::add(&self.0, file, EventData::new_u64(token), interest)?)
    }

    /// Waits for at most `timeout`; `ready` are the tokens of the files that are.
    /// Fails on kernels before 5.11.
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

/// A TCP socket in the namespace of the calling thread that waits for nothing, and is not connected; for addresses
/// like that one.
/// Fails when there are too many open files.
pub fn tcp_socket(like: IpAddr) -> io::Result<TcpStream> {
    let family = if like.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let socket = TcpStream::from(rustix::net::socket_with(family, SocketType::STREAM, flags, None)?);
    socket.set_nodelay(true)?;
    Ok(socket)
}

/// Lets a TCP socket end when it is closed, however that happens: it is reset and sends nothing that is left.
/// Otherwise it would live on for minutes, and its namespace with it.
/// Fails if it is not a socket.
pub fn end_when_closed(socket: &impl AsFd) -> io::Result<()> {
    Ok(set_socket_linger(socket, Some(Duration::ZERO))?)
}

/// Begins to connect; the socket becomes writable when that is done.
/// Fails if nothing leads there.
pub fn connect(socket: &TcpStream, to: SocketAddr) -> io::Result<()> {
    match rustix::net::connect(socket, &to) {
        Err(Errno::INPROGRESS) => Ok(()),
        done => Ok(done?),
    }
}

/// Writes to a socket. Returns the number of bytes taken, `None` if the socket has no room. With `more` to come,
/// TCP does not send a segment that is not full.
/// Fails when the connection does.
pub fn send(socket: &impl AsFd, bytes: &[u8], more: bool) -> io::Result<Option<usize>> {
    let mut flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
    flags.set(SendFlags::MORE, more);
    unless_blocked(rustix::net::send(socket, bytes, flags))
}

/// Discards received bytes of a TCP socket without copying, up to the length of `room`. Returns `None` without bytes.
/// Fails when the connection does.
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

/// The kernel's counters of a connection (`TCP_INFO`).
/// Fails if the socket is not TCP, and before Linux 6.7, which does not count timeouts.
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

/// True if a `tcp_info` of `length` bytes has the number of timeouts.
fn has_timeouts(length: usize) -> bool {
    length >= offset_of!(libc::tcp_info, tcpi_total_rto) + size_of::<u16>()
}

/// Ends this process when its parent ends, which must be the process `parent`.
/// Fails if the parent is another one, or has ended already.
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

    /// Of Linux 5.10, of 6.4 and of 6.7.
    #[test]
    fn an_old_kernels_tcp_info_ends_before_the_timeouts() {
        assert_eq!([232, 240, 248].map(has_timeouts), [false, false, true]);
    }
}
