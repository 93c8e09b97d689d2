//! Which congestion control of the kernel runs a scheme's transport, and how it gets there.

use crate::Failure;
use shortflow_cc::TransportConfig;

/// A congestion control that the kernel has for as long as this lives.
#[derive(Debug)]
pub struct Control {
    name: String,
    #[cfg(feature = "bpf")]
    _held: Option<crate::programs::Held>,
}

impl Control {
    /// The kernel's own of this name.
    ///
    /// # Errors
    /// Fails if it has none.
    pub fn of_kernel(name: &str) -> Result<Control, Failure> {
        const KNOWN: &str = "/proc/sys/net/ipv4/tcp_available_congestion_control";
        let known = std::fs::read_to_string(KNOWN).map_err(Failure::host(KNOWN))?;
        if !known.split_whitespace().any(|each| each == name) {
            let known = known.trim();
            let why = format!("testbed: the kernel has no congestion control {name} (it has {known})");
            return Err(Failure::Host(why));
        }
        Ok(Control {
            name: name.to_owned(),
            #[cfg(feature = "bpf")]
            _held: None,
        })
    }

    /// The kernel's own for TCP and CUBIC, and for the rest the programs of this crate, with their parameters.
    ///
    /// # Errors
    /// Fails if the kernel refuses the program.
    pub fn of_transport(transport: &TransportConfig) -> Result<Control, Failure> {
        match transport.info().name {
            "newreno" | "sack" => Control::of_kernel("reno"),
            "cubic" => Control::of_kernel("cubic"),
            _ => Control::loaded(transport),
        }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    #[cfg(feature = "bpf")]
    fn loaded(transport: &TransportConfig) -> Result<Control, Failure> {
        use crate::programs::{Pins, Prepared, loaded_text};
        let pins = Pins::create()?;
        let control = Prepared::new(transport, &pins).and_then(|prepared| {
            let name = prepared.name().to_owned();
            if !pins.loaded().contains(&name) {
                return Ok(Control { name, _held: Some(prepared.hold()?) });
            }
            match loaded_text(&pins, &name)? {
                parameters if parameters == prepared.text() => Ok(Control { name, _held: None }),
                parameters => {
                    let wanted = prepared.text();
                    let why = format!("is loaded with {parameters}, and the run wants {wanted}; unload it, or --set the same");
                    Err(Failure::Host(format!("testbed: {name} {why}")))
                }
            }
        });
        // What is ours is not pinned: it ends with this process.
        pins.sweep()?;
        control
    }

    #[cfg(not(feature = "bpf"))]
    fn loaded(transport: &TransportConfig) -> Result<Control, Failure> {
        let name = transport.info().name;
        let why = "this program was built without its eBPF part; build it with `make linux`";
        Err(Failure::Host(format!("testbed: {name}: {why}")))
    }
}
