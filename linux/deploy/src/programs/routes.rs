//! Routes whose new connections use a congestion control: `load --route`.
//!
//! Such a route is a copy of the host's route to its destination, with the control and with [`PROTOCOL`]. The
//! protocol is the only record of the route. The kernel prefers the copy and keeps the host's route, so `unload` only
//! has to remove the copy.

use super::iproute::{ip, is_typed, value_of, without, words_of};
use super::namespaces::Seen;
use crate::Failure;
use shortflow_units::Span;
use std::cmp::Reverse;
use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

/// Protocol number of our routes, unassigned in linux/rtnetlink.h and in iproute2.
const PROTOCOL: u32 = 83;

/// A prefix: addresses with the same first `length` bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Prefix {
    first: IpAddr,
    length: u8,
}

/// An address as a number, with its number of bits. The upper bits of an IPv4 number are zero.
fn number(address: IpAddr) -> (u128, u8) {
    match address {
        IpAddr::V4(address) => (u128::from(address.to_bits()), 32),
        IpAddr::V6(address) => (address.to_bits(), 128),
    }
}

impl Prefix {
    /// First address of the prefix of this length that contains `address`.
    fn around(address: IpAddr, length: u8) -> IpAddr {
        let (bits, all) = number(address);
        let hosts = u32::from(all - length);
        let kept = bits.checked_shr(hosts).unwrap_or(0).checked_shl(hosts).unwrap_or(0);
        match address {
            IpAddr::V4(_) => Ipv4Addr::from_bits(kept as u32).into(),
            IpAddr::V6(_) => Ipv6Addr::from_bits(kept).into(),
        }
    }

    /// True if `address` is in the prefix.
    pub fn contains(&self, address: IpAddr) -> bool {
        address.is_ipv4() == self.first.is_ipv4() && Prefix::around(address, self.length) == self.first
    }

    /// Argument of `ip` for the address family.
    fn family(&self) -> &'static str {
        if self.first.is_ipv4() { "-4" } else { "-6" }
    }
}

impl FromStr for Prefix {
    type Err = String;

    fn from_str(text: &str) -> Result<Prefix, String> {
        let expected = "expected an address or a prefix, for example 10.0.0.2 or 10.0.0.0/24";
        let (address, length) = text.split_once('/').unwrap_or((text, ""));
        let address: IpAddr = address.parse().map_err(|_| expected)?;
        let all = number(address).1;
        let length = if text.contains('/') { length.parse().map_err(|_| expected)? } else { all };
        if length > all {
            return Err(format!("expected a length of at most {all} bits"));
        }
        let first = Prefix::around(address, length);
        if first != address {
            return Err(format!("the address has bits beyond the prefix; expected {first}/{length}"));
        }
        Ok(Prefix { first, length })
    }
}

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.first)?;
        if self.length == number(self.first).1 { Ok(()) } else { write!(f, "/{}", self.length) }
    }
}

/// A route for `load` to make.
#[derive(Debug, Clone)]
pub struct NewRoute {
    prefix: Prefix,
    /// Words of the host's route, with the smallest timeout.
    words: String,
}

impl NewRoute {
    /// Copies the host's route to `prefix`, with a smallest retransmission timeout if one is given.
    /// Fails without `ip`, without a route to `prefix`, and if this route has several next hops.
    pub fn of(prefix: Prefix, rto_min: Option<Span>) -> Result<NewRoute, Failure> {
        let shown = format!("{} -oneline route show to match {prefix} table main", prefix.family());
        let shown = ip(&shown, "").map_err(Failure::host("--route"))?;
        let words = copied(&shown).map_err(|why| Failure::Input(format!("--route {prefix}: {why}")))?;
        let words = match rto_min {
            Some(least) => format!("{} rto_min {}", without(&["rto_min"], &words_of(&words)), least),
            None => words,
        };
        Ok(NewRoute { prefix, words })
    }

