//! Keys with an effect, and keys that are reported to have none: drawn scenarios in which keys get other values.

use crate::choices::Choices;
use crate::generator::{ScenarioGenerator, numbered};
use crate::registry::Registry;
use crate::simulate::{Cap, service, shown};
use crate::values::{FUZZED, Style, Surroundings, Values};
use shortflow_sim::scenario::Scenario;
use shortflow_sim::scheme::Scheme;
use shortflow_sim::service::ServiceModel;
use shortflow_spec::ParamInfo;
use std::collections::{BTreeMap, BTreeSet};

/// Limit of events per run, in units of 8192 events.
const MOST_TICKS: u32 = 8;
/// A third of the optional keys is set, so that many keys can have an effect.
const STYLE: Style = Style { optional: 3, fast: true, ..FUZZED };

/// A drawn run: scenario, service model and seed, with the generator of the scenario.
struct Drawn<'c, 'i> {
    generator: ScenarioGenerator<'c, 'i>,
    service: ServiceModel,
    scenario: Scenario,
    seed: u64,
}

impl<'c, 'i> Drawn<'c, 'i> {
    /// `None` if the draw gives no scenario.
    fn new(choices: &'c mut Choices<'i>) -> Option<Self> {
        let (seed, service) = (choices.below(256), service(choices));
        let (generator, scenario) = ScenarioGenerator::settled(choices, STYLE).ok()?;
        Some(Drawn { generator, service, scenario, seed })
    }

    /// Digest of a run; `None` if the run fails or exceeds the limit of events.
    fn digest(&self, service: &ServiceModel, scenario: &Scenario) -> Option<String> {
        service.run(scenario, self.seed, &mut Cap { ticks: MOST_TICKS }).ok().map(|outcome| outcome.digest())
    }

    /// The scheme; `None` for an ideal scheduler.
    fn scheme(&self) -> Option<&Scheme> {
        match &self.service {
            ServiceModel::Packets(scheme) => Some(scheme),
            ServiceModel::Ideal(_) => None,
        }
    }

    /// Paths of the scheme's keys, with their declarations.
    fn of_scheme(&self) -> Vec<(String, &'static ParamInfo)> {
        let named = self.scheme().map(|scheme| scheme.name.as_str());
        let keys = Registry::get().schemes.iter().find(|(name, _)| Some(*name) == named);
        keys.into_iter().flat_map(|(_, keys)| keys).map(|(path, key)| (path.clone(), key)).collect()
    }

    /// The service model with more settings.
    fn service_with(&self, more: &[(String, String)]) -> Option<ServiceModel> {
        let own = self.scheme().map_or(&[][..], |scheme| &scheme.resolved);
        let set = own.iter().filter(|setting| !setting.source.is_default());
        let set = set.map(|setting| (setting.key.clone(), setting.value.clone()));
        ServiceModel::named(self.service.name(), &set.chain(more.iter().cloned()).collect::<Vec<_>>()).ok()
    }

    /// The scenario and the service model with other values for keys of both.
    fn with(
        &self,
        of_scenario: &[(String, String)],
        of_scheme: &[(String, String)],
    ) -> Option<(Scenario, ServiceModel)> {
        self.generator.with(of_scenario).ok().zip(self.service_with(of_scheme))
    }

    fn value_of_scheme(&mut self, key: &ParamInfo) -> String {
        let choices = self.generator.choices();
        let mut values =
            Values { choices, style: STYLE, surroundings: Surroundings::default(), files: BTreeMap::new() };
        let value = values.draw(key.name, &key.shape);
        value
            .map_or_else(String::new, |value| value.as_str().map_or_else(|| value.to_string(), str::to_owned))
    }
}

