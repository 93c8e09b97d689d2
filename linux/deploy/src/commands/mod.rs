//! The commands: each has a file with its arguments and its action. Results go to stdout, reasons to stderr. Exit
//! codes: 0 success, 1 a check did not hold, 2 wrong input, 3 a missing feature of the host.

mod check;
mod class;
mod cleanup;
mod completions;
mod dscp;
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
    /// Check the kernel, tools and privileges of this host; change nothing.
    Check(check::Args),
    /// Register congestion controls with the kernel.
    ///
    /// Loading a loaded control again replaces it for new connections. The command names the whole state of the control:
    /// parameters, --restrict and --segments that it does not repeat return to their defaults, and each change is
    /// printed. Routes, the default and cgroups stay until `unload`.
    Load(load::Args),
    /// Remove congestion controls; without names, all controls and all their settings.
    Unload(unload::Args),
    /// Show loaded controls with their parameters and connections.
    Status(status::Args),
    /// Set the ports of short and of long flows.
    Class(class::Args),
    /// Mark outgoing packets with their priority (DSCP), for switches that queue by priority.
    Dscp(dscp::Args),
    /// Remove leftovers of killed commands; list loaded controls.
    Cleanup,
    /// Print a completion script for a shell.
    Completions(completions::Args),
    /// Write the manual pages into a directory, for packages.
    #[command(hide = true)]
    Manual(manual::Args),
}

impl Command {
    /// Runs the command; `Cli` is the program that it belongs to.
    /// Fails if the command fails.
    pub fn run<Cli: CommandFactory>(self) -> Result<(), Failure> {
        match self {
            Command::Check(args) => check::run(args),
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

/// The main function of a program: reads the arguments and passes them to `run`.
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
