//! Samples taken at fixed intervals: queues of the measured ports, throughput of each class, and
//! throughput, window and congestion estimate of backlogged flows. Events of single packets are in [`watch`].

pub mod pcap;
pub mod watch;

use shortflow_units::{ClassId, FlowId, Instant, PortId, Span};

/// Sampled quantity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject {
    /// Backlog of a port, in packets.
    QueuePackets(PortId),
    /// Backlog of a port, in bytes.
    QueueBytes(PortId),
    /// Congestion window of a flow, in segments.
    Cwnd(FlowId),
    /// Congestion estimate of a flow.
    Alpha(FlowId),
    /// Acknowledged bits per second of a flow since the sample before.
    FlowThroughput(FlowId),
    /// Acknowledged bits per second of a class since the sample before.
    Throughput(ClassId),
    /// Bits per second at which the sender of a flow paces.
    Rate(FlowId),
}

/// One number at one time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample {
    /// Time.
    pub at: Instant,
    /// Source of the value.
    pub subject: Subject,
    /// Value.
    pub value: f64,
}

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
    pub fn sample(&mut self, at: Instant, time: Span, samples: &mut Vec<Sample>) {
        let first = samples.len();
        self.take(at, samples);
        samples[first..].iter_mut().for_each(|sample| sample.value = throughput(sample.value as u64, time));
    }

    /// Takes the counters of every class since the last call: bytes, until [`ClassMeter::finish`].
    pub fn take(&mut self, at: Instant, samples: &mut Vec<Sample>) {
        for (class, acked) in self.acked.iter_mut().enumerate() {
            let value = std::mem::take(acked) as f64;
            samples.push(Sample { at, subject: Subject::Throughput(ClassId::from(class)), value });
        }
    }

    /// Makes throughput of the bytes in `samples`, which were taken from the beginning on, at intervals of `every`.
    pub fn finish(every: Span, samples: &mut [Sample]) {
        let of_classes = samples.iter_mut().filter(|sample| matches!(sample.subject, Subject::Throughput(_)));
        for sample in of_classes {
            let time = if sample.at == Instant::ZERO { Span::ZERO } else { every };
            sample.value = throughput(sample.value as u64, time);
        }
    }
}

/// Bits per second.
pub fn throughput(bytes: u64, time: Span) -> f64 {
    if time.is_zero() { 0.0 } else { bytes as f64 * 8.0 / time.as_secs_f64() }
}
