//! Parameters of NDP's hosts. The protocol and its source are in the simulator's module `ndp`.

use super::{Defaults, HostInfo};
use shortflow_spec::{ConfigError, KeywordOr, POSITIVE_TIME, Reader, keys};
use shortflow_units::Span;

/// Registry entry.
pub const INFO: HostInfo =
    HostInfo { takes_laws: false, by_message: true, sets_priority: false, takes_trimmed: true };

keys! {
    /// Parameters of the first window and of the timeout.
    #[derive(Copy)]
    pub struct Params {
        /// number of packets of a message that its sender sends before the first pull, at the rate of its
        /// link; auto: one more than the packets that fill the path
        pub window: Option<u32> = "auto", KeywordOr("auto", 1..=1_000_000u32);
        /// time from the departure of a packet without an answer to its retransmission; auto: the largest of
        /// 1 ms, the smoothed round-trip time with four mean deviations, and the round-trip time through one
        /// full queue that trims in each direction
        pub rto: Option<Span> = "auto", KeywordOr("auto", POSITIVE_TIME);
    }
}

/// Reads the parameters. The caller rejects unknown keys.
pub(crate) fn read(reader: &Reader, _: Defaults) -> Result<Params, ConfigError> {
    Params::read(reader)
}
