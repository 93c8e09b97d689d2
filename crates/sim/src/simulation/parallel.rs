//! One run on several cores. Each part of the network runs in its own thread.
//!
//! A window is at most as long as the shortest delay of a link between two parts, so no action of a part
//! reaches another part within the same window. After each window, all parts exchange departed packets
//! through mailboxes, one for each pair, and meet at a barrier. The next window starts at the earliest event
//! of any part. Every part starts and ends every flow, so a connection has the same slot in each part. All
//! parts learn of a flow's end after the longest delay of a link, and a run on one core uses this delay too.
//! Therefore outcomes do not depend on the number of parts.
//!
//! UNISON (EuroSys 2024) and earlier conservative parallel simulators use the same windows.

use super::part::{Notice, Part};
use super::plan::ExecutionPlan;
use super::state::Simulation;
use super::world::World;
use super::{Observer, RunError, RunProgress};
use crate::net::BoundaryMail;
use crate::scenario::Scenario;
use crate::scheme::Scheme;
use shortflow_units::{Instant, Span};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// Polls of the barrier before a thread sleeps. Parts of equal size meet within this time.
const SPIN_ITERATIONS: u32 = 1000;
/// Longest sleep between two calls of the observer.
const PARK_TIMEOUT: Duration = Duration::from_millis(100);

/// Packets and notices from one part to another after a window.
#[derive(Debug, Default)]
struct Mailbox {
    packets: Vec<BoundaryMail>,
    notices: Vec<Notice>,
}

/// State shared by the parts.
struct WindowBarrier {
    parts: usize,
    /// Two mailboxes for each pair of sender and receiver. Consecutive windows alternate between them.
    boxes: Vec<[Mutex<Mailbox>; 2]>,
    /// Time of the next event of each part.
    next: Vec<[AtomicU64; 2]>,
    arrived: AtomicUsize,
    window: AtomicUsize,
    /// A part has failed or was cancelled.
    stopped: AtomicBool,
    /// A part has reached the end of the run.
    ended: AtomicBool,
    /// Number of sleeping threads.
    asleep: Mutex<u32>,
    woken: Condvar,
}

impl WindowBarrier {
    fn new(parts: usize) -> WindowBarrier {
        WindowBarrier {
            parts,
            boxes: (0..parts * parts).map(|_| Default::default()).collect(),
            next: (0..parts).map(|_| Default::default()).collect(),
            arrived: AtomicUsize::new(0),
            window: AtomicUsize::new(0),
            stopped: AtomicBool::new(false),
            ended: AtomicBool::new(false),
            asleep: Mutex::new(0),
            woken: Condvar::new(),
        }
    }

    /// Waits for all parts. Calls `continues` first, and again during the wait.
    fn wait(&self, mut continues: impl FnMut() -> bool) -> Result<(), RunError> {
        if !continues() {
            return Err(RunError::Cancelled);
        }
        let window = self.window.load(Ordering::Acquire);
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.parts {
            self.arrived.store(0, Ordering::Relaxed);
            self.window.store(window + 1, Ordering::Release);
            self.wake();
        }
        for _ in 0..SPIN_ITERATIONS {
            if let Some(met) = self.met(window) {
                return met;
            }
            std::hint::spin_loop();
        }
        let mut asleep = self.asleep.lock().unwrap_or_else(PoisonError::into_inner);
        *asleep += 1;
        let met = loop {
            match self.met(window) {
                Some(met) => break met,
                None if !continues() => break Err(RunError::Cancelled),
                None => {
                    let woken = self.woken.wait_timeout(asleep, PARK_TIMEOUT);
                    asleep = woken.unwrap_or_else(PoisonError::into_inner).0;
                }
            }
        };
        *asleep -= 1;
        met
    }

    /// `Some` if all parts have finished this window or a part will never finish it.
    fn met(&self, window: usize) -> Option<Result<(), RunError>> {
        // Read `ended` before `window`. Otherwise a part that is one window ahead could end between the two
        // reads.
        let ended = self.ended.load(Ordering::Acquire);
        if self.stopped.load(Ordering::Acquire) {
            Some(Err(RunError::Cancelled))
        } else if self.window.load(Ordering::Acquire) != window {
            Some(Ok(()))
        } else {
            ended.then(|| Err(RunError::Broken("parts of the network end at different times".to_owned())))
        }
    }

