//! [`Progress`]: calls of the observer, and the estimate of the end of a run.

use super::part::owns;
use super::rows::{Rows, is_awaited};
use super::world::World;
use shortflow_units::{FlowId, Instant, Span};
use std::collections::BTreeMap;

/// Events between two calls of the observer.
const TICK: u64 = 8192;

/// Progress of a run.
pub(super) struct Progress {
    /// Event count of the next call of the observer.
    next_tick: u64,
    /// Event count of the next estimate.
    next_estimate: u64,
    /// Estimated end of the last flow.
    pub end: Instant,
    /// Acknowledged bytes of each open flow at two earlier times.
    acked_before: BTreeMap<FlowId, [(Instant, u64); 2]>,
    /// Seconds and bytes of flows with a known rate, at the last estimate that found any.
    rated: (f64, f64),
}

impl Progress {
    /// Progress before the first event.
    pub(super) fn new() -> Progress {
        Progress {
            next_tick: TICK,
            next_estimate: 0,
            end: Instant::ZERO,
            acked_before: BTreeMap::new(),
            rated: (0.0, 0.0),
        }
    }

    /// True if the observer is due after `handled` events, which is the case every [`TICK`] events.
    #[inline(always)]
    pub(super) fn is_due(&mut self, handled: u64) -> bool {
        if handled < self.next_tick {
            return false;
        }
        self.next_tick = (handled / TICK + 1) * TICK;
        true
    }

    /// Estimates the end of the run from all open measured flows, if an estimate is due. The measured time ends at
    /// `measured`. The interval to the next estimate grows with the number of connections, to keep the cost small.
    pub(super) fn estimate(&mut self, world: &mut World<'_>, rows: &Rows, measured: Instant) {
        if world.handled < self.next_estimate {
            return;
        }
        let (now, before, mut slots) = (world.events.now(), std::mem::take(&mut self.acked_before), 0);
        let (mut rest, mut unknown, mut rated) = (Span::ZERO, 0, (0.0, 0.0));
        let at_rate = |left: u64, (time, bytes): (f64, f64)| Span::from_secs_f64(time * left as f64 / bytes);
        for (_, connection) in world.connections.iter_mut() {
            slots += 1;
            if !owns(&world.part, connection.source) {
                continue;
            }
            let ends = &connection.ends;
            let Some(message) = ends.messages().first().filter(|message| is_awaited(message)) else {
                continue;
            };
            let (size, acked) = (message.end - message.start, message.acked(ends.acked()));
            // Use the rate over the last quarter to half of the flow's life, timeouts included. The initial
            // window would bias the rate of younger flows.
            let start = rows.flows[message.flow.index()].start;
            let [older, newer] = before.get(&message.flow).copied().unwrap_or([(start, 0); 2]);
            let is_over = now.since(newer.0).times(4) > now.since(start);
            self.acked_before
                .insert(message.flow, if is_over { [newer, (now, acked)] } else { [older, newer] });
            let (time, progress) = (now.since(older.0).as_secs_f64(), acked - older.1);
            if progress > 0 && (older.0 > start || 10 * acked >= size) {
                rest = rest.max(at_rate(size - acked, (time, progress as f64)));
                rated = (rated.0 + time, rated.1 + progress as f64);
            } else {
                unknown = unknown.max(size - acked);
            }
            rest = rest.max(ends.stalled_until(now).map_or(Span::ZERO, |until| until.max(now).since(now)));
        }
        if rated.1 > 0.0 {
            self.rated = rated;
        }
        if self.rated.1 > 0.0 {
            rest = rest.max(at_rate(unknown, self.rated));
        }
        // Assume that similar flows are open at the end of the measured time.
        self.end = now.max(measured) + rest;
        // 64 events per connection keep the estimate's share of the run time small.
        self.next_estimate = world.handled + 8 * TICK + 64 * slots;
    }
}
