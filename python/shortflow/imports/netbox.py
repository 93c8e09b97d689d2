"""NetBox's devices, interfaces and cables in JSON, from its REST API or its GraphQL API.

Source: NetBox's REST API, `/api/dcim/`: `speed` of an interface is in kbit/s, `type` is its Ethernet type, and
`connected_endpoints` are the interfaces at the other end, beyond patch panels.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from shortflow.imports import rates
from shortflow.imports.documents import Place, read_json
from shortflow.imports.files import File
from shortflow.imports.networks import cable_delay, completed, few, plain_name, tier_name
from shortflow.imports.parts import Format, Link, Network, Node, Options, Part
from shortflow.quantities import counted

_HOSTS = re.compile(r"server|host|compute|hypervisor|storage|gpu|node", re.IGNORECASE)
_ABSENT = ("planned", "inventory", "decommissioning")
"""Status of devices and cables that are not installed."""
_METRES = {"km": 1000.0, "m": 1.0, "cm": 0.01, "mi": 1609.344, "ft": 0.3048, "in": 0.0254}
End = tuple[str, str]


@dataclass
class _Found:
    """Contents of all files."""

    roles: dict[str, str] = field(default_factory=dict)
    speeds: dict[End, float] = field(default_factory=dict)
    names: dict[str, End] = field(default_factory=dict)
    """Device and interface, by NetBox's id of the interface."""
    off: set[End] = field(default_factory=set)
    links: dict[frozenset[End], str] = field(default_factory=dict)
    """Delay by the two ends. Empty if unknown."""
    absent: set[str] = field(default_factory=set)
    """Devices that are planned, in stock or decommissioned."""
    has_speeds: bool = False
    cables: list[Place] = field(default_factory=list)
    elsewhere: list[str] = field(default_factory=list)


def _is_of(file: File) -> bool:
    head = file.head.lstrip()
    if head[:1] not in ("{", "["):
        return False
    if '"device":' in head and any(sign in head for sign in ('"cable":', '"speed":', '"connected_endpoints":')):
        return True
    signs = ('"a_terminations"', '"termination_a', '"connected_endpoint', '"device_type"', "/api/dcim/")
    return any(sign in head for sign in signs)


def _read_all(files: Sequence[File], options: Options) -> Part:
    found = _Found()
    for file in files:
        for item, device in _items(read_json(file)):
            _add(item, device, found)
    for cable in found.cables:
        _add_cable(cable, found)
    if not found.links:
        raise files[0].wrong(
            1,
            "links",
            0,
            "interfaces with connected_endpoints, or cables, of NetBox's /api/dcim/interfaces/ and /api/dcim/cables/",
        )
    part = Part()
    links, off, uneven = [], [], []
    for ends, delay in found.links.items():
        (a, port), (b, _) = sorted(ends)
        if ends & found.off:
            off.append(f"{a} {port}")
            continue
        if gone := {a, sorted(ends)[1][0]} & found.absent:
            off.append(f"{a} {port} ({', '.join(sorted(gone))} is not there)")
            continue
        known = [found.speeds[end] for end in ends if end in found.speeds]
        uneven += [f"{a} {port}"] if len(set(known)) > 1 else []
        links.append(Link(plain_name(a), plain_name(b), rates.written(min(known)) if known else "", delay))
    if off:
        part.left_out.append(
            f"{counted(len(off), 'link')} of interfaces that are disabled, or of devices by their status: {few(off)}."
        )
    if uneven:
        part.notes.append(f"A link has the rate of its slower interface: {few(uneven)}.")
    if found.has_speeds:
        part.notes.append("speed of interfaces is in kbit/s, as NetBox defines it.")
    if found.elsewhere:
        part.left_out.append(
            f"{counted(len(found.elsewhere), 'cable')} without an interface at both ends: {few(found.elsewhere)}. "
            "Import /api/dcim/interfaces/ too: its connected_endpoints name the interfaces behind patch panels."
        )
    devices = dict.fromkeys(name for ends in found.links for name, _ in sorted(ends))
    hosts = [name for name in devices if _HOSTS.search(found.roles.get(name, ""))]
    if hosts and not options.host_names:
        words = sorted({found.roles[name] for name in hosts})
        part.notes.append(f"Devices of these roles are hosts: {few(words)}. --host-names gives other ones.")
    nodes = [
        Node(
            plain_name(name),
            name in hosts,
            "" if name in hosts else tier_name(found.roles.get(name, "").lower().replace(" ", "-")),
        )
        for name in devices
    ]
    origin = files[0].origin() if len(files) == 1 else ", ".join(file.name for file in files)
    part.network = Network(nodes, links, origin)
    return completed(part, options)


