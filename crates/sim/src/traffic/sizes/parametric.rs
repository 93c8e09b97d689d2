//! Distributions of sizes with one to three parameters.

use super::distribution::{LARGEST, whole};
use super::{Read, Sizes};
use crate::config::{ANY_SIZE, ConfigError, Kind, Reader, keys};
use crate::engine::Stream;
use libm::{exp, log, pow};
use shortflow_units::Bytes;
use std::sync::Arc;

pub(super) const FIXED: Kind<Read> = Kind {
    name: "fixed",
    summary: "the same size for every flow",
    source: "",
    parameters: Fixed::parameters,
    read: |reader| Ok(Arc::new(Fixed::read(reader)?)),
};

keys! {
    /// Keys of a fixed size.
    struct Fixed {
        /// the size
        value: Bytes = required, ANY_SIZE;
    }
}

impl Sizes for Fixed {
    fn sample(&self, _: &mut Stream) -> Bytes {
        self.value
    }
    fn mean(&self) -> f64 {
        self.value.as_f64()
    }
    fn largest(&self) -> f64 {
        self.value.as_f64()
    }
}

pub(super) const UNIFORM: Kind<Read> = Kind {
    name: "uniform",
    summary: "uniformly distributed between two bounds, in whole bytes",
    source: "",
    parameters: Uniform::parameters,
    read: |reader| Ok(Arc::new(Uniform::read(reader)?)),
};

keys! {
    /// Keys of a uniform distribution; both bounds are included.
    struct Uniform {
        /// smallest size
        min: Bytes = required, ANY_SIZE;
        /// largest size
        max: Bytes = required, ANY_SIZE;
    } in order {
        min <= max;
    }
}

impl Sizes for Uniform {
    fn sample(&self, stream: &mut Stream) -> Bytes {
        self.min + Bytes::new(stream.below((self.max - self.min).get() + 1))
    }
    fn mean(&self) -> f64 {
        (self.min.as_f64() + self.max.as_f64()) / 2.0
    }
    fn largest(&self) -> f64 {
        self.max.as_f64()
    }
}

pub(super) const LOG_UNIFORM: Kind<Read> = Kind {
    name: "log-uniform",
    summary: "between two bounds, with a uniformly distributed logarithm",
    source: "",
    parameters: LogUniform::parameters,
    read: |reader| Ok(Arc::new(LogUniform::read(reader)?)),
};

keys! {
    /// Keys of a log-uniform distribution.
    struct LogUniform {
        /// smallest size
        min: Bytes = required, ANY_SIZE;
        /// largest size
        max: Bytes = required, ANY_SIZE;
    } in order {
        min <= max;
    }
}

impl LogUniform {
    /// Width of the distribution in natural logarithms: ln(max / min).
    fn width(&self) -> f64 {
        log(self.max.as_f64() / self.min.as_f64())
    }
}

impl Sizes for LogUniform {
    fn sample(&self, stream: &mut Stream) -> Bytes {
        whole(self.min.as_f64() * exp(stream.unit() * self.width()))
    }

    /// The integral from min to max of dx / ln(max / min).
    fn mean(&self) -> f64 {
        if self.min == self.max {
            return self.min.as_f64();
        }
        (self.max.as_f64() - self.min.as_f64()) / self.width()
    }

    fn largest(&self) -> f64 {
        self.max.as_f64()
    }
}

pub(super) const EXPONENTIAL: Kind<Read> = Kind {
    name: "exponential",
    summary: "exponentially distributed",
    source: "",
    parameters: Exponential::parameters,
    read: |reader| Ok(Arc::new(Exponential::read(reader)?)),
};

keys! {
    /// Keys of an exponential distribution.
    struct Exponential {
        /// mean size
        mean: Bytes = required, ANY_SIZE;
    }
}

impl Sizes for Exponential {
    fn sample(&self, stream: &mut Stream) -> Bytes {
        whole(stream.exponential(self.mean.as_f64()))
    }
    fn mean(&self) -> f64 {
        self.mean.as_f64()
    }
    fn largest(&self) -> f64 {
        LARGEST
    }
}

