//! The network card of a host, which keeps the rate of its link: TBF, with a queue of the kernel's in it.

use crate::switch::ETHERNET;
use rustix::net::netdevice::name_to_index;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, send, socket_with};
use shortflow_sim::queue::Backlog;
use shortflow_units::{Bytes, Rate};
use std::io::{self, Error};
use std::os::fd::OwnedFd;

/// The network card of every host.
pub const CARD: &str = "eth0";
/// Tenths of a frame that may leave at once when the card's timer was late; at the link's rate on average.
const BURST: u64 = 40;
/// The burst of a card whose queue is measured. A larger burst would queue in the next port of this rate.
const BURST_MEASURED: u64 = 11;
/// Frames that a card holds at most: more than any window.
const CARD_FRAMES: u64 = 10_000;

/// Numbers of rtnetlink(7).
const RTM_GETQDISC: u16 = 38;
/// NLM_F_REQUEST and NLM_F_ECHO, without which only listeners are told.
const FLAGS: u16 = 1 | 8;
const TC_H_ROOT: u32 = u32::MAX;
const TCA_STATS: u16 = 3;
/// Lengths of `nlmsghdr` and `tcmsg`.
const HEADERS: usize = 16 + 20;
/// Positions in `tc_stats`.
const QLEN: usize = 28;
const BACKLOG: usize = 32;

/// Lines for `tc -batch`: a card of this rate for packets of `mtu` bytes, with the queue `inner` in the place of TBF's
/// FIFO. TBF counts Ethernet headers, which a link of the scenario does not have.
pub fn qdiscs(rate: Rate, mtu: u64, inner: Option<&str>, is_measured: bool) -> String {
    let frame = mtu + ETHERNET as u64;
    let bits = u128::from(rate.as_bps()) * u128::from(frame) / u128::from(mtu);
    let (burst, limit) = (if is_measured { BURST_MEASURED } else { BURST } * frame / 10, CARD_FRAMES * frame);
    let inner = inner.map(|kind| format!("qdisc replace dev {CARD} parent 1:1 {kind}\n"));
    let tbf = format!("tbf rate {bits}bit burst {burst} limit {limit}");
    format!("qdisc replace dev {CARD} root handle 1: {tbf}\n{}", inner.unwrap_or_default())
}

/// Reads the backlog of a card.
#[derive(Debug)]
pub struct Card {
    kernel: OwnedFd,
    request: [u8; HEADERS],
}

impl Card {
    /// The card in the namespace of the calling thread.
    /// Fails without a card.
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

    /// The packets in the card; the one that TBF has no tokens for yet is in transmission.
    /// Fails where the kernel does not answer.
    pub fn backlog(&self) -> io::Result<Backlog> {
        send(&self.kernel, &self.request, SendFlags::empty())?;
        let mut answer = [0; 4096];
        let (length, _) = recv(&self.kernel, &mut answer, RecvFlags::DONTWAIT)?;
        let stats = answer[..length].get(HEADERS..).and_then(|attributes| attribute(attributes, TCA_STATS));
        let number = |at| Some(u32::from_ne_bytes(*stats?.get(at..)?.first_chunk()?));
        let (packets, bytes) = number(QLEN)
            .zip(number(BACKLOG))
            .ok_or_else(|| Error::other(format!("{CARD}: the kernel does not say what its queue holds")))?;
        let headers = u64::from(packets) * ETHERNET as u64;
        Ok(Backlog { packets, bytes: Bytes::new(u64::from(bytes).saturating_sub(headers)) })
    }
}

/// The value of the attribute `wanted` among these.
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
