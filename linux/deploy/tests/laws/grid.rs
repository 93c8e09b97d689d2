//! Points at which laws are compared.

use shortflow_cc::{FlowView, Role};
use shortflow_units::{Bytes, Instant, Span};

/// A flow with segments of `mss` bytes.
pub(crate) fn flow(mss: u64) -> FlowView {
    FlowView {
        now: Instant::ZERO,
        srtt: Span::from_micros(300),
        mss: Bytes::new(mss),
        sent: Bytes::ZERO,
        remaining: Bytes::MAX,
        flight: Bytes::new(10 * mss),
        deadline: None,
        role: Role::Unknown,
    }
}

/// Values of alpha: 0, 1, the 32nds between them, and the negative powers of two down to the last bit of alpha.
pub(crate) fn alphas() -> Vec<f64> {
    let linear = (0..=32).map(|part| f64::from(part) / 32.0);
    linear.chain((6..=60).map(|bits| 2f64.powi(-bits))).collect()
}

/// Windows from one segment to 2^20, by factors of 2.7; for FaST from 100 bytes of a segment of 9000.
pub(crate) fn windows(law: &str) -> Vec<f64> {
    let largest = f64::from((1 << 20) - 2);
    let lowest = if law == "fast" { 0.0112 } else { 1.0 };
    let steps = std::iter::successors(Some(lowest), |window| Some(window * 2.7)).take_while(|w| *w < largest);
    // Windows are whole units of 2^-24, so both laws start from the same number.
    steps
        .map(|window: f64| (window * 16_777_216.0).round() / 16_777_216.0)
        .chain([1.0, 2.0, largest])
        .collect()
}

/// Flows that differ in the inputs of `law`.
pub(crate) fn flows(law: &str) -> Vec<FlowView> {
    let sizes = (0..=60).map(|step| step * 20_000).chain([
        1,
        199_999,
        200_001,
        999_999,
        10_000_000,
        10_000_001,
        1 << 40,
        u64::MAX,
    ]);
    let sizes: Vec<Bytes> = sizes.map(Bytes::new).collect();
    match law {
        "l2dct" => {
            let sent = sizes.iter().map(|size| FlowView { sent: *size, ..flow(1460) });
            sent.clone().chain(sent.map(|flow| FlowView { remaining: flow.sent, ..flow })).collect()
        }
        "xdctcp" | "atcp" => {
            let roles = [Role::Unknown, Role::Short, Role::Long];
            sizes
                .iter()
                .flat_map(|size| roles.map(|role| FlowView { sent: *size, role, ..flow(1448) }))
                .collect()
        }
        "d2tcp" => due(),
        _ => [36, 100, 536, 1460, 8_948, 9_000].map(flow).to_vec(),
    }
}

/// Deadlines from long past to far ahead, for flows of all sizes and round-trip times.
fn due() -> Vec<FlowView> {
    let mut all = vec![flow(1460)];
    for remaining in [0, 1, 2_000, 70_001, 3_000_000, 1_000_000_007, 1 << 50, u64::MAX] {
        for left_ns in [0, 1, 999, 250_000, 7_000_001, 20_000_000, 3_000_000_000, 10_000_000_000_000] {
            for srtt_ns in [0, 1, 30_001, 300_000, 250_000_000] {
                let now = Instant::from_ps(5_000_000);
                let (mss, remaining) = (Bytes::new(1448), Bytes::new(remaining));
                let (srtt, deadline) = (Span::from_nanos(srtt_ns), Some(now + Span::from_nanos(left_ns)));
                all.push(FlowView { now, srtt, mss, remaining, deadline, ..flow(1448) });
            }
        }
    }
    all
}
