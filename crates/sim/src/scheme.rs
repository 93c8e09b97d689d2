//! [`Scheme`]: a transport with the queue discipline that it needs, and the rule by which senders give
//! packets a priority where the discipline reads one. This is what papers compare.

use crate::config::{ConfigError, Document, ParamInfo, Reader, Setting, Source, Text, keys};
use crate::queue::{QueueConfig, QueueKind};
use crate::tcp::priority::PriorityRule;
use shortflow_cc::{StartUserDefined, TransportConfig, transports};
use shortflow_spec::hint;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// What a scheme is made of: a row of `schemes.toml`, or of a user's file of the same form.
#[derive(Debug, Clone)]
pub struct SchemeInfo {
    /// Name that users type.
    pub name: String,
    /// One line on what it is.
    pub summary: String,
    /// Paper or RFC; may be empty.
    pub source: String,
    /// Name of the transport.
    pub transport: String,
    /// Queue discipline of switch ports.
    pub queue: QueueKind,
    /// Parameters that differ from the defaults of transport, queue discipline and priority rule, with their prefix:
    /// `("transport.ecn", "classic")`.
    pub set: Vec<(String, String)>,
}

keys! {
    struct SchemeKeys {
        /// name that users type
        name: String = required, Text::Line("the name");
        /// one line on what it is
        summary: Option<String> = optional, Text::Line("what the scheme is");
        /// paper or RFC
        source: Option<String> = optional, Text::Line("its source");
        /// transport
        transport: String = required, Text::Line("a transport");
        /// queue discipline of switch ports
        queue: String = required, Text::Line("a queue discipline");
    }
}

static SCHEMES: LazyLock<Vec<SchemeInfo>> = LazyLock::new(|| {
    // That the file can be read is what a test makes sure of.
    read_schemes(include_str!("schemes.toml"), "schemes.toml").unwrap_or_default()
});

/// Every scheme, in the order of the documentation.
pub fn schemes() -> &'static [SchemeInfo] {
    &SCHEMES
}

/// The schemes in `text`, the file called `file`: `[[scheme]]` with `name`, `transport`, `queue`, and as one likes
/// `summary`, `source` and a table `set` of parameters.
///
/// # Errors
/// Fails as [`Scheme::named`] does, and if a key is missing or unknown.
pub fn read_schemes(text: &str, file: &str) -> Result<Vec<SchemeInfo>, ConfigError> {
    let no_files = |name: &str| Err(format!("{file} cannot name {name}"));
    let document = Document::new(shortflow_spec::parse(text, file)?, &[], &[], &no_files)?;
    let top = Reader::new(&document);
    top.only(&[], &["scheme"])?;
    let read = |reader: &Reader| {
        reader.only(&SchemeKeys::parameters(), &["set"])?;
        let keys = SchemeKeys::read(reader)?;
        let mut info = composed(&keys.transport, &keys.queue)?;
        info.name = keys.name;
        info.summary = keys.summary.unwrap_or(info.summary);
        info.source = keys.source.unwrap_or_default();
        info.set = reader.table("set")?.texts();
        Scheme::of(&info, &[]).map(|_| info)
    };
    top.tables("scheme")?.iter().map(read).collect()
}

/// `transport` over `queue`, each as it is by default.
fn composed(transport: &str, queue: &str) -> Result<SchemeInfo, ConfigError> {
    let of_transport = transports().iter().find(|info| info.name == transport).ok_or_else(|| {
        let names: Vec<&str> = transports().iter().map(|info| info.name).collect();
        unknown("transport", transport, &names)
    })?;
    let kind = QueueKind::ALL.iter().find(|kind| kind.info().name == queue).ok_or_else(|| {
        let names: Vec<&str> = QueueKind::ALL.iter().map(|kind| kind.info().name).collect();
        unknown("queue discipline", queue, &names)
    })?;
    Ok(SchemeInfo {
        name: format!("{transport} over {queue}"),
        summary: format!("{}, over {queue} queues: {}", of_transport.summary, kind.info().summary),
        source: String::new(),
        transport: transport.to_owned(),
        queue: *kind,
        set: Vec::new(),
    })
}

/// A scheme with all its parameters set.
#[derive(Debug, Clone)]
pub struct Scheme {
    /// Name that users type.
    pub name: String,
    /// One line on what it is.
    pub summary: String,
    /// Paper or RFC.
    pub source: String,
    /// What runs in the hosts.
    pub transport: TransportConfig,
    /// What runs in switch ports.
    pub queue: QueueConfig,
    /// How senders set the priority of packets.
    pub priority: PriorityRule,
    /// Every parameter with its source.
    pub resolved: Vec<Setting>,
}

impl Scheme {
    /// The scheme called `name`, with `settings` such as `("transport.g", "0.09")`.
    pub fn named(name: &str, settings: &[(String, String)]) -> Result<Scheme, ConfigError> {
        Scheme::of(&*info(name)?, settings)
    }

