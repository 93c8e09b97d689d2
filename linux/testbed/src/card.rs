//! The network card of a host, which keeps the rate of its link: a TBF qdisc, around another qdisc of the kernel if
//! the user chooses one.

use crate::switch::ETHERNET;
use rustix::net::netdevice::name_to_index;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, send, socket_with};
use shortflow_sim::queue::Backlog;
use shortflow_units::{Bytes, Rate};
use std::io::{self, Error};
use std::os::fd::OwnedFd;

/// The network card of every host.
pub(crate) const CARD: &str = "eth0";
/// TBF burst in tenths of a frame: after a late timer the card may send four frames at once. The mean rate stays the
/// link's.
const BURST: u64 = 40;
/// TBF burst of a card whose queue is measured, in tenths of a frame. A larger burst would queue in the next port of
/// the same rate instead of in the card.
const BURST_MEASURED: u64 = 11;
/// Limit of a card's queue in frames: more than any window.
const CARD_FRAMES: u64 = 10_000;

/// Message type of a request for qdiscs (rtnetlink(7)).
const RTM_GETQDISC: u16 = 38;
/// NLM_F_REQUEST and NLM_F_ECHO. Without NLM_F_ECHO the kernel answers multicast listeners only.
const FLAGS: u16 = 1 | 8;
const TC_H_ROOT: u32 = u32::MAX;
const TCA_STATS: u16 = 3;
/// Length of `nlmsghdr` and `tcmsg` in bytes.
const HEADERS: usize = 16 + 20;
/// Byte offsets of `qlen` and `backlog` in `struct tc_stats`.
const QLEN: usize = 28;
const BACKLOG: usize = 32;

/// Lines for `tc -batch` that make a card of `rate` for packets of `mtu` bytes, with the qdisc `inner` in place of
/// TBF's FIFO. TBF counts Ethernet headers, which links of the scenario do not have, so its rate is higher by their
/// share of a full frame.
pub(crate) fn qdiscs(rate: Rate, mtu: u64, inner: Option<&str>, is_measured: bool) -> String {
    let frame = mtu + ETHERNET as u64;
    let bits = u128::from(rate.as_bps()) * u128::from(frame) / u128::from(mtu);
    let (burst, limit) = (if is_measured { BURST_MEASURED } else { BURST } * frame / 10, CARD_FRAMES * frame);
    let inner = inner.map(|kind| format!("qdisc replace dev {CARD} parent 1:1 {kind}\n"));
    let tbf = format!("tbf rate {bits}bit burst {burst} limit {limit}");
    format!("qdisc replace dev {CARD} root handle 1: {tbf}\n{}", inner.unwrap_or_default())
}

/// Reader of a card's backlog.
#[derive(Debug)]
pub struct Card {
    kernel: OwnedFd,
    request: [u8; HEADERS],
}

impl Card {
    /// Opens the card in the network namespace of the calling thread.
    /// Fails if the namespace has no card.
    pub fn open() -> io::Result<Card> {
        let kernel = socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, None)?;
        let index = name_to_index(&kernel, CARD)?;
        let mut request = [0; HEADERS];
        request[..4].copy_from_slice(&(HEADERS as u32).to_ne_bytes());
        request[4..6].copy_from_slice(&RTM_GETQDISC.to_ne_bytes());
        request[6..8].copy_from_slice(&FLAGS.to_ne_bytes());
        request[20..24].copy_from_slice(&index.to_ne_bytes());
        request[28..32].copy_from_slice(&TC_H_ROOT.to_ne_bytes());
        Ok(Card { kernel, request })
    }

    /// Returns the packets in the card, without Ethernet headers. The packet for which TBF has no tokens yet counts
    /// as the one in transmission.
    /// Fails if the kernel does not answer.
    pub fn backlog(&self) -> io::Result<Backlog> {
        send(&self.kernel, &self.request, SendFlags::empty())?;
        let mut answer = [0; 4096];
        let (length, _) = recv(&self.kernel, &mut answer, RecvFlags::DONTWAIT)?;
        let stats = answer[..length].get(HEADERS..).and_then(|attributes| attribute(attributes, TCA_STATS));
        let number = |at| Some(u32::from_ne_bytes(*stats?.get(at..)?.first_chunk()?));
        let (packets, bytes) = number(QLEN)
            .zip(number(BACKLOG))
            .ok_or_else(|| Error::other(format!("{CARD}: the kernel reports no backlog of the card")))?;
        let headers = u64::from(packets) * ETHERNET as u64;
        Ok(Backlog { packets, bytes: Bytes::new(u64::from(bytes).saturating_sub(headers)) })
    }
}

/// Returns the value of the netlink attribute `wanted`, if `attributes` contains it.
fn attribute(mut attributes: &[u8], wanted: u16) -> Option<&[u8]> {
    loop {
        let &[a, b, c, d] = attributes.first_chunk()?;
        let length = usize::from(u16::from_ne_bytes([a, b])).max(4);
        if u16::from_ne_bytes([c, d]) == wanted {
            return attributes.get(4..length);
        }
        attributes = attributes.get(length.next_multiple_of(4)..)?;
    }
}
