//! The `shortflow-linux` command: the loader of the eBPF congestion controls, and the testbed.

mod command;

use clap::{Parser, Subcommand};
use shortflow_deploy::commands;
use std::process::ExitCode;

/// Load the congestion controls of the short-flow papers into this host's kernel.
#[derive(Parser)]
#[command(name = "shortflow-linux", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    #[command(flatten)]
    Deploy(commands::Command),
    /// Run a scenario on the kernel's TCP in network namespaces; print one JSON document.
    ///
    /// The exit code is 1 if the testbed did not keep time.
    Testbed(command::Args),
}

fn main() -> ExitCode {
    commands::program(|cli: Cli| match cli.command {
        Command::Deploy(command) => command.run::<Cli>(),
        Command::Testbed(args) => command::run(args),
    })
}
