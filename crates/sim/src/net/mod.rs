//! The network: packets, ports with their wires, and routes.

mod faults;
mod network;
mod packet;
mod port;
mod routes;

pub use faults::FaultInjector;
pub use network::{Event, Network};
pub use packet::{EcnField, Kind, Packet, SackBlocks};
pub use port::{Port, PortCounters, Window};
pub use routes::{RouteError, Routes};
