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
    packets: Vec<Forwarded>,
}

/// Longest list that is kept sorted by insertion.
const MANY: usize = 48;

impl Output {
    /// Packets in order of time.
    #[inline]
    pub(super) fn sorted(&mut self) -> &[Forwarded] {
        if std::mem::take(&mut self.is_unsorted) {
            self.packets.sort_by(Forwarded::order); // the list is a merge of sorted runs, one for each input port
        }
        &self.packets
    }

    /// Number of packets.
    pub(super) fn count(&self) -> usize {
        self.packets.len()
    }

    /// Clears the work at the end of the window.
    #[inline]
    pub(super) fn clear(&mut self) {
        self.is_touched = false;
        self.packets.clear();
    }
}

impl Windows {
    /// Work of `port`, which is marked as having work.
    #[inline(always)]
    pub(super) fn touch(&mut self, port: PortId) -> &mut Output {
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
pub(super) struct Forwarded {
    pub at: Instant,
    pub from: PortId,
    pub id: PacketId,
}

impl Forwarded {
    /// Inserts the packet in order of time among packets for the same port. Few packets are inserted before others.
    #[inline(always)]
    pub(super) fn insert_sorted(self, output: &mut Output) {
        match output.packets.last() {
            Some(last) if last.at >= self.at => Forwarded::insert(self.at, self.from, self.id, output),
            _ => output.packets.push(self),
        }
    }

    #[inline(never)] // keeps the path of packets in order short
    fn insert(at: Instant, from: PortId, id: PacketId, Output { is_unsorted, packets, .. }: &mut Output) {
        let packet = Forwarded { at, from, id };
        let mut place = packets.len();
        packets.push(packet);
        if place >= MANY {
            *is_unsorted = true;
            return;
        }
        while place > 0 && (at < packets[place - 1].at || packet.order(&packets[place - 1]).is_lt()) {
            packets[place] = packets[place - 1];
            place -= 1;
        }
        packets[place] = packet;
    }

    /// Order by time.
    #[inline]
    pub(super) fn order(&self, other: &Forwarded) -> Ordering {
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
        fn packets_are_sorted_by_time(ats in prop::collection::vec(0u64..50, 1..200)) {
            let packet = |(number, at)| Forwarded { at: Instant::from_ps(at), from: PortId(number), id: PacketId(number) };
            let packets: Vec<Forwarded> = (0..).zip(ats).map(packet).collect();
            let mut output = Output::default();
            packets.iter().for_each(|packet| packet.insert_sorted(&mut output));
            let mut sorted = packets;
            sorted.sort_by(Forwarded::order);
            let ports = |list: &[Forwarded]| list.iter().map(|packet| packet.from).collect::<Vec<_>>();
            prop_assert_eq!(ports(output.sorted()), ports(&sorted));
        }
    }
}
