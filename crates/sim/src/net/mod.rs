//! The network: ports with their wires, and routes between them.

mod counts;
mod drops;
mod event;
mod faults;
mod flow_control;
mod forwarded;
mod levels;
mod memory;
mod network;
mod outages;
mod parts;
mod paths;
mod pauses;
mod port;
mod reports;
mod ring;
mod routes;
mod usage;

pub use faults::FaultInjector;
pub use levels::{PERCENTS, Percentiles};
pub use network::Network;
pub use port::{Port, PortEvent};
pub use routes::{RouteError, Routes};
pub use usage::{MeasurementWindow, PortCounters};

pub(crate) use counts::{NetworkCounts, PortCounts};
pub(crate) use drops::Drops;
pub(crate) use event::{NetworkEvent, WithNetwork};
pub(crate) use faults::HostDelay;
pub(crate) use flow_control::{Deadlock, FlowControl};
pub(crate) use levels::OccupancyHistogram;
pub(crate) use memory::SharedMemory;
pub(crate) use parts::BoundaryMail;
pub(crate) use paths::{BYTES_PER_PATH, REVERSE};
pub(crate) use pauses::{PauseCounts, PauseState};
pub(crate) use routes::{LinkChoice, Stage};
