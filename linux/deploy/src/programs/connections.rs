//! Open connections and listeners: read from the kernel, and moved to another congestion control.

use super::defaults::default_here;
use super::messages;
use super::namespaces::Seen;
use super::pins::{PREFIX, failure_of};
use super::ports::role_of;
use crate::Failure;
use libbpf_rs::query::{MapInfo, MapInfoIter};
use libbpf_rs::{ErrorKind, Iter, IterOpts, MapHandle, MapIterOpts, MapType, ObjectBuilder};
use shortflow_cc::Role;
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read};
use std::os::fd::AsFd;

/// One connection.
#[derive(Debug, Clone, PartialEq)]
pub struct Connection {
    /// Congestion control of the connection.
    pub name: String,
    /// Congestion window, in segments.
    pub cwnd: f64,
    /// Congestion estimate alpha.
    pub alpha: f64,
    /// Bytes of the current message, if the application states them.
    pub size: Option<u64>,
    /// Deadline of the message, in nanoseconds of the monotonic clock, if the application states one.
    pub deadline_ns: Option<u64>,
    /// Role stated by the application, or by the operator of the port.
    pub role: Role,
}

/// Sizes of `struct connection`, `struct listener` and `struct moved` in status.bpf.c: a name, and seven, three or two
/// words.
const CONNECTION: usize = 72;
const LISTENER: usize = 40;
const MOVED: usize = 32;
/// `TCP_CA_NAME_MAX` of the kernel.
const NAME: usize = 16;

/// All connections with our congestion controls, in all network namespaces. Connections of unloaded controls are
/// included, because they keep their maps.
/// `None` if the kernel does not permit iterators over connections, as some hardened kernels do not.
/// Fails if the kernel refuses the program for another reason.
pub fn connections() -> Result<Option<Vec<Connection>>, Failure> {
    let is_ours = |map: &MapInfo| map.ty == MapType::SkStorage && map.name == "flows";
    let mut found = BTreeMap::new();
    for info in MapInfoIter::default().filter(is_ours) {
        // The map may have gone meanwhile.
        let Ok(flows) = MapHandle::from_map_id(info.id) else { continue };
        let bytes = match records("connections", IterOpts::Map(MapIterOpts::from_fd(flows.as_fd())), None) {
            Err(error) if error.kind() == ErrorKind::PermissionDenied => {
                messages::taken();
                return Ok(None);
            }
            bytes => bytes.map_err(failure_of("status"))?,
        };
        let of_map =
            bytes.chunks_exact(CONNECTION).filter_map(|one| Some((word(one, 64)?, Connection::read(one)?)));
        // A socket may be in the maps of two loads; the map by socket keeps it once.
        found.extend(of_map.filter(|(_, connection)| connection.is_ours()));
    }
    Ok(Some(found.into_values().collect()))
}

/// A listening socket.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Listener {
    /// Congestion control of the socket.
    pub name: String,
    /// Local port.
    pub port: u16,
    /// True if an application or a program has set this control. Accepted connections then use it too; otherwise they
    /// use the default of the moment at which they are accepted.
    pub is_chosen: bool,
    /// Inode of the socket, which /proc/PID/fd shows as `socket:[INODE]`.
    inode: u64,
}

impl Listener {
    /// True if the listener has one of our congestion controls.
    pub fn is_ours(&self) -> bool {
        self.name.starts_with(PREFIX)
    }
}

/// Listening sockets of this network namespace.
/// Fails if the kernel refuses the program that reads them.
pub fn listeners_here() -> Result<Vec<Listener>, Failure> {
    let bytes = records("listeners", IterOpts::None, None).map_err(failure_of("status"))?;
    let read = |record: &[u8]| {
        let (port, inode) = (word(record, 16)? as u16, word(record, 24)?);
        Some(Listener { name: name_in(record)?, port, is_chosen: word(record, 32)? != 0, inode })
    };
    let mut found: Vec<Listener> = bytes.chunks_exact(LISTENER).filter_map(read).collect();
    found.sort();
    found.dedup_by(|one, other| {
        (&one.name, one.port, one.is_chosen) == (&other.name, other.port, other.is_chosen)
    });
    Ok(found)
}

/// Listening sockets in all network namespaces that have one of our congestion controls, with their process.
/// `None` if the kernel does not permit iterators over sockets.
pub fn listeners_of_ours() -> Result<Option<Vec<(Listener, String)>>, Failure> {
    let mut found = Vec::new();
    for place in Seen::now()?.namespaces {
        match place.within(|| listeners_here().map_err(io::Error::other)) {
            Ok(listeners) => found.extend(listeners.into_iter().filter(Listener::is_ours)),
            Err(_) if place.is_here() => {
                messages::taken();
                return Ok(None);
            }
            Err(_) => {} // this process may not enter the namespace
        }
    }
    found.sort();
    let mut owners = owners(&found);
    Ok(Some(
        found
            .into_iter()
            .map(|each| (each.clone(), owners.remove(&each.inode).unwrap_or_default()))
            .collect(),
    ))
}

