//! Opens the directory of the pins, and removes what killed commands have left there.
//!
//! Leftovers have no registration in the kernel. The records of defaults and of routes stay until every recorded
//! namespace is restored.

use super::defaults::{Restored, has_records, renew_default, restore_defaults};
use super::dscp::end_dscp_marking_everywhere;
use super::mounts;
use super::pins::{
    CONFIG, DIRECTORY, NEXT_CONFIG, NEXT_MAP, PREFIX, Pins, is_there, make, registered, remove,
};
use super::route_records;
use super::routes::{Removed, are_left, remove_routes};
use super::segments::{self, remove_segments};
use crate::Failure;
use crate::warning::warn;
use libbpf_rs::Link;
use libbpf_rs::query::{LinkInfo, LinkTypeInfo};
use std::fs;

/// Changes of a command outside of the pins.
#[derive(Debug, Default)]
pub struct Traces {
    /// A line for each default that was restored, and each route and device that was cleared.
    pub removed: Vec<String>,
    /// A line for everything that remains, with the reason and the remedy.
    pub remaining: Vec<String>,
}

impl Traces {
    /// Fails if something remains, with a line for each.
    pub fn verdict(&self) -> Result<(), Failure> {
        let lines: Vec<String> = self.remaining.iter().map(|line| format!("remains: {line}")).collect();
        if lines.is_empty() { Ok(()) } else { Err(Failure::Host(lines.join("\n"))) }
    }

    fn note<T>(&mut self, result: Result<T, Failure>) -> Option<T> {
        result.map_err(|failure| self.remaining.push(failure.to_string())).ok()
    }
}

/// The pins, as [`Pins::opened`] finds them.
#[derive(Debug)]
pub struct Opened {
    /// The locked directory, which may not exist.
    pub pins: Pins,
    /// True if a congestion control is loaded.
    pub is_loaded: bool,
    /// Leftovers of killed commands.
    pub traces: Traces,
}

impl Pins {
    /// Opens the pins of the loaded programs, and removes leftovers of killed commands; `None` if nothing is loaded.
    /// Prints a warning for everything that remains.
    /// Fails without the right to read the directory, or if another user owns it.
    pub fn open() -> Result<Option<Pins>, Failure> {
        let Opened { pins, is_loaded, traces } = Pins::opened()?;
        traces.remaining.iter().for_each(warn);
        Ok(is_loaded.then_some(pins))
    }

    /// Opens the pins, and removes leftovers of killed commands. Without a directory, nothing is removed.
    /// Fails without the right to read the directory, or if another user owns it.
    pub fn opened() -> Result<Opened, Failure> {
        let pins = Pins::lock()?;
        if !is_there()? {
            mounts::unmount_ours()?;
            mounts::check_view()?;
            return Ok(Opened { pins, is_loaded: false, traces: Traces::default() });
        }
        let traces = pins.sweep()?;
        Ok(Opened { is_loaded: !pins.loaded()?.is_empty(), pins, traces })
    }

    /// Opens or makes the directory. A host without a bpf file system gets one, which is unmounted when it is empty.
    /// Fails without `CAP_SYS_ADMIN`, or if another user owns the directory.
    pub fn create() -> Result<Pins, Failure> {
        let pins = Pins::lock()?;
        if is_there()? {
            pins.sweep()?.remaining.iter().for_each(warn);
        }
        mounts::mount()?;
        make()?;
        Ok(pins)
    }

    /// Completes or undoes an interrupted replacement of `name`. The registered program keeps its parameters, and new
    /// sockets use it if it is the default. Returns a line for each network namespace in which this fails.
    /// Fails without the right to change the files.
    pub fn settle(&self, name: &str) -> Result<Vec<String>, Failure> {
        let directory = self.path(name);
        let (map, config) = (directory.join(NEXT_MAP), directory.join(NEXT_CONFIG));
        let mut warnings = Vec::new();
        if config.exists() {
            if self.has_been_replaced(name) {
                // The default is renewed before the pin moves: after a kill in between, the next command finds the
                // pin and goes on.
                warnings = renew_default(name)?;
                fs::rename(&config, directory.join(CONFIG)).map_err(Failure::host(config.display()))?;
            } else {
                remove(&config)?;
            }
        }
        if map.exists() {
            remove(&map)?;
        }
        Ok(warnings)
    }

