//! From an object file to a registered congestion control.

use super::config::{RESTRICTED, TEXT, kernel_name, needs_ecn, text_of};
use super::pins::{CONFIG, LINK, NEXT_CONFIG, NEXT_MAP, Pins, await_unregistered, failure_of};
use super::segments::Segments;
use crate::warning::warn;
use crate::{Failure, check, laws, sys};
use libbpf_rs::btf::Btf;
use libbpf_rs::btf::types::Struct;
use libbpf_rs::{Link, MapCore, MapType, Object, OpenObject};
use shortflow_cc::TransportConfig;
use std::fs;
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// `BPF_F_LINK` of linux/bpf.h: the lifetime of a registration is that of a link.
const BY_LINK: u32 = 1 << 13;
/// Offset of `flags` in `struct tcp_congestion_ops` of kernel.h, and two flags: every user may choose the control,
/// and its SYNs ask for ECN.
const FLAGS: usize = 56;
const NON_RESTRICTED: u32 = 1;
const NEEDS_ECN: u32 = 2;
/// `CGROUP2_SUPER_MAGIC` of linux/magic.h.
const CGROUP2: rustix::fs::FsWord = 0x6367_7270;
/// Object files by transport, from build.rs.
const CODES: [(&str, &[u8]); laws::NAMES.len()] = include!(concat!(env!("OUT_DIR"), "/codes.rs"));

/// The kernel's CUBIC, called through eBPF programs: the baseline of a cost test.
pub const CUBIC: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/cubic.bpf.o"));

/// Programs that choose the congestion control of new connections, for a test.
pub const CHOOSE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/choose.bpf.o"));

/// Users that may choose a congestion control by `TCP_CONGESTION`. Routes give a control to the connections of all
/// users.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Users {
    /// Every user.
    All,
    /// Users with `CAP_NET_ADMIN` in their network namespace.
    Administrators,
}

/// A program that the verifier has accepted, but that is not registered yet.
#[derive(Debug)]
pub struct Prepared {
    name: String,
    text: String,
    object: Object,
    has_link: bool,
}

impl Prepared {
    /// Loads the program of `config`, one of [`laws::NAMES`], into the kernel, with smaller segments if there are
    /// any.
    /// Fails if the kernel refuses the program.
    pub fn new(
        config: &TransportConfig,
        segments: Option<&Segments>,
        users: Users,
        pins: &Pins,
    ) -> Result<Prepared, Failure> {
        let transport = config.info().name;
        let code = CODES.iter().find(|(law, _)| *law == transport).map_or(&[][..], |(_, code)| code);
        let name = kernel_name(config);
        let restricted = if users == Users::All { "" } else { RESTRICTED };
        let text = text_of(config) + restricted + &segments.map_or_else(String::new, Segments::text);
        let kernel = Btf::from_vmlinux().map_err(failure_of(&name))?;
        let has_link = kernel.type_by_name::<Struct<'_>>("bpf_struct_ops_link").is_some();
        let fitting = format!("sf_{transport}{}", check::operations(&kernel));
        let mut object = pins.open_object(code).map_err(failure_of(&name))?;
        for mut map in object.maps_mut() {
            if map.map_type() == MapType::StructOps {
                let fits = map.name() == fitting.as_str();
                map.set_autocreate(fits).map_err(failure_of(&name))?;
                let operations = map.initial_value_mut().and_then(|operations| operations.get_mut(FLAGS..));
                if let Some(bytes) = operations.and_then(|rest| rest.first_chunk_mut()) {
                    let of_users = if users == Users::All { NON_RESTRICTED } else { 0 };
                    let of_ecn = if needs_ecn(config) { NEEDS_ECN } else { 0 };
                    *bytes = (of_users | of_ecn).to_ne_bytes();
                }
                if !has_link {
                    map.set_map_flags(map.map_flags() & !BY_LINK).map_err(failure_of(&name))?;
                }
            } else if map.name().to_string_lossy().ends_with(CONFIG) {
                let values = config_section(config, &Segments::config(segments), &text)?;
                map.set_initial_value(&values).map_err(failure_of(&name))?;
            }
        }
        let object = object.load().map_err(failure_of(&name))?;
        Ok(Prepared { name, text, object, has_link })
    }

    /// Name of the future registration.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Parameters as text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Registers the program; from then on applications can choose it.
    /// Fails if a congestion control of this name is registered.
    pub fn register(mut self, pins: &Pins) -> Result<(), Failure> {
        let name = self.name.clone();
        // A registration that a killed command has left may need a moment to go.
        if await_unregistered(&name).is_err() {
            let why = "another program has registered a congestion control of this name";
            return Err(Failure::Host(format!("{name}: {why}; see `bpftool struct_ops list`")));
        }
        let directory = pins.path(&name);
        fs::create_dir(&directory).map_err(Failure::host(directory.display()))?;
        let registered = self.pin_and_attach(&directory).map_err(failure_of(&name));
        if registered.is_err() {
            pins.sweep()?.remaining.iter().for_each(warn);
        }
        registered
    }

    /// Registers the program instead of a loaded one of the same name. Since Linux 6.4, applications can choose one
    /// of the two at every moment.
    /// Fails if the kernel refuses. The old program stays then; before Linux 6.4, it may be gone.
    pub fn replace(mut self, pins: &Pins) -> Result<(), Failure> {
        if !self.has_link {
            pins.unregister(&self.name)?;
            return self.register(pins);
        }
        let name = self.name.clone();
        let replaced = self.pin_and_update(&pins.path(&name)).map_err(failure_of(&name));
        pins.settle(&name)?;
        replaced
    }

