//! Parameters of pFabric's hosts, which recover from losses by timeouts only.

use super::{Defaults, HostInfo};
use shortflow_spec::{ConfigError, KeywordOr, POSITIVE_TIME, Reader, keys};
use shortflow_units::Span;

/// Registry entry.
pub const INFO: HostInfo =
    HostInfo { takes_laws: false, by_message: false, sets_priority: false, takes_trimmed: false };

keys! {
    /// Parameters of timeouts and probes.
    #[derive(Copy)]
    pub struct Params {
        /// time without a new ACK after which all bytes in flight count as lost; auto: three round-trip times without
        /// queues
        pub rto: Option<Span> = "auto", KeywordOr("auto", POSITIVE_TIME);
        /// number of consecutive timeouts after which the sender sends headers as probes instead of data
        pub probe_after: u32 = "5", 1..=1000u32;
    }
}

/// Reads the parameters. The caller rejects unknown keys.
pub(crate) fn read(reader: &Reader, _: Defaults) -> Result<Params, ConfigError> {
    Params::read(reader)
}
