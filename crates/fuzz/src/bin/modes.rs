//! Runs drawn scenarios in every way of running. All outcomes of a scenario must be equal.
//!
//! `modes COUNT SEED FOLDER` resumes this build's earlier run, until COUNT scenarios have run. Results are in
//! `FOLDER/SEED.log`. `modes COUNT SEED FOLDER NUMBER` runs one draw.

use shortflow_fuzz::{Alike, compare};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

/// Number of scenarios between two progress lines.
const REPORT_EVERY: u64 = 50;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |text: &String| text.parse::<u64>().ok();
    let (count, seed, folder, only) = match arguments.as_slice() {
        [count, seed, folder] => (number(count), number(seed), folder, None),
        [count, seed, folder, only] if number(only).is_some() => {
            (number(count), number(seed), folder, number(only))
        }
        _ => (None, None, &String::new(), None),
    };
    let (Some(count), Some(seed)) = (count, seed.filter(|seed| *seed <= u64::from(u32::MAX))) else {
        eprintln!(
            "usage: modes COUNT SEED FOLDER [NUMBER], all whole numbers but the folder, and SEED below 2^32"
        );
        return ExitCode::from(2);
    };
    let done = match only {
        Some(number) => run(seed, number).map(|_| ()).ok_or(()),
        None => match random_campaign(count, seed, Path::new(folder)) {
            Ok(differences) => (differences == 0).then_some(()).ok_or(()),
            Err(error) => {
                eprintln!("{folder}: {error}");
                return ExitCode::from(3);
            }
        },
    };
    ExitCode::from(u8::from(done.is_err()))
}

/// Compares the ways of running one draw, and prints differences; `None` if there are any.
fn run(seed: u64, number: u64) -> Option<Option<Alike>> {
    compare(seed, number)
        .map_err(|differences| println!("{differences}\nto repeat: make modes SEED={seed} NUMBER={number}\n"))
        .ok()
}

/// Counts of draws so far.
#[derive(Default)]
struct Tally {
    next: u64,
    scenarios: u64,
    ways: BTreeMap<String, u64>,
    features: BTreeMap<String, u64>,
}

impl Tally {
    /// Counts a line of the log. Tabs separate the number, the ways and the features; semicolons separate the ways,
    /// and the features.
    fn count(&mut self, line: &str) {
        let mut fields = line.split('\t');
        self.next = fields.next().and_then(|number| number.parse::<u64>().ok()).map_or(self.next, |n| n + 1);
        for (counts, field) in [&mut self.ways, &mut self.features].into_iter().zip(fields) {
            field.split(';').for_each(|name| *counts.entry(name.to_owned()).or_default() += 1);
        }
        self.scenarios += u64::from(line.contains('\t'));
    }

    fn summary(&self) -> String {
        let runs: u64 = self.ways.values().sum();
        let mut groups: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for (feature, count) in &self.features {
            let (group, name) = feature.split_once('=').unwrap_or((feature, ""));
            groups.entry(group).or_default().push(format!("{name} {count}"));
        }
        let mut text = format!("{} scenarios of {} draws, {runs} runs\n", self.scenarios, self.next);
        self.ways.iter().for_each(|(way, count)| text += &format!("  {count:5} {way}\n"));
        for (group, names) in groups {
            text += &format!("  {} of {group}: {}\n", names.len(), names.join(", "));
        }
        text + &format!("{} distinct features", self.features.len())
    }
}

/// Runs draws until `count` scenarios have run. Returns the number of differences.
fn random_campaign(count: u64, seed: u64, folder: &Path) -> io::Result<u64> {
    let (mut tally, mut log) = resumed(folder, seed)?;
    let (mut differences, reused, start) = (0, tally.scenarios, Instant::now());
    while tally.scenarios + differences < count {
        let number = tally.next;
        match run(seed, number) {
            None => differences += 1,
            Some(alike) => {
                let before = tally.scenarios;
                let alike = alike.map(|Alike { ways, features }| {
                    format!("\t{}\t{}", ways.join(";"), features.into_iter().collect::<Vec<_>>().join(";"))
                });
                let line = format!("{number}{}\n", alike.unwrap_or_default());
                log.write_all(line.as_bytes())?;
                tally.count(line.trim_end());
                if tally.scenarios > before && tally.scenarios % REPORT_EVERY == 0 {
                    let seconds = start.elapsed().as_secs();
                    eprintln!("{} of {count} scenarios, {differences} differ, {seconds} s", tally.scenarios);
                }
            }
        }
        tally.next = number + 1;
    }
    println!("{}; {differences} scenarios differ ({reused} scenarios reused)", tally.summary());
    Ok(differences)
}

/// Earlier results of this build, and the log for new results.
fn resumed(folder: &Path, seed: u64) -> io::Result<(Tally, File)> {
    fs::create_dir_all(folder)?;
    let mut build = DefaultHasher::new();
    fs::read(std::env::current_exe()?)?.hash(&mut build);
    let (path, build) = (folder.join(format!("{seed}.log")), format!("build {:x}\n", build.finish()));
    let mut kept = fs::read_to_string(&path).unwrap_or_default();
    // An incomplete last line is of a run that was killed.
    kept.truncate(kept.rfind('\n').map_or(0, |end| end + 1));
    if !kept.starts_with(&build) {
        kept = build;
    }
    let (mut tally, mut log) = (Tally::default(), File::create(path)?);
    log.write_all(kept.as_bytes())?;
    kept.lines().skip(1).for_each(|line| tally.count(line));
    Ok((tally, log))
}
