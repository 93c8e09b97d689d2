//! [`Windows`]: packets that a switch passes on in a window, by the port that takes them.

use super::paths::Paths;
use super::{NetworkEvent, Port};
use crate::engine::EventCode;
use crate::packet::Packet;
use shortflow_units::{Instant, PortId};

/// State of the windows of a network.
#[derive(Debug, Clone, Default)]
pub(super) struct Windows {
    /// True of nodes whose outputs know nothing of one another, and at which nothing rare happens to packets that arrive.
    pub by_output: Vec<bool>,
    /// The number of each port among those of its node.
    pub numbers: Vec<u32>,
    /// By number of the port.
    pub outputs: Vec<Output>,
    /// Ports with something to do.
    pub touched: Vec<PortId>,
}

/// Work of a port in a window.
#[derive(Debug, Clone, Default)]
pub(super) struct Output {
    pub is_touched: bool,
    /// Packets that it takes, in order of time.
    pub taken: Vec<Passing>,
}

impl Windows {
    /// The packets that `port` takes, which has something to do from now on.
    #[inline(always)]
    pub fn touch(&mut self, port: PortId) -> &mut Vec<Passing> {
        let output = &mut self.outputs[self.numbers[port.index()] as usize];
        if !output.is_touched {
            output.is_touched = true;
            self.touched.push(port);
        }
        &mut output.taken
    }

    /// Lines up the packets that arrive from `source` before `end`, from the one with `count` before it on. Returns how many are
    /// before the next one, and its arrival, never if there is none: up to one whose connection has no kept path.
    #[inline(never)] // has the registers for itself
    pub fn gather(
        &mut self,
        (source, from): (&Port, PortId),
        (mut count, end): (usize, Instant),
        paths: &Paths,
    ) -> (usize, Instant) {
        while let Some((at, number, packet)) = source.arrival(count) {
            if at >= end {
                return (count, at);
            }
            let Some(next) = paths.next(packet) else { return (count, at) };
            Passing { at, from, number }.line_up(self.touch(next));
            count += 1;
        }
        (count, Instant::MAX)
    }
}

/// A packet in the ring of a port that leads to a switch.
#[derive(Debug, Clone, Copy)]
pub(super) struct Passing {
    pub at: Instant,
    pub from: PortId,
    pub number: u32,
}

impl Passing {
    /// Joins a list in order of time, in which few come after it.
    #[inline(always)]
    pub fn line_up(self, list: &mut Vec<Passing>) {
        match list.last() {
            Some(last) if last.at >= self.at => self.insert(list),
            _ => list.push(self),
        }
    }

    #[inline(never)] // keeps the path of the others short
    fn insert(self, list: &mut Vec<Passing>) {
        let mut place = list.len();
        list.push(self);
        while place > 0 && self.is_before(&list[place - 1]) {
            list[place] = list[place - 1];
            place -= 1;
        }
        list[place] = self;
    }

    /// True if it comes before `other`.
    #[inline]
    fn is_before(&self, other: &Passing) -> bool {
        self.at < other.at || self.at == other.at && self.ranks_before(other)
    }

    #[cold]
    fn ranks_before(&self, other: &Passing) -> bool {
        let rank =
            |passing: &Passing| NetworkEvent::rank(NetworkEvent::Arrive(passing.from).pack(), passing.at);
        rank(self) < rank(other)
    }
}

/// The ports beside the one that takes packets.
pub(super) struct Sources<'a> {
    before: &'a mut [Port],
    behind: &'a mut [Port],
}

impl<'a> Sources<'a> {
    /// Port `out`, and those beside it.
    #[inline(always)]
    pub fn of(ports: &'a mut [Port], out: PortId) -> Option<(&'a mut Port, Sources<'a>)> {
        let (before, behind) = ports.split_at_mut(out.index());
        let (target, behind) = behind.split_first_mut()?;
        Some((target, Sources { before, behind }))
    }

    /// The packet in its place.
    #[inline(always)]
    pub fn packet(&mut self, passing: &Passing) -> Option<&mut Packet> {
        let (from, out) = (passing.from.index(), self.before.len());
        let source = if from < out { self.before.get_mut(from) } else { self.behind.get_mut(from - out - 1) };
        source?.place(passing.number)
    }
}
