//! [`Tiers`]: settings of switch ports by tier. `[switch]` holds for all ports, `[switch.TIER]` for the ports
//! of a tier, `[switch.TIER.up]` for the ports of the tier that lead away from the hosts, and
//! `[switch."s0->h3"]` for one port.

use super::checks::{self, PortDemands};
use crate::config::{ConfigError, ParamInfo, Reader};
use crate::specs::SwitchSpec;
use crate::topology::{Graph, find_port};
use shortflow_spec::hint;
use shortflow_units::NodeId;
use std::collections::BTreeMap;

const UP: &str = "up";

/// Settings of switch ports by tier. The defaults of each table are the values of the table around it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Tiers {
    tiers: Vec<Tier>,
    ports: BTreeMap<(NodeId, NodeId), SwitchSpec>,
}

#[derive(Debug, Clone, PartialEq)]
struct Tier {
    level: SwitchSpec,
    up: SwitchSpec,
}

impl Tiers {
    /// Reads the tables inside `[switch]`. `warnings` about the network may explain why the network has no
    /// tiers.
    pub(super) fn read(
        switch: &Reader,
        (graph, warnings): (&Graph, &[String]),
        demands: PortDemands,
    ) -> Result<Tiers, ConfigError> {
        let known: Vec<&str> = graph.tiers.iter().map(String::as_str).collect();
        let (ports, tiers): (Vec<&str>, Vec<&str>) =
            switch.tables_inside().into_iter().partition(|name| name.contains("->"));
        let unknown = tiers.into_iter().find(|tier| !known.contains(tier));
        if let Some(tier) = unknown {
            let hint = match known.as_slice() {
                [] => {
                    let why = warnings.iter().find(|warning| warning.contains(" has a tier; "));
                    let why = why.map_or_else(String::new, |why| format!(": {why}"));
                    format!("this topology has no tiers{why}")
                }
                known => hint(tier, known),
            };
            return Err(ConfigError::Unknown { key: switch.path(tier), what: "tier", hint });
        }
        let tier = |name: &&str| {
            let tier = switch.refined(name)?;
            tier.only(&keys_inside(), &[UP])?;
            let up = tier.refined(UP)?;
            up.only(&keys_inside(), &[])?;
            selects_ports(switch, name, &tier, graph)?;
            let ports = Tier { level: port(&tier, demands)?, up: port(&up, demands)? };
            if ports.up.memory != ports.level.memory {
                let reason =
                    format!("all ports of a switch share one memory; set {} instead", tier.path("memory"));
                return Err(up.impossible("memory", reason));
            }
            Ok(ports)
        };
        let tiers =
            Tiers { tiers: known.iter().map(tier).collect::<Result<_, _>>()?, ports: BTreeMap::new() };
        let port = |name| {
            let (from, to) = find_port(name, name, graph, switch)?;
            tiers.single(switch, graph, (from, to), name, demands).map(|spec| ((from, to), spec))
        };
        let ports = ports.into_iter().map(port).collect::<Result<_, _>>()?;
        Ok(Tiers { ports, ..tiers })
    }

    /// Settings of a port with its own table. The defaults are the values of the port's tier.
    fn single(
        &self,
        switch: &Reader,
        graph: &Graph,
        (from, to): (NodeId, NodeId),
        name: &str,
        demands: PortDemands,
    ) -> Result<SwitchSpec, ConfigError> {
        if graph.is_host(from) {
            return Err(switch.impossible(name, "the port belongs to a host; use [host] for ports of hosts"));
        }
        let around = match graph.tier(from).map(|level| switch.refined(&graph.tiers[level])).transpose()? {
            Some(tier) if graph.leads_up(from, to) => tier.refined(UP)?,
            Some(tier) => tier,
            None => switch.clone(),
        };
        let table = switch.refined_from(name, &around)?;
        // The ports of a switch share its memory, so a port's table must not set its size.
        let mut keys = keys_inside();
        keys.retain(|key| !key.name.starts_with("memory"));
        table.only(&keys, &[])?;
        port(&table, demands)
    }

    /// Paths of the tables that apply to a port, from `[switch]` to the port's own table.
    pub fn tables(&self, graph: &Graph, from: NodeId, to: NodeId) -> Vec<String> {
        let mut tables = vec!["switch".to_owned()];
        if let Some(level) = graph.tier(from) {
            let tier = format!("switch.{}", graph.tiers[level]);
            let up = format!("{tier}.{UP}");
            tables.push(tier);
            tables.extend(graph.leads_up(from, to).then_some(up));
        }
        let own = || format!("switch.{}->{}", graph.name(from), graph.name(to));
        tables.extend(self.ports.contains_key(&(from, to)).then(own));
        tables
    }

    /// Settings of the port from `from` to `to`: those of its own table, or else of its tier.
    pub(super) fn port(&self, graph: &Graph, from: NodeId, to: NodeId) -> Option<&SwitchSpec> {
        let of_tier = || {
            let tier = self.tiers.get(graph.tier(from)?)?;
            Some(if graph.leads_up(from, to) { &tier.up } else { &tier.level })
        };
        self.ports.get(&(from, to)).or_else(of_tier)
    }
}

/// Keys of a table inside `switch`. All switches have the same lossless priorities: data that is lossless at one
/// switch and lossy at the next would be dropped.
fn keys_inside() -> Vec<ParamInfo> {
    let mut keys = SwitchSpec::parameters();
    keys.retain(|key| key.name != "lossless");
    keys
}

/// Checks that the tables of tier `name` apply to at least one port.
fn selects_ports(switch: &Reader, name: &str, tier: &Reader, graph: &Graph) -> Result<(), ConfigError> {
    let Some(level) = graph.tiers.iter().position(|known| known == name) else { return Ok(()) };
    if tier.tables_inside().contains(&UP) {
        return graph.upwards(level).map_err(|reason| tier.impossible(UP, reason));
    }
    let has_ports = graph.directions().any(|(from, ..)| graph.tier(from) == Some(level));
    if !has_ports && switch.tables_inside().contains(&name) {
        return Err(
            switch.impossible(name, "switches of this tier have no links, so the table applies to no port")
        );
    }
    Ok(())
}

fn port(reader: &Reader, demands: PortDemands) -> Result<SwitchSpec, ConfigError> {
    let spec = SwitchSpec::read(reader)?;
    checks::switch_port(reader, &spec, demands)?;
    Ok(spec)
}
