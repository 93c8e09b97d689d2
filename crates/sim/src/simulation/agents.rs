//! [`Agents`]: state that the connections of each host share.

use super::event::Event;
use crate::engine::EventQueue;
use crate::host::{HostAgent, LazyTimer, Turn};
use shortflow_units::{HostId, Instant};
use std::any::Any;

/// Agents of one host, one for each kind of connection that the host has, and their common timer.
#[derive(Debug)]
struct HostAgents {
    agents: Vec<Box<dyn HostAgent>>,
    alarm: LazyTimer,
}

/// Agents of all hosts. A host without agents costs one empty entry.
#[derive(Debug)]
pub(super) struct Agents {
    hosts: Vec<HostAgents>,
    /// Hosts whose agents may name a connection.
    touched: Vec<HostId>,
}

impl Agents {
    /// Tables for `hosts` hosts, without agents.
    pub(super) fn new(hosts: usize) -> Agents {
        let none = || HostAgents { agents: Vec::new(), alarm: LazyTimer::IDLE };
        Agents { hosts: (0..hosts).map(|_| none()).collect(), touched: Vec::new() }
    }

    /// The agent of type `A` at `host`, created on first use. Marks the host, because the caller may change
    /// the agent.
    pub(super) fn of<A: HostAgent + Default>(&mut self, host: HostId) -> &mut A {
        self.touched.push(host);
        let agents = &mut self.hosts[host.index()].agents;
        let place = agents.iter().position(|agent| (&**agent as &dyn Any).is::<A>()).unwrap_or_else(|| {
            agents.push(Box::<A>::default());
            agents.len() - 1
        });
        let agent: &mut dyn Any = &mut *agents[place];
        agent.downcast_mut().unwrap_or_else(|| unreachable!("the agent at this place is of this kind"))
    }

    /// The timer of `host` expires.
    pub(super) fn wake(&mut self, host: HostId, now: Instant) {
        self.hosts[host.index()].alarm.expired(now); // if the deadline has moved back, `next_turn` arms the timer again
        self.touched.push(host);
    }

    /// The next connection that may send or answer, with its host. Arms the timer of each host whose agents
    /// name no connection.
    pub(super) fn next_turn(&mut self, events: &mut EventQueue<Event>) -> Option<(HostId, Turn)> {
        while let Some(&host) = self.touched.last() {
            let HostAgents { agents, alarm } = &mut self.hosts[host.index()];
            if let Some(turn) = agents.iter_mut().find_map(|agent| agent.next_turn(events.now())) {
                return Some((host, turn));
            }
            self.touched.pop();
            alarm.deadline = agents.iter().filter_map(|agent| agent.wakes_at()).min();
            if let Some(at) = alarm.arm() {
                events.schedule(at, host, Event::HostTimer(host));
            }
        }
        None
    }

    /// Tells the agents of `host` that the connection with this flow id has closed.
    pub(super) fn close(&mut self, host: HostId, flow_id: u32) {
        self.hosts[host.index()].agents.iter_mut().for_each(|agent| agent.on_close(flow_id));
    }

    /// True if an agent may name a connection.
    #[inline]
    pub(super) fn are_touched(&self) -> bool {
        !self.touched.is_empty()
    }
}
