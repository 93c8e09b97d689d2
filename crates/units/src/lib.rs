//! Units as types. Time is in integer picoseconds (one byte at 100 Gbit/s takes exactly 80 ps), an [`Instant`] is not
//! a [`Span`], and no type holds a float.
//!
//! | type | unit | text form |
//! |---|---|---|
//! | [`Instant`] | ps since the start of a run | – |
//! | [`Span`] | ps | `"300us"` |
//! | [`Bytes`] | bytes, decimal prefixes | `"98KB"` |
//! | [`Rate`] | bit/s | `"1Gbps"` |
//! | [`Occupancy`] | packets or bytes of a queue | `"250pkt"`, `"100KB"` |

mod data;
mod ids;
mod occupancy;
mod text;
mod time;

pub use data::{Bytes, Rate};
pub use ids::{ClassId, ConnId, FlowId, HostId, NodeId, PortId};
pub use occupancy::Occupancy;
pub use text::UnitError;
pub use time::{Instant, Span};
