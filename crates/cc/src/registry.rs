//! List of all transports. A new transport is a file with `INFO`, `Params` and a constructor, its declaration
//! in `lib.rs`, and one line in `registry!` below. The command line, the documentation and the tests of all
//! transports follow from this list.

use crate::hosts::Defaults;
use crate::{
    AckSample, Cause, CongestionControl, Ecn, FlowView, HopSample, Host, HostParams, Opening, Recovery,
    Window,
};
use shortflow_spec::{ConfigError, Document, ParamInfo, Reader, Source, hint};
use shortflow_units::{Bytes, Instant, Rate};
use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

/// Description of a transport, apart from its window law.
#[derive(Debug, Clone, Copy)]
pub struct TransportInfo {
    /// Name that users type.
    pub name: &'static str,
    /// One-line summary.
    pub summary: &'static str,
    /// Paper or RFC.
    pub source: &'static str,
    /// Kind of hosts around the law.
    pub host: Host,
    /// Default loss recovery.
    pub recovery: Recovery,
    /// Default ECN behaviour.
    pub ecn: Ecn,
    /// True if one long flow reaches 99 % of the largest possible goodput of its link after its ramp (98 %
    /// over RED). The buffer has one to eight bandwidth-delay products. The port has no K, or a K of at least
    /// one product.
    pub fills_link: bool,
    /// True for a window law that reacts to ECN-Echo as RFC 3168 §6.1.2 requires: a marked ACK never opens the
    /// window, an unmarked ACK never decreases the window, and the window decreases at most once until all bytes
    /// that were outstanding at the decrease are acknowledged.
    pub ecn_monotone: bool,
}

/// A law from outside this crate, for example a law in Python.
pub trait UserDefined: CongestionControl + std::fmt::Debug + Send {}

impl<T: CongestionControl + std::fmt::Debug + Send> UserDefined for T {}

/// Starts a [`UserDefined`] law for each new connection.
pub type StartUserDefined = Arc<dyn Fn() -> Box<dyn UserDefined> + Send + Sync>;

/// Methods of [`Transport`] that call the method of the same name of the law: `SIGNATURE => self(ARGUMENTS)`.
macro_rules! dispatch {
    ($variants:tt) => {};
    ([$($variant:ident)+] $(#[$mark:meta])* fn $name:ident $signature:tt $(-> $result:ty)? => $this:tt $arguments:tt; $($rest:tt)*) => {
        $(#[$mark])*
        fn $name $signature $(-> $result)? {
            match $this {
                $(Transport::$variant(law) => law.$name $arguments,)+
                Transport::UserDefined(law) => law.$name $arguments,
            }
        }
        dispatch! { [$($variant)+] $($rest)* }
    };
}

macro_rules! registry {
    ($($variant:ident => $module:ident :: $law:ident,)+) => {
        /// A law with its state. Each connection has one. A `match` dispatches its calls; only laws from
        /// outside this crate need virtual calls.
        #[derive(Debug)]
        pub enum Transport {
            $(#[doc = concat!("See [`", stringify!($module), "`](crate::", stringify!($module), ").")] $variant(crate::$module::$law),)+
            /// A law from outside this crate.
            UserDefined(Box<dyn UserDefined>),
        }

        impl CongestionControl for Transport {
            // Every ACK passes here. Laws that are not inlined get a copy of the sample, so that the samples
            // of inlined laws stay in registers.
            #[inline(always)]
            fn on_ack(&mut self, window: &mut Window, ack: &AckSample) {
                match self {
                    $(Transport::$variant(law) => law.on_ack(window, &{ *ack }),)+
                    Transport::UserDefined(law) => law.on_ack(window, &{ *ack }),
                }
            }
            dispatch! { [$($variant)+]
                fn on_congestion(&mut self, window: &mut Window, cause: Cause, flow: &FlowView) => self(window, cause, flow);
                #[inline]
                fn segment_size(&self, window: &Window, mss: Bytes, room: Bytes) -> Bytes => self(window, mss, room);
                #[inline(always)] // every ACK passes here
                fn window_bytes(&self, window: &Window, mss: Bytes) -> Bytes => self(window, mss);
                fn floor(&self, mss: Bytes) -> f64 => self(mss);
                fn alpha(&self, now: Instant) -> Option<f64> => self(now);
                fn on_start(&mut self, window: &mut Window, at: &Opening) => self(window, at);
                fn reads_path(&self) -> bool => self();
                fn reads_hops(&self) -> bool => self();
                fn on_hops(&mut self, hops: &[HopSample]) => self(hops);
                fn reads_flow(&self) -> bool => self();
                fn pacing_rate(&self) -> Option<Rate> => self();
                fn timer(&self) -> Option<Instant> => self();
                fn on_timer(&mut self, window: &mut Window, flow: &FlowView) => self(window, flow);
                fn on_sent(&mut self, bytes: Bytes, now: Instant) => self(bytes, now);
            }
        }

        #[derive(Debug, Clone, Copy)]
        enum LawParams { $($variant(crate::$module::Params),)+ }

        impl LawParams {
            /// Reads the law of `transport`. Returns the description of the transport, the parameters of the
            /// law, and its keys; `None` if there is no such transport.
            fn read(
                transport: &str,
                reader: &Reader,
            ) -> Option<Result<(TransportInfo, LawParams, Vec<ParamInfo>), ConfigError>> {
                $(if transport == crate::$module::INFO.name {
                    let (keys, read) = (crate::$module::Params::parameters(), crate::$module::Params::read(reader));
                    return Some(read.map(|params| (crate::$module::INFO, LawParams::$variant(params), keys)));
                })+
                None
            }
            fn start(&self) -> Transport {
                match self { $(LawParams::$variant(params) => Transport::$variant(crate::$module::$law::new(*params)),)+ }
            }
        }

        /// All transports, in the order of the documentation.
        pub fn transports() -> &'static [TransportInfo] {
            &[$(crate::$module::INFO,)+]
        }
    };
}

registry! {
    NewReno => newreno::NewReno,
    Sack => sack::Sack,
    Cubic => cubic::Cubic,
    Dctcp => dctcp::Dctcp,
    D2tcp => d2tcp::D2tcp,
    L2dct => l2dct::L2dct,
    Xdctcp => xdctcp::Xdctcp,
    Atcp => atcp::Atcp,
    Fast => fast::Fast,
    Swift => swift::Swift,
    Dcqcn => dcqcn::Dcqcn,
    Timely => timely::Timely,
    Hpcc => hpcc::Hpcc,
    HpccTcp => hpcc_tcp::HpccTcp,
    Minimal => minimal::Minimal,
    Homa => homa::Homa,
    Ndp => ndp::Ndp,
}

/// A transport with all its parameters. A scheme contains one, which starts the law of each connection.
#[derive(Debug, Clone)]
pub struct TransportConfig {
    info: TransportInfo,
    law: Law,
    host: HostParams,
    params: Vec<ParamInfo>,
}

#[derive(Clone)]
enum Law {
    Registered(LawParams),
    UserDefined(StartUserDefined),
}

impl fmt::Debug for Law {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Law::Registered(params) => params.fmt(f),
            Law::UserDefined(_) => f.write_str("UserDefined"),
        }
    }
}

