//! Transports written in Python: the inputs of their hooks, and errors that end a run.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use shortflow_cc::{AckSample, Cause, CongestionControl, FlowView, Opening, Role, Window};
use shortflow_units::{Bytes, Instant, Rate, Span};
use std::sync::{Arc, Mutex};

/// The first error that a hook raised; it ends the run.
#[derive(Debug, Clone, Default)]
pub struct Failure(Arc<Mutex<Option<PyErr>>>);

impl Failure {
    /// Keeps `error` if it is the first.
    pub(crate) fn raise(&self, error: PyErr) {
        if let Ok(mut first) = self.0.lock() {
            first.get_or_insert(error);
        }
    }

    /// True if a hook has failed.
    pub fn is_raised(&self) -> bool {
        self.0.lock().is_ok_and(|first| first.is_some())
    }

    /// Takes the error.
    pub fn take(&self) -> Option<PyErr> {
        self.0.lock().ok()?.take()
    }
}

/// Window and pacing rate; a hook may set all of them.
#[pyclass(get_all, set_all, name = "Window", module = "shortflow._core")]
pub(crate) struct PyWindow {
    /// Congestion window, in segments.
    cwnd: f64,
    /// Slow-start threshold, in segments.
    ssthresh: f64,
    /// Rate at which packets are paced, in bits per second on the wire; `None` to send whenever the window has room.
    pacing_bps: Option<f64>,
}

/// A connection before its first packet: the time, its path and the sizes of its segments. Sizes are in bytes, times
/// in seconds.
#[pyclass(frozen, get_all, name = "Opening", module = "shortflow._core")]
pub(crate) struct PyOpening {
    /// Simulated time.
    now_s: f64,
    /// Rate of the link of the sender's host, in bits per second.
    line_bps: f64,
    /// Time that a full segment and its ACK take through an empty network.
    base_rtt_s: f64,
    /// Payload of a full segment.
    mss: u64,
    /// Bytes that a segment takes on a link in addition to its payload.
    header: u64,
}

/// State of the flow that a sender transmits. Sizes are in bytes, times in seconds.
#[pyclass(frozen, get_all, name = "Flow", module = "shortflow._core")]
pub(crate) struct PyFlow {
    /// Simulated time.
    now_s: f64,
    /// Smoothed round-trip time; 0 before the first sample.
    srtt_s: f64,
    /// Payload of a full segment.
    mss: u64,
    /// Payload of this flow sent so far, without retransmissions.
    sent: u64,
    /// Payload not yet acknowledged, sent or not; `None` for a backlogged flow.
    remaining: Option<u64>,
    /// Payload sent and not yet acknowledged.
    flight: u64,
    /// Completion deadline; `None` without one.
    deadline_s: Option<f64>,
    /// Role by traffic class: `short`, `long` or `unknown`.
    role: &'static str,
}

/// One ACK. Sizes are in bytes, times in seconds.
#[pyclass(frozen, get_all, name = "Ack", module = "shortflow._core")]
pub(crate) struct PyAck {
    /// Bytes by which `snd_una` advanced; 0 while data below the acknowledged packet is missing.
    acked: u64,
    /// True if the ACK echoes a congestion mark.
    ece: bool,
    /// True if this ACK may open the window: the ACK advances `snd_una` outside loss recovery, and the window limits
    /// the sender. A marked ACK may open the window only if `tcp.grow_on_marked_acks` allows it.
    may_grow: bool,
    /// True if the window limits the sender. Always true unless `tcp.growth` requires this limit for growth.
    limited: bool,
    /// True if the sender is in loss recovery.
    in_recovery: bool,
    /// First byte not yet acknowledged, after this ACK.
    snd_una: u64,
    /// First byte not yet sent.
    snd_nxt: u64,
    /// Marked bytes that this ACK reports, in order or not: `newly_delivered` if the ACK echoes a mark, otherwise 0.
    marked: u64,
    /// Round-trip time of the acknowledged packet: time since the sender handed the packet to the port of its host.
    rtt_s: f64,
    /// Smallest round-trip time of this connection.
    min_rtt_s: f64,
    /// Part of `rtt_s` in the queues of switches, in both directions.
    in_switches_s: f64,
    /// Part of `rtt_s` in the two hosts: in their queues, in the receiver's delay of the ACK, and in jitter and
    /// stalls of the hosts.
    in_hosts_s: f64,
    /// Part of `in_hosts_s` in the queue of the sender's own host.
    at_sender_s: f64,
    /// Part of `in_hosts_s` in the queue of the receiver's host, behind other packets of this host.
    at_receiver_s: f64,
    /// Switches that the packet crossed.
    hops: u32,
    /// Payload that the connection has delivered so far.
    delivered: u64,
    /// Part of `delivered` that this ACK is the first to report, in order or not.
    newly_delivered: u64,
    /// Delivery rate since the packet was sent, in bits per second. `None` if the rate was measured over less than
    /// `min_rtt_s`, or if the ACK reports no newly delivered bytes.
    rate_bps: Option<f64>,
    /// True if the sender ran out of data when it sent the packet; the rate is then a lower bound.
    app_limited: bool,
    /// The flow that the sender transmits.
    flow: Py<PyFlow>,
}

