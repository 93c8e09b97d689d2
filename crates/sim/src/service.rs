//! A [`ServiceModel`] says how the flows of a scenario are served: by packets under a scheme, or by an ideal
//! scheduler.

use crate::config::{ConfigError, Given, of_user};
use crate::ideal::{self, Policy, policies};
use crate::idle;
use crate::outcome::Outcome;
use crate::scenario::Scenario;
use crate::scheme::{self, Scheme, schemes};
use crate::simulation::{self, Cores, Observer, RunError};
use shortflow_spec::Idle;

/// Service of flows: by packets under a scheme, or by an ideal scheduler.
#[derive(Debug, Clone)]
pub enum ServiceModel {
    /// Packets under a scheme.
    Packets(Box<Scheme>),
    /// A fluid under an ideal scheduler, which has no parameters.
    Ideal(Policy),
}

impl ServiceModel {
    /// The scheme or ideal scheduler with this name, with `settings` such as `("transport.g", "0.09")`.
    pub fn named(name: &str, settings: &[(String, String)]) -> Result<ServiceModel, ConfigError> {
        ServiceModel::given(name, &of_user(settings).collect::<Vec<_>>())
    }

    /// Returns [`ServiceModel::named`] with settings of several sources. Later settings override earlier
    /// ones.
    pub fn given(name: &str, settings: &[Given]) -> Result<ServiceModel, ConfigError> {
        match (Policy::named(name), settings.first()) {
            (Some(policy), None) => Ok(ServiceModel::Ideal(policy)),
            (Some(_), Some((key, ..))) => {
                let hint = format!("{name} has no parameters");
                Err(ConfigError::Unknown { key: (*key).to_owned(), what: "parameter", hint })
            }
            (None, _) => match Scheme::given(name, settings) {
                Err(ConfigError::Unknown { what: "scheme", .. }) => {
                    let ideal = policies().iter().map(|policy| policy.name);
                    let names: Vec<&str> =
                        schemes().iter().map(|info| info.name.as_str()).chain(ideal).collect();
                    Err(scheme::unknown("scheme", name, &names))
                }
                found => Ok(ServiceModel::Packets(Box::new(found?))),
            },
        }
    }

    /// Name of the scheme or ideal scheduler, or the label of a scheme with settings.
    pub fn name(&self) -> &str {
        match self {
            ServiceModel::Packets(scheme) => &scheme.name,
            ServiceModel::Ideal(policy) => policy.name,
        }
    }

    /// One-line summary.
    pub fn summary(&self) -> &str {
        match self {
            ServiceModel::Packets(scheme) => &scheme.summary,
            ServiceModel::Ideal(policy) => policy.summary,
        }
    }

    /// Keys that the user set but that have no effect in `scenario`, which must be the scenario as read under
    /// this scheme. Values in the file of a `shipped` scenario are not the user's.
    pub fn idle(&self, scenario: &Scenario, shipped: bool) -> Vec<Idle> {
        match self {
            ServiceModel::Packets(scheme) => idle::under_packets(scenario, scheme, shipped),
            ServiceModel::Ideal(_) => idle::under_ideal(scenario),
        }
    }

    /// Serves the flows of `scenario` with random draws from `seed`.
    ///
    /// # Errors
    /// Returns the errors of [`simulation::run`] and [`ideal::run`].
    pub fn run(
        &self,
        scenario: &Scenario,
        seed: u64,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, RunError> {
        self.run_on(1, scenario, seed, observer).map(|(outcome, _)| outcome)
    }

    /// Recommended number of cores for a run, up to `most`. `watched` is true if packets are watched.
    pub fn cores(&self, scenario: &Scenario, most: usize, watched: bool) -> Cores {
        match self {
            ServiceModel::Packets(scheme) => simulation::cores(scenario, scheme, most, watched),
            ServiceModel::Ideal(policy) => {
                Cores { used: 1, why: (most > 1).then(|| format!("{} simulates no packets", policy.name)) }
            }
        }
    }

    /// Runs like [`ServiceModel::run`] on up to `cores` cores, with the same outcome. Returns the number of
    /// cores used.
    ///
    /// # Errors
    /// Returns the errors of [`ServiceModel::run`].
    pub fn run_on(
        &self,
        cores: usize,
        scenario: &Scenario,
        seed: u64,
        observer: &mut dyn Observer,
    ) -> Result<(Outcome, Cores), RunError> {
        match self {
            ServiceModel::Packets(scheme) => simulation::run_on(cores, scenario, scheme, seed, observer),
            ServiceModel::Ideal(policy) => {
                let alone = self.cores(scenario, cores, false);
                ideal::run(scenario, *policy, seed, observer).map(|outcome| (outcome, alone))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemes_and_ideal_schedulers_are_found_by_name() {
        let names: Vec<&str> = schemes().iter().map(|info| info.name.as_str()).collect();
        let ideal: Vec<&str> = policies().iter().map(|policy| policy.name).collect();
        for name in [names, ideal].concat() {
            assert_eq!(ServiceModel::named(name, &[]).unwrap().name(), name);
        }
    }
}
