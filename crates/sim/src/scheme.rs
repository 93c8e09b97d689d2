//! [`Scheme`]: a transport with the queue discipline that it needs, and the rule by which senders give
//! packets a priority where the discipline reads one. This is what papers compare.

use crate::config::{ConfigError, Document, ParamInfo, Reader, Setting, Source};
use crate::ideal;
use crate::queue::{QueueConfig, QueueKind};
use crate::tcp::priority::PriorityRule;
use shortflow_cc::{StartForeign, TransportConfig};
use shortflow_spec::hint;
use std::collections::BTreeMap;

/// A row of the table of schemes.
#[derive(Debug, Clone, Copy)]
pub struct SchemeInfo {
    /// Name that users type.
    pub name: &'static str,
    /// One line on what it is.
    pub summary: &'static str,
    /// Paper or RFC.
    pub source: &'static str,
    /// Name of the transport.
    pub transport: &'static str,
    /// Parameters that differ from the defaults of transport, queue discipline and priority rule, with
    /// their prefix: `("transport.ecn", "classic")`.
    pub overrides: &'static [(&'static str, &'static str)],
    /// Queue discipline of switch ports.
    pub queue: QueueKind,
}

/// The one list of schemes, in the order of the documentation.
const SCHEMES: &[SchemeInfo] = &[
    SchemeInfo {
        name: "tcp",
        summary: "TCP with selective acknowledgements over drop-tail queues",
        source: "RFC 5681, RFC 6675",
        transport: "sack",
        overrides: &[],
        queue: QueueKind::DropTail,
    },
    SchemeInfo {
        name: "newreno",
        summary: "TCP NewReno over drop-tail queues",
        source: "RFC 5681, RFC 6582",
        transport: "newreno",
        overrides: &[],
        queue: QueueKind::DropTail,
    },
    SchemeInfo {
        name: "tcp-ecn",
        summary: "TCP NewReno that halves on marks, over queues that mark above a threshold",
        source: "RFC 5681, RFC 6582, RFC 3168",
        transport: "newreno",
        overrides: &[("transport.ecn", "classic")],
        queue: QueueKind::StepEcn,
    },
    SchemeInfo {
        name: "cubic",
        summary: "CUBIC over drop-tail queues",
        source: "RFC 9438",
        transport: "cubic",
        overrides: &[],
        queue: QueueKind::DropTail,
    },
    SchemeInfo {
        name: "dctcp",
        summary: "DCTCP over queues that mark above a threshold",
        source: "DCTCP, SIGCOMM 2010; RFC 8257",
        transport: "dctcp",
        overrides: &[],
        queue: QueueKind::StepEcn,
    },
    SchemeInfo {
        name: "d2tcp",
        summary: "D2TCP: DCTCP that backs off less near a deadline",
        source: "D2TCP, SIGCOMM 2012",
        transport: "d2tcp",
        overrides: &[],
        queue: QueueKind::StepEcn,
    },
    SchemeInfo {
        name: "l2dct",
        summary: "L2DCT: DCTCP that favours flows that have sent little",
        source: "L2DCT, INFOCOM 2013",
        transport: "l2dct",
        overrides: &[],
        queue: QueueKind::StepEcn,
    },
    SchemeInfo {
        name: "l2dct-srpt",
        summary: "L2DCT with weights by remaining bytes, which it would have to know",
        source: "L2DCT, INFOCOM 2013, §III-E",
        transport: "l2dct",
        overrides: &[("transport.profile", "srpt")],
        queue: QueueKind::StepEcn,
    },
    SchemeInfo {
        name: "l2dct-ps",
        summary: "L2DCT with equal weights: processor sharing",
        source: "L2DCT, INFOCOM 2013, §III-E",
        transport: "l2dct",
        overrides: &[("transport.profile", "ps")],
        queue: QueueKind::StepEcn,
    },
    SchemeInfo {
        name: "xdctcp",
        summary: "xDCTCP: DCTCP whose long flows back off more than its short ones",
        source: "xDCTCP, UC San Diego 2015",
        transport: "xdctcp",
        overrides: &[],
        queue: QueueKind::StepEcn,
    },
    SchemeInfo {
        name: "atcp",
        summary: "ATCP over drop-tail queues: TCP that grows by a weight that falls with bytes sent",
        source: "ATCP, University of Wisconsin-Madison",
        transport: "atcp",
        overrides: &[],
        queue: QueueKind::DropTail,
    },
    SchemeInfo {
        name: "atcp-dctcp",
        summary: "ATCP's growth with DCTCP's response to marks",
        source: "ATCP, University of Wisconsin-Madison, §V-D",
        transport: "atcp",
        overrides: &[("transport.base", "dctcp"), ("transport.ecn", "exact")],
        queue: QueueKind::StepEcn,
    },
    SchemeInfo {
        name: "fast",
        summary: "FaST: DCTCP whose window may fall below one segment",
        source: "FaST, KSII TIIS 2014",
        transport: "fast",
        overrides: &[],
        queue: QueueKind::StepEcn,
    },
    SchemeInfo {
        name: "red",
        summary: "TCP NewReno that halves on marks, over random early detection",
        source: "RED, ToN 1993; RFC 3168",
        transport: "newreno",
        overrides: &[("transport.ecn", "classic")],
        queue: QueueKind::Red,
    },
    SchemeInfo {
        name: "pecn",
        summary: "DCTCP over queues that mark and send the smallest flow first",
        source: "pECN, ComSIS 2016",
        transport: "dctcp",
        overrides: &[("priority.by", "size")],
        queue: QueueKind::PriorityEcn,
    },
    SchemeInfo {
        name: "pecn-pmark",
        summary: "DCTCP over queues that mark the packet of the largest flow and send the smallest flow first",
        source: "pECN, ComSIS 2016, §4.1",
        transport: "dctcp",
        overrides: &[("priority.by", "size"), ("queue.mark", "lowest")],
        queue: QueueKind::PriorityEcn,
    },
    SchemeInfo {
        name: "pecn-edf",
        summary: "DCTCP over queues that mark and send the flow with the earliest deadline first",
        source: "pECN, ComSIS 2016, §4.2",
        transport: "dctcp",
        overrides: &[("priority.by", "deadline")],
        queue: QueueKind::PriorityEcn,
    },
    // pFabric's own sender starts at line rate, ignores marks and backs off only when losses persist.
    // TCP with SACK is the nearest that needs no transport of its own: it ignores marks and resends what
    // was dropped without waiting for timeouts. The scenario's initial window takes the place of a
    // bandwidth-delay product, and every loss halves the window.
    SchemeInfo {
        name: "pfabric",
        summary: "TCP with selective acknowledgements over queues that send the flow with the least left first",
        source: "pFabric, SIGCOMM 2013",
        transport: "sack",
        overrides: &[("priority.by", "remaining")],
        queue: QueueKind::PFabric,
    },
    SchemeInfo {
        name: "pias",
        summary: "DCTCP over eight strict priorities, through which flows fall as they send",
        source: "PIAS, NSDI 2015",
        transport: "dctcp",
        overrides: &[("priority.by", "levels")],
        queue: QueueKind::Pias,
    },
];

