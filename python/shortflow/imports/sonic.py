"""SONiC's `config_db.json`: ports, WRED and buffer profiles, queues.

Source: SONiC's Configuration.md and its YANG models; SAI's `saiwred.h` and `saibuffer.h`. Speeds are in Mbit/s,
thresholds in bytes, drop probabilities in per cent. With `dynamic_th` n, a queue may hold 2^n times the free pool.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from shortflow.errors import ConfigError
from shortflow.imports.documents import Place, read_json
from shortflow.imports.files import File
from shortflow.imports.networks import few, plain_name
from shortflow.imports.parts import Format, Link, Network, Node, Options, Part, Ports, Value
from shortflow.imports.rates import written
from shortflow.imports.sonic_pfc import FlowControl, flow_control
from shortflow.quantities import counted

COLOURS = ("green", "yellow", "red")
_READ = {
    "PORT", "WRED_PROFILE", "BUFFER_PROFILE", "BUFFER_POOL", "BUFFER_QUEUE", "QUEUE", "SCHEDULER", "DSCP_TO_TC_MAP",
    "TC_TO_QUEUE_MAP", "PORT_QOS_MAP", "CABLE_LENGTH", "DEVICE_METADATA", "BUFFER_PG", "PFC_WD",
    "BUFFER_PORT_INGRESS_PROFILE_LIST", "BUFFER_PORT_EGRESS_PROFILE_LIST", "TC_TO_PRIORITY_GROUP_MAP",
    "MAP_PFC_PRIORITY_TO_QUEUE", "DEFAULT_LOSSLESS_BUFFER_PARAMETER",
}  # fmt: skip
_TABLE = re.compile(r'"(PORT|WRED_PROFILE|BUFFER_PROFILE|BUFFER_POOL)"\s*:\s*\{')
_NS_PER_METRE = 5
_OVER = "queue.weight=1+queue.gentle=false+queue.spread=false+queue.drop_not_ect=false"
SCHEMES = (f"dctcp over red+{_OVER}", "dcqcn+queue.min=auto+queue.drop_not_ect=false")
"""WRED on the queue as it is: each packet marked by itself, all from the maximum threshold on, and no ACK dropped."""


@dataclass(frozen=True, eq=False)
class _Port:
    """A port, and the profiles of its queue."""

    place: Place
    wred: str
    buffer: str

    @property
    def bps(self) -> float:
        """Rate in bit/s; 0 if the file does not say it."""
        speed = self.place.at("speed")
        return speed.number("a speed in Mbit/s such as 25000", 1) * 1e6 if speed else 0.0


@dataclass
class _Config:
    """A configuration, and the profiles of queues by port."""

    root: Place
    part: Part = field(default_factory=Part)
    wred: dict[tuple[str, int], str] = field(default_factory=dict)
    buffer: dict[tuple[str, int], str] = field(default_factory=dict)
    paused: FlowControl = field(default_factory=FlowControl)


def _is_of(file: File) -> bool:
    return file.head.lstrip()[:1] == "{" and bool(
        re.search(r'"[A-Z][A-Z_]+"\s*:', file.head) and _TABLE.search(file.text)
    )


def _read(file: File, options: Options) -> Part:
    config = _config(read_json(file))
    queue = _chosen_queue(config, options.queue)
    ports = _ports(config, queue)
    if not ports and not config.root.at("WRED_PROFILE"):
        raise file.wrong(1, "PORT", "no ports", "a table PORT, or WRED_PROFILE")
    groups = dict(_queues(config.root, "BUFFER_PG", "profile"))
    config.paused = flow_control(config.root, queue, [port.place.name for port in ports], groups)
    config.part.left_out += config.paused.left_out
    values = {port: _values(config, port) for port in ports}
    by_rate: dict[float, Mapping[str, Value]] = {}
    for rate in sorted({port.bps for port in ports}):
        alike = [port for port in ports if port.bps == rate]
        counts = Counter((port.wred, port.buffer) for port in alike)
        usual = counts.most_common(1)[0][0]
        by_rate[rate] = values[next(port for port in alike if (port.wred, port.buffer) == usual)]
    if not ports:
        by_rate[0.0] = _values(
            config, _Port(config.root, _only(config, "WRED_PROFILE"), _only(config, "BUFFER_PROFILE"))
        )
    part = config.part
    part.ports = Ports(by_rate, _rack(config, ports, values), file.origin())
    for scheme in SCHEMES:
        part.schemes.append(
            Value(scheme, "WRED of the switch on the queue as it is; config_db.json has no weight of an average")
        )
    _say_queue(config, queue, ports)
    _say_left_out(config, ports, queue)
    return part


def _queues(root: Place, table: str, field_: str) -> Iterator[tuple[tuple[str, int], str]]:
    """Profiles by port and queue: the keys are `Ethernet0|3`, `Ethernet0,Ethernet4|3-4`."""
    for entry in root.each(table):
        ports, _, queues = entry.name.partition("|")
        profile = reference(entry.text(field_))
        span = re.fullmatch(r"(\d{1,2})(?:-(\d{1,2}))?", queues.rpartition("|")[2])
        if not profile:
            continue
        if not span:
            raise entry.file.wrong(entry.line, table, entry.name, "PORT|QUEUE, such as Ethernet0|3 or Ethernet0|3-4")
        for port in ports.split(","):
            for queue in range(int(span[1]), int(span[2] or span[1]) + 1):
                yield (port.strip(), queue), profile


def reference(text: str) -> str:
    """A name: `AZURE`, or `[WRED_PROFILE|AZURE]` of older versions."""
    return text.strip("[]").rpartition("|")[2]


def profiles(root: Place, queue: int | None) -> tuple[str, str]:
    """WRED and buffer profile of most ports for a queue, of the user or the only one; empty texts for none."""
    config = _config(root)
    ports = _ports(config, _chosen_queue(config, queue))
    counts = Counter((port.wred, port.buffer) for port in ports)
    return counts.most_common(1)[0][0] if counts else (_only(config, "WRED_PROFILE"), _only(config, "BUFFER_PROFILE"))


def paused(root: Place, queue: int | None) -> tuple[int, list[str], FlowControl]:
    """The queue of the user or the only one, the ports, and the flow control of this queue."""
    config = _config(root)
    chosen = _chosen_queue(config, queue)
    ports = [port.place.name for port in _ports(config, chosen)]
    return chosen, ports, flow_control(root, chosen, ports, dict(_queues(root, "BUFFER_PG", "profile")))


def exponent(share: float) -> int:
    """The power of two next to a share of the free memory, from 2^-8 to 2^8."""
    return min(max(round(math.log2(share)), -8), 8)


def _config(root: Place) -> _Config:
    wred, buffer = (dict(_queues(root, *of)) for of in (("QUEUE", "wred_profile"), ("BUFFER_QUEUE", "profile")))
    return _Config(root, wred=wred, buffer=buffer)


def _chosen_queue(config: _Config, wished: int | None) -> int:
    """The queue of the user, or the only one with a WRED profile of its own."""
    if wished is not None:
        if wished not in {queue for _, queue in (*config.wred, *config.buffer)}:
            known = sorted({queue for _, queue in (*config.wred, *config.buffer)})
            raise ConfigError(
                f"--queue: {wished}: no port has a profile for it; expected one of {', '.join(map(str, known))}"
            )
        return wished
    marked = sorted({queue for _, queue in config.wred})
    kinds: dict[frozenset[tuple[str, str, str]], list[int]] = {}
    for queue in marked:
        kind = {
            (port, name, config.buffer.get((port, queue), "")) for (port, q), name in config.wred.items() if q == queue
        }
        kinds.setdefault(frozenset(kind), []).append(queue)
    if len(kinds) > 1:
        names = "; ".join(
            f"queue {', '.join(map(str, queues))}: {', '.join(sorted({name for _, name, _ in kind}))}"
            for kind, queues in kinds.items()
        )
        raise ConfigError(
            f"{config.root.file.path}: queues have different profiles ({names}), and a port has one queue here. Choose "
            f"one, such as --queue {marked[0]}"
        )
    return marked[0] if marked else min((queue for _, queue in config.buffer), default=0)


def _ports(config: _Config, queue: int) -> list[_Port]:
    found, down = [], []
    for place in config.root.each("PORT") if config.root.at("PORT") else _named_ports(config.root):
        if place.text("admin_status") == "down":
            down.append(place.name)
            continue
        key = (place.name, queue)
        found.append(_Port(place, config.wred.get(key, ""), config.buffer.get(key, "")))
    if down:
        config.part.left_out.append(f"{counted(len(down), 'port')} that the administrator set down: {few(down)}.")
    return sorted(
        found, key=lambda port: [int(part) if part.isdigit() else 0 for part in re.findall(r"\d+", port.place.name)]
    )


def _named_ports(root: Place) -> list[Place]:
    """Ports that profiles name, of a part of a configuration without a table of ports."""
    entries = [each for table in ("QUEUE", "BUFFER_QUEUE", "BUFFER_PG") for each in root.each(table)]
    names = dict.fromkeys(port.strip() for each in entries for port in each.name.partition("|")[0].split(","))
    return [Place(root.file, {}, ("PORT", name), root.lines) for name in names]


def _only(config: _Config, table: str) -> str:
    """The only profile of a table without ports; empty if there is none or another number."""
    names = [each.name for each in config.root.each(table)]
    return names[0] if len(names) == 1 else ""


def _values(config: _Config, port: _Port) -> dict[str, Value]:
    room = _paused(config, port) if port.place.name in config.paused.by_port else _buffer(config, port)
    return {**_wred(config, port.wred), **room}


def _wred(config: _Config, name: str) -> dict[str, Value]:
    if not name:
        return {"mark_above": Value("unlimited", "the queue has no WRED profile", is_assumed=True)}
    profile = config.root.need("WRED_PROFILE", name)
    colour = next((each for each in COLOURS if profile.at(f"{each}_max_threshold")), COLOURS[0])
    least, most = (profile.need(f"{colour}_{end}_threshold") for end in ("min", "max"))
    low, high = (each.number("a number of bytes") for each in (least, most))
    if high < low:
        raise most.wrong(f"at least {colour}_min_threshold = {low:.0f}")
    share = profile.at(f"{colour}_drop_probability")
    percent = share.number("a share in per cent, from 0 to 100") if share else 100.0
    if percent > 100:
        assert share
        raise share.wrong("a share in per cent, from 0 to 100")
    said = share.origin if share else f"{profile.origin} has no {colour}_drop_probability; SAI's default is 100 %"
    if profile.text(f"wred_{colour}_enable") == "false":
        return {"mark_above": Value("unlimited", f"{profile.origin}: wred_{colour}_enable is false")}
    return {
        "mark_above": Value(f"{max(low, 1):.0f}B", least.origin),
        "mark_all_above": Value(f"{max(high, 1):.0f}B", most.origin),
        "mark_probability": Value(percent / 100, said),
    }


def _paused(config: _Config, port: _Port) -> dict[str, Value]:
    """The room of a port that pauses: the pool at ingress and what its priority group may hold."""
    paused = config.paused
    assert paused.memory
    limit = f"the thresholds at ingress limit the port, not {port.buffer}" if port.buffer else "no file limits the port"
    room = {"buffer": Value("unlimited", limit), "memory": paused.memory}
    return {**room, **paused.by_port[port.place.name]}


def _buffer(config: _Config, port: _Port) -> dict[str, Value]:
    """The room of a port: a static threshold, or a part of the free pool."""
    if not port.buffer:
        return {}
    profile = config.root.need("BUFFER_PROFILE", port.buffer)
    static, dynamic = profile.at("static_th"), profile.at("dynamic_th")
    if static:
        return {"buffer": Value(f"{static.number('a number of bytes', 1):.0f}B", static.origin)}
    if not dynamic:
        raise profile.wrong("static_th or dynamic_th")
    exponent = dynamic.number("an exponent of 2 from -8 to 8", -8, 8)
    pool = config.root.need("BUFFER_POOL", reference(profile.text("pool")))
    size = pool.at("size")
    found = {"buffer": Value("unlimited", f"{dynamic.origin}: the pool limits the port")}
    if size is None:
        config.part.notes.append(
            f"{pool.origin} has no size, since the switch computes it: give it with --set switch.memory=16MB."
        )
        return found
    return found | {
        "memory": Value(f"{size.number('a number of bytes', 1):.0f}B", size.origin),
        "memory_alpha": Value(2.0**exponent, f"{dynamic.origin}: 2^{exponent:g}"),
    }


def _rack(
    config: _Config, ports: Sequence[_Port], values: Mapping[_Port, Mapping[str, Value]]
) -> tuple[Network, dict[str, Mapping[str, Value]]] | None:
    """The switch with a host at each port, and the values of each of these ports by the host's name."""
    if len(ports) < 2:
        return None
    name = plain_name(config.root.text("DEVICE_METADATA", "localhost", "hostname")) or "switch"
    hosts = {port: f"h{number}" for number, port in enumerate(ports)}
    metres = {each.name: _metres(each) for table in config.root.each("CABLE_LENGTH") for each in table.each()}
    links = [
        Link(name, hosts[port], written(port.bps) if port.bps else "", _delay(metres.get(port.place.name, 0.0)))
        for port in ports
    ]
    nodes = [Node(name, False, "leaf"), *(Node(host, True) for host in hosts.values())]
    first, last = ports[0].place, ports[-1].place
    network = Network(
        nodes, links, f"{config.root.file.name}, PORT: h0 is at {first.name}, {hosts[ports[-1]]} at {last.name}"
    )
    return network, {hosts[port]: values[port] for port in ports}