def _items(place: Place, device: str = "") -> Iterator[tuple[Place, str]]:
    """Devices, interfaces with their enclosing device, and cables, at any depth of lists."""
    value = place.value
    if isinstance(value, Mapping):
        if _is_cable(value) or "device_type" in value or ("name" in value and (device or "device" in value)):
            yield place, device
            return
        if "name" in value and "interfaces" in value:
            yield place, ""
            for inner in place.each("interfaces"):
                yield from _items(inner, place.text("name"))
            return
    elif not isinstance(value, list):
        return
    for inner in place.each():
        yield from _items(inner)


def _is_cable(value: Mapping[str, object]) -> bool:
    return "a_terminations" in value or "termination_a" in value


def _add(item: Place, device: str, found: _Found) -> None:
    if _is_cable(item.value):
        found.cables.append(item)
        return
    device = device or _name_of(item.at("device"))
    if not device:
        found.roles[item.text("name")] = _word(item.at("role") or item.at("device_role"))
        if _word(item.at("status")) in _ABSENT:
            found.absent.add(item.text("name"))
        return
    end = (device, item.text("name"))
    found.names[item.text("id")] = end
    enabled = item.at("enabled")
    if enabled is not None and enabled.value is False:
        found.off.add(end)
    speed, kind = item.at("speed"), _word(item.at("type"))
    rate = speed.number("a speed in kbit/s") * 1000 if speed else rates.of_ethernet(kind.replace("_", "-"))
    found.has_speeds |= speed is not None
    if rate:
        found.speeds[end] = rate
    for other in (*item.each("connected_endpoints"), *filter(None, [item.at("connected_endpoint")])):
        there = _name_of(other.at("device"))
        if there:
            found.links.setdefault(frozenset((end, (there, other.text("name")))), "")


def _add_cable(cable: Place, found: _Found) -> None:
    if _word(cable.at("status")) in _ABSENT:
        found.elsewhere.append(f"cable {cable.text('id')} ({_word(cable.at('status'))})")
        return
    if "a_terminations" in cable.value:
        sides = [list(cable.each(side)) for side in ("a_terminations", "b_terminations")]
    else:
        sides = [list(filter(None, [cable.at(side)])) for side in ("termination_a", "termination_b")]
    fewer, more = sorted(([_end(each, found) for each in side] for side in sides), key=len)
    pairs = list(zip(fewer * len(more) if len(fewer) == 1 else fewer, more, strict=False))  # one end of a breakout
    delay = _delay(cable)
    for one, other in pairs:
        if one and other and one != other:
            key = frozenset((one, other))
            found.links[key] = found.links.get(key) or delay
    if not pairs or len(pairs) < len(more) or not all(one and other and one != other for one, other in pairs):
        found.elsewhere.append(cable.text("label") or f"cable {cable.text('id')}")


def _delay(cable: Place) -> str:
    length, unit = cable.at("length"), _word(cable.at("length_unit"))
    if length is None:
        return ""
    if unit not in _METRES:
        raise (cable.at("length_unit") or length).wrong(f"a length_unit of {', '.join(_METRES)}")
    return cable_delay(length.number("a length") * _METRES[unit])


def _end(termination: Place, found: _Found) -> End | None:
    """Device and interface at the end of a cable. None for another kind of end, or an unknown interface."""
    kind = termination.text("object_type")
    if kind and kind != "dcim.interface":
        return None
    inner = termination.at("object") or termination
    device = _name_of(inner.at("device"))
    if device:
        return (device, inner.text("name") or inner.text("display"))
    return found.names.get(termination.text("object_id") or inner.text("id"))


def _name_of(device: Place | None) -> str:
    if device is None:
        return ""
    return device.text("name") or device.text("display") if isinstance(device.value, Mapping) else str(device.value)


def _word(place: Place | None) -> str:
    """The `slug`, `value` or `name` of a choice, or a text."""
    if place is None:
        return ""
    if isinstance(place.value, Mapping):
        return place.text("slug") or place.text("value") or place.text("name")
    return str(place.value)


NETBOX: Format = Format(
    "netbox",
    "NetBox's devices, interfaces and cables in JSON, in one file or several: a network",
    'lists of /api/dcim/interfaces/ with "connected_endpoints", of cables with "a_terminations", and of devices',
    _is_of,
    lambda file, options: _read_all([file], options),
    _read_all,
    options=(
        "host_names",
        "hosts_at",
    ),
)
