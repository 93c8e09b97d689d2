//! Parameters in the form of the C structs of `bpf/laws`: 64-bit words, in the order of the registry.

use super::NAMES;
use shortflow_cc::TransportConfig;
use shortflow_spec::{ConfigError, ParamInfo, Shape};
use shortflow_units::Bytes;

/// Parameters without a field, with the values that the C laws have.
const FIXED: &[(&str, &str)] =
    &[("probing", "apart"), ("cut", "window"), ("regrowth", "segment"), ("loss_floor", "vwnd")];

/// Reason why a transport has no fixed-point form.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LawError {
    /// There is no fixed-point law of this name.
    #[error("{name} has no fixed-point law; controls with a fixed-point law are {}", NAMES.join(", "))]
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

/// Parameters of `config` as words of its C struct, without the keys that all senders have, which the kernel decides.
pub fn params(config: &TransportConfig) -> Result<Vec<u64>, LawError> {
    let name = config.info().name;
    if !NAMES.contains(&name) {
        return Err(LawError::NoLaw { name: name.to_owned() });
    }
    let no_form = |param: &ParamInfo| LawError::NoForm { name: param.name, value: param.default.clone() };
    in_struct(config).map(|param| word(param).ok_or_else(|| no_form(param))).collect()
}

/// Parameters with a field, in order, and parameters of [`FIXED`] with another value.
fn in_struct(config: &TransportConfig) -> impl Iterator<Item = &ParamInfo> {
    let of_law = config.params().iter().filter(|param| !TransportConfig::is_of_every_sender(param.name));
    of_law.filter(|param| !FIXED.contains(&(param.name, &*param.default)))
}

/// Value of a parameter as a word: numbers and bytes unchanged, words by their position, real numbers in units of
/// 2^-n.
fn word(param: &ParamInfo) -> Option<u64> {
    let (text, name) = (&*param.default, param.name);
    let position = |words: &[&str]| words.iter().position(|word| *word == text).map(|at| at as u64);
    match &param.shape {
        _ if FIXED.iter().any(|(fixed, _)| *fixed == name) => None,
        Shape::Whole { .. } => text.parse().ok(),
        Shape::Quantity { .. } => text.parse().ok().map(Bytes::get),
        Shape::Words(words) => position(words),
        Shape::Flag => position(&["false", "true"]),
        Shape::Real { .. } => {
            let bits = match name {
                "initial_alpha" => 60,
                "g" | "ns" | "nl" => 30,
                "cwnd_floor" | "w_min" | "w_max" | "w_low" | "w_high" | "clip_low" | "clip_high"
                | "expired" => 24,
                _ => return None,
            };
            Some((text.parse::<f64>().ok()? * 2f64.powi(bits)).round() as u64)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::FixedPoint;
    use super::*;

    fn config(name: &str) -> TransportConfig {
        TransportConfig::named(name).unwrap()
    }

    #[test]
    fn l2dct_as_its_struct_holds_it() {
        let unit = 1u64 << 24;
        let words = params(&config("l2dct")).unwrap();
        assert_eq!(words, [0, 5 * unit / 2, unit / 8, 200_000, 1_000_000, 1 << 26, 1 << 60, 2 * unit]);
    }

    /// A parameter that the registry gains or moves must be added or moved in the C struct too.
    #[test]
    fn every_parameter_of_every_law_has_a_field_of_its_name_and_place() {
        for name in NAMES {
            FixedPoint::new(&config(name)).unwrap();
            let path = format!("{}/src/bpf/laws/{name}.h", env!("CARGO_MANIFEST_DIR"));
            let header = std::fs::read_to_string(path).unwrap();
            let (_, fields) = header.split_once(&format!("struct {name}_params {{")).unwrap();
            let lines = fields.lines().take_while(|line| *line != "};").filter(|line| !line.is_empty());
            let names = lines.flat_map(|line| {
                let names = line.trim().strip_prefix("__u64 ").and_then(|rest| rest.split_once(';'));
                names.unwrap_or_else(|| panic!("{name}: {line}")).0.split(", ")
            });
            assert!(in_struct(&config(name)).map(|param| param.name).eq(names), "{name}");
        }
    }

    #[test]
    fn values_without_fixed_point_form_are_errors() {
        assert!(params(&config("cubic")).unwrap_err().to_string().contains("dctcp"));
        let each = TransportConfig::with("fast", [("cut", "ack")]).unwrap();
        assert_eq!(params(&each).unwrap_err().to_string(), "cut = ack has no fixed-point form");
    }
}