fn ack_object(py: Python<'_>, ack: &AckSample) -> PyResult<Py<PyAck>> {
    // The receivers of the simulator return every data packet's telemetry.
    let path = ack.path.ok_or_else(|| PyValueError::new_err("the ACK has no telemetry"))?;
    let ack = PyAck {
        acked: ack.acked.get(),
        ece: ack.ece,
        may_grow: ack.may_grow,
        limited: ack.limited,
        in_recovery: ack.in_recovery,
        snd_una: ack.snd_una,
        snd_nxt: ack.snd_nxt,
        marked: ack.marked().get(),
        rtt_s: path.rtt.as_secs_f64(),
        min_rtt_s: path.min_rtt.as_secs_f64(),
        in_switches_s: path.in_switches.as_secs_f64(),
        in_hosts_s: path.in_hosts.as_secs_f64(),
        at_sender_s: path.at_sender.as_secs_f64(),
        at_receiver_s: path.at_receiver.as_secs_f64(),
        hops: path.hops,
        delivered: path.delivered.get(),
        newly_delivered: path.newly_delivered.get(),
        rate_bps: path.rate.map(|rate| rate.as_bps() as f64),
        app_limited: path.app_limited,
        flow: flow_object(py, &ack.flow)?,
    };
    Py::new(py, ack)
}

fn flow_object(py: Python<'_>, flow: &FlowView) -> PyResult<Py<PyFlow>> {
    let role = match flow.role {
        Role::Unknown => "unknown",
        Role::Short => "short",
        Role::Long => "long",
    };
    let flow = PyFlow {
        now_s: flow.now.as_secs_f64(),
        srtt_s: flow.srtt.as_secs_f64(),
        mss: flow.mss.get(),
        sent: flow.sent.get(),
        remaining: (flow.remaining != Bytes::MAX).then_some(flow.remaining.get()),
        flight: flow.flight.get(),
        deadline_s: flow.deadline.map(|deadline| deadline.as_secs_f64()),
        role,
    };
    Py::new(py, flow)
}

/// Slowest pacing rate; below it, a full segment takes more than a second.
const SLOWEST_BPS: f64 = 1e4;
/// Smallest floor; below it, a segment takes more than ten thousand round trips.
const SMALLEST_FLOOR: f64 = 1e-4;

/// The instance of a Python class for one connection.
#[derive(Debug)]
pub(crate) struct PythonLaw {
    instance: PyResult<Py<PyAny>>,
    failure: Failure,
    /// Smallest window that the law may set, in segments.
    floor: f64,
    /// True if connections start without a window: cwnd is infinite until the law sets it.
    has_no_window: bool,
    pacing: Option<Rate>,
    timer: Option<Instant>,
}

impl PythonLaw {
    /// A new instance from `factory`. With `has_no_window`, connections start without a window.
    pub(crate) fn new(factory: &Py<PyAny>, failure: Failure, has_no_window: bool) -> PythonLaw {
        let made = Python::attach(|py| -> PyResult<_> {
            let instance = factory.call0(py)?;
            let floor = checked_floor(instance.bind(py))?;
            let timer = timer_of(instance.bind(py), Instant::ZERO)?;
            Ok((instance, floor, timer))
        });
        let (instance, floor, timer) = match made {
            Ok((instance, floor, timer)) => (Ok(instance), floor, timer),
            Err(error) => {
                failure.raise(Python::attach(|py| PyErr::clone_ref(&error, py)));
                (Err(error), 1.0, None)
            }
        };
        PythonLaw { instance, failure, floor, has_no_window, pacing: None, timer }
    }

    /// Calls a hook with the window, and takes over the values that the hook sets. The law's timer must not be before
    /// `earliest`.
    fn call(
        &mut self,
        window: &mut Window,
        earliest: Instant,
        hook: impl FnOnce(&Bound<'_, PyAny>, &Bound<'_, PyWindow>) -> PyResult<()>,
    ) {
        let Ok(instance) = &self.instance else { return };
        if self.failure.is_raised() {
            return;
        }
        let changed = Python::attach(|py| {
            let pacing_bps = self.pacing.map(|rate| rate.as_bps() as f64);
            let object = PyWindow { cwnd: window.cwnd, ssthresh: window.ssthresh, pacing_bps };
            let object = Bound::new(py, object)?;
            let instance = instance.bind(py);
            hook(instance, &object)?;
            let left = object.borrow();
            if let Some(wrong) = complaint(&left, self.floor, self.has_no_window) {
                return Err(PyValueError::new_err(format!("{} set {wrong}", instance.get_type().name()?)));
            }
            let pacing = left.pacing_bps.and_then(|bps| Rate::new(bps as u64));
            let timer = timer_of(instance, earliest)?;
            Ok((Window { cwnd: left.cwnd, ssthresh: left.ssthresh }, pacing, timer))
        });
        match changed {
            Ok(changed) => (*window, self.pacing, self.timer) = changed,
            Err(error) => self.failure.raise(error),
        }
    }
}

