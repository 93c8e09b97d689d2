//! Routes whose new connections use a congestion control: `load --route`.
//!
//! Such a route is a copy of the host's route to its destination, with the control and with [`PROTOCOL`]. The kernel
//! prefers the copy and keeps the host's route, so `unload` only has to remove the copy. A record among the pins says
//! which routes there should be (route_records.rs).

use super::iproute::{ip, is_typed, value_of, without, words_of};
use super::namespaces::{Place, Seen, inode_here};
use super::pins::Pins;
use super::prefix::Prefix;
use super::route_records::Record;
use crate::warning::warn;
use crate::{Failure, check};
use shortflow_units::Span;
use std::cmp::Reverse;
use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Protocol number of our routes, unassigned in linux/rtnetlink.h and in iproute2.
const PROTOCOL: u32 = 83;
/// Words of a route that a copy does not take over.
const OWN: [&str; 6] = ["proto", "metric", "congctl", "nhid", "pref", "expires"];

/// A route for `load` to make.
#[derive(Debug, Clone)]
pub struct NewRoute {
    prefix: Prefix,
    /// Words of the host's route, with the smallest timeout.
    words: String,
}

/// A route that `load` has made, and the earlier one that it replaced.
#[derive(Debug)]
pub struct Installed {
    record: Record,
    earlier: Option<Route>,
}

impl NewRoute {
    /// Copies the host's route to `prefix`, with a smallest retransmission timeout if one is given.
    /// Fails without `ip`, without a route to `prefix`, if this route has several next hops, and if the addresses of
    /// `prefix` are the host's own.
    pub fn of(prefix: Prefix, rto_min: Option<Span>) -> Result<NewRoute, Failure> {
        let wrong = |why| Failure::Input(format!("--route {prefix}: {why}"));
        refuse_own(&prefix).map_err(Failure::host("--route"))?.map_err(wrong)?;
        let words = host_route(&prefix).map_err(Failure::host("--route"))?.map_err(wrong)?;
        let words = match rto_min {
            Some(least) => format!("{} rto_min {}", without(&["rto_min"], &words_of(&words)), least),
            None => words,
        };
        Ok(NewRoute { prefix, words })
    }

    /// Makes the route, in place of an earlier one of `load` to the same prefix.
    /// Fails without `CAP_NET_ADMIN`, or if the kernel does not know `control`. The earlier route stays then.
    pub fn install(&self, control: &str, pins: &Pins) -> Result<Installed, Failure> {
        let NewRoute { prefix, words } = self;
        let record = Record { inode: inode_here()?, control: control.to_owned(), prefix: *prefix };
        let present = here().map_err(Failure::host("--route"))?;
        let installed =
            Installed { earlier: present.into_iter().find(|route| route.prefix == *prefix), record };
        installed.record.write(pins)?;
        let removal = installed.earlier.as_ref().map_or(String::new(), |_| deletion(prefix));
        let lines = removal + &addition(prefix, &format!("{words} congctl {control}"));
        if let Err(error) = batch(prefix, &lines) {
            installed.undo(pins);
            return Err(Failure::host(format_args!("--route {prefix}"))(error));
        }
        for other in Record::all(pins) {
            let is_replaced = other.prefix == *prefix && other.inode == installed.record.inode;
            if is_replaced && other != installed.record {
                other.forget(pins)?;
            }
        }
        Ok(installed)
    }

    /// Destination of the route.
    pub fn prefix(&self) -> Prefix {
        self.prefix
    }
}

impl Installed {
    /// The earlier route of `load` to the same prefix.
    pub fn earlier(&self) -> Option<&Route> {
        self.earlier.as_ref()
    }

