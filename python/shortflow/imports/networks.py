"""Networks of other tools in Shortflow's form: parallel links, hosts, tiers by distance, and missing parts."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase

from shortflow.errors import ConfigError
from shortflow.imports.hosts import HostsAt
from shortflow.imports.parts import Link, Network, Node, Options, Part
from shortflow.imports.rates import written
from shortflow.quantities import counted, parse

_FEWEST = 2
"""Minimum number of hosts in a scenario."""
_NAME_OR_ADD = (
    "as in --host-names 'srv*', or add hosts to switches, as in --hosts-at 4x10Gbps or --hosts-at 'leaf*=8x25Gbps'"
)
_TIER = re.compile(r"[a-z][a-z0-9_-]*")
_NS_PER_METRE = 5
_TIERS = {1: ("leaf",), 2: ("leaf", "spine"), 3: ("edge", "agg", "core")}


def completed(part: Part, options: Options) -> Part:
    """Completes the network of a part: one link between two nodes, one link per host, and tiers.

    Adds sentences to the part's `notes` and `left_out`. Raises `ConfigError` if there are fewer than two connected
    hosts.
    """
    network = part.network
    assert network
    network = _named_hosts(network, options.host_names)
    network = _without_parallels(network, part)
    network = _with_hosts(network, part, options.hosts_at)
    network = _hosts_of_one_link(network, part)
    if not network.links:
        raise ConfigError(f"{network.origin}: no link joins a host with a switch; a host is linked to a switch")
    network = _linked(network, part)
    if len(network.hosts) < _FEWEST:
        raise ConfigError(
            f"{network.origin}: {network.hosts[0]} is the only host that other nodes reach; expected two or more. Name "
            f"hosts among the nodes, {_NAME_OR_ADD}"
        )
    network = _with_tiers(network, part)
    part.network = network
    return part


def plain_name(text: str) -> str:
    """A name that a scenario's files may have, without commas, quotes and arrows."""
    return " ".join(text.replace("->", "-").replace(",", " ").replace('"', "").split())


def tier_name(text: str) -> str:
    """The text if it can be the name of a tier, else empty. `up` is a key of tiers."""
    return text if _TIER.fullmatch(text) and text != "up" else ""


def cable_delay(metres: float) -> str:
    """Delay of a cable of this length, in the form of a scenario."""
    return f"{metres * _NS_PER_METRE * 1000:.0f}ps"


def few(names: Iterable[str], most: int = 5) -> str:
    """The first names in a sentence, with … for further names."""
    listed = list(names)
    return ", ".join(listed[:most]) + (", …" if len(listed) > most else "")


def _named_hosts(network: Network, patterns: Sequence[str]) -> Network:
    if not patterns:
        return network
    unused = [each for each in patterns if not any(fnmatchcase(node.name, each) for node in network.nodes)]
    if unused:
        raise ConfigError(f'--host-names: "{unused[0]}" matches no node of {network.origin}')
    nodes = [
        replace(node, is_host=any(fnmatchcase(node.name, each) for each in patterns), tier="")
        if any(fnmatchcase(node.name, each) for each in patterns)
        else replace(node, is_host=False)
        for node in network.nodes
    ]
    return replace(network, nodes=nodes)


def _without_parallels(network: Network, part: Part) -> Network:
    between: dict[frozenset[str], list[Link]] = defaultdict(list)
    for link in network.links:
        between[frozenset((link.a, link.b))].append(link)
    loops = [link.a for link in network.links if link.a == link.b]
    if loops:
        part.left_out.append(f"{counted(len(loops), 'link')} from a node to itself: {few(loops)}.")
    links: list[Link] = []
    summed: list[str] = []
    uneven: list[str] = []
    for ends, parallel in between.items():
        if len(ends) == 1:
            continue
        first = parallel[0]
        if len(parallel) > 1:
            rates = [parse(link.rate) for link in parallel]
            total = sum(rate.number * rate.factor for rate in rates if rate)
            summed.append(f"{first.a}-{first.b}")
            uneven += [summed[-1]] if len({link.delay for link in parallel}) > 1 else []
            first = replace(first, rate=written(total) if total else "", unrated=rates.count(None))
        links.append(first)
    if summed:
        part.notes.append(f"Parallel links became one link with the sum of their rates: {few(summed)}.")
    if uneven:
        part.left_out.append(f"Delays of parallel links that differ from the first link's delay: {few(uneven)}.")
    return replace(network, links=links)


