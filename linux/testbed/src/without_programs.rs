//! In place of programs.rs where the eBPF part is left out, which compiles without clang and runs nothing.

use crate::switch::Clock;
use shortflow_deploy::Failure;
use shortflow_sim::host::Message;
use shortflow_sim::scheme::Scheme;
use std::io;
use std::os::fd::AsRawFd;

/// There are none.
#[derive(Debug)]
pub enum Programs {}
/// Nor is there anything to replace.
pub type Lock = Programs;

impl Programs {
    pub fn load(_: &Scheme, _: bool) -> Result<Option<(Programs, Lock)>, Failure> {
        Err(Failure::Host("testbed: built without eBPF; run `make linux`".to_owned()))
    }

    pub fn congestion(&self) -> Option<&str> {
        match *self {}
    }

    pub fn attach(&self, _: &str) -> Result<(), Failure> {
        match *self {}
    }

    pub fn tell(&self, _: &impl AsRawFd, _: &Message, _: Clock) -> io::Result<()> {
        match *self {}
    }
}
