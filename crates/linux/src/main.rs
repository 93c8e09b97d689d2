//! The `shortflow-linux` command. Exit codes: 0 fine, 2 the input was wrong, 3 the host lacks something.

use clap::{Parser, Subcommand};
use shortflow_linux::check::{self, Finding};
use std::process::ExitCode;

/// Congestion controls of the short-flow papers on this host.
#[derive(Parser)]
#[command(version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// List what this host supports and what is missing; changes nothing.
    Check,
}

fn main() -> ExitCode {
    match Cli::parse().command {
        Command::Check => report(&check::findings()),
    }
}

fn report(findings: &[Finding]) -> ExitCode {
    for finding in findings {
        println!("{finding}");
    }
    if findings.iter().all(Finding::is_enough) { ExitCode::SUCCESS } else { ExitCode::from(3) }
}
