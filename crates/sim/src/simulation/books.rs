//! [`Books`]: what is noted about connections during a run, for the checks at its end.

use super::connections::Connection;
use super::world::World;
use crate::net::Network;
use shortflow_units::{ConnId, HostId};

/// Findings about connections.
pub(super) struct Books {
    /// True if packets of a connection may not overtake each other.
    in_order: bool,
    gaps: Vec<SequenceGap>,
    /// First violated invariant of a connection.
    broken: Option<String>,
}

/// Bytes of a connection that were missing when later bytes arrived. The network must have dropped them.
#[derive(Debug)]
struct SequenceGap {
    source: HostId,
    to: HostId,
    flow_id: u32,
    bytes: u64,
}

impl Books {
    /// Books without findings.
    pub(super) fn new(in_order: bool) -> Books {
        Books { in_order, gaps: Vec::new(), broken: None }
    }

    /// Checks the acknowledged and skipped bytes of a connection that ends, and keeps the first error.
    #[inline(never)]
    pub(super) fn check_connection(&mut self, world: &mut World<'_>, conn: ConnId) {
        let connection = world.connections.slot(conn);
        let &mut Connection { source, destination: to, flow_id, ref ends, .. } = connection;
        let (received, skipped) = (ends.received(), ends.skipped());
        let (acked, end, is_empty) = (ends.acked(), ends.messages().end(), ends.messages().is_empty());
        if !world.owns(to) {
            return;
        }
        // A connection closes only when its whole stream is acknowledged, so its end is known even if the
        // sender is in another part.
        let acked = if world.owns(source) { acked } else { end };
        if acked > received || (is_empty && acked < received) {
            let name = connection_text(flow_id, source, to);
            self.broken.get_or_insert_with(|| {
                format!("{name}: {acked} bytes acknowledged, {received} delivered in order")
            });
        } else if skipped > 0 && self.in_order {
            self.gaps.push(SequenceGap { source, to, flow_id, bytes: skipped });
        }
    }

    /// Checks at the receiver that the bytes up to `acked`, which the sender reports at the end of a message,
    /// have arrived.
    pub(super) fn check_acked(&mut self, world: &mut World<'_>, conn: ConnId, acked: u64) {
        let connection = world.connections.slot(conn);
        let (source, to, flow_id) = (connection.source, connection.destination, connection.flow_id);
        let received = connection.ends.received();
        if world.owns(to) && acked > received {
            self.broken.get_or_insert_with(|| {
                let name = connection_text(flow_id, source, to);
                format!("{name}: {acked} bytes acknowledged, {received} delivered in order")
            });
        }
    }

    /// Takes the findings of another part, whose time may have gone back.
    pub(super) fn join(&mut self, mut other: Books, time: Result<(), String>) {
        self.gaps.append(&mut other.gaps);
        self.broken = self.broken.take().or(other.broken).or(time.err());
    }

    /// Fails if an invariant is violated, or if bytes were skipped that `network` has not dropped.
    pub(super) fn check(&mut self, network: &Network) -> Result<(), String> {
        if let Some(broken) = self.broken.take() {
            return Err(broken);
        }
        for &SequenceGap { source, to, flow_id, bytes } in &self.gaps {
            let lost = network.lost(source, to, flow_id);
            if bytes > lost {
                let name = connection_text(flow_id, source, to);
                return Err(format!(
                    "{name}: {bytes} bytes arrived out of order or not at all, but only {lost} of them were dropped or trimmed"
                ));
            }
        }
        Ok(())
    }
}

fn connection_text(flow_id: u32, source: HostId, to: HostId) -> String {
    format!("connection {flow_id} from host {} to host {}", source.0, to.0)
}
