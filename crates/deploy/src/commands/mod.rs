//! One file per command: its arguments and its action. Results go to stdout, reasons to stderr. Exit codes: 0 fine,
//! 1 a check did not hold, 2 the input was wrong, 3 the host lacks something.

mod check;
mod class;
mod cleanup;
mod completions;
mod dscp;
mod laws;
mod load;
mod manual;
mod offers;
mod status;
mod unload;

pub use load::key_value;

use crate::{Failure, programs::messages, sys};
use clap::{CommandFactory, Parser, Subcommand};
use std::process::ExitCode;

/// Commands on the congestion controls.
#[derive(Subcommand)]
pub enum Command {
    /// List what this host supports and what is missing; changes nothing.
    Check(check::Args),
    /// Compare the fixed-point laws of the eBPF programs with the simulator's, over a grid.
    Laws,
    /// Register congestion controls with the kernel.
    Load(load::Args),
    /// Remove them again; without names, all of them and everything that came with them.
    Unload(unload::Args),
    /// Show what is loaded, its parameters, and its connections.
    Status(status::Args),
    /// Say which ports carry short flows, and which carry long ones.
    Class(class::Args),
    /// Give packets that leave a device their priority, for switches that queue by it.
    Dscp(dscp::Args),
    /// Remove what killed commands have left behind, and say what is loaded.
    Cleanup,
    /// Print a completion script for a shell.
    Completions(completions::Args),
    /// Write the manual pages into a directory, for packages.
    #[command(hide = true)]
    Manual(manual::Args),
}

impl Command {
    /// Runs the command of the program `Cli`.
    ///
    /// # Errors
    /// Fails where the command does.
    pub fn run<Cli: CommandFactory>(self) -> Result<(), Failure> {
        match self {
            Command::Check(args) => check::run(args),
            Command::Laws => laws::run(),
            Command::Load(args) => load::run(args),
            Command::Unload(args) => unload::run(args),
            Command::Status(args) => status::run(args),
            Command::Class(args) => class::run(args),
            Command::Dscp(args) => dscp::run(args),
            Command::Cleanup => cleanup::run(),
            Command::Completions(args) => completions::run::<Cli>(args),
            Command::Manual(args) => manual::run::<Cli>(args),
        }
    }
}

/// A whole program: reads its arguments and runs them.
pub fn program<Cli: Parser>(run: impl FnOnce(Cli) -> Result<(), Failure>) -> ExitCode {
    sys::end_with_closed_pipes();
    messages::keep();
    match run(Cli::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("{failure}");
            failure.code()
        }
    }
}
