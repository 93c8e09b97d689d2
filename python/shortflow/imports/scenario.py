"""The scenario of what files say: one network, flows or sizes, values; with the assumptions that fill the gaps."""

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from shortflow.errors import ConfigError, did_you_mean
from shortflow.imports.files import File
from shortflow.imports.parts import Flows, Format, Link, Network, Options, Part, Plain, Ports, SizeTable, Value
from shortflow.imports.ports import of_network, of_rack
from shortflow.imports.rates import written
from shortflow.lazy import pl
from shortflow.quantities import parse, plain_number
from shortflow.terms import unquoted

FILE = "scenario.toml"
"""Name of the written scenario."""
_GIVEN = "given with the import"
_SIZES, _TRACE, _LINKS, _NODES, _HOSTS = "sizes.csv", "flows.csv", "links.csv", "nodes.csv", "hosts.csv"
_RATE = "10Gbps"
"""Rate of links for which no file has one."""
_STAR = 16
"""Hosts of a network that no file describes, if no flow names hosts."""
_ORDER = ("title", "duration", "warmup", "drain")


@dataclass
class Draft:
    """A scenario before it is written."""

    values: dict[str, Value] = field(default_factory=dict)
    """By key path."""
    texts: dict[str, str] = field(default_factory=dict)
    """Files beside the scenario."""
    flows: Flows | None = None
    network: Network | None = None
    sizes: SizeTable | None = None
    schemes: list[Value] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def assume(self, key: str, value: Plain, why: str) -> None:
        """A value that no file says, unless one does."""
        self.values.setdefault(key, Value(value, f"assumed: {why}", is_assumed=True))

    @property
    def assumed(self) -> list[str]:
        """Sentences on assumed values."""
        why = {key: each.origin.removeprefix("assumed: ") for key, each in self.values.items() if each.is_assumed}
        return [f"{key} = {_toml(self.values[key].value)}: {reason}." for key, reason in why.items()]


def draft(parts: Sequence[tuple[File, Format, Part]], options: Options, settings: Mapping[str, str]) -> Draft:
    """The scenario of several files. A `ConfigError` names two that contradict each other."""
    made = Draft()
    ports: Ports | None = None
    for file, form, part in parts:
        for kind in ("network", "flows", "sizes"):
            if (new := getattr(part, kind)) is None:
                continue
            if earlier := getattr(made, kind):
                raise ConfigError(f"{file.path}: is a second file of {kind}; the first is {earlier.origin}")
            setattr(made, kind, new)
        if part.ports is not None:
            if ports:
                raise ConfigError(f"{file.path}: is a second file of a switch's ports; the first is {ports.origin}")
            ports = part.ports
        for key, value in part.values.items():
            if (old := made.values.setdefault(key, value)).value != value.value:
                said = f"{old.origin} says {_toml(old.value)}"
                raise ConfigError(f"{value.origin}: {key} = {_toml(value.value)}, but {said}")
        made.schemes += part.schemes
        made.left_out += [f"{file.name}: {each}" for each in part.left_out]
        made.notes += [f"{file.name} ({form.name}): {each}" for each in part.notes]
    for key, text in settings.items():
        made.values[unquoted(key)] = Value(_typed(text), _GIVEN)
    names = ", ".join(dict.fromkeys(file.name for file, _, _ in parts))
    made.values.setdefault("title", Value(f"Imported from {names}", "names of the files"))
    if ports:
        _put_ports(made, ports)
    _put_network(made, options)
    _put_traffic(made)
    _put_queues(made)
    return made


def _put_ports(made: Draft, ports: Ports) -> None:
    """The settings of switch ports: of the network's, or else of a rack with a host at each port."""
    usual = made.values.get("topology.rate")
    rate = str(usual.value) if usual else _RATE
    missing: list[float] = []
    if made.network is not None:
        found, missing = of_network(made.network, ports, rate)
    elif "topology.kind" in made.values or not ports.rack:
        nearest = min(ports.by_rate, key=lambda each: abs(each - _bps(rate)))
        missing = [] if nearest in (0.0, _bps(rate)) else [_bps(rate)]
        found = {f"switch.{key}": value for key, value in ports.by_rate[nearest].items()}
    else:
        made.network, by_host = ports.rack
        found = of_rack(made.network, by_host)
    if missing:
        of = ", ".join(map(written, missing))
        made.notes.append(f"{ports.origin} has no port of {of}: such links have the settings of the nearest rate.")
    for key, value in found.items():
        made.values.setdefault(key, value)
    most = made.values.get("switch.mark_all_above")
    if most and (size := parse(str(most.value))):
        room = f"{plain_number(4 * size.number)}{size.unit}"
        made.assume("switch.buffer", room, "no file gives the buffer of a port; four times mark_all_above")


