//! [`Values`]: draws values of registered keys by their shapes.

use crate::choices::Choices;
use crate::files;
use shortflow_spec::{Shape, Text, Unit};
use std::collections::BTreeMap;
use toml::Value;

/// Hosts and links that values refer to.
#[derive(Debug, Default)]
pub(crate) struct Surroundings {
    pub hosts: u64,
    /// Links, each as (one end, other end).
    pub links: Vec<(String, String)>,
    pub tiers: Vec<String>,
}

/// Ranges of the draws.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Style {
    /// An optional key is set once in this many draws.
    pub optional: u64,
    /// Factor on the usual number of hosts, racks and hops.
    pub size: u64,
    /// Most links send many packets per microsecond.
    pub fast: bool,
    /// Priority flow control gets thresholds that fit once in this many draws; 0 leaves it to the draws of single keys.
    pub lossless: u64,
    /// Units of the delays of links in files.
    pub delays: &'static [&'static str],
    /// Units of other delays.
    pub rtts: &'static [&'static str],
}

/// Small networks, which run as fast as possible. Inputs of the corpus rely on these values.
pub(crate) const FUZZED: Style = Style {
    optional: 6,
    size: 1,
    fast: false,
    lossless: 0,
    delays: &["us"],
    rtts: &["ns", "00ns", "us", "0us"],
};

/// Draws values, and keeps the files that the values name.
pub(crate) struct Values<'c, 'i> {
    pub choices: &'c mut Choices<'i>,
    pub style: Style,
    pub surroundings: Surroundings,
    pub files: BTreeMap<String, String>,
}

impl Values<'_, '_> {
    /// A value of `shape` for the key called `key`; `None` for tables with keys of their own.
    pub(crate) fn draw(&mut self, key: &str, shape: &Shape) -> Option<Value> {
        let value = match shape {
            Shape::KeywordOr(word, _) if self.choices.once_in(4) => (*word).into(),
            Shape::KeywordOr(_, other) => return self.draw(key, other),
            Shape::Whole { low, high, step } => self.whole(key, *low, *high, *step),
            Shape::Real { low, high, above } => {
                self.real(if *above { f64::MIN_POSITIVE } else { *low }, *high).into()
            }
            Shape::Words(words) => (*self.choices.pick(words)).into(),
            Shape::Flag => self.choices.once_in(2).into(),
            Shape::Quantity { unit, .. } => self.quantity(key, *unit).into(),
            Shape::Hosts | Shape::Host => self.hosts(key),
            Shape::List(item, _) => self.some(|values| values.draw(key, item)),
            Shape::Text(text) => self.text(*text),
            Shape::Table(_) | Shape::Kinds(_) | Shape::Parts(_) => return None,
        };
        Some(value)
    }

    fn quantity(&mut self, key: &str, unit: Unit) -> String {
        match unit {
            Unit::Time => self.time(key),
            Unit::Size => self.size(key),
            Unit::Rate => files::rate(self.choices, self.style.fast),
            Unit::Queue | Unit::Threshold => self.queue(key),
            Unit::Window => format!("{}pkt", self.choices.within(1, 64)),
        }
    }

    fn text(&mut self, text: Text) -> Value {
        match text {
            Text::Line(_) => "drawn".into(),
            Text::Name => (*self.choices.pick(&["short", "long", "mice", "a-1_b"])).into(),
            Text::Port => self.port().into(),
            Text::Link => self.link().into(),
            Text::Tier => self.tier().into(),
            Text::Transport => (*self.choices.pick(&["cubic", "dctcp+g=0.5", "newreno+ecn=classic"])).into(),
            Text::RisingSizes => self.rising_sizes().into(),
            Text::RateCurves => self.rate_curves().into(),
            Text::PriorityThresholds => self.thresholds().into(),
            Text::FlowFile => {
                let flows = files::trace(self.choices, self.surroundings.hosts);
                self.file("trace.csv", flows)
            }
            Text::SizeFile => {
                let points = files::cdf(self.choices);
                self.file("sizes.csv", points)
            }
            Text::NodeFile => {
                let nodes = files::nodes(self.files.get("network.csv").map_or("", String::as_str));
                self.file("nodes.csv", nodes)
            }
            Text::NetworkFile if self.choices.once_in(2) => {
                let links = files::edge_list(self.choices, self.style.fast, self.style.delays);
                self.file("network.csv", links)
            }
            Text::NetworkFile => {
                let network = files::graphml(self.choices, self.style.fast);
                self.file("network.graphml", network)
            }
        }
    }

