//! The one list of kinds of hosts, with the parameters that each has under any law. A new kind is a file here with its parameters and
//! a line in `hosts!`; its two ends are a file of the simulator and the same line there.

use crate::{Ecn, Recovery};
use shortflow_spec::{ConfigError, ParamInfo, Reader};

/// Properties of a kind of hosts.
#[derive(Debug, Clone, Copy)]
pub struct HostInfo {
    /// A [`UserDefined`](crate::UserDefined) law may run there: senders call all hooks, with a [`PathSample`](crate::PathSample) in
    /// each ACK, and obey window and pacing rate.
    pub takes_laws: bool,
    /// Each message has a connection of its own, whatever the traffic says.
    pub by_message: bool,
    /// The hosts set the priority of their packets, whatever `priority.by` says.
    pub sets_priority: bool,
    /// Receivers understand packets that a switch has trimmed.
    pub takes_trimmed: bool,
}

/// Values that depend on the transport.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Defaults {
    /// Its loss recovery.
    pub recovery: Recovery,
    /// Its ECN behaviour.
    pub ecn: Ecn,
}

macro_rules! hosts {
    ($($(#[doc = $doc:literal])+ $kind:ident => $module:ident,)+) => {
        $(pub mod $module;)+

        /// Kind of hosts around a control.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Host {
            $($(#[doc = $doc])+ $kind,)+
        }

        /// Parameters of a transport's hosts.
        #[derive(Debug, Clone, Copy)]
        pub enum HostParams {
            $(#[doc = concat!("Of [`Host::", stringify!($kind), "`].")] $kind($module::Params),)+
        }

        impl Host {
            /// Every kind.
            pub const ALL: &'static [Host] = &[$(Host::$kind,)+];

            /// Its properties.
            pub const fn info(self) -> HostInfo {
                match self { $(Host::$kind => $module::INFO,)+ }
            }

            /// Its parameters.
            pub(crate) fn parameters(self) -> Vec<ParamInfo> {
                match self { $(Host::$kind => $module::Params::parameters(),)+ }
            }

            /// The parameters that `reader` gives, under a transport.
            pub(crate) fn read(self, reader: &Reader, defaults: Defaults) -> Result<HostParams, ConfigError> {
                match self { $(Host::$kind => $module::read(reader, defaults).map(HostParams::$kind),)+ }
            }
        }
    };
}

hosts! {
    /// TCP: the control sets a window, and may set a pacing rate.
    Tcp => tcp,
    /// RDMA over Ethernet: the control sets a rate, and may set a window; go-back-N, and notifications of marks (CNP).
    Roce => roce,
    /// pFabric's: the control sets a window; each packet is acknowledged, and timeouts signal losses.
    Minimal => minimal,
    /// Homa's: receivers grant the messages with the fewest bytes left; there is no control.
    Homa => homa,
    /// NDP's: receivers pull each packet after a first window, at the rate of their link; there is no control.
    Ndp => ndp,
}
