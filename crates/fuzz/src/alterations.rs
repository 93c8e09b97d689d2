//! [`Alterations`]: an endless series of inputs near those of a corpus.

use crate::choices::Choices;

/// Words that change what a text means more often than random bytes do.
const WORDS: &[&[u8]] = &[
    b"0",
    b"1",
    b"-1",
    b"0.5",
    b"1e9",
    b"nan",
    b"inf",
    b"18446744073709551615",
    b"9223372036854775808",
    b"4294967296",
    b"ps",
    b"us",
    b"s",
    b"B",
    b"KB",
    b"GiB",
    b"pkt",
    b"Gbps",
    b"unlimited",
    b"auto",
    b"\"",
    b"'",
    b",",
    b"=",
    b"\n",
    b"[",
    b"]",
    b"{",
    b"}",
    b"<",
    b">",
    b"&",
    b"h0",
    b"s0",
    b"all",
    b"0-1",
    b"$",
    b"#",
    b"\xc3\xa9",
    b"\xff",
    b"true",
];

/// Alterations of one input, at most.
const MOST: u64 = 5;
/// A longer input is cut.
const LONGEST: usize = 4000;

/// Inputs that differ a little from those of a corpus.
#[derive(Debug)]
pub struct Alterations {
    seed: u64,
    corpus: Vec<Vec<u8>>,
    fresh: bool,
}

impl Alterations {
    /// The series that `seed` fixes. If `fresh`, every other input owes nothing to the corpus, and none
    /// more than the choices that its bytes make.
    pub fn new(seed: u64, corpus: Vec<Vec<u8>>, fresh: bool) -> Alterations {
        Alterations { seed: seed << 32, corpus, fresh }
    }

    /// The next input.
    #[expect(clippy::should_implement_trait, reason = "it never ends")]
    pub fn next(&mut self) -> Vec<u8> {
        self.seed += 1;
        let mut choices = Choices::numbered(self.seed);
        let seed = choices.within(0, u64::from(u32::MAX)) as u32;
        if self.fresh && choices.once_in(2) {
            return seed.to_be_bytes().to_vec();
        }
        let some = |choices: &mut Choices| match self.corpus.as_slice() {
            [] => Vec::new(),
            corpus => choices.pick(corpus).clone(),
        };
        let mut input = some(&mut choices);
        for _ in 0..choices.below(MOST + 1) {
            let other = some(&mut choices);
            alter(&mut input, &other, &mut choices);
        }
        input.truncate(LONGEST);
        if let (true, Some(front)) = (self.fresh, input.first_chunk_mut()) {
            *front = seed.to_be_bytes();
        }
        input
    }
}

fn alter(input: &mut Vec<u8>, other: &[u8], choices: &mut Choices) {
    let place = |choices: &mut Choices, input: &[u8]| choices.within(0, input.len() as u64) as usize;
    let (a, b) = (place(choices, input), place(choices, input));
    let (from, to) = (a.min(b), a.max(b).min(a.min(b) + 40));
    match choices.below(8) {
        0 => input.truncate(to),
        1 => drop(input.drain(from..to)),
        2 => input.extend_from_within(from..to),
        3 => {
            let tail = place(choices, other);
            input.truncate(from);
            input.extend_from_slice(&other[tail..]);
        }
        4 | 5 => {
            let word = *choices.pick(WORDS);
            let end = if choices.once_in(2) { to.min(from + word.len()) } else { from };
            drop(input.splice(from..end, word.iter().copied()));
        }
        6 => input.insert(from, choices.below(256) as u8),
        _ => {
            if let Some(byte) = input.get_mut(from) {
                *byte ^= 1 << choices.below(8);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_fixes_the_series_and_its_inputs_differ() {
        let series = |seed| {
            let mut inputs = Alterations::new(seed, vec![b"a,b\nh0,s0\n".to_vec(), b"c".to_vec()], false);
            (0..50).map(|_| inputs.next()).collect::<Vec<_>>()
        };
        assert_eq!(series(1), series(1));
        assert_ne!(series(1), series(2));
        let mut distinct = series(1);
        distinct.sort();
        distinct.dedup();
        assert!(distinct.len() > 25, "{distinct:?}");
    }
}
