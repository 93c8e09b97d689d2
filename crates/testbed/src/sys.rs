//! The kernel's interfaces that the standard library does not have: TAP devices, clocks, priorities, epoll, socket
//! statistics. All unsafe code of the switch and the testbed is here, behind safe functions.
#![allow(unsafe_code)]

use std::fs::{File, OpenOptions};
use std::io::{self, Error, ErrorKind};
use std::mem::{size_of, zeroed};
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::fs::OpenOptionsExt;
use std::time::Duration;

/// -1 as the error that it stands for.
fn check(code: impl Into<i64>) -> io::Result<i64> {
    match code.into() {
        -1 => Err(Error::last_os_error()),
        code => Ok(code),
    }
}

/// A TAP device called `name` in the namespace of the calling thread. It goes when the file is closed.
///
/// # Errors
/// Fails without `/dev/net/tun` or `CAP_NET_ADMIN`.
pub fn tap(name: &str) -> io::Result<File> {
    const TUNSETIFF: libc::c_ulong = 0x4004_54ca;
    let file =
        OpenOptions::new().read(true).write(true).custom_flags(libc::O_NONBLOCK).open("/dev/net/tun")?;
    let mut request = interface(name);
    request.ifr_ifru.ifru_flags = (libc::IFF_TAP | libc::IFF_NO_PI) as libc::c_short;
    // SAFETY: TUNSETIFF reads and writes one ifreq, which outlives the call.
    check(unsafe { libc::ioctl(file.as_raw_fd(), TUNSETIFF as _, &raw mut request) })?;
    Ok(file)
}

fn interface(name: &str) -> libc::ifreq {
    // SAFETY: an ifreq of zeros is valid.
    let mut request: libc::ifreq = unsafe { zeroed() };
    for (slot, byte) in request.ifr_name.iter_mut().take(libc::IFNAMSIZ - 1).zip(name.bytes()) {
        *slot = byte as libc::c_char;
    }
    request
}

/// Turns segmentation and receive offloads of a device of the calling thread's namespace off, so that
/// what leaves a host is what its link carries.
///
/// # Errors
/// Fails without `CAP_NET_ADMIN`.
pub fn offloads_off(name: &str) -> io::Result<()> {
    const SIOCETHTOOL: libc::c_ulong = 0x8946;
    const SET: [(&str, u32); 3] = [("tso", 0x1f), ("gso", 0x24), ("gro", 0x2c)];
    let socket = std::net::UdpSocket::bind("0.0.0.0:0")?;
    for (_, command) in SET {
        let mut value = [command, 0u32];
        let mut request = interface(name);
        request.ifr_ifru.ifru_data = value.as_mut_ptr().cast();
        // SAFETY: the ethtool_value that the request points to outlives the call.
        check(unsafe { libc::ioctl(socket.as_raw_fd(), SIOCETHTOOL as _, &raw mut request) })?;
    }
    Ok(())
}

/// Nanoseconds of the clock that does not jump.
pub fn monotonic_ns() -> u64 {
    clock_ns(libc::CLOCK_MONOTONIC)
}

/// Nanoseconds that the calling thread has computed.
pub fn thread_cpu_ns() -> u64 {
    clock_ns(libc::CLOCK_THREAD_CPUTIME_ID)
}

fn clock_ns(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: clock_gettime writes one timespec.
    unsafe { libc::clock_gettime(clock, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Gives the calling thread real-time priority and sharp timers; whether the priority was granted.
pub fn real_time(priority: i32) -> bool {
    let param = libc::sched_param { sched_priority: priority };
    // SAFETY: prctl and sched_setscheduler read their arguments only; 0 is the calling thread.
    unsafe {
        libc::prctl(libc::PR_SET_TIMERSLACK, 1);
        libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const param) == 0
    }
}

/// The processors on which this process may run.
pub fn processors() -> Vec<usize> {
    // SAFETY: a cpu_set_t of zeros is empty, sched_getaffinity writes one, and CPU_ISSET reads within it.
    unsafe {
        let mut allowed: libc::cpu_set_t = zeroed();
        libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &raw mut allowed);
        (0..libc::CPU_SETSIZE as usize).filter(|cpu| libc::CPU_ISSET(*cpu, &allowed)).collect()
    }
}

/// Lets the calling thread run on these processors alone.
///
/// # Errors
/// Fails where the process may run on none of them.
pub fn run_on(processors: &[usize]) -> io::Result<()> {
    // SAFETY: CPU_SET writes within the set, which the kernel reads; 0 is the calling thread.
    unsafe {
        let mut only: libc::cpu_set_t = zeroed();
        processors.iter().for_each(|processor| libc::CPU_SET(*processor, &mut only));
        check(libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const only)).map(drop)
    }
}

