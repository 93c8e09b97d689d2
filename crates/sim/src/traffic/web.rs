//! A three-tier web service: clients ask web servers for pages, and web servers ask databases.
//!
//! A session asks for a page, waits for it, thinks, and asks again. Each session has its own random draws,
//! which do not depend on the order in which sessions are served.

use super::context::{Context, four_digits, size_text};
use super::hosts::{HostSet, Hosts};
use super::messages::{Draws, Messages};
use super::{
    AppActions, Application, Count, Expected, FlowArrival, MeasurementWindow, TaskId, TaskKind, Traffic,
    Workload,
};
use crate::config::{ANY_SIZE, ANY_TIME, ConfigError, Kind, POSITIVE_TIME, ParamInfo, Reader, Shape, keys};
use crate::engine::{Seeds, Stream};
use shortflow_units::{Bytes, ClassId, HostId, Instant, Span};
use std::sync::Arc;

/// Registry entry.
pub(super) const KIND: Kind<super::Read> = Kind {
    name: "web",
    summary: "sessions request pages from web servers; for each page, the web server requests data from a database",
    source: "ATCP, Wu et al., §VII-B: clients, web server, database",
    parameters,
    read,
};

keys! {
    /// Hosts, number of sessions, and sizes of requests.
    struct WebKeys {
        /// hosts of the clients
        clients: HostSet = required, Hosts;
        /// hosts of the web servers
        servers: HostSet = required, Hosts;
        /// hosts of the databases
        databases: HostSet = required, Hosts;
        /// number of sessions; the hosts in clients take turns; one session for each host unless given
        sessions: Option<u32> = optional, 1..=1_000_000u32;
        /// start of the think time before the first page of each session
        start: Span = "0s", ANY_TIME;
        /// mean of the exponentially distributed time from the end of a page to the next request
        think: Span = required, POSITIVE_TIME;
        /// size of the request of a client for a page
        request: Bytes = "1KB", ANY_SIZE;
        /// size of the request of a web server to a database
        query: Bytes = "1KB", ANY_SIZE;
        /// time allowed from the request for a page to its last byte
        page_deadline: Option<Span> = optional, POSITIVE_TIME;
    }
}

#[derive(Debug, Clone)]
struct Service {
    keys: WebKeys,
    /// The client host of each session.
    sessions: Vec<HostId>,
    servers: Vec<HostId>,
    databases: Vec<HostId>,
    pages: Messages,
    answers: Messages,
    /// Class of the requests and queries.
    request_class: ClassId,
    end: Instant,
}

fn parameters() -> Vec<ParamInfo> {
    let shape = Shape::Table(Messages::parameters);
    let answer = ParamInfo::new("answer", ParamInfo::REQUIRED, shape, "answer of a database");
    [WebKeys::parameters(), vec![answer], Messages::parameters()].concat()
}

fn read(reader: &Reader, context: &mut Context) -> Result<Box<dyn Traffic>, ConfigError> {
    let keys = WebKeys::read(reader)?;
    let pages = Messages::read(reader, context)?;
    let answer = reader.table("answer")?;
    answer.only(&Messages::parameters(), &[])?;
    let answers = Messages::read(&answer, context)?;
    let hosts = |set: &HostSet, key| set.resolve(&context.names, reader, key);
    let (clients, servers) = (hosts(&keys.clients, "clients")?, hosts(&keys.servers, "servers")?);
    let databases = hosts(&keys.databases, "databases")?;
    if let Some(host) = clients.iter().chain(&databases).find(|host| servers.contains(host)) {
        return Err(
            reader.impossible("servers", format!("host {} would send to itself", context.names.name(*host)))
        );
    }
    context.start(reader, "start", keys.start)?;
    let count = keys.sessions.map_or(clients.len(), |sessions| sessions as usize);
    if keys.sessions.is_none() {
        reader.defaulted("sessions", count.to_string());
    }
    let sessions = clients.iter().copied().cycle().take(count).collect();
    let end = Instant::ZERO + context.duration;
    let request_class = context.class("request");
    let service = Service { keys, sessions, servers, databases, pages, answers, request_class, end };
    service.announce(reader, context);
    Ok(Box::new(service))
}