def _with_hosts(network: Network, part: Part, wished: Sequence[HostsAt]) -> Network:
    if not wished:
        if network.hosts:
            return network
        names = few((node.name for node in network.nodes), 3)
        raise ConfigError(
            f"{network.origin}: no node is a host ({len(network.nodes)} switches: {names}). Name the hosts among the "
            f"nodes, {_NAME_OR_ADD}"
        )
    taken = {node.name for node in network.nodes}
    nodes, links, number = list(network.nodes), list(network.links), 0
    for wish in wished:
        at = [node for node in network.nodes if not node.is_host and fnmatchcase(node.name, wish.of)]
        if not at:
            raise ConfigError(f'--hosts-at: "{wish.of}" matches no switch of {network.origin}')
        for switch in at:
            for _ in range(wish.count):
                while f"h{number}" in taken:
                    number += 1
                nodes.append(Node(f"h{number}", True))
                links.append(Link(switch.name, f"h{number}", wish.rate))
                number += 1
        part.notes.append(
            f"--hosts-at adds {counted(wish.count, 'host')} at {wish.rate} to {few([each.name for each in at])}."
        )
    return replace(network, nodes=nodes, links=links)


def _hosts_of_one_link(network: Network, part: Part) -> Network:
    """The network with one link per host: the first to a switch that is linked to switches, or else to any switch."""
    hosts = set(network.hosts)
    inner = {end for link in network.links if not {link.a, link.b} & hosts for end in (link.a, link.b)}
    chosen: dict[str, Link] = {}
    for link in network.links:
        ends = [end for end in (link.a, link.b) if end in hosts]
        if len(ends) == 1:
            old = chosen.setdefault(ends[0], link)
            if not {old.a, old.b} & inner and {link.a, link.b} & inner:
                chosen[ends[0]] = link
    links, further, between = [], [], []
    for link in network.links:
        ends = [end for end in (link.a, link.b) if end in hosts]
        if len(ends) == 2:
            between.append(f"{link.a}-{link.b}")
        elif ends and chosen[ends[0]] is not link:
            further.append(f"{link.a}-{link.b}")
        else:
            links.append(link)
    if between:
        part.left_out.append(f"{counted(len(between), 'link')} between two hosts: {few(between)}.")
    if further:
        part.left_out.append(
            f"{counted(len(further), 'further link')} of hosts: {few(further)}. In Shortflow a host has one link: the "
            "first to a switch with links to other switches."
        )
    return _without_idle(replace(network, links=links), network, part)


def _without_idle(network: Network, before: Network, part: Part) -> Network:
    """The network without switches whose only links led to hosts by links that were left out."""
    idle = _racks(before) - _racks(network)
    if not idle:
        return network
    part.left_out.append(f"Switches that only such links lead to: {few(sorted(idle))} ({len(idle):,}).")
    links = [link for link in network.links if not {link.a, link.b} & idle]
    return replace(network, nodes=[node for node in network.nodes if node.name not in idle], links=links)


def _racks(network: Network) -> set[str]:
    """Switches with hosts."""
    hosts = set(network.hosts)
    return {end for link in network.links if {link.a, link.b} & hosts for end in (link.a, link.b)} - hosts


def _linked(network: Network, part: Part) -> Network:
    """The connected part of the network with most hosts."""
    near = _neighbours(network)
    found: dict[str, int] = {}
    for number, node in enumerate(network.nodes):
        waiting = [node.name]
        while waiting:
            name = waiting.pop()
            if name not in found:
                found[name] = number
                waiting += near[name]
    hosts = set(network.hosts)
    sizes = Counter(found[name] for name in found if name in hosts)
    main = max(sizes, key=lambda each: (sizes[each], -each), default=0)
    lost = [node.name for node in network.nodes if found[node.name] != main]
    if not lost:
        return network
    part.left_out.append(f"{counted(len(lost), 'node')} without a path to the other hosts: {few(lost)}.")
    gone = set(lost)
    nodes = [node for node in network.nodes if node.name not in gone]
    return replace(network, nodes=nodes, links=[link for link in network.links if link.a not in gone])


def _with_tiers(network: Network, part: Part) -> Network:
    """The network with tiers by distance to the nearest host, unless the file names all tiers."""
    switches = [node for node in network.nodes if not node.is_host]
    if all(node.tier for node in switches):
        return network
    heights = distances(network)
    top = max((heights[node.name] for node in switches), default=1)
    words = _TIERS.get(top) or tuple(f"tier{height}" for height in range(1, top + 1))
    nodes = [node if node.is_host else replace(node, tier=words[heights[node.name] - 1]) for node in network.nodes]
    counts = Counter(node.tier for node in nodes if not node.is_host)
    said = ", ".join(f"{word} {counts[word]}" for word in words)
    part.notes.append(f"Tiers of switches follow from the number of links to the nearest host: {said}.")
    return replace(network, nodes=nodes)


def distances(network: Network) -> Mapping[str, int]:
    """Number of links to the nearest host, by node."""
    near = _neighbours(network)
    found = dict.fromkeys(network.hosts, 0)
    frontier = list(found)
    while frontier:
        reached = [name for each in frontier for name in near[each] if name not in found]
        found |= {name: found[each] + 1 for each in frontier for name in near[each] if name not in found}
        frontier = list(dict.fromkeys(reached))
    return found


def _neighbours(network: Network) -> Mapping[str, list[str]]:
    near: dict[str, list[str]] = {node.name: [] for node in network.nodes}
    for link in network.links:
        near[link.a].append(link.b)
        near[link.b].append(link.a)
    return near