/// Lets the calling thread run only while its processor would be idle.
///
/// # Errors
/// Fails where that is not allowed.
pub fn when_idle() -> io::Result<()> {
    let param = libc::sched_param { sched_priority: 0 };
    // SAFETY: sched_setscheduler reads its argument; 0 is the calling thread.
    unsafe { check(libc::sched_setscheduler(0, libc::SCHED_IDLE, &raw const param)).map(drop) }
}

/// Raises the limit of open files to what is allowed at most, or to `files` where that may be changed.
pub fn raise_open_files(files: u64) {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: both calls read or write one rlimit.
    unsafe {
        libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit);
        let wanted = libc::rlimit { rlim_cur: files, rlim_max: files.max(limit.rlim_max) };
        if libc::setrlimit(libc::RLIMIT_NOFILE, &raw const wanted) != 0 {
            limit.rlim_cur = limit.rlim_max;
            libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit);
        }
    }
}

/// Watches many files at once.
#[derive(Debug)]
pub struct Poll {
    epoll: OwnedFd,
    ready: Vec<libc::epoll_event>,
}

/// What to watch a file for.
#[derive(Debug, Clone, Copy)]
pub enum Interest {
    /// Something to read, for as long as there is.
    Readable,
    /// Something new to read or to write, told once.
    Changes,
}

impl Poll {
    /// Watches nothing yet.
    ///
    /// # Errors
    /// Fails when there are too many open files.
    pub fn new() -> io::Result<Poll> {
        // SAFETY: the descriptor is new and owned by nobody else.
        let epoll = unsafe {
            let fd = check(libc::epoll_create1(libc::EPOLL_CLOEXEC))?;
            OwnedFd::from_raw_fd(fd as RawFd)
        };
        // SAFETY: an epoll_event of zeros is valid.
        Ok(Poll { epoll, ready: vec![unsafe { zeroed() }; 256] })
    }

    /// Watches `file` too, under the name `token`.
    ///
    /// # Errors
    /// Fails if the file cannot be watched.
    pub fn add(&self, file: &impl AsRawFd, token: u64, interest: Interest) -> io::Result<()> {
        let events = match interest {
            Interest::Readable => libc::EPOLLIN,
            Interest::Changes => libc::EPOLLIN | libc::EPOLLOUT | libc::EPOLLRDHUP | libc::EPOLLET,
        };
        let mut event = libc::epoll_event { events: events as u32, u64: token };
        let (epoll, fd) = (self.epoll.as_raw_fd(), file.as_raw_fd());
        // SAFETY: epoll_ctl reads one event.
        check(unsafe { libc::epoll_ctl(epoll, libc::EPOLL_CTL_ADD, fd, &raw mut event) })?;
        Ok(())
    }

    /// Waits for at most `timeout`; the tokens of the files that are ready.
    ///
    /// # Errors
    /// Fails on kernels before 5.11.
    pub fn wait(&mut self, timeout: Duration) -> io::Result<impl Iterator<Item = u64> + '_> {
        let time = libc::timespec {
            tv_sec: timeout.as_secs() as libc::time_t,
            tv_nsec: timeout.subsec_nanos().into(),
        };
        // SAFETY: the kernel writes at most ready.len() events, and reads one timespec; no signal mask.
        let count = check(unsafe {
            libc::syscall(
                libc::SYS_epoll_pwait2,
                self.epoll.as_raw_fd(),
                self.ready.as_mut_ptr(),
                self.ready.len() as libc::c_int,
                &raw const time,
                std::ptr::null::<libc::sigset_t>(),
                size_of::<libc::sigset_t>(),
            )
        });
        let count = match count {
            Err(error) if error.kind() == ErrorKind::Interrupted => 0,
            count => count?,
        };
        Ok(self.ready[..count as usize].iter().map(|event| event.u64))
    }
}

