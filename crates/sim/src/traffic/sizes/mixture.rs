//! Mixtures: several distributions, each with a share of the flows.

use super::Sizes;
use crate::config::{ConfigError, Kinds, ParamInfo, Positive, Reader, Shape, keys};
use crate::engine::Stream;
use shortflow_units::Bytes;
use std::sync::Arc;

/// Largest error of the sum of rounded shares.
const ROUNDING: f64 = 1e-6;

keys! {
    /// Key of a part in addition to its distribution.
    pub(super) struct Share {
        /// share of the flows
        share: f64 = required, Positive(1.0);
    }
}

/// Distributions, each with the cumulative share of flows up to and including it.
#[derive(Debug)]
struct Mixture(Vec<(f64, Arc<dyn Sizes>)>);

pub(super) fn parameters(part: Kinds) -> Vec<ParamInfo> {
    let summary = "the distributions, with shares that sum to 1";
    vec![ParamInfo::new("parts", ParamInfo::REQUIRED, Shape::Parts(part), summary)]
}

/// Reads a table of a distribution. The second argument has further allowed keys.
type ReadPart = fn(&Reader, &[&str]) -> Result<Arc<dyn Sizes>, ConfigError>;

pub(super) fn read(reader: &Reader, part: Kinds, read_part: ReadPart) -> Result<Arc<dyn Sizes>, ConfigError> {
    let parts = reader.tables("parts")?;
    if parts.is_empty() {
        return Err(reader.missing("parts", &Shape::Parts(part)));
    }
    let mut sum = 0.0;
    let mut read = Vec::new();
    for part in parts {
        sum += Share::read(&part)?.share;
        read.push((sum, read_part(&part, &["share"])?));
    }
    if (sum - 1.0).abs() > ROUNDING {
        return Err(reader.impossible("parts", format!("the shares sum to {sum}, not to 1")));
    }
    Ok(Arc::new(Mixture(read)))
}

impl Sizes for Mixture {
    fn sample(&self, stream: &mut Stream) -> Bytes {
        let u = stream.unit();
        let part = self.0.partition_point(|(up_to, _)| *up_to <= u).min(self.0.len() - 1);
        self.0[part].1.sample(stream)
    }

    fn mean(&self) -> f64 {
        let below = std::iter::once(0.0).chain(self.0.iter().map(|(up_to, _)| *up_to));
        self.0.iter().zip(below).map(|((up_to, sizes), below)| (up_to - below) * sizes.mean()).sum()
    }

    fn largest(&self) -> f64 {
        self.0.iter().map(|(_, sizes)| sizes.largest()).fold(0.0, f64::max)
    }
}

#[cfg(test)]
mod tests {
    use crate::traffic::sizes::tests::{check_mean, sizes_of};

    #[test]
    fn the_mean_is_that_of_the_parts_by_share() {
        let toml = "kind='mixture'
            parts=[{share=0.25, kind='fixed', value='4KB'}, {share=0.75, kind='uniform', min='1KB', max='3KB'}]";
        let sizes = sizes_of(toml).unwrap();
        assert_eq!(sizes.mean(), 0.25 * 4000.0 + 0.75 * 2000.0);
        check_mean(&*sizes, 1);
    }
}
