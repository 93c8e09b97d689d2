//! A [`Scheme`] is what papers compare: a transport with its queue disciplines in switches and hosts, and the
//! rule for packet priorities.

use crate::config::{
    ConfigError, Document, Format, Given, ParamInfo, Reader, Setting, Shape, Source, Text, keys, of_user,
};
use crate::host::priority::PriorityRule;
use crate::parameter_sets::{ParameterSet, parameter_sets};
use crate::queue::{QueueConfig, QueueKind};
use shortflow_cc::{Host, StartUserDefined, TransportConfig, TransportInfo, transports, unknown_transport};
use shortflow_spec::{Value, hint, located};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// Parts of a scheme: a row of `schemes.toml`, or of a user's file in that form.
#[derive(Debug, Clone)]
pub struct SchemeInfo {
    /// Name that users type.
    pub name: String,
    /// One-line summary.
    pub summary: String,
    /// Paper or RFC; may be empty.
    pub source: String,
    /// Name of the transport.
    pub transport: String,
    /// Queue discipline of switch ports.
    pub queue: QueueKind,
    /// Queue discipline of host ports, unless `host.queue` sets another.
    pub host_queue: QueueKind,
    /// Parameters that differ from the defaults of transport, queue disciplines and priority rule, with
    /// their prefix: `("transport.ecn", "classic")`.
    pub set: Vec<(String, String)>,
}

impl SchemeInfo {
    /// All settings in which the parts of the scheme differ from their defaults.
    pub fn settings(&self) -> Vec<(String, String)> {
        let of_host = (HOST_QUEUE.to_owned(), self.host_queue.info().name.to_owned());
        let of_host = (self.host_queue != QueueKind::DropTail).then_some(of_host);
        of_host.into_iter().chain(self.set.clone()).collect()
    }
}

keys! {
    struct SchemeKeys {
        /// name of the scheme
        name: String = required, Text::Line("the name");
        /// summary in one line
        summary: Option<String> = optional, Text::Line("the scheme");
        /// paper or RFC
        source: Option<String> = optional, Text::Line("its source");
        /// transport
        transport: String = required, Text::Line("a transport");
        /// queue discipline of switch ports
        queue: String = required, Text::Line("a queue discipline");
        /// queue discipline of host ports
        host_queue: QueueKind = "droptail", HostDiscipline;
    }
}

keys! {
    /// Keys of hosts apart from the transport.
    struct HostKeys {
        /// queue discipline of host ports
        queue: QueueKind = "droptail", HostDiscipline;
    }
}

/// The name of a queue discipline of hosts. A host's port does not trim the packets of its own senders.
struct HostDiscipline;

impl HostDiscipline {
    fn all() -> impl Iterator<Item = QueueKind> {
        QueueKind::ALL.iter().copied().filter(|kind| !kind.info().trims)
    }
}

impl Format for HostDiscipline {
    type Value = QueueKind;
    fn read(&self, value: &Value) -> Option<QueueKind> {
        let name = value.as_str()?;
        HostDiscipline::all().find(|kind| kind.info().name == name)
    }
    fn shape(&self) -> Shape {
        Shape::Words(HostDiscipline::all().map(|kind| kind.info().name).collect())
    }
}

/// The parameter that names the queue discipline of hosts.
const HOST_QUEUE: &str = "host.queue";

/// True if a scheme may set this key of the scenario. No such key changes flows, topology or the ideal
/// completion time of a flow.
pub fn is_of_network(key: &str) -> bool {
    let tables = ["switch.", "host.", "tcp.", "routing."];
    ![HOST_QUEUE, "tcp.mss", "tcp.header", "tcp.wire"].contains(&key)
        && tables.iter().any(|table| key.starts_with(table))
}

fn is_of_routing(setting: &Setting) -> bool {
    setting.key.starts_with("routing.")
}

static SCHEMES: LazyLock<Vec<SchemeInfo>> = LazyLock::new(|| {
    // A test makes sure that the file can be read.
    read_schemes(include_str!("schemes.toml"), "schemes.toml").unwrap_or_default()
});