    /// Removes the route, and makes the earlier one again. Prints a warning if this fails.
    pub fn undo(&self, pins: &Pins) {
        let prefix = &self.record.prefix;
        // The kernel has no such route if it refused to make it.
        let _ = batch(prefix, &deletion(prefix));
        let mut is_same = false;
        if let Some(earlier) = &self.earlier {
            let control = earlier.control.clone().unwrap_or_else(|| self.record.control.clone());
            let record = Record { control, ..self.record.clone() };
            is_same = record == self.record;
            let restored = record.write(pins).and_then(|()| {
                batch(prefix, &addition(prefix, &earlier.words))
                    .map_err(Failure::host(format_args!("{earlier}")))
            });
            if let Err(failure) = restored {
                warn(&format_args!("the route of an earlier load is lost: {failure}"));
            }
        }
        if !is_same && let Err(failure) = self.record.forget(pins) {
            warn(&failure);
        }
    }
}

/// An error, as the inner result, says why no connection can use a route to this prefix.
fn refuse_own(prefix: &Prefix) -> io::Result<Result<(), String>> {
    let shown = ip(&format!("{} -oneline route show table local", prefix.family()), "")?;
    Ok(own(prefix, &shown).map_or(Ok(()), Err))
}

/// The reason why TCP connections to this prefix use no route of table `main`; `shown` are the routes of table
/// `local`.
fn own(prefix: &Prefix, shown: &str) -> Option<String> {
    let remedy = "name addresses of other hosts";
    if prefix.first.is_multicast() {
        return Some(format!("a multicast address, to which TCP has no connections; {remedy}"));
    }
    let loopback = ["127.0.0.0/8", "::1"].map(|text| text.parse::<Prefix>());
    if loopback.iter().flatten().any(|loopback| loopback.covers(prefix)) {
        return Some(format!("a loopback address, whose connections use no route of table main; {remedy}"));
    }
    let is_own = |line: &&str| {
        let words = words_of(line);
        let to = words.get(1).and_then(|to| Prefix::of_route(to, prefix.widest()));
        matches!(words.first(), Some(&("local" | "broadcast" | "anycast")))
            && to.is_some_and(|to| to.covers(prefix))
    };
    let line = shown.lines().find(is_own)?;
    Some(format!(
        "an address of this host ({}), whose connections use no route of table main; {remedy}",
        line.trim()
    ))
}

/// Words behind the destination of the host's route to `prefix`. An error, as the inner result, says why this route
/// cannot be copied.
fn host_route(prefix: &Prefix) -> io::Result<Result<String, String>> {
    ip(&format!("{} -oneline route show to match {prefix} table main", prefix.family()), "")
        .map(|shown| copied(&shown))
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
    Ok(without(&OWN, &words[1..]))
}

fn deletion(prefix: &Prefix) -> String {
    format!("route del {prefix} proto {PROTOCOL}\n")
}

/// The line that makes a route of these words before the host's. Of equal routes, IPv4 uses the first, and IPv6 the
/// one with the smallest metric.
fn addition(prefix: &Prefix, words: &str) -> String {
    let (verb, metric) = if prefix.first.is_ipv4() { ("prepend", "") } else { ("add", " metric 1") };
    format!("route {verb} {prefix} {words}{metric} proto {PROTOCOL}\n")
}

fn batch(prefix: &Prefix, lines: &str) -> io::Result<()> {
    ip(&format!("{} -batch -", prefix.family()), lines).map(drop)
}

/// A route of `load --route`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    /// Number of the route's network namespace; 0 if unknown.
    pub inode: u64,
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
    /// Difference from the host's route, in words, if `routes` has looked for one.
    pub change: Option<String>,
    /// Words behind the destination, as `ip` accepts them.
    words: String,
}

impl Route {
    /// Reads a line of `ip -oneline route show`.
    fn read(line: &str, widest: IpAddr) -> Option<Route> {
        let words = words_of(line);
        let value = |key| value_of(key, &words).map(str::to_owned);
        let prefix = Prefix::of_route(words.first()?, widest)?;
        Some(Route {
            inode: 0,
            namespace: None,
            prefix,
            device: value("dev")?,
            control: value("congctl"),
            rto_min: value("rto_min"),
            change: None,
            words: without(&["proto", "metric", "nhid", "pref", "expires"], &words[1..]),
        })
    }