/// A TCP socket in the namespace of the calling thread that waits for nothing, and is not connected; for addresses
/// like that one.
///
/// # Errors
/// Fails when there are too many open files.
pub fn tcp_socket(like: IpAddr) -> io::Result<TcpStream> {
    let kind = libc::SOCK_STREAM | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
    let family = if like.is_ipv4() { libc::AF_INET } else { libc::AF_INET6 };
    // SAFETY: the descriptor is new and owned by nobody else.
    let socket = unsafe {
        let fd = check(libc::socket(family, kind, 0))?;
        TcpStream::from(OwnedFd::from_raw_fd(fd as RawFd))
    };
    socket.set_nodelay(true)?;
    Ok(socket)
}

/// Chooses the congestion control of a TCP socket, or of those that a listener accepts.
///
/// # Errors
/// Fails if the kernel has none of that name.
pub fn set_congestion(socket: &impl AsRawFd, name: &str) -> io::Result<()> {
    let (fd, value) = (socket.as_raw_fd(), name.as_ptr().cast());
    let length = name.len() as libc::socklen_t;
    // SAFETY: setsockopt reads `length` bytes.
    check(unsafe { libc::setsockopt(fd, libc::IPPROTO_TCP, libc::TCP_CONGESTION, value, length) })?;
    Ok(())
}

/// The congestion control of a TCP socket, or of those that a listener accepts.
///
/// # Errors
/// Fails if it is not a TCP socket.
pub fn congestion(socket: &impl AsRawFd) -> io::Result<String> {
    let mut name = [0u8; 16];
    let mut length = name.len() as libc::socklen_t;
    let (fd, to) = (socket.as_raw_fd(), name.as_mut_ptr().cast());
    // SAFETY: the kernel writes at most `length` bytes.
    check(unsafe { libc::getsockopt(fd, libc::IPPROTO_TCP, libc::TCP_CONGESTION, to, &raw mut length) })?;
    Ok(String::from_utf8_lossy(&name).trim_end_matches('\0').to_owned())
}

/// Lets a TCP socket end when it is closed, however that happens: it is reset and sends nothing that is left.
/// Otherwise it would live on for minutes, and its namespace with it.
///
/// # Errors
/// Fails if it is not a socket.
pub fn end_when_closed(socket: &impl AsRawFd) -> io::Result<()> {
    let linger = libc::linger { l_onoff: 1, l_linger: 0 };
    let (fd, length) = (socket.as_raw_fd(), size_of::<libc::linger>() as libc::socklen_t);
    let value = (&raw const linger).cast();
    // SAFETY: setsockopt reads one linger.
    check(unsafe { libc::setsockopt(fd, libc::SOL_SOCKET, libc::SO_LINGER, value, length) })?;
    Ok(())
}

/// Begins to connect; the socket becomes writable when that is done.
///
/// # Errors
/// Fails if nothing leads there.
pub fn connect(socket: &TcpStream, to: SocketAddr) -> io::Result<()> {
    let done = match to {
        SocketAddr::V4(to) => connect_to(
            socket,
            &libc::sockaddr_in {
                sin_family: libc::AF_INET as libc::sa_family_t,
                sin_port: to.port().to_be(),
                sin_addr: libc::in_addr { s_addr: u32::from_ne_bytes(to.ip().octets()) },
                sin_zero: [0; 8],
            },
        ),
        SocketAddr::V6(to) => connect_to(
            socket,
            &libc::sockaddr_in6 {
                sin6_family: libc::AF_INET6 as libc::sa_family_t,
                sin6_port: to.port().to_be(),
                sin6_flowinfo: 0,
                sin6_addr: libc::in6_addr { s6_addr: to.ip().octets() },
                sin6_scope_id: 0,
            },
        ),
    };
    match done {
        Err(error) if error.raw_os_error() == Some(libc::EINPROGRESS) => Ok(()),
        done => done,
    }
}

