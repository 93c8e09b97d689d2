//! A transport's window law on its own, fed by hand: this is how the equations of the papers are checked against the
//! very code that simulates.

use crate::errors::{ConfigError, config_error};
use pyo3::prelude::*;
use shortflow_cc::{
    AckSample, Cause, CongestionControl, FlowView, PathSample, Role, Transport, TransportConfig, Window,
};
use shortflow_units::{Bytes, Instant, Span};

/// One sender's law with its window, and its view of the flow. Windows are in segments, sizes in bytes.
#[pyclass(unsendable, module = "shortflow._core")]
pub struct Law {
    #[pyo3(get, set)]
    cwnd: f64,
    #[pyo3(get, set)]
    ssthresh: f64,
    #[pyo3(get, set)]
    mss: u64,
    #[pyo3(get, set)]
    now_s: f64,
    #[pyo3(get, set)]
    srtt_s: f64,
    #[pyo3(get, set)]
    sent: u64,
    #[pyo3(get, set)]
    remaining: Option<u64>,
    #[pyo3(get, set)]
    flight: u64,
    #[pyo3(get, set)]
    deadline_s: Option<f64>,
    #[pyo3(get, set)]
    flow_class: String,
    /// Path of packets, for laws that read it. With 0, ACKs carry no path sample.
    #[pyo3(get, set)]
    rtt_s: f64,
    #[pyo3(get, set)]
    in_switches_s: f64,
    #[pyo3(get, set)]
    in_hosts_s: f64,
    #[pyo3(get, set)]
    hops: u32,
    acked: u64,
    min_rtt: Span,
    law: Transport,
}

impl Law {
    fn flow(&self) -> FlowView {
        FlowView {
            now: Instant::ZERO + Span::from_secs_f64(self.now_s),
            srtt: Span::from_secs_f64(self.srtt_s),
            mss: Bytes::new(self.mss),
            sent: Bytes::new(self.sent),
            remaining: self.remaining.map_or(Bytes::MAX, Bytes::new),
            flight: Bytes::new(self.flight),
            deadline: self.deadline_s.map(|at| Instant::ZERO + Span::from_secs_f64(at)),
            role: Role::of_class(&self.flow_class),
        }
    }

    fn window(&self) -> Window {
        Window { cwnd: self.cwnd, ssthresh: self.ssthresh }
    }

    fn path(&mut self, acked: u64) -> Option<PathSample> {
        let rtt = Span::from_secs_f64(self.rtt_s);
        if rtt.is_zero() {
            return None;
        }
        self.min_rtt = self.min_rtt.min(rtt);
        Some(PathSample {
            rtt,
            min_rtt: self.min_rtt,
            in_switches: Span::from_secs_f64(self.in_switches_s),
            in_hosts: Span::from_secs_f64(self.in_hosts_s),
            at_sender: Span::ZERO,
            at_receiver: Span::ZERO,
            hops: self.hops,
            delivered: Bytes::new(self.acked),
            newly_delivered: Bytes::new(acked),
            rate: None,
            app_limited: false,
        })
    }

    fn keep(&mut self, window: Window) {
        (self.cwnd, self.ssthresh) = (window.cwnd, window.ssthresh);
    }
}

#[pymethods]
impl Law {
    /// The law of a registered transport, in congestion avoidance at `cwnd` segments.
    #[new]
    fn new(transport: &str, settings: Vec<(String, String)>, cwnd: f64) -> PyResult<Law> {
        let settings = settings.iter().map(|(name, value)| (&**name, &**value));
        let config = TransportConfig::with(transport, settings).map_err(config_error)?;
        Ok(Law {
            cwnd,
            ssthresh: 1.0,
            mss: 1460,
            now_s: 0.0,
            srtt_s: 300e-6,
            sent: 0,
            remaining: None,
            flight: 0,
            deadline_s: None,
            flow_class: String::new(),
            rtt_s: 0.0,
            in_switches_s: 0.0,
            in_hosts_s: 0.0,
            hops: 0,
            acked: 0,
            min_rtt: Span::MAX,
            law: config.start(),
        })
    }

    /// An ACK of `acked` bytes, which opens the window unless it is marked; `ends_window` closes a window of data.
    fn ack(&mut self, acked: u64, ece: bool, ends_window: bool) {
        self.acked += acked;
        // The window that ends here was sent up to the last byte acknowledged; the next window is one byte on.
        let snd_una = if ends_window { self.acked } else { 0 };
        let (may_grow, snd_nxt, path) = (!ece, self.acked, self.path(acked));
        let plain = AckSample::of(self.flow(), Bytes::new(acked));
        let sample = AckSample { ece, may_grow, snd_una, snd_nxt, path, ..plain };
        let mut window = self.window();
        self.law.on_ack(&mut window, &sample);
        self.keep(window);
    }

    /// The one cut of a window: `ecn-echo`, `fast-retransmit` or `timeout`.
    fn congestion(&mut self, cause: &str) -> PyResult<()> {
        let cause = match cause {
            "ecn-echo" => Cause::EcnEcho,
            "fast-retransmit" => Cause::FastRetransmit,
            "timeout" => Cause::Timeout,
            other => return Err(ConfigError::new_err(format!("{other}: unknown cause of congestion"))),
        };
        let (mut window, flow) = (self.window(), self.flow());
        self.law.on_congestion(&mut window, cause, &flow);
        self.keep(window);
        Ok(())
    }

    /// The congestion estimate, of laws that have one.
    #[getter]
    fn alpha(&self) -> Option<f64> {
        self.law.alpha(Instant::ZERO + Span::from_secs_f64(self.now_s))
    }

    /// Payload of the next segment where `room` bytes of the window are free.
    fn segment_size(&self, room: u64) -> u64 {
        self.law.segment_size(&self.window(), Bytes::new(self.mss), Bytes::new(room)).get()
    }

    /// Bytes that may be outstanding.
    fn window_bytes(&self) -> u64 {
        self.law.window_bytes(&self.window(), Bytes::new(self.mss)).get()
    }
}