/// Every scheme, in the order of the documentation.
pub fn schemes() -> &'static [SchemeInfo] {
    &SCHEMES
}

/// The schemes in `text`, the contents of the file `file`. Each `[[scheme]]` has `name`, `transport` and
/// `queue`, and optionally `host_queue`, `summary`, `source`, and a table `set` of parameters.
///
/// # Errors
/// Fails as [`Scheme::named`] does, and if a key is missing or unknown.
pub fn read_schemes(text: &str, file: &str) -> Result<Vec<SchemeInfo>, ConfigError> {
    let no_files = |name: &str| Err(format!("{file} cannot name {name}"));
    let in_file = |errors: &[ConfigError]| located(errors, file, text, &[]);
    let document = Document::new(shortflow_spec::parse(text, file)?, [], &[], &no_files);
    let document = document.map_err(|error| in_file(&[error]))?;
    let top = Reader::new(&document);
    let entries = top.only(&[], &["scheme"]).and_then(|()| top.tables("scheme"));
    let entries = entries.map_err(|error| in_file(&[error]))?;
    let read = |reader: &Reader| {
        reader.only(&SchemeKeys::parameters(), &["set"]).map_err(|error| vec![error])?;
        let keys = SchemeKeys::read(reader).map_err(|error| vec![error])?;
        let parts = [
            ("transport", transport_named(&keys.transport).err()),
            ("queue", queue_named(&keys.queue).err()),
        ];
        let wrong =
            parts.into_iter().filter_map(|(key, error)| Some(reader.impossible(key, error?.to_string())));
        let mut info = composed(&keys.transport, &keys.queue).map_err(|_| wrong.collect::<Vec<_>>())?;
        info.name = keys.name;
        info.summary = keys.summary.unwrap_or(info.summary);
        info.source = keys.source.unwrap_or_default();
        info.host_queue = keys.host_queue;
        info.set = reader.table("set").map_err(|error| vec![error])?.texts();
        let checked = Scheme::of(&info, &[]).map_err(|error| match error {
            ConfigError::Impossible { key, reason } if key == "queue" => {
                vec![reader.impossible("queue", reason)]
            }
            error => vec![reader.impossible("set", error.to_string())],
        });
        checked.map(|_| info)
    };
    let (read, wrong): (Vec<_>, Vec<_>) = entries.iter().map(read).partition(Result::is_ok);
    let wrong: Vec<ConfigError> = wrong.into_iter().filter_map(Result::err).flatten().collect();
    if wrong.is_empty() { Ok(read.into_iter().flatten().collect()) } else { Err(in_file(&wrong)) }
}

fn transport_named(name: &str) -> Result<&'static TransportInfo, ConfigError> {
    transports().iter().find(|info| info.name == name).ok_or_else(|| unknown_transport(name))
}

fn queue_named(name: &str) -> Result<QueueKind, ConfigError> {
    let kind = QueueKind::ALL.iter().copied().find(|kind| kind.info().name == name);
    kind.ok_or_else(|| {
        let names: Vec<&str> = QueueKind::ALL.iter().map(|kind| kind.info().name).collect();
        unknown("queue discipline", name, &names)
    })
}

/// The scheme of `transport` over `queue`, each with default parameters.
fn composed(transport: &str, queue: &str) -> Result<SchemeInfo, ConfigError> {
    let (of_transport, kind) = (transport_named(transport)?, queue_named(queue)?);
    Ok(SchemeInfo {
        name: format!("{transport} over {queue}"),
        summary: format!("{}, over {queue} queues: {}", of_transport.summary, kind.info().summary),
        source: String::new(),
        transport: transport.to_owned(),
        queue: kind,
        host_queue: QueueKind::DropTail,
        set: Vec::new(),
    })
}

/// A scheme with all its parameters set.
#[derive(Debug, Clone)]
pub struct Scheme {
    /// Name that users type.
    pub name: String,
    /// One-line summary.
    pub summary: String,
    /// Paper or RFC.
    pub source: String,
    /// Transport of the hosts.
    pub transport: TransportConfig,
    /// Discipline of switch ports.
    pub queue: QueueConfig,
    /// Discipline of host ports.
    pub host_queue: QueueConfig,
    /// Priority of packets.
    pub priority: PriorityRule,
    /// Keys of the scenario that have values of their own under the scheme.
    pub network: Vec<Setting>,
    /// Every parameter with its source.
    pub resolved: Vec<Setting>,
}

