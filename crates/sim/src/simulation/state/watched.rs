//! Handling of watched packets and timers.

use super::super::Observer;
use super::super::event::OF_SENDER;
use super::Simulation;
use crate::packet::Packet;
use crate::probe::account::{Accounts, Cause, Explained, LinkEnd, Standing};
use crate::probe::watch::TraceFilter;
use crate::tcp::CARD;
use shortflow_units::{ConnId, Instant};

impl Simulation<'_> {
    /// Starts to record packet events and to account for completion times.
    pub(in super::super) fn watch(&mut self, what: Option<TraceFilter>, explained: Option<Explained>) {
        self.network.watch(what.unwrap_or_default());
        self.watched = true;
        let Some(explained) = explained else { return };
        let ends = self.network.ports().iter().map(|port| {
            let (rate, delay) = port.link();
            LinkEnd { from: port.from, to: port.to(), rate, delay }
        });
        let (ends, hosts) = (ends.collect::<Vec<_>>(), self.scenario.graph.hosts());
        let accounts = Accounts::new(explained, &ends, hosts, self.scenario.tcp.wire.gap());
        self.network.watch_mut().into_iter().for_each(|watch| watch.explain(accounts.clone()));
    }

    /// Hands the packet events and accounts before `now` to the observer.
    pub(super) fn report(&mut self, now: Instant, observer: &mut dyn Observer) {
        if self.watched {
            observer.packets(self.network.noted(now));
            let accounts = self.network.watch_mut().map(|watch| watch.take_accounts());
            observer.accounts(accounts.unwrap_or_default());
        }
    }

    /// Does the work of [`Simulation::receive`] for a packet that may be watched.
    #[inline(never)] // keeps the path of unwatched packets short
    pub(super) fn receive_watched(&mut self, packet: &mut Packet) {
        let (now, conn, copy) = (self.events.now(), packet.conn, packet.clone());
        let place = self.network.watch_mut().map_or(0, |watch| watch.arrives(now, &copy));
        self.receive(packet);
        let sender = self.connections.get(conn, copy.flow_id).filter(|open| open.source == copy.to);
        let standing =
            sender.as_ref().map(|open| Standing { una: open.ends.acked(), permitted: open.ends.permitted() });
        let cwnd = sender.and_then(|open| open.ends.cwnd(now));
        let Some(watch) = self.network.watch_mut() else { return };
        standing.into_iter().for_each(|standing| watch.answered(now, copy.flow_id, standing));
        if watch.wants(None, &copy) {
            watch.delivered(now, &copy, cwnd, place);
        }
    }

    /// Does the work of [`Simulation::on_timer`] if timeouts may be watched.
    #[inline(never)] // keeps the path of unwatched timers short
    pub(super) fn on_timer_watched(&mut self, conn: ConnId, timer: u8) {
        let (now, before) = (self.events.now(), self.connections.slot(conn).ends.timeouts());
        let cause = match timer.checked_sub(OF_SENDER) {
            Some(0) => Cause::Recovery,
            Some(CARD) => Cause::SmallQueue,
            _ => Cause::Pacing,
        };
        let place = self.network.watch_mut().map_or(0, |watch| watch.wakes(cause));
        self.on_timer(conn, timer, None);
        let open = self.connections.slot(conn);
        let (number, una, cwnd) = (open.flow_id, open.ends.acked(), open.ends.cwnd(now));
        if let Some(watch) = self.network.watch_mut().filter(|_| open.ends.timeouts() > before) {
            watch.timed_out(now, number, una, cwnd, place);
        }
    }
}
