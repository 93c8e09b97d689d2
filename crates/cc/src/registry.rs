//! The one list of transports. A new one is a file with `INFO`, `Params` and a constructor, declared in
//! `lib.rs`, and one line in [`registry!`] below; command line, documentation and the tests that loop over every
//! transport follow from it.

use crate::settings::{self, ParamError, ParamInfo, Params};
use crate::{AckSample, Cause, CongestionControl, Ecn, FlowView, Recovery, Window};
use shortflow_units::Bytes;
use std::fmt;
use std::sync::Arc;

/// What a transport is, apart from its window law.
#[derive(Debug, Clone, Copy)]
pub struct TransportInfo {
    /// Name that users type.
    pub name: &'static str,
    /// One line on what it does.
    pub summary: &'static str,
    /// Paper or RFC.
    pub source: &'static str,
    /// Loss recovery that it runs over unless told otherwise.
    pub recovery: Recovery,
    /// ECN behaviour that it needs.
    pub ecn: Ecn,
}

/// A window law from outside this crate, for example one written in Python.
pub trait Foreign: CongestionControl + std::fmt::Debug + Send {}

impl<T: CongestionControl + std::fmt::Debug + Send> Foreign for T {}

/// Starts a [`Foreign`] law for each new connection.
pub type StartForeign = Arc<dyn Fn() -> Box<dyn Foreign> + Send + Sync>;

macro_rules! registry {
    ($($variant:ident => $module:ident :: $law:ident,)+) => {
        /// A window law with its state: one per connection. Dispatch is a match, not a virtual call, but
        /// for laws from outside.
        #[derive(Debug)]
        pub enum Transport {
            $(#[doc = concat!("See [`", stringify!($module), "`](crate::", stringify!($module), ").")] $variant(crate::$module::$law),)+
            /// A law that is not in this crate.
            Foreign(Box<dyn Foreign>),
        }

        impl CongestionControl for Transport {
            #[inline(always)] // the path of every ACK, which calls it in two places
            fn on_ack(&mut self, window: &mut Window, ack: &AckSample) {
                match self {
                    $(Transport::$variant(law) => law.on_ack(window, ack),)+
                    Transport::Foreign(law) => law.on_ack(window, ack),
                }
            }
            fn on_congestion(&mut self, window: &mut Window, cause: Cause, flow: &FlowView) {
                match self {
                    $(Transport::$variant(law) => law.on_congestion(window, cause, flow),)+
                    Transport::Foreign(law) => law.on_congestion(window, cause, flow),
                }
            }
            fn initial_window(&self, configured: f64) -> f64 {
                match self {
                    $(Transport::$variant(law) => law.initial_window(configured),)+
                    Transport::Foreign(law) => law.initial_window(configured),
                }
            }
            #[inline]
            fn segment_size(&self, window: &Window, mss: Bytes, room: Bytes) -> Bytes {
                match self {
                    $(Transport::$variant(law) => law.segment_size(window, mss, room),)+
                    Transport::Foreign(law) => law.segment_size(window, mss, room),
                }
            }
            #[inline]
            fn window_bytes(&self, window: &Window, mss: Bytes) -> Bytes {
                match self {
                    $(Transport::$variant(law) => law.window_bytes(window, mss),)+
                    Transport::Foreign(law) => law.window_bytes(window, mss),
                }
            }
            fn floor(&self, mss: Bytes) -> f64 {
                match self {
                    $(Transport::$variant(law) => law.floor(mss),)+
                    Transport::Foreign(law) => law.floor(mss),
                }
            }
            fn alpha(&self) -> Option<f64> {
                match self {
                    $(Transport::$variant(law) => law.alpha(),)+
                    Transport::Foreign(law) => law.alpha(),
                }
            }
        }

        #[derive(Debug, Clone, Copy)]
        enum LawParams { $($variant(crate::$module::Params),)+ }

        impl LawParams {
            fn named(name: &str) -> Option<(TransportInfo, LawParams)> {
                $(if name == crate::$module::INFO.name {
                    return Some((crate::$module::INFO, LawParams::$variant(crate::$module::Params::default())));
                })+
                None
            }
            fn params(&self) -> &dyn Params {
                match self { $(LawParams::$variant(params) => params,)+ }
            }
            fn params_mut(&mut self) -> &mut dyn Params {
                match self { $(LawParams::$variant(params) => params,)+ }
            }
            fn start(&self) -> Transport {
                match self { $(LawParams::$variant(params) => Transport::$variant(crate::$module::$law::new(*params)),)+ }
            }
        }

        /// Every transport, in the order of the documentation.
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
}

/// A transport with all its parameters set: what a scheme holds, and what starts each connection.
#[derive(Debug, Clone)]
pub struct TransportConfig {
    info: TransportInfo,
    law: Law,
    sender: SenderParams,
}

#[derive(Clone)]
enum Law {
    Registered(LawParams),
    Foreign(StartForeign),
}

impl fmt::Debug for Law {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Law::Registered(params) => params.fmt(f),
            Law::Foreign(_) => f.write_str("Foreign"),
        }
    }
}