/// Name and number of the first process that has each socket open, such as `nginx (812)`.
fn owners(listeners: &[Listener]) -> BTreeMap<u64, String> {
    let mut owners = BTreeMap::new();
    if listeners.is_empty() {
        return owners;
    }
    let wanted: BTreeMap<String, u64> =
        listeners.iter().map(|each| (format!("socket:[{}]", each.inode), each.inode)).collect();
    for process in fs::read_dir("/proc").into_iter().flatten().flatten() {
        for file in fs::read_dir(process.path().join("fd")).into_iter().flatten().flatten() {
            let link = fs::read_link(file.path()).unwrap_or_default();
            if let Some(inode) = wanted.get(&*link.to_string_lossy()) {
                let name = fs::read_to_string(process.path().join("comm")).unwrap_or_default();
                let number = process.file_name();
                owners.entry(*inode).or_insert_with(|| format!("{} ({})", name.trim(), number.display()));
            }
        }
    }
    owners
}

/// Counts of sockets that [`move_sockets`] has tried to move.
#[derive(Debug, Default, Clone, Copy)]
pub struct Moved {
    /// Moved connections, including those in a handshake.
    pub connections: usize,
    /// Moved listening sockets.
    pub listeners: usize,
    /// Sockets that the kernel refused to change.
    pub refused: usize,
}

/// Gives every socket with the congestion control `name`, or with any of ours if there is no name, the default of its
/// network namespace.
/// Returns a warning for each namespace in which this failed.
pub fn move_sockets(name: Option<&str>) -> Result<(Moved, Vec<String>), Failure> {
    let mut from = name.unwrap_or(PREFIX).as_bytes().to_vec();
    from.extend(name.map(|_| 0));
    let length = from.len() as u64;
    from.resize(NAME, 0);
    let (mut moved, mut warnings) = (Moved::default(), Vec::new());
    for place in Seen::now()?.namespaces {
        let bytes = place.within(|| {
            let mut values = from.clone();
            values.extend(default_here().bytes().chain([0; NAME]).take(NAME));
            values.extend(length.to_ne_bytes());
            records("moved", IterOpts::None, Some(&values)).map_err(io::Error::other)
        });
        match bytes {
            Ok(bytes) => {
                for record in bytes.chunks_exact(MOVED) {
                    let count = match (word(record, 16), word(record, 24)) {
                        (_, Some(1)) => &mut moved.refused,
                        (Some(1), _) => &mut moved.listeners,
                        _ => &mut moved.connections,
                    };
                    *count += 1;
                }
            }
            Err(error) => {
                messages::taken();
                warnings.push(format!("network namespace {}: sockets are not moved: {error}", place.inode));
            }
        }
    }
    Ok((moved, warnings))
}

/// Runs a program of status.bpf.c with `values` in its section `.rodata.move`, and returns its output.
fn records(program: &str, options: IterOpts<'_>, values: Option<&[u8]>) -> libbpf_rs::Result<Vec<u8>> {
    const CODE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/status.bpf.o"));
    let mut object = ObjectBuilder::default().open_memory(CODE)?;
    for mut other in object.progs_mut().filter(|other| other.name() != program) {
        other.set_autoload(false);
    }
    for mut map in object.maps_mut().filter(|map| map.name().to_string_lossy().ends_with("move")) {
        values.map_or(Ok(()), |values| map.set_initial_value(values))?;
    }
    let object = object.load()?;
    let mut bytes = Vec::new();
    for program in object.progs_mut().filter(|loaded| loaded.name() == program) {
        let link = program.attach_iter_with_opts(options.clone())?;
        Iter::new(&link)?.read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

/// The name at the beginning of a record.
fn name_in(record: &[u8]) -> Option<String> {
    let end = record.iter().position(|byte| *byte == 0)?;
    Some(String::from_utf8_lossy(&record[..end]).into_owned())
}

fn word(record: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_ne_bytes(record.get(at..at + 8)?.try_into().ok()?))
}

impl Connection {
    fn read(record: &[u8]) -> Option<Connection> {
        let word = |at| word(record, at);
        let stated = |at: usize| word(at).map(|value| Some(value).filter(|value| *value != 0));
        Some(Connection {
            name: name_in(record)?,
            cwnd: word(16)? as f64 / 2f64.powi(24),
            alpha: word(24)? as f64 / 2f64.powi(60),
            size: stated(40)?,
            deadline_ns: stated(48)?,
            role: role_of(word(56)?),
        })
    }

    /// True if the connection has one of our controls; false if it fell back to another one.
    fn is_ours(&self) -> bool {
        self.name.starts_with(PREFIX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_of_the_kernel() {
        let mut record = b"sf_dctcp\0\0\0\0\0\0\0\0".to_vec();
        for word in [5 << 23, 1 << 58, 77, 1000, 0, 2u64, 0xffff] {
            record.extend(word.to_ne_bytes());
        }
        let connection = Connection {
            name: "sf_dctcp".to_owned(),
            cwnd: 2.5,
            alpha: 0.25,
            size: Some(1000),
            deadline_ns: None,
            role: Role::Long,
        };
        assert_eq!(Connection::read(&record), Some(connection));
        assert_eq!(Connection::read(&record[..24]), None);
    }
}
