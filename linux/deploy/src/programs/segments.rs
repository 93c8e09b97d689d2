//! Routes with smaller TCP segments, for windows below one segment (Eq. 9 of FaST).
//!
//! Linux takes the size of segments from the MTU of the route, and the route from the mark of the socket, which the
//! sender sets (`fit_segments` in sender.bpf.c): [`MARK`] + 1 for halves of the full segment, [`MARK`] + 2 for
//! quarters, and so on. Each mark has a rule and a table of the same number, with the IPv4 routes of one device. The
//! sender marks only connections that use this device, and no connection that the application has marked.
//!
//! A directory among the pins records the network namespaces that have such routes.

use super::config::loaded_text;
use super::dscp::index_of;
use super::iproute::{ip, is_typed, without, words_of};
use super::namespaces::{Place, Seen, inode_here};
use super::pins::Pins;
use crate::{Failure, check};
use shortflow_cc::TransportConfig;
use shortflow_units::Bytes;
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;

/// `MARK_OF_SIZES` and `SIZES_MOST` of sender.bpf.c.
const MARK: u32 = 0x5346_0000;
const MOST: u32 = 7;
/// Bytes of the headers: IPv4, TCP and its timestamps.
const HEADERS: u32 = 52;
/// Text before the device in a program's parameters.
const KEY: &str = " segments=";
/// `IFNAMSIZ` of the kernel.
const NAME: usize = 16;
/// Priority of our rules; the rule of the main table has 32766.
const PRIORITY: u32 = 32765;
/// Directory that records the network namespaces with such routes, by number.
pub(super) const RECORD: &str = "segments";

/// Sizes of segments on one device of this network namespace.
#[derive(Debug, Clone)]
pub struct Segments {
    device: String,
    sizes: u32,
    /// Lines for `ip -batch`.
    lines: String,
    shared: Vec<String>,
}

impl Segments {
    /// Halves, quarters and so on of a packet's payload on `device`, down to the transport's smallest segment.
    /// Fails for another transport than FaST, without such a device, if no IPv4 route uses only this device, and
    /// without `ip`.
    pub fn of(device: &str, config: &TransportConfig) -> Result<Segments, Failure> {
        let smallest = config.params().iter().find(|param| param.name == "min_segment");
        let smallest: Option<Bytes> = smallest.and_then(|param| param.default.parse().ok());
        let smallest = smallest.ok_or_else(|| {
            Failure::Input(
                "--segments: needs sf_fast, the only control with windows below one segment".to_owned(),
            )
        })?;
        index_of(device)?;
        let link = ip(&format!("-oneline link show dev {device}"), "").map_err(Failure::host(device))?;
        let mtu = link.split(' ').skip_while(|word| *word != "mtu").nth(1).and_then(|mtu| mtu.parse().ok());
        let mtu = mtu.ok_or_else(|| Failure::Host(format!("{device}: `ip link` shows no MTU")))?;
        let shown = ip("-4 -oneline route show table main", "").map_err(Failure::host("--segments"))?;
        let routes: Vec<Route> = shown.lines().map(|line| Route::read(line, device)).collect();
        if !routes.iter().any(|route| matches!(route, Route::Copied(_))) {
            let why = format!("--segments: no IPv4 route of table main uses {device} alone");
            return Err(Failure::Input(why));
        }
        let is_shared = |line: &&str| line.contains("nexthop") && line.contains(&format!(" dev {device} "));
        let shared = shown.lines().filter(is_shared).map(|line| line.trim().to_owned()).collect();
        let sizes = sizes(mtu, smallest);
        Ok(Segments { device: device.to_owned(), sizes, lines: lines(&routes, mtu, sizes), shared })
    }

    /// Contents of `sizes` and `device` in sender.bpf.c.
    pub(super) fn config(segments: Option<&Segments>) -> Vec<u8> {
        let sizes = u64::from(segments.map_or(0, |segments| segments.sizes));
        let mut bytes = sizes.to_ne_bytes().to_vec();
        bytes.extend(segments.map_or("", |segments| &segments.device).bytes().take(NAME - 1));
        bytes.resize(size_of::<u64>() + NAME, 0);
        bytes
    }