impl TransportConfig {
    /// The transport called `name` with default parameters.
    pub fn named(name: &str) -> Result<TransportConfig, ConfigError> {
        TransportConfig::with(name, [])
    }

    /// The transport called `name` with these parameters, in the notation of `--set`.
    pub fn with<'s>(
        name: &str,
        settings: impl IntoIterator<Item = (&'s str, &'s str)>,
    ) -> Result<TransportConfig, ConfigError> {
        let document =
            Document::of_values(settings.into_iter().map(|(key, value)| (key, value, Source::Set)))?;
        let reader = Reader::new(&document);
        let config = TransportConfig::read(name, &reader)?;
        reader.only(&config.params, &[])?;
        Ok(config)
    }

    /// The transport that `text` names, with parameters as in `dctcp+g=0.09+recovery=sack`.
    pub fn parse(text: &str) -> Result<TransportConfig, ConfigError> {
        let mut parts = text.split('+').map(str::trim);
        let name = parts.next().unwrap_or_default();
        let settings = parts.map(|part| {
            part.split_once('=').map(|(key, value)| (key.trim(), value.trim())).ok_or_else(|| {
                ConfigError::Value {
                    key: name.to_owned(),
                    value: format!("{part:?}"),
                    expected: "NAME=VALUE, as in dctcp+g=0.09".to_owned(),
                }
            })
        });
        let settings = settings.collect::<Result<Vec<_>, _>>()?;
        let mut given = BTreeSet::new();
        if let Some((twice, _)) = settings.iter().find(|(key, _)| !given.insert(*key)) {
            let reason = format!("{text:?} gives this parameter twice; give it once");
            return Err(ConfigError::Impossible { key: (*twice).to_owned(), reason });
        }
        TransportConfig::with(name, settings)
    }

    /// The transport called `name` with the parameters in `reader`. The caller rejects unknown keys.
    pub fn read(name: &str, reader: &Reader) -> Result<TransportConfig, ConfigError> {
        let (info, law, keys) =
            LawParams::read(name, reader).unwrap_or_else(|| Err(unknown_transport(name)))?;
        let host = info.host.read(reader, Defaults { recovery: info.recovery, ecn: info.ecn })?;
        let params = reader.described([keys, info.host.parameters()].concat());
        Ok(TransportConfig { info, law: Law::Registered(law), host, params })
    }

    /// True if `name` is a parameter of some kind of hosts, which does not depend on the law.
    pub fn is_of_every_sender(name: &str) -> bool {
        Host::ALL.iter().flat_map(|host| host.parameters()).any(|param| param.name == name)
    }

    /// Replaces the law by a user-defined law, and removes the parameters of the replaced law.
    pub fn with_law(mut self, start: StartUserDefined) -> TransportConfig {
        self.params.retain(|param| TransportConfig::is_of_every_sender(param.name));
        TransportConfig { law: Law::UserDefined(start), ..self }
    }

    /// True if the law is user-defined.
    pub fn is_user_defined(&self) -> bool {
        matches!(self.law, Law::UserDefined(_))
    }

    /// All parameters, each with its present value as default.
    pub fn params(&self) -> &[ParamInfo] {
        &self.params
    }

    /// Description of the transport.
    pub fn info(&self) -> TransportInfo {
        self.info
    }
    /// Parameters of the hosts.
    pub fn host(&self) -> &HostParams {
        &self.host
    }
    /// Loss recovery in use.
    pub fn recovery(&self) -> Recovery {
        if let HostParams::Tcp(tcp) = &self.host { tcp.recovery } else { self.info.recovery }
    }
    /// ECN behaviour in use.
    pub fn ecn(&self) -> Ecn {
        if let HostParams::Tcp(tcp) = &self.host { tcp.ecn } else { self.info.ecn }
    }
    /// Starts the law for a new connection.
    pub fn start(&self) -> Transport {
        match &self.law {
            Law::Registered(law) => law.start(),
            Law::UserDefined(start) => Transport::UserDefined(start()),
        }
    }
}

