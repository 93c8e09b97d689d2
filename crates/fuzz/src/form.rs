//! [`Form`]: what a value of a registered key looks like, read from the words that the registry has for users.

use crate::choices::Choices;
use crate::files;
use std::collections::BTreeMap;
use toml::Value;

/// What a value looks like.
#[derive(Debug, Clone, PartialEq)]
pub enum Form {
    /// A word, or another form.
    Unless(String, Box<Form>),
    /// A whole number within limits, of which only every so many fit.
    Whole {
        low: u64,
        high: u64,
        step: u64,
    },
    /// A real number within limits; whether the lower one fits.
    Real {
        low: f64,
        high: f64,
    },
    /// One of some words.
    Words(Vec<String>),
    Flag,
    Time,
    Size,
    Rate,
    Queue,
    Window,
    Hosts,
    Name,
    Text,
    Port,
    Ports,
    Links,
    Tier,
    Ordinals,
    RisingSizes,
    TraceFile,
    CdfFile,
    NetworkFile,
    NodeFile,
    /// A table with a kind of its own, from the registry of the key's name.
    Kind,
    /// Tables of sizes with shares.
    Mixture,
    /// A table of these keys.
    Level(Vec<String>),
}

/// The first words of forms without limits.
const PLAIN: &[(&str, Form)] = &[
    ("true or false", Form::Flag),
    ("a time such as ", Form::Time),
    ("a size such as ", Form::Size),
    ("a size from ", Form::Size),
    ("a positive rate such as ", Form::Rate),
    ("a queue size ", Form::Queue),
    ("a window in segments such as ", Form::Window),
    ("hosts: ", Form::Hosts),
    ("a name of lower-case letters", Form::Name),
    ("a line on ", Form::Text),
    ("a link such as ", Form::Port),
    ("a list of ports such as ", Form::Ports),
    ("a list of links such as ", Form::Links),
    ("a tier of switches", Form::Tier),
    ("a list of whole numbers from 1", Form::Ordinals),
    ("one to seven rising sizes", Form::RisingSizes),
    ("the name of a CSV file of flows", Form::TraceFile),
    ("the name of a CSV file of lines", Form::CdfFile),
    ("the name of a .csv, .graphml or .xml file", Form::NetworkFile),
    ("the name of a .csv file", Form::NodeFile),
    ("a table such as { kind = ", Form::Kind),
    ("a list of tables such as { share = ", Form::Mixture),
];

impl Form {
    /// The form that `expected` describes; `None` if these words are new.
    pub fn of(expected: &str) -> Option<Form> {
        if let Some((word, rest)) = expected.strip_prefix('"').and_then(|text| text.split_once("\" or ")) {
            return Some(Form::Unless(word.to_owned(), Box::new(Form::of(rest)?)));
        }
        if let Some(limits) = expected.strip_prefix("a whole number from ") {
            return Form::whole(limits, 1);
        }
        if let Some(limits) = expected.strip_prefix("an even number from ") {
            return Form::whole(limits, 2);
        }
        if let Some(limits) = expected.strip_prefix("a number from ") {
            let (low, high) = limits.split_once(" to ")?;
            return Some(Form::Real { low: low.parse().ok()?, high: high.parse().ok()? });
        }
        if let Some(high) = expected.strip_prefix("a number above 0 and at most ") {
            return Some(Form::Real { low: f64::MIN_POSITIVE, high: high.parse().ok()? });
        }
        if let Some(words) = expected.strip_prefix("one of ") {
            return Some(Form::Words(words.split(", ").map(str::to_owned).collect()));
        }
        if let Some(keys) = expected.strip_prefix("a table with ") {
            return Some(Form::Level(keys.replace(" and ", ", ").split(", ").map(str::to_owned).collect()));
        }
        PLAIN.iter().find(|(words, _)| expected.starts_with(words)).map(|(_, form)| form.clone())
    }

    fn whole(limits: &str, step: u64) -> Option<Form> {
        let (low, high) = limits.split_once(" to ")?;
        Some(Form::Whole { low: low.parse().ok()?, high: high.parse().ok()?, step })
    }
}

/// What values refer to: the hosts and links of the network.
#[derive(Debug, Default)]
pub struct Surroundings {
    pub hosts: u64,
    /// As (one end, other end).
    pub links: Vec<(String, String)>,
    pub tiers: Vec<String>,
}

