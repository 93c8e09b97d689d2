//! [`Condition`]: the condition under which a key has an effect, as [`keys!`](crate::keys!) declares it.
//!
//! ```text
//! condition = choice { "||" choice }
//! choice    = clause { "&&" clause }
//! clause    = fact | key (">" | "==" | "!=") value
//! ```
//!
//! A key is the name of a key in the same table, or a whole path; a value may be such a key too. Rust's own parser
//! reads the condition as an expression, which is never evaluated.

use shortflow_units::{Bytes, Occupancy, Rate, Span};
use std::fmt;
use std::str::FromStr;

/// Facts about a whole run that conditions may use, each with the words that follow "acts only if".
pub const FACTS: &[(&str, &str)] = &[
    ("tcp_hosts", "a transport runs on TCP hosts"),
    ("timed_hosts", "a transport runs on TCP or RoCE hosts"),
    ("takes_initial_window", "a transport takes its first window from tcp.initial_window"),
    ("rack", "a transport recovers losses with RACK"),
    ("ecn", "flows send ECN-capable packets"),
    ("marking", "a queue or a fault marks packets"),
    ("marks", "a queue or a fault marks packets of ECN-capable flows"),
    ("alpha_counts", "a queue or a fault marks packets of ECN-capable flows, or samples record alpha"),
    ("has_threshold", "mark_above of a port is limited"),
    ("reads_threshold", "the queue discipline reads mark_above"),
    (
        "reads_curve",
        "the queue discipline is red with min = auto and curves = none, and mark_above of a port is limited",
    ),
    ("leaves_max", "a port has a limited mark_above and mark_all_above = auto"),
    ("leaves_max_p", "a port has a limited mark_above and mark_probability = auto"),
    ("deadlines", "flows have deadlines"),
    ("unknown_role", "a traffic class is neither short nor long by its name"),
    ("applications", "an application of the traffic waits for messages"),
    ("several_paths", "two hosts have several shortest paths between them"),
    ("flow_control", "a switch or a fault pauses data"),
    ("several_priorities", "a switch or a fault pauses data, and traffic entries differ in pfc_priority"),
    ("lossy_data", "a traffic entry has a pfc_priority outside switch.lossless"),
    ("finite_flows", "flows have a finite size"),
    ("default_drain", "flows have a finite size and drain is not given"),
    ("model_decides", "host.small_queue is auto, or tcp.growth is auto and small queues are on"),
    ("links_without_rate", "the file gives no rate for a link"),
    ("links_without_delay", "the file gives no delay for a link"),
    ("packets", "packets are simulated"),
];

/// The text of a condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Condition(pub &'static str);

/// A key that was set but has no effect, with the condition that is not met.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Idle {
    /// Path of the key, or words for a part of the scheme.
    pub key: String,
    /// The words that follow "acts only if".
    pub acts_if: String,
}

impl Condition {
    /// The unmet part of the condition, in words; `None` if the condition holds. `value` returns facts as `true` or
    /// `false`, and keys by their values. An unknown fact counts as true, an absent key as empty. `path` makes whole
    /// paths of keys.
    pub fn unmet(
        self,
        value: &dyn Fn(&str) -> Option<String>,
        path: &dyn Fn(&str) -> String,
    ) -> Option<String> {
        let mut unmet: Vec<Vec<String>> = Vec::new();
        for choice in self.choices() {
            let failing: Vec<String> =
                choice.filter(|clause| !clause.holds(value)).map(|clause| clause.words(path)).collect();
            if failing.is_empty() {
                return None;
            }
            // "a or a and b" is "a".
            let implies = |one: &[String], other: &[String]| other.iter().all(|words| one.contains(words));
            if !unmet.iter().any(|other| implies(&failing, other)) {
                unmet.retain(|other| !implies(other, &failing));
                unmet.push(failing);
            }
        }
        Some(unmet.iter().map(|failing| failing.join(" and ")).collect::<Vec<_>>().join(" or "))
    }

    /// Names of the facts and keys in the condition.
    pub fn names(self) -> Vec<&'static str> {
        self.choices().flatten().map(|clause| clause.name).collect()
    }

    fn choices(self) -> impl Iterator<Item = impl Iterator<Item = Clause>> {
        self.0.split("||").map(|choice| choice.split("&&").map(Clause::read))
    }
}

/// The condition in words, with keys by their written names.
impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let choice = |clauses: Vec<String>| clauses.join(" and ");
        let choices = self
            .choices()
            .map(|clauses| choice(clauses.map(|clause| clause.words(&str::to_owned)).collect()));
        f.write_str(&choices.collect::<Vec<_>>().join(" or "))
    }
}

