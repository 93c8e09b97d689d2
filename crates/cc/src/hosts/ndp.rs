//! Parameters of NDP's hosts; the simulator's file of hosts has the protocol and its source.

use super::{Defaults, HostInfo};
use shortflow_spec::{ConfigError, KeywordOr, POSITIVE_TIME, Reader, keys};
use shortflow_units::Span;

/// Registry entry.
pub const INFO: HostInfo =
    HostInfo { takes_laws: false, by_message: true, sets_priority: false, takes_trimmed: true };

keys! {
    /// The first window and the timeout.
    #[derive(Copy)]
    pub struct Params {
        /// packets of a message that its sender sends unasked, at the rate of its link; auto: those that fill the path, and one
        pub window: Option<u32> = "auto", KeywordOr("auto", 1..=1_000_000u32);
        /// time after which a packet without an answer is sent again, from its departure on
        pub rto: Span = "1ms", POSITIVE_TIME;
    }
}

/// Reads the parameters; the caller checks for unknown ones.
pub(crate) fn read(reader: &Reader, _: Defaults) -> Result<Params, ConfigError> {
    Params::read(reader)
}