    /// Settings of the route in words, such as `sf_dctcp, rto_min 10ms`.
    pub fn settings(&self) -> String {
        let control = self.control.as_deref().unwrap_or("no loaded congestion control");
        let rto_min = self.rto_min.as_ref().map_or(String::new(), |least| format!(", rto_min {least}"));
        format!("{control}{rto_min}")
    }

    /// The route, and its difference from what `load` would copy now.
    fn checked(self) -> io::Result<Route> {
        const OTHER: [&str; 2] = ["congctl", "rto_min"];
        let change = match host_route(&self.prefix)? {
            Ok(now) => {
                let (kept, now) = (without(&OTHER, &words_of(&self.words)), without(&OTHER, &words_of(&now)));
                (kept != now).then(|| format!("the host's route is now `{now}`, the copy is `{kept}`"))
            }
            Err(why) => Some(format!("the host's route has changed: {why}")),
        };
        Ok(Route { change, ..self })
    }

    /// The command that removes the route.
    fn removal(&self) -> String {
        removal(&self.prefix, self.namespace.as_deref())
    }
}

impl fmt::Display for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "route to {} by {}", self.prefix, self.device)?;
        self.namespace.as_ref().map_or(Ok(()), |namespace| write!(f, " of {namespace}"))
    }
}

/// The command that removes a route to `prefix`.
fn removal(prefix: &Prefix, namespace: Option<&str>) -> String {
    let enter = namespace.map_or(String::new(), |file| format!("nsenter --net={file} "));
    format!("{enter}ip {} route del {prefix} proto {PROTOCOL}", prefix.family())
}

/// Routes of `load --route` in this namespace. A kernel without IPv6 has no IPv6 routes.
fn here() -> io::Result<Vec<Route>> {
    let shown = |family| ip(&format!("{family} -oneline route show table main proto {PROTOCOL}"), "");
    let (old, new) = (shown("-4")?, shown("-6").unwrap_or_default());
    let old = old.lines().map(|line| (line, IpAddr::from(Ipv4Addr::UNSPECIFIED)));
    let new = new.lines().map(|line| (line, IpAddr::from(Ipv6Addr::UNSPECIFIED)));
    Ok(old.chain(new).filter_map(|(line, widest)| Route::read(line, widest)).collect())
}

/// A network namespace, or the number of one that was not found, with the records of its routes.
struct Visit<T> {
    place: Option<Place>,
    outcome: io::Result<T>,
    records: Vec<Record>,
}

/// Runs `action` in every network namespace that this process can find. Namespaces with records that are gone lose
/// these records; namespaces that may be hidden are visits without a place.
fn visit<T: Send>(pins: &Pins, action: impl Fn() -> io::Result<T> + Sync) -> Result<Vec<Visit<T>>, Failure> {
    let mut recorded = Record::all(pins);
    let Seen { namespaces, hidden } = Seen::now()?;
    let mut visits = Vec::new();
    for place in namespaces {
        let records = recorded.extract_if(.., |record| record.inode == place.inode).collect();
        visits.push(Visit { outcome: place.within(&action), place: Some(place), records });
    }
    // Some hosts have processes that nobody may inspect. A namespace that only such processes use counts as gone.
    let is_gone = hidden == 0 || check::may_inspect_all();
    for record in recorded {
        if is_gone {
            record.forget(pins)?;
            continue;
        }
        let why = "it is not among the namespaces that may be inspected (CAP_SYS_ADMIN and CAP_SYS_PTRACE show all)";
        visits.push(Visit { place: None, outcome: Err(io::Error::other(why)), records: vec![record] });
    }
    Ok(visits)
}

