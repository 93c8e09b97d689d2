//! [`Racks`]: racks of hosts, with a link from each top-of-rack switch to each switch of the tier above.

use super::delay_segments::{DelaySegment, delays};
use super::{Graph, HOSTS, Topology};
use crate::config::{ANY_TIME, ConfigError, Positive, RATE, Reader, keys};
use shortflow_units::{NodeId, Rate, Span};

keys! {
    /// Keys of racks.
    pub(super) struct RackKeys {
        /// number of racks
        racks: u32 = required, 2..=10_000u32;
        /// number of hosts in each rack
        hosts_per_rack: u32 = required, 1..=10_000u32;
        /// rate of host links
        rate: Rate = required, RATE;
        /// rate of each uplink of a rack; set uplink_rate or oversubscription
        uplink_rate: Option<Rate> = optional, RATE;
        /// total rate of a rack's host links divided by the total rate of its uplinks, instead of uplink_rate
        oversubscription: Option<f64> = optional, Positive(1000.0);
        /// propagation round trip between racks
        rtt: Span = required, ANY_TIME;
        /// one-way delay of each uplink; an equal share of rtt unless given
        uplink_delay: Option<Span> = optional, ANY_TIME;
    }
}

/// Racks and the switches above them.
#[derive(Debug)]
pub(super) struct Racks {
    racks: usize,
    hosts_per_rack: usize,
    above: usize,
    rate: Rate,
    uplink_rate: Rate,
    host_delay: Span,
    uplink_delay: Span,
    /// Names of the tier of top-of-rack switches and of the tier above.
    tiers: [&'static str; 2],
}

impl Racks {
    /// Reads racks with `above` switches in the upper tier.
    pub(super) fn read(reader: &Reader, above: u32, tiers: [&'static str; 2]) -> Result<Racks, ConfigError> {
        let keys = RackKeys::read(reader)?;
        let hosts = u64::from(keys.racks) * u64::from(keys.hosts_per_rack);
        if hosts > u64::from(*HOSTS.end()) {
            let most = HOSTS.end();
            let reason = format!(
                "{} racks of {} hosts are {hosts} hosts; at most {most} are accepted",
                keys.racks, keys.hosts_per_rack
            );
            return Err(reader.impossible("hosts_per_rack", reason));
        }
        let segments = [DelaySegment::rest(2), DelaySegment::new(2, "uplink_delay", keys.uplink_delay)];
        let [host_delay, uplink_delay] = delays(reader, keys.rtt, segments)?;
        Ok(Racks {
            racks: keys.racks as usize,
            hosts_per_rack: keys.hosts_per_rack as usize,
            above: above as usize,
            rate: keys.rate,
            uplink_rate: keys.uplink_rate(reader, above)?,
            host_delay,
            uplink_delay,
            tiers,
        })
    }
}

impl Topology for Racks {
    fn build(&self) -> Graph {
        let mut graph = Graph::new(self.racks * self.hosts_per_rack, 0);
        let racks = graph.add_tier(self.tiers[0], self.racks);
        let above = graph.add_tier(self.tiers[1], self.above);
        for host in 0..graph.hosts() {
            let rack = racks[host / self.hosts_per_rack];
            graph.connect(NodeId::from(host), rack, self.rate, self.host_delay);
        }
        for rack in racks {
            above.iter().for_each(|top| graph.connect(rack, *top, self.uplink_rate, self.uplink_delay));
        }
        graph
    }

    fn note(&self) -> Option<String> {
        let down = self.hosts_per_rack as f64 * self.rate.as_bps() as f64;
        let up = self.above as f64 * self.uplink_rate.as_bps() as f64;
        let oversubscription = (down / up * 1000.0).round() / 1000.0;
        Some(format!(
            "{} racks of {} hosts, each {} x {} down and {} x {} up: oversubscription {oversubscription}",
            self.racks, self.hosts_per_rack, self.hosts_per_rack, self.rate, self.above, self.uplink_rate
        ))
    }
}

impl RackKeys {
    fn uplink_rate(&self, reader: &Reader, uplinks: u32) -> Result<Rate, ConfigError> {
        match (self.uplink_rate, self.oversubscription) {
            (Some(rate), None) => Ok(rate),
            (None, Some(factor)) => {
                let down = f64::from(self.hosts_per_rack) * self.rate.as_bps() as f64;
                let rate = Rate::new((down / (factor * f64::from(uplinks))).round() as u64);
                let rate = rate.ok_or_else(|| {
                    reader.impossible("oversubscription", format!("{factor} leaves uplinks less than 1bps"))
                })?;
                reader.defaulted("uplink_rate", rate.to_string());
                Ok(rate)
            }
            (None, None) => {
                Err(reader
                    .impossible("uplink_rate", "missing; either uplink_rate or oversubscription is needed"))
            }
            (Some(_), Some(_)) => Err(reader
                .impossible("oversubscription", "given together with uplink_rate; one of them is enough")),
        }
    }
}
