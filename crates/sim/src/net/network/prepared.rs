//! Preparation of ports for a plan, before the run.

use super::Network;
use shortflow_units::PortId;

impl Network {
    /// Makes switch ports report telemetry to laws that read hops.
    pub fn with_telemetry(mut self) -> Network {
        for (number, port) in self.ports.iter_mut().enumerate() {
            if port.from.index() >= self.hosts {
                port.report(PortId::from(number));
            }
        }
        self
    }

    /// Marks the ports whose hosts may take arrivals early: the only port to the host, without faults and
    /// schedulers in either direction.
    pub fn with_pulls(mut self) -> Network {
        let mut inputs = vec![0; self.hosts];
        self.ports
            .iter()
            .for_each(|port| inputs.get_mut(port.to().index()).into_iter().for_each(|count| *count += 1));
        for port in 0..self.ports.len() {
            let [there, back] = [port, port ^ 1].map(|port| &self.ports[port]);
            let is_plain = [there, back].iter().all(|port| !port.is_faulty() && !port.is_scheduled());
            let is_early = is_plain && inputs.get(there.to().index()) == Some(&1);
            self.ports[port].egress.transmitter.lead_to_early_host(is_early);
        }
        self
    }
}
