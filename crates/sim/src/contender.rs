//! [`Contender`]: what serves the flows of a scenario.

use crate::config::ConfigError;
use crate::ideal::{self, Policy, policies};
use crate::outcome::Outcome;
use crate::scenario::Scenario;
use crate::scheme::{self, Scheme, schemes};
use crate::simulation::{self, Observer, RunError};

/// What serves the flows: packets under a scheme, or an ideal scheduler.
#[derive(Debug, Clone)]
pub enum Contender {
    /// TCP over queues.
    Packets(Box<Scheme>),
    /// A fluid, which has no parameters.
    Ideal(Policy),
}

impl Contender {
    /// The scheme or ideal scheduler called `name`, with `settings` such as `("transport.g", "0.09")`.
    pub fn named(name: &str, settings: &[(String, String)]) -> Result<Contender, ConfigError> {
        match (Policy::named(name), settings.first()) {
            (Some(policy), None) => Ok(Contender::Ideal(policy)),
            (Some(_), Some((key, _))) => {
                let hint = format!("{name} has none");
                Err(ConfigError::Unknown { key: key.clone(), what: "parameter", hint })
            }
            (None, _) => match Scheme::named(name, settings) {
                Err(ConfigError::Unknown { what: "scheme", .. }) => {
                    let ideal = policies().iter().map(|policy| policy.name);
                    let names: Vec<&str> =
                        schemes().iter().map(|info| info.name.as_str()).chain(ideal).collect();
                    Err(scheme::unknown("scheme", name, &names))
                }
                found => Ok(Contender::Packets(Box::new(found?))),
            },
        }
    }

    /// Name that users type, or the label of a scheme with settings.
    pub fn name(&self) -> &str {
        match self {
            Contender::Packets(scheme) => &scheme.name,
            Contender::Ideal(policy) => policy.name,
        }
    }

    /// One line on what it is.
    pub fn summary(&self) -> &str {
        match self {
            Contender::Packets(scheme) => &scheme.summary,
            Contender::Ideal(policy) => policy.summary,
        }
    }

    /// Serves the flows of `scenario` with the random draws of `seed`.
    ///
    /// # Errors
    /// As [`simulation::run`] and [`ideal::run`].
    pub fn run(
        &self,
        scenario: &Scenario,
        seed: u64,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, RunError> {
        match self {
            Contender::Packets(scheme) => simulation::run(scenario, scheme, seed, observer),
            Contender::Ideal(policy) => ideal::run(scenario, *policy, seed, observer),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(name: &str, settings: &[(String, String)]) -> String {
        Contender::named(name, settings).unwrap_err().to_string()
    }

    #[test]
    fn schemes_and_ideal_schedulers_are_found_by_name() {
        let names: Vec<&str> = schemes().iter().map(|info| info.name.as_str()).collect();
        let ideal: Vec<&str> = policies().iter().map(|policy| policy.name).collect();
        for name in [names, ideal].concat() {
            assert_eq!(Contender::named(name, &[]).unwrap().name(), name);
        }
    }

    #[test]
    fn hints_are_among_both() {
        assert_eq!(error("dctpc", &[]), "\"dctpc\": unknown scheme; did you mean \"dctcp\"?");
        assert_eq!(error("ideal-sprt", &[]), "\"ideal-sprt\": unknown scheme; did you mean \"ideal-srpt\"?");
        let set = [("queue.k".to_owned(), "1".to_owned())];
        assert_eq!(error("ideal-ps", &set), "queue.k: unknown parameter; ideal-ps has none");
    }
}