    /// Draws small networks and few flows most of the time, so that many inputs can be tried.
    fn whole(&mut self, key: &str, low: u64, high: u64, step: u64) -> Value {
        let size = self.style.size;
        let often = match key {
            "hops" | "hosts_per_switch" | "hosts_per_rack" | "pairs" | "racks" | "senders" | "spines" => {
                3 * size
            }
            "hosts" => 10 * size,
            "k" => 2 * size,
            "drop_data" | "mark_data" => 39,
            "mss" => 1400,
            // Simultaneous flows cost more than their events, which are limited: hundreds of flows are enough.
            "workers" | "flows" | "sessions" => *self.choices.pick(&[3, 8, 8, 8, 8, 8, 8, 300]),
            _ if self.choices.once_in(200) => high - low,
            _ if self.choices.once_in(16) => 100,
            _ => 8,
        };
        let number = self.choices.within(0, often.min(high - low) / step) * step + low;
        i64::try_from(number).unwrap_or(i64::MAX).into()
    }

    fn real(&mut self, low: f64, high: f64) -> f64 {
        match self.choices.below(16) {
            0 => low,
            1 => high,
            2 => low.max(10f64.powf(self.choices.unit() * high.log10().min(5.0))).min(high),
            // Most keys with a wide range have a default between 0.01 and 10.
            3 | 4 => low.max(10f64.powf(self.choices.unit() * 4.0 - 3.0)).min(high),
            _ => low + (high.min(low + 1.5) - low) * self.choices.unit(),
        }
    }

    fn time(&mut self, key: &str) -> String {
        let (units, most): (&[&str], u64) = match key {
            "duration" | "drain" if self.style.fast || self.choices.once_in(8) => (&["00us"], 40),
            "duration" | "drain" => (&["us", "0us"], 40),
            "warmup" => (&["us", "0us"], 10),
            "rtt" | "delay" | "uplink_delay" | "trunk_delay" | "core_delay" => (self.style.rtts, 10),
            "rto_min" | "initial_rto" | "every" | "think" | "sample_every" => (&["0us", "00us"], 20),
            "rto_max" => (&["ms", "s"], 100),
            "min" => (&["ps", "ns"], 1000),
            "max" | "value" | "mean" => (&["us", "00us"], 50),
            "at" | "start" | "stagger" | "down_at" => (&["ns", "us"], 20),
            _ if self.choices.once_in(32) => (&["ps", "s", "000s"], 30),
            _ => (&["ns", "us", "0us", "00us"], 10),
        };
        let unit = *self.choices.pick(units);
        match self.choices.below(most + 1) {
            0 if matches!(key, "duration" | "every" | "think" | "rto_max") => format!("1{unit}"),
            0 => "0s".to_owned(),
            number => format!("{number}{unit}"),
        }
    }

    fn size(&mut self, key: &str) -> String {
        let (low, high, unit) = match (key, self.choices.below(32)) {
            ("header", _) => (1, 100, "B"),
            ("mss", _) => (1, 9000, "B"),
            (_, 0) => (1, 1_000_000, "GB"),
            ("min", _) => (1, 2000, "B"),
            ("max", _) => (20, 200, "KB"),
            (_, 1) => (1, 9, "MB"),
            (_, 2..=9) => (1, 1500, "B"),
            (_, 10 | 11) => (1, 64, "KiB"),
            (_, 12 | 13) => (1, 90, "KB"),
            _ => (1, 15, "KB"),
        };
        format!("{}{unit}", self.choices.within(low, high))
    }