impl Service {
    fn announce(&self, reader: &Reader, context: &mut Context) {
        let seconds = context.duration.saturating_sub(self.keys.start).as_secs_f64();
        let pages = self.sessions.len() as f64 * seconds / self.keys.think.as_secs_f64();
        for size in [
            self.pages.sizes.mean(),
            self.answers.sizes.mean(),
            self.keys.request.as_f64(),
            self.keys.query.as_f64(),
        ] {
            context.expect(pages, size);
        }
        for (asking, asked) in [(&self.sessions, &self.servers), (&self.servers, &self.databases)] {
            context.peers.add(asking, asked);
            context.peers.add(asked, asking);
        }
        let note = format!(
            "{} sessions, at most {} pages/s of mean {}, {} from a database for each",
            self.sessions.len(),
            four_digits(self.sessions.len() as f64 / self.keys.think.as_secs_f64()),
            size_text(self.pages.sizes.mean()),
            size_text(self.answers.sizes.mean()),
        );
        context.note(reader, &note);
    }
}

impl Traffic for Service {
    /// No flow is certain, because sessions think before their first page.
    fn expected(&self, _: MeasurementWindow) -> Expected {
        Expected::finite(Count::AtLeast(0))
    }

    fn start(&self, seeds: Seeds, index: usize) -> Workload {
        let session = |number: usize| Session {
            choices: seeds.stream(&format!("traffic session {number}"), index),
            pages: self.pages.draws_of(seeds, index, number),
            answers: self.answers.draws_of(seeds, index, number),
            visit: None,
        };
        let sessions = (0..self.sessions.len()).map(session).collect();
        Workload::Closed(Box::new(Run { service: Arc::new(self.clone()), sessions }))
    }
}

/// The service in one run.
struct Run {
    service: Arc<Service>,
    sessions: Vec<Session>,
}

struct Session {
    choices: Stream,
    pages: Draws,
    answers: Draws,
    visit: Option<Visit>,
}

/// A page request in progress, with its four flows in order.
struct Visit {
    task: TaskId,
    flows: [FlowArrival; FLOWS],
}

const FLOWS: usize = 4;

impl Run {
    /// Lets a session think and then ask for a page.
    fn visit(&mut self, number: usize, now: Instant, actions: &mut AppActions) {
        let service = &*self.service;
        let (client, session) = (service.sessions[number], &mut self.sessions[number]);
        session.visit = None;
        let think = service.keys.think.as_secs_f64();
        let at = now + Span::from_secs_f64(session.choices.exponential(think));
        if at >= service.end {
            return;
        }
        let task = actions.open(TaskKind::Request, service.pages.class(), at, service.keys.page_deadline);
        session.visit = Some(Visit { task, flows: session.draw(service, client, number as u32) });
        self.send(number, 0, at, actions);
    }

    /// Sends flow `step` of the page that session `number` asks for.
    fn send(&self, number: usize, step: usize, at: Instant, actions: &mut AppActions) {
        if let Some(visit) = &self.sessions[number].visit {
            let arrival = FlowArrival { at, ..visit.flows[step] };
            actions.send(visit.task, (FLOWS * number + step) as u64, arrival);
        }
    }
}

impl Session {
    /// Draws the four flows of a page: request, query, answer and page.
    fn draw(&mut self, service: &Service, client: HostId, number: u32) -> [FlowArrival; FLOWS] {
        let mut one_of = |hosts: &[HostId]| hosts[self.choices.below(hosts.len() as u64) as usize];
        let (server, database) = (one_of(&service.servers), one_of(&service.databases));
        let at = Instant::ZERO;
        let page = service.pages.arrival(&mut self.pages, at, (server, client), number);
        let answer = service.answers.arrival(&mut self.answers, at, (database, server), number);
        let asks = |answer: &FlowArrival, size: Bytes| FlowArrival {
            source: answer.destination,
            destination: answer.source,
            size,
            class: service.request_class,
            deadline: None,
            ..*answer
        };
        [asks(&page, service.keys.request), asks(&answer, service.keys.query), answer, page]
    }
}

impl Application for Run {
    fn begin(&mut self, actions: &mut AppActions) {
        let start = Instant::ZERO + self.service.keys.start;
        for number in 0..self.sessions.len() {
            self.visit(number, start, actions);
        }
    }

    fn delivered(&mut self, now: Instant, tag: u64, actions: &mut AppActions) {
        let (number, step) = (tag as usize / FLOWS, tag as usize % FLOWS);
        if step + 1 < FLOWS {
            return self.send(number, step + 1, now, actions);
        }
        if let Some(visit) = &self.sessions[number].visit {
            actions.close(visit.task, now);
        }
        self.visit(number, now, actions);
    }
}
