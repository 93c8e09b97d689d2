//! [`Agents`]: what the connections of each host share.

use super::event::Event;
use crate::engine::EventQueue;
use crate::host::{HostAgent, LazyTimer, Turn};
use shortflow_units::{HostId, Instant};
use std::any::Any;

/// The agents of one host, of which there is one for each kind of its connections that has any, and their timer.
#[derive(Debug)]
struct OfHost {
    agents: Vec<Box<dyn HostAgent>>,
    alarm: LazyTimer,
}

/// The agents of every host. Those of hosts without any cost nothing but their place.
#[derive(Debug)]
pub(super) struct Agents {
    hosts: Vec<OfHost>,
    /// Hosts whose agents may have something to do.
    touched: Vec<HostId>,
}

impl Agents {
    /// No agents, for so many hosts.
    pub fn new(hosts: usize) -> Agents {
        let none = || OfHost { agents: Vec::new(), alarm: LazyTimer::IDLE };
        Agents { hosts: (0..hosts).map(|_| none()).collect(), touched: Vec::new() }
    }

    /// The agent of this kind at `host`, which may have something to do from now on.
    pub fn of<A: HostAgent + Default>(&mut self, host: HostId) -> &mut A {
        self.touched.push(host);
        let agents = &mut self.hosts[host.index()].agents;
        let place = agents.iter().position(|agent| (&**agent as &dyn Any).is::<A>()).unwrap_or_else(|| {
            agents.push(Box::<A>::default());
            agents.len() - 1
        });
        let agent: &mut dyn Any = &mut *agents[place];
        agent.downcast_mut().unwrap_or_else(|| unreachable!("the agent at this place is of this kind"))
    }

    /// The timer of `host` has come.
    pub fn wake(&mut self, host: HostId, now: Instant) {
        self.hosts[host.index()].alarm.expired(now); // or moved back: then it is set again
        self.touched.push(host);
    }

    /// The next connection that may send or answer, with its host. Where there is none, the host's timer is set.
    pub fn next_turn(&mut self, events: &mut EventQueue<Event>) -> Option<(HostId, Turn)> {
        while let Some(&host) = self.touched.last() {
            let OfHost { agents, alarm } = &mut self.hosts[host.index()];
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

    /// True if agents may have something to do.
    #[inline]
    pub fn are_touched(&self) -> bool {
        !self.touched.is_empty()
    }
}