    fn queue(&mut self, key: &str) -> String {
        let (low, high) = if key == "buffer" { (6, 40) } else { (1, 6) };
        match self.choices.below(16) {
            0 => "unlimited".to_owned(),
            1 | 2 => format!("{}KB", self.choices.within(low, high) * 2),
            3 => format!("{}pkt", self.choices.below(3)),
            _ => format!("{}pkt", self.choices.within(low, high)),
        }
    }

    fn hosts(&mut self, key: &str) -> Value {
        let last = self.surroundings.hosts.saturating_sub(1);
        let host = |values: &mut Self| values.choices.within(0, last) as i64;
        match self.choices.below(4) {
            0 if key == "from" => "all".into(),
            1 if !matches!(key, "to" | "root" | "collector") => {
                let (a, b) = (host(self), host(self));
                format!("{}-{}", a.min(b), a.max(b)).into()
            }
            2 if !matches!(key, "root" | "collector") => self.some(|values| Some(host(values))),
            _ => host(self).into(),
        }
    }

    /// A list of one to four values.
    fn some<T: Into<Value>>(&mut self, draw: impl Fn(&mut Self) -> Option<T>) -> Value {
        let count = 1 + self.choices.below(4);
        Value::Array((0..count).filter_map(|_| draw(self).map(T::into)).collect())
    }

    fn port(&mut self) -> String {
        self.ends().map_or_else(|| "s0->h0".to_owned(), |(a, b)| format!("{a}->{b}"))
    }

    fn link(&mut self) -> String {
        self.ends().map_or_else(|| "s0-h0".to_owned(), |(a, b)| format!("{a}-{b}"))
    }

    fn ends(&mut self) -> Option<(String, String)> {
        let number = self.choices.below(self.surroundings.links.len().max(1) as u64) as usize;
        let (a, b) = self.surroundings.links.get(number)?.clone();
        Some(if self.choices.once_in(2) { (a, b) } else { (b, a) })
    }

    fn tier(&mut self) -> String {
        match self.surroundings.tiers.as_slice() {
            [] => "tor".to_owned(),
            tiers => self.choices.pick(tiers).clone(),
        }
    }

    fn rising_sizes(&mut self) -> String {
        let mut sizes: Vec<u64> =
            (0..=self.choices.below(7)).map(|_| self.choices.within(0, 100_000)).collect();
        sizes.sort_unstable();
        sizes.dedup();
        sizes.iter().map(|size| format!("{size}B")).collect::<Vec<_>>().join(",")
    }

    /// One to three curves, for rates that drawn links have.
    fn rate_curves(&mut self) -> String {
        let rates = [("100Mbps", 3), ("1Gbps", 5), ("10Gbps", 8)];
        let known = self.choices.within(1, 3) as usize;
        let curve = |(rate, min): (&str, u64)| {
            format!("{rate} {min}pkt {}pkt {}", self.choices.within(min, 40), self.choices.unit())
        };
        rates[..known].iter().copied().map(curve).collect::<Vec<_>>().join("; ")
    }

    /// Thresholds of the default priority and the next one, or of one of them.
    fn thresholds(&mut self) -> String {
        let (first, last) = *self.choices.pick(&[(3, 3), (4, 4), (3, 4)]);
        let mut row = |priority: u64| {
            let xoff = self.choices.within(1, 15);
            let xon = if self.choices.once_in(2) {
                "auto".into()
            } else {
                format!("{}KB", self.choices.within(1, xoff))
            };
            let alpha = if self.choices.once_in(2) {
                "none".into()
            } else {
                self.choices.unit().max(0.01).to_string()
            };
            format!("{priority} {xoff}KB {xon} auto {alpha}")
        };
        (first..=last).map(&mut row).collect::<Vec<_>>().join("; ")
    }

    fn file(&mut self, name: &str, text: String) -> Value {
        self.files.insert(name.to_owned(), text);
        name.into()
    }
}
