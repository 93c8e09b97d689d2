//! What to say about a name that is not known.

use crate::error::ConfigError;

/// What to say about an unknown `name`: the nearest of the `known` ones, or all of them.
pub fn hint(name: &str, known: &[&str]) -> String {
    match nearest(name, known) {
        Some(candidate) => format!("did you mean {candidate:?}?"),
        None if known.is_empty() => "there are none here".to_owned(),
        None => format!("known are {}", known.join(", ")),
    }
}

/// Keys with their earlier names.
const RENAMED: [(&str, &str); 1] = [("gaps", "interarrival")];

/// The present name of a key that had another one.
pub(crate) fn renamed(key: &str) -> Option<&'static str> {
    RENAMED.iter().find(|(earlier, _)| *earlier == key).map(|(_, name)| *name)
}

/// The error for a `key` that is not `known`; `path` makes whole paths of keys.
pub(crate) fn unknown_key(key: &str, known: &[&str], path: impl Fn(&str) -> String) -> ConfigError {
    let hint = match renamed(key).filter(|name| known.contains(name)).or_else(|| nearest(key, known)) {
        Some(candidate) => format!("did you mean {:?}?", path(candidate)),
        None => hint(key, known),
    };
    ConfigError::Unknown { key: path(key), what: "key", hint }
}

/// So alike are a name and what was mistyped of it.
const MISTYPED: f64 = 0.9;

/// The one of `known` that looks most like `name`, if any looks like it, or that is a word of it: `tcp-cubic` is `cubic`.
pub fn nearest<'k>(name: &str, known: &[&'k str]) -> Option<&'k str> {
    let name = &name.to_lowercase();
    let alike = known
        .iter()
        .map(|candidate| (strsim::jaro_winkler(name, candidate), *candidate))
        .filter(|(likeness, _)| *likeness > 0.7)
        .max_by(|a, b| a.0.total_cmp(&b.0));
    let word = || {
        let words = name.split(|letter: char| !letter.is_alphanumeric());
        words.filter_map(|word| known.iter().copied().find(|one| *one == word)).max_by_key(|word| word.len())
    };
    match alike {
        Some((likeness, candidate)) if likeness > MISTYPED => Some(candidate),
        _ => word().or(alike.map(|(_, candidate)| candidate)),
    }
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
        assert_eq!(hint("xyz", &[]), "there are none here");
    }

    #[test]
    fn a_known_word_in_a_name_is_meant_unless_it_is_mistyped() {
        let known = ["tcp", "tcp-ecn", "cubic", "dctcp", "l2dct-srpt", "l2dct"];
        assert_eq!(nearest("tcp-cubic", &known), Some("cubic"));
        assert_eq!(nearest("linux cubic", &known), Some("cubic"));
        assert_eq!(nearest("tcp-enc", &known), Some("tcp-ecn"));
        assert_eq!(nearest("l2dct-sprt", &known), Some("l2dct-srpt"));
    }
}
