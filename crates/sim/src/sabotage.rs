//! Defects that unit tests plant in the simulator, to prove that the checks at the end of a run find them.

use crate::packet::{Kind, Packet};
use shortflow_units::Span;
use std::cell::Cell;

/// A defect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Defect {
    /// Links are 1 % faster than they should be.
    FastLinks,
    /// Every hundredth data packet is counted as delivered and vanishes.
    LostAfterCounted,
    /// Every hundredth packet overtakes the one before it in its queue.
    Overtaking,
    /// Receivers acknowledge 720 bytes more than they have, the length of the last segment of 100 KB.
    AcksTooMuch,
}

thread_local! {
    static PLANTED: Cell<Option<Defect>> = const { Cell::new(None) };
    static COUNT: Cell<u32> = const { Cell::new(0) };
}

/// Runs `act` with `defect` planted.
pub fn with<T>(defect: Defect, act: impl FnOnce() -> T) -> T {
    PLANTED.set(Some(defect));
    let result = act();
    PLANTED.set(None);
    result
}

fn hundredth(defect: Defect) -> bool {
    if PLANTED.get() != Some(defect) {
        return false;
    }
    COUNT.set(COUNT.get() + 1);
    COUNT.get().is_multiple_of(100)
}

/// The transmission time of a link.
pub fn hasten(time: Span) -> Span {
    if PLANTED.get() == Some(Defect::FastLinks) { time.times(99).divided_by(100) } else { time }
}

/// True if a packet vanishes after it was counted as delivered.
pub fn loses(packet: &Packet) -> bool {
    packet.kind == Kind::Data && hundredth(Defect::LostAfterCounted)
}

/// True if a packet overtakes the one before it.
pub fn overtakes() -> bool {
    hundredth(Defect::Overtaking)
}

/// Number in an acknowledgement.
pub fn acknowledge(next: u64) -> u64 {
    next + 720 * u64::from(PLANTED.get() == Some(Defect::AcksTooMuch))
}