    /// Wakes sleeping parts.
    fn wake(&self) {
        let asleep = self.asleep.lock().unwrap_or_else(PoisonError::into_inner);
        if *asleep > 0 {
            self.woken.notify_all();
        }
    }

    fn mailbox(&self, from: usize, to: usize, parity: usize) -> MutexGuard<'_, Mailbox> {
        self.boxes[from * self.parts + to][parity].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Stops the other parts when dropped, unless this part has reached the end of the run. Without this guard,
/// they would wait for ever for a part that panics.
struct AbortGuard<'a> {
    barrier: &'a WindowBarrier,
    at_end: bool,
}

impl AbortGuard<'_> {
    fn new(barrier: &WindowBarrier) -> AbortGuard<'_> {
        AbortGuard { barrier, at_end: false }
    }
}

impl Drop for AbortGuard<'_> {
    fn drop(&mut self) {
        let WindowBarrier { ended, stopped, .. } = self.barrier;
        if self.at_end { ended } else { stopped }.store(true, Ordering::Release);
        self.barrier.wake();
    }
}

/// Observer of all parts except part 0. Stops a part when another part has stopped.
struct StopObserver<'a>(&'a WindowBarrier);

impl Observer for StopObserver<'_> {
    fn tick(&mut self, _: RunProgress) -> bool {
        !self.0.stopped.load(Ordering::Acquire)
    }
}

/// Runs all parts by `plan` and merges their results.
pub(super) fn run<'a>(
    (scenario, scheme): (&'a Scenario, &'a Scheme),
    seed: u64,
    plan: &'a ExecutionPlan,
    observer: &mut dyn Observer,
) -> Result<Simulation<'a>, RunError> {
    let parts = plan.modes.cores;
    let barrier = &WindowBarrier::new(parts);
    let part = |number: usize| -> Result<Simulation<'a>, RunError> {
        let mut simulation = Simulation::new((scenario, scheme), seed, plan, Some(number as u32))?;
        simulation.world.become_part(Part {
            number: number as u32,
            owner: plan.owner.clone(),
            notices: Vec::new(),
        });
        Ok(simulation)
    };
    let run = |number: usize, mut guard: AbortGuard, observer: &mut dyn Observer| {
        let mut simulation = part(number)?;
        run_part(&mut simulation, barrier, plan.lookahead, observer)?;
        guard.at_end = true;
        Ok(simulation)
    };
    let (first, others) = thread::scope(|scope| {
        let (run, guard) = (&run, AbortGuard::new(barrier));
        let start = |number| {
            let part = move || run(number, AbortGuard::new(barrier), &mut StopObserver(barrier));
            thread::Builder::new()
                .spawn_scoped(scope, part)
                .map_err(|error| RunError::NoThread(parts, error.kind()))
        };
        let others = (1..parts).map(start).collect::<Result<Vec<_>, _>>()?;
        let first = run(0, guard, observer);
        Ok::<_, RunError>((first, others.into_iter().map(|other| other.join()).collect::<Vec<_>>()))
    })?;
    let others =
        others.into_iter().map(|other| other.unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
    let mut finished = Vec::new();
    for simulation in std::iter::once(first).chain(others.collect::<Vec<_>>()) {
        match simulation {
            // A part that fails cancels all other parts. The error is that of the failed part.
            Err(RunError::Cancelled) => {}
            simulation => finished.push(simulation?),
        }
    }
    if finished.len() < parts {
        return Err(RunError::Cancelled);
    }
    let mut simulation = finished.remove(0);
    simulation.join(finished);
    Ok(simulation)
}

