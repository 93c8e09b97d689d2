//! A link that works under one discipline, and its flows.

use super::demand::Demand;
use super::discipline::{Discipline, Finished};
use shortflow_units::Instant;
use std::collections::BTreeSet;
use std::ops::Range;

/// A link that works under one discipline.
pub(super) struct Server {
    discipline: Box<dyn Discipline>,
    demands: Vec<Demand>,
    /// Finished flows, by their index in `demands`.
    finished: Finished,
    /// Number of backlogged flows that have not stopped.
    sharers: u32,
    /// Service in picoseconds that a backlogged flow would have received since the first backlogged flow
    /// started.
    leftover: f64,
    /// Value of `leftover` at the start and at the stop of each backlogged flow.
    backlogged: Vec<Range<f64>>,
    /// Future stops, each with the index in `backlogged`.
    stops: BTreeSet<(Instant, usize)>,
    /// Number of measured flows, which precede all other flows.
    counted: usize,
    /// Number of measured finite flows that are not finished.
    open: usize,
    /// Number of finished flows already examined.
    seen: usize,
}

impl Server {
    /// An idle server.
    pub(super) fn new(discipline: Box<dyn Discipline>) -> Server {
        Server {
            discipline,
            demands: Vec::new(),
            finished: Vec::new(),
            sharers: 0,
            leftover: 0.0,
            backlogged: Vec::new(),
            stops: BTreeSet::new(),
            counted: 0,
            open: 0,
            seen: 0,
        }
    }

    /// Takes a measured flow. Flows must come in order of arrival.
    pub(super) fn take_counted(&mut self, demand: Demand) {
        self.counted += 1;
        self.open += usize::from(!demand.backlogged);
        self.take(demand);
    }

    /// Takes a flow. Flows must come in order of arrival.
    pub(super) fn take(&mut self, demand: Demand) {
        self.stop_until(demand.job.arrives);
        self.serve(demand.job.arrives);
        if demand.backlogged {
            self.stops.extend(demand.stop.map(|stop| (stop, self.backlogged.len())));
            self.backlogged.push(self.leftover..f64::INFINITY);
            self.sharers += 1;
        } else {
            self.discipline.add(self.demands.len() as u32, &demand.job);
        }
        self.demands.push(demand);
    }

    fn stop_until(&mut self, until: Instant) {
        while let Some((at, flow)) = self.stops.first().copied().filter(|(at, _)| *at <= until) {
            self.stops.pop_first();
            self.serve(at);
            self.sharers -= 1;
            self.backlogged[flow].end = self.leftover;
        }
    }

    fn serve(&mut self, until: Instant) {
        let together = self.discipline.advance(until, self.sharers, &mut self.finished);
        if self.sharers > 0 {
            self.leftover += together / f64::from(self.sharers);
        }
    }

    /// Serves until `until`. Returns the value of `leftover` then.
    pub(super) fn advance(&mut self, until: Instant) -> f64 {
        self.stop_until(until);
        self.serve(until);
        let news = &self.finished[self.seen..];
        self.open -= news.iter().filter(|(index, _)| (*index as usize) < self.counted).count();
        self.seen += news.len();
        self.leftover
    }

    /// Serves until `at` if a measured flow is unfinished. Returns true if one is still unfinished then.
    pub(super) fn is_open_at(&mut self, at: Instant) -> bool {
        if self.open > 0 {
            self.advance(at);
        }
        self.open > 0
    }

    /// Finished flows, and the time at which the link finished each.
    pub(super) fn finished(&self) -> impl Iterator<Item = (&Demand, Instant)> {
        self.finished.iter().map(|(index, at)| (&self.demands[*index as usize], *at))
    }

    /// Backlogged flows, with the values of `leftover` at the start and stop of each.
    pub(super) fn backlogged(&self) -> impl Iterator<Item = (&Demand, &Range<f64>)> {
        self.demands.iter().filter(|demand| demand.backlogged).zip(&self.backlogged)
    }
}
