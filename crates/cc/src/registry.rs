//! The one list of transports. A new one is a file with `INFO`, `Params` and a constructor, and one
//! line in [`registry!`] below; command line, documentation and the tests that loop over every
//! transport follow from it.

use crate::settings::{self, ParamError, ParamInfo, Params};
use crate::{AckSample, Cause, CongestionControl, Ecn, FlowView, Recovery, Window};
use crate::{dctcp, l2dct, newreno, sack};
use shortflow_units::Bytes;

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

macro_rules! registry {
    ($($variant:ident => $module:ident :: $law:ident,)+) => {
        /// A window law with its state: one per connection. Dispatch is a match, not a virtual call.
        #[derive(Debug, Clone)]
        pub enum Transport { $(#[doc = concat!("See [`", stringify!($module), "`].")] $variant($module::$law),)+ }

        impl CongestionControl for Transport {
            #[inline]
            fn on_ack(&mut self, window: &mut Window, ack: &AckSample) {
                match self { $(Transport::$variant(law) => law.on_ack(window, ack),)+ }
            }
            fn on_congestion(&mut self, window: &mut Window, cause: Cause, flow: &FlowView) {
                match self { $(Transport::$variant(law) => law.on_congestion(window, cause, flow),)+ }
            }
            fn initial_window(&self, configured: f64) -> f64 {
                match self { $(Transport::$variant(law) => law.initial_window(configured),)+ }
            }
            #[inline]
            fn segment_size(&self, window: &Window, mss: Bytes) -> Bytes {
                match self { $(Transport::$variant(law) => law.segment_size(window, mss),)+ }
            }
            #[inline]
            fn window_bytes(&self, window: &Window, mss: Bytes) -> Bytes {
                match self { $(Transport::$variant(law) => law.window_bytes(window, mss),)+ }
            }
            fn alpha(&self) -> Option<f64> {
                match self { $(Transport::$variant(law) => law.alpha(),)+ }
            }
        }

        #[derive(Debug, Clone, Copy)]
        enum LawParams { $($variant($module::Params),)+ }

        impl LawParams {
            fn named(name: &str) -> Option<(TransportInfo, LawParams)> {
                $(if name == $module::INFO.name {
                    return Some(($module::INFO, LawParams::$variant($module::Params::default())));
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
                match self { $(LawParams::$variant(params) => Transport::$variant($module::$law::new(*params)),)+ }
            }
        }

        /// Every transport, in the order of the documentation.
        pub fn transports() -> &'static [TransportInfo] {
            &[$($module::INFO,)+]
        }
    };
}

registry! {
    NewReno => newreno::NewReno,
    Sack => sack::Sack,
    Dctcp => dctcp::Dctcp,
    L2dct => l2dct::L2dct,
}

/// A transport with all its parameters set: what a scheme holds, and what starts each connection.
#[derive(Debug, Clone, Copy)]
pub struct TransportConfig {
    info: TransportInfo,
    law: LawParams,
    sender: SenderParams,
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
        Ok(TransportConfig { info, law, sender })
    }

    /// Sets a parameter from text.
    pub fn set(&mut self, name: &str, text: &str) -> Result<(), ParamError> {
        let is_sender = self.sender.infos().iter().any(|param| param.name == name);
        if is_sender {
            return self.sender.set(name, text);
        }
        self.law.params_mut().set(name, text).map_err(|error| match error {
            ParamError::Unknown { .. } => {
                settings::unknown(name, &self.params().iter().map(|param| param.name).collect::<Vec<_>>())
            }
            other => other,
        })
    }

    /// Every parameter with its present value.
    pub fn params(&self) -> Vec<ParamInfo> {
        let mut all = self.law.params().infos();
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
        self.law.start()
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
                let mut copy = config;
                copy.set(param.name, &param.default).unwrap();
                assert!(copy.set(param.name, "nonsense").is_err(), "{}.{}", info.name, param.name);
            }
        }
    }

    #[test]
    fn errors_name_the_nearest_parameter() {
        let mut config = TransportConfig::named("dctcp").unwrap();
        let error = config.set("initial_alfa", "1").unwrap_err().to_string();
        assert!(error.contains("initial_alpha"), "{error}");
        let error = config.set("g", "1.5").unwrap_err().to_string();
        assert!(error.contains("0 to 1"), "{error}");
        assert!(TransportConfig::named("dtcp").unwrap_err().to_string().contains("dctcp"));
    }
}
