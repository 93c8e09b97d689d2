//! Time order and randomness: knows no packets.

mod events;
mod seeds;

pub use events::{EventQueue, Pack};
pub use seeds::{Seeds, Stream};
