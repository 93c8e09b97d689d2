//! The program that writes pECN's priority into packets as they leave a device.

use super::messages;
use super::namespaces::Seen;
use super::pins::{Pins, failure_of};
use crate::{Failure, sys};
use libbpf_rs::query::{ProgInfoIter, ProgInfoQueryOptions};
use libbpf_rs::{ErrorKind, MapCore, MapFlags, MapHandle, Object, TC_EGRESS, TcHook, TcHookBuilder};
use shortflow_spec::words;
use std::collections::HashMap;
use std::fmt;
use std::io;
use std::os::fd::AsFd;

words! {
    /// Source of the priority, as in `shortflow_sim::host::priority`.
    pub enum By {
        /// Bytes of the message.
        Size = "size",
        /// Bytes not yet acknowledged.
        Remaining = "remaining",
        /// Bytes of the message sent so far.
        Sent = "sent",
        /// Time left until the deadline.
        Deadline = "deadline",
    }
}

/// Numbers of the two rules in dscp.bpf.c that [`By`] does not have.
const BY_CLASS: u64 = By::Deadline as u64 + 1;
const BY_LEVELS: u64 = BY_CLASS + 1;

/// A rule of the program: `rule` of dscp.bpf.c.
#[derive(Debug, Clone, Copy)]
pub enum Rule {
    /// A priority number.
    By(By),
    /// The size as one of eight classes.
    SizeClass,
    /// Number of thresholds that the bytes sent have reached; `u64::MAX` in unused places.
    Levels([u64; 7]),
}

impl Rule {
    fn words(self) -> [u64; 8] {
        let (by, thresholds) = match self {
            Rule::By(by) => (by as u64, [u64::MAX; 7]),
            Rule::SizeClass => (BY_CLASS, [u64::MAX; 7]),
            Rule::Levels(thresholds) => (BY_LEVELS, thresholds),
        };
        let mut words = [by; 8];
        words[1..].copy_from_slice(&thresholds);
        words
    }
}

/// Handle and preference of our filter; they keep it apart from the host's own filters.
const HANDLE: u32 = 0x5346;
const PREFERENCE: u32 = 0x5346;

/// The DSCP program, accepted by the verifier. It writes the DSCP, or the flow label of IPv6, of packets that leave
/// its devices.
#[derive(Debug)]
pub struct DscpProgram(Object);

impl DscpProgram {
    /// Loads the program with a rule into the kernel.
    /// Fails if the kernel refuses the program.
    pub fn load(pins: &Pins, rule: Rule) -> Result<DscpProgram, Failure> {
        const CODE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/dscp.bpf.o"));
        let mut object = pins.open_object(CODE).map_err(failure_of("DSCP marking"))?;
        for mut map in object.maps_mut().filter(|map| map.name().to_string_lossy().ends_with("rule")) {
            let value: Vec<u8> = rule.words().into_iter().flat_map(u64::to_ne_bytes).collect();
            map.set_initial_value(&value).map_err(failure_of("DSCP marking"))?;
        }
        object.load().map(DscpProgram).map_err(failure_of("DSCP marking"))
    }

    /// Marks packets that leave `device` of this network namespace until the device is deleted. Replaces an earlier
    /// rule.
    /// Fails without such a device, if its packets do not start with an Ethernet header, or without `CAP_NET_ADMIN`.
    pub fn attach(&self, device: &str) -> Result<(), Failure> {
        let index = index_of(device)?;
        if !sys::has_ethernet_header(device).map_err(Failure::host(device))? {
            let why = "its packets have no Ethernet header, which DSCP marking needs";
            return Err(Failure::Input(format!("{device}: {why}")));
        }
        for program in self.0.progs_mut() {
            let mut hook = TcHookBuilder::new(program.as_fd())
                .ifindex(index)
                .replace(true)
                .handle(HANDLE)
                .priority(PREFERENCE)
                .hook(TC_EGRESS);
            hook.create().and_then(|mut hook| hook.attach()).map_err(failure_of(device))?;
        }
        Ok(())
    }
}

/// A device that marks DSCP.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DscpMarking {
    /// A file of the device's network namespace; `None` for this namespace.
    pub namespace: Option<String>,
    /// Name of the device.
    pub device: String,
    /// The rule, if this process may read it (`CAP_SYS_ADMIN`).
    pub by: Option<By>,
}

