//! [`Scheme`]: a transport with the queue disciplines that it needs in switches and in hosts, and the rule by which
//! senders give packets a priority where one of them reads it. This is what papers compare.

use crate::config::{
    ConfigError, Document, Format, ParamInfo, Reader, Setting, Shape, Source, Text, keys, of_user,
};
use crate::parameter_sets::parameter_sets;
use crate::queue::{QueueConfig, QueueKind};
use crate::tcp::priority::PriorityRule;
use shortflow_cc::{StartUserDefined, TransportConfig, TransportInfo, transports};
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
    /// Queue discipline of host ports, unless `host.queue` says another.
    pub host_queue: QueueKind,
    /// Parameters that differ from the defaults of transport, queue disciplines and priority rule, with their prefix:
    /// `("transport.ecn", "classic")`.
    pub set: Vec<(String, String)>,
}

impl SchemeInfo {
    /// All in which its parts differ from their defaults.
    pub fn settings(&self) -> Vec<(String, String)> {
        let of_host = (HOST_QUEUE.to_owned(), self.host_queue.info().name.to_owned());
        let of_host = (self.host_queue != QueueKind::DropTail).then_some(of_host);
        of_host.into_iter().chain(self.set.clone()).collect()
    }
}

keys! {
    struct SchemeKeys {
        /// name that users type
        name: String = required, Text::Line("the name");
        /// one line on what it is
        summary: Option<String> = optional, Text::Line("the scheme");
        /// paper or RFC
        source: Option<String> = optional, Text::Line("its source");
        /// transport
        transport: String = required, Text::Line("a transport");
        /// queue discipline of switch ports
        queue: String = required, Text::Line("a queue discipline");
        /// queue discipline of host ports
        host_queue: QueueKind = "droptail", Discipline;
    }
}

keys! {
    /// Host part beside the transport.
    struct HostKeys {
        /// queue discipline of host ports
        queue: QueueKind = "droptail", Discipline;
    }
}

/// The name of a queue discipline.
struct Discipline;

impl Format for Discipline {
    type Value = QueueKind;
    fn read(&self, value: &Value) -> Option<QueueKind> {
        let name = value.as_str()?;
        QueueKind::ALL.iter().copied().find(|kind| kind.info().name == name)
    }
    fn shape(&self) -> Shape {
        Shape::Words(QueueKind::ALL.iter().map(|kind| kind.info().name).collect())
    }
}

/// The parameter that names the queue discipline of hosts.
const HOST_QUEUE: &str = "host.queue";

/// True if a scheme may set this key of the scenario. No such key changes flows, topology or the ideal completion
/// time of a flow.
pub fn is_of_network(key: &str) -> bool {
    let tables = ["switch.", "host.", "tcp.", "routing."];
    ![HOST_QUEUE, "tcp.mss", "tcp.header"].contains(&key) && tables.iter().any(|table| key.starts_with(table))
}

static SCHEMES: LazyLock<Vec<SchemeInfo>> = LazyLock::new(|| {
    // A test makes sure that the file can be read.
    read_schemes(include_str!("schemes.toml"), "schemes.toml").unwrap_or_default()
});

/// Every scheme, in the order of the documentation.
pub fn schemes() -> &'static [SchemeInfo] {
    &SCHEMES
}

/// The schemes in `text`, the file called `file`: `[[scheme]]` with `name`, `transport`, `queue`, and as one likes
/// `host_queue`, `summary`, `source` and a table `set` of parameters.
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
        let checked =
            Scheme::of(&info, &[]).map_err(|error| vec![reader.impossible("set", error.to_string())]);
        checked.map(|_| info)
    };
    let (read, wrong): (Vec<_>, Vec<_>) = entries.iter().map(read).partition(Result::is_ok);
    let wrong: Vec<ConfigError> = wrong.into_iter().filter_map(Result::err).flatten().collect();
    if wrong.is_empty() { Ok(read.into_iter().flatten().collect()) } else { Err(in_file(&wrong)) }
}

fn transport_named(name: &str) -> Result<&'static TransportInfo, ConfigError> {
    transports().iter().find(|info| info.name == name).ok_or_else(|| {
        let names: Vec<&str> = transports().iter().map(|info| info.name).collect();
        unknown("transport", name, &names)
    })
}

fn queue_named(name: &str) -> Result<QueueKind, ConfigError> {
    let kind = QueueKind::ALL.iter().copied().find(|kind| kind.info().name == name);
    kind.ok_or_else(|| {
        let names: Vec<&str> = QueueKind::ALL.iter().map(|kind| kind.info().name).collect();
        unknown("queue discipline", name, &names)
    })
}

