//! `testbed`: runs a scenario on the kernel's TCP and writes one JSON document; `--check` writes none. If the
//! measurement is not trustworthy, the command fails after it has written the document.

use shortflow_deploy::Failure;
use shortflow_deploy::commands::key_value;
use shortflow_sim::scenario::Scenario;
use shortflow_sim::scheme::Scheme;
use shortflow_testbed::{self as testbed, Choice, sys};
use std::path::{Path, PathBuf};

/// Prefixes of keys that belong to the scheme. All other keys belong to the scenario.
const OF_SCHEMES: [&str; 3] = ["transport.", "queue.", "priority."];

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Scenario file (TOML). `shortflow linux testbed` also takes names of shipped scenarios.
    scenario: PathBuf,
    /// Scheme, with parameters as in the simulator (such as dctcp+g=0.5).
    #[arg(long, default_value = "dctcp")]
    scheme: String,
    /// Seed of the random draws.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Change a value of the scenario or of the scheme.
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = key_value)]
    settings: Vec<(String, String)>,
    /// A congestion control of the kernel instead of the scheme's.
    #[arg(long)]
    congestion: Option<String>,
    /// Kernel queue of the hosts' network cards (default: FIFO).
    #[arg(long, value_parser = ["fq", "fq_codel"])]
    card: Option<String>,
    /// Check that the run can start; run nothing.
    #[arg(long)]
    check: bool,
    /// Let idle processors sleep, which delays the switch. Use this only on a machine whose clock stops while it sleeps.
    #[arg(long)]
    sleep: bool,
    /// End when this process, the parent, ends.
    #[arg(long, hide = true)]
    parent: Option<u32>,
}

pub(crate) fn run(args: Args) -> Result<(), Failure> {
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
            "the testbed did not keep time: {}; close other programs and run the testbed again",
            trust.against.join("; ")
        )
    };
    if trust.against.is_empty() { Ok(()) } else { Err(Failure::NotHeld(why())) }
}

/// Reads a scenario file for a scheme. Files that the scenario names are in its directory.
fn read(path: &Path, scheme: &Scheme, settings: &[(String, String)]) -> Result<Scenario, Failure> {
    let text = std::fs::read_to_string(path).map_err(|error| {
        Failure::Input(format!("{}: the scenario cannot be read: {error}", path.display()))
    })?;
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    let beside = path.parent().unwrap_or(Path::new(""));
    let file = |name: &str| std::fs::read_to_string(beside.join(name)).map_err(|error| error.to_string());
    let parse = |settings: &[(String, String)]| {
        Scenario::parse(&text, &name, settings, &file).map_err(|error| Failure::Input(error.to_string()))
    };
    let of_file = parse(settings)?;
    let around = scheme.around(settings, of_file.resolved());
    let around: Vec<_> = around.map(|(key, value, _)| (key.to_owned(), value.to_owned())).collect();
    parse(&around)
}
