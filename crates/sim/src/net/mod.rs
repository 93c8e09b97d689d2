//! The network: ports with their wires, and routes between them.

mod counts;
mod drops;
mod event;
mod faults;
mod flow_control;
mod levels;
mod memory;
mod network;
mod outages;
mod parts;
mod passing;
mod paths;
mod pauses;
mod port;
mod ring;
mod routes;
mod usage;

pub use counts::{NetworkCounts, PortCounts};
pub use drops::Drops;
pub use event::{NetworkEvent, WithNetwork};
pub use faults::{FaultInjector, HostDelay};
pub use flow_control::FlowControl;
pub use levels::{OccupancyHistogram, PERCENTS, Percentiles};
pub use memory::SharedMemory;
pub use network::Network;
pub use parts::BoundaryMail;
pub use paths::{BYTES_PER_PATH, REVERSE};
pub use pauses::PauseCounts;
pub use port::{Port, PortEvent, PortOccupancy};
pub use routes::{RouteError, Routes, Stage};
pub use usage::{MeasurementWindow, PortCounters};
