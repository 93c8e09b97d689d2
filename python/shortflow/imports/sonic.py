"""SONiC's `config_db.json` as a scenario: marking and buffers of the ports of a switch.

Source: SONiC's Configuration.md and its YANG models; SAI's `saiwred.h` and `saibuffer.h`. Speeds are in Mbit/s,
thresholds in bytes, drop probabilities in per cent. With `dynamic_th` n, a queue may hold 2^n times the free pool.
"""

import re
from collections.abc import Mapping, Sequence

from shortflow.imports.documents import Place, read_json
from shortflow.imports.files import File
from shortflow.imports.networks import cable_delay, few, plain_name
from shortflow.imports.parts import Format, Link, Network, Node, Options, Part, Ports, Value
from shortflow.imports.rates import written
from shortflow.imports.sonic_pfc import reference, referred
from shortflow.imports.sonic_switch import COLOURS, Port, Switch
from shortflow.quantities import counted

_OF_COLOURS = tuple(
    name
    for colour in COLOURS
    for name in (
        *(f"{colour}_{of}" for of in ("min_threshold", "max_threshold", "drop_probability")),
        f"wred_{colour}_enable",
    )
)
_FIELDS: Mapping[str, Sequence[str]] = {
    "PORT": ("speed", "admin_status", "mtu"),
    "WRED_PROFILE": ("ecn", *_OF_COLOURS),
    "BUFFER_PROFILE": ("pool", "size", "static_th", "dynamic_th", "xoff", "xon", "xon_offset"),
    "BUFFER_POOL": ("type", "mode", "size", "xoff"),
    "BUFFER_QUEUE": ("profile",),
    "BUFFER_PG": ("profile",),
    "QUEUE": ("wred_profile", "scheduler"),
    "PORT_QOS_MAP": ("dscp_to_tc_map", "tc_to_queue_map", "tc_to_pg_map", "pfc_to_queue_map", "pfc_enable"),
    "DEFAULT_LOSSLESS_BUFFER_PARAMETER": ("default_dynamic_th",),
}
"""Fields of each table that are read, or that the summary names with a reason."""
_READ = (
    *("SCHEDULER", "DSCP_TO_TC_MAP", "TC_TO_QUEUE_MAP", "TC_TO_PRIORITY_GROUP_MAP", "MAP_PFC_PRIORITY_TO_QUEUE"),
    *("CABLE_LENGTH", "DEVICE_METADATA", "PFC_WD"),
)
_LIMITS = ("BUFFER_PORT_INGRESS_PROFILE_LIST", "BUFFER_PORT_EGRESS_PROFILE_LIST")
_TABLE = re.compile(r'"(PORT|WRED_PROFILE|BUFFER_PROFILE|BUFFER_POOL)"\s*:\s*\{')
_OVER = "queue.weight=1+queue.gentle=false+queue.spread=false+queue.drop_not_ect=false"
SCHEMES = (f"dctcp over red+{_OVER}", "dcqcn+queue.min=auto+queue.drop_not_ect=false")
"""Schemes with SONiC's WRED on the instantaneous queue.

Each packet is marked independently, all packets above the maximum threshold are marked, and no ACK is dropped.
"""


def _is_of(file: File) -> bool:
    return file.head.lstrip()[:1] == "{" and bool(
        re.search(r'"[A-Z][A-Z_]+"\s*:', file.head) and _TABLE.search(file.text)
    )


def _read(file: File, options: Options) -> Part:
    switch, part = Switch.of(read_json(file), options.queue), Part()
    ports = switch.ports
    if not ports and not switch.root.at("WRED_PROFILE"):
        raise file.wrong(1, "PORT", "no ports", "a table PORT, or WRED_PROFILE")
    part.left_out += [*switch.left_out, *switch.paused.left_out]
    values = {port: _values(switch, port, part) for port in ports}
    by_rate, several = _by_rate(values)
    if not ports:
        by_rate[0.0] = _values(switch, switch.usual, part)
    part.ports = Ports(by_rate, _rack(switch, values), file.origin(), several=several)
    for scheme in SCHEMES:
        part.schemes.append(
            Value(scheme, "WRED of the switch on the queue as it is; config_db.json has no weight of an average")
        )
    _say_queue(switch, part)
    _say_left_out(switch, part)
    return part


