//! Samples taken at fixed intervals: queues of the measured ports, throughput of each class, window
//! and congestion estimate of backlogged flows.

use shortflow_units::{ClassId, FlowId, Instant, PortId};

/// What a sample is of.
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
    /// Acknowledged bits per second of a class since the sample before.
    Throughput(ClassId),
}

/// One number at one time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample {
    /// When.
    pub at: Instant,
    /// Of what.
    pub subject: Subject,
    /// How much.
    pub value: f64,
}

/// Counts acknowledged bytes by class, to turn them into throughput.
#[derive(Debug, Clone)]
pub struct ClassMeter {
    acked: Vec<u64>,
    since: Instant,
}

impl ClassMeter {
    /// A meter for `classes` classes.
    pub fn new(classes: usize) -> Self {
        ClassMeter { acked: vec![0; classes], since: Instant::ZERO }
    }

    /// `bytes` of a flow of `class` have been acknowledged.
    #[inline]
    pub fn count(&mut self, class: ClassId, bytes: u64) {
        self.acked[class.index()] += bytes;
    }

    /// Throughput of every class since the last call.
    pub fn sample(&mut self, now: Instant, samples: &mut Vec<Sample>) {
        let seconds = now.since(self.since).as_secs_f64();
        self.since = now;
        for (class, acked) in self.acked.iter_mut().enumerate() {
            let bits = std::mem::take(acked) as f64 * 8.0;
            let subject = Subject::Throughput(ClassId::from(class));
            samples.push(Sample {
                at: now,
                subject,
                value: if seconds > 0.0 { bits / seconds } else { 0.0 },
            });
        }
    }
}
