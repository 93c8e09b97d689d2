"""Settings of switch ports as tables of a scenario: `[switch]`, tiers, and single ports."""

from collections import Counter, defaultdict
from collections.abc import Mapping

from shortflow.imports.networks import distances, few
from shortflow.imports.parts import Network, Ports, Value
from shortflow.quantities import parse

PortSettings = Mapping[str, Value]
Ends = tuple[str, str]

_LACKING = {"mark_all_above": "auto", "mark_probability": "auto", "xoff": "none"}
"""Values of keys for ports whose profile lacks them."""


def of_rack(network: Network, by_host: Mapping[str, PortSettings]) -> tuple[dict[str, Value], list[str]]:
    """Settings of one switch's ports to its hosts, and sentences on settings that all ports of a switch share."""
    ports = {(network.nodes[0].name, host): settings for host, settings in by_host.items()}
    return _tables(network, ports), _shared(ports)


def of_network(network: Network, ports: Ports, usual: str) -> tuple[dict[str, Value], list[str], list[float]]:
    """Settings of switch ports by the rate of their link, sentences on shared settings, and rates without settings.

    `usual` is the rate of links without a rate in their file. A rate without settings gets the settings of the nearest
    rate.
    """
    hosts = set(network.hosts)
    missing: set[float] = set()
    found: dict[Ends, PortSettings] = {}
    first = next((link.rate for link in network.links if {link.a, link.b} & {network.hosts[0]}), usual)
    for link in network.links:
        rate = _base(link.rate or usual)
        nearest = min(ports.by_rate, key=lambda each: abs(each - rate), default=rate)
        if nearest not in (rate, 0.0):
            missing.add(rate)
        settings = ports.by_rate.get(nearest, {})
        if ports.of_link:
            delay = _base(link.delay) if link.delay else None
            settings = {**settings, **ports.of_link(rate, delay, _base(first or usual))}
        for a, b in ((link.a, link.b), (link.b, link.a)):
            if a not in hosts:
                found[a, b] = settings
    return _tables(network, found), _shared(found), sorted(missing)


def _tables(network: Network, ports: Mapping[Ends, PortSettings]) -> dict[str, Value]:
    """Tables of settings: the most frequent in `[switch]`, others by tier if a tier's ports agree, else by port."""
    plain = {port: tuple(sorted((key, of.value) for key, of in settings.items())) for port, settings in ports.items()}
    usual = Counter(plain.values()).most_common(1)[0][0]
    base = next(ports[port] for port in ports if plain[port] == usual)
    found = {f"switch.{key}": value for key, value in {**_memory(ports), **base}.items()}
    heights, tiers = distances(network), {node.name: node.tier for node in network.nodes}
    groups: dict[str, tuple[list[Ends], list[Ends]]] = defaultdict(lambda: ([], []))
    for a, b in ports:
        groups[tiers[a]][heights.get(b, 0) > heights.get(a, 0)].append((a, b))
    for tier, (down, up) in sorted(groups.items()):
        agree = all(len({plain[port] for port in group}) <= 1 for group in (down, up))
        is_level = any(heights.get(a) == heights.get(b) for a, b in down)
        if tier and down and agree and not (up and is_level):
            of_tier = ports[down[0]]
            found |= _changes(f"switch.{tier}", of_tier, base)
            found |= _changes(f"switch.{tier}.up", ports[up[0]], of_tier) if up else {}
            continue
        for a, b in (*down, *up):
            found |= _changes(f'switch."{a}->{b}"', ports[a, b], base)
    return found


def _memory(ports: Mapping[Ends, PortSettings]) -> dict[str, Value]:
    """The most frequent memory and alpha among ports that have them. These values apply to the whole switch."""
    counts = Counter(tuple(_of_memory(settings).items()) for settings in ports.values() if _of_memory(settings))
    if not counts:
        return {}
    usual = counts.most_common(1)[0][0]
    settings = next(each for each in ports.values() if tuple(_of_memory(each).items()) == usual)
    return {key: settings[key] for key in _of_memory(settings)}


def _of_memory(settings: PortSettings) -> dict[str, object]:
    return {key: settings[key].value for key in ("memory", "memory_alpha") if key in settings}


def _shared(ports: Mapping[Ends, PortSettings]) -> list[str]:
    """Sentences on ports whose memory or alpha differs from that of most ports. Empty if a port pauses."""
    usual = {key: value.value for key, value in _memory(ports).items()}
    if not usual or any("xoff" in settings for settings in ports.values()):
        return []
    others = [f"{a}->{b}" for (a, b), settings in ports.items() if _of_memory(settings) != usual]
    if not others:
        return []
    return [
        f"The part of the memory of {few(others)}: all ports of a switch share switch.memory = {usual['memory']} with "
        f"one switch.memory_alpha, {usual.get('memory_alpha', 1)} here."
    ]


def _changes(table: str, settings: PortSettings, around: PortSettings) -> dict[str, Value]:
    """A table with the settings that differ from the enclosing table, except memory and alpha of the whole switch."""
    found = {
        f"{table}.{key}": value
        for key, value in settings.items()
        if key not in ("memory", "memory_alpha") and (key not in around or around[key].value != value.value)
    }
    lacking = [key for key in around if key not in settings and key in _LACKING]
    return found | {f"{table}.{key}": Value(_LACKING[key], "the profile of these ports has none") for key in lacking}


def _base(text: str) -> float:
    """A rate in bit/s, or a time in seconds."""
    found = parse(text)
    return found.number * found.factor if found else 0.0