    /// Text about the device, for the program's parameters.
    pub fn text(&self) -> String {
        format!("{KEY}{}", self.device)
    }

    /// Routes over several devices, whose connections keep whole segments.
    pub fn shared(&self) -> &[String] {
        &self.shared
    }

    /// Makes the rules and routes, and replaces earlier ones of this network namespace.
    /// Fails without `CAP_NET_ADMIN`.
    pub fn install(&self, pins: &Pins) -> Result<(), Failure> {
        // The record comes before the first rule, so that a later command removes the rules after any failure.
        let record = pins.path(RECORD).join(inode_here()?.to_string());
        fs::create_dir_all(&record).map_err(Failure::host(record.display()))?;
        let installed = remove_here().and_then(|()| ip("-4 -batch -", &self.lines));
        installed.map(drop).map_err(Failure::host("--segments"))
    }
}

/// True if a program with these parameters sets marks.
pub fn has_segments(text: &str) -> bool {
    text.contains(KEY)
}

/// True if a registered program sets marks.
pub(super) fn are_used(pins: &Pins, loaded: &[String]) -> bool {
    loaded.iter().any(|name| loaded_text(pins, name).is_ok_and(|text| has_segments(&text)))
}

/// Removes the rules and routes of all network namespaces that have some. Returns a line for each namespace in which
/// this failed, whose record stays.
/// Fails if the record cannot be changed.
pub fn remove_segments(pins: &Pins) -> Result<Vec<String>, Failure> {
    let record = pins.path(RECORD);
    let mut recorded: BTreeSet<String> = names_in(&record);
    let mut warnings = Vec::new();
    if recorded.is_empty() {
        return Ok(warnings);
    }
    let forget = |inode: &str| {
        let path = record.join(inode);
        fs::remove_dir(&path).map_err(Failure::host(path.display()))
    };
    let Seen { namespaces, hidden } = Seen::now()?;
    // Some hosts have processes that nobody may inspect. A namespace that only such processes use counts as gone.
    let is_gone = hidden == 0 || check::may_inspect_all();
    for place in namespaces {
        let inode = place.inode.to_string();
        if !recorded.remove(&inode) {
            continue;
        }
        match place.within(remove_here) {
            Ok(()) => forget(&inode)?,
            Err(error) => {
                warnings.push(format!("network namespace {inode}: routes of --segments remain: {error}"))
            }
        }
    }
    for inode in recorded {
        if is_gone {
            forget(&inode)?;
            continue;
        }
        warnings.push(format!(
            "network namespace {inode}: not found among those that may be inspected (CAP_SYS_ADMIN and \
             CAP_SYS_PTRACE show all); routes of --segments remain there until the next command with these rights"
        ));
    }
    Ok(warnings)
}

/// Removes rules and routes whose record is gone, in the network namespaces that this process may enter. Returns a line
/// for each namespace that had some. A host without `ip` has none.
pub(super) fn remove_unrecorded() -> Vec<String> {
    let namespaces = Seen::now().map(|seen| seen.namespaces).unwrap_or_default();
    let had_some = |place: &Place| {
        place
            .within(|| Ok(!rules_here()?.is_empty()).and_then(|has| remove_here().map(|()| has)))
            .unwrap_or(false)
    };
    let line =
        |place: Place| format!("network namespace {}: rules and routes of --segments removed", place.inode);
    namespaces.into_iter().filter(had_some).map(line).collect()
}

fn names_in(directory: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().into_string().ok()).collect()
}

/// Removes our rules and routes in this namespace. Rules go first, because routes without a rule have no effect.
fn remove_here() -> io::Result<()> {
    let lines: String = rules_here()?.iter().map(|table| format!("rule del table {table}\n")).collect();
    ip("-4 -batch -", &lines)?;
    let routes = ip("-4 route show table all", "")?;
    let has = |table: &u32| routes.contains(&format!("table {table} "));
    let lines: String = tables().filter(has).map(|table| format!("route flush table {table}\n")).collect();
    ip("-4 -batch -", &lines).map(drop)
}

