//! `testbed`: a scenario on real TCP. Writes one JSON document, unless it is to check only; fails after that where the
//! measurement cannot be trusted.

use shortflow_deploy::Failure;
use shortflow_deploy::commands::key_value;
use shortflow_sim::scenario::Scenario;
use shortflow_sim::scheme::Scheme;
use shortflow_testbed::{self as testbed, Choice, sys};
use std::path::{Path, PathBuf};

/// Prefixes of the scheme's settings. The rest are the scenario's.
const OF_SCHEMES: [&str; 3] = ["transport.", "queue.", "priority."];

#[derive(clap::Args)]
pub struct Args {
    /// A TOML file; `shortflow linux testbed` knows the shipped ones by name.
    scenario: PathBuf,
    /// Queues and congestion control, with the simulator's parameters: `cwnd_floor` is 1 where `load` has 2.
    #[arg(long, default_value = "dctcp")]
    scheme: String,
    /// Seed of all random draws.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Change a value of scenario or scheme.
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = key_value)]
    settings: Vec<(String, String)>,
    /// Congestion control of the kernel, instead of the scheme's.
    #[arg(long)]
    congestion: Option<String>,
    /// The kernel's queue in the hosts' cards, in place of a FIFO.
    #[arg(long, value_parser = ["fq", "fq_codel"])]
    card: Option<String>,
    /// Only find out whether the run could begin.
    #[arg(long)]
    check: bool,
    /// Let idle processors sleep, as suits a machine whose clock does not go on meanwhile.
    #[arg(long)]
    sleep: bool,
    /// End when the process of this number ends, which has started this one.
    #[arg(long, hide = true)]
    parent: Option<u32>,
}

pub fn run(args: Args) -> Result<(), Failure> {
    if let Some(parent) = args.parent {
        sys::end_with_parent(parent).map_err(Failure::host("--parent"))?;
    }
    let (of_scheme, of_scenario): (Vec<_>, Vec<_>) = args
        .settings
        .into_iter()
        .partition(|(key, _)| OF_SCHEMES.iter().any(|prefix| key.starts_with(prefix)));
    let scheme =
        Scheme::named(&args.scheme, &of_scheme).map_err(|error| Failure::Input(error.to_string()))?;
    let scenario = read(&args.scenario, &scheme, &of_scenario)?;
    let choice = Choice { congestion: args.congestion.as_deref(), card: args.card.as_deref() };
    if args.check {
        return testbed::check(&scenario, &scheme, args.seed, choice);
    }
    let measured = testbed::run(&scenario, &scheme, args.seed, choice, args.sleep)?;
    let trust = testbed::verdict(&scenario, &measured);
    println!("{}", testbed::document(&scenario, &scheme.name, args.seed, &measured, &trust));
    let why = || {
        format!(
            "the testbed did not keep time: {}; close other programs and run it again",
            trust.against.join("; ")
        )
    };
    if trust.against.is_empty() { Ok(()) } else { Err(Failure::NotHeld(why())) }
}

/// A scenario from a file, under a scheme; the files that it names are beside it.
fn read(path: &Path, scheme: &Scheme, settings: &[(String, String)]) -> Result<Scenario, Failure> {
    let text = std::fs::read_to_string(path).map_err(|error| {
        Failure::Input(format!("{}: the scenario cannot be read: {error}", path.display()))
    })?;
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    let beside = path.parent().unwrap_or(Path::new(""));
    let file = |name: &str| std::fs::read_to_string(beside.join(name)).map_err(|error| error.to_string());
    let settings: Vec<_> =
        scheme.around(settings).map(|(key, value, _)| (key.to_owned(), value.to_owned())).collect();
    Scenario::parse(&text, &name, &settings, &file).map_err(|error| Failure::Input(error.to_string()))
}
