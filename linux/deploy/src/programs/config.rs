//! Parameters of our congestion controls, and the text that `status` shows of them.

use super::pins::{CONFIG, PREFIX, Pins, failure_of};
use crate::{Failure, laws};
use libbpf_rs::{MapCore, MapFlags, MapHandle};
use shortflow_cc::{Ecn, TransportConfig};
use shortflow_spec::hint;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

/// Size of `config.text` in sender.bpf.c.
pub(super) const TEXT: usize = 256;

/// Text behind the parameters of a restricted program.
pub(super) const RESTRICTED: &str = " restricted=yes";

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

/// Differences between two texts of parameters, such as `g 0.25 → 0.0625, restricted yes → no`. Segments and
/// restriction are in a text only if they are set.
pub fn changes(before: &str, after: &str) -> Vec<String> {
    let pairs = |text: &str| -> BTreeMap<String, String> {
        let pairs = text.split(' ').filter_map(|pair| pair.split_once('='));
        pairs.map(|(key, value)| (key.to_owned(), value.to_owned())).collect()
    };
    let (before, after) = (pairs(before), pairs(after));
    let keys: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let value = |of: &BTreeMap<String, String>, key: &str| of.get(key).map_or("no", |value| value).to_owned();
    let change = |key: &String| {
        let [from, to] = [value(&before, key), value(&after, key)];
        (from != to).then(|| format!("{key} {from} → {to}"))
    };
    keys.into_iter().filter_map(change).collect()
}

/// True if a program with these parameters was loaded for administrators alone.
pub fn is_restricted(text: &str) -> bool {
    text.contains(RESTRICTED)
}

/// True if every user may choose the control `name`, by the kernel's list.
pub fn is_open_to_all(name: &str) -> bool {
    const ALLOWED: &str = "/proc/sys/net/ipv4/tcp_allowed_congestion_control";
    fs::read_to_string(ALLOWED).unwrap_or_default().split_whitespace().any(|other| other == name)
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
    fn changes_name_both_values() {
        let before = "g=0.25 ecn=exact restricted=yes segments=eth0";
        assert_eq!(
            changes(before, "g=0.0625 ecn=exact"),
            ["g 0.25 → 0.0625", "restricted yes → no", "segments eth0 → no"]
        );
        assert_eq!(changes("g=1", "g=1"), [""; 0]);
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