settings::params! {
    /// Parameters that every transport has.
    pub struct SenderParams {
        /// loss recovery
        recovery: Recovery = Recovery::NewReno, ();
        /// ECN behaviour of sender and receiver
        ecn: Ecn = Ecn::Off, ();
    }
}

impl TransportConfig {
    /// The transport called `name` with its defaults.
    pub fn named(name: &str) -> Result<TransportConfig, ParamError> {
        let (info, law) = LawParams::named(name).ok_or_else(|| {
            settings::unknown(name, &transports().iter().map(|info| info.name).collect::<Vec<_>>())
        })?;
        let sender = SenderParams { recovery: info.recovery, ecn: info.ecn };
        Ok(TransportConfig { info, law: Law::Registered(law), sender })
    }

    /// The transport that `text` names, with the parameters that it gives: `dctcp+g=0.09+recovery=sack`.
    pub fn parse(text: &str) -> Result<TransportConfig, ParamError> {
        let mut parts = text.split('+').map(str::trim);
        let mut config = TransportConfig::named(parts.next().unwrap_or_default())?;
        for part in parts {
            let (name, value) = part.split_once('=').ok_or_else(|| ParamError::Value {
                value: part.to_owned(),
                expected: "NAME=VALUE, as in dctcp+g=0.09".to_owned(),
            })?;
            config.set(name.trim(), value.trim())?;
        }
        config.check().map(|()| config)
    }

    /// Whether `name` is a parameter of every sender, whatever its law.
    pub fn is_of_every_sender(name: &str) -> bool {
        SenderParams::default().infos().iter().any(|param| param.name == name)
    }

    /// The same sender with a law that is not registered here.
    pub fn with_law(self, start: StartForeign) -> TransportConfig {
        TransportConfig { law: Law::Foreign(start), ..self }
    }

    /// Sets a parameter from text.
    pub fn set(&mut self, name: &str, text: &str) -> Result<(), ParamError> {
        let is_sender = self.sender.infos().iter().any(|param| param.name == name);
        if is_sender {
            return self.sender.set(name, text);
        }
        let known: Vec<&str> = self.params().iter().map(|param| param.name).collect();
        match &mut self.law {
            Law::Registered(law) if law.params().infos().iter().any(|param| param.name == name) => {
                law.params_mut().set(name, text)
            }
            Law::Registered(_) | Law::Foreign(_) => Err(settings::unknown(name, &known)),
        }
    }

    /// Whether all parameters together make sense.
    pub fn check(&self) -> Result<(), ParamError> {
        match &self.law {
            Law::Registered(law) => law.params().check(),
            Law::Foreign(_) => Ok(()),
        }
    }

    /// Every parameter with its present value.
    pub fn params(&self) -> Vec<ParamInfo> {
        let mut all = match &self.law {
            Law::Registered(law) => law.params().infos(),
            Law::Foreign(_) => Vec::new(),
        };
        all.extend(self.sender.infos());
        all
    }

