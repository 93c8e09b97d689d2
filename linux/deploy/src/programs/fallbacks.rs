//! Connections that asked for one of our congestion controls but run another one, because ECN was not agreed, and hosts
//! that did not agree when a connection last asked them.

use super::pins::{Pins, failure_of};
use crate::{Failure, sys};
use libbpf_rs::{MapCore, MapFlags, MapHandle};
use std::net::{IpAddr, Ipv6Addr};

/// `TCP_CA_NAME_MAX` of the kernel.
const NAME: usize = 16;

/// Connections that fell back since the first `load`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fallback {
    /// Congestion control that the connections asked for.
    pub from: String,
    /// Congestion control that they run.
    pub to: String,
    /// Number of connections.
    pub connections: u64,
    /// Address of the other end of the last connection.
    pub peer: IpAddr,
}

impl Fallback {
    /// Reads `struct fallback` and `struct fallen` of sender.bpf.c.
    fn read(key: &[u8], value: &[u8]) -> Option<Fallback> {
        let (from, to) = key.split_at_checked(NAME)?;
        let text = |name: &[u8]| String::from_utf8_lossy(name).trim_end_matches('\0').to_owned();
        let connections = u64::from_ne_bytes(*value.first_chunk()?);
        let peer = Ipv6Addr::from(*value.last_chunk::<16>()?).to_canonical();
        Some(Fallback { from: text(from), to: text(to), connections, peer })
    }

    /// The reason: `no-ecn`, or `refused` if the kernel refused every other congestion control. In the latter case,
    /// only losses drive the law.
    pub fn reason(&self) -> &'static str {
        if self.from == self.to { "refused" } else { "no-ecn" }
    }
}

/// A host whose last connection with one of our congestion controls had no ECN.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OneSided {
    /// Congestion control that the connection asked for.
    pub control: String,
    /// Number of the network namespace.
    pub namespace: u64,
    /// Address of the host.
    pub peer: IpAddr,
    /// Whole seconds since then.
    pub seconds: u64,
}

impl OneSided {
    /// Reads `struct other_end` of sender.bpf.c and its time, with the time of now in nanoseconds.
    fn read(key: &[u8], value: &[u8], now: u64) -> Option<OneSided> {
        let control = String::from_utf8_lossy(key.get(..NAME)?).trim_end_matches('\0').to_owned();
        let namespace = u64::from_ne_bytes(*key.get(NAME..)?.first_chunk()?);
        let peer = Ipv6Addr::from(*key.last_chunk::<16>()?).to_canonical();
        let seconds = now.saturating_sub(u64::from_ne_bytes(*value.first_chunk()?)) / 1_000_000_000;
        Some(OneSided { control, namespace, peer, seconds })
    }
}

/// Hosts whose last connection had no ECN, the latest first. A connection with ECN removes the host.
pub fn one_sided(pins: &Pins) -> Vec<OneSided> {
    // Programs that an earlier version has loaded do not have this map.
    let Ok(map) = MapHandle::from_pinned_path(pins.path("one_sided")) else { return Vec::new() };
    let now = sys::monotonic_ns();
    let read = |key: Vec<u8>| OneSided::read(&key, &map.lookup(&key, MapFlags::ANY).ok()??, now);
    let mut found: Vec<OneSided> = map.keys().filter_map(read).collect();
    found.sort_by_key(|one| one.seconds);
    found
}

/// Fallbacks since the first `load`, sorted by name.
pub fn fallbacks(pins: &Pins) -> Result<Vec<Fallback>, Failure> {
    const MAP: &str = "fallbacks";
    let map = MapHandle::from_pinned_path(pins.path(MAP)).map_err(failure_of(MAP))?;
    let read = |key: Vec<u8>| Fallback::read(&key, &map.lookup(&key, MapFlags::ANY).ok()??);
    let mut found: Vec<Fallback> = map.keys().filter_map(read).collect();
    found.sort_by(|one, other| (&one.from, &one.to).cmp(&(&other.from, &other.to)));
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_that_keeps_its_law_without_ecn_was_refused_another_law() {
        let name = |name: &str| name.bytes().chain([0; NAME]).take(NAME).collect::<Vec<u8>>();
        let value =
            [&7u64.to_ne_bytes()[..], &"::ffff:10.0.0.2".parse::<Ipv6Addr>().unwrap().octets()].concat();
        let of = |to: &str| Fallback::read(&[name("sf_dctcp"), name(to)].concat(), &value).unwrap();
        assert_eq!(of("cubic").peer.to_string(), "10.0.0.2");
        assert_eq!((of("cubic").reason(), of("cubic").connections), ("no-ecn", 7));
        assert_eq!(of("sf_dctcp").reason(), "refused");
    }
    #[test]
    fn a_host_without_ecn_has_a_time() {
        let mut key = b"sf_dctcp\0\0\0\0\0\0\0\0".to_vec();
        key.extend(77u64.to_ne_bytes());
        key.extend("::ffff:10.0.0.2".parse::<Ipv6Addr>().unwrap().octets());
        let one = OneSided::read(&key, &3_000_000_000u64.to_ne_bytes(), 15_900_000_000).unwrap();
        assert_eq!((one.control.as_str(), one.namespace, one.seconds), ("sf_dctcp", 77, 12));
        assert_eq!(one.peer.to_string(), "10.0.0.2");
    }
}