def _by_rate(values: Mapping[Port, Mapping[str, Value]]) -> tuple[dict[float, Mapping[str, Value]], dict[float, str]]:
    """The most frequent settings of each rate, and sentences on rates whose ports have different settings."""
    by_rate: dict[float, Mapping[str, Value]] = {}
    several: dict[float, str] = {}
    for rate in sorted({port.bps for port in values}):
        alike: dict[tuple[tuple[str, object], ...], list[Port]] = {}
        for port, of_port in values.items():
            if port.bps == rate:
                alike.setdefault(tuple((key, value.value) for key, value in sorted(of_port.items())), []).append(port)
        usual, *others = sorted(alike.values(), key=len, reverse=True)
        by_rate[rate] = values[usual[0]]
        if others:
            names = few(port.name for group in others for port in group)
            several[rate] = (
                f"Ports of {written(rate) if rate else 'unknown rate'} have different settings. Links take those of "
                f"{usual[0].name}, which {counted(len(usual), 'port')} have, and not those of {names}."
            )
    return by_rate, several


def _values(switch: Switch, port: Port, part: Part) -> dict[str, Value]:
    if port.name not in switch.paused.by_port:
        return {**_wred(port.wred), **_buffer(switch.root, port, part)}
    # A port that pauses is limited where packets come in, by its priority group and the pool, so its queue is not.
    assert switch.paused.memory
    _, name = port.profiles
    limit = f"the thresholds at ingress limit the port, not {name}" if name else "no file limits the port"
    room = {"buffer": Value("unlimited", limit), "memory": switch.paused.memory}
    return {**_wred(port.wred), **room, **switch.paused.by_port[port.name]}


def _wred(profile: Place | None) -> dict[str, Value]:
    if profile is None:
        return {"mark_above": Value("unlimited", "the queue has no WRED profile", is_assumed=True)}
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
        "mark_probability": Value(percent / 100, said, is_assumed=share is None),
    }


def _buffer(root: Place, port: Port, part: Part) -> dict[str, Value]:
    """Buffer of a port: a static threshold, or a share of the free pool."""
    profile = port.buffer
    if profile is None:
        return {}
    static, dynamic = profile.at("static_th"), profile.at("dynamic_th")
    if static:
        return {"buffer": Value(f"{static.number('a number of bytes', 1):.0f}B", static.origin)}
    if not dynamic:
        raise profile.wrong("static_th or dynamic_th")
    exponent = dynamic.number("an exponent of 2 from -8 to 8", -8, 8)
    pool = referred(root, "BUFFER_POOL", profile.need("pool"))
    size = pool.at("size")
    found = {"buffer": Value("unlimited", f"{dynamic.origin}: the pool limits the port")}
    if size is None:
        said = f"{pool.origin} has no size, since the switch computes it: give it with --set switch.memory=16MB."
        part.notes += [said] if said not in part.notes else []
        return found
    return found | {
        "memory": Value(f"{size.number('a number of bytes', 1):.0f}B", size.origin),
        "memory_alpha": Value(2.0**exponent, f"{dynamic.origin}: 2^{exponent:g}"),
    }


def _rack(
    switch: Switch, values: Mapping[Port, Mapping[str, Value]]
) -> tuple[Network, dict[str, Mapping[str, Value]]] | None:
    """The switch with a host at each port, and the settings of each port by the host's name."""
    root, ports = switch.root, switch.ports
    if len(ports) < 2:
        return None
    name = plain_name(root.text("DEVICE_METADATA", "localhost", "hostname")) or "switch"
    hosts = {port: f"h{number}" for number, port in enumerate(ports)}
    metres = {each.name: _metres(each) for table in root.each("CABLE_LENGTH") for each in table.each()}
    links = [
        Link(
            name,
            hosts[port],
            written(port.bps) if port.bps else "",
            cable_delay(metres[port.name]) if metres.get(port.name) else "",
        )
        for port in ports
    ]
    nodes = [Node(name, False, "leaf"), *(Node(host, True) for host in hosts.values())]
    first, last = ports[0], ports[-1]
    network = Network(nodes, links, f"{root.file.name}, PORT: h0 is at {first.name}, {hosts[ports[-1]]} at {last.name}")
    return network, {hosts[port]: values[port] for port in ports}


