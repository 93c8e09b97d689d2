//! The C code of `bpf/laws`, built for this host and called as a congestion control.
#![allow(unsafe_code)]

use super::fields::{LawError, params};
use shortflow_cc::{AckSample, Cause, CongestionControl, FlowView, Opening, Role, TransportConfig, Window};
use shortflow_units::{Bytes, Instant};
use std::sync::Arc;

/// One segment in the units of `struct window`.
pub(super) const SEGMENT: f64 = (1u64 << 24) as f64;
const WINDOW_MAX: u64 = 1 << 44;
const NEVER: u64 = u64::MAX;

/// `struct window`: 2^-24 segments.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
struct FixedWindow {
    cwnd: u64,
    ssthresh: u64,
}

/// `struct ack`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
struct FixedAck {
    sent: u64,
    remaining: u64,
    left_ns: u64,
    srtt_ns: u64,
    acked: u32,
    marked: u32,
    segments: u32,
    snd_una: u32,
    snd_nxt: u32,
    mss: u32,
    flight: u32,
    role: u8,
    ece: bool,
    may_grow: bool,
}

impl FixedWindow {
    fn of(window: &Window) -> FixedWindow {
        let fixed = |segments: f64| ((segments * SEGMENT).round() as u64).min(WINDOW_MAX);
        FixedWindow { cwnd: fixed(window.cwnd), ssthresh: fixed(window.ssthresh) }
    }

    fn to_float(self) -> Window {
        let ssthresh =
            if self.ssthresh == WINDOW_MAX { f64::INFINITY } else { self.ssthresh as f64 / SEGMENT };
        Window { cwnd: self.cwnd as f64 / SEGMENT, ssthresh }
    }
}

impl FixedAck {
    /// Input of a decrease or of a loss.
    fn of_flow(flow: &FlowView) -> FixedAck {
        let small = |bytes: Bytes| u32::try_from(bytes.get()).unwrap_or(u32::MAX);
        FixedAck {
            sent: flow.sent.get(),
            remaining: flow.remaining.get(),
            left_ns: flow.deadline.map_or(NEVER, |deadline| deadline.since(flow.now).as_ps().div_ceil(1_000)),
            srtt_ns: flow.srtt.as_ps() / 1_000,
            mss: small(flow.mss),
            flight: small(flow.flight),
            role: role_number(flow.role),
            ..FixedAck::default()
        }
    }

    fn of(ack: &AckSample) -> FixedAck {
        let acked = u32::try_from(ack.acked.get()).unwrap_or(u32::MAX);
        FixedAck {
            acked,
            marked: if ack.ece { acked } else { 0 },
            segments: 1,
            snd_una: ack.snd_una as u32,
            snd_nxt: ack.snd_nxt as u32,
            ece: ack.ece,
            may_grow: ack.may_grow,
            ..FixedAck::of_flow(&ack.flow)
        }
    }
}

/// `enum role` of law.h.
pub fn role_number(role: Role) -> u8 {
    match role {
        Role::Unknown => 0,
        Role::Short => 1,
        Role::Long => 2,
    }
}

/// Memory for the state of any law, with the alignment of the kernel's `icsk_ca_priv`.
type State = [u64; 8];

type Hook = unsafe extern "C" fn(*mut State, *mut FixedWindow, *const FixedAck, *const u64);
type LossHook = unsafe extern "C" fn(*mut State, *mut FixedWindow, *const FixedAck, bool, *const u64);

/// `struct law` of native.c.
#[repr(C)]
#[derive(Debug)]
struct Law {
    name: [u8; 8],
    params: u64,
    init: Hook,
    on_ack: Hook,
    on_congestion: Hook,
    on_loss: LossHook,
}

unsafe extern "C" {
    static sf_laws: [Law; super::NAMES.len()];
    fn sf_alpha(state: *const State) -> u64;
    fn sf_fast_segment(window: *const FixedWindow, mss: u32, room: u64, params: *const u64) -> u32;
    fn sf_fast_window_bytes(window: *const FixedWindow, mss: u32, params: *const u64) -> u64;
    safe fn sf_priority_label(value: u64) -> u32;
    safe fn sf_priority_dscp(value: u64, lowest: u32) -> u32;
    safe fn sf_log2_fixed(value: u64) -> u64;
    safe fn sf_exp2_neg(z: u64) -> u64;
    safe fn sf_power(alpha: u64, w: u64) -> u64;
}

/// IPv6 flow label of a priority number.
pub fn priority_label(value: u64) -> u32 {
    sf_priority_label(value)
}

/// DSCP of a priority number; numbers below 2^`lowest` share a DSCP.
pub fn priority_dscp(value: u64, lowest: u32) -> u32 {
    sf_priority_dscp(value, lowest)
}