pub(super) const PARETO: Kind<Read> = Kind {
    name: "pareto",
    summary: "Pareto distributed; truncated at max, if given",
    source: "L2DCT, INFOCOM 2013, §III-A: shape 1.2, mean 50 KB",
    parameters: ParetoKeys::parameters,
    read: read_pareto,
};

keys! {
    /// Keys of a Pareto distribution.
    struct ParetoKeys {
        /// shape: the smaller, the heavier the tail
        shape: f64 = required, 1.01..=100.0;
        /// mean size without truncation
        mean: Bytes = required, ANY_SIZE;
        /// largest size; the offered load takes the mean of the truncated distribution
        max: Option<Bytes> = optional, ANY_SIZE;
    }
}

/// P(size > x) = (smallest/x)^shape. Truncation at `max` keeps a share `kept` of the flows.
#[derive(Debug)]
struct Pareto {
    shape: f64,
    smallest: f64,
    max: f64,
    kept: f64,
}

impl Pareto {
    fn new(shape: f64, untruncated_mean: f64, max: f64) -> Pareto {
        let smallest = untruncated_mean * (shape - 1.0) / shape;
        Pareto { shape, smallest, max, kept: 1.0 - pow(smallest / max, shape) }
    }
}

fn read_pareto(reader: &Reader) -> Result<Arc<dyn Sizes>, ConfigError> {
    let keys = ParetoKeys::read(reader)?;
    let max = keys.max.map_or(f64::INFINITY, Bytes::as_f64);
    let pareto = Pareto::new(keys.shape, keys.mean.as_f64(), max);
    if whole(pareto.smallest).as_f64() >= max {
        let smallest = whole(pareto.smallest);
        return Err(reader
            .impossible("max", format!("not above the smallest size, {smallest}, of this distribution")));
    }
    Ok(Arc::new(pareto))
}

impl Sizes for Pareto {
    fn sample(&self, stream: &mut Stream) -> Bytes {
        let above = 1.0 - stream.unit() * self.kept;
        whole(self.smallest * pow(above, -1.0 / self.shape))
    }

    fn mean(&self) -> f64 {
        let untruncated = self.smallest * self.shape / (self.shape - 1.0);
        untruncated * (1.0 - pow(self.smallest / self.max, self.shape - 1.0)) / self.kept
    }

    fn largest(&self) -> f64 {
        self.max
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Seeds;
    use crate::traffic::sizes::tests::sizes_of;

    #[test]
    fn both_bounds_occur_and_nothing_beyond() {
        let sizes = sizes_of("kind='uniform'\nmin='3B'\nmax='5B'").unwrap();
        let mut stream = Seeds::new(1).stream("test", 0);
        let seen: std::collections::BTreeSet<u64> =
            (0..200).map(|_| sizes.sample(&mut stream).get()).collect();
        assert_eq!(seen.into_iter().collect::<Vec<_>>(), [3, 4, 5]);
    }

    /// (100 - 1) KB / ln 100 = 21.497 KB; half of the sizes are below 10 KB.
    #[test]
    fn two_decades() {
        let sizes = sizes_of("kind='log-uniform'\nmin='1KB'\nmax='100KB'").unwrap();
        assert!((sizes.mean() - 21_497.0).abs() < 1.0, "{}", sizes.mean());
        let mut stream = Seeds::new(1).stream("test", 0);
        let small = (0..100_000).filter(|_| sizes.sample(&mut stream).get() < 10_000).count();
        assert!((49_200..50_800).contains(&small), "{small}");
        assert_eq!(sizes_of("kind='log-uniform'\nmin='5KB'\nmax='5KB'").unwrap().mean(), 5000.0);
    }

    #[test]
    fn without_truncation_the_mean_is_the_given_one() {
        let pareto = Pareto::new(1.2, 50_000.0, f64::INFINITY);
        assert!((pareto.mean() - 50_000.0).abs() < 1e-6);
        assert!((pareto.smallest - 50_000.0 / 6.0).abs() < 1e-9);
    }

    /// Shape 2, smallest 1, max 2: density 8/3 x^-3 on [1, 2], so the mean is 8/3 (1 - 1/2) = 4/3.
    #[test]
    fn the_truncated_mean_is_exact() {
        assert!((Pareto::new(2.0, 2.0, 2.0).mean() - 4.0 / 3.0).abs() < 1e-12);
    }
}
