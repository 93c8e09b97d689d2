//! [`Sample`], and [`Samples`]: all samples of a run, with eight bytes per sample.

use shortflow_units::{ClassId, FlowId, Instant, PortId};
use std::ops::Range;

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
    /// Acknowledged bits per second of a flow since the previous sample.
    FlowThroughput(FlowId),
    /// Acknowledged bits per second of a class since the previous sample.
    Throughput(ClassId),
    /// Bits per second at which the sender of a flow paces.
    Rate(FlowId),
}

/// One value at one time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample {
    /// Time.
    pub at: Instant,
    /// Sampled quantity.
    pub subject: Subject,
    /// Value.
    pub value: f64,
}

/// Samples in order of time. Most times have the same subjects as the time before, so each list of subjects is stored
/// once.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Samples {
    times: Vec<Time>,
    subjects: Vec<Subject>,
    values: Vec<f64>,
}

/// Samples of one time.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Time {
    at: Instant,
    /// Index of the first value.
    values: usize,
    /// Index of the first subject; the other subjects follow.
    subjects: u32,
}

impl Samples {
    /// Appends a sample, which must not be earlier than the last one.
    pub fn push(&mut self, Sample { at, subject, value }: Sample) {
        let last = self.times.last().copied().filter(|last| last.at == at);
        let time = last.unwrap_or_else(|| {
            let subjects = self.times.last().map_or(0, |before| before.subjects);
            self.times.push(Time { at, values: self.values.len(), subjects });
            self.times[self.times.len() - 1]
        });
        let (first, place) = (time.subjects as usize, self.values.len() - time.values);
        match self.subjects.get(first + place) {
            Some(known) if *known == subject => {}
            None => self.subjects.push(subject),
            Some(_) => {
                let time = self.times.len() - 1;
                self.times[time].subjects = self.subjects.len() as u32;
                self.subjects.extend_from_within(first..first + place);
                self.subjects.push(subject);
            }
        }
        self.values.push(value);
    }

    /// Number of samples.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// True if there are no samples.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// All samples.
    pub fn iter(&self) -> impl Iterator<Item = Sample> {
        self.rows(0..self.len())
    }

    /// Samples by row.
    pub fn rows(&self, rows: Range<usize>) -> impl Iterator<Item = Sample> {
        let mut next = self.times.partition_point(|time| time.values <= rows.start);
        rows.map(move |row| {
            while self.times.get(next).is_some_and(|time| time.values <= row) {
                next += 1;
            }
            let Time { at, values, subjects } = self.times[next - 1];
            Sample { at, subject: self.subjects[subjects as usize + row - values], value: self.values[row] }
        })
    }

    /// Reserves memory for `rows` samples at one more time. Returns `false` if there is no memory.
    pub fn try_reserve(&mut self, rows: usize) -> bool {
        self.values.try_reserve(rows).is_ok()
            && self.subjects.try_reserve(rows).is_ok()
            && self.times.try_reserve(1).is_ok()
    }

    /// Bytes of memory in use.
    pub fn bytes(&self) -> usize {
        size_of_val(&self.times[..]) + size_of_val(&self.subjects[..]) + size_of_val(&self.values[..])
    }

    /// Merges the samples of `parts` in order of time. `settle` gets the samples of each time, part by part, and may
    /// change them.
    pub fn merged(parts: &[Samples], mut settle: impl FnMut(&mut Vec<Sample>)) -> Samples {
        let (mut merged, mut of_time) = (Samples::default(), Vec::new());
        let mut parts: Vec<_> = parts.iter().map(|part| part.iter().peekable()).collect();
        while let Some(at) = parts.iter_mut().filter_map(|part| Some(part.peek()?.at)).min() {
            for part in &mut parts {
                of_time.extend(std::iter::from_fn(|| part.next_if(|sample| sample.at == at)));
            }
            settle(&mut of_time);
            of_time.drain(..).for_each(|sample| merged.push(sample));
        }
        merged
    }
}

impl FromIterator<Sample> for Samples {
    fn from_iter<I: IntoIterator<Item = Sample>>(samples: I) -> Samples {
        let mut all = Samples::default();
        samples.into_iter().for_each(|sample| all.push(sample));
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(at: u64, subject: Subject, value: f64) -> Sample {
        Sample { at: Instant::from_ps(at), subject, value }
    }

    /// Flows start and stop, so lists of subjects grow, shrink, differ at any place, and recur.
    #[test]
    fn samples_come_back_as_they_were_pushed() {
        let flow = |flow| Subject::Cwnd(FlowId(flow));
        let lists: [&[u32]; 9] =
            [&[1, 2], &[1, 2], &[1, 2, 3], &[1], &[2, 3], &[], &[1, 2, 3], &[1, 3, 3], &[1, 3, 3, 4]];
        let of_time = |(at, list): (u64, &&[u32])| -> Vec<Sample> {
            list.iter().map(|&each| sample(at, flow(each), at as f64 + f64::from(each) / 10.0)).collect()
        };
        let pushed: Vec<Sample> = (0..).zip(&lists).flat_map(of_time).collect();
        let samples: Samples = pushed.iter().copied().collect();
        assert_eq!((samples.len(), samples.is_empty()), (pushed.len(), false));
        for first in 0..=pushed.len() {
            for end in first..=pushed.len() {
                assert!(samples.rows(first..end).eq(pushed[first..end].iter().copied()), "{first}..{end}");
            }
        }
        assert_eq!(Samples::default().iter().count(), 0);
    }

    /// Two quantities of a port, three quantities of each of 40 flows, and one of a class: each sample takes eight
    /// bytes, and each time 24 bytes.
    #[test]
    fn a_sample_takes_eight_bytes() {
        let port = PortId(0);
        let of_port =
            [Subject::QueuePackets(port), Subject::QueueBytes(port), Subject::Throughput(ClassId(0))];
        let of_flow =
            |flow| [Subject::FlowThroughput, Subject::Cwnd, Subject::Alpha].map(|of| of(FlowId(flow)));
        let subjects: Vec<Subject> = of_port.into_iter().chain((0..40).flat_map(of_flow)).collect();
        let of_time = |at| subjects.iter().map(move |subject| sample(at, *subject, 1.0));
        let samples: Samples = (0..1_000).flat_map(of_time).collect();
        assert_eq!(samples.bytes(), 1_000 * (123 * 8 + 24) + 123 * 8);
    }

    #[test]
    fn parts_are_merged_by_time() {
        let [one, two] = [Subject::Alpha(FlowId(1)), Subject::Alpha(FlowId(2))];
        let parts = [vec![(1, two), (3, two), (3, one)], vec![(1, one), (2, one)], vec![(3, two)]];
        let parts =
            parts.map(|part| part.into_iter().map(|(at, of)| sample(at, of, 0.0)).collect::<Samples>());
        let merged = Samples::merged(&parts, |of_time| of_time.truncate(2));
        let expected = [(1, two), (1, one), (2, one), (3, two), (3, one)];
        assert!(merged.iter().eq(expected.map(|(at, of)| sample(at, of, 0.0))));
    }
}
