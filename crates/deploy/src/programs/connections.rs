//! The live connections of our senders, and the listeners of other ones, read from the kernel.

use super::messages;
use super::pins::{PREFIX, refused};
use super::ports::role_of;
use crate::Failure;
use libbpf_rs::query::{MapInfo, MapInfoIter};
use libbpf_rs::{ErrorKind, Iter, IterOpts, MapHandle, MapIterOpts, MapType, ObjectBuilder};
use shortflow_cc::Role;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::os::fd::AsFd;

/// One connection.
#[derive(Debug, Clone, PartialEq)]
pub struct Connection {
    /// The congestion control that drives it.
    pub name: String,
    /// Its window, in segments.
    pub cwnd: f64,
    /// Its congestion estimate.
    pub alpha: f64,
    /// Bytes of its present message, where the application says so.
    pub size: Option<u64>,
    /// Deadline of the message, in nanoseconds of the monotonic clock, if the application states one.
    pub deadline_ns: Option<u64>,
    /// Role stated by the application, or by the operator of the port.
    pub role: Role,
}

/// `struct connection` and `struct listener` of status.bpf.c: a name, and seven words or one.
const CONNECTION: usize = 72;
const LISTENER: usize = 24;

/// All connections in every network namespace, also of unloaded congestion controls, which keep their maps.
/// `None` if the kernel does not permit iterators over connections, as some hardened kernels do.
/// Fails if the kernel refuses the program that looks for another reason.
pub fn connections() -> Result<Option<Vec<Connection>>, Failure> {
    let is_ours = |map: &MapInfo| map.ty == MapType::SkStorage && map.name == "flows";
    let mut found = BTreeMap::new();
    for info in MapInfoIter::default().filter(is_ours) {
        // It may have gone meanwhile.
        let Ok(flows) = MapHandle::from_map_id(info.id) else { continue };
        let bytes = match records("connections", IterOpts::Map(MapIterOpts::from_fd(flows.as_fd()))) {
            Err(error) if error.kind() == ErrorKind::PermissionDenied => {
                messages::taken();
                return Ok(None);
            }
            bytes => bytes.map_err(refused("status"))?,
        };
        let of_map =
            bytes.chunks_exact(CONNECTION).filter_map(|one| Some((word(one, 64)?, Connection::read(one)?)));
        // A socket may be in the maps of two loads.
        found.extend(of_map.filter(|(_, connection)| connection.is_ours()));
    }
    Ok(Some(found.into_values().collect()))
}

/// Ports by congestion control.
pub type Listeners = BTreeMap<String, BTreeSet<u16>>;

/// Ports of this network namespace on which a socket listens with a congestion control that is not ours.
/// Fails if the kernel refuses the program that looks.
pub fn other_listeners() -> Result<Listeners, Failure> {
    let bytes = records("listeners", IterOpts::None).map_err(refused("status"))?;
    let mut others = Listeners::new();
    for record in bytes.chunks_exact(LISTENER) {
        match (name_in(record), word(record, 16)) {
            (Some(name), Some(port)) if !name.starts_with(PREFIX) => {
                others.entry(name).or_default().insert(port as u16);
            }
            _ => {}
        }
    }
    Ok(others)
}

/// Output of a program of status.bpf.c.
fn records(program: &str, options: IterOpts<'_>) -> libbpf_rs::Result<Vec<u8>> {
    const CODE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/status.bpf.o"));
    let mut object = ObjectBuilder::default().open_memory(CODE)?;
    for mut other in object.progs_mut().filter(|other| other.name() != program) {
        other.set_autoload(false);
    }
    let object = object.load()?;
    let mut bytes = Vec::new();
    for program in object.progs_mut().filter(|loaded| loaded.name() == program) {
        let link = program.attach_iter_with_opts(options.clone())?;
        Iter::new(&link)?.read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

/// The name that a record begins with.
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

    /// False for a connection that fell back to Reno.
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
