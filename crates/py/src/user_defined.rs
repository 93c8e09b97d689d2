//! Transports written in Python: inputs of their hooks, and errors that end a run.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use shortflow_cc::{AckSample, Cause, CongestionControl, FlowView, Opening, Role, Window};
use shortflow_units::{Bytes, Instant, Rate, Span};
use std::sync::{Arc, Mutex};

/// The first error that a hook raised; it ends the run.
#[derive(Debug, Clone, Default)]
pub struct Failure(Arc<Mutex<Option<PyErr>>>);

impl Failure {
    /// Keeps `error`, unless there was one before.
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

/// The window and the pacing rate; all may be set.
#[pyclass(get_all, set_all, name = "Window", module = "shortflow._core")]
pub struct PyWindow {
    /// Congestion window, in segments.
    cwnd: f64,
    /// Slow-start threshold, in segments.
    ssthresh: f64,
    /// Rate at which packets are paced, in bits per second on the wire; `None` to send whenever the window has room.
    pacing_bps: Option<f64>,
}

/// Time, path and segments of a new connection, before its first packet. Sizes are in bytes, times in seconds.
#[pyclass(frozen, get_all, name = "Opening", module = "shortflow._core")]
pub struct PyOpening {
    /// Simulated time.
    now_s: f64,
    /// Rate of the link of the sender's host, in bits per second.
    line_bps: f64,
    /// Time that a full segment and its ACK take through an empty network.
    base_rtt_s: f64,
    /// Payload of a full segment.
    mss: u64,
    /// Bytes that a link carries with each segment, beside its payload.
    header: u64,
}

/// Sender's view of the flow in transmission. Sizes are in bytes, times in seconds.
#[pyclass(frozen, get_all, name = "Flow", module = "shortflow._core")]
pub struct PyFlow {
    /// Simulated time.
    now_s: f64,
    /// Smoothed round-trip time; 0 before the first sample.
    srtt_s: f64,
    /// Payload of a full segment.
    mss: u64,
    /// Payload of this flow sent so far, without retransmissions.
    sent: u64,
    /// Payload not yet acknowledged, sent or not; `None` for a flow without end.
    remaining: Option<u64>,
    /// Payload sent and not yet acknowledged.
    flight: u64,
    /// Completion deadline; `None` without one.
    deadline_s: Option<f64>,
    /// Role by traffic class: `short`, `long` or `unknown`.
    role: &'static str,
}

/// One acknowledgement. Sizes are in bytes.
#[pyclass(frozen, get_all, name = "Ack", module = "shortflow._core")]
pub struct PyAck {
    /// By how much `snd_una` advanced: 0 where data is missing below what the ACK answers.
    acked: u64,
    /// The ACK echoes a congestion mark.
    ece: bool,
    /// The window may open: it limits the sender, and the ACK advances outside loss recovery. Marked ACKs open it
    /// only if the run allows.
    may_grow: bool,
    /// The window limits the sender, so that it may open; always true unless `tcp.growth` is set.
    limited: bool,
    /// The sender is in loss recovery.
    in_recovery: bool,
    /// First byte not yet acknowledged, after this ACK.
    snd_una: u64,
    /// First byte not yet sent.
    snd_nxt: u64,
    /// `newly_delivered` if the ACK echoes a mark, else 0: bytes marked, in order or not.
    marked: u64,
    /// Round-trip time of the packet that this ACK answers, from the sender's queue to here.
    rtt_s: f64,
    /// Smallest of those on this connection.
    min_rtt_s: f64,
    /// Part of `rtt_s` in queues of switches, both ways.
    in_switches_s: f64,
    /// Part of `rtt_s` in the two hosts: in their queues, with a receiver that delayed its ACK, and in their jitter and
    /// stalls.
    in_hosts_s: f64,
    /// Part of `in_hosts_s` in the queue of the sender's own host.
    at_sender_s: f64,
    /// Part of `in_hosts_s` in the queue of the receiver's, behind what it sends itself.
    at_receiver_s: f64,
    /// Switches that the packet crossed.
    hops: u32,
    /// Payload that the connection has delivered so far.
    delivered: u64,
    /// Part of `delivered` of which this ACK tells first, in order or not.
    newly_delivered: u64,
    /// Delivery rate since the packet was sent, in bits per second; `None` over less than `min_rtt_s`, and of an ACK that
    /// delivers nothing.
    rate_bps: Option<f64>,
    /// The sender had no more data at the transmission; the rate is then a lower bound.
    app_limited: bool,
    /// The flow that is being sent.
    flow: Py<PyFlow>,
}

fn ack_object(py: Python<'_>, ack: &AckSample) -> PyResult<Py<PyAck>> {
    // The receivers of the simulator return every data packet's telemetry.
    let path = ack.path.ok_or_else(|| PyValueError::new_err("an ACK without a timestamp"))?;
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

/// Slowest pacing: below, a full segment takes seconds.
const SLOWEST_BPS: f64 = 1e4;
/// Smallest floor: below, a segment takes ten thousand round trips.
const SMALLEST_FLOOR: f64 = 1e-4;

/// A connection's instance of a Python class.
#[derive(Debug)]
pub struct PythonLaw {
    instance: PyResult<Py<PyAny>>,
    failure: Failure,
    /// The smallest window that it keeps.
    floor: f64,
    /// Its hosts begin without a window: cwnd is infinite until the law sets it.
    has_no_window: bool,
    pacing: Option<Rate>,
    timer: Option<Instant>,
}

impl PythonLaw {
    /// A new instance from `factory`, for hosts that begin without a window or with one.
    pub fn new(factory: &Py<PyAny>, failure: Failure, has_no_window: bool) -> PythonLaw {
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

    /// Calls a hook with the window and takes back what it made of it. A timer may be due at `earliest`.
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
                return Err(PyValueError::new_err(format!("{} left {wrong}", instance.get_type().name()?)));
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

/// `floor` of a law.
fn checked_floor(instance: &Bound<'_, PyAny>) -> PyResult<f64> {
    let floor: f64 = instance.getattr("floor")?.extract()?;
    if floor.is_finite() && floor >= SMALLEST_FLOOR {
        return Ok(floor);
    }
    let name = instance.get_type().name()?.to_string();
    Err(PyValueError::new_err(format!(
        "{name}.floor = {floor} is not a window from {SMALLEST_FLOOR} segments up"
    )))
}

/// `timer_s` of a law, which may be `earliest`.
fn timer_of(instance: &Bound<'_, PyAny>, earliest: Instant) -> PyResult<Option<Instant>> {
    let Some(at) = instance.getattr("timer_s")?.extract::<Option<f64>>()? else { return Ok(None) };
    let due = Instant::ZERO + Span::from_secs_f64(at);
    if at.is_finite() && due >= earliest {
        return Ok(Some(due));
    }
    let (name, now) = (instance.get_type().name()?.to_string(), earliest.as_secs_f64());
    Err(PyValueError::new_err(format!(
        "{name}.timer_s = {at} is no time to come at {now} s; None for no timer"
    )))
}

/// Error in the values that a hook left.
fn complaint(left: &PyWindow, floor: f64, has_no_window: bool) -> Option<String> {
    let &PyWindow { cwnd, ssthresh, pacing_bps } = left;
    let is_finite = cwnd.is_finite() || has_no_window && cwnd == f64::INFINITY;
    if !(is_finite && cwnd > 0.0 && ssthresh > 0.0) {
        return Some(format!("cwnd = {cwnd}, ssthresh = {ssthresh}; both must be above 0, cwnd finite"));
    }
    if cwnd < floor {
        return Some(format!(
            "cwnd = {cwnd}, below its floor of {floor} segments; keep it there, or lower `floor`: a window below one \
             segment is paced"
        ));
    }
    let pacing = pacing_bps.filter(|bps| !(bps.is_finite() && *bps >= SLOWEST_BPS))?;
    Some(format!(
        "pacing_bps = {pacing}, at which it stalls; it must be finite and at least {SLOWEST_BPS}, or None"
    ))
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