/// The same, to one of the kernel's structures for addresses.
fn connect_to<A>(socket: &TcpStream, address: &A) -> io::Result<()> {
    let length = size_of::<A>() as libc::socklen_t;
    // SAFETY: connect reads `length` bytes.
    check(unsafe { libc::connect(socket.as_raw_fd(), std::ptr::from_ref(address).cast(), length) })?;
    Ok(())
}

/// Hands bytes to a socket; how many it took, `None` if it has no room just now. With `more` to come, TCP
/// does not send a segment that is not full.
///
/// # Errors
/// Fails when the connection does.
pub fn send(socket: &impl AsRawFd, bytes: &[u8], more: bool) -> io::Result<Option<usize>> {
    let flags = libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL | if more { libc::MSG_MORE } else { 0 };
    // SAFETY: send reads at most bytes.len() bytes.
    let sent = unsafe { libc::send(socket.as_raw_fd(), bytes.as_ptr().cast(), bytes.len(), flags) };
    match check(sent as i64) {
        Ok(taken) => Ok(Some(taken as usize)),
        Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(None),
        Err(error) => Err(error),
    }
}

/// Takes what a TCP socket has received without copying it; `None` if there is nothing just now.
///
/// # Errors
/// Fails when the connection does.
pub fn discard_received(socket: &impl AsRawFd) -> io::Result<Option<usize>> {
    const MOST: usize = 1 << 20;
    let flags = libc::MSG_TRUNC | libc::MSG_DONTWAIT;
    // SAFETY: with MSG_TRUNC, TCP discards the bytes and does not touch the buffer (tcp(7)).
    let got = check(unsafe { libc::recv(socket.as_raw_fd(), std::ptr::null_mut(), MOST, flags) } as i64);
    match got {
        Ok(bytes) => Ok(Some(bytes as usize)),
        Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(None),
        Err(error) => Err(error),
    }
}

/// What the kernel says of a connection (`TCP_INFO`). A number that it does not know is 0.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TcpInfo {
    /// Congestion window, in segments.
    pub cwnd: u32,
    /// Segments retransmitted.
    pub retransmits: u32,
    /// Bytes acknowledged, the SYN counted as one.
    pub acked: u64,
    /// Data segments sent, those retransmitted included.
    pub segments_sent: u32,
    /// Delivered packets of which the receiver said that they were marked.
    pub marked: u32,
    /// Retransmission timeouts; 0 before Linux 6.7, which does not tell.
    pub timeouts: u16,
}

/// Asks the kernel about a connection.
///
/// # Errors
/// Fails if it is not a TCP socket.
pub fn tcp_info(socket: &impl AsRawFd) -> io::Result<TcpInfo> {
    let mut raw = [0u8; 256];
    let mut length = raw.len() as libc::socklen_t;
    let (fd, to) = (socket.as_raw_fd(), raw.as_mut_ptr().cast());
    // SAFETY: the kernel writes at most `length` bytes.
    check(unsafe { libc::getsockopt(fd, libc::IPPROTO_TCP, libc::TCP_INFO, to, &raw mut length) })?;
    Ok(TcpInfo::read(&raw))
}

impl TcpInfo {
    /// From `struct tcp_info` of linux/tcp.h, whose fields keep their places.
    fn read(raw: &[u8; 256]) -> TcpInfo {
        let u32_at = |at: usize| u32::from_ne_bytes([raw[at], raw[at + 1], raw[at + 2], raw[at + 3]]);
        let high_first = u64::from(u32_at(if cfg!(target_endian = "big") { 120 } else { 124 }));
        let low = u64::from(u32_at(if cfg!(target_endian = "big") { 124 } else { 120 }));
        TcpInfo {
            cwnd: u32_at(80),
            retransmits: u32_at(100),
            acked: high_first << 32 | low,
            segments_sent: u32_at(156),
            marked: u32_at(196),
            timeouts: u16::from_ne_bytes([raw[240], raw[241]]),
        }
    }
}

/// Ends this process when its parent ends, which must be the process `parent`.
///
/// # Errors
/// Fails if the parent is another one, or has ended already.
pub fn end_with_parent(parent: u32) -> io::Result<()> {
    // SAFETY: prctl reads its arguments only.
    check(unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) })?;
    if std::os::unix::process::parent_id() == parent {
        return Ok(());
    }
    Err(Error::other(format!("process {parent} is not the parent of this one, or has ended")))
}
