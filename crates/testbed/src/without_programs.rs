//! In place of programs.rs where this program was built without its eBPF part.

use crate::switch::Clock;
use shortflow_deploy::Failure;
use shortflow_sim::scheme::Scheme;
use shortflow_sim::tcp::Message;
use shortflow_sim::tcp::priority::By;
use std::io;
use std::os::fd::AsRawFd;

/// There are none.
#[derive(Debug)]
pub enum Programs {}

impl Programs {
    /// `None` if the run takes no program.
    ///
    /// # Errors
    /// Fails otherwise.
    pub fn load(scheme: &Scheme, has_own: bool) -> Result<Option<Programs>, Failure> {
        if has_own && scheme.priority.by == By::None {
            return Ok(None);
        }
        let why = "this program was built without its eBPF part; build it with `make linux`";
        Err(Failure::Host(format!("testbed: {}: {why}", scheme.name)))
    }

    /// Never called.
    pub fn congestion(&self) -> Option<&str> {
        match *self {}
    }

    /// Never called.
    ///
    /// # Errors
    /// None.
    pub fn attach(&self, _: &str) -> Result<(), Failure> {
        match *self {}
    }

    /// Never called.
    ///
    /// # Errors
    /// None.
    pub fn tell(&self, _: &impl AsRawFd, _: &Message, _: Clock) -> io::Result<()> {
        match *self {}
    }
}