impl<T> Visit<T> {
    /// Lines about the recorded routes of `which` controls, if the visit failed; also a line about this namespace if
    /// nothing is recorded. A host without `ip` has no routes of `load`, unless some are recorded.
    fn problems(&self, which: impl Fn(&str) -> bool) -> Vec<String> {
        let Err(error) = &self.outcome else { return Vec::new() };
        let file = self.place.as_ref().and_then(Place::path);
        let is_here = self.place.as_ref().is_some_and(Place::is_here);
        let line = |record: &Record| {
            let of = if is_here { String::new() } else { format!(" of network namespace {}", record.inode) };
            let inside = if self.place.is_none() { "run there " } else { "" };
            format!(
                "route to {}{of} with {}: it cannot be read or removed: {error}; {inside}`{}` removes it",
                record.prefix,
                record.control,
                removal(&record.prefix, file.as_deref())
            )
        };
        let records = self.records.iter().filter(|record| which(&record.control));
        let mut lines: Vec<String> = records.map(line).collect();
        if self.records.is_empty() && is_here && error.kind() != io::ErrorKind::NotFound {
            lines.push(format!("routes of --route: they cannot be read: {error}"));
        }
        lines
    }
}

/// Routes of `load --route` in all network namespaces, and lines about recorded routes that cannot be seen or are gone.
/// Fails if namespaces cannot be found.
pub fn routes(pins: &Pins) -> Result<(Vec<Route>, Vec<String>), Failure> {
    let (mut found, mut lines) = (Vec::new(), Vec::new());
    for visit in visit(pins, || here()?.into_iter().map(Route::checked).collect::<io::Result<Vec<_>>>())? {
        lines.extend(visit.problems(|_| true));
        let (Ok(routes), Some(place)) = (visit.outcome, visit.place) else { continue };
        for record in visit.records {
            if !routes.iter().any(|route| route.prefix == record.prefix) {
                let of = place.path().map_or(String::new(), |file| format!(" of {file}"));
                let Record { control, prefix, .. } = record;
                lines.push(format!(
                    "route to {prefix}{of}: the kernel no longer has it, so new connections do not use {control}; \
                     run `load {control} --route {prefix}` again"
                ));
            }
        }
        found.extend(routes.into_iter().map(|route| Route {
            namespace: place.path(),
            inode: place.inode,
            ..route
        }));
    }
    Ok((found, lines))
}

/// Result of [`remove_routes`].
#[derive(Debug, Default)]
pub struct Removed {
    /// The removed routes.
    pub routes: Vec<Route>,
    /// A line with the necessary command for each route that remains.
    pub remaining: Vec<String>,
}

/// Removes the routes whose control is `leaving`, in all network namespaces, and their records.
/// Fails if namespaces cannot be found, or a record cannot be changed.
pub fn remove_routes(pins: &Pins, leaving: impl Fn(Option<&str>) -> bool + Sync) -> Result<Removed, Failure> {
    let mut removed = Removed::default();
    let visits = visit(pins, || {
        let routes = here()?.into_iter().filter(|route| leaving(route.control.as_deref()));
        Ok(routes.map(|route| (batch(&route.prefix, &deletion(&route.prefix)), route)).collect::<Vec<_>>())
    })?;
    for visit in visits {
        removed.remaining.extend(visit.problems(|control| leaving(Some(control))));
        let (Ok(routes), Some(place)) = (visit.outcome, visit.place) else { continue };
        let mut kept = Vec::new();
        for (done, route) in routes {
            let route = Route { namespace: place.path(), inode: place.inode, ..route };
            match done {
                Ok(()) => removed.routes.push(route),
                Err(error) => {
                    kept.push(route.prefix);
                    removed.remaining.push(format!("{route}: {error}; `{}` removes it", route.removal()));
                }
            }
        }
        let is_over = |record: &&Record| leaving(Some(&record.control)) && !kept.contains(&record.prefix);
        visit.records.iter().filter(is_over).try_for_each(|record| record.forget(pins))?;
    }
    Ok(removed)
}

