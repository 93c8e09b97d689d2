//! Files that scenarios name: traces, size distributions and networks.

use crate::choices::Choices;

/// A trace of flows, in the order of their starts.
pub(crate) fn trace(choices: &mut Choices, hosts: u64) -> String {
    let mut text = "start,source,destination,bytes,deadline,class\n".to_owned();
    let hosts = hosts.max(2);
    let mut start = 0;
    for _ in 0..=choices.below(12) {
        start += choices.below(9);
        let source = choices.below(hosts);
        let destination = (source + 1 + choices.below(hosts - 1)) % hosts;
        let deadline = if choices.once_in(2) { "2ms" } else { "" };
        let size = choices.within(1, 60_000);
        text += &format!("{start}us,{source},{destination},{size},{deadline},mice\n");
    }
    text
}

/// A size distribution: rising sizes with rising shares.
pub(crate) fn cdf(choices: &mut Choices) -> String {
    let points = 1 + choices.below(5);
    let mut bytes = 0;
    let mut text = String::new();
    for point in 0..=points {
        bytes += choices.within(1, 20_000);
        text += &format!("{bytes},{}\n", point as f64 / points as f64);
    }
    text
}

/// Name of a node, and `true` for a host.
type Node = (String, bool);

/// A tree of switches with hosts at its ends, sometimes with one more link between switches.
fn network(choices: &mut Choices) -> (Vec<Node>, Vec<(usize, usize)>) {
    let switches = 1 + choices.below(5) as usize;
    let hosts = 1 + switches + choices.below(4) as usize;
    let switch = |i| (format!("s{i}"), false);
    let nodes = (0..switches).map(switch).chain((0..hosts).map(|i| (format!("h{i}"), true))).collect();
    let mut links: Vec<(usize, usize)> = Vec::new();
    for node in 1..switches + hosts {
        // Every switch has a host, so no switch is a dead end.
        let up = match node.checked_sub(switches) {
            Some(host) if host < switches => host,
            _ => choices.below(node.min(switches) as u64) as usize,
        };
        links.push((up, node));
    }
    let extra = (choices.below(switches as u64) as usize, choices.below(switches as u64) as usize);
    let known = links.contains(&extra) || links.contains(&(extra.1, extra.0));
    if extra.0 != extra.1 && !known {
        links.push(extra);
    }
    (nodes, links)
}

/// A list of links with rates and delays; each delay has one of these units.
pub(crate) fn edge_list(choices: &mut Choices, fast: bool, delays: &[&str]) -> String {
    let (nodes, links) = network(choices);
    let mut text = "a,b,rate,delay\n".to_owned();
    for (a, b) in links {
        let (rate, delay, unit) = (rate(choices, fast), choices.below(90), choices.pick(delays));
        text += &format!("{},{},{rate},{delay}{unit}\n", nodes[a].0, nodes[b].0);
    }
    text
}

/// The node file of an edge list.
pub(crate) fn nodes(edge_list: &str) -> String {
    let links = edge_list.lines().skip(1);
    let mut names: Vec<&str> = links.flat_map(|link| link.split(',').take(2)).collect();
    names.sort_unstable();
    names.dedup();
    let node = |name: &str| {
        let kind = if name.starts_with('h') { "host," } else { "switch,leaf" };
        format!("{name},{kind}\n")
    };
    "name,kind,tier\n".to_owned() + &names.into_iter().map(node).collect::<String>()
}

/// A random network as GraphML.
pub(crate) fn graphml(choices: &mut Choices, fast: bool) -> String {
    let (nodes, links) = network(choices);
    let mut text = concat!(
        "<graphml><key id=\"k\" for=\"node\" attr.name=\"kind\"/><key id=\"t\" for=\"node\" attr.name=\"tier\"/>",
        "<key id=\"r\" for=\"edge\" attr.name=\"rate\"/><key id=\"d\" for=\"edge\" attr.name=\"delay\">",
        "<default>10us</default></key><graph edgedefault=\"undirected\">\n"
    )
    .to_owned();
    let tiers = choices.once_in(2);
    for (name, is_host) in &nodes {
        let kind = if *is_host { "host" } else { "switch" };
        let tier = if tiers && !is_host { "<data key=\"t\">leaf</data>" } else { "" };
        text += &format!("<node id=\"{name}\"><data key=\"k\">{kind}</data>{tier}</node>\n");
    }
    for (a, b) in links {
        let (source, target) = (&nodes[a].0, &nodes[b].0);
        let rate = rate(choices, fast);
        text +=
            &format!("<edge source=\"{source}\" target=\"{target}\"><data key=\"r\">{rate}</data></edge>\n");
    }
    text + "</graph></graphml>\n"
}

/// Rate of a link. A `fast` link usually sends a packet within a microsecond. No fast link is so slow compared with
/// the others that a bandwidth-delay product is millions of packets.
pub(crate) fn rate(choices: &mut Choices, fast: bool) -> String {
    if fast {
        let unit = if choices.once_in(4) { "00Mbps" } else { "Gbps" };
        return format!("{}{unit}", choices.within(10, 100));
    }
    let unit = match choices.below(16) {
        0 => *choices.pick(&["bps", "Kbps", "Tbps"]),
        1..=9 => "00Mbps",
        10..=12 => "0Mbps",
        _ => "Gbps",
    };
    format!("{}{unit}", choices.within(1, 20))
}
