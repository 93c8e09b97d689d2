//! Opens the directory of the pins, and removes what killed commands have left there.
//!
//! Leftovers have no registration in the kernel. The records of defaults and of routes stay until every recorded
//! namespace is restored.

use super::defaults::{has_records, renew_default, restore_defaults};
use super::dscp::end_dscp_marking_everywhere;
use super::mounts;
use super::pins::{CONFIG, DIRECTORY, NEXT_CONFIG, NEXT_MAP, PREFIX, Pins, is_there, make, remove};
use super::routes::remove_routes;
use super::segments::{self, remove_segments};
use crate::Failure;
use crate::warning::warn;
use libbpf_rs::Link;
use libbpf_rs::query::{LinkInfo, LinkTypeInfo};
use std::fs;

impl Pins {
    /// Opens the pins of the loaded programs, and removes leftovers of killed commands; `None` if nothing is loaded.
    /// Fails without the right to read the directory, or if another user owns it.
    pub fn open() -> Result<Option<Pins>, Failure> {
        let pins = Pins::lock()?;
        if !is_there()? {
            mounts::unmount_ours()?;
            mounts::check_view()?;
            return Ok(None);
        }
        pins.sweep()?;
        Ok((!pins.loaded()?.is_empty()).then_some(pins))
    }

    /// Opens or makes the directory. A host without a bpf file system gets one, which is unmounted when it is empty.
    /// Fails without `CAP_SYS_ADMIN`, or if another user owns the directory.
    pub fn create() -> Result<Pins, Failure> {
        let pins = Pins::lock()?;
        if is_there()? {
            pins.sweep()?;
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

    /// Removes pins without a registration; if there is no registration at all, removes all pins.
    /// Fails without the right to change the files.
    pub fn sweep(&self) -> Result<(), Failure> {
        let loaded = self.loaded()?;
        for name in &loaded {
            self.settle(name)?.iter().for_each(warn);
        }
        if loaded.is_empty() && has_records(self) {
            restore_defaults(self, |name| name.starts_with(PREFIX))?;
        }
        if loaded.is_empty() {
            end_dscp_marking_everywhere()?;
            remove_routes(|_| true)?;
        }
        if !segments::are_used(self, &loaded) {
            remove_segments(self)?;
            // The directory stays if it is not empty.
            let _ = fs::remove_dir(self.path(segments::RECORD));
        }
        for name in self.names() {
            let is_leftover =
                name.starts_with(PREFIX) && !loaded.contains(&name) || self.has_lost_its_cgroup(&name);
            let is_record = name == segments::RECORD || name == "defaults" && has_records(self);
            if is_leftover || loaded.is_empty() && !is_record {
                remove(&self.path(&name))?;
            }
        }
        if !self.names().is_empty() {
            return Ok(());
        }
        fs::remove_dir(DIRECTORY).map_err(Failure::host(DIRECTORY))?;
        mounts::unmount_ours()
    }

    /// True if `name` is a hook whose cgroup has been removed.
    fn has_lost_its_cgroup(&self, name: &str) -> bool {
        let info = || Link::open(self.path(name)).and_then(|link| link.info());
        let is_detached = |info: LinkInfo| matches!(info.info, LinkTypeInfo::Cgroup(of) if of.cgroup_id == 0);
        name.contains("sockopt_") && info().is_ok_and(is_detached)
    }
}
