//! [`Outages`]: times at which links fail and recover.

use super::{NetworkEvent, Routes, WithNetwork};
use crate::engine::{EventQueue, NodeScope};
use crate::scenario::Scenario;
use shortflow_units::{Instant, PortId};
use std::collections::BTreeMap;

/// A port whose link fails or recovers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Change {
    pub port: PortId,
    pub fails: bool,
}

/// Outages of a scenario. All simultaneous changes form one step, so that routes are computed once.
#[derive(Debug, Clone)]
pub(super) struct Outages {
    steps: Vec<(Instant, Vec<Change>)>,
    /// Routes over all links.
    pub(super) intact: Routes,
}

impl Outages {
    /// The outages of `scenario`, whose routes without failures are `intact`; `None` if no link fails.
    pub(super) fn new(scenario: &Scenario, intact: &Routes) -> Option<Box<Outages>> {
        let mut steps: BTreeMap<Instant, Vec<Change>> = BTreeMap::new();
        for fault in &scenario.faults {
            let Some((down, up)) = fault.outage else { continue };
            for (at, fails) in [(Some(down), true), (up, false)] {
                let Some(at) = at else { continue };
                let changes = fault.ports.iter().map(|port| Change { port: *port, fails });
                steps.entry(Instant::ZERO + at).or_default().extend(changes);
            }
        }
        let steps: Vec<_> = steps.into_iter().collect();
        (!steps.is_empty()).then(|| Box::new(Outages { steps, intact: intact.clone() }))
    }

    /// Schedules an event for each step.
    pub(super) fn schedule(&self, events: &mut EventQueue<impl WithNetwork>) {
        for (step, (at, _)) in (0..).zip(&self.steps) {
            events.schedule(*at, NodeScope::GLOBAL, NetworkEvent::LinkChange(step).into());
        }
    }

    /// Changes at a step. Recoveries precede failures.
    pub(super) fn changes(&self, step: u32) -> Vec<Change> {
        let mut changes = self.steps[step as usize].1.clone();
        changes.sort_by_key(|change| change.fails);
        changes
    }
}