    /// Makes the route, in place of an earlier one of `load` to the same prefix.
    /// Fails without `CAP_NET_ADMIN`, or if the kernel does not know `control`.
    pub fn install(&self, control: &str) -> Result<(), Failure> {
        let NewRoute { prefix, words } = self;
        let is_there = here().map_err(Failure::host("--route"))?.iter().any(|route| route.prefix == *prefix);
        let mut lines = if is_there { deletion(prefix) } else { String::new() };
        // Of equal routes, IPv4 uses the first, and IPv6 the one with the smallest metric.
        let before = if prefix.first.is_ipv4() { ("prepend", "") } else { ("add", " metric 1") };
        lines +=
            &format!("route {} {prefix} {words}{} proto {PROTOCOL} congctl {control}\n", before.0, before.1);
        let done = ip(&format!("{} -batch -", prefix.family()), &lines);
        done.map(drop).map_err(Failure::host(format_args!("--route {prefix}")))
    }

    /// Destination of the route.
    pub fn prefix(&self) -> Prefix {
        self.prefix
    }
}

/// Words behind the destination of the most specific route with the smallest metric, from lines of `ip -oneline route
/// show`.
/// An error says why this route cannot be copied.
fn copied(shown: &str) -> Result<String, String> {
    let routes = shown.lines().map(words_of);
    let ours = PROTOCOL.to_string();
    let routes = routes.filter(|words| value_of("proto", words) != Some(&ours));
    let best = routes.max_by_key(|words| {
        let length = words.first().map_or(0, |to| match to.rsplit_once('/') {
            Some((_, length)) => length.parse().unwrap_or(0),
            None => {
                if *to == "default" {
                    0
                } else {
                    u8::MAX
                }
            }
        });
        let metric: u32 = value_of("metric", words).and_then(|metric| metric.parse().ok()).unwrap_or(0);
        (length, Reverse(metric))
    });
    let words = best.ok_or("no route of table main leads there")?;
    if is_typed(&words) || words.contains(&"nexthop") {
        return Err(format!("needs a route by one device, not: {}", words.join(" ")));
    }
    const OWN: [&str; 6] = ["proto", "metric", "congctl", "nhid", "pref", "expires"];
    Ok(without(&OWN, &words[1..]))
}

fn deletion(prefix: &Prefix) -> String {
    format!("route del {prefix} proto {PROTOCOL}\n")
}

/// A route of `load --route`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    /// A file of the route's network namespace; `None` for this namespace.
    pub namespace: Option<String>,
    /// Destination of the route.
    pub prefix: Prefix,
    /// Device of the route.
    pub device: String,
    /// Congestion control of new connections; `None` if it is not registered.
    pub control: Option<String>,
    /// Smallest retransmission timeout, if the route has one.
    pub rto_min: Option<String>,
}

impl Route {
    /// Reads a line of `ip -oneline route show`, in which both families call their widest prefix `default`.
    fn read(line: &str, widest: IpAddr) -> Option<Route> {
        let words = words_of(line);
        let value = |key| value_of(key, &words).map(str::to_owned);
        let to = *words.first()?;
        let prefix = if to == "default" { Prefix { first: widest, length: 0 } } else { to.parse().ok()? };
        let (control, rto_min) = (value("congctl"), value("rto_min"));
        Some(Route { namespace: None, prefix, device: value("dev")?, control, rto_min })
    }
}

impl fmt::Display for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "route to {} by {}", self.prefix, self.device)?;
        self.namespace.as_ref().map_or(Ok(()), |namespace| write!(f, " of {namespace}"))
    }
}

/// Routes of `load --route` in this namespace. A kernel without IPv6 has no IPv6 routes.
fn here() -> io::Result<Vec<Route>> {
    let shown = |family| ip(&format!("{family} -oneline route show table main proto {PROTOCOL}"), "");
    let (old, new) = (shown("-4")?, shown("-6").unwrap_or_default());
    let old = old.lines().map(|line| (line, IpAddr::from(Ipv4Addr::UNSPECIFIED)));
    let new = new.lines().map(|line| (line, IpAddr::from(Ipv6Addr::UNSPECIFIED)));
    Ok(old.chain(new).filter_map(|(line, widest)| Route::read(line, widest)).collect())
}

/// All routes of `load --route` in the network namespaces that this process may enter; none without `ip`.
/// Fails if the routes of this namespace cannot be read.
pub fn routes() -> Result<Vec<Route>, Failure> {
    Ok(everywhere(here)?.0)
}