    fn of(info: &SchemeInfo, settings: &[(String, String)]) -> Result<Scheme, ConfigError> {
        let of_scheme = info.set.iter().map(|(key, value)| (&**key, &**value, Source::Scheme));
        let of_user = settings.iter().map(|(key, value)| (&**key, &**value, Source::Set));
        let scheme = Scheme::read(info, &Document::of_values(of_scheme.chain(of_user))?)?;
        let known: Vec<&str> = scheme.resolved.iter().map(|setting| &*setting.key).collect();
        match info.set.iter().chain(settings).find(|(key, _)| !known.contains(&&**key)) {
            None => Ok(scheme),
            Some((key, _)) => {
                let hint = hint(key, &known);
                Err(ConfigError::Unknown { key: key.clone(), what: "parameter", hint })
            }
        }
    }

    /// Nobody reads priorities where nothing reorders.
    fn read(info: &SchemeInfo, document: &Document) -> Result<Scheme, ConfigError> {
        let top = Reader::new(document);
        let transport = TransportConfig::read(&info.transport, &top.table("transport")?)?;
        let queue = info.queue.read(&top.table("queue")?)?;
        let priority = match info.queue.reorders() {
            true => PriorityRule::read(&top.table("priority")?)?,
            false => PriorityRule::default(),
        };
        Ok(Scheme {
            name: info.name.clone(),
            summary: info.summary.clone(),
            source: info.source.clone(),
            transport,
            queue,
            priority,
            resolved: document.resolved(),
        })
    }

    /// Whether scheme `name` has the parameter `key`, for example `transport.g`.
    pub fn accepts(name: &str, key: &str) -> bool {
        parameters(name).is_ok_and(|all| all.iter().any(|(known, _)| known == key))
    }

    /// Whether scheme `base` keeps the parameter `key` when another law takes the place of its own.
    pub fn keeps(base: &str, key: &str) -> bool {
        let is_of_law =
            key.strip_prefix("transport.").is_some_and(|name| !TransportConfig::is_of_every_sender(name));
        !is_of_law && Scheme::accepts(base, key)
    }
}

/// The parameters of scheme `name` by key, with what the scheme sets as their defaults.
pub fn parameters(name: &str) -> Result<Vec<(String, ParamInfo)>, ConfigError> {
    let (info, scheme) = (info(name)?, Scheme::named(name, &[])?);
    let (queue, priority) = (info.queue.parameters(), PriorityRule::parameters());
    let tables = [("transport", scheme.transport.params()), ("queue", &queue), ("priority", &priority)];
    let keyed = |(table, keys): (&str, &[ParamInfo])| {
        keys.iter().map(|key| (format!("{table}.{}", key.name), key.clone())).collect::<Vec<_>>()
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
    if let [transport, "over", queue] = name.split_whitespace().collect::<Vec<_>>()[..] {
        return composed(transport, queue).map(Cow::Owned);
    }
    let names: Vec<&str> = schemes().iter().map(|info| info.name.as_str()).collect();
    Err(unknown("scheme", name, &names))
}

/// There is no such thing as `name`, but there are `names`.
pub(crate) fn unknown(what: &'static str, name: &str, names: &[&str]) -> ConfigError {
    ConfigError::Unknown { key: format!("{name:?}"), what, hint: hint(name, names) }
}

impl Scheme {
    /// The scheme called `base`, with `settings` of what is left of it, and with a window law that is not
    /// registered in place of its own.
    pub fn user_defined(
        base: &str,
        name: String,
        summary: String,
        settings: &[(String, String)],
        start: StartUserDefined,
    ) -> Result<Scheme, ConfigError> {
        let base = Scheme::named(base, settings)?;
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
            };
            assert!(Scheme::accepts(&info.name, of_host));
        }
    }

    #[test]
    fn a_scheme_may_be_composed() {
        let scheme =
            Scheme::named("dctcp  over red", &[("queue.max_p".to_owned(), "0.2".to_owned())]).unwrap();
        assert_eq!(scheme.name, "dctcp over red");
        assert_eq!((scheme.transport.info().name, scheme.queue.kind().info().name), ("dctcp", "red"));
        assert!(Scheme::accepts("sack over pias", "priority.by"));
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
        assert!(
            error("transport = \"dctcp\"").starts_with("scheme.1.queue: missing"),
            "{}",
            error("transport = \"dctcp\"")
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
        assert!(Scheme::accepts("dctcp", "transport.g") && !Scheme::accepts("tcp", "transport.g"));
        assert!(!Scheme::accepts("dctcp", "g") && !Scheme::accepts("dctpc", "transport.g"));
    }

    #[test]
    fn another_law_keeps_what_is_not_of_the_law() {
        assert!(Scheme::keeps("pecn", "queue.mark") && Scheme::keeps("pecn", "priority.by"));
        assert!(Scheme::keeps("dctcp", "transport.recovery") && !Scheme::keeps("dctcp", "transport.g"));
        assert!(!Scheme::keeps("dctcp", "queue.mark"));
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
        assert!(Scheme::accepts("pias", "priority.by") && !Scheme::accepts("dctcp", "priority.by"));
        assert!(message("dctcp", "priority.by", "size").contains("unknown parameter"));
        assert!(Scheme::accepts("red", "queue.max_p") && !Scheme::accepts("dctcp", "queue.max_p"));
        let error = message("pecn", "priority.by", "sise");
        assert_eq!(
            error,
            "priority.by: \"sise\" is not one of none, size, size-dscp, size-class, remaining, sent, deadline, levels; \
             did you mean \"size\"?"
        );
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
