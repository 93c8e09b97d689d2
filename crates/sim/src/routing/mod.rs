//! Routing: choice of one of several shortest paths at a switch, with one file per method. A new method is a
//! file with `INFO`, `Params` and a `PathChoice`, and one line in the registry.

mod choice;
pub(crate) mod destination;
pub(crate) mod flow_hash;
pub(crate) mod flowlet;
pub(crate) mod random_spray;
pub(crate) mod spray;

pub use choice::RoutingInfo;

pub(crate) use choice::{Hop, PathChoice};

use crate::config::{ConfigError, Entry, Kind, OneOf, Reader};
use crate::engine::Seeds;
use crate::needs::Needs;
use shortflow_spec::Condition;
use shortflow_units::Instant;

type Read = fn(&Reader) -> Result<Routing, ConfigError>;

macro_rules! registry {
    ($($name:ident => $module:ident,)+) => {
        /// A routing method with its parameters.
        #[derive(Debug, Clone, Copy, PartialEq)]
        pub enum Routing {
            $(#[doc = concat!("The method of `routing/", stringify!($module), ".rs`.")] $name($module::Params),)+
        }

        const KINDS: &[Kind<Read>] = &[$(Kind {
            name: $module::INFO.name,
            summary: $module::INFO.summary,
            source: $module::INFO.source,
            parameters: $module::Params::parameters,
            read: |reader| $module::Params::read(reader).map(Routing::$name),
        },)+];

        impl Routing {
            /// Description of the method.
            pub fn info(&self) -> RoutingInfo {
                match self { $(Routing::$name(_) => $module::INFO,)+ }
            }

            /// Path chooser for a network of `nodes` nodes.
            pub fn start(&self, nodes: usize, seeds: Seeds) -> Chooser {
                match *self {
                    $(Routing::$name(params) => Chooser::$name($module::$name::new(params, nodes, seeds)),)+
                }
            }
        }

        /// Path chooser of a run, dispatched by a match.
        #[derive(Debug, Clone)]
        pub enum Chooser {
            $(#[doc = concat!("The method of `routing/", stringify!($module), ".rs`.")] $name($module::$name),)+
        }

        impl Chooser {
            /// True if a path depends on more than the packet.
            pub fn draws(&self) -> bool {
                match self { $(Chooser::$name(_) => $module::INFO.draws,)+ }
            }
        }

        impl PathChoice for Chooser {
            #[inline(never)] // most hops have one path
            fn choose(&mut self, now: Instant, hop: Hop) -> usize {
                match self { $(Chooser::$name(way) => way.choose(now, hop),)+ }
            }
            fn of_flow(&self, hop: Hop) -> Option<usize> {
                match self { $(Chooser::$name(way) => way.of_flow(hop),)+ }
            }
            fn of_packet(&self, hop: Hop) -> Option<usize> {
                match self { $(Chooser::$name(way) => way.of_packet(hop),)+ }
            }
            fn of_stream(&self, hop: Hop) -> Option<usize> {
                match self { $(Chooser::$name(way) => way.of_stream(hop),)+ }
            }
        }
    };
}

registry! {
    FlowHash => flow_hash,
    Destination => destination,
    Spray => spray,
    RandomSpray => random_spray,
    Flowlet => flowlet,
}

impl Routing {
    /// Demands on the execution of a run.
    pub(crate) fn needs(&self) -> Needs {
        let RoutingInfo { name, reorders, draws, .. } = self.info();
        let reason = || format!("routing.kind = {name} draws the path of each packet");
        Needs {
            global_order: draws.then(reason),
            packet_routing: reorders,
            reordering: reorders,
            ..Needs::default()
        }
    }
}

/// All routing methods, in the order of the documentation.
pub fn routings() -> Vec<Entry> {
    KINDS.iter().map(Kind::entry).collect()
}

/// Reads the `[routing]` table.
pub(crate) fn read(reader: &Reader) -> Result<Routing, ConfigError> {
    let rows: Vec<(&'static str, &Kind<Read>)> = KINDS.iter().map(|kind| (kind.name, kind)).collect();
    let kind = reader.or("kind", flow_hash::INFO.name, &OneOf(&rows))?;
    reader.acts("kind", Condition("several_paths"));
    kind.check_keys(reader)?;
    (kind.read)(reader)
}