/// The law's `floor`, if it is valid.
fn checked_floor(instance: &Bound<'_, PyAny>) -> PyResult<f64> {
    let floor: f64 = instance.getattr("floor")?.extract()?;
    if floor.is_finite() && floor >= SMALLEST_FLOOR {
        return Ok(floor);
    }
    let name = instance.get_type().name()?.to_string();
    Err(PyValueError::new_err(format!(
        "{name}.floor = {floor} is not a window of at least {SMALLEST_FLOOR} segments"
    )))
}

/// The law's `timer_s`, which must not be before `earliest`.
fn timer_of(instance: &Bound<'_, PyAny>, earliest: Instant) -> PyResult<Option<Instant>> {
    let Some(at) = instance.getattr("timer_s")?.extract::<Option<f64>>()? else { return Ok(None) };
    let due = Instant::ZERO + Span::from_secs_f64(at);
    if at.is_finite() && due >= earliest {
        return Ok(Some(due));
    }
    let (name, now) = (instance.get_type().name()?.to_string(), earliest.as_secs_f64());
    Err(PyValueError::new_err(format!(
        "{name}.timer_s = {at} is not a time from {now} s on; use None for no timer"
    )))
}

/// The error in the values that a hook set, if any.
fn complaint(left: &PyWindow, floor: f64, has_no_window: bool) -> Option<String> {
    let &PyWindow { cwnd, ssthresh, pacing_bps } = left;
    let is_finite = cwnd.is_finite() || has_no_window && cwnd == f64::INFINITY;
    if !(is_finite && cwnd > 0.0 && ssthresh > 0.0) {
        return Some(format!("cwnd = {cwnd}, ssthresh = {ssthresh}; both must be above 0, cwnd finite"));
    }
    if cwnd < floor {
        return Some(format!(
            "cwnd = {cwnd}, below its floor of {floor} segments; raise cwnd, or lower `floor`: a window below one segment \
             is paced"
        ));
    }
    let pacing = pacing_bps.filter(|bps| !(bps.is_finite() && *bps >= SLOWEST_BPS))?;
    Some(format!("pacing_bps = {pacing}; expected a finite rate of at least {SLOWEST_BPS} bit/s, or None"))
}

impl CongestionControl for PythonLaw {
    fn on_ack(&mut self, window: &mut Window, ack: &AckSample) {
        self.call(window, ack.flow.now, |instance, window| {
            let ack = ack_object(instance.py(), ack)?;
            instance.call_method1("on_ack", (window, ack))?;
            let left = window.borrow();
            match left.pacing_bps.is_none() && left.cwnd == f64::INFINITY {
                true => Err(PyValueError::new_err(
                    "neither pacing_bps nor cwnd is set, and the hosts of its base have no window of their own",
                )),
                false => Ok(()),
            }
        });
    }

    fn on_congestion(&mut self, window: &mut Window, cause: Cause, flow: &FlowView) {
        let cause = match cause {
            Cause::EcnEcho => "ecn-echo",
            Cause::FastRetransmit => "fast-retransmit",
            Cause::Timeout => "timeout",
        };
        self.call(window, flow.now, |instance, window| {
            let flow = flow_object(instance.py(), flow)?;
            instance.call_method1("on_congestion", (window, cause, flow)).map(|_| ())
        });
    }

    fn on_start(&mut self, window: &mut Window, at: &Opening) {
        self.call(window, at.now, |instance, window| {
            let opening = PyOpening {
                now_s: at.now.as_secs_f64(),
                line_bps: at.line.as_bps() as f64,
                base_rtt_s: at.base_rtt.as_secs_f64(),
                mss: at.mss.get(),
                header: at.header.get(),
            };
            instance.call_method1("on_start", (window, opening)).map(|_| ())
        });
    }

    fn reads_path(&self) -> bool {
        true
    }

    fn pacing_rate(&self) -> Option<Rate> {
        self.pacing
    }

    fn timer(&self) -> Option<Instant> {
        self.timer
    }

    fn on_timer(&mut self, window: &mut Window, flow: &FlowView) {
        let later = flow.now + Span::from_ps(1);
        self.call(window, later, |instance, window| {
            instance.setattr("timer_s", instance.py().None())?;
            let flow = flow_object(instance.py(), flow)?;
            instance.call_method1("on_timer", (window, flow)).map(|_| ())
        });
    }

    fn floor(&self, _: Bytes) -> f64 {
        self.floor
    }

    fn alpha(&self, _: Instant) -> Option<f64> {
        let instance = self.instance.as_ref().ok()?;
        Python::attach(|py| instance.bind(py).getattr("alpha").ok()?.extract().ok())
    }
}
