//! Deadlines of flows, relative to their start times.

use crate::config::{ConfigError, Entry, Kind, Kinds, POSITIVE_TIME, Reader, keys};
use crate::engine::Stream;
use shortflow_units::Span;

/// A distribution of deadlines.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Deadlines {
    /// The same deadline for every flow.
    Fixed(Fixed),
    /// Uniformly distributed between two bounds.
    Uniform(Uniform),
    /// Exponentially distributed.
    Exponential(Exponential),
}

keys! {
    /// Keys of a fixed deadline.
    pub struct Fixed {
        /// the deadline
        value: Span = required, POSITIVE_TIME;
    }
}

keys! {
    /// Keys of uniformly distributed deadlines.
    pub struct Uniform {
        /// shortest deadline
        min: Span = required, POSITIVE_TIME;
        /// longest deadline
        max: Span = required, POSITIVE_TIME;
    } in order {
        min <= max;
    }
}

keys! {
    /// Keys of exponentially distributed deadlines.
    pub struct Exponential {
        /// mean deadline
        mean: Span = required, POSITIVE_TIME;
    }
}

type Read = fn(&Reader) -> Result<Deadlines, ConfigError>;

const KINDS: &[Kind<Read>] = &[
    Kind {
        name: "fixed",
        summary: "the same deadline for every flow",
        source: "",
        parameters: Fixed::parameters,
        read: |reader| Fixed::read(reader).map(Deadlines::Fixed),
    },
    Kind {
        name: "uniform",
        summary: "uniformly distributed between two bounds",
        source: "",
        parameters: Uniform::parameters,
        read: |reader| Uniform::read(reader).map(Deadlines::Uniform),
    },
    Kind {
        name: "exponential",
        summary: "exponentially distributed",
        source: "L2DCT, INFOCOM 2013, §III-B: means of 40, 60 and 80 ms",
        parameters: Exponential::parameters,
        read: |reader| Exponential::read(reader).map(Deadlines::Exponential),
    },
];

/// Form of a `deadline` table.
pub(crate) const TABLE: Kinds = Kinds {
    name: "deadline",
    entries: deadlines,
    others: Vec::new,
    example: "{ kind = \"exponential\", mean = \"40ms\" }",
};

/// All distributions of deadlines, in the order of the documentation.
pub(crate) fn deadlines() -> Vec<Entry> {
    KINDS.iter().map(Kind::entry).collect()
}

/// Reads a `deadline` table.
pub(super) fn read(reader: &Reader) -> Result<Deadlines, ConfigError> {
    let kind = Kind::chosen(KINDS, reader)?;
    kind.check_keys(reader)?;
    (kind.read)(reader)
}

impl Deadlines {
    /// Draws a deadline of at least 1 ps.
    pub(crate) fn sample(&self, stream: &mut Stream) -> Span {
        let deadline = match self {
            Deadlines::Fixed(fixed) => fixed.value,
            Deadlines::Uniform(uniform) => {
                let width = uniform.max.saturating_sub(uniform.min).as_ps();
                uniform.min + Span::from_ps(stream.below(width + 1))
            }
            Deadlines::Exponential(exponential) => {
                Span::from_secs_f64(stream.exponential(exponential.mean.as_secs_f64()))
            }
        };
        deadline.max(Span::from_ps(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Seeds;
    use shortflow_spec::read_toml;

    fn deadlines_of(toml: &str) -> Result<Deadlines, String> {
        read_toml(toml, |reader| read(&reader)).map_err(|error| error.to_string())
    }

    #[test]
    fn samples_have_the_stated_mean() {
        for (toml, mean) in [
            ("kind='fixed'\nvalue='40ms'", 0.04),
            ("kind='uniform'\nmin='20ms'\nmax='30ms'", 0.025),
            ("kind='exponential'\nmean='40ms'", 0.04),
        ] {
            let deadlines = deadlines_of(toml).unwrap();
            let mut stream = Seeds::new(1).stream("test", 0);
            let sum: f64 = (0..20_000).map(|_| deadlines.sample(&mut stream).as_secs_f64()).sum();
            assert!((sum / 20_000.0 / mean - 1.0).abs() < 0.03, "{toml}");
        }
    }
}
