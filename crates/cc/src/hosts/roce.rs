//! Parameters of RoCE's hosts, under any law.

use super::{Defaults, HostInfo};
use shortflow_spec::{ANY_TIME, ConfigError, Reader, keys};
use shortflow_units::Span;

/// Registry entry.
pub const INFO: HostInfo =
    HostInfo { takes_laws: true, by_message: false, sets_priority: false, takes_trimmed: false };

keys! {
    /// Parameters of the notifications of marks.
    #[derive(Copy)]
    pub struct Params {
        /// shortest time between two notifications of marks (CNPs) of a flow; 0s: one CNP for each marked packet
        pub cnp_every: Span = "50us", ANY_TIME, acts: marks;
        /// time from the arrival of a marked packet to the departure of its CNP
        pub cnp_delay: Span = "0s", ANY_TIME, acts: marks;
    }
}

/// Reads the parameters. The caller rejects unknown keys.
pub(crate) fn read(reader: &Reader, _: Defaults) -> Result<Params, ConfigError> {
    Params::read(reader)
}