/// `transport` over `queue`, each as it is by default.
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
        Scheme::of(&*info(name)?, settings)
    }

    /// The scheme called `name` with the parameters of a user's `table` of schemes, which `settings` go before.
    pub fn with_table(
        name: &str,
        table: &[(String, String)],
        settings: &[(String, String)],
    ) -> Result<Scheme, ConfigError> {
        let mut info = info(name)?.into_owned();
        info.set.extend_from_slice(table);
        Scheme::of(&info, settings)
    }

    fn of(info: &SchemeInfo, settings: &[(String, String)]) -> Result<Scheme, ConfigError> {
        let own = info.settings();
        let of_scheme = own.iter().map(|(key, value)| (&**key, &**value, Source::Scheme));
        let all = of_scheme.chain(of_user(settings));
        let (network, own): (Vec<_>, Vec<_>) = all.partition(|(key, ..)| is_of_network(key));
        let mut scheme = Scheme::read(info, &Document::of_values(own.iter().cloned())?)?;
        let known: Vec<&str> = scheme.resolved.iter().map(|setting| &*setting.key).collect();
        if let Some((key, ..)) = own.iter().find(|(key, ..)| !known.contains(key)) {
            let (key, hint) = ((*key).to_owned(), hint(key, &known));
            return Err(ConfigError::Unknown { key, what: "parameter", hint });
        }
        for (key, value, source) in network {
            scheme.network.retain(|setting| setting.key != key);
            scheme.network.push(Setting { key: key.to_owned(), value: value.to_owned(), source });
        }
        scheme.resolved.extend(scheme.network.clone());
        Ok(scheme)
    }

    /// The settings of a scenario under this scheme: those of the scheme's table, then `given`, then those that the user gave the
    /// scheme. Later ones win.
    pub fn around<'s>(
        &'s self,
        given: &'s [(String, String)],
    ) -> impl Iterator<Item = (&'s str, &'s str, Source)> {
        let of = |table: bool| {
            let found =
                self.network.iter().filter(move |setting| (setting.source == Source::Scheme) == table);
            found.map(|setting| (&*setting.key, &*setting.value, setting.source.clone()))
        };
        of(true).chain(of_user(given)).chain(of(false))
    }

    /// True if some port reads the priority of packets.
    pub fn reads_priority(&self) -> bool {
        [&self.queue, &self.host_queue].iter().any(|queue| queue.kind().info().by_priority)
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
        if scheme.reads_priority() {
            scheme.priority = PriorityRule::read(&top.table("priority")?)?;
        }
        scheme.resolved = document.resolved();
        Ok(scheme)
    }

    /// True if scheme `name` has the parameter `key`, for example `transport.g`, with this discipline in hosts or
    /// its own.
    pub fn accepts(name: &str, key: &str, host_queue: Option<&str>) -> bool {
        let in_hosts: Vec<_> =
            host_queue.map(|queue| (HOST_QUEUE.to_owned(), queue.to_owned())).into_iter().collect();
        let all = parameters_with(name, &in_hosts).or_else(|_| parameters(name));
        all.is_ok_and(|all| is_of_network(key) || all.iter().any(|(known, _)| known == key))
    }

    /// True if scheme `base` keeps the parameter `key` under another law.
    pub fn keeps(base: &str, key: &str, host_queue: Option<&str>) -> bool {
        let is_of_law =
            key.strip_prefix("transport.").is_some_and(|name| !TransportConfig::is_of_every_sender(name));
        !is_of_law && Scheme::accepts(base, key, host_queue)
    }
}

/// The parameters of scheme `name` by key, with what the scheme sets as their defaults.
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

/// The scheme that `name` means: a registered one, or `TRANSPORT over QUEUE`.
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

/// The scheme called `base` with those constants of the set called `set` that it has.
fn with_set(base: &str, set: &str) -> Result<SchemeInfo, ConfigError> {
    let mut named = info(base)?.into_owned();
    let found = parameter_sets().iter().find(|known| known.name == set).ok_or_else(|| {
        let names: Vec<&str> = parameter_sets().iter().map(|set| set.name.as_str()).collect();
        unknown("parameter set", set, &names)
    })?;
    let own = Scheme::of(&named, &[])?.resolved;
    let has = |key: &str| is_of_network(key) || own.iter().any(|setting| setting.key == key);
    let constants = found.constants.iter().filter(|constant| has(&constant.key));
    named.set.extend(constants.map(|constant| (constant.key.clone(), constant.value.clone())));
    named.summary = format!("{}; with {}", named.summary, found.summary);
    named.name = format!("{base}@{set}");
    Ok(named)
}