/// Draws values; files that they name are kept with them.
pub struct Values<'c, 'i> {
    pub choices: &'c mut Choices<'i>,
    pub surroundings: Surroundings,
    pub files: BTreeMap<String, String>,
}

impl Values<'_, '_> {
    /// A value of `form` for the key called `key`; `None` for tables with keys of their own.
    pub fn draw(&mut self, key: &str, form: &Form) -> Option<Value> {
        let value = match form {
            Form::Unless(word, _) if self.choices.once_in(4) => word.clone().into(),
            Form::Unless(_, other) => return self.draw(key, other),
            Form::Whole { low, high, step } => self.whole(key, *low, *high, *step),
            Form::Real { low, high } => self.real(*low, *high).into(),
            Form::Words(words) => self.choices.pick(words).clone().into(),
            Form::Flag => self.choices.once_in(2).into(),
            Form::Time => self.time(key).into(),
            Form::Size => self.size(key).into(),
            Form::Rate => files::rate(self.choices).into(),
            Form::Queue => self.queue(key).into(),
            Form::Window => format!("{}pkt", self.choices.within(1, 64)).into(),
            Form::Hosts => self.hosts(key),
            Form::Name => (*self.choices.pick(&["short", "long", "mice", "a-1_b"])).into(),
            Form::Text => "drawn".into(),
            Form::Port => self.port().into(),
            Form::Ports => self.some(Self::port),
            Form::Links => self.some(Self::link),
            Form::Tier => self.tier().into(),
            Form::Ordinals => self.some(|values| 1 + values.choices.below(40) as i64),
            Form::RisingSizes => self.rising_sizes().into(),
            Form::TraceFile => {
                let flows = files::trace(self.choices, self.surroundings.hosts);
                self.file("trace.csv", flows)
            }
            Form::CdfFile => {
                let points = files::cdf(self.choices);
                self.file("sizes.csv", points)
            }
            Form::NodeFile => {
                let nodes = files::nodes(self.files.get("network.csv").map_or("", String::as_str));
                self.file("nodes.csv", nodes)
            }
            Form::NetworkFile if self.choices.once_in(2) => {
                let links = files::edge_list(self.choices);
                self.file("network.csv", links)
            }
            Form::NetworkFile => {
                let network = files::graphml(self.choices);
                self.file("network.graphml", network)
            }
            Form::Kind | Form::Mixture | Form::Level(_) => return None,
        };
        Some(value)
    }

    /// Small networks and few flows most of the time: what matters is how many inputs run.
    fn whole(&mut self, key: &str, low: u64, high: u64, step: u64) -> Value {
        let often = match key {
            "hops" | "hosts_per_switch" | "hosts_per_rack" | "pairs" | "racks" | "senders" | "spines" => 3,
            "hosts" => 10,
            "k" => 2,
            "mss" => 1400,
            // Flows that begin at once cost more than events can tell: hundreds will do.
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
            // Most keys with a wide range have their defaults between 0.01 and 10.
            3 | 4 => low.max(10f64.powf(self.choices.unit() * 4.0 - 3.0)).min(high),
            _ => low + (high.min(low + 1.5) - low) * self.choices.unit(),
        }
    }

    fn time(&mut self, key: &str) -> String {
        let (units, most): (&[&str], u64) = match key {
            "duration" | "drain" if self.choices.once_in(8) => (&["00us"], 40),
            "duration" | "drain" => (&["us", "0us"], 40),
            "warmup" => (&["us", "0us"], 10),
            "rtt" | "delay" | "uplink_delay" | "trunk_delay" | "core_delay" => {
                (&["ns", "00ns", "us", "0us"], 10)
            }
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
            2 if !matches!(key, "root" | "collector") => self.some(host),
            _ => host(self).into(),
        }
    }

    /// One to four.
    fn some<T: Into<Value>>(&mut self, draw: impl Fn(&mut Self) -> T) -> Value {
        let count = 1 + self.choices.below(4);
        Value::Array((0..count).map(|_| draw(self).into()).collect())
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

    fn file(&mut self, name: &str, text: String) -> Value {
        self.files.insert(name.to_owned(), text);
        name.into()
    }
}
