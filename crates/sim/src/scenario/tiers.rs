//! [`Tiers`]: switch ports tier by tier. `[switch]` holds everywhere, `[switch.TIER]` for the ports of
//! a tier, `[switch.TIER.up]` for those among them that lead to a tier further up.

use super::{SwitchSpec, checks};
use crate::config::{ConfigError, Reader};
use crate::topology::Graph;
use shortflow_spec::hint;
use shortflow_units::{Bytes, NodeId};

const UP: &str = "up";

/// Switch ports tier by tier; each table takes what it does not say from the one around it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Tiers(Vec<Tier>);

#[derive(Debug, Clone, PartialEq)]
struct Tier {
    level: SwitchSpec,
    up: SwitchSpec,
}

impl Tiers {
    /// Reads the tables inside `[switch]`.
    pub(super) fn read(switch: &Reader, graph: &Graph, packet: Bytes) -> Result<Tiers, ConfigError> {
        let known: Vec<&str> = graph.tiers.iter().map(String::as_str).collect();
        let unknown = switch.tables_inside().into_iter().find(|tier| !known.contains(tier));
        if let Some(tier) = unknown {
            let hint = match known.as_slice() {
                [] => "this topology has no tiers".to_owned(),
                known => hint(tier, known),
            };
            return Err(ConfigError::Unknown { key: switch.path(tier), what: "tier", hint });
        }
        let tier = |name: &&str| {
            let tier = switch.refined(name)?;
            tier.only(&SwitchSpec::parameters(), &[UP])?;
            let up = tier.refined(UP)?;
            up.only(&SwitchSpec::parameters(), &[])?;
            let ports = Tier { level: port(&tier, packet)?, up: port(&up, packet)? };
            if ports.up.memory != ports.level.memory {
                let reason = format!("a switch has one memory; {} says which", tier.path("memory"));
                return Err(up.impossible("memory", reason));
            }
            Ok(ports)
        };
        known.iter().map(tier).collect::<Result<_, _>>().map(Tiers)
    }

    /// What the tier of `from` says about its port towards `to`.
    pub(super) fn port(&self, graph: &Graph, from: NodeId, to: NodeId) -> Option<&SwitchSpec> {
        let level = graph.tier(from)?;
        let tier = self.0.get(level)?;
        let upwards = graph.tier(to).is_some_and(|other| other > level);
        Some(if upwards { &tier.up } else { &tier.level })
    }
}

fn port(reader: &Reader, packet: Bytes) -> Result<SwitchSpec, ConfigError> {
    let spec = SwitchSpec::read(reader)?;
    checks::switch_port(reader, &spec, packet)?;
    Ok(spec)
}
