//! Flow sizes measured in data centres, from `data/flow-sizes.toml`.

use super::Sizes;
use super::cdf::Table;
use crate::config::{ANY_SIZE, ConfigError, Kind, OneOf, Reader, keys};
use shortflow_units::Bytes;
use std::sync::{Arc, LazyLock};

/// Registry entry.
pub(super) const KIND: Kind<super::Read> = Kind {
    name: "published",
    summary: "measured in a data centre and published; linear between the published points",
    source: "each name has its own",
    parameters: PublishedKeys::parameters,
    read,
};

const DATA: &str = include_str!("../../../../../data/flow-sizes.toml");
/// Payload in bytes of the packets that some tables count.
const SEGMENT: f64 = 1460.0;

static PUBLISHED: LazyLock<Vec<Published>> = LazyLock::new(|| {
    let tables: toml::Table = DATA.parse().expect("data/flow-sizes.toml is TOML");
    let published = |(name, value): (&String, &toml::Value)| {
        Published::new(name, value)
            .unwrap_or_else(|| panic!("data/flow-sizes.toml: {name} is not a distribution"))
    };
    tables.iter().map(published).collect()
});

/// A published distribution.
#[derive(Debug, Clone, PartialEq)]
pub struct Published {
    /// Name in scenarios.
    pub name: String,
    /// Description of the measurement.
    pub summary: String,
    /// Publication with the distribution.
    pub source: String,
    table: Table,
}

/// All published distributions.
pub fn published() -> &'static [Published] {
    &PUBLISHED
}

impl Published {
    fn new(name: &str, value: &toml::Value) -> Option<Published> {
        let text = |key: &str| Some(value.get(key)?.as_str()?.to_owned());
        let unit = match text("unit")?.as_str() {
            "bytes" => 1.0,
            "packets" => SEGMENT,
            _ => return None,
        };
        let number =
            |value: &toml::Value| value.as_float().or(value.as_integer().map(|number| number as f64));
        let point = |point: &toml::Value| Some((number(point.get(0)?)? * unit, number(point.get(1)?)?));
        let points: Option<Vec<(f64, f64)>> = value.get("points")?.as_array()?.iter().map(point).collect();
        let table = Table::new(points?).ok()?;
        Some(Published { name: name.to_owned(), summary: text("summary")?, source: text("source")?, table })
    }
}

keys! {
    /// Keys of a published distribution.
    struct PublishedKeys {
        /// name of the distribution
        name: &'static Published = required, OneOf(&choices());
        /// lower limit; all sizes are above min
        min: Option<Bytes> = optional, ANY_SIZE;
        /// largest size
        max: Option<Bytes> = optional, ANY_SIZE;
    }
}

fn choices() -> Vec<(&'static str, &'static Published)> {
    published().iter().map(|published| (published.name.as_str(), published)).collect()
}

fn read(reader: &Reader) -> Result<Arc<dyn Sizes>, ConfigError> {
    let keys = PublishedKeys::read(reader)?;
    Ok(Arc::new(keys.name.table.clone().within(keys.min, keys.max, reader)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::sizes::tests::sizes_of;

    #[test]
    fn every_published_distribution_can_be_used() {
        for published in published() {
            let sizes = sizes_of(&format!("kind='published'\nname='{}'", published.name)).unwrap();
            assert!(sizes.mean() > 100.0, "{}", published.name);
            assert!(!published.summary.is_empty() && !published.source.is_empty());
        }
    }

    /// In KB, by hand: 15 % of (0 + 10)/2, 5 % of (10 + 20)/2, … and 3 % of (10,000 + 30,000)/2.
    #[test]
    fn mean_of_web_search() {
        let sizes = sizes_of("kind='published'\nname='websearch'").unwrap();
        let by_hand = 0.75 + 0.75 + 2.5 + 4.0 + 8.45 + 9.8 + 60.0 + 150.0 + 350.0 + 525.0 + 600.0;
        assert!((sizes.mean() / 1000.0 - by_hand).abs() < 1e-6, "{}", sizes.mean());
    }
}