    /// Registers the program for as long as the returned value lives. The registration ends with the process, however
    /// the process ends.
    /// Fails if a congestion control of this name is registered, and before Linux 6.4.
    pub fn hold(mut self) -> Result<Held, Failure> {
        let name = self.name.clone();
        if !self.has_link {
            return Err(Failure::Host(format!(
                "{name}: Linux before 6.4 keeps a registration only through a pin"
            )));
        }
        // A registration of a killed process may need a moment to go.
        if await_unregistered(&name).is_err() {
            let why = "in use by another testbed, or registered by another program";
            return Err(Failure::Host(format!("testbed: {name}: {why}; see `bpftool struct_ops list`")));
        }
        let mut maps = self.object.maps_mut();
        let mut map = maps
            .find(|map| map.map_type() == MapType::StructOps && map.autocreate())
            .ok_or_else(|| Failure::Host(format!("{name}: its program has no operations")))?;
        let link = map.attach_struct_ops().map_err(failure_of(&name))?;
        drop(maps);
        Ok(Held { name, _link: link, _object: self.object })
    }

    /// Pins the new program and updates the link. A kill may leave the pins of both programs; the map shows which one
    /// is registered.
    fn pin_and_update(&mut self, directory: &Path) -> libbpf_rs::Result<()> {
        let link = Link::open(directory.join(LINK))?;
        let (mut config, mut operations) = (None, None);
        for map in self.object.maps_mut() {
            match map.map_type() {
                MapType::StructOps if map.autocreate() => operations = Some(map),
                _ if map.name().to_string_lossy().ends_with(CONFIG) => config = Some(map),
                _ => {}
            }
        }
        let (Some(mut config), Some(mut operations)) = (config, operations) else {
            return Err(io::Error::other("its program has no operations").into());
        };
        operations.pin(directory.join(NEXT_MAP))?;
        config.pin(directory.join(NEXT_CONFIG))?;
        // An update needs a map that has been filled in. This call fills the map in, and then fails, because the name
        // is taken.
        drop(operations.attach_struct_ops());
        sys::update_link(&link.as_fd(), &operations.as_fd()).map_err(libbpf_rs::Error::from)
    }

    fn pin_and_attach(&mut self, directory: &Path) -> libbpf_rs::Result<()> {
        for mut map in self.object.maps_mut() {
            if map.name().to_string_lossy().ends_with(CONFIG) {
                map.pin(directory.join(CONFIG))?;
            }
        }
        for mut map in self.object.maps_mut().filter(|map| map.map_type() == MapType::StructOps) {
            if !map.autocreate() {
                continue;
            }
            if self.has_link {
                map.attach_struct_ops()?.pin(directory.join(LINK))?;
            } else {
                map.pin(directory.join("map"))?;
                map.attach_struct_ops()?.disconnect();
            }
        }
        Ok(())
    }
}

/// A registration without pins.
#[derive(Debug)]
pub struct Held {
    name: String,
    _link: Link,
    _object: Object,
}

impl Held {
    /// Name of the registration.
    pub fn name(&self) -> &str {
        &self.name
    }
}

/// Contents of `struct config` in sender.bpf.c.
fn config_section(config: &TransportConfig, segments: &[u8], text: &str) -> Result<Vec<u8>, Failure> {
    let words = laws::params(config).map_err(|error| Failure::Input(error.to_string()))?;
    let mut bytes = text.as_bytes().to_vec();
    bytes.resize(TEXT, 0);
    bytes.extend(u64::from(needs_ecn(config)).to_ne_bytes());
    bytes.extend(segments);
    bytes.extend(words.iter().flat_map(|word| word.to_ne_bytes()));
    Ok(bytes)
}

/// Checks, before anything is loaded, that [`attach_setsockopt`] can use the cgroup.
/// Fails if `cgroup` is not a directory of the cgroup2 file system.
pub fn check_cgroup(cgroup: &Path) -> Result<(), Failure> {
    let why = match fs::File::open(cgroup).and_then(|file| Ok(rustix::fs::fstatfs(file)?.f_type == CGROUP2)) {
        Ok(true) => return Ok(()),
        Ok(false) => {
            let mounts = fs::read_to_string("/proc/mounts").unwrap_or_default();
            let place = check::cgroup2_directory(&mounts).map(|place| format!(" (mounted at {place})"));
            format!("not a directory of the cgroup2 file system{}", place.unwrap_or_default())
        }
        Err(error) => error.to_string(),
    };
    Err(Failure::Input(format!("--cgroup {}: {why}", cgroup.display())))
}

/// Lets applications of a cgroup describe their flows by setsockopt(2). Returns false if that was already enabled.
/// Fails if `cgroup` is not a directory of the cgroup2 file system.
pub fn attach_setsockopt(pins: &Pins, cgroup: &Path) -> Result<bool, Failure> {
    const CODE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/setsockopt.bpf.o"));
    let shown = cgroup.display().to_string();
    let unusable = |error: &dyn std::fmt::Display| Failure::Input(format!("--cgroup {shown}: {error}"));
    let directory = fs::File::open(cgroup).map_err(|error| unusable(&error))?;
    let inode = directory.metadata().map_err(|error| unusable(&error))?.ino();
    let mut is_new = false;
    let object = pins.open_object(CODE).and_then(OpenObject::load).map_err(failure_of("setsockopt"))?;
    for program in object.progs_mut() {
        let path = pins.path(&format!("{}_{inode}", program.name().to_string_lossy()));
        if !path.exists() {
            let attached = program.attach_cgroup(directory.as_raw_fd());
            attached.map_err(|error| unusable(&error))?.pin(&path).map_err(failure_of("setsockopt"))?;
            is_new = true;
        }
    }
    Ok(is_new)
}
