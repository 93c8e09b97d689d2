//! List of all kinds of hosts, each with the parameters that it has under any law. A new kind is a file here
//! with its parameters, and a line in `hosts!`. In the simulator, it is a file with its two ends, and the
//! same line in `simulation/ends.rs`.

use crate::{Ecn, Recovery};
use shortflow_spec::{ConfigError, ParamInfo, Reader};

/// Properties of a kind of hosts.
#[derive(Debug, Clone, Copy)]
pub struct HostInfo {
    /// True if a [`UserDefined`](crate::UserDefined) law may run in these hosts: senders call all hooks, pass
    /// a [`PathSample`](crate::PathSample) with each ACK, and obey window and pacing rate.
    pub takes_laws: bool,
    /// True if each message has its own connection, regardless of the traffic's `connections`.
    pub by_message: bool,
    /// True if the hosts set the priority of their packets, regardless of `priority.by`.
    pub sets_priority: bool,
    /// True if receivers understand packets that a switch has trimmed.
    pub takes_trimmed: bool,
}

/// Default values that depend on the transport.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Defaults {
    /// Loss recovery of the transport.
    pub recovery: Recovery,
    /// ECN behaviour of the transport.
    pub ecn: Ecn,
}

macro_rules! hosts {
    ($($(#[doc = $doc:literal])+ $kind:ident => $module:ident,)+) => {
        $(pub mod $module;)+

        /// Kind of hosts: the protocol of the two ends of a connection, around a law.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Host {
            $($(#[doc = $doc])+ $kind,)+
        }

        /// Parameters of a transport's hosts.
        #[derive(Debug, Clone, Copy)]
        pub enum HostParams {
            $(#[doc = concat!("Parameters of [`Host::", stringify!($kind), "`].")] $kind($module::Params),)+
        }

        impl Host {
            /// All kinds.
            pub const ALL: &'static [Host] = &[$(Host::$kind,)+];

            /// Properties of this kind.
            pub const fn info(self) -> HostInfo {
                match self { $(Host::$kind => $module::INFO,)+ }
            }

            /// Parameters of this kind.
            pub(crate) fn parameters(self) -> Vec<ParamInfo> {
                match self { $(Host::$kind => $module::Params::parameters(),)+ }
            }

            /// Reads the parameters of this kind, with the default values of a transport.
            pub(crate) fn read(self, reader: &Reader, defaults: Defaults) -> Result<HostParams, ConfigError> {
                match self { $(Host::$kind => $module::read(reader, defaults).map(HostParams::$kind),)+ }
            }
        }
    };
}

hosts! {
    /// TCP. The law sets a window, and may set a pacing rate.
    Tcp => tcp,
    /// RDMA over Ethernet. The law sets a rate, and may set a window. Senders recover from losses by
    /// go-back-N, and receivers send notifications of marks (CNP).
    Roce => roce,
    /// pFabric's hosts. The law sets a window. Receivers acknowledge each packet, and timeouts signal losses.
    Minimal => minimal,
    /// Homa's hosts. Receivers grant the messages with the fewest bytes left. No law limits the senders.
    Homa => homa,
    /// NDP's hosts. After a first window, receivers pull each packet, at the rate of their link. No law
    /// limits the senders.
    Ndp => ndp,
}
