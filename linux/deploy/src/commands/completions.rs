//! `completions`: a script that completes the command line.

use crate::Failure;
use clap::CommandFactory;
use clap_complete::Shell;

#[derive(clap::Args)]
pub struct Args {
    /// Shell of the script.
    shell: Shell,
}

pub(super) fn run<Cli: CommandFactory>(args: Args) -> Result<(), Failure> {
    let (mut command, mut script) = (Cli::command(), Vec::new());
    let name = command.get_name().to_owned();
    clap_complete::generate(args.shell, &mut command, &name, &mut script);
    let script = String::from_utf8_lossy(&script);
    // For bash, clap_complete treats the hyphen in the program's name as a level of subcommands, but only in its
    // labels.
    print!("{}", script.replace(&name.replace('-', "__subcmd__"), &name.replace('-', "__")));
    Ok(())
}
