//! Routes by which TCP's segments are smaller, for windows below one segment (Eq. 9 of FaST).
//!
//! Linux takes the size of segments from the MTU of the route, and the route from the mark of the socket, which the
//! sender sets (`fit_segments` of sender.h): [`MARK`] + 1 for halves of the full segment, [`MARK`] + 2 for quarters, and
//! so on. For each there are a rule and a table of the same number, with the IPv4 routes of one device.

use super::namespaces::Seen;
use super::stamps::index_of;
use crate::Failure;
use shortflow_cc::TransportConfig;
use shortflow_units::Bytes;
use std::io::{self, Error, Write};
use std::process::{Command, Stdio};

/// `MARK_OF_SIZES` and `SIZES_MOST` of sender.h.
const MARK: u32 = 0x5346_0000;
const MOST: u32 = 7;
/// IPv4, TCP and its timestamps.
const HEADERS: u32 = 52;
/// In the text of a program's parameters, before the device.
const KEY: &str = " segments=";

/// The sizes of segments by one device of this network namespace.
#[derive(Debug, Clone)]
pub struct Segments {
    device: String,
    mtu: u32,
    sizes: u32,
}

impl Segments {
    /// Halves, quarters and so on of what fits into a packet of `device`, down to the transport's smallest segment.
    ///
    /// # Errors
    /// Fails for another transport than FaST, without such a device, and without `ip`.
    pub fn of(device: &str, config: &TransportConfig) -> Result<Segments, Failure> {
        let smallest = config.params().into_iter().find(|param| param.name == "min_segment");
        let smallest: Option<Bytes> = smallest.and_then(|param| param.default.parse().ok());
        let smallest = smallest.ok_or_else(|| {
            Failure::Input("--segments: only the windows of sf_fast fall below one segment".to_owned())
        })?;
        index_of(device)?;
        let link = ip(&format!("-oneline link show dev {device}"), "").map_err(Failure::host(device))?;
        let mtu = link.split(' ').skip_while(|word| *word != "mtu").nth(1).and_then(|mtu| mtu.parse().ok());
        let mtu = mtu.ok_or_else(|| Failure::Host(format!("{device}: ip link shows no mtu")))?;
        Ok(Segments { device: device.to_owned(), mtu, sizes: sizes(mtu, smallest) })
    }

    /// How many there are below the full one.
    pub fn sizes(&self) -> u32 {
        self.sizes
    }

    /// What the program's text says of them.
    pub fn text(&self) -> String {
        format!("{KEY}{}", self.device)
    }

    /// Makes the rules and routes, in place of earlier ones of this network namespace.
    ///
    /// # Errors
    /// Fails without `CAP_NET_ADMIN`.
    pub fn install(&self) -> Result<(), Failure> {
        let Segments { device, mtu, sizes } = self;
        let shown = || ip(&format!("-4 route show table main dev {device}"), "");
        let install = || {
            let routes = shown()?;
            remove_here()?;
            ip("-4 -batch -", &lines(&routes, device, *mtu, *sizes))
        };
        install().map(drop).map_err(Failure::host("--segments"))
    }
}

/// Whether a program with these parameters sets marks.
pub fn has_segments(text: &str) -> bool {
    text.contains(KEY)
}

/// Removes the rules and routes of every network namespace that this process may enter.
///
/// # Errors
/// Fails without `CAP_NET_ADMIN`.
pub fn remove_segments() -> Result<(), Failure> {
    for place in Seen::now()?.namespaces {
        match place.within(remove_here) {
            Err(error) if place.is_here() => return Err(Failure::host("--segments")(error)),
            _ => {}
        }
    }
    Ok(())
}