def _put_network(made: Draft, options: Options) -> None:
    """The network of the files, or a star of the hosts that flows name."""
    if made.flows is not None and (options.hosts or (made.network is None and "topology.kind" not in made.values)):
        made.flows = _mapped(made, made.flows, options.hosts)
    if made.network is not None:
        made.values = {key: each for key, each in made.values.items() if not (each.is_assumed and "topology" in key)}
        _explicit(made, made.network)
        return
    if "topology.kind" in made.values:
        return
    ends = _ends(made.flows) if made.flows is not None else []
    hosts = max(_numbered(ends) + 1, 2) if ends else _STAR
    made.assume("topology.kind", "star", "no file describes the network")
    made.assume("topology.hosts", hosts, "hosts of the flows" if ends else "no file names hosts")
    made.assume("topology.rate", _RATE, "no file gives the rate of links")
    made.assume("topology.rtt", "20us", "no file gives delays")


def _explicit(made: Draft, network: Network) -> None:
    _check_hosts(network)
    switches = len(network.nodes) - len(network.hosts)
    made.values["topology.kind"] = Value("explicit", f"{len(network.hosts)} hosts, {switches} switches")
    made.values["topology.file"] = Value(_LINKS, network.origin)
    made.values["topology.node_file"] = Value(_NODES, network.origin)
    links = [f"{link.a},{link.b},{link.rate},{link.delay}" for link in _bundled(made, network.links)]
    made.texts[_LINKS] = "\n".join([f"# {network.origin}", "a,b,rate,delay", *links, ""])
    nodes = [f"{node.name},{'host' if node.is_host else 'switch'},{node.tier}" for node in network.nodes]
    made.texts[_NODES] = "\n".join([f"# {network.origin}", "name,kind,tier", *nodes, ""])
    if any(not link.rate for link in network.links):
        made.assume("topology.rate", _RATE, "the file gives some links no rate")
    if any(not link.delay for link in network.links):
        made.assume("topology.delay", "1us", "the file gives some links no delay")


def _check_hosts(network: Network) -> None:
    """Refuses hosts with links to several nodes."""
    hosts, first = set(network.hosts), dict[str, Link]()
    for link in network.links:
        for near in (link.a, link.b):
            other = first.setdefault(near, link)
            if near in hosts and {other.a, other.b} != {link.a, link.b}:
                raise ConfigError(
                    f"{network.path}:{link.line}: host {near}: has a second link, after line {other.line}; a host has "
                    "one link. Leave the other links out of the file, or give such a link the rates of both"
                )


def _bundled(made: Draft, links: Sequence[Link]) -> list[Link]:
    """Links, each once; parallel ones between two nodes become one of their rates together."""
    by_ends: dict[frozenset[str], list[Link]] = {}
    for link in links:
        by_ends.setdefault(frozenset((link.a, link.b)), []).append(link)
    found = []
    for several in by_ends.values():
        first = several[0]
        if len(several) > 1:
            rates = {each.rate for each in several}
            rate = parse(first.rate) if len(rates) == 1 else None
            if rate is None:
                raise ConfigError(f"links {first.a} to {first.b}: parallel links of rates {', '.join(sorted(rates))}")
            first = replace(first, rate=f"{plain_number(rate.number * len(several))}{rate.unit}")
        found.append(first)
    if more := len(links) - len(found):
        made.notes.append(f"{more} parallel links are joined with their neighbours: one link of the rates together.")
    return found


def _put_traffic(made: Draft) -> None:
    if made.flows is not None:
        if made.sizes is not None:
            made.left_out.append(f"{made.sizes.origin}: the sizes, as the flows have sizes of their own.")
        table = made.flows.table.sort("start", maintain_order=True)
        first, last = float(table["start"][0]), float(table["start"][-1])
        if first > 0:
            digits = min(12, math.floor(-math.log10(2 * math.ulp(last))))  # those that the difference can have
            table = table.with_columns((pl.col("start") - first).round(digits))
            made.notes.append(f"Starts are moved to zero: {first:.12g} s are subtracted from each.")
        made.flows = Flows(table, made.flows.origin)
        made.values["traffic.1.kind"] = Value("trace", made.flows.origin)
        made.values["traffic.1.file"] = Value(_TRACE, made.flows.origin)
        names = ["start", "source", "destination", "bytes", *(n for n in ("deadline", "class") if n in table.columns)]
        made.texts[_TRACE] = f"# {made.flows.origin}\n" + table.select(names).write_csv()
        busy = _busy(made)
        span = last - first
        made.assume("duration", _time(max(span * 1.001, span + 1e-6, 1e-5)), "just after the last flow starts")
        made.assume(
            "drain", _time(max(0.2, 8 * busy)), "long enough for flows to finish; a run ends with its last flow"
        )
        return
    made.values.setdefault("traffic.1.kind", Value("poisson", "assumed: no file lists flows", is_assumed=True))
    if made.sizes is not None:
        made.texts[_SIZES] = sizes_text(made.sizes)
        made.values.setdefault("traffic.1.sizes", Value({"kind": "cdf", "file": _SIZES}, made.sizes.origin))
    if made.values["traffic.1.kind"].value != "poisson":
        return
    made.assume("traffic.1.class", "imported", "names the flows in results")
    made.assume("traffic.1.pattern", "all-to-all", "no file says who sends to whom")
    made.assume("traffic.1.sizes", {"kind": "published", "name": "websearch"}, "no file gives sizes")
    made.assume("traffic.1.load", 0.5, "no file gives the load")
    made.assume("duration", "20ms", "no file gives a time")


