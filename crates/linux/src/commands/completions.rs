//! `completions`: a script that completes the command line.

use super::Failure;
use clap::CommandFactory;
use clap_complete::Shell;

#[derive(clap::Args)]
pub struct Args {
    /// Which shell.
    shell: Shell,
}

pub fn run<Cli: CommandFactory>(args: Args) -> Result<(), Failure> {
    clap_complete::generate(args.shell, &mut Cli::command(), "shortflow-linux", &mut std::io::stdout());
    Ok(())
}
