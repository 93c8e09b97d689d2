"""The scenario from all files: one network, flows or sizes, and values, with assumptions for missing data."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from shortflow.errors import ConfigError
from shortflow.imports.draft import Draft, host_rates
from shortflow.imports.files import File
from shortflow.imports.networks import few
from shortflow.imports.parts import Format, Network, Options, Part, Ports, Value
from shortflow.imports.ports import of_network, of_rack
from shortflow.imports.rates import written
from shortflow.imports.traffic import put_hosts, put_traffic
from shortflow.imports.values import bps, toml_value, typed_value
from shortflow.quantities import parse, plain_number
from shortflow.terms import unquoted

FILE = "scenario.toml"
"""Name of the scenario's file."""
_GIVEN = "given with the import"
_LINKS, _NODES = "links.csv", "nodes.csv"
_HEAD = 3
"""Line of the first row in a file beside the scenario. A comment and a header precede it."""
_RATE = "10Gbps"
"""Assumed rate of links for which no file has a rate."""
_STAR = 16
"""Assumed number of hosts if no file describes a network and no flow names hosts."""
_ORDER = ("title", "duration", "warmup", "drain")


def draft(parts: Sequence[tuple[File, Format, Part]], options: Options, settings: Mapping[str, str]) -> Draft:
    """The scenario of several files. A `ConfigError` names two files that contradict each other."""
    made = Draft()
    ports: Ports | None = None
    for file, form, part in parts:
        for kind in ("network", "flows", "sizes"):
            if (new := getattr(part, kind)) is None:
                continue
            if earlier := getattr(made, kind):
                raise ConfigError(f"{file.path}: is a second file of {kind}; the first is {earlier.origin}")
            setattr(made, kind, new)
        made.endless = [*made.endless, *part.endless]
        if part.ports is not None:
            if ports:
                raise ConfigError(f"{file.path}: is a second file of a switch's ports; the first is {ports.origin}")
            ports = part.ports
        for key, value in part.values.items():
            if (old := made.values.setdefault(key, value)).value != value.value:
                said = f"{old.origin} says {toml_value(old.value)}"
                raise ConfigError(f"{value.origin}: {key} = {toml_value(value.value)}, but {said}")
        made.schemes += part.schemes
        made.left_out += [f"{file.name}: {each}" for each in part.left_out]
        made.notes += [f"{file.name} ({form.name}): {each}" for each in part.notes]
    for key, text in settings.items():
        # A file needs quotes around the name of a port, so the keys of imports have quotes too.
        of_port = re.sub(r"^switch\.([^\".]*->[^\".]*)\.", r'switch."\1".', unquoted(key))
        made.values[of_port] = Value(typed_value(text), _GIVEN)
    names = ", ".join(dict.fromkeys(file.name for file, _, _ in parts))
    made.values.setdefault("title", Value(f"Imported from {names}", "names of the files"))
    if made.network is not None:
        _set_network(made, made.network)
        _add_unrated(made)
    if ports:
        _put_ports(made, ports)
    _put_network(made, options)
    put_traffic(made)
    _put_queues(made)
    return made


def _set_network(made: Draft, network: Network) -> None:
    """Sets the network of a file, and removes assumptions about the topology."""
    made.network = network
    made.values = {key: each for key, each in made.values.items() if not (each.is_assumed and "topology" in key)}


def _add_unrated(made: Draft) -> None:
    """Adds the scenario's default rate for each parallel link without a rate."""
    network = made.network
    several = [link for link in network.links if link.unrated] if network else []
    if not network or not several:
        return
    made.assume("topology.rate", _RATE, "the file gives some links no rate")
    usual = str(made.values["topology.rate"].value)
    made.notes.append(
        f"Parallel links without a rate have topology.rate = {usual} each, and {_LINKS} has their sum: "
        f"{few(f'{link.a}-{link.b}' for link in several)}. Another rate needs another import."
    )
    links = []
    for link in network.links:
        # A file of links has one line for all parallel links of two nodes, so the line needs their sum.
        known = bps(link.rate) if link.rate else 0.0
        links.append(
            replace(link, rate=written(known + link.unrated * bps(usual)), unrated=0) if link.unrated else link
        )
    made.network = replace(network, links=links)


def _put_ports(made: Draft, ports: Ports) -> None:
    """Adds settings of switch ports, for the network, a built-in topology, or a rack with a host at each port."""
    usual = made.values.get("topology.rate")
    rate = str(usual.value) if usual else _RATE
    missing: list[float] = []
    shared: list[str] = []
    if made.network is not None:
        found, shared, missing = of_network(made.network, ports, rate)
        made.notes += _said_of_rates(made.network, ports, rate)
    elif "topology.kind" in made.values or not ports.rack:
        nearest = min(ports.by_rate, key=lambda each: abs(each - bps(rate)), default=0.0)
        missing = [] if nearest in (0.0, bps(rate)) else [bps(rate)]
        further = ports.of_link(bps(rate), None, bps(rate)) if ports.of_link else {}
        found = {f"switch.{key}": value for key, value in {**ports.by_rate.get(nearest, {}), **further}.items()}
    else:
        network, by_host = ports.rack
        _set_network(made, network)
        found, shared = of_rack(network, by_host)
    if missing:
        of = ", ".join(map(written, missing))
        made.notes.append(f"{ports.origin} has no port of {of}: such links have the settings of the nearest rate.")
    made.left_out += [f"{ports.origin}: {each}" for each in shared]
    for key, value in found.items():
        made.values.setdefault(key, value)
    most = made.values.get("switch.mark_all_above")
    if most and (size := parse(str(most.value))):
        room = f"{plain_number(4 * size.number)}{size.unit}"
        made.assume(
            "switch.buffer", room, "no file gives the buffer of a port; the default is four times mark_all_above"
        )