impl Scheme {
    /// The scheme called `name`, with `settings` such as `("transport.g", "0.09")`.
    pub fn named(name: &str, settings: &[(String, String)]) -> Result<Scheme, ConfigError> {
        Scheme::given(name, &of_user(settings).collect::<Vec<_>>())
    }

    /// The scheme called `name`, with settings of several sources; later ones win.
    pub fn given(name: &str, settings: &[Given]) -> Result<Scheme, ConfigError> {
        Scheme::of(&*info(name)?, settings)
    }

    fn of(info: &SchemeInfo, settings: &[Given]) -> Result<Scheme, ConfigError> {
        let own = info.settings();
        let of_scheme = own.iter().map(|(key, value)| (&**key, &**value, Source::Scheme));
        let all = of_scheme.chain(settings.iter().cloned());
        let (network, own): (Vec<_>, Vec<_>) = all.partition(|(key, ..)| is_of_network(key));
        let mut scheme = Scheme::read(info, &Document::of_values(own.iter().cloned())?)?;
        let known: Vec<&str> = scheme.resolved.iter().map(|setting| &*setting.key).collect();
        if let Some((key, ..)) = own.iter().find(|(key, ..)| !known.contains(key)) {
            let (key, hint) = ((*key).to_owned(), hint(key, &known));
            return Err(ConfigError::Unknown { key, what: "parameter", hint });
        }
        for (key, value, source) in network {
            scheme.network.retain(|setting| setting.key != key);
            scheme.network.push(Setting { key: key.to_owned(), value: value.to_owned(), source, acts: None });
        }
        scheme.resolved.extend(scheme.network.clone());
        Ok(scheme)
    }

