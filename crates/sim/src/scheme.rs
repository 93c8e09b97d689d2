//! [`Scheme`]: a transport with the queue discipline that it needs. This is what papers compare.

use crate::config::{ConfigError, Setting, Source};
use crate::ideal;
use crate::queue::QueueKind;
use shortflow_cc::{StartForeign, TransportConfig};
use shortflow_cc::settings::{ParamError, hint};

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
    /// Transport parameters that differ from the transport's own defaults.
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
        name: "tcp-ecn",
        summary: "TCP NewReno that halves on marks, over queues that mark above a threshold",
        source: "RFC 5681, RFC 6582, RFC 3168",
        transport: "newreno",
        overrides: &[("ecn", "classic")],
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
        overrides: &[("profile", "srpt")],
        queue: QueueKind::StepEcn,
    },
    SchemeInfo {
        name: "l2dct-ps",
        summary: "L2DCT with equal weights: processor sharing",
        source: "L2DCT, INFOCOM 2013, §III-E",
        transport: "l2dct",
        overrides: &[("profile", "ps")],
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
        overrides: &[("base", "dctcp"), ("ecn", "exact")],
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
    pub queue: QueueKind,
    /// Every parameter with its source.
    pub resolved: Vec<Setting>,
}

impl Scheme {
    /// The scheme called `name`, with `settings` such as `("transport.g", "0.09")`.
    pub fn named(name: &str, settings: &[(String, String)]) -> Result<Scheme, ConfigError> {
        let info = info(name)?;
        let mut transport = start(info)?;
        for (key, value) in settings {
            let parameter = transport_parameter(&transport, key)?;
            transport.set(parameter, value).map_err(|error| wrong(key, error))?;
        }
        Ok(Scheme {
            resolved: resolved(info, &transport, settings),
            name: info.name.to_owned(),
            summary: info.summary.to_owned(),
            source: info.source.to_owned(),
            transport,
            queue: info.queue,
        })
    }

    /// Whether scheme `name` has the parameter `key`, for example `transport.g`.
    pub fn accepts(name: &str, key: &str) -> bool {
        info(name).and_then(start).is_ok_and(|transport| transport_parameter(&transport, key).is_ok())
    }
}

fn info(name: &str) -> Result<&'static SchemeInfo, ConfigError> {
    SCHEMES.iter().find(|info| info.name == name).ok_or_else(|| {
        let ideal = ideal::policies().iter().map(|policy| policy.name);
        let names: Vec<&str> = SCHEMES.iter().map(|info| info.name).chain(ideal).collect();
        ConfigError::Unknown { key: format!("{name:?}"), what: "scheme", hint: hint(name, &names) }
    })
}

/// The transport as the scheme defines it.
fn start(info: &SchemeInfo) -> Result<TransportConfig, ConfigError> {
    let mut transport = TransportConfig::named(info.transport).map_err(|error| wrong(info.name, error))?;
    for (parameter, value) in info.overrides {
        transport.set(parameter, value).map_err(|error| wrong(info.name, error))?;
    }
    Ok(transport)
}

/// The name of the transport's parameter that `key` addresses. Queue disciplines have no parameters
/// of their own: buffer and threshold belong to the scenario's switch.
fn transport_parameter<'k>(transport: &TransportConfig, key: &'k str) -> Result<&'k str, ConfigError> {
    let params = transport.params();
    let parameter = key.strip_prefix("transport.");
    parameter.filter(|name| params.iter().any(|param| param.name == *name)).ok_or_else(|| {
        let known: Vec<String> = params.iter().map(|param| format!("transport.{}", param.name)).collect();
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        ConfigError::Unknown { key: key.to_owned(), what: "parameter", hint: hint(key, &known) }
    })
}

fn wrong(key: &str, error: ParamError) -> ConfigError {
    match error {
        ParamError::Value { value, expected } => {
            ConfigError::Value { key: key.to_owned(), value: format!("{value:?}"), expected }
        }
        ParamError::Unknown { hint } => ConfigError::Unknown { key: key.to_owned(), what: "parameter", hint },
    }
}

impl Scheme {
    /// The scheme called `base` with a window law that is not registered in place of its own.
    pub fn foreign(
        base: &str,
        name: String,
        summary: String,
        start: StartForeign,
    ) -> Result<Scheme, ConfigError> {
        let base = Scheme::named(base, &[])?;
        let transport = base.transport.with_law(start);
        let kept: Vec<String> = transport.params().iter().map(|p| format!("transport.{}", p.name)).collect();
        let mut resolved = base.resolved;
        resolved.retain(|setting| !setting.key.starts_with("transport.") || kept.contains(&setting.key));
        Ok(Scheme { name, summary, transport, resolved, ..base })
    }
}

fn resolved(info: &SchemeInfo, transport: &TransportConfig, settings: &[(String, String)]) -> Vec<Setting> {
    let source = |key: &str, parameter: &str| {
        if settings.iter().any(|(set, _)| set == key) {
            Source::Set
        } else if info.overrides.iter().any(|(name, _)| *name == parameter) {
            Source::Scheme
        } else {
            Source::Default
        }
    };
    let setting = |param: shortflow_cc::settings::ParamInfo| {
        let key = format!("transport.{}", param.name);
        Setting { source: source(&key, param.name), key, value: param.default }
    };
    transport.params().into_iter().map(setting).collect()
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
    fn errors_name_key_value_expectation_and_the_nearest_name() {
        let error = message("dctcp", "transport.g", "2");
        assert_eq!(error, "transport.g: \"2\" is not a number from 0 to 1");
        let error = message("dctcp", "transport.initial_alfa", "1");
        assert!(error.contains("unknown parameter") && error.contains("transport.initial_alpha"), "{error}");
        assert!(message("dctcp", "queue.k", "1").contains("queue.k: unknown parameter"));
        let error = Scheme::named("dctpc", &[]).unwrap_err().to_string();
        assert_eq!(error, "\"dctpc\": unknown scheme; did you mean \"dctcp\"?");
    }
}
