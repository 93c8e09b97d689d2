//! Transports written in Python: what their hooks see, and how their errors end a run.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use shortflow_cc::{AckSample, Cause, CongestionControl, FlowView, Role, Window};
use shortflow_units::Bytes;
use std::sync::{Arc, Mutex};

/// The first error that a hook raised; it ends the run.
#[derive(Debug, Clone, Default)]
pub struct Failure(Arc<Mutex<Option<PyErr>>>);

impl Failure {
    /// Keeps `error`, unless there was one before.
    fn raise(&self, error: PyErr) {
        if let Ok(mut first) = self.0.lock() {
            first.get_or_insert(error);
        }
    }

    /// Whether a hook has failed.
    pub fn is_raised(&self) -> bool {
        self.0.lock().is_ok_and(|first| first.is_some())
    }

    /// Takes the error.
    pub fn take(&self) -> Option<PyErr> {
        self.0.lock().ok()?.take()
    }
}

/// The window; both values may be set.
#[pyclass(name = "Window", module = "shortflow._core")]
pub struct PyWindow {
    /// Congestion window, in segments.
    #[pyo3(get, set)]
    cwnd: f64,
    /// Slow-start threshold, in segments.
    #[pyo3(get, set)]
    ssthresh: f64,
}

/// What the sender knows of the flow that it is sending now. Sizes are in bytes, times in seconds.
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
    /// When the flow should be complete; `None` without a deadline.
    deadline_s: Option<f64>,
    /// What the class of the traffic says: `short`, `long` or `unknown`.
    role: &'static str,
}

/// One acknowledgement that advanced `snd_una`. Sizes are in bytes.
#[pyclass(frozen, get_all, name = "Ack", module = "shortflow._core")]
pub struct PyAck {
    /// Payload newly acknowledged.
    acked: u64,
    /// Whether the ACK echoes a congestion mark.
    ece: bool,
    /// Whether the window may open: not in loss recovery, and not on a mark unless the run allows that.
    may_grow: bool,
    /// First byte not yet acknowledged, after this ACK.
    snd_una: u64,
    /// First byte not yet sent.
    snd_nxt: u64,
    /// The flow that is being sent.
    flow: Py<PyFlow>,
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

/// A connection's instance of a Python class.
#[derive(Debug)]
pub struct PythonLaw {
    instance: PyResult<Py<PyAny>>,
    failure: Failure,
}

impl PythonLaw {
    /// A new instance from `factory`.
    pub fn new(factory: &Py<PyAny>, failure: Failure) -> PythonLaw {
        let instance = Python::attach(|py| factory.call0(py));
        if let Err(error) = &instance {
            failure.raise(Python::attach(|py| error.clone_ref(py)));
        }
        PythonLaw { instance, failure }
    }

    /// Calls a hook with the window and takes back what it made of it.
    fn call(
        &self,
        window: &mut Window,
        hook: impl FnOnce(&Bound<'_, PyAny>, &Bound<'_, PyWindow>) -> PyResult<()>,
    ) {
        let Ok(instance) = &self.instance else { return };
        if self.failure.is_raised() {
            return;
        }
        let changed = Python::attach(|py| {
            let object = Bound::new(py, PyWindow { cwnd: window.cwnd, ssthresh: window.ssthresh })?;
            hook(instance.bind(py), &object)?;
            let (cwnd, ssthresh) = (object.borrow().cwnd, object.borrow().ssthresh);
            if cwnd.is_finite() && cwnd > 0.0 && ssthresh > 0.0 {
                Ok(Window { cwnd, ssthresh })
            } else {
                let message = format!(
                    "{} left cwnd = {cwnd}, ssthresh = {ssthresh}; both must be above 0, cwnd finite",
                    instance.bind(py).get_type().name()?
                );
                Err(PyValueError::new_err(message))
            }
        });
        match changed {
            Ok(changed) => *window = changed,
            Err(error) => self.failure.raise(error),
        }
    }
}

impl CongestionControl for PythonLaw {
    fn on_ack(&mut self, window: &mut Window, ack: &AckSample) {
        self.call(window, |instance, window| {
            let py = instance.py();
            let ack = PyAck {
                acked: ack.acked.get(),
                ece: ack.ece,
                may_grow: ack.may_grow,
                snd_una: ack.snd_una,
                snd_nxt: ack.snd_nxt,
                flow: flow_object(py, &ack.flow)?,
            };
            instance.call_method1("on_ack", (window, Py::new(py, ack)?)).map(|_| ())
        });
    }

    fn on_congestion(&mut self, window: &mut Window, cause: Cause, flow: &FlowView) {
        let cause = match cause {
            Cause::EcnEcho => "ecn-echo",
            Cause::FastRetransmit => "fast-retransmit",
            Cause::Timeout => "timeout",
        };
        self.call(window, |instance, window| {
            let flow = flow_object(instance.py(), flow)?;
            instance.call_method1("on_congestion", (window, cause, flow)).map(|_| ())
        });
    }

    fn alpha(&self) -> Option<f64> {
        let instance = self.instance.as_ref().ok()?;
        Python::attach(|py| instance.bind(py).getattr("alpha").ok()?.extract().ok())
    }
}