    /// Settings of a scenario under this scheme. First come the settings of the scheme, then `given`, and
    /// then the user's settings for this scheme. Later settings win. The scheme's own `routing` gives way to a
    /// `routing` that the scenario, with the values `resolved`, states.
    pub fn around<'s>(
        &'s self,
        given: &'s [(String, String)],
        resolved: &[Setting],
    ) -> impl Iterator<Item = (&'s str, &'s str, Source)> {
        let states_routing =
            resolved.iter().any(|setting| is_of_routing(setting) && !setting.source.is_default());
        let own = self.network.iter().filter(|setting| setting.source == Source::Scheme);
        let own = own.filter(move |setting| !(is_of_routing(setting) && states_routing));
        let of_name = self.network.iter().filter(|setting| setting.source != Source::Scheme);
        let given_of = |setting: &'s Setting| (&*setting.key, &*setting.value, setting.source.clone());
        own.map(given_of).chain(of_user(given)).chain(of_name.map(given_of))
    }

    /// Values of a scenario's file, among `resolved`, that the scheme's own values replace. Each has its
    /// key, the value of the file, and the scheme's value.
    pub fn replaced<'s>(
        &'s self,
        resolved: &'s [Setting],
    ) -> impl Iterator<Item = (&'s str, &'s str, &'s str)> {
        let own = self.network.iter().filter(|own| own.source == Source::Scheme && !is_of_routing(own));
        own.filter_map(|own| {
            let of_file = |setting: &&Setting| {
                let is_given = matches!(setting.source, Source::Scenario | Source::Expression(..));
                setting.key == own.key && is_given && setting.value != own.value
            };
            resolved.iter().find(of_file).map(|file| (&*own.key, &*file.value, &*own.value))
        })
    }

    /// True if some port reads the priority of packets.
    pub fn reads_priority(&self) -> bool {
        [&self.queue, &self.host_queue].iter().any(|queue| queue.kind().info().by_priority)
    }

    /// True if queues of switches read K, and true if queues of hosts read K.
    pub fn reads_k(&self) -> (bool, bool) {
        (self.queue.kind().info().reads_k, self.host_queue.kind().info().reads_k)
    }

    fn read(info: &SchemeInfo, document: &Document) -> Result<Scheme, ConfigError> {
        let top = Reader::new(document);
        let transport = TransportConfig::read(&info.transport, &top.table("transport")?)?;
        let queue = info.queue.read(&top.table("queue")?)?;
        let host_queue = HostKeys::read(&top.table("host")?)?.queue.read(&top.table("host_queue")?)?;
        let mut scheme = Scheme {
            name: info.name.clone(),
            summary: info.summary.clone(),
            source: info.source.clone(),
            transport,
            queue,
            host_queue,
            priority: PriorityRule::default(),
            network: Vec::new(),
            resolved: Vec::new(),
        };
        if scheme.reads_priority() && !scheme.transport.info().host.info().sets_priority {
            scheme.priority = PriorityRule::read(&top.table("priority")?)?;
        }
        scheme.resolved = document.resolved();
        let refused = scheme.refuses_trims(scheme.transport.info());
        refused.map_or(Ok(scheme), |reason| Err(ConfigError::Impossible { key: "queue".to_owned(), reason }))
    }

    /// Reason for which the scheme's queue needs another transport, if the queue trims packets and receivers of
    /// `transport` do not take headers.
    pub(crate) fn refuses_trims(&self, transport: TransportInfo) -> Option<String> {
        let takes_trimmed = |transport: &TransportInfo| transport.host.info().takes_trimmed;
        if !self.queue.kind().info().trims || takes_trimmed(&transport) {
            return None;
        }
        let able: Vec<&str> =
            transports().iter().filter(|info| takes_trimmed(info)).map(|info| info.name).collect();
        let (queue, able) = (self.queue.kind().info().name, able.join(" or "));
        Some(format!(
            "{queue} takes the payload off packets, and receivers of {} do not take headers; choose the transport {able}, or another queue",
            transport.name
        ))
    }

    /// True if scheme `name` has the parameter `key`, for example `transport.g`, with the discipline
    /// `host_queue` in hosts or with its own.
    pub fn accepts(name: &str, key: &str, host_queue: Option<&str>) -> bool {
        let in_hosts: Vec<_> =
            host_queue.map(|queue| (HOST_QUEUE.to_owned(), queue.to_owned())).into_iter().collect();
        let all = parameters_with(name, &in_hosts).or_else(|_| parameters(name));
        all.is_ok_and(|all| is_of_network(key) || all.iter().any(|(known, _)| known == key))
    }

    /// True if scheme `base` keeps the parameter `key` under a user-defined law.
    pub fn keeps(base: &str, key: &str, host_queue: Option<&str>) -> bool {
        let is_of_law =
            key.strip_prefix("transport.").is_some_and(|name| !TransportConfig::is_of_every_sender(name));
        !is_of_law && Scheme::accepts(base, key, host_queue)
    }
}

/// The parameters of scheme `name` by key, with the scheme's values as defaults.
pub fn parameters(name: &str) -> Result<Vec<(String, ParamInfo)>, ConfigError> {
    parameters_with(name, &[])
}

/// [`parameters`] with `settings`.
fn parameters_with(
    name: &str,
    settings: &[(String, String)],
) -> Result<Vec<(String, ParamInfo)>, ConfigError> {
    let scheme = Scheme::named(name, settings)?;
    let tables = [
        ("transport", scheme.transport.params().to_vec()),
        ("queue", scheme.queue.kind().parameters()),
        ("host", HostKeys::parameters()),
        ("host_queue", scheme.host_queue.kind().parameters()),
        ("priority", PriorityRule::parameters()),
    ];
    let keyed = |(table, keys): (&str, Vec<ParamInfo>)| {
        keys.into_iter().map(|key| (format!("{table}.{}", key.name), key)).collect::<Vec<_>>()
    };
    let all: BTreeMap<String, ParamInfo> = tables.into_iter().flat_map(keyed).collect();
    let with_value = |setting: Setting| {
        let info = all.get(&setting.key)?.clone();
        Some((setting.key, ParamInfo { default: setting.value, ..info }))
    };
    Ok(scheme.resolved.into_iter().filter_map(with_value).collect())
}

