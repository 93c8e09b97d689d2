//! The fixed-point laws of the eBPF congestion controls: their parameters, and their native execution.

mod fields;
mod native;

pub use fields::{LawError, params};
pub use native::{FixedPoint, exp2_neg, log2_fixed, power, priority_dscp, priority_label, role_number};

use crate::Failure;
use shortflow_spec::{hint, nearest};

include!("names.rs");
/// Prefix of every registered name; it keeps them apart from the host's own congestion controls.
pub const PREFIX: &str = "sf_";

/// Names of the congestion controls in the kernel.
pub fn kernel_names() -> [String; NAMES.len()] {
    NAMES.map(|name| format!("{PREFIX}{name}"))
}

/// The transport called `name`, with or without the prefix.
/// An unknown name is an error that suggests a similar name, with the prefix if `name` has one.
pub fn transport_named(name: &str) -> Result<&'static str, Failure> {
    let short = name.strip_prefix(PREFIX);
    let found = NAMES.into_iter().find(|known| *known == short.unwrap_or(name));
    let near = || match short.and_then(|short| nearest(short, &NAMES)) {
        Some(near) => hint(name, &[&format!("{PREFIX}{near}")]),
        None => hint(name, &NAMES),
    };
    found.ok_or_else(|| Failure::Input(format!("no eBPF congestion control {name:?}; {}", near())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_names_of_a_transport_are_known_and_others_get_a_hint() {
        assert_eq!([transport_named("sf_l2dct"), transport_named("dctcp")], [Ok("l2dct"), Ok("dctcp")]);
        for (name, near) in [("sf_dctpc", "did you mean \"sf_dctcp\"?"), ("dctpc", "did you mean \"dctcp\"?")]
        {
            let wanted = format!("no eBPF congestion control {name:?}; {near}");
            assert_eq!(transport_named(name), Err(Failure::Input(wanted)));
        }
    }
}
