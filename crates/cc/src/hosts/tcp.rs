//! Parameters of TCP's hosts: loss recovery and ECN. The defaults of `recovery` and `ecn` depend on the
//! transport.

use super::{Defaults, HostInfo};
use crate::{Ecn, Recovery};
use shortflow_spec::{Condition, ConfigError, Format, ParamInfo, Reader};
use std::ops::RangeInclusive;

/// Registry entry.
pub const INFO: HostInfo =
    HostInfo { takes_laws: true, by_message: false, sets_priority: false, takes_trimmed: false };

/// At least 2, because each segment that another segment overtakes causes one duplicate ACK.
const DUPTHRESH: RangeInclusive<u32> = 2..=1_000_000;
const DUPTHRESH_DEFAULT: &str = "3";
const ECN_ACTS: Condition = Condition("marking");

/// Loss recovery and ECN behaviour in use.
#[derive(Debug, Clone, Copy)]
pub struct Params {
    /// Loss recovery.
    pub recovery: Recovery,
    /// Number of duplicate ACKs, or of segments SACKed above a hole, that signals a loss.
    pub dupthresh: u32,
    /// ECN behaviour of both ends.
    pub ecn: Ecn,
}

impl Params {
    /// Descriptions of the keys, for users.
    pub(crate) fn parameters() -> Vec<ParamInfo> {
        vec![
            ParamInfo::new(
                "recovery",
                "",
                Recovery::WORDS.shape(),
                "loss recovery: RFC 6582, RFC 6675, or RACK-TLP of RFC 8985",
            ),
            ParamInfo::new(
                "dupthresh",
                DUPTHRESH_DEFAULT,
                DUPTHRESH.shape(),
                "duplicate ACKs, or segments SACKed above a hole, that signal a loss; packets reordered further look lost",
            ),
            ParamInfo::new("ecn", "", Ecn::WORDS.shape(), "ECN behaviour of sender and receiver")
                .that_acts(ECN_ACTS),
        ]
    }
}

/// Reads the parameters. The caller rejects unknown keys.
pub(crate) fn read(reader: &Reader, defaults: Defaults) -> Result<Params, ConfigError> {
    let params = Params {
        recovery: reader.or("recovery", defaults.recovery.word(), &Recovery::WORDS)?,
        dupthresh: reader.or("dupthresh", DUPTHRESH_DEFAULT, &DUPTHRESH)?,
        ecn: reader.or("ecn", defaults.ecn.word(), &Ecn::WORDS)?,
    };
    reader.acts("ecn", ECN_ACTS);
    Ok(params)
}
