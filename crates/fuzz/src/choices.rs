//! [`Choices`]: an input, read as a series of choices.

/// Choices from the bytes of an input. After the last byte, pseudo-random numbers seeded by the first bytes continue.
/// So a short input gives a whole scenario too, and each byte changes little.
#[derive(Debug)]
pub(crate) struct Choices<'a> {
    bytes: &'a [u8],
    state: u64,
}

/// First bytes of an input, which seed the choices after its end.
const SEED: usize = 4;

impl<'a> Choices<'a> {
    /// The choices of `input`.
    pub(crate) fn new(input: &'a [u8]) -> Choices<'a> {
        let (seed, bytes) = input.split_at(input.len().min(SEED));
        let state = seed.iter().fold(0, |state, byte| state << 8 | u64::from(*byte));
        Choices { bytes, state }
    }

    /// Choices of a number; no two numbers give the same choices.
    pub(crate) fn numbered(number: u64) -> Choices<'static> {
        Choices { bytes: &[], state: number.wrapping_mul(0xd134_2543_de82_ef95) }
    }

    fn byte(&mut self) -> u8 {
        match self.bytes.split_first() {
            Some((byte, rest)) => {
                self.bytes = rest;
                *byte
            }
            None => (self.generate() >> 56) as u8,
        }
    }

    /// SplitMix64.
    fn generate(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `n`, which must not be 0. Consumes as few bytes as `n` needs.
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        let mut number = 0;
        let mut largest = n - 1;
        while largest > 0 {
            number = number << 8 | u64::from(self.byte());
            largest >>= 8;
        }
        number % n
    }

    /// A number from `low` to `high`.
    pub(crate) fn within(&mut self, low: u64, high: u64) -> u64 {
        let width = high.saturating_sub(low);
        low + if width == u64::MAX { self.below(u64::MAX) } else { self.below(width + 1) }
    }

    /// A number from 0 to 1, including both.
    pub(crate) fn unit(&mut self) -> f64 {
        self.below(256) as f64 / 255.0
    }

    /// True once in `n` draws.
    pub(crate) fn once_in(&mut self, n: u64) -> bool {
        self.below(n) == n - 1
    }

    /// One of `items`, which must not be empty.
    pub(crate) fn pick<'t, T>(&mut self, items: &'t [T]) -> &'t T {
        &items[self.below(items.len() as u64) as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_choose_first_and_then_the_seed() {
        let mut choices = Choices::new(&[1, 2, 3, 4, 7, 1, 0]);
        assert_eq!(choices.below(5), 2);
        assert_eq!(choices.below(1), 0, "takes no byte");
        assert_eq!(choices.below(1000), 256);
        let rest = |seed: u8| Choices::new(&[seed, 0, 0, 0]).below(u64::MAX);
        assert_eq!(rest(1), rest(1));
        assert_ne!(rest(1), rest(2));
    }
}
