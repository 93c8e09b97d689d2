//! Names for running scenarios and for user-defined laws: `use shortflow_sim::prelude::*`.

pub use crate::outcome::{Counters, DropRow, FlowRow, Outcome, Place, PortRow};
pub use crate::probe::watch::{FlowChoice, PacketEvent, PacketEventKind, TraceFilter};
pub use crate::probe::{Sample, Samples, Subject};
pub use crate::queue::{DropReason, QueueKind};
pub use crate::scenario::Scenario;
pub use crate::scheme::{Scheme, SchemeInfo, schemes};
pub use crate::service::ServiceModel;
pub use crate::simulation::{Cores, NoObserver, Observer, RunError, RunProgress, run, run_on};
pub use shortflow_cc::{
    AckSample, Cause, CongestionControl, Ecn, FlowView, HopSample, Opening, PathSample, Recovery, Role,
    StartUserDefined, Transport, TransportConfig, TransportInfo, UserDefined, Window, transports,
};
pub use shortflow_spec::ConfigError;
pub use shortflow_units::{
    Bytes, ClassId, ConnId, FlowId, HostId, Instant, NodeId, Occupancy, PortId, Rate, Span,
};