def sizes_text(sizes: SizeTable) -> str:
    """A distribution as the core reads it."""
    rows = "".join(f"{_plain(size)},{_plain(share)}\n" for size, share in sizes.points)
    return f"# {sizes.origin}\nbytes,cumulative\n{rows}"


def _put_queues(made: Draft) -> None:
    """Buffer and marking threshold, as DCTCP has them, if no file says them."""
    rate = _slowest(made)
    above = max(30_000, round(65 * 1500 * rate / 1e10))
    made.assume("switch.buffer", f"{4 * above}B", "no file gives the buffer of a port; four times mark_above")
    made.assume("switch.mark_above", f"{above}B", "no file gives it; 65 packets at 10 Gbps, in proportion to the rate")


def _slowest(made: Draft) -> float:
    """Rate of the slowest link of a host in bit/s."""
    rates = host_rates(made)
    return min(rates.values(), default=1e10)


def host_rates(made: Draft) -> dict[str, float]:
    """Rates of the hosts' links in bit/s, by name. A built-in network has one rate, under an empty name."""
    usual = made.values.get("topology.rate")
    default = _bps(str(usual.value)) if usual else 1e10
    if made.network is None:
        return {"": default}
    hosts, found = set(made.network.hosts), dict[str, float]()
    for link in made.network.links:
        for end in (link.a, link.b):
            if end in hosts:
                found[end] = found.get(end, 0.0) + (_bps(link.rate) if link.rate else default)
    return found


def _busy(made: Draft) -> float:
    """Seconds that the busiest link of a receiver needs for all its bytes."""
    assert made.flows
    rates = host_rates(made)
    by_host = made.flows.table.group_by("destination").agg(pl.col("bytes").sum())
    slowest = min(rates.values())
    return max(float(8 * size / rates.get(host, slowest)) for host, size in by_host.iter_rows())


def _ends(flows: Flows) -> list[str]:
    table = flows.table
    return pl.concat([table["source"], table["destination"].alias("source")]).unique().sort().to_list()


def _numbered(ends: Iterable[str]) -> int:
    """The largest number of hosts named `3` or `h3`."""
    return max(int(each.removeprefix("h")) for each in ends)


def _mapped(made: Draft, flows: Flows, hosts: Mapping[str, str]) -> Flows:
    """Flows between hosts: by the user's table, or by number if the file has addresses."""
    ends = _ends(flows)
    if hosts:
        missing = [each for each in ends if each not in hosts]
        if missing:
            raise ConfigError(
                f"{flows.origin}: {missing[0]}: no such address in --hosts{did_you_mean(missing[0], hosts)}; "
                f"{len(missing)} of {len(ends)} addresses are missing"
            )
        table = dict(hosts)
    elif all(re.fullmatch(r"h?\d{1,5}", each) for each in ends):
        return flows
    else:
        table = {each: f"h{place}" for place, each in enumerate(ends)}
        made.notes.append(
            f"{len(ends)} addresses are hosts h0 to h{len(ends) - 1} in their order; {_HOSTS} has the table."
        )
    made.texts[_HOSTS] = "address,host\n" + "".join(f"{each},{table[each]}\n" for each in ends)
    to_hosts = [pl.col(end).replace_strict(table, return_dtype=pl.String) for end in ("source", "destination")]
    moved = flows.table.with_columns(to_hosts)
    inside = moved.filter(pl.col("source") != pl.col("destination"))
    if dropped := moved.height - inside.height:
        made.left_out.append(f"{dropped:,} flows between addresses of one host.")
    return Flows(inside, flows.origin)


def toml(made: Draft) -> str:
    """The scenario as TOML, each value with its origin."""
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
    return f"{key} = {_toml(value.value)}  # {value.origin}"


def _toml(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key} = {_toml(each)}" for key, each in value.items()) + " }"
    if isinstance(value, int | float):
        return _plain(value)
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    assert isinstance(value, Sequence)
    return "[" + ", ".join(map(_toml, value)) + "]"


def _typed(text: str) -> Plain:
    """A value of `--set` as TOML: a number or a boolean where it looks like one."""
    if text in ("true", "false"):
        return text == "true"
    if re.fullmatch(r"-?\d+", text):
        return int(text)
    return float(text) if re.fullmatch(r"-?\d*\.?\d+(?:e-?\d+)?", text) else text


def _plain(value: float) -> str:
    return plain_number(float(value)) if math.isfinite(value) else str(value)


def _bps(rate: str) -> float:
    found = parse(rate)
    return found.number * found.factor if found and found.base == "bps" else 1e10


def _time(seconds: float) -> str:
    """A time, rounded up to three digits."""
    for factor, unit in ((1, "s"), (1e3, "ms"), (1e6, "us")):
        if seconds * factor >= 1:
            digits = 10 ** (2 - math.floor(math.log10(seconds * factor)))
            return f"{math.ceil(seconds * factor * digits) / digits:.12g}{unit}"
    return f"{math.ceil(seconds * 1e9)}ns"
