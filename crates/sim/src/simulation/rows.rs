//! [`Rows`]: the rows of flows in the tables of the outcome.

use crate::host::Message;
use crate::outcome::{FlowRow, LongPath};
use shortflow_units::{Bytes, FlowId, HostId, Instant};
use std::ops::Range;

/// First number of flows that start after the measured time. These flows are load for the other flows. They
/// have rows of their own if the scenario records them.
const DRAIN: u32 = 1 << 31;

/// Rows of the flows that have started, in the order of their starts.
#[derive(Debug, Default)]
pub(super) struct Rows {
    pub flows: Vec<FlowRow>,
    /// Rows of flows that start after the measured time, if the scenario records them.
    pub drain_flows: Vec<FlowRow>,
    /// Number and bytes of all flows that start after the measured time.
    pub drained: (u64, u64),
    /// Paths of backlogged flows.
    pub long_paths: Vec<LongPath>,
}

impl Rows {
    /// True if there is memory for another flow.
    pub(super) fn has_room(&mut self) -> bool {
        self.flows.try_reserve(1).is_ok()
    }

    /// Number of the next flow; `counted` is false if the flow starts after the measured time and is load alone.
    pub(super) fn next(&self, counted: bool) -> FlowId {
        FlowId::from(if counted { self.flows.len() } else { DRAIN as usize + self.drain_flows.len() })
    }

    /// Counts a flow that is load alone, with its bytes unless it is backlogged.
    pub(super) fn count_drained(&mut self, bytes: Option<Bytes>) {
        self.drained.0 += 1;
        self.drained.1 += bytes.map_or(0, Bytes::get);
    }

    /// Writes a message into its row, if it has one. `acked` bytes of its stream are acknowledged, and `delivered` bytes
    /// of the message have arrived. `width` is the ratio of the connection's window to its path's capacity.
    pub(super) fn record(
        &mut self,
        message: &Message,
        (acked, delivered): (u64, u64),
        width: f64,
        window: &Range<Instant>,
    ) {
        let row = match message.flow.0.checked_sub(DRAIN) {
            Some(number) => self.drain_flows.get_mut(number as usize),
            None => self.flows.get_mut(message.flow.index()),
        };
        let Some(row) = row else { return };
        (row.finish, row.received) = (message.finish, message.received);
        row.retransmits = message.retransmits;
        row.timeouts = message.timeouts;
        row.take_tally(message.tally);
        row.acked = Bytes::new(message.acked(acked));
        row.width = width;
        if row.overlaps(window) {
            row.note_window(message.in_window(delivered));
        }
    }

    /// Merges the rows of other parts into the rows of part 0.
    pub(super) fn join(&mut self, others: Vec<Rows>, part_of: impl Fn(HostId) -> usize) {
        let (mut flows, mut drain_flows): (Vec<_>, Vec<_>) =
            others.into_iter().map(|other| (other.flows, other.drain_flows)).unzip();
        join_rows(&mut self.flows, &mut flows, &part_of);
        join_rows(&mut self.drain_flows, &mut drain_flows, &part_of);
    }
}

/// True if the run does not end before this message, once it has started, has finished.
pub(super) fn is_awaited(message: &Message) -> bool {
    message.flow.0 < DRAIN && !message.is_backlogged()
}

/// Completes the flow rows of part 0. A row comes from the sender's part, its arrivals from the receiver's
/// part.
fn join_rows(rows: &mut [FlowRow], others: &mut [Vec<FlowRow>], part_of: impl Fn(HostId) -> usize) {
    for (index, row) in rows.iter_mut().enumerate() {
        let (from, to) = (part_of(row.source), part_of(row.destination));
        // After the exchange, the copy of part 0 is where the copy of `from` was.
        if from > 0 {
            std::mem::swap(row, &mut others[from - 1][index]);
        }
        if from != to {
            let place = if to == 0 { from } else { to };
            row.take_arrived(&others[place - 1][index]);
        }
    }
}
