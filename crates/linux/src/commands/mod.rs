//! One file per command: its arguments, and what it does.

#[cfg(feature = "bpf")]
pub mod check;
#[cfg(feature = "bpf")]
pub mod class;
pub mod cleanup;
pub mod completions;
pub mod laws;
#[cfg(feature = "bpf")]
pub mod load;
#[cfg(feature = "bpf")]
mod offers;
#[cfg(feature = "bpf")]
pub mod stamp;
#[cfg(feature = "bpf")]
pub mod status;
pub mod testbed;
#[cfg(feature = "bpf")]
pub mod unload;

pub use shortflow_linux::Failure;

/// Why a command that only the eBPF part has cannot be run.
#[cfg(not(feature = "bpf"))]
pub fn without_ebpf(words: &[String]) -> Failure {
    const COMMANDS: [&str; 6] = ["check", "load", "unload", "status", "class", "stamp"];
    let name = words.first().map_or("", String::as_str);
    if COMMANDS.contains(&name) {
        Failure::Host(format!(
            "{name}: this program was built without its eBPF part; build it with `make linux`"
        ))
    } else {
        Failure::Input(format!("there is no command {name:?}; see --help"))
    }
}