    /// Name, source and summary.
    pub fn info(&self) -> TransportInfo {
        self.info
    }
    /// Loss recovery in use.
    pub fn recovery(&self) -> Recovery {
        self.sender.recovery
    }
    /// ECN behaviour in use.
    pub fn ecn(&self) -> Ecn {
        self.sender.ecn
    }
    /// The law's state for a new connection.
    pub fn start(&self) -> Transport {
        match &self.law {
            Law::Registered(law) => law.start(),
            Law::Foreign(start) => Transport::Foreign(start()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_transport_is_found_by_its_name_and_lists_ranged_parameters() {
        for info in transports() {
            let config = TransportConfig::named(info.name).unwrap();
            for param in config.params() {
                let mut copy = config.clone();
                copy.set(param.name, &param.default).unwrap();
                assert!(copy.set(param.name, "nonsense").is_err(), "{}.{}", info.name, param.name);
            }
        }
    }

    /// Each connection holds one of these, and dctcp pays for the largest.
    #[test]
    fn no_law_makes_the_others_large() {
        assert!(size_of::<Transport>() <= 104, "{} bytes", size_of::<Transport>());
    }

    #[derive(Debug)]
    struct Still;

    impl CongestionControl for Still {
        fn on_ack(&mut self, _: &mut Window, _: &AckSample) {}
        fn on_congestion(&mut self, _: &mut Window, _: Cause, _: &FlowView) {}
        fn alpha(&self) -> Option<f64> {
            Some(0.75)
        }
    }

    #[test]
    fn a_law_from_outside_has_only_the_parameters_of_every_sender() {
        let mut config = TransportConfig::named("dctcp").unwrap().with_law(Arc::new(|| Box::new(Still)));
        assert_eq!(config.params().iter().map(|param| param.name).collect::<Vec<_>>(), ["recovery", "ecn"]);
        config.set("ecn", "classic").unwrap();
        assert_eq!((config.ecn(), config.recovery()), (Ecn::Classic, Recovery::Sack));
        assert!(config.set("g", "0.5").is_err() && config.check().is_ok());
        assert_eq!(config.start().alpha(), Some(0.75));
        assert!(format!("{config:?}").contains("law: Foreign"));
    }

    #[test]
    fn every_sender_has_recovery_and_ecn() {
        let names = ["recovery", "ecn", "g", ""];
        assert_eq!(names.map(TransportConfig::is_of_every_sender), [true, true, false, false]);
    }

    #[test]
    fn parameters_out_of_order_are_refused_by_name() {
        let mut config = TransportConfig::named("atcp").unwrap();
        config.set("w_low", "3").unwrap();
        config.check().unwrap();
        config.set("w_low", "4").unwrap();
        assert_eq!(config.check().unwrap_err().to_string(), "w_low = 4 is above w_high = 3");
        assert!(format!("{config:?}").contains("w_low: 4.0"));
    }

    #[test]
    fn a_transport_is_named_with_its_parameters() {
        let config = TransportConfig::parse("dctcp + g=0.5+recovery=newreno").unwrap();
        assert_eq!((config.info().name, config.recovery()), ("dctcp", Recovery::NewReno));
        assert!(format!("{config:?}").contains("g: 0.5"));
        let error = |text| TransportConfig::parse(text).unwrap_err().to_string();
        assert_eq!(error("dctcp+g"), "\"g\" is not NAME=VALUE, as in dctcp+g=0.09");
        assert!(error("dctpc").contains("\"dctcp\"") && error("cubic+g=1").contains("no such parameter"));
        assert_eq!(error("l2dct+w_min=3"), "w_min = 3 is above w_max = 2.5");
    }

    #[test]
    fn errors_name_the_nearest_parameter() {
        let mut config = TransportConfig::named("dctcp").unwrap();
        let error = config.set("initial_alfa", "1").unwrap_err().to_string();
        assert!(error.contains("initial_alpha"), "{error}");
        let error = config.set("recovry", "sack").unwrap_err().to_string();
        assert!(error.contains("\"recovery\""), "{error}");
        let error = config.set("g", "1.5").unwrap_err().to_string();
        assert!(error.contains("0 to 1"), "{error}");
        assert!(TransportConfig::named("dctpc").unwrap_err().to_string().contains("\"dctcp\""));
    }
}
