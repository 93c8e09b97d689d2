//! Calls of `ip`, and the text of the routes that `ip` prints.

use crate::sys;
use std::io;

/// Output of `ip` with these arguments, in the network namespace of the calling thread.
/// Fails if `ip` fails or is missing.
pub(super) fn ip(arguments: &str, input: &str) -> io::Result<String> {
    let arguments: Vec<&str> = arguments.split(' ').collect();
    sys::iproute2("ip", &arguments, input)
}

/// Words of a route without its flags and without the lock of rto_min, which `ip` prints but does not accept.
pub(super) fn words_of(line: &str) -> Vec<&str> {
    const FLAGS: [&str; 5] = ["linkdown", "dead", "offload", "trap", "rt_offload"];
    let mut words: Vec<&str> = line.split_whitespace().filter(|word| !FLAGS.contains(word)).collect();
    if let Some(at) = words.windows(2).position(|pair| pair == ["rto_min", "lock"]) {
        words.remove(at + 1);
    }
    words
}

/// True for a route with a type, such as `unreachable`. `ip` prints no type for routes to other hosts.
pub(super) fn is_typed(words: &[&str]) -> bool {
    let starts_low = |word: &&str| word.starts_with(|first: char| first.is_ascii_lowercase());
    // An IPv6 address may start with a letter.
    words.first().is_some_and(|word| starts_low(word) && *word != "default" && !word.contains(':'))
}

/// The words without `keys` and their values.
pub(super) fn without(keys: &[&str], words: &[&str]) -> String {
    let mut words = words.iter().copied().peekable();
    let mut kept = Vec::new();
    while let Some(word) = words.next() {
        if keys.contains(&word) {
            words.next_if_eq(&"lock");
            words.next();
        } else {
            kept.push(word);
        }
    }
    kept.join(" ")
}

/// The value of `key` in a route.
pub(super) fn value_of<'a>(key: &str, words: &[&'a str]) -> Option<&'a str> {
    words.iter().skip_while(|word| **word != key).skip(1).find(|word| **word != "lock").copied()
}
