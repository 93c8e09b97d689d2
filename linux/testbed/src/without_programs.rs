//! Replaces programs.rs in builds without the eBPF part, which need no clang and cannot run a scheme.

use crate::switch::Clock;
use shortflow_deploy::Failure;
use shortflow_sim::host::Message;
use shortflow_sim::scheme::Scheme;
use std::io;
use std::os::fd::AsRawFd;

/// Programs, of which this build has none.
#[derive(Debug)]
pub(crate) enum Programs {}
/// Lock on programs, of which this build has none.
pub(crate) type Lock = Programs;

impl Programs {
    pub(crate) fn load(_: &Scheme, _: bool) -> Result<Option<(Programs, Lock)>, Failure> {
        Err(Failure::Host("testbed: built without eBPF; run `make linux`".to_owned()))
    }

    pub(crate) fn congestion(&self) -> Option<&str> {
        match *self {}
    }

    pub(crate) fn attach(&self, _: &str) -> Result<(), Failure> {
        match *self {}
    }

    pub(crate) fn tell(&self, _: &impl AsRawFd, _: &Message, _: Clock) -> io::Result<()> {
        match *self {}
    }
}