/// There is no such thing as `name`, but there are `names`.
pub(crate) fn unknown(what: &'static str, name: &str, names: &[&str]) -> ConfigError {
    ConfigError::Unknown { key: format!("{name:?}"), what, hint: hint(name, names) }
}

impl Scheme {
    /// The scheme called `base`, with `settings` of its kept parameters, and with a user-defined window law in place
    /// of its own. An error if the hosts of `base` hand laws no [`PathSample`](shortflow_cc::PathSample).
    pub fn user_defined(
        base: &str,
        name: String,
        summary: String,
        settings: &[(String, String)],
        start: StartUserDefined,
    ) -> Result<Scheme, ConfigError> {
        let (called, base) = (base, Scheme::named(base, settings)?);
        if base.transport.info().host.obeys().is_none() {
            return Err(ConfigError::Value {
                key: "base".to_owned(),
                value: format!("{called:?}"),
                expected: "a scheme whose hosts tell laws of delays: those of TCP, and of DCQCN".to_owned(),
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
mod tests {
    use super::*;
    use shortflow_cc::{Ecn, Host, Recovery};

    fn with(name: &str, key: &str, value: &str) -> Result<Scheme, ConfigError> {
        Scheme::named(name, &[(key.to_owned(), value.to_owned())])
    }

    fn message(name: &str, key: &str, value: &str) -> String {
        with(name, key, value).unwrap_err().to_string()
    }

    #[test]
    fn every_scheme_of_the_table_can_be_built() {
        let read = read_schemes(include_str!("schemes.toml"), "schemes.toml").unwrap();
        assert!(read.len() >= 19);
        for info in read {
            let scheme = Scheme::named(&info.name, &[]).unwrap();
            assert_eq!(scheme.transport.info().name, info.transport);
            let of_host = match scheme.transport.info().host {
                Host::Tcp => "transport.ecn",
                Host::Roce => "transport.cnp_every",
                Host::Minimal => "transport.probe_after",
            };
            assert!(Scheme::accepts(&info.name, of_host, None));
        }
    }

    #[test]
    fn a_scheme_may_be_composed() {
        let scheme =
            Scheme::named("dctcp  over red", &[("queue.max_p".to_owned(), "0.2".to_owned())]).unwrap();
        assert_eq!(scheme.name, "dctcp over red");
        assert_eq!((scheme.transport.info().name, scheme.queue.kind().info().name), ("dctcp", "red"));
        assert!(Scheme::accepts("sack over pias", "priority.by", None));
        let error = |name| Scheme::named(name, &[]).unwrap_err().to_string();
        assert_eq!(error("dctcp over redd"), "\"redd\": unknown queue discipline; did you mean \"red\"?");
        assert!(error("dctpc over red").contains("did you mean \"dctcp\"?"));
    }

    #[test]
    fn schemes_of_a_file_say_what_is_wrong_with_them() {
        let read = |rest: &str| read_schemes(&format!("[[scheme]]\nname = \"mine\"\n{rest}"), "mine.toml");
        let mine = read("transport = \"dctcp\"\nqueue = \"red\"\nset = { \"transport.g\" = 0.5 }").unwrap();
        assert_eq!((mine[0].name.as_str(), &mine[0].set[0].1), ("mine", &"0.5".to_owned()));
        let error = |rest: &str| read(rest).unwrap_err().to_string();
        let missing = error("transport = \"dctcp\"");
        assert!(missing.starts_with("mine.toml:1: scheme.1.queue: missing"), "{missing}");
        let both = error("transport = \"dtccp\"\nqueue = \"red\"\n[[scheme]]\nname = \"other\"\nqueue = 1");
        assert_eq!(
            both,
            "mine.toml:3: scheme.1.transport: \"dtccp\": unknown transport; did you mean \"dctcp\"?\n\
             mine.toml:5: scheme.2.transport: missing; expected a line of visible characters on a transport"
        );
        let text = "transport = \"dctcp\"\nqueue = \"red\"\n";
        assert!(error(&format!("{text}que = 1")).contains("scheme.1.que"));
        assert!(
            error(&format!("{text}set = {{ \"transport.q\" = 1 }}"))
                .contains("transport.q: unknown parameter")
        );
        assert!(error("transport = \"dctpc\"\nqueue = \"red\"").contains("\"dctcp\""));
    }

    #[test]
    fn schemes_differ_from_their_transport_where_the_table_says_so() {
        let scheme = Scheme::named("tcp-ecn", &[]).unwrap();
        assert_eq!((scheme.transport.recovery(), scheme.transport.ecn()), (Recovery::NewReno, Ecn::Classic));
        let ecn = scheme.resolved.iter().find(|setting| setting.key == "transport.ecn").unwrap();
        assert_eq!((ecn.value.as_str(), &ecn.source), ("classic", &Source::Scheme));
    }

    #[test]
    fn parameters_can_be_set() {
        let scheme = with("dctcp", "transport.g", "0.09").unwrap();
        let g = scheme.resolved.iter().find(|setting| setting.key == "transport.g").unwrap();
        assert_eq!((g.value.as_str(), &g.source), ("0.09", &Source::Set));
        assert!(
            Scheme::accepts("dctcp", "transport.g", None) && !Scheme::accepts("tcp", "transport.g", None)
        );
        assert!(!Scheme::accepts("dctcp", "g", None) && !Scheme::accepts("dctpc", "transport.g", None));
    }

    #[test]
    fn another_law_keeps_what_is_not_of_the_law() {
        assert!(Scheme::keeps("pecn", "queue.mark", None) && Scheme::keeps("pecn", "priority.by", None));
        assert!(
            Scheme::keeps("dctcp", "transport.recovery", None)
                && !Scheme::keeps("dctcp", "transport.g", None)
        );
        assert!(!Scheme::keeps("dctcp", "queue.mark", None));
    }

    #[test]
    fn queues_and_priorities_have_parameters_too() {
        let scheme = with("pecn", "queue.mark", "lowest").unwrap();
        let found = |key: &str| scheme.resolved.iter().find(|setting| setting.key == key).unwrap();
        assert_eq!(
            (found("queue.mark").value.as_str(), &found("queue.mark").source),
            ("lowest", &Source::Set)
        );
        assert_eq!(
            (found("priority.by").value.as_str(), &found("priority.by").source),
            ("size", &Source::Scheme)
        );
        assert!(
            Scheme::accepts("pias", "priority.by", None) && !Scheme::accepts("dctcp", "priority.by", None)
        );
        assert!(message("dctcp", "priority.by", "size").contains("unknown parameter"));
        assert!(
            Scheme::accepts("red", "queue.max_p", None) && !Scheme::accepts("dctcp", "queue.max_p", None)
        );
        let error = message("pecn", "priority.by", "sise");
        assert_eq!(
            error,
            "priority.by: \"sise\" is not one of none, size, size-dscp, size-class, remaining, sent, deadline, levels; \
             did you mean \"size\"?"
        );
    }

    #[test]
    fn hosts_have_queues_too() {
        let scheme = |settings: &[(&str, &str)]| {
            let owned = |pair: &(&str, &str)| (pair.0.to_owned(), pair.1.to_owned());
            Scheme::named("dctcp", &settings.iter().map(owned).collect::<Vec<_>>())
        };
        assert_eq!(scheme(&[]).unwrap().host_queue.kind(), QueueKind::DropTail);
        let fair = scheme(&[("host.queue", "fair"), ("host_queue.quantum", "9000B")]).unwrap();
        assert_eq!((fair.host_queue.kind(), fair.reads_priority()), (QueueKind::Fair, false));
        assert!(scheme(&[("host.queue", "pias"), ("priority.by", "levels")]).unwrap().reads_priority());
        let error = |settings| scheme(settings).unwrap_err().to_string();
        assert!(error(&[("host.queue", "fiar")]).ends_with("did you mean \"fair\"?"));
        assert!(error(&[("host_queue.quantum", "1500B")]).contains("unknown parameter"));
        let accepts = |key, host_queue| Scheme::accepts("dctcp", key, host_queue);
        assert!(accepts("priority.by", Some("pias")) && accepts("host_queue.quantum", Some("fair")));
        assert!(!accepts("host_queue.quantum", None) && accepts("host.queue", Some("fiar")));
        let file =
            "[[scheme]]\nname = \"mine\"\ntransport = \"dctcp\"\nqueue = \"red\"\nhost_queue = \"fair\"";
        let settings = read_schemes(file, "mine.toml").unwrap()[0].settings();
        assert_eq!(settings, [("host.queue".to_owned(), "fair".to_owned())]);
    }

    #[test]
    fn a_scheme_may_have_values_of_its_own_for_keys_of_the_network() {
        let scheme = with("pfabric", "switch.buffer", "36KB").unwrap();
        let given = [("switch.buffer".to_owned(), "1MB".to_owned())];
        let around: Vec<_> = scheme.around(&given).collect();
        assert_eq!(
            around.last(),
            Some(&("switch.buffer", "36KB", Source::Set)),
            "the scheme's own wins over --set"
        );
        assert!(
            scheme.resolved.iter().any(|setting| setting.key == "switch.buffer" && setting.value == "36KB")
        );
        assert!(
            Scheme::accepts("tcp", "tcp.ack_every", None) && !Scheme::accepts("tcp", "traffic.1.load", None)
        );
    }

    #[test]
    fn a_named_set_gives_a_scheme_the_constants_that_it_has() {
        let found = |scheme: &Scheme, key: &str| {
            scheme.resolved.iter().find(|setting| setting.key == key).map(|setting| setting.value.clone())
        };
        let linux = Scheme::named("dctcp@linux", &[]).unwrap();
        assert_eq!(found(&linux, "transport.cwnd_floor").as_deref(), Some("2"));
        assert_eq!(found(&linux, "tcp.ack_every").as_deref(), Some("2"));
        let given = [("tcp.ack_every".to_owned(), "4".to_owned())];
        let last = |scheme: &Scheme| {
            scheme.around(&given).filter(|one| one.0 == "tcp.ack_every").last().unwrap().1.to_owned()
        };
        assert_eq!(last(&linux), "4", "--set wins over the set");
        let own = Scheme::named("dctcp@linux", &[("tcp.ack_every".to_owned(), "8".to_owned())]).unwrap();
        assert_eq!(last(&own), "8");
        let tcp = Scheme::named("tcp@linux", &[]).unwrap();
        assert_eq!(
            (found(&tcp, "transport.cwnd_floor"), found(&tcp, "tcp.ack_every").as_deref()),
            (None, Some("2"))
        );
        assert!(parameter_sets().len() >= 3);
        for constant in parameter_sets().iter().flat_map(|set| &set.constants) {
            assert!(
                with("dctcp", &constant.key, &constant.value).is_ok() && !constant.value.is_empty(),
                "{constant:?}"
            );
        }
        let error = |name| Scheme::named(name, &[]).unwrap_err().to_string();
        assert_eq!(error("dctcp@linus"), "\"linus\": unknown parameter set; did you mean \"linux\"?");
        assert_eq!(error("dctpc@linux"), "\"dctpc\": unknown scheme; did you mean \"dctcp\"?");
    }

    #[test]
    fn pairs_in_the_wrong_order_name_both_keys() {
        let pairs = [
            ("l2dct", "w_min", "3", "w_max = 2.5"),
            ("l2dct", "w_max", "0.1", "w_max = 0.1"),
            ("l2dct", "knee_low", "2MB", "knee_high = 1MB"),
            ("atcp", "w_low", "4", "w_high = 3"),
            ("atcp-dctcp", "t1", "11MB", "t2 = 10MB"),
        ];
        for (name, key, value, limit) in pairs {
            let error = message(name, &format!("transport.{key}"), value);
            assert!(error.ends_with(&format!(" is above transport.{limit}")), "{error}");
        }
        assert_eq!(
            message("l2dct", "transport.w_min", "3"),
            "transport.w_min: 3 is above transport.w_max = 2.5"
        );
        let both = [("transport.w_min", "3"), ("transport.w_max", "4")];
        let both = both.map(|(key, value)| (key.to_owned(), value.to_owned()));
        assert!(Scheme::named("l2dct", &both).is_ok(), "only the final values count");
    }

    #[test]
    fn errors_name_key_value_expectation_and_the_nearest_name() {
        let error = message("dctcp", "transport.g", "2");
        assert_eq!(error, "transport.g: 2 is not a number from 0 to 1");
        let error = message("dctcp", "transport.initial_alfa", "1");
        assert!(error.contains("unknown parameter") && error.contains("transport.initial_alpha"), "{error}");
        assert!(message("dctcp", "queue.k", "1").contains("queue.k: unknown parameter"));
        let error = Scheme::named("dctpc", &[]).unwrap_err().to_string();
        assert_eq!(error, "\"dctpc\": unknown scheme; did you mean \"dctcp\"?");
        let error = Scheme::named("DCTCP", &[]).unwrap_err().to_string();
        assert_eq!(error, "\"DCTCP\": unknown scheme; did you mean \"dctcp\"?");
    }
}
