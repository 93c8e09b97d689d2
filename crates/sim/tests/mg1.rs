//! Mean time in an M/G/1 queue: Poisson arrivals at one server under an ideal policy.
//!
//! With λ the arrival rate, F the distribution of sizes (in time at full service), F̄ = 1 − F,
//! m₂(x) = ∫₀ˣ t² dF, ρ(x) = λ ∫₀ˣ t dF and, of sizes cut off at x, ρ̂(x) = λ ∫₀ˣ F̄ dt and
//! m̂₂(x) = 2 ∫₀ˣ t F̄ dt, a job of size x stays on average
//!
//! | policy | time in system | source |
//! |---|---|---|
//! | FIFO | λ E\[S²\] / 2(1 − ρ) + x | Pollaczek–Khinchine |
//! | PS | x / (1 − ρ) | Kleinrock 1967 |
//! | SRPT | λ (m₂(x) + x² F̄(x)) / 2(1 − ρ(x))² + ∫₀ˣ dt / (1 − ρ(t)) | Schrage and Miller 1966 |
//! | SJF, preemptive | λ m₂(x) / 2(1 − ρ(x))² + x / (1 − ρ(x)) | Kleinrock 1976, §3.7 |
//! | LAS (FB) | λ m̂₂(x) / 2(1 − ρ̂(x))² + x / (1 − ρ̂(x)) | Schrage 1967 |

/// Intervals of the midpoint rule.
const INTERVALS: u32 = 200_000;

/// A continuous distribution of sizes.
pub struct Sizes<'a> {
    /// F̄(x), the probability of more than x.
    pub tail: &'a dyn Fn(f64) -> f64,
    /// Size with a negligible tail beyond.
    pub largest: f64,
}

/// Poisson arrivals at one server.
pub struct Queue<'a> {
    /// Arrivals per unit of time.
    pub arrival_rate: f64,
    /// Distribution of sizes.
    pub sizes: Sizes<'a>,
}

/// Mean time in system under each policy.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MeanTimes {
    /// In the order of arrival.
    pub fifo: f64,
    /// Processor sharing.
    pub ps: f64,
    /// Shortest remaining work first.
    pub srpt: f64,
    /// Smallest job first, preemptive.
    pub sjf: f64,
    /// Least attained service.
    pub las: f64,
}

/// Integrals from zero up to some size.
#[derive(Default)]
struct Integrals {
    /// ∫ F̄ dt.
    tail: f64,
    /// 2 ∫ t F̄ dt.
    moment: f64,
    /// ∫ dt / (1 − ρ(t)).
    residence: f64,
}

impl Queue<'_> {
    /// The mean times, by numeric integration over the sizes.
    pub fn mean_times(&self) -> MeanTimes {
        let mut sum = MeanTimes { fifo: 0.0, ps: 0.0, srpt: 0.0, sjf: 0.0, las: 0.0 };
        let mut below = Integrals::default();
        let step = self.sizes.largest / f64::from(INTERVALS);
        for interval in 0..INTERVALS {
            let x = (f64::from(interval) + 0.5) * step;
            below.extend(self, x, step / 2.0);
            let (left, right) = (x - step / 2.0, x + step / 2.0);
            let share = (self.sizes.tail)(left) - (self.sizes.tail)(right);
            let [srpt, sjf, las] = self.conditional(x, &below);
            sum.srpt += share * srpt;
            sum.sjf += share * sjf;
            sum.las += share * las;
            below.extend(self, x, step / 2.0);
        }
        let load = self.arrival_rate * below.tail;
        sum.ps = below.tail / (1.0 - load);
        sum.fifo = self.arrival_rate * below.moment / (2.0 * (1.0 - load)) + below.tail;
        sum
    }

    /// Time in system of a job of size `x` under SRPT, SJF and LAS.
    fn conditional(&self, x: f64, below: &Integrals) -> [f64; 3] {
        let rest = x * x * (self.sizes.tail)(x);
        let wait = |moment: f64, idle: f64| self.arrival_rate * moment / (2.0 * idle * idle);
        let idle = 1.0 - self.load_below(x, below);
        let idle_cut = 1.0 - self.arrival_rate * below.tail;
        [
            wait(below.moment, idle) + below.residence, // m₂(x) + x² F̄(x) = m̂₂(x)
            wait(below.moment - rest, idle) + x / idle,
            wait(below.moment, idle_cut) + x / idle_cut,
        ]
    }

    /// ρ(x) = λ (∫₀ˣ F̄ dt − x F̄(x)).
    fn load_below(&self, x: f64, below: &Integrals) -> f64 {
        self.arrival_rate * (below.tail - x * (self.sizes.tail)(x))
    }
}

impl Integrals {
    /// Adds an interval of length `step` at whose end or beginning `x` lies.
    fn extend(&mut self, queue: &Queue, x: f64, step: f64) {
        let tail = (queue.sizes.tail)(x);
        self.residence += step / (1.0 - queue.load_below(x, self));
        self.tail += step * tail;
        self.moment += step * 2.0 * x * tail;
    }
}