/// Runs one window after another, in step with the other parts.
fn run_part(
    simulation: &mut Simulation<'_>,
    barrier: &WindowBarrier,
    lookahead: Span,
    observer: &mut dyn Observer,
) -> Result<(), RunError> {
    let limit = simulation.limit();
    let mut boxes = (0..barrier.parts).map(|_| Vec::new()).collect::<Vec<_>>();
    let (mut start, mut parity) = (Instant::ZERO, 0);
    while start <= limit {
        let end = simulation.world.events.end_of_slot(start, start + lookahead);
        // Common events reach all parts in the same window, so all parts end together.
        // `run_until` includes its limit, but the window ends before `end`.
        let has_ended = simulation.run_until(limit.min(Instant::from_ps(end.as_ps() - 1)), observer)?;
        simulation.check_room()?;
        if has_ended {
            break;
        }
        export(&mut simulation.world, barrier, end, parity, &mut boxes);
        let standing = RunProgress { now: start.max(simulation.world.events.now()), ..simulation.standing() };
        barrier.wait(|| observer.tick(standing))?;
        start = import(simulation, barrier, parity);
        parity = 1 - parity;
    }
    Ok(())
}

/// Puts packets and notices into the mailboxes of the other parts.
fn export(
    World { network, events, part, .. }: &mut World<'_>,
    barrier: &WindowBarrier,
    end: Instant,
    parity: usize,
    boxes: &mut [Vec<BoundaryMail>],
) {
    let next = network.export(end, boxes).min(events.next_at().unwrap_or(Instant::MAX));
    let Some(part) = part else { return };
    let me = part.number as usize;
    for (to, packets) in boxes.iter_mut().enumerate() {
        if to != me && !(packets.is_empty() && part.notices.is_empty()) {
            let mut mailbox = barrier.mailbox(me, to, parity);
            std::mem::swap(&mut mailbox.packets, packets); // the receiver has emptied the packets of two windows ago
            mailbox.notices.extend(&part.notices);
        }
    }
    part.notices.clear();
    barrier.next[me][parity].store(next.as_ps(), Ordering::Release);
}

/// Takes packets and notices from the mailboxes. Returns the time of the next event of any part.
fn import(simulation: &mut Simulation<'_>, barrier: &WindowBarrier, parity: usize) -> Instant {
    let me = simulation.world.part.as_ref().map_or(0, |part| part.number as usize);
    for from in (0..barrier.parts).filter(|from| *from != me) {
        let mut mailbox = barrier.mailbox(from, me, parity);
        let World { network, events, .. } = &mut simulation.world;
        mailbox.packets.drain(..).for_each(|mail| network.import(events, mail));
        mailbox.notices.drain(..).for_each(|notice| simulation.on_notice(notice));
    }
    let next = barrier.next.iter().map(|next| next[parity].load(Ordering::Acquire)).min();
    Instant::from_ps(next.unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One part panics in its window. The other part, asleep at the barrier, stops.
    #[test]
    fn a_part_that_fails_stops_the_others() {
        let (barrier, is_past) = (&WindowBarrier::new(2), AtomicBool::new(false));
        let (fails, waits) = thread::scope(|scope| {
            let fails = scope.spawn(|| {
                let _guard = AbortGuard::new(barrier);
                barrier.wait(|| true).unwrap();
                // The waiting part may also sleep at the first barrier.
                while !is_past.load(Ordering::Relaxed) || *barrier.asleep.lock().unwrap() == 0 {
                    thread::yield_now();
                }
                panic!("this part fails");
            });
            let waits = scope.spawn(|| {
                let first = barrier.wait(|| true);
                is_past.store(true, Ordering::Relaxed);
                (first, barrier.wait(|| true))
            });
            (fails.join(), waits.join())
        });
        assert!(fails.is_err());
        assert_eq!(waits.unwrap(), (Ok(()), Err(RunError::Cancelled)));
    }

    /// The observer cancels a part that waits. The part stops although the other part has not arrived.
    #[test]
    fn a_part_that_waits_still_calls_the_observer() {
        let (barrier, mut calls) = (&WindowBarrier::new(2), 0);
        let stopped = barrier.wait(|| {
            calls += 1;
            calls < 4
        });
        assert_eq!((stopped, calls), (Err(RunError::Cancelled), 4));
    }

    /// A part that ends while another waits is an error, unless the part that ends is one window ahead.
    #[test]
    fn parts_that_end_at_different_times_are_an_error() {
        let barrier = &WindowBarrier::new(2);
        barrier.window.store(1, Ordering::Relaxed);
        AbortGuard::new(barrier).at_end = true;
        assert_eq!(barrier.met(0), Some(Ok(())));
        assert!(matches!(barrier.wait(|| true), Err(RunError::Broken(_))));
    }
}