/// Removes the routes whose control is `leaving`. Returns these routes, and a line for each namespace in which this
/// failed.
/// Fails without `CAP_NET_ADMIN`.
pub fn remove_routes(
    leaving: impl Fn(Option<&str>) -> bool + Sync,
) -> Result<(Vec<Route>, Vec<String>), Failure> {
    everywhere(|| {
        let found: Vec<Route> =
            here()?.into_iter().filter(|route| leaving(route.control.as_deref())).collect();
        for route in &found {
            ip(&format!("{} -batch -", route.prefix.family()), &deletion(&route.prefix))?;
        }
        Ok(found)
    })
}

fn everywhere(
    find: impl Fn() -> io::Result<Vec<Route>> + Sync,
) -> Result<(Vec<Route>, Vec<String>), Failure> {
    let (mut found, mut warnings) = (Vec::new(), Vec::new());
    for place in Seen::now()?.namespaces {
        match place.within(&find) {
            Ok(routes) => {
                found.extend(routes.into_iter().map(|route| Route { namespace: place.path(), ..route }));
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) if place.is_here() => return Err(Failure::host("routes of --route")(error)),
            Err(error) => {
                warnings.push(format!("network namespace {}: routes of --route: {error}", place.inode));
            }
        }
    }
    Ok((found, warnings))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_specific_route_is_copied_without_its_own_fields() {
        let shown = "default via 10.0.0.254 dev f proto dhcp metric 100 \n\
             10.0.0.0/24 dev e proto kernel scope link src 10.0.0.1 metric 7 linkdown \n\
             10.0.0.0/24 dev e proto dhcp scope link src 10.0.0.9 metric 5 mtu lock 1400 congctl reno \n\
             10.0.0.0/25 dev e proto 83 scope link congctl sf_fast \n";
        assert_eq!(copied(shown).unwrap(), "dev e scope link src 10.0.0.9 mtu lock 1400");
        assert_eq!(
            copied("default via fe80::1 dev e proto ra metric 9 expires 90sec pref high").unwrap(),
            "via fe80::1 dev e"
        );
        assert!(copied("").unwrap_err().contains("no route"));
        assert!(copied("unreachable 10.0.0.0/8 metric 1").unwrap_err().contains("one device"));
        assert!(copied("default \\\tnexthop via 10.0.0.1 dev e weight 1").is_err());
    }

    #[test]
    fn prefixes() {
        let read = |text: &str| text.parse::<Prefix>();
        for text in ["10.0.0.2", "10.0.0.0/24", "0.0.0.0/0", "fd00::2", "fd00::/64", "::/0"] {
            assert_eq!(read(text).unwrap().to_string(), text);
        }
        assert_eq!(read("10.0.0.2/32").unwrap().to_string(), "10.0.0.2");
        assert!(read("10.0.0.5/24").unwrap_err().contains("expected 10.0.0.0/24"));
        assert!(read("10.0.0.0/33").unwrap_err().contains("at most 32 bits"));
        assert!(read("db1").unwrap_err().contains("expected an address"));
        let net = read("10.0.0.0/24").unwrap();
        assert!(net.contains("10.0.0.255".parse().unwrap()) && !net.contains("10.0.1.0".parse().unwrap()));
        assert!(!read("::/0").unwrap().contains("10.0.0.1".parse().unwrap()));
    }

    #[test]
    fn a_line_of_the_kernel() {
        let line = "10.0.0.0/24 dev e scope link src 10.0.0.1 linkdown rto_min lock 10ms congctl sf_dctcp ";
        let route = Route {
            namespace: None,
            prefix: "10.0.0.0/24".parse().unwrap(),
            device: "e".to_owned(),
            control: Some("sf_dctcp".to_owned()),
            rto_min: Some("10ms".to_owned()),
        };
        let (v4, v6) = (Ipv4Addr::UNSPECIFIED.into(), Ipv6Addr::UNSPECIFIED.into());
        assert_eq!(Route::read(line, v4), Some(route));
        assert_eq!(Route::read("10.0.0.7 dev e", v4).unwrap().control, None);
        for (widest, shown) in [(v4, "0.0.0.0/0"), (v6, "::/0")] {
            assert_eq!(Route::read("default dev e metric 1", widest).unwrap().prefix.to_string(), shown);
        }
    }
}
