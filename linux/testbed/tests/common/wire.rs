//! A wire between two hosts on which a test decides the fate of each data packet, and the record of the packets.
//!
//! The record has the packets in the order in which the sender's TCP sees them: a data packet when it leaves, an
//! acknowledgement when it arrives. The kernel handles a frame within the write to the TAP device, so the packets
//! that an acknowledgement releases follow it directly in the record.

use shortflow_testbed::switch::{ETHERNET, header};
use shortflow_testbed::sys;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Fate of a data packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    Pass,
    Mark,
    Drop,
    /// The packet arrives later by this time, and other packets overtake it.
    Late(Duration),
}

/// Packet at the sender's end. Sequence numbers count bytes from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Seen {
    Data { seq: u32, length: u32, is_ect: bool, fate: Fate },
    Ack { number: u32, ece: bool, has_sack: bool },
}

impl Seen {
    /// The first byte of a data packet.
    pub(crate) fn seq(&self) -> Option<u32> {
        match *self {
            Seen::Data { seq, .. } => Some(seq),
            Seen::Ack { .. } => None,
        }
    }

    /// True for an acknowledgement that reports a hole before the bytes that arrived last.
    pub(crate) fn has_sack(&self) -> bool {
        matches!(self, Seen::Ack { has_sack: true, .. })
    }
}

/// TCP fields of an IPv4 frame.
struct Segment {
    seq: u32,
    ack: u32,
    length: u32,
    ece: bool,
    is_syn: bool,
    has_sack: bool,
}

impl Segment {
    fn read(frame: &[u8]) -> Option<Segment> {
        let length = u32::from(header::read(frame)?.payload);
        let tcp = frame.get(ETHERNET + 20..)?;
        let word = |at: usize| Some(u32::from_be_bytes(tcp.get(at..at + 4)?.try_into().ok()?));
        let options = tcp.get(20..usize::from(tcp.get(12)? >> 4) * 4)?;
        Some(Segment {
            seq: word(4)?,
            ack: word(8)?,
            length,
            ece: tcp[13] & 0x40 != 0,
            is_syn: tcp[13] & 2 != 0,
            has_sack: has_option(options, 5),
        })
    }
}

fn has_option(mut options: &[u8], kind: u8) -> bool {
    loop {
        match options {
            [first, ..] if *first == kind => return true,
            [1, rest @ ..] => options = rest,
            [0, ..] => return false,
            [_, length, ..] => options = options.get(usize::from((*length).max(2))..).unwrap_or_default(),
            _ => return false,
        }
    }
}

/// Frames on their way, in order of arrival: to the receiver (`true`) or the sender.
type OnTheWay = BTreeMap<(Instant, u64), (bool, Vec<u8>)>;

/// Packets of the sender, and their fates.
struct Notes<F> {
    fate: F,
    seen: Vec<Seen>,
    packets: usize,
    origin: u32,
    highest: u32,
}

impl<F: FnMut(usize, bool) -> Fate> Notes<F> {
    /// Records a frame that leaves the sender. Returns its extra delay, `None` if it is dropped.
    fn leaves(&mut self, frame: &mut [u8]) -> Option<Duration> {
        let Some(Segment { seq, length, is_syn, .. }) = Segment::read(frame) else {
            return Some(Duration::ZERO);
        };
        if is_syn {
            self.origin = seq.wrapping_add(1);
        }
        if length == 0 {
            return Some(Duration::ZERO);
        }
        let seq = seq.wrapping_sub(self.origin);
        let is_ect = frame[ETHERNET + 1] & 3 != 0;
        let fate = (self.fate)(self.packets, seq >= self.highest);
        self.packets += 1;
        self.highest = self.highest.max(seq + length);
        self.seen.push(Seen::Data { seq, length, is_ect, fate });
        match fate {
            Fate::Pass => {}
            Fate::Mark => header::set_ce(frame),
            Fate::Drop => return None,
            Fate::Late(by) => return Some(by),
        }
        Some(Duration::ZERO)
    }

    /// Records a frame that arrives at the sender.
    fn arrives(&mut self, frame: &[u8]) {
        if let Some(found) = Segment::read(frame).filter(|found| !found.is_syn) {
            let number = found.ack.wrapping_sub(self.origin);
            self.seen.push(Seen::Ack { number, ece: found.ece, has_sack: found.has_sack });
        }
    }
}

/// Carries frames between the devices `sender` and `receiver` with `delay` each way, until `stop` is set and no frame
/// is on its way. Returns the record. `fate` gets the number of each data packet, from 0, and `true` for its first
/// transmission.
pub(crate) fn carry(
    [sender, receiver]: [&File; 2],
    delay: Duration,
    fate: impl FnMut(usize, bool) -> Fate,
    stop: &AtomicBool,
) -> Vec<Seen> {
    sys::real_time(50);
    let mut notes = Notes { fate, seen: Vec::new(), packets: 0, origin: 0, highest: 0 };
    let (mut on_the_way, mut serial, mut frame) = (OnTheWay::new(), 0u64, [0; 2048]);
    loop {
        let is_told = stop.load(Ordering::Relaxed); // read before the last frames are
        let mut enter = |to_receiver: bool, extra: Duration, frame: &[u8]| {
            serial += 1;
            on_the_way.insert((Instant::now() + delay + extra, serial), (to_receiver, frame.to_vec()));
        };
        while let Ok(length) = (&mut &*sender).read(&mut frame) {
            if let Some(extra) = notes.leaves(&mut frame[..length]) {
                enter(true, extra, &frame[..length]);
            }
        }
        while let Ok(length) = (&mut &*receiver).read(&mut frame) {
            enter(false, Duration::ZERO, &frame[..length]);
        }
        if is_told && on_the_way.is_empty() {
            return notes.seen;
        }
        let Some(due) = on_the_way.first_entry().filter(|entry| entry.key().0 <= Instant::now()) else {
            std::thread::sleep(Duration::from_micros(50));
            continue;
        };
        let (to_receiver, frame) = due.remove();
        if !to_receiver {
            notes.arrives(&frame);
        }
        let _ = (&mut if to_receiver { receiver } else { sender }).write(&frame);
    }
}
