//! Time order and randomness: knows no packets.

mod events;
mod prefetch;
mod seeds;

pub use events::{EventQueue, Pack, in_turn};
pub use prefetch::prefetch;
pub use seeds::{Seeds, Stream};