def _metres(length: Place) -> float:
    found = re.fullmatch(r"(\d{1,6}(?:\.\d+)?)m", length.text())
    if not found:
        raise length.wrong("metres such as 40m")
    return float(found[1])


def _delay(metres: float) -> str:
    return f"{metres * _NS_PER_METRE * 1000:.0f}ps" if metres else ""


def _say_queue(config: _Config, queue: int, ports: Sequence[_Port]) -> None:
    root, part = config.root, config.part
    part.notes.append(f"A port has one queue here: the file's queue {queue}, alone at its port's rate.")
    if config.paused.by_port:
        paused = counted(len(config.paused.by_port), "port")
        part.notes.append(f"PFC of this queue: {paused} pause the other end above switch.xoff.")
    maps = {
        (reference(each.text("dscp_to_tc_map")), reference(each.text("tc_to_queue_map")))
        for each in root.each("PORT_QOS_MAP")
    }
    for dscp_map, queue_map in sorted(maps):
        to_queue = {each.name: each.text() for each in root.each("TC_TO_QUEUE_MAP", queue_map)}
        codes = [each.name for each in root.each("DSCP_TO_TC_MAP", dscp_map) if to_queue.get(each.text()) == str(queue)]
        if codes:
            part.notes.append(f"Queue {queue} takes packets of DSCP {few(codes, 12)}, by {dscp_map} and {queue_map}.")


