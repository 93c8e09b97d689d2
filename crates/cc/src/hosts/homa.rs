//! Parameters of Homa's hosts. The protocol and its sources are in the simulator's module `homa`.

use super::{Defaults, HostInfo};
use shortflow_spec::{
    ANY_SIZE, ConfigError, KeywordOr, POSITIVE_TIME, RISING_SIZES, Reader, RisingSizes, keys, words,
};
use shortflow_units::{Bytes, Span};

/// Registry entry.
pub const INFO: HostInfo =
    HostInfo { takes_laws: false, by_message: true, sets_priority: true, takes_trimmed: false };

words! {
    /// Limit of the bytes of a message that are granted and have not arrived.
    pub enum GrantWindow {
        /// The segments that fill the path, for each message by itself (§3.3 of the paper).
        Path = "path",
        /// A share of `incoming`: incoming / (number of granted messages + 1), as in Linux.
        Dynamic = "dynamic",
    }
}

keys! {
    /// Parameters of unscheduled bytes, grants and priorities.
    #[derive(Copy)]
    pub struct Params {
        /// bytes of a message that its sender sends without a grant; auto: the segments that fill the path (RTTbytes)
        pub unscheduled: Option<Bytes> = "auto", KeywordOr("auto", ANY_SIZE);
        /// number of messages to which a host sends grants at a time; auto: the number of priorities of granted packets
        pub overcommit: Option<u32> = "auto", KeywordOr("auto", 1..=64u32);
        /// message sizes above which unscheduled packets have the next lower priority
        pub cutoffs: RisingSizes = "200B,2800B,15000B", RISING_SIZES;
        /// limit of the bytes of a message that are granted and have not arrived
        pub window: GrantWindow = "path", GrantWindow::WORDS;
        /// limit of the bytes that a host has granted to all senders and that have not arrived; auto: ten times
        /// unscheduled
        pub incoming: Option<Bytes> = "auto", KeywordOr("auto", ANY_SIZE), acts: window == dynamic;
        /// time without a packet of a message after which the receiver requests its missing bytes again
        pub resend: Span = "5ms", POSITIVE_TIME;
    }
}

/// Reads the parameters. The caller rejects unknown keys.
pub(crate) fn read(reader: &Reader, _: Defaults) -> Result<Params, ConfigError> {
    Params::read(reader)
}