/// Sets all keys of a drawn run that are reported as idle to other values. Returns these keys, or an error if the
/// outcome changes. Returns `None` if the draw gives no run.
pub fn idle_keys(number: u64) -> Result<Option<Vec<String>>, String> {
    let mut choices = Choices::numbered(number);
    let Some(mut drawn) = Drawn::new(&mut choices) else { return Ok(None) };
    let (mut of_scenario, mut of_scheme) = (Vec::new(), Vec::new());
    for (path, key) in drawn.generator.keys() {
        let setting = [(path.clone(), drawn.generator.value(&path, key))];
        if drawn.with(&setting, &[]).is_some_and(|(scenario, _)| is_idle(&drawn.service, &scenario, &path)) {
            of_scenario.extend(setting);
        }
    }
    for (path, key) in drawn.of_scheme() {
        let setting = [(path.clone(), drawn.value_of_scheme(key))];
        if drawn.service_with(&setting).is_some_and(|service| is_idle(&service, &drawn.scenario, &path)) {
            of_scheme.extend(setting);
        }
    }
    let all = [&of_scenario[..], &of_scheme].concat();
    // Two keys that are idle one by one may give each other an effect.
    let Some((scenario, service)) = drawn.with(&of_scenario, &of_scheme) else { return Ok(None) };
    if !all.iter().all(|(path, _)| is_idle(&service, &scenario, path)) {
        return Ok(None);
    }
    let Some(plain) = drawn.digest(&drawn.service, &drawn.scenario) else { return Ok(None) };
    let acts = |scenario: &Scenario, service: &ServiceModel| {
        drawn.digest(service, scenario).as_ref() != Some(&plain)
    };
    if !acts(&scenario, &service) {
        return Ok(Some(all.into_iter().map(|(path, _)| path).collect()));
    }
    let acting: Vec<_> = all
        .iter()
        .filter(|setting| {
            let one = std::slice::from_ref(*setting);
            let changed =
                if of_scheme.contains(setting) { drawn.with(&[], one) } else { drawn.with(one, &[]) };
            changed.is_some_and(|(scenario, service)| acts(&scenario, &service))
        })
        .collect();
    let (text, shown, seed) = (drawn.generator.text(), shown(&drawn.service), drawn.seed);
    Err(format!(
        "{text}\n# {shown}, seed {seed}\nreported without effect, but they have an effect: {acting:?}"
    ))
}

fn is_idle(service: &ServiceModel, scenario: &Scenario, path: &str) -> bool {
    service.idle(scenario, false).iter().any(|idle| numbered(&idle.key) == path)
}

/// Declared keys that have changed the outcome of some run.
#[derive(Debug, Default)]
pub struct Moves(BTreeSet<String>);

impl Moves {
    /// All declared keys except tables, as `table.kind.key`, `transport.NAME.key` or `queue.NAME.key`.
    pub fn declared() -> BTreeSet<String> {
        let registry = Registry::get();
        let of_schemes = registry.schemes.iter().filter_map(|(name, keys)| {
            let scheme = Scheme::named(name, &[]).ok()?;
            Some(keys.iter().map(move |(path, _)| of_scheme(&scheme, path)).collect::<Vec<_>>())
        });
        registry.names().map(|(_, name)| name).chain(of_schemes.flatten()).collect()
    }

    /// Tries other values for those keys of a drawn run that have not yet changed an outcome.
    pub fn try_draw(&mut self, number: u64) {
        let mut choices = Choices::numbered(number);
        let Some(mut drawn) = Drawn::new(&mut choices) else { return };
        let names: BTreeMap<*const ParamInfo, String> = Registry::get().names().collect();
        let declared = |key: &'static ParamInfo| names.get(&std::ptr::from_ref(key)).cloned();
        let of_scenario =
            drawn.generator.keys().into_iter().filter_map(|(path, key)| Some((declared(key)?, path, key)));
        let mut keys: Vec<_> = of_scenario.map(|(name, path, key)| (name, path, key, true)).collect();
        if let Some(scheme) = drawn.scheme() {
            let named =
                drawn.of_scheme().into_iter().map(|(path, key)| (of_scheme(scheme, &path), path, key, false));
            keys.extend(named);
        }
        keys.retain(|(name, ..)| !self.0.contains(name));
        if keys.is_empty() {
            return;
        }
        let Some(plain) = drawn.digest(&drawn.service, &drawn.scenario) else { return };
        for (name, path, key, is_of_scenario) in keys {
            let changed = if is_of_scenario {
                let setting = [(path.clone(), drawn.generator.value(&path, key))];
                drawn.with(&setting, &[])
            } else {
                let setting = [(path, drawn.value_of_scheme(key))];
                drawn.with(&[], &setting)
            };
            let moves = changed
                .and_then(|(scenario, service)| drawn.digest(&service, &scenario))
                .is_some_and(|digest| digest != plain);
            self.0.extend(moves.then_some(name));
        }
    }

    /// Declared keys that have not changed any outcome.
    pub fn missing(&self) -> Vec<String> {
        Moves::declared().difference(&self.0).cloned().collect()
    }
}

/// Name of a scheme's key, with the part of the scheme that declares it.
fn of_scheme(scheme: &Scheme, path: &str) -> String {
    match path.split_once('.') {
        Some(("transport", key)) => format!("transport.{}.{key}", scheme.transport.info().name),
        Some(("queue", key)) => format!("queue.{}.{key}", scheme.queue.kind().info().name),
        Some(("host_queue", key)) => format!("queue.{}.{key}", scheme.host_queue.kind().info().name),
        _ => path.to_owned(),
    }
}
