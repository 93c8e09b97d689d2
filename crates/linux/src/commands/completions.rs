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
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "shortflow-linux", &mut script);
    let script = String::from_utf8_lossy(&script);
    // For bash, clap_complete takes the hyphen of the name for a level of subcommands, in the labels alone.
    print!("{}", script.replace("shortflow__subcmd__linux", "shortflow__linux"));
    Ok(())
}