/// A fact, or a key compared with a value.
struct Clause {
    name: &'static str,
    than: Option<(&'static str, &'static str)>,
}

impl Clause {
    fn read(text: &'static str) -> Clause {
        let split = |sign| text.split_once(sign).map(|(name, value)| (name, sign, value));
        let found = ["!=", "==", ">"].into_iter().find_map(split);
        let (name, than) = match found {
            Some((name, sign, value)) => (name, Some((sign, value.trim().trim_matches('"')))),
            None => (text, None),
        };
        Clause { name: name.trim(), than }
    }

    fn holds(&self, value: &dyn Fn(&str) -> Option<String>) -> bool {
        let found = value(self.name);
        let Some((sign, than)) = self.than else { return found.is_none_or(|holds| holds == "true") };
        let found = found.unwrap_or_default();
        let than = value(than).unwrap_or_else(|| than.to_owned());
        match sign {
            ">" => leading_number(&found) > leading_number(&than),
            "==" => is_same(&found, &than),
            _ => !is_same(&found, &than),
        }
    }

    fn words(&self, path: &dyn Fn(&str) -> String) -> String {
        let fact = FACTS.iter().find(|(name, _)| *name == self.name);
        match (fact, self.than) {
            (Some((_, words)), _) => (*words).to_owned(),
            (None, Some(("!=", ""))) => format!("{} is given", path(self.name)),
            (None, Some((sign, than))) => {
                let sign = match sign {
                    "==" => "is",
                    "!=" => "is not",
                    _ => "is above",
                };
                format!("{} {sign} {than}", path(self.name))
            }
            (None, None) => self.name.to_owned(),
        }
    }
}

/// True if two texts have the same value, such as 1000KB and 1MB.
fn is_same(one: &str, other: &str) -> bool {
    fn as_one<T: FromStr + PartialEq>(one: &str, other: &str) -> bool {
        one.parse::<T>().is_ok_and(|one| other.parse::<T>().is_ok_and(|other| one == other))
    }
    let kinds = [as_one::<f64>, as_one::<Bytes>, as_one::<Span>, as_one::<Rate>, as_one::<Occupancy>];
    one == other || kinds.iter().any(|is_same| is_same(one, other))
}

/// The number at the beginning of a quantity.
fn leading_number(text: &str) -> f64 {
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    text[..end].parse().unwrap_or(f64::INFINITY)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unmet(condition: &'static str) -> Option<String> {
        let value = |name: &str| {
            let known = [
                ("tcp_hosts", "false"),
                ("ecn", "true"),
                ("ack_every", "1"),
                ("stalls", "0.5"),
                ("t1", "5us"),
            ];
            known.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
        };
        Condition(condition).unmet(&value, &|key| format!("tcp.{key}"))
    }

    /// Values are compared across units.
    #[test]
    fn values_are_compared_and_not_their_texts() {
        let pairs = [("1000KB", "1MB"), ("1000us", "1ms"), ("0.10", "0.1"), ("1000Mbps", "1Gbps")];
        for (one, other) in pairs {
            let value = |name: &str| match name {
                "t1" => Some(one.to_owned()),
                "t2" => Some(other.to_owned()),
                _ => None,
            };
            assert!(Condition("t1 != t2").unmet(&value, &str::to_owned).is_some(), "{one} {other}");
            assert_eq!(Condition("t1 == t2").unmet(&value, &str::to_owned), None, "{one} {other}");
        }
        let value = |name: &str| (name == "t1").then(|| "1MB".to_owned());
        assert_eq!(Condition("t1 != 1KB").unmet(&value, &str::to_owned), None);
    }

    #[test]
    fn the_unmet_part_is_returned() {
        assert_eq!(unmet("ecn && stalls > 0 && t1 != t2 && t1 == \"5us\" && unknown"), None);
        assert_eq!(unmet("ecn && ack_every > 1").as_deref(), Some("tcp.ack_every is above 1"));
        assert_eq!(unmet("tcp_hosts || t1 > 0"), None);
        let both = "a transport runs on TCP hosts or tcp.ack_every is above 1 and tcp.t1 is not 5us";
        assert_eq!(unmet("tcp_hosts || ack_every > 1 && t1 != \"5us\"").as_deref(), Some(both));
        assert_eq!(
            unmet("ack_every > 1 && tcp_hosts || ack_every > 1").as_deref(),
            Some("tcp.ack_every is above 1")
        );
        assert_eq!(unmet("tcp_hosts || tcp_hosts && hot").as_deref(), Some("a transport runs on TCP hosts"));
        let words = "ack_every is above 1 and a transport runs on TCP hosts or hot is given";
        assert_eq!(Condition("ack_every > 1 && tcp_hosts || hot != \"\"").to_string(), words);
    }
}
