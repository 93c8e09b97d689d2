//! Samples at fixed intervals: queues of the measured ports; throughput of each class; throughput, window and
//! congestion estimate of backlogged flows. [`watch`] has events of single packets, and [`account`] has accounts of
//! completion times.

pub mod account;
pub mod pcap;
mod samples;
pub mod watch;

pub use samples::{Sample, Samples, Subject};
use shortflow_units::{ClassId, Instant, Span};

/// Counts acknowledged bytes by class, for throughput.
#[derive(Debug, Clone)]
pub struct ClassMeter {
    acked: Vec<u64>,
}

impl ClassMeter {
    /// A meter for `classes` classes.
    pub fn new(classes: usize) -> Self {
        ClassMeter { acked: vec![0; classes] }
    }

    /// Counts `bytes` that a flow of `class` got acknowledged.
    #[inline]
    pub fn count(&mut self, class: ClassId, bytes: u64) {
        self.acked[class.index()] += bytes;
    }

    /// Samples the throughput of every class over `time`, the time since the last call.
    pub fn sample(&mut self, at: Instant, time: Span, samples: &mut Samples) {
        self.take(at, samples, |bytes| throughput(bytes, time));
    }

    /// Samples a value for every class, computed from its bytes since the last call.
    pub fn take(&mut self, at: Instant, samples: &mut Samples, value: impl Fn(u64) -> f64) {
        for (class, acked) in self.acked.iter_mut().enumerate() {
            let (subject, value) = (Subject::Throughput(ClassId::from(class)), value(std::mem::take(acked)));
            samples.push(Sample { at, subject, value });
        }
    }
}

/// Throughput in bits per second; zero if `time` is zero.
pub fn throughput(bytes: u64, time: Span) -> f64 {
    if time.is_zero() { 0.0 } else { bytes as f64 * 8.0 / time.as_secs_f64() }
}
