//! The `shortflow-linux` command. Results go to stdout, reasons to stderr. Exit codes: 0 fine, 1 a check did
//! not hold, 2 the input was wrong, 3 the host lacks something.

mod commands;

use clap::{Parser, Subcommand};
#[cfg(feature = "bpf")]
use commands::check;
use commands::{Failure, completions, laws};
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
    #[cfg(feature = "bpf")]
    Check,
    /// Compare the fixed-point laws of the eBPF programs with the simulator's, over a grid.
    Laws,
    /// Print a completion script for a shell.
    Completions(completions::Args),
    #[cfg(not(feature = "bpf"))]
    #[command(external_subcommand)]
    Other(Vec<String>),
}

fn run(command: Command) -> Result<(), Failure> {
    match command {
        #[cfg(feature = "bpf")]
        Command::Check => check::run(),
        Command::Laws => laws::run(),
        Command::Completions(args) => completions::run::<Cli>(args),
        #[cfg(not(feature = "bpf"))]
        Command::Other(words) => Err(commands::without_ebpf(&words)),
    }
}

fn main() -> ExitCode {
    match run(Cli::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("{failure}");
            failure.code()
        }
    }
}
