//! [`Windows`]: packets that a switch forwards in a window, by output port.

use super::NetworkEvent;
use crate::engine::EventCode;
use crate::packet::PacketId;
use shortflow_units::{Instant, PortId};
use std::cmp::Ordering;

/// State of a network in windows.
#[derive(Debug, Clone, Default)]
pub(super) struct Windows {
    /// True for nodes with independent outputs and without faults on arrival.
    pub by_output: Vec<bool>,
    /// Index of each port among the ports of its node.
    pub numbers: Vec<u32>,
    /// Work of the ports of the present node, by index.
    pub outputs: Vec<Output>,
    /// Ports with work.
    pub touched: Vec<PortId>,
}

/// Work of a port in a window.
#[derive(Debug, Clone, Default)]
pub(super) struct Output {
    pub is_touched: bool,
    /// True if the list is long and will be sorted at the end of the window.
    is_unsorted: bool,
    /// Packets to enqueue.
    taken: Vec<Passing>,
}

/// Longest list that is kept sorted by insertion.
const MANY: usize = 48;

impl Output {
    /// Packets in order of time.
    #[inline]
    pub fn sorted(&mut self) -> &[Passing] {
        if std::mem::take(&mut self.is_unsorted) {
            self.taken.sort_by(Passing::order); // the list is a merge of sorted runs, one for each input port
        }
        &self.taken
    }

    /// Clears the work at the end of the window.
    #[inline]
    pub fn clear(&mut self) {
        self.is_touched = false;
        self.taken.clear();
    }
}

impl Windows {
    /// Work of `port`, which is marked as having work.
    #[inline(always)]
    pub fn touch(&mut self, port: PortId) -> &mut Output {
        let output = &mut self.outputs[self.numbers[port.index()] as usize];
        if !output.is_touched {
            output.is_touched = true;
            self.touched.push(port);
        }
        output
    }
}

/// A packet that has left the ring of a port that leads to a switch.
#[derive(Debug, Clone, Copy)]
pub(super) struct Passing {
    pub at: Instant,
    pub from: PortId,
    pub id: PacketId,
}

impl Passing {
    /// Inserts the packet in order of time among packets for the same port. Few packets are passed.
    #[inline(always)]
    pub fn line_up(self, output: &mut Output) {
        match output.taken.last() {
            Some(last) if last.at >= self.at => Passing::insert(self.at, self.from, self.id, output),
            _ => output.taken.push(self),
        }
    }

    #[inline(never)] // keeps the path of packets in order short
    fn insert(at: Instant, from: PortId, id: PacketId, Output { is_unsorted, taken, .. }: &mut Output) {
        let passing = Passing { at, from, id };
        let mut place = taken.len();
        taken.push(passing);
        if place >= MANY {
            *is_unsorted = true;
            return;
        }
        while place > 0 && (at < taken[place - 1].at || passing.order(&taken[place - 1]).is_lt()) {
            taken[place] = taken[place - 1];
            place -= 1;
        }
        taken[place] = passing;
    }

    /// Order by time.
    #[inline]
    fn order(&self, other: &Passing) -> Ordering {
        self.at.cmp(&other.at).then_with(|| self.rank().cmp(&other.rank()))
    }

    #[cold]
    fn rank(&self) -> u32 {
        NetworkEvent::rank(NetworkEvent::Arrive(self.from).pack(), self.at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Short and long lists, with ties.
        #[test]
        fn packets_line_up_in_order_of_time(ats in prop::collection::vec(0u64..50, 1..200)) {
            let passing = |(number, at)| Passing { at: Instant::from_ps(at), from: PortId(number), id: PacketId(number) };
            let packets: Vec<Passing> = (0..).zip(ats).map(passing).collect();
            let mut output = Output::default();
            packets.iter().for_each(|packet| packet.line_up(&mut output));
            let mut sorted = packets;
            sorted.sort_by(Passing::order);
            let ports = |list: &[Passing]| list.iter().map(|packet| packet.from).collect::<Vec<_>>();
            prop_assert_eq!(ports(output.sorted()), ports(&sorted));
        }
    }
}
