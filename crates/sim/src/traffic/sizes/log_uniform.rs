//! Sizes of every order of magnitude between two bounds, each equally likely.

use super::Sizes;
use super::distribution::whole;
use crate::config::{ANY_SIZE, Kind, keys};
use crate::engine::Stream;
use libm::{exp, log};
use shortflow_units::Bytes;
use std::sync::Arc;

/// Registry entry.
pub(super) const KIND: Kind<super::Read> = Kind {
    name: "log-uniform",
    summary: "between two bounds, the logarithm evenly spread",
    source: "",
    parameters: LogUniform::parameters,
    read: |reader| Ok(Arc::new(LogUniform::read(reader)?)),
};

keys! {
    /// Two bounds.
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
    /// Orders of magnitude between the bounds, in powers of e.
    fn width(&self) -> f64 {
        log(self.max.as_f64() / self.min.as_f64())
    }
}

impl Sizes for LogUniform {
    fn sample(&self, stream: &mut Stream) -> Bytes {
        whole(self.min.as_f64() * exp(stream.unit() * self.width()))
    }

    /// The integral of dx / ln(max/min) from min to max.
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

#[cfg(test)]
mod tests {
    use crate::engine::Seeds;
    use crate::traffic::sizes::tests::sizes_of;

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
}
