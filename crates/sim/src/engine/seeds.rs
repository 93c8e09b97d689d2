//! Named random streams. Each purpose draws from its own generator, so an additional draw in one place never
//! shifts the draws in another, and all schemes meet the same arrivals.

use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use sha2::{Digest, Sha256};

/// The seed of a run.
#[derive(Debug, Clone, Copy)]
pub struct Seeds(u64);

impl Seeds {
    /// Streams of the run with this seed.
    pub fn new(seed: u64) -> Self {
        Seeds(seed)
    }

    /// The stream for `purpose` and `index`, for example the sizes of the second traffic source.
    pub fn stream(self, purpose: &str, index: usize) -> Stream {
        let mut hash = Sha256::new();
        hash.update(self.0.to_le_bytes());
        hash.update((index as u64).to_le_bytes());
        hash.update(purpose.as_bytes());
        Stream(Xoshiro256PlusPlus::from_seed(hash.finalize().into()))
    }
}

/// A stream of random numbers. Real-valued draws use pinned mathematics in pure Rust, so a seed gives the
/// same run on every machine.
#[derive(Debug, Clone)]
pub struct Stream(Xoshiro256PlusPlus);

impl Stream {
    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Uniform on [0, 1), in steps of 2⁻⁵³.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A whole number from 0 to n - 1, or 0 for n = 0. The bias is negligible for n far below 2⁶⁴.
    pub fn below(&mut self, n: u64) -> u64 {
        below(self.bits(), n)
    }

    /// Exponential with the given mean.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -libm::log(1.0 - self.unit()) * mean
    }

    /// Normal with mean 0 and variance 1 (Box and Muller, without the second number of the pair).
    pub fn normal(&mut self) -> f64 {
        let radius = libm::sqrt(-2.0 * libm::log(1.0 - self.unit()));
        radius * libm::cos(std::f64::consts::TAU * self.unit())
    }
}

/// Maps 64 random bits to 0..n. The bias is negligible for n ≪ 2⁶⁴. Returns 0 for n = 0.
#[inline]
pub(crate) fn below(bits: u64, n: u64) -> u64 {
    ((u128::from(bits) * u128::from(n)) >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_differ_by_seed_purpose_and_index_and_repeat_otherwise() {
        let first = |seed, purpose, index| Seeds::new(seed).stream(purpose, index).bits();
        assert_eq!(first(1, "sizes", 0), first(1, "sizes", 0));
        assert_ne!(first(1, "sizes", 0), first(2, "sizes", 0));
        assert_ne!(first(1, "sizes", 0), first(1, "gaps", 0));
        assert_ne!(first(1, "sizes", 0), first(1, "sizes", 1));
    }

    #[test]
    fn exponential_draws_have_their_mean() {
        let mut stream = Seeds::new(1).stream("test", 0);
        let mean = (0..100_000).map(|_| stream.exponential(3.0)).sum::<f64>() / 1e5;
        assert!((mean - 3.0).abs() < 0.03, "{mean}");
    }

    #[test]
    fn normal_draws_have_their_quantiles() {
        let mut stream = Seeds::new(1).stream("test", 0);
        let draws: Vec<f64> = (0..100_000).map(|_| stream.normal()).collect();
        for (quantile, share) in [(-1.2816, 0.1), (0.0, 0.5), (1.2816, 0.9)] {
            let below = draws.iter().filter(|draw| **draw < quantile).count() as f64 / 1e5;
            assert!((below - share).abs() < 0.005, "{below} below {quantile}");
        }
    }
}