/// Error for an unknown transport. For `tcp`, the error explains that `tcp` is a scheme.
pub fn unknown_transport(name: &str) -> ConfigError {
    let names: Vec<&str> = transports().iter().map(|info| info.name).collect();
    let hint = match name {
        "tcp" => {
            "tcp is a scheme with the transport \"sack\"; did you mean \"sack\" or \"newreno\"?".to_owned()
        }
        _ => hint(name, &names),
    };
    ConfigError::Unknown { key: format!("{name:?}"), what: "transport", hint }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_transport_is_found_by_its_name_and_lists_ranged_parameters() {
        for info in transports() {
            let config = TransportConfig::named(info.name).unwrap();
            for param in config.params() {
                let with = |text| TransportConfig::with(info.name, [(param.name, text)]);
                with(&param.default).unwrap();
                assert!(with("nonsense").is_err(), "{}.{}", info.name, param.name);
            }
        }
    }

    /// Each connection holds a `Transport`, so a connection of dctcp takes the memory of the largest law.
    #[test]
    fn no_law_makes_the_others_large() {
        assert!(size_of::<Transport>() <= 104, "{} bytes", size_of::<Transport>());
    }

    #[derive(Debug)]
    struct Still;

    impl CongestionControl for Still {
        fn on_ack(&mut self, _: &mut Window, _: &AckSample) {}
        fn on_congestion(&mut self, _: &mut Window, _: Cause, _: &FlowView) {}
        fn alpha(&self, _: Instant) -> Option<f64> {
            Some(0.75)
        }
    }

    #[test]
    fn a_law_from_outside_has_only_the_parameters_of_every_sender() {
        let config = TransportConfig::with("dctcp", [("ecn", "classic")]).unwrap();
        let config = config.with_law(Arc::new(|| Box::new(Still)));
        assert_eq!(
            config.params().iter().map(|param| param.name).collect::<Vec<_>>(),
            ["recovery", "dupthresh", "ecn"]
        );
        assert_eq!((config.ecn(), config.recovery()), (Ecn::Classic, Recovery::Sack));
        assert_eq!(config.start().alpha(Instant::ZERO), Some(0.75));
        assert!(format!("{config:?}").contains("law: UserDefined"));
    }

    #[test]
    fn every_sender_has_recovery_and_ecn() {
        let names = ["recovery", "ecn", "cnp_every", "g", ""];
        assert_eq!(names.map(TransportConfig::is_of_every_sender), [true, true, true, false, false]);
    }

    #[test]
    fn a_transport_is_named_with_its_parameters() {
        let config = TransportConfig::parse("dctcp + g=0.5+recovery=newreno").unwrap();
        assert_eq!((config.info().name, config.recovery()), ("dctcp", Recovery::NewReno));
        assert!(format!("{config:?}").contains("g: 0.5"));
    }
}