/// Tables of our rules in this namespace.
fn rules_here() -> io::Result<Vec<String>> {
    let is_ours = |line: &&str| tables().any(|table| line.ends_with(&format!("lookup {table}")));
    let rules = ip("-4 rule show", "")?;
    let tables = rules.lines().map(str::trim).filter(is_ours).filter_map(|rule| rule.rsplit(' ').next());
    Ok(tables.map(str::to_owned).collect())
}

fn tables() -> impl Iterator<Item = u32> {
    (1..=MOST).map(|size| MARK + size)
}

/// Number of halvings of the full segment that stay at or above `smallest`.
fn sizes(mtu: u32, smallest: Bytes) -> u32 {
    let full = mtu.saturating_sub(HEADERS);
    (1..=MOST).take_while(|size| u64::from(full >> size) >= smallest.get().max(16)).count() as u32
}

/// Form that a route of the main table has in the table of each size.
enum Route {
    /// A copy with a smaller MTU, for a route by the device.
    Copied(String),
    /// A `throw` to the main table, with these words for the destination, for a route elsewhere or without a device.
    Thrown(String),
}

impl Route {
    /// Reads a line of `ip -oneline route show`.
    fn read(line: &str, device: &str) -> Route {
        let words = words_of(line);
        let has = |name: &str, value: &str| words.windows(2).any(|pair| pair == [name, value]);
        let is_typed = is_typed(&words);
        if has("dev", device) && !words.contains(&"nexthop") && !is_typed {
            return Route::Copied(without(&["mtu", "nhid"], &words));
        }
        let to = if is_typed { words.get(1) } else { words.first() };
        let mut kept: Vec<&str> = to.copied().into_iter().collect();
        for pair in words.windows(2).filter(|pair| matches!(pair[0], "metric" | "tos")) {
            kept.extend(pair);
        }
        Route::Thrown(kept.join(" "))
    }
}

/// Lines for `ip -batch`: a table for each size, and the rule that selects it. These rules are tried after the host's
/// own rules and just before the main table, which has all other destinations.
fn lines(routes: &[Route], mtu: u32, sizes: u32) -> String {
    let mut lines = String::new();
    for size in 1..=sizes {
        let (table, mtu) = (MARK + size, HEADERS + ((mtu - HEADERS) >> size));
        for route in routes {
            lines += &match route {
                Route::Copied(route) => format!("route append {route} mtu lock {mtu} table {table}\n"),
                Route::Thrown(to) => format!("route append throw {to} table {table}\n"),
            };
        }
        lines += &format!("rule add fwmark {table} table {table} priority {PRIORITY}\n");
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1448 bytes give 724, 362 and 181; 90 is below 100. A jumbo frame of 8948 bytes gives 8948 / 2^6 = 139.
    #[test]
    fn segments_halve_down_to_the_smallest() {
        assert_eq!(sizes(1500, Bytes::new(100)), 3);
        assert_eq!(sizes(9000, Bytes::new(100)), 6);
        assert_eq!(sizes(9000, Bytes::new(1)), 7);
        assert_eq!(sizes(40, Bytes::new(1)), 0);
    }

    #[test]
    fn every_size_has_the_routes_with_its_mtu_and_a_rule() {
        let shown = "default via 10.0.0.1 dev e proto dhcp mtu lock 1400 metric 5 linkdown \n\
             10.0.0.0/24 dev e scope link \n\
             10.2.0.0/16 dev f proto kernel scope link src 10.2.0.1 metric 7 \n\
             unreachable 10.3.0.0/16 metric 9 \n\
             10.4.0.0/16 proto static \\\tnexthop via 10.0.0.1 dev e weight 1 \\\tnexthop via 10.2.0.1 dev f weight 1 \n";
        let routes: Vec<Route> = shown.lines().map(|line| Route::read(line, "e")).collect();
        let expected = "route append default via 10.0.0.1 dev e proto dhcp metric 5 mtu lock 776 table 1397096449\n\
             route append 10.0.0.0/24 dev e scope link mtu lock 776 table 1397096449\n\
             route append throw 10.2.0.0/16 metric 7 table 1397096449\n\
             route append throw 10.3.0.0/16 metric 9 table 1397096449\n\
             route append throw 10.4.0.0/16 table 1397096449\n\
             rule add fwmark 1397096449 table 1397096449 priority 32765\n";
        assert_eq!(lines(&routes, 1500, 1), expected);
    }
}