/// Every scheme.
pub fn schemes() -> &'static [SchemeInfo] {
    SCHEMES
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
        let info = info(name)?;
        let of_scheme = info.overrides.iter().map(|(key, value)| (*key, *value, Source::Scheme));
        let of_user = settings.iter().map(|(key, value)| (&**key, &**value, Source::Set));
        let scheme = Scheme::read(info, &Document::of_values(of_scheme.chain(of_user))?)?;
        let known: Vec<&str> = scheme.resolved.iter().map(|setting| &*setting.key).collect();
        match settings.iter().find(|(key, _)| !known.contains(&&**key)) {
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
        let transport = TransportConfig::read(info.transport, &top.table("transport")?)?;
        let queue = info.queue.read(&top.table("queue")?)?;
        let priority = match info.queue.reorders() {
            true => PriorityRule::read(&top.table("priority")?)?,
            false => PriorityRule::default(),
        };
        Ok(Scheme {
            name: info.name.to_owned(),
            summary: info.summary.to_owned(),
            source: info.source.to_owned(),
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

fn info(name: &str) -> Result<&'static SchemeInfo, ConfigError> {
    SCHEMES.iter().find(|info| info.name == name).ok_or_else(|| {
        let ideal = ideal::policies().iter().map(|policy| policy.name);
        let names: Vec<&str> = SCHEMES.iter().map(|info| info.name).chain(ideal).collect();
        ConfigError::Unknown { key: format!("{name:?}"), what: "scheme", hint: hint(name, &names) }
    })
}

impl Scheme {
    /// The scheme called `base`, with `settings` of what is left of it, and with a window law that is not
    /// registered in place of its own.
    pub fn foreign(
        base: &str,
        name: String,
        summary: String,
        settings: &[(String, String)],
        start: StartForeign,
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
    use shortflow_cc::{Ecn, Recovery};

    fn with(name: &str, key: &str, value: &str) -> Result<Scheme, ConfigError> {
        Scheme::named(name, &[(key.to_owned(), value.to_owned())])
    }

    fn message(name: &str, key: &str, value: &str) -> String {
        with(name, key, value).unwrap_err().to_string()
    }

    #[test]
    fn every_scheme_of_the_table_can_be_built() {
        for info in schemes() {
            let scheme = Scheme::named(info.name, &[]).unwrap();
            assert_eq!(scheme.transport.info().name, info.transport);
            assert!(Scheme::accepts(info.name, "transport.ecn"));
        }
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