def _said_of_rates(network: Network, ports: Ports, usual: str) -> list[str]:
    """Sentences on ports of the rates that occur in the network."""
    rates = {bps(link.rate or usual) for link in network.links}
    nearest = {min(ports.by_rate, key=lambda each: abs(each - rate), default=0.0) for rate in rates}
    return [f"{ports.origin}: {said}" for rate, said in ports.several.items() if rate in nearest]


def _put_network(made: Draft, options: Options) -> None:
    """Adds the network of the files, or a star of the hosts that flows name."""
    named = put_hosts(made, options.hosts)
    if made.network is not None:
        _explicit(made, made.network)
        return
    if "topology.kind" in made.values:
        return
    hosts = max(named, 2) if named else _STAR
    made.assume("topology.kind", "star", "no file describes the network")
    made.assume("topology.hosts", hosts, "the hosts that the flows name" if named else "no file names hosts")
    made.assume("topology.rate", _RATE, "no file gives the rate of links")
    made.assume("topology.rtt", "20us", "no file gives delays")


def _explicit(made: Draft, network: Network) -> None:
    switches = len(network.nodes) - len(network.hosts)
    made.values["topology.kind"] = Value("explicit", f"{len(network.hosts)} hosts, {switches} switches")
    made.values["topology.file"] = Value(_LINKS, network.origin)
    made.values["topology.node_file"] = Value(_NODES, network.origin)
    links = [f"{link.a},{link.b},{link.rate},{link.delay}" for link in network.links]
    made.texts[_LINKS] = "\n".join([f"# {network.origin}", "a,b,rate,delay", *links, ""])
    made.places[_LINKS] = lambda row: (
        f"{network.path}:{network.links[row].line}" if network.links[row].line else network.origin
    )
    nodes = [f"{node.name},{'host' if node.is_host else 'switch'},{node.tier}" for node in network.nodes]
    made.texts[_NODES] = "\n".join([f"# {network.origin}", "name,kind,tier", *nodes, ""])
    made.places[_NODES] = lambda _: network.origin
    if any(not link.rate for link in network.links):
        made.assume("topology.rate", _RATE, "the file gives some links no rate")
    if any(not link.delay for link in network.links):
        made.assume("topology.delay", "1us", "the file gives some links no delay")


def _put_queues(made: Draft) -> None:
    """Assumes buffer and marking threshold, as DCTCP has them, if no file gives them."""
    rate = min(host_rates(made).values(), default=1e10)  # of the slowest link of a host
    above = max(30_000, round(65 * 1500 * rate / 1e10))
    made.assume(
        "switch.buffer", f"{4 * above}B", "no file gives the buffer of a port; the default is four times mark_above"
    )
    made.assume(
        "switch.mark_above",
        f"{above}B",
        "no file gives a threshold; the default is 65 packets at 10 Gbps, in proportion to the rate",
    )


def toml(made: Draft) -> str:
    """The scenario as TOML, with the origin of each value in a comment."""
    tables: dict[str, dict[str, Value]] = {}
    for path, value in made.values.items():
        table, _, key = path.rpartition(".")
        tables.setdefault(table, {})[key] = value
    top = tables.pop("", {})
    lines = [_line(key, top[key]) for key in sorted(top, key=lambda key: _ORDER.index(key) if key in _ORDER else 9)]
    for scheme in made.schemes:
        lines.append(f"# scheme of the files: {scheme.value}  ({scheme.origin})")
    for name in sorted(tables, key=_table_order):
        heading = (
            "[[traffic]]" if re.fullmatch(r"traffic\.\d+", name) else f"[{re.sub(r'^traffic.[0-9]+', 'traffic', name)}]"
        )
        lines += ["", heading, *(_line(key, value) for key, value in tables[name].items())]
    return "\n".join([*lines, ""])


def _table_order(name: str) -> tuple[int, str]:
    first = name.partition(".")[0]
    known = ("topology", "routing", "switch", "host", "tcp", "traffic", "measure", "faults")
    return (known.index(first) if first in known else len(known), name)


def _line(key: str, value: Value) -> str:
    return f"{key} = {toml_value(value.value)}  # {' '.join(value.origin.split())}"


def retold(made: Draft, error: ConfigError) -> ConfigError:
    """An error of the core about the written files, with the place in the user's files."""
    lines = toml(made).split("\n")
    sentences = []
    for text in str(error).split("\n"):
        found = re.fullmatch(r"([a-z]+\.(?:toml|csv)):(\d+): (.*)", text)
        number = int(found[2]) if found else 0
        if found and found[1] == FILE and "  # " in lines[number - 1]:
            sentences.append(f"{lines[number - 1].rpartition('  # ')[2]}: {found[3]}")
        elif found and number >= _HEAD and (place := made.places.get(found[1])):
            sentences.append(f"{place(number - _HEAD)}: {found[3]}")
        else:
            sentences.append(text)
    return ConfigError("\n".join(sentences))
