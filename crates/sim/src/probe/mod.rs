//! Samples taken at fixed intervals: queues of the measured ports, throughput of each class, and
//! throughput, window and congestion estimate of backlogged flows. Events of single packets are in [`watch`],
//! and accounts of completion times in [`account`].

pub mod account;
pub mod pcap;
mod samples;
pub mod watch;

pub use samples::{Sample, Samples, Subject};
use shortflow_units::{ClassId, Instant, Span};

/// Counts acknowledged bytes by class, to turn them into throughput.
#[derive(Debug, Clone)]
pub struct ClassMeter {
    acked: Vec<u64>,
}

impl ClassMeter {
    /// A meter for `classes` classes.
    pub fn new(classes: usize) -> Self {
        ClassMeter { acked: vec![0; classes] }
    }

    /// `bytes` of a flow of `class` have been acknowledged.
    #[inline]
    pub fn count(&mut self, class: ClassId, bytes: u64) {
        self.acked[class.index()] += bytes;
    }

    /// Throughput of every class over the time since the last call.
    pub fn sample(&mut self, at: Instant, time: Span, samples: &mut Samples) {
        self.take(at, samples, |bytes| throughput(bytes, time));
    }

    /// Samples a value of the bytes of every class since the last call.
    pub fn take(&mut self, at: Instant, samples: &mut Samples, value: impl Fn(u64) -> f64) {
        for (class, acked) in self.acked.iter_mut().enumerate() {
            let (subject, value) = (Subject::Throughput(ClassId::from(class)), value(std::mem::take(acked)));
            samples.push(Sample { at, subject, value });
        }
    }
}

/// Bits per second.
pub fn throughput(bytes: u64, time: Span) -> f64 {
    if time.is_zero() { 0.0 } else { bytes as f64 * 8.0 / time.as_secs_f64() }
}
