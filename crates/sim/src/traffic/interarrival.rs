//! Inter-arrival times as multiples of their mean. The load sets the mean, and the distribution sets the
//! shape.

use crate::config::{ConfigError, Entry, Kind, Kinds, Positive, Reader, keys};
use crate::engine::Stream;

/// Distribution of inter-arrival times.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum InterArrival {
    /// Exponentially distributed, which gives a Poisson process.
    Exponential,
    /// All equal.
    Fixed,
    /// The logarithm is normally distributed.
    LogNormal(LogNormal),
    /// Several flows at once, in bursts that form a Poisson process.
    Bursts(Bursts),
}

keys! {
    /// Keys of log-normal inter-arrival times.
    pub struct LogNormal {
        /// standard deviation of the natural logarithm of an inter-arrival time
        sigma: f64 = required, Positive(5.0);
    }
}

keys! {
    /// Keys of bursts.
    pub struct Bursts {
        /// number of flows that start together
        flows: u32 = required, 1..=1_000_000u32;
    }
}

type Read = fn(&Reader) -> Result<InterArrival, ConfigError>;

const KINDS: &[Kind<Read>] = &[
    Kind {
        name: "exponential",
        summary: "exponentially distributed: arrivals are a Poisson process",
        source: "",
        parameters: Vec::new,
        read: |_| Ok(InterArrival::Exponential),
    },
    Kind {
        name: "fixed",
        summary: "all equal",
        source: "",
        parameters: Vec::new,
        read: |_| Ok(InterArrival::Fixed),
    },
    Kind {
        name: "log-normal",
        summary: "log-normally distributed",
        source: "ATCP, Wu et al., Fig. 3(d): 80 % from 0.4 to 40 ms, which is sigma = 1.8",
        parameters: LogNormal::parameters,
        read: |reader| LogNormal::read(reader).map(InterArrival::LogNormal),
    },
    Kind {
        name: "bursts",
        summary: "several flows start together; the bursts are a Poisson process",
        source: "",
        parameters: Bursts::parameters,
        read: |reader| Bursts::read(reader).map(InterArrival::Bursts),
    },
];

/// Form of an `interarrival` table.
pub(crate) const TABLE: Kinds = Kinds {
    name: "interarrival",
    entries: interarrival,
    others: Vec::new,
    example: "{ kind = \"log-normal\", sigma = 1.8 }",
};

/// All distributions, in the order of the documentation.
pub(crate) fn interarrival() -> Vec<Entry> {
    KINDS.iter().map(Kind::entry).collect()
}

/// Reads an `interarrival` table.
pub(super) fn read(reader: &Reader) -> Result<InterArrival, ConfigError> {
    let kind = Kind::chosen(KINDS, reader)?;
    kind.check_keys(reader)?;
    (kind.read)(reader)
}

impl InterArrival {
    /// Number of flows that start at once.
    pub(super) fn together(&self) -> u32 {
        match self {
            InterArrival::Bursts(Bursts { flows }) => *flows,
            _ => 1,
        }
    }

    /// Draws the time before arrival `number`, counted from 0. The mean is 1.
    pub(super) fn sample(&self, number: u64, stream: &mut Stream) -> f64 {
        match self {
            InterArrival::Exponential => stream.exponential(1.0),
            InterArrival::Fixed => 1.0,
            InterArrival::LogNormal(LogNormal { sigma }) => {
                libm::exp(sigma * stream.normal() - sigma * sigma / 2.0)
            }
            InterArrival::Bursts(Bursts { flows }) => match number % u64::from(*flows) {
                0 => stream.exponential(f64::from(*flows)),
                _ => 0.0,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Seeds;
    use shortflow_spec::read_toml;

    fn times_of(toml: &str) -> Vec<f64> {
        let distribution = read_toml(toml, |reader| read(&reader)).unwrap();
        let mut stream = Seeds::new(1).stream("test", 0);
        (0..400_000).map(|number| distribution.sample(number, &mut stream)).collect()
    }

    #[test]
    fn the_mean_gap_is_one_and_the_spread_that_of_the_law() {
        for (toml, variance) in [
            ("kind='exponential'", 1.0),
            ("kind='fixed'", 0.0),
            ("kind='log-normal'\nsigma=0.8", libm::exp(0.64) - 1.0),
            // Three of four gaps are 0. The fourth has mean 4 and second moment 32.
            ("kind='bursts'\nflows=4", 8.0 - 1.0),
        ] {
            let times = times_of(toml);
            let n = times.len() as f64;
            let mean = times.iter().sum::<f64>() / n;
            let found = times.iter().map(|time| time * time).sum::<f64>() / n - mean * mean;
            assert!((mean - 1.0).abs() < 0.02, "{toml}: mean {mean}");
            assert!((found - variance).abs() < 0.05 * variance + 1e-9, "{toml}: {found} is not {variance}");
        }
    }
}