/// Binary logarithm in 2^-32; 0 counts as 1.
pub fn log2_fixed(value: u64) -> u64 {
    sf_log2_fixed(value.max(1))
}

/// 2^-z in 2^-60, z in 2^-32.
pub fn exp2_neg(z: u64) -> u64 {
    sf_exp2_neg(z)
}

/// alpha^w in 2^-60; alpha in 2^-60, w in 2^-24.
pub fn power(alpha: u64, w: u64) -> u64 {
    sf_power(alpha, w)
}

/// A fixed-point law with its state, one per connection.
#[derive(Debug, Clone)]
pub struct FixedPoint {
    law: &'static Law,
    params: Arc<[u64]>,
    state: State,
    initial: Option<f64>,
}

impl FixedPoint {
    /// State of a new connection, whose first byte has sequence number 0.
    pub fn new(config: &TransportConfig) -> Result<FixedPoint, LawError> {
        let params: Arc<[u64]> = params(config)?.into();
        let name = config.info().name;
        // SAFETY: native.c defines the table, and nothing writes to it.
        let laws = unsafe { &sf_laws };
        let law = laws.iter().find(|law| law.name.starts_with(name.as_bytes()));
        let law = law.filter(|law| law.params == params.len() as u64);
        let law = law.ok_or_else(|| LawError::NoLaw { name: name.to_owned() })?;
        let mut new = FixedPoint { law, params, state: [0; 8], initial: None };
        let mut window = Window { cwnd: 0.0, ssthresh: f64::INFINITY };
        new.call(law.init, &mut window, &FixedAck::default());
        new.initial = (window.cwnd > 0.0).then_some(window.cwnd);
        Ok(new)
    }

    /// Accounts for one ACK of `segments` segments, as delayed ACKs or merged packets cause.
    pub fn on_merged_ack(&mut self, window: &mut Window, ack: &AckSample, segments: u32) {
        self.call(self.law.on_ack, window, &FixedAck { segments, ..FixedAck::of(ack) });
    }

    fn is_fast(&self) -> bool {
        self.law.name.starts_with(b"fast")
    }

    fn call(&mut self, hook: Hook, window: &mut Window, ack: &FixedAck) {
        let mut fixed = FixedWindow::of(window);
        // SAFETY: `State` has the size and alignment of the state of any law, and `new` has checked that there are as
        // many parameters as words in the law's struct.
        unsafe { hook(&raw mut self.state, &raw mut fixed, ack, self.params.as_ptr()) };
        *window = fixed.to_float();
    }
}

impl CongestionControl for FixedPoint {
    fn on_ack(&mut self, window: &mut Window, ack: &AckSample) {
        self.on_merged_ack(window, ack, 1);
    }

    fn on_congestion(&mut self, window: &mut Window, cause: Cause, flow: &FlowView) {
        let ack = FixedAck::of_flow(flow);
        if cause == Cause::EcnEcho {
            return self.call(self.law.on_congestion, window, &ack);
        }
        let (mut fixed, timeout) = (FixedWindow::of(window), cause == Cause::Timeout);
        // SAFETY: as in `call`.
        unsafe {
            (self.law.on_loss)(
                &raw mut self.state,
                &raw mut fixed,
                &raw const ack,
                timeout,
                self.params.as_ptr(),
            );
        };
        *window = fixed.to_float();
    }

    fn on_start(&mut self, window: &mut Window, _: &Opening) {
        window.cwnd = self.initial.unwrap_or(window.cwnd);
    }

    fn segment_size(&self, window: &Window, mss: Bytes, room: Bytes) -> Bytes {
        if !self.is_fast() {
            return mss;
        }
        let (window, params) = (FixedWindow::of(window), self.params.as_ptr());
        // SAFETY: the parameters are those of FaST.
        Bytes::new(unsafe { sf_fast_segment(&raw const window, mss.get() as u32, room.get(), params) }.into())
    }

    fn window_bytes(&self, window: &Window, mss: Bytes) -> Bytes {
        if !self.is_fast() {
            return Bytes::new((window.cwnd * mss.as_f64()) as u64);
        }
        let (window, params) = (FixedWindow::of(window), self.params.as_ptr());
        // SAFETY: the parameters are those of FaST.
        Bytes::new(unsafe { sf_fast_window_bytes(&raw const window, mss.get() as u32, params) })
    }

    /// Alpha in the units of [`power`]; also for laws that do not use it, such as ATCP without ECN.
    fn alpha(&self, _: Instant) -> Option<f64> {
        // SAFETY: every state starts with its marks.
        Some(unsafe { sf_alpha(&raw const self.state) } as f64 / 2f64.powi(60))
    }
}
