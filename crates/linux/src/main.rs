//! The `shortflow-linux` command. Results go to stdout, reasons to stderr. Exit codes: 0 fine, 1 a check did
//! not hold, 2 the input was wrong, 3 the host lacks something.

mod commands;

use clap::{Parser, Subcommand};
use commands::{Failure, cleanup, completions, laws, testbed};
#[cfg(feature = "bpf")]
use commands::{check, class, load, stamp, status, unload};
use shortflow_linux::sys;
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
    Check(check::Args),
    /// Compare the fixed-point laws of the eBPF programs with the simulator's, over a grid.
    Laws,
    /// Register congestion controls with the kernel.
    #[cfg(feature = "bpf")]
    Load(load::Args),
    /// Remove them again; without names, all of them and everything that came with them.
    #[cfg(feature = "bpf")]
    Unload(unload::Args),
    /// Say what is loaded, with which parameters, and how its connections fare.
    #[cfg(feature = "bpf")]
    Status(status::Args),
    /// Say which ports carry short flows, and which carry long ones.
    #[cfg(feature = "bpf")]
    Class(class::Args),
    /// Give packets that leave a device their priority, for switches that queue by it.
    #[cfg(feature = "bpf")]
    Stamp(stamp::Args),
    /// Run a scenario on the kernel's TCP, in network namespaces; writes one JSON document.
    Testbed(testbed::Args),
    /// Remove what killed commands have left behind, and say what is loaded.
    Cleanup,
    /// Print a completion script for a shell.
    Completions(completions::Args),
    #[cfg(not(feature = "bpf"))]
    #[command(external_subcommand)]
    Other(Vec<String>),
}

fn run(command: Command) -> Result<(), Failure> {
    match command {
        #[cfg(feature = "bpf")]
        Command::Check(args) => check::run(args),
        Command::Laws => laws::run(),
        #[cfg(feature = "bpf")]
        Command::Load(args) => load::run(args),
        #[cfg(feature = "bpf")]
        Command::Unload(args) => unload::run(args),
        #[cfg(feature = "bpf")]
        Command::Status(args) => status::run(args),
        #[cfg(feature = "bpf")]
        Command::Class(args) => class::run(args),
        #[cfg(feature = "bpf")]
        Command::Stamp(args) => stamp::run(args),
        Command::Testbed(args) => testbed::run(args),
        Command::Cleanup => cleanup::run(),
        Command::Completions(args) => completions::run::<Cli>(args),
        #[cfg(not(feature = "bpf"))]
        Command::Other(words) => Err(commands::without_ebpf(&words)),
    }
}

fn main() -> ExitCode {
    sys::end_with_closed_pipes();
    #[cfg(feature = "bpf")]
    shortflow_linux::programs::messages::keep();
    match run(Cli::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("{failure}");
            failure.code()
        }
    }
}
