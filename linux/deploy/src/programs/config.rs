//! Parameters of our congestion controls, and the text that `status` shows of them.

use super::pins::{CONFIG, PREFIX, Pins, failure_of};
use crate::{Failure, laws};
use libbpf_rs::{MapCore, MapFlags, MapHandle};
use shortflow_cc::{Ecn, TransportConfig};
use shortflow_spec::hint;
use std::collections::BTreeSet;

/// Size of `config.text` in sender.bpf.c.
pub(super) const TEXT: usize = 256;

/// The transport `name` with parameters `key=value`. Keys that the kernel decides, such as `recovery`, are refused.
/// Errors about keys and values name what was expected.
pub fn configure(name: &str, params: &[(String, String)]) -> Result<TransportConfig, Failure> {
    let wrong = |key: &str, why: &str| Failure::Input(format!("--param {key}: {why}"));
    let plain = TransportConfig::named(name).map_err(|error| Failure::Input(error.to_string()))?;
    let names = plain.params().iter().map(|param| param.name);
    let settable: Vec<&str> = names.filter(|name| !OF_KERNEL.contains(name)).collect();
    for (key, value) in params {
        match (key.as_str(), value.as_str()) {
            (name, _) if OF_KERNEL.contains(&name) => {
                return Err(wrong(key, "the kernel uses its own loss recovery"));
            }
            ("ecn", "classic") => {
                return Err(wrong(key, "expected exact or off, because the receiver echoes every mark"));
            }
            (key, _) if !settable.contains(&key) => {
                let known = hint(key, &settable);
                return Err(wrong(key, &format!("{PREFIX}{name} has no such parameter; {known}")));
            }
            _ => {}
        }
    }
    let given = params.iter().map(|(key, value)| (&**key, &**value));
    TransportConfig::with(name, given).map_err(|error| Failure::Input(format!("--param {error}")))
}

/// Keys of senders that the kernel decides.
const OF_KERNEL: [&str; 2] = ["recovery", "dupthresh"];

/// Names that `--param` accepts, over all transports.
pub fn parameter_names() -> Vec<String> {
    let configs = laws::NAMES.into_iter().filter_map(|name| TransportConfig::named(name).ok());
    let names = configs.flat_map(|config| config.params().to_vec()).map(|param| param.name);
    let settable: BTreeSet<&str> = names.filter(|name| !OF_KERNEL.contains(name)).collect();
    settable.into_iter().map(|name| format!("{name}=")).collect()
}

/// Name of a transport in the kernel.
pub fn kernel_name(config: &TransportConfig) -> String {
    format!("{PREFIX}{}", config.info().name)
}

/// Parameters as text, which `status` shows.
pub(super) fn text_of(config: &TransportConfig) -> String {
    let shown = config.params().iter().filter(|param| !OF_KERNEL.contains(&param.name));
    shown.map(|param| format!("{}={}", param.name, param.default)).collect::<Vec<_>>().join(" ")
}

/// True if the sender needs marks; connections without ECN then fall back to another congestion control.
pub(super) fn needs_ecn(config: &TransportConfig) -> bool {
    config.ecn() != Ecn::Off
}

/// Text of the parameters with which `name` was loaded.
pub fn loaded_text(pins: &Pins, name: &str) -> Result<String, Failure> {
    let map = MapHandle::from_pinned_path(pins.path(name).join(CONFIG)).map_err(failure_of(name))?;
    let value = map.lookup(&0u32.to_ne_bytes(), MapFlags::ANY).map_err(failure_of(name))?;
    let text = value.unwrap_or_default();
    let end = text.iter().take(TEXT).position(|byte| *byte == 0).unwrap_or(0);
    Ok(String::from_utf8_lossy(&text[..end]).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(name: &str, key: &str, value: &str) -> String {
        configure(name, &[(key.to_owned(), value.to_owned())]).unwrap_err().to_string()
    }

    #[test]
    fn errors_on_parameters_name_the_expected_value() {
        assert!(refusal("dctcp", "gg", "1").contains("\"g\""));
        assert!(refusal("dctcp", "g", "2").contains("0 to 1"));
        assert!(refusal("l2dct", "w_min", "3").contains("w_max"));
        assert!(refusal("fast", "recovery", "sack").contains("kernel"));
        let lacking = refusal("dctcp", "clip_low", "0.7");
        assert!(lacking.contains("sf_dctcp has no such") && !lacking.contains("recovery"), "{lacking}");
    }

    #[test]
    fn the_smallest_window_is_two_segments_by_default() {
        let text = |params: &[(&str, &str)]| {
            let owned: Vec<_> = params.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
            text_of(&configure("dctcp", &owned).unwrap())
        };
        assert_eq!(text(&[]), "g=0.0625 initial_alpha=1 cwnd_floor=2 ecn=exact");
        assert_eq!(text(&[("cwnd_floor", "1")]), "g=0.0625 initial_alpha=1 cwnd_floor=1 ecn=exact");
    }

    #[test]
    fn every_law_fits_into_the_text_of_its_program() {
        for name in laws::NAMES {
            assert!(text_of(&configure(name, &[]).unwrap()).len() < 200, "{name}");
        }
    }
}