impl fmt::Display for DscpMarking {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.device)?;
        self.namespace.as_ref().map_or(Ok(()), |namespace| write!(f, " of {namespace}"))
    }
}

/// Ends DSCP marking on a device. Returns false if the device had no marking. The `clsact` of the device stays,
/// because others may use it.
/// Fails without such a device, or without `CAP_NET_ADMIN`.
pub fn end_dscp_marking(device: &str) -> Result<bool, Failure> {
    let index = index_of(device)?;
    on_filter(index, TcHook::detach).map(|gone| gone.is_some()).map_err(Failure::host(device))
}

/// All devices that mark DSCP, in the network namespaces that this process may enter.
/// Fails if the devices of this namespace cannot be read.
pub fn dscp_markings() -> Result<Vec<DscpMarking>, Failure> {
    let rules = rules();
    everywhere(|index| Ok(on_filter(index, TcHook::query)?.map(|program| rules.get(&program).copied())))
}

/// Ends DSCP marking on all devices, and returns these devices.
/// Fails without `CAP_NET_ADMIN`.
pub fn end_dscp_marking_everywhere() -> Result<Vec<DscpMarking>, Failure> {
    everywhere(|index| Ok(on_filter(index, TcHook::detach)?.map(|()| None)))
}

/// Applies `find` to the index of every device in every namespace, and returns the devices for which it finds
/// something.
fn everywhere(
    find: impl Fn(i32) -> io::Result<Option<Option<By>>> + Sync,
) -> Result<Vec<DscpMarking>, Failure> {
    let mut found = Vec::new();
    for place in Seen::now()?.namespaces {
        let here = place.within(|| {
            let mut here = Vec::new();
            for device in sys::interfaces()? {
                // A device that is gone meanwhile marks nothing.
                let Ok(index) = sys::interface_index(&device) else { continue };
                here.extend(find(index)?.map(|by| (device, by)));
            }
            Ok(here)
        });
        match here {
            Ok(here) => {
                let namespace = place.path();
                found.extend(here.into_iter().map(|(device, by)| DscpMarking {
                    namespace: namespace.clone(),
                    device,
                    by,
                }));
            }
            Err(error) if place.is_here() => return Err(Failure::host("DSCP marking")(error)),
            Err(_) => {}
        }
    }
    Ok(found)
}

/// Applies `action` to our filter of a device; `None` without such a filter.
fn on_filter<T>(index: i32, action: impl Fn(&mut TcHook) -> libbpf_rs::Result<T>) -> io::Result<Option<T>> {
    let nothing = std::io::stdin();
    let mut hook = TcHook::new(nothing.as_fd());
    hook.ifindex(index).attach_point(TC_EGRESS).handle(HANDLE).priority(PREFERENCE);
    match action(&mut hook) {
        Ok(given) => Ok(Some(given)),
        // The device has no such filter, or no `clsact`.
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::InvalidInput) => {
            messages::taken();
            Ok(None)
        }
        Err(error) => Err(io::Error::other(error.to_string())),
    }
}

/// Rules of loaded DSCP programs, by the number of the program.
fn rules() -> HashMap<u32, By> {
    let options = ProgInfoQueryOptions::default().include_map_ids(true);
    let programs = ProgInfoIter::with_query_opts(options).filter(|program| program.name == "dscp");
    programs
        .filter_map(|program| Some((program.id, program.map_ids.into_iter().find_map(rule_in)?)))
        .collect()
}

/// The rule in a map, if the map has one.
fn rule_in(map: u32) -> Option<By> {
    let map =
        MapHandle::from_map_id(map).ok().filter(|map| map.name().to_string_lossy().ends_with("rule"))?;
    let value = map.lookup(&0u32.to_ne_bytes(), MapFlags::ANY).ok()??;
    let number = u64::from_ne_bytes(*value.first_chunk()?);
    By::WORDS.0.iter().map(|(_, by)| *by).find(|by| *by as u64 == number)
}

pub(super) fn index_of(device: &str) -> Result<i32, Failure> {
    sys::interface_index(device).map_err(|error| Failure::Input(format!("device {device:?}: {error}")))
}