def _metres(length: Place) -> float:
    found = re.fullmatch(r"(\d{1,6}(?:\.\d+)?)m", length.text())
    if not found:
        raise length.wrong("metres such as 40m")
    return float(found[1])


def _say_queue(switch: Switch, part: Part) -> None:
    root, queue = switch.root, switch.queue
    part.notes.append(f"A port has one queue in Shortflow, with the whole rate of the port: queue {queue} of the file.")
    if any(each.at("speed") for each in root.each("PORT")):
        part.notes.append("speed of PORT is in Mbit/s, as SONiC defines it.")
    if switch.paused.by_port:
        paused = counted(len(switch.paused.by_port), "port")
        part.notes.append(f"PFC of this queue: {paused} pause the other end above switch.xoff.")
    maps = {
        (reference(each.at("dscp_to_tc_map")), reference(each.at("tc_to_queue_map")))
        for each in root.each("PORT_QOS_MAP")
    }
    for dscp_map, queue_map in sorted(maps):
        to_queue = {each.name: each.text() for each in root.each("TC_TO_QUEUE_MAP", queue_map)}
        codes = [each.name for each in root.each("DSCP_TO_TC_MAP", dscp_map) if to_queue.get(each.text()) == str(queue)]
        if codes:
            part.notes.append(f"Queue {queue} takes packets of DSCP {few(codes, 12)}, by {dscp_map} and {queue_map}.")


def _say_left_out(switch: Switch, part: Part) -> None:
    root, left_out = switch.root, part.left_out
    used_ports = switch.ports or [switch.usual]
    curves = {port.wred.name: port.wred for port in used_ports if port.wred}
    for name, profile in sorted(curves.items()):
        sets = {
            colour: [profile.text(f"{colour}_{of}") for of in ("min_threshold", "max_threshold", "drop_probability")]
            for colour in COLOURS
        }
        used = next((each for each in COLOURS if sets[each][1]), COLOURS[0])
        others = [each for each in COLOURS if each != used and any(sets[each]) and sets[each] != sets[used]]
        if others:
            left_out.append(
                f"The curves of {name} for {' and '.join(others)}: packets have no colour in Shortflow, and all "
                f"packets are {used}."
            )
        ecn = profile.text("ecn") or "ecn_none"
        if used not in ecn and ecn != "ecn_all":
            left_out.append(
                f"ecn = {ecn} of {name}: WRED drops {used} packets. Add queue.ecn=false to the scheme for this."
            )
    pools = list(root.each("BUFFER_POOL"))
    ingress = [pool.name for pool in pools if pool.text("type") == "ingress" and pool.name != switch.paused.pool]
    if ingress or (root.at("BUFFER_PG") and not switch.paused.pool):
        left_out.append(
            f"Buffers at ingress ({few(ingress) or 'BUFFER_PG'}): in Shortflow, a packet takes room only at its output."
        )
    schedulers = {reference(each.at("scheduler")) for each in root.each("QUEUE") if each.text("scheduler")}
    if schedulers:
        left_out.append(
            f"Schedulers ({few(sorted(schedulers))}): the other queues of a port send nothing in Shortflow."
        )
    reserved = {port.buffer.text("size") for port in used_ports if port.buffer} - {"", "0"}
    if reserved:
        left_out.append(f"Reserved room of a queue ({few(sorted(reserved))} bytes): only the pool counts in Shortflow.")
    _say_unread(root, left_out)


def _say_unread(root: Place, left_out: list[str]) -> None:
    """Reports fields and tables without a counterpart in a scenario."""
    frames = sorted({each.text("mtu") for each in root.each("PORT")} - {""})
    if frames:
        left_out.append(f"mtu of PORT ({few(frames)}): mtu is a limit; tcp.mss and tcp.header set the size of packets.")
    limits = [name for name in _LIMITS if root.at(name)]
    if limits:
        left_out.append(f"{' and '.join(limits)}: Shortflow has no limit for all queues or groups of a port together.")
    unread: list[str] = []
    for table, known in _FIELDS.items():
        names = dict.fromkeys(each.name for entry in root.each(table) for each in entry.each())
        unread += [f"{table}.{name}" for name in names if name not in known]
    if unread:
        left_out.append(f"Fields without a counterpart: {few(unread, 20)}.")
    others = [each.name for each in root.each() if each.name not in (*_FIELDS, *_READ, *_LIMITS)]
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
