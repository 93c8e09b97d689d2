//! Flow sizes: distributions and published tables. A new kind is a `KIND` with a [`Sizes`], and one line in
//! `KINDS`.

mod cdf;
mod distribution;
mod mixture;
mod parametric;
mod published;

pub use distribution::Sizes;
pub use published::{Published, published};

use crate::config::{ConfigError, Entry, Kind, Kinds, Reader};
use distribution::Read;
use std::sync::Arc;

/// Registry of size distributions.
const KINDS: &[Kind<Read>] = &[
    parametric::FIXED,
    parametric::UNIFORM,
    parametric::LOG_UNIFORM,
    parametric::EXPONENTIAL,
    parametric::PARETO,
    MIXTURE,
    published::KIND,
    cdf::KIND,
];

/// A mixture has parts of any kind. It gets the reader of parts as an argument, so that `mixture` need not
/// import this module.
const MIXTURE: Kind<Read> = Kind {
    name: "mixture",
    summary: "several distributions, each with its share of the flows",
    source: "",
    parameters: || mixture::parameters(PART),
    read: |reader| mixture::read(reader, PART, read_beside),
};

/// Form of a part of a mixture.
pub(crate) const PART: Kinds = Kinds {
    name: "part",
    entries: sizes,
    others: mixture::Share::parameters,
    example: "{ share = 0.8, kind = \"uniform\", min = \"1KB\", max = \"9KB\" }",
};

/// Form of a `sizes` table.
pub(crate) const TABLE: Kinds = Kinds {
    name: "sizes",
    entries: sizes,
    others: Vec::new,
    example: "{ kind = \"uniform\", min = \"2KB\", max = \"98KB\" }",
};

/// All size distributions, in the order of the documentation.
pub fn sizes() -> Vec<Entry> {
    KINDS.iter().map(Kind::entry).collect()
}

/// Reads a `sizes` table.
pub(crate) fn read(reader: &Reader) -> Result<Arc<dyn Sizes>, ConfigError> {
    read_beside(reader, &[])
}

/// Reads a `sizes` table with the further keys `others`.
fn read_beside(reader: &Reader, others: &[&str]) -> Result<Arc<dyn Sizes>, ConfigError> {
    let kind = Kind::chosen(KINDS, reader)?;
    reader.only(&(kind.parameters)(), &[others, &["kind"]].concat())?;
    (kind.read)(reader)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Seeds;
    use proptest::prelude::*;
    use shortflow_spec::read_toml;

    /// Reads a `sizes` table written as TOML.
    pub(super) fn sizes_of(toml: &str) -> Result<Arc<dyn Sizes>, String> {
        read_toml(toml, |reader| read(&reader)).map_err(|error| error.to_string())
    }

    /// Checks that the mean of `n` samples lies within five standard errors of `mean()`.
    pub(super) fn check_mean(sizes: &dyn Sizes, seed: u64) {
        let mut stream = Seeds::new(seed).stream("test", 0);
        let n = 20_000;
        let samples: Vec<f64> = (0..n).map(|_| sizes.sample(&mut stream).as_f64()).collect();
        let mean = samples.iter().sum::<f64>() / n as f64;
        let variance = samples.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / n as f64;
        let tolerance = 5.0 * (variance / n as f64).sqrt() + 1.0;
        assert!((mean - sizes.mean()).abs() < tolerance, "{mean} is not {} ({sizes:?})", sizes.mean());
    }

    fn any_sizes() -> impl Strategy<Value = String> {
        let published = prop::sample::select(published().iter().map(|p| p.name.clone()).collect::<Vec<_>>());
        prop_oneof![
            (1u64..1_000_000).prop_map(|b| format!("kind='fixed'\nvalue='{b}B'")),
            (1u64..9999, 0u64..99999)
                .prop_map(|(a, b)| format!("kind='uniform'\nmin='{a}B'\nmax='{}B'", a + b)),
            (1u64..9999, 0u64..99999)
                .prop_map(|(a, b)| format!("kind='log-uniform'\nmin='{a}B'\nmax='{}B'", a + b)),
            (100u64..1_000_000).prop_map(|b| format!("kind='exponential'\nmean='{b}B'")),
            (105u32..300, 100u64..9999, 4u64..1000).prop_map(|(shape, mean, tail)| format!(
                "kind='pareto'\nshape={}\nmean='{mean}B'\nmax='{}B'",
                f64::from(shape) / 100.0,
                mean * tail
            )),
            published.prop_map(|name| format!("kind='published'\nname='{name}'\nmax='1MB'")),
        ]
    }

    proptest! {
        #[test]
        fn samples_have_the_stated_mean(toml in any_sizes(), seed: u64) {
            check_mean(&*sizes_of(&toml).unwrap(), seed);
        }

        #[test]
        fn sizes_are_at_least_one_byte_and_finite(toml in any_sizes(), seed: u64) {
            let sizes = sizes_of(&toml).unwrap();
            let mut stream = Seeds::new(seed).stream("test", 0);
            for _ in 0..1000 {
                let size = sizes.sample(&mut stream);
                prop_assert!((1..=1_000_000_000_000_000).contains(&size.get()));
            }
        }
    }
}
