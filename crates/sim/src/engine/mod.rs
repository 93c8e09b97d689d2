//! Time order and randomness: knows no packets.

mod due;
mod events;
mod prefetch;
mod seeds;
mod sites;
mod wheel;

pub use due::{Pack, Site, in_turn};
pub use events::EventQueue;
pub use prefetch::prefetch;
pub use seeds::{Seeds, Stream};
pub use wheel::SHORTEST_SLOT;