/// Rules first: routes that nothing leads to do nothing.
fn remove_here() -> io::Result<()> {
    let is_ours = |line: &&str| tables().any(|table| line.ends_with(&format!("lookup {table}")));
    let rules = ip("-4 rule show", "")?;
    let rules = rules.lines().map(str::trim).filter(is_ours).filter_map(|rule| rule.rsplit(' ').next());
    let lines: String = rules.map(|table| format!("rule del table {table}\n")).collect();
    ip("-4 -batch -", &lines)?;
    let routes = ip("-4 route show table all", "")?;
    let has = |table: &u32| routes.contains(&format!("table {table} "));
    let lines: String = tables().filter(has).map(|table| format!("route flush table {table}\n")).collect();
    ip("-4 -batch -", &lines).map(drop)
}

fn tables() -> impl Iterator<Item = u32> {
    (1..=MOST).map(|size| MARK + size)
}

/// How often the full segment can be halved.
fn sizes(mtu: u32, smallest: Bytes) -> u32 {
    let full = mtu.saturating_sub(HEADERS);
    (1..=MOST).take_while(|size| u64::from(full >> size) >= smallest.get().max(16)).count() as u32
}

/// For `ip -batch`: each of the routes with the MTU of each size, and the rules that lead there.
fn lines(routes: &str, device: &str, mtu: u32, sizes: u32) -> String {
    let mut lines = String::new();
    for size in 1..=sizes {
        let (table, mtu) = (MARK + size, HEADERS + ((mtu - HEADERS) >> size));
        for route in routes.lines().map(without_mtu) {
            lines += &format!("route replace {route} dev {device} mtu lock {mtu} table {table}\n");
        }
        lines += &format!("rule add fwmark {table} table {table}\n");
    }
    lines
}

/// A route as `ip route show` prints it, without what is only shown and without its own MTU.
fn without_mtu(route: &str) -> String {
    let mut words = route.split_whitespace().peekable();
    let mut kept = Vec::new();
    while let Some(word) = words.next() {
        match word {
            "mtu" => {
                words.next_if_eq(&"lock");
                words.next();
            }
            "linkdown" | "dead" => {}
            _ => kept.push(word),
        }
    }
    kept.join(" ")
}

/// What `ip` of iproute2 prints.
fn ip(arguments: &str, input: &str) -> io::Result<String> {
    let named = |error: Error| Error::new(error.kind(), format!("ip (of iproute2): {error}"));
    let pipes = [Stdio::piped(), Stdio::piped(), Stdio::piped()];
    let [stdin, stdout, stderr] = pipes;
    let mut command = Command::new("ip");
    let mut child = command
        .args(arguments.split(' '))
        .stdin(stdin)
        .stdout(stdout)
        .stderr(stderr)
        .spawn()
        .map_err(named)?;
    if let Some(mut pipe) = child.stdin.take() {
        pipe.write_all(input.as_bytes())?;
    }
    let output = child.wait_with_output()?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    Err(Error::other(format!("ip {arguments}: {}", String::from_utf8_lossy(&output.stderr).trim())))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1448 bytes: 724, 362, 181; 90 is less than 100. Of a jumbo frame 8948 / 2^6 = 139.
    #[test]
    fn segments_halve_down_to_the_smallest() {
        assert_eq!(sizes(1500, Bytes::new(100)), 3);
        assert_eq!(sizes(9000, Bytes::new(100)), 6);
        assert_eq!(sizes(9000, Bytes::new(1)), 7);
        assert_eq!(sizes(40, Bytes::new(1)), 0);
    }

    #[test]
    fn every_size_has_the_routes_with_its_mtu_and_a_rule() {
        let routes =
            "default via 10.0.0.1 proto dhcp mtu lock 1400 metric 5 linkdown \n10.0.0.0/24 scope link \n";
        let expected = "route replace default via 10.0.0.1 proto dhcp metric 5 dev e mtu lock 776 table 1397096449\n\
             route replace 10.0.0.0/24 scope link dev e mtu lock 776 table 1397096449\n\
             rule add fwmark 1397096449 table 1397096449\n";
        assert_eq!(lines(routes, "e", 1500, 1), expected);
    }
}
