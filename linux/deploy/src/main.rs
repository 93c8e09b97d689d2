//! The `shortflow-deploy` command: the loader of the eBPF congestion controls, without the testbed.

use clap::Parser;
use shortflow_deploy::commands::{self, Command};
use std::process::ExitCode;

/// Load the congestion controls of the short-flow papers into this host's kernel.
#[derive(Parser)]
#[command(version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

fn main() -> ExitCode {
    commands::program(|cli: Cli| cli.command.run::<Cli>())
}