def _say_left_out(config: _Config, ports: Sequence[_Port], queue: int) -> None:
    root, left_out = config.root, config.part.left_out
    for name in sorted({port.wred for port in ports if port.wred} or {_only(config, "WRED_PROFILE")} - {""}):
        profile = root.need("WRED_PROFILE", name)
        sets = {
            colour: [profile.text(f"{colour}_{of}") for of in ("min_threshold", "max_threshold", "drop_probability")]
            for colour in COLOURS
        }
        used = next((each for each in COLOURS if sets[each][1]), COLOURS[0])
        others = [each for each in COLOURS if each != used and any(sets[each]) and sets[each] != sets[used]]
        if others:
            left_out.append(
                f"The curves of {name} for {' and '.join(others)}: packets have no colour here, and all are {used}."
            )
        ecn = profile.text("ecn") or "ecn_none"
        if used not in ecn and ecn != "ecn_all":
            left_out.append(
                f"ecn = {ecn} of {name}: WRED drops {used} packets. Add queue.ecn=false to the scheme for this."
            )
    pools = list(root.each("BUFFER_POOL"))
    ingress = [pool.name for pool in pools if pool.text("type") == "ingress" and pool.name != config.paused.pool]
    if ingress or (root.at("BUFFER_PG") and not config.paused.pool):
        left_out.append(
            f"Buffers at ingress ({few(ingress) or 'BUFFER_PG'}): a packet takes room at its output alone here."
        )
    schedulers = {reference(each.text("scheduler")) for each in root.each("QUEUE") if each.text("scheduler")}
    if schedulers:
        left_out.append(f"Schedulers ({few(sorted(schedulers))}): the other queues of a port send nothing here.")
    reserved = {
        each.text("size") for each in root.each("BUFFER_PROFILE") if each.name in {port.buffer for port in ports}
    }
    if reserved - {"", "0"}:
        left_out.append(f"Reserved room of a queue ({few(sorted(reserved - {'', '0'}))} bytes): the pool alone counts.")
    others = [each.name for each in root.each() if each.name not in _READ]
    if others:
        left_out.append(f"{counted(len(others), 'table')} about other things: {few(others)}.")


SONIC: Format = Format(
    "sonic",
    "SONiC's config_db.json: ports, marking and buffers of a switch",
    '"PORT", "QUEUE", "WRED_PROFILE", "BUFFER_PROFILE" and "BUFFER_POOL"',
    _is_of,
    _read,
    options=("queue",),
)
