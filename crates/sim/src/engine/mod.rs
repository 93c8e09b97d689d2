//! Order of events and random streams. This module does not depend on packets.

mod due;
mod events;
mod prefetch;
mod safe_times;
mod seeds;
mod wheel;
mod windows;

pub use due::{EventCode, NodeScope};
pub use events::EventQueue;
pub use seeds::{Seeds, Stream};
pub use windows::Step;

pub(crate) use due::tie_break_rank;
pub(crate) use prefetch::prefetch;
pub(crate) use seeds::below;
pub(crate) use wheel::SHORTEST_SLOT;
