//! `manual`: writes the manual pages of the program and of each command.

use crate::Failure;
use clap::CommandFactory;
use std::path::PathBuf;

#[derive(clap::Args)]
pub struct Args {
    /// Existing directory for the pages.
    directory: PathBuf,
}

pub(super) fn run<Cli: CommandFactory>(args: Args) -> Result<(), Failure> {
    let pages = Cli::command().disable_help_subcommand(true);
    clap_mangen::generate_to(pages, &args.directory)
        .map_err(|error| Failure::Input(format!("{}: {error}", args.directory.display())))
}
