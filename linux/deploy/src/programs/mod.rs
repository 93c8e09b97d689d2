//! The eBPF congestion controls: parameters, loading and unloading.

mod config;
mod connections;
mod defaults;
mod dscp;
mod fallbacks;
mod flows;
mod iproute;
pub mod messages;
pub(crate) mod mounts;
mod namespaces;
mod object;
mod pins;
mod ports;
mod prefix;
mod route_records;
mod routes;
mod segments;
mod sweep;

pub use config::{
    changes, configure, is_open_to_all, is_restricted, kernel_name, loaded_text, parameter_names,
};
pub use connections::{
    Connection, Listener, Moved, connections, listeners_here, listeners_of_ours, move_sockets,
};
pub use defaults::{
    Restored, default_here, defaults_among, make_default, remember_host_default, renew_default,
    restore_defaults,
};
pub use dscp::{
    By, DscpMarking, DscpProgram, Rule, dscp_markings, end_dscp_marking, end_dscp_marking_everywhere,
};
pub use fallbacks::{Fallback, OneSided, fallbacks, one_sided};
pub use flows::{Flow, Flows};
pub use object::{CHOOSE, CUBIC, Held, Prepared, Users, attach_setsockopt, check_cgroup};
pub use pins::{Pins, registered};
pub use ports::{ports, set_port};
pub use prefix::Prefix;
pub use routes::{Installed, NewRoute, Removed, Route, remove_routes, renew_routes, routes};
pub use segments::{Segments, has_segments, remove_segments};
pub use sweep::{Opened, Traces};
