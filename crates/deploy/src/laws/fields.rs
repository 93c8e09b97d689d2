//! Parameters as the C structs of `bpf/laws` hold them: 64-bit words, in the order of their fields.

use shortflow_cc::TransportConfig;
use shortflow_spec::ConfigError;
use shortflow_units::Bytes;

/// Unit of a parameter in its field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unit {
    /// The number itself.
    Count,
    /// Bytes.
    Size,
    /// A real number in units of 2^-n.
    Real(u32),
    /// The position of the word in this list.
    Choice(&'static [&'static str]),
}

const SEGMENTS: Unit = Unit::Real(24);
const FACTOR: Unit = Unit::Real(30);
const ALPHA: Unit = Unit::Real(60);

type Field = (&'static str, Unit);

const DCTCP: &[Field] = &[("g", FACTOR), ("initial_alpha", ALPHA), ("cwnd_floor", SEGMENTS)];

const D2TCP: &[Field] = &[
    ("clip_low", SEGMENTS),
    ("clip_high", SEGMENTS),
    ("expired", SEGMENTS),
    ("g", FACTOR),
    ("initial_alpha", ALPHA),
    ("cwnd_floor", SEGMENTS),
];

const L2DCT: &[Field] = &[
    ("profile", Unit::Choice(&["las", "srpt", "ps"])),
    ("w_max", SEGMENTS),
    ("w_min", SEGMENTS),
    ("knee_low", Unit::Size),
    ("knee_high", Unit::Size),
    ("g", FACTOR),
    ("initial_alpha", ALPHA),
    ("cwnd_floor", SEGMENTS),
];

const XDCTCP: &[Field] = &[
    ("ns", FACTOR),
    ("nl", FACTOR),
    ("classify", Unit::Choice(&["role", "bytes"])),
    ("threshold", Unit::Size),
    ("g", FACTOR),
    ("initial_alpha", ALPHA),
    ("cwnd_floor", SEGMENTS),
];

const ATCP: &[Field] = &[
    ("w_high", SEGMENTS),
    ("w_low", SEGMENTS),
    ("t1", Unit::Size),
    ("t2", Unit::Size),
    ("middle", Unit::Choice(&["linear", "exponential"])),
    ("base", Unit::Choice(&["tcp", "dctcp"])),
    ("g", FACTOR),
    ("initial_alpha", ALPHA),
    ("cwnd_floor", SEGMENTS),
];

const FAST: &[Field] = &[
    ("probes", Unit::Count),
    ("w_min", SEGMENTS),
    ("min_segment", Unit::Size),
    ("nagle", Unit::Choice(&["false", "true"])),
    ("g", FACTOR),
    ("initial_alpha", ALPHA),
];

/// Parameters without a field: the values that the C laws have.
const FIXED: &[(&str, &str)] =
    &[("probing", "apart"), ("cut", "window"), ("regrowth", "segment"), ("loss_floor", "vwnd")];

/// Why a transport has no fixed-point form.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LawError {
    /// There is none of that name.
    #[error("{name} has no fixed-point law; these have one: {}", super::NAMES.join(", "))]
    NoLaw {
        /// The transport.
        name: String,
    },
    /// Parameters that contradict each other.
    #[error(transparent)]
    Params(#[from] ConfigError),
    /// A parameter that the C struct does not have, or a value that it cannot hold.
    #[error("{name} = {value} has no fixed-point form")]
    NoForm {
        /// The parameter.
        name: &'static str,
        /// Its value.
        value: String,
    },
}

/// The parameters of `config` as words of its C struct, without the keys of all senders, which the kernel has.
pub fn params(config: &TransportConfig) -> Result<Vec<u64>, LawError> {
    let name = config.info().name;
    let fields = match name {
        "dctcp" => DCTCP,
        "d2tcp" => D2TCP,
        "l2dct" => L2DCT,
        "xdctcp" => XDCTCP,
        "atcp" => ATCP,
        "fast" => FAST,
        _ => return Err(LawError::NoLaw { name: name.to_owned() }),
    };
    let given = config.params();
    let of_law = given.iter().filter(|param| !TransportConfig::is_of_every_sender(param.name));
    let is_told =
        |name, value| fields.iter().any(|(field, _)| *field == name) || FIXED.contains(&(name, value));
    if let Some(param) = of_law.clone().find(|param| !is_told(param.name, &*param.default)) {
        return Err(LawError::NoForm { name: param.name, value: param.default.clone() });
    }
    fields
        .iter()
        .map(|(name, unit)| {
            let text = of_law.clone().find(|param| param.name == *name).map_or("", |param| &*param.default);
            word(text, *unit).ok_or_else(|| LawError::NoForm { name, value: text.to_owned() })
        })
        .collect()
}

fn word(text: &str, unit: Unit) -> Option<u64> {
    match unit {
        Unit::Count => text.parse().ok(),
        Unit::Size => text.parse().ok().map(Bytes::get),
        Unit::Real(bits) => {
            let value: f64 = text.parse().ok()?;
            Some((value * 2f64.powi(bits as i32)).round() as u64)
        }
        Unit::Choice(words) => words.iter().position(|word| *word == text).map(|at| at as u64),
    }
}

#[cfg(test)]
mod tests {
    use super::super::NAMES;
    use super::*;

    fn config(name: &str) -> TransportConfig {
        TransportConfig::named(name).unwrap()
    }

    #[test]
    fn l2dct_as_its_struct_holds_it() {
        let unit = 1u64 << 24;
        let words = params(&config("l2dct")).unwrap();
        assert_eq!(words, [0, 5 * unit / 2, unit / 8, 200_000, 1_000_000, 1 << 26, 0, unit]);
    }

    /// A parameter that the registry gains must be told to the C struct too.
    #[test]
    fn every_parameter_of_every_law_has_a_field() {
        for name in NAMES {
            params(&config(name)).unwrap();
        }
    }

    #[test]
    fn what_has_no_fixed_point_form_is_said() {
        assert!(params(&config("cubic")).unwrap_err().to_string().contains("dctcp"));
        let each = TransportConfig::with("fast", [("cut", "ack")]).unwrap();
        assert_eq!(params(&each).unwrap_err().to_string(), "cut = ack has no fixed-point form");
    }
}