/// The scheme that `name` means: a registered scheme, `SCHEME@SET`, or `TRANSPORT over QUEUE`.
fn info(name: &str) -> Result<Cow<'static, SchemeInfo>, ConfigError> {
    if let Some(info) = schemes().iter().find(|info| info.name == name) {
        return Ok(Cow::Borrowed(info));
    }
    if let Some((base, set)) = name.rsplit_once('@') {
        return with_set(base, set).map(Cow::Owned);
    }
    if let [transport, "over", queue] = name.split_whitespace().collect::<Vec<_>>()[..] {
        return composed(transport, queue).map(Cow::Owned);
    }
    let names: Vec<&str> = schemes().iter().map(|info| info.name.as_str()).collect();
    Err(unknown("scheme", name, &names))
}

/// The scheme `base` with the constants of `set` that apply to it.
fn with_set(base: &str, set: &str) -> Result<SchemeInfo, ConfigError> {
    let refused = |expected: &str| ConfigError::Value {
        key: "schemes".to_owned(),
        value: format!("{base}@{set}"),
        expected: expected.to_owned(),
    };
    if base.contains('@') {
        return Err(refused("a scheme with one parameter set"));
    }
    let mut named = info(base)?.into_owned();
    let over_tcp = transport_named(&named.transport)?.host == Host::Tcp;
    let is_for_it = |set: &&ParameterSet| set.of.as_ref().map_or(over_tcp, |of| *of == named.transport);
    let fitting: Vec<&ParameterSet> = parameter_sets().iter().filter(is_for_it).collect();
    let found = fitting.iter().find(|known| known.name == set).ok_or_else(|| {
        let names: Vec<&str> = fitting.iter().map(|set| set.name.as_str()).collect();
        let same_name = || parameter_sets().iter().filter(|known| known.name == set);
        let transports: Vec<&str> = same_name().filter_map(|known| known.of.as_deref()).collect();
        if same_name().next().is_none() {
            unknown("parameter set", set, &names)
        } else if transports.is_empty() {
            refused("a scheme with TCP's hosts, whose constants the set states")
        } else {
            refused(&format!("a scheme with the transport {}", transports.join(" or ")))
        }
    })?;
    let own = Scheme::of(&named, &[])?.resolved;
    let has = |key: &str| is_of_network(key) || own.iter().any(|setting| setting.key == key);
    let constants = found.constants.iter().filter(|constant| has(&constant.key));
    named.set.extend(constants.map(|constant| (constant.key.clone(), constant.value.clone())));
    named.summary = format!("{}; with {}", named.summary, found.summary);
    named.name = format!("{base}@{set}");
    Ok(named)
}

/// Error for a `what` called `name`, which is not among `names`.
pub(crate) fn unknown(what: &'static str, name: &str, names: &[&str]) -> ConfigError {
    ConfigError::Unknown { key: format!("{name:?}"), what, hint: hint(name, names) }
}

impl Scheme {
    /// The scheme called `base` with these settings, whose law is replaced by a user-defined law. Fails if
    /// the hosts of `base` pass no [`PathSample`](shortflow_cc::PathSample) to laws.
    pub fn user_defined(
        base: &str,
        name: String,
        summary: String,
        settings: &[Given],
        start: StartUserDefined,
    ) -> Result<Scheme, ConfigError> {
        let (called, base) = (base, Scheme::given(base, settings)?);
        if !base.transport.info().host.info().takes_laws {
            return Err(ConfigError::Value {
                key: "base".to_owned(),
                value: format!("{called:?}"),
                expected: "a scheme with TCP's or DCQCN's hosts, which report delays to laws".to_owned(),
            });
        }
        let transport = base.transport.with_law(start);
        let kept: Vec<String> = transport.params().iter().map(|p| format!("transport.{}", p.name)).collect();
        let mut resolved = base.resolved;
        resolved.retain(|setting| !setting.key.starts_with("transport.") || kept.contains(&setting.key));
        Ok(Scheme { name, summary, transport, resolved, ..base })
    }
}

#[cfg(test)]
mod tests;
