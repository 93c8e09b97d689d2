//! Time order and randomness: knows no packets.

mod due;
mod events;
mod prefetch;
mod safe_times;
mod seeds;
mod wheel;
mod windows;

pub use due::{EventCode, NodeScope, tie_break_rank};
pub use events::EventQueue;
pub use prefetch::prefetch;
pub use seeds::{Seeds, Stream, below};
pub use wheel::SHORTEST_SLOT;
pub use windows::Turn;