    /// Removes pins without a registration; if there is no registration at all, removes all pins. Goes on after
    /// failures outside of the pins.
    /// Fails without the right to change the files.
    pub fn sweep(&self) -> Result<Traces, Failure> {
        let loaded = self.loaded()?;
        for name in &loaded {
            self.settle(name)?.iter().for_each(warn);
        }
        let mut traces = Traces::default();
        let is_loaded = |name: &str| loaded.iter().any(|other| other == name);
        if loaded.is_empty() {
            traces = self.remove_traces();
        } else if are_left(self, is_loaded) {
            let done = traces.note(remove_routes(self, |name| name.is_some_and(|name| !is_loaded(name))));
            traces.remaining.extend(done.unwrap_or_default().remaining);
        }
        if !segments::are_used(self, &loaded) {
            let remaining = traces.note(remove_segments(self));
            traces.remaining.extend(remaining.unwrap_or_default());
            // The directory stays if it is not empty.
            let _ = fs::remove_dir(self.path(segments::RECORD));
        }
        for name in self.names() {
            let is_leftover =
                name.starts_with(PREFIX) && !loaded.contains(&name) || self.has_lost_its_cgroup(&name);
            let is_record = [segments::RECORD, route_records::RECORD].contains(&&*name)
                || name == "defaults" && has_records(self);
            if is_leftover || loaded.is_empty() && !is_record {
                remove(&self.path(&name))?;
            }
        }
        if is_there()? && self.names().is_empty() {
            fs::remove_dir(DIRECTORY).map_err(Failure::host(DIRECTORY))?;
            mounts::unmount_ours()?;
        }
        Ok(traces)
    }

    /// Restores defaults, and removes routes and DSCP marking, of controls that are not registered. Needs no pins: they
    /// may have been removed by hand. Goes on after failures.
    pub fn remove_traces(&self) -> Traces {
        let mut traces = Traces::default();
        let registered = traces.note(registered()).unwrap_or_default();
        let is_ours = |name: &str| name.starts_with(PREFIX);
        // A control that is registered without a pin belongs to another process, such as a testbed.
        let is_stray = |name: &str| is_ours(name) && !registered.iter().any(|other| other == name);
        let is_recorded = has_records(self);
        let restored = traces
            .note(restore_defaults(self, |name| if is_recorded { is_ours(name) } else { is_stray(name) }));
        let Restored { defaults, others, remaining } = restored.unwrap_or_default();
        traces.removed.extend(defaults.into_iter().chain(others));
        traces.remaining.extend(remaining);
        let Removed { routes, remaining } = traces.note(remove_routes(self, |_| true)).unwrap_or_default();
        traces.removed.extend(routes.iter().map(|route| format!("{route}: removed")));
        traces.remaining.extend(remaining);
        let markings = traces.note(end_dscp_marking_everywhere()).unwrap_or_default();
        traces.removed.extend(markings.iter().map(|marking| format!("{marking}: no longer marks DSCP")));
        if !self.path(segments::RECORD).exists() {
            traces.removed.extend(segments::remove_unrecorded());
        }
        traces
    }

    /// True if `name` is a hook whose cgroup has been removed.
    fn has_lost_its_cgroup(&self, name: &str) -> bool {
        let info = || Link::open(self.path(name)).and_then(|link| link.info());
        let is_detached = |info: LinkInfo| matches!(info.info, LinkTypeInfo::Cgroup(of) if of.cgroup_id == 0);
        name.contains("sockopt_") && info().is_ok_and(is_detached)
    }
}
