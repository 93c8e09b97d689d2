//! Pareto distributed sizes: many small flows, few very large ones.

use super::Sizes;
use super::distribution::whole;
use crate::config::{ANY_SIZE, ConfigError, Kind, Reader, keys};
use crate::engine::Stream;
use libm::pow;
use shortflow_units::Bytes;
use std::sync::Arc;

/// Registry entry.
pub(super) const KIND: Kind<super::Read> = Kind {
    name: "pareto",
    summary: "Pareto distributed; with max, truncated there",
    source: "L2DCT, INFOCOM 2013, §III-A: shape 1.2, mean 50 KB",
    parameters: ParetoKeys::parameters,
    read,
};

keys! {
    /// The distribution as the scenario gives it.
    struct ParetoKeys {
        /// shape: the smaller, the heavier the tail
        shape: f64 = required, 1.01..=100.0;
        /// mean size without truncation
        mean: Bytes = required, ANY_SIZE;
        /// sizes above this one do not occur; the offered load counts the smaller mean that is left
        max: Option<Bytes> = optional, ANY_SIZE;
    }
}

/// P(size > x) = (smallest/x)^shape, truncated where a share of `kept` is below.
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

fn read(reader: &Reader) -> Result<Arc<dyn Sizes>, ConfigError> {
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