/// Makes the routes of the control `name` again, in all network namespaces. A route keeps the ECN needs that the
/// control had when the route was made. Returns a line for each route or namespace in which this failed.
/// Fails if namespaces cannot be found.
pub fn renew_routes(pins: &Pins, name: &str) -> Result<Vec<String>, Failure> {
    if !Record::all(pins).iter().any(|record| record.control == name) {
        return Ok(Vec::new());
    }
    let visits = visit(pins, || {
        for route in here()?.iter().filter(|route| route.control.as_deref() == Some(name)) {
            batch(&route.prefix, &(deletion(&route.prefix) + &addition(&route.prefix, &route.words)))?;
        }
        Ok(())
    })?;
    let line = |visit: &Visit<()>| {
        let is_affected = visit.records.iter().any(|record| record.control == name);
        let error = visit.outcome.as_ref().err().filter(|_| is_affected)?;
        let inode = visit.records.first()?.inode;
        Some(format!(
            "network namespace {inode}: routes of {name} may keep the ECN needs of the replaced program: {error}; \
             run `load {name}` with `--route` there again"
        ))
    };
    Ok(visits.iter().filter_map(line).collect())
}

/// True if a route of a control that `is_loaded` does not know is recorded.
pub(super) fn are_left(pins: &Pins, is_loaded: impl Fn(&str) -> bool) -> bool {
    Record::all(pins).iter().any(|record| !is_loaded(&record.control))
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
    fn a_line_of_the_kernel() {
        let line =
            "10.0.0.0/24 dev e proto 83 scope link src 10.0.0.1 linkdown rto_min lock 10ms congctl sf_dctcp ";
        let route = Route::read(line, Ipv4Addr::UNSPECIFIED.into()).unwrap();
        assert_eq!((route.prefix.to_string().as_str(), route.device.as_str()), ("10.0.0.0/24", "e"));
        assert_eq!(route.settings(), "sf_dctcp, rto_min 10ms");
        // `ip` prints a lock of rto_min, and does not accept it.
        assert_eq!(route.words, "dev e scope link src 10.0.0.1 rto_min 10ms congctl sf_dctcp");
        assert_eq!(route.removal(), "ip -4 route del 10.0.0.0/24 proto 83");
        let other = Route::read("10.0.0.7 dev e", Ipv4Addr::UNSPECIFIED.into()).unwrap();
        assert_eq!(other.settings(), "no loaded congestion control");
    }

    #[test]
    fn addresses_of_the_host_are_refused() {
        let old = "local 10.0.0.1 dev e proto kernel scope host src 10.0.0.1 \n\
             broadcast 10.0.0.255 dev e proto kernel scope link src 10.0.0.1 \n";
        let new = "local fd00::1 dev e proto kernel metric 0 pref medium\n\
             multicast ff00::/8 dev e proto kernel metric 256 pref medium\n";
        let refused = |prefix: &str, shown: &str| own(&prefix.parse().unwrap(), shown);
        for (prefix, shown, why) in [
            ("10.0.0.1", old, "of this host (local 10.0.0.1 dev e"),
            ("10.0.0.255", old, "of this host (broadcast"),
            ("127.0.0.1", "", "a loopback address"),
            ("127.0.0.0/8", "", "a loopback address"),
            ("224.0.0.0/4", "", "a multicast address"),
            ("fd00::1", new, "of this host (local fd00::1"),
            ("::1", new, "a loopback address"),
            ("ff02::1", new, "a multicast address"),
        ] {
            assert!(refused(prefix, shown).unwrap().contains(why), "{prefix}");
        }
        for (prefix, shown) in [("10.0.0.0/24", old), ("10.0.0.2", old), ("0.0.0.0/0", old), ("::/0", new)] {
            assert_eq!(refused(prefix, shown), None, "{prefix}");
        }
    }
}
