//! Hints for unknown names, and counts with nouns.

use crate::error::ConfigError;
use std::cmp::Reverse;

/// A count with its noun: `1 row`, `2 rows`.
pub fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// Hint for an unknown `name`: the nearest `known` name, or all of them.
pub fn hint(name: &str, known: &[&str]) -> String {
    let quoted: Vec<String> = meant(name, known).iter().map(|each| format!("{each:?}")).collect();
    match quoted.split_last() {
        Some((one, [])) => format!("did you mean {one}?"),
        Some((last, others)) => format!("did you mean {} or {last}?", others.join(", ")),
        None if known.is_empty() => "no name is valid here".to_owned(),
        None => format!("known are {}", known.join(", ")),
    }
}

/// Earlier names of keys, with their present names.
const RENAMED: [(&str, &str); 1] = [("gaps", "interarrival")];

/// Present name of a renamed key.
pub(crate) fn renamed(key: &str) -> Option<&'static str> {
    RENAMED.iter().find(|(earlier, _)| *earlier == key).map(|(_, name)| *name)
}

/// Error for a `key` that is not `known`; `path` makes whole paths of keys.
pub(crate) fn unknown_key(key: &str, known: &[&str], path: impl Fn(&str) -> String) -> ConfigError {
    let hint = match renamed(key).filter(|name| known.contains(name)).or_else(|| nearest(key, known)) {
        Some(candidate) => format!("did you mean {:?}?", path(candidate)),
        None => hint(key, known),
    };
    ConfigError::Unknown { key: path(key), what: "key", hint }
}

/// Smallest Jaro–Winkler similarity at which one name may mean another.
const ALIKE: f64 = 0.7;
/// Largest number of suggested names.
const SUGGESTED: usize = 3;

/// The name in `known` that `name` most likely means, if any is similar.
pub fn nearest<'k>(name: &str, known: &[&'k str]) -> Option<&'k str> {
    meant(name, known).first().copied()
}

/// Names in `known` that `name` may mean, by the first rule that finds any: a misspelling, with one edit per three
/// letters (a swap of two letters is one edit); a name whose words are all in `name` (`cubic` in `tcp-cubic`); names
/// that contain all words of `name` (`p99` in `p99_short_s`); the most similar name.
pub fn meant<'k>(name: &str, known: &[&'k str]) -> Vec<&'k str> {
    let name = &name.to_lowercase();
    let letters = |text: &str| text.chars().count();
    let words = |text: &str| -> Vec<String> {
        text.to_lowercase().split(|letter: char| !letter.is_alphanumeric()).map(str::to_owned).collect()
    };
    let edits = |each: &str| strsim::osa_distance(name, &each.to_lowercase());
    let likeness = |each: &str| strsim::jaro_winkler(name, &each.to_lowercase());
    let some = |each: Option<&'k str>| each.map(|each| vec![each]);
    let each = || known.iter().copied();

    let misspelt = || {
        let near = each().filter(|each| edits(each) <= letters(name) / 3);
        // With equal edits, a name with the same beginning is likelier: ends are mistyped more often.
        let alike = |each: &str| name.chars().zip(each.chars()).take_while(|(a, b)| a == b).count();
        some(near.min_by_key(|each| (edits(each), Reverse(alike(each)))))
    };
    let of_name = words(name);
    let inside = || {
        let is_inside = |part: &[String]| of_name.windows(part.len().max(1)).any(|run| run == part);
        some(each().filter(|each| is_inside(&words(each))).max_by_key(|each| each.len()))
    };
    let around = || {
        let mut around: Vec<&str> =
            each().filter(|each| of_name.iter().all(|word| words(each).contains(word))).collect();
        around.sort_by_key(|each| each.len());
        around.truncate(SUGGESTED);
        Some(around).filter(|around| !around.is_empty())
    };
    let alike = || {
        let alike = each().filter(|each| likeness(each) > ALIKE);
        some(alike.max_by(|a, b| likeness(a).total_cmp(&likeness(b))))
    };
    misspelt().or_else(inside).or_else(around).or_else(alike).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hint_names_the_nearest_or_all() {
        let known = ["cwnd_floor", "initial_alpha"];
        assert_eq!(hint("cwnd_flor", &known), "did you mean \"cwnd_floor\"?");
        assert_eq!(hint("CWND_FLOOR", &known), "did you mean \"cwnd_floor\"?");
        assert_eq!(hint("xyz", &known), "known are cwnd_floor, initial_alpha");
        assert_eq!(hint("xyz", &[]), "no name is valid here");
    }

    #[test]
    fn a_known_word_in_a_name_is_meant_unless_it_is_mistyped() {
        let known = ["tcp", "tcp-ecn", "cubic", "dctcp", "l2dct-srpt", "l2dct"];
        assert_eq!(nearest("tcp-cubic", &known), Some("cubic"));
        assert_eq!(nearest("linux cubic", &known), Some("cubic"));
        assert_eq!(nearest("tcp-enc", &known), Some("tcp-ecn"));
        assert_eq!(nearest("l2dct-sprt", &known), Some("l2dct-srpt"));
        assert_eq!(
            nearest("tpc", &["pecn", "tcp", "dctcp"]),
            Some("tcp"),
            "two letters in turn are one mistake"
        );
        assert_eq!(nearest("rat", &["rtt", "rate"]), Some("rate"));
        assert_eq!(nearest("pec", &["tcp", "pecn", "dctcp"]), Some("pecn"));
        assert_eq!(
            meant("p99", &["p99_short_s", "p50_short_s", "p99_long_s"]),
            ["p99_long_s", "p99_short_s"]
        );
    }
}
