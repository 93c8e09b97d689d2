//! [`Occupancy`]: queue size in packets or bytes.

use crate::Bytes;
use crate::text::{self, UnitError};
use std::fmt;
use std::str::FromStr;

/// A queue limit or threshold. The scenario chooses between packets and bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Occupancy {
    /// Whole packets of any size.
    Packets(u32),
    /// Bytes on the wire, headers included.
    Bytes(Bytes),
    /// No limit.
    Unlimited,
}

impl FromStr for Occupancy {
    type Err = UnitError;
    fn from_str(input: &str) -> Result<Occupancy, UnitError> {
        let expected = "a queue size such as \"250pkt\", \"100KB\" or \"unlimited\"";
        let wrong = || UnitError::new(input, expected);
        if input.trim() == "unlimited" {
            return Ok(Occupancy::Unlimited);
        }
        if input.trim().ends_with("pkt") {
            let packets = text::parse(input, &[("pkt", 1)], expected)?;
            return u32::try_from(packets).map(Occupancy::Packets).map_err(|_| wrong());
        }
        input.parse().map(Occupancy::Bytes).map_err(|_: UnitError| wrong())
    }
}

impl fmt::Display for Occupancy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Occupancy::Packets(packets) => write!(f, "{packets}pkt"),
            Occupancy::Bytes(bytes) => bytes.fmt(f),
            Occupancy::Unlimited => f.write_str("unlimited"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_name_the_unit() {
        assert_eq!("250pkt".parse(), Ok(Occupancy::Packets(250)));
        assert_eq!("100KB".parse(), Ok(Occupancy::Bytes(Bytes::new(100_000))));
        assert_eq!("unlimited".parse(), Ok(Occupancy::Unlimited));
        for wrong in ["250", "-1pkt", "1.5pkt", "99999999999pkt"] {
            let error = wrong.parse::<Occupancy>().unwrap_err().to_string();
            assert!(error.contains("250pkt") && error.contains(wrong), "{error}");
        }
    }
}
