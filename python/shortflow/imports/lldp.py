"""LLDP neighbours in JSON: lldpcli, EOS, NX-OS, NAPALM and tables of parsed commands, of one or several devices.

Source: IEEE 802.1AB; lldpcli's `-f json` and `-f json0`; the drivers of NAPALM; the templates of ntc-templates.

Both ends of a link list the link, often with different port names. If two devices list different numbers of links
between them, the larger number counts.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from shortflow.imports import rates
from shortflow.imports.documents import Place, read_json
from shortflow.imports.files import File
from shortflow.imports.networks import completed, few, plain_name
from shortflow.imports.parts import Format, Link, Network, Node, Options, Part
from shortflow.quantities import counted

_ROWS: Sequence[tuple[str, str]] = (
    ("neighborDevice", "port"),
    ("remote_device", "local_interface"),
    ("neighbor_name", "local_interface"),
    ("neighbor", "local_interface"),
    ("remote_system_name", "local_port"),
    ("systemName", ""),
    ("l_port_id", "l_port_id"),
    ("Nbr-System", "Nbr-port"),
    ("lldp-remote-system-name", "lldp-local-port-id"),
    ("lldp-remote-chassis-id", "lldp-local-port-id"),
    ("hostname", ""),
)
"""Key that identifies a row, and key of the row's local port. Without the second key, the enclosing key is the port.

A row of SR Linux has only the neighbour's port. Values of Junos are lists of an object with `data`.
"""
_NAMES = {"l_port_id": "chassis_id"}
"""Key of the neighbour's name, if it differs from the key that identifies a row."""
_WRAPPERS = re.compile(
    r"lldp.*|.*neighbou?rs?(_detail)?|result|lldpNeighborInfo|TABLE_nbor.*|ROW_nbor.*|output|data|interfaces?",
    re.IGNORECASE,
)
_MANAGEMENT = re.compile(r"mgmt|management|ma\d|me\d|fxp\d", re.IGNORECASE)
_SIGNS = (
    '"Nbr-System"',
    '"lldp-neighbors-information"',
    '"lldp"',
    '"lldpNeighbors"',
    '"remote_system_name"',
    '"neighbor_interface"',
    '"TABLE_nbor',
)


@dataclass(frozen=True)
class _Seen:
    """A neighbour that a device reports at a port."""

    device: str
    port: str
    neighbour: str
    rate: str
    is_station: bool
    unread: str = ""
    """Speed that is not a single rate with its unit."""


def _is_of(file: File) -> bool:
    head = file.head.lstrip()
    if head[:1] not in ("{", "["):
        return False
    return any(sign in head for sign in _SIGNS) or bool(re.search(r'"hostname":\s*"[^"]*",\s*"port":', head))


def _read_all(files: Sequence[File], options: Options) -> Part:
    seen = [each for file in files for each in _seen(file)]
    if not seen:
        raise files[0].wrong(
            1, "neighbours", "none", "LLDP neighbours in JSON, such as those of `lldpcli -f json show neighbors`"
        )
    part = Part()
    management = [f"{each.device} {each.port}" for each in seen if _MANAGEMENT.match(each.port)]
    if management:
        part.left_out.append(f"{counted(len(management), 'neighbour')} at ports for management: {few(management)}.")
    seen = [each for each in seen if not _MANAGEMENT.match(each.port) and each.neighbour]
    locals_ = {each.device for each in seen}
    short = {each.split(".")[0]: each for each in locals_}
    named = {each.neighbour: short.get(each.neighbour.split(".")[0], each.neighbour) for each in seen}
    views: dict[tuple[str, str], list[_Seen]] = defaultdict(list)
    for each in seen:
        views[each.device, named[each.neighbour]].append(each)
    links = []
    uneven = []
    for (a, b), of_a in views.items():
        of_b = views.get((b, a), [])
        if (len(of_a), a) > (len(of_b), b) or not of_b:
            rated = [each.rate for each in of_b]
            links += [Link(a, b, each.rate or (rated[at] if at < len(rated) else "")) for at, each in enumerate(of_a)]
            if of_b and len(of_b) < len(of_a):
                uneven.append(f"{a} lists {len(of_a)} to {b}, and {b} lists {len(of_b)}")
    if uneven:
        part.notes.append(f"The end with more links counts: {few(uneven)}.")
    if labels := list(dict.fromkeys(each.unread for each in seen if each.unread)):
        part.notes.append(f"Speeds that are not one rate with its unit are not read: {few(labels)}.")
    stations = {named[each.neighbour] for each in seen if each.is_station}
    names = dict.fromkeys(name for link in links for name in (link.a, link.b))
    if stations and not options.host_names:
        part.notes.append(f"Neighbours with the capability of a station alone are hosts: {few(sorted(stations))}.")
    silent = [name for name in names if name not in locals_ | stations]
    if silent and not options.host_names:
        part.notes.append(
            f"Neighbours that list no neighbours and no capabilities are switches: {few(silent)}. --host-names "
            "names hosts."
        )
    origin = files[0].origin() if len(files) == 1 else f"{files[0].name} and {len(files) - 1} more"
    plain = {name: plain_name(name) for name in names}
    nodes = [Node(plain[name], name in stations) for name in names]
    linked = [Link(plain[link.a], plain[link.b], link.rate) for link in links]
    part.network = Network(nodes, linked, origin)
    return completed(part, options)


def _seen(file: File) -> Iterator[_Seen]:
    """Neighbours in a file. A file that does not name its device has the device's name, as in `leaf1-lldp.json`."""
    document = read_json(file)
    device = re.sub(
        r"[-_.]?(show[-_.])?lldp([-_.]?neighbou?rs?)?([-_.]detail)?[-_.]?", "", file.path.stem, flags=re.IGNORECASE
    )
    yield from _of(document, device or file.path.stem)


def _of(place: Place, device: str) -> Iterator[_Seen]:
    if isinstance(place.value, Mapping):
        known = next(((key, port) for key, port in _ROWS if key in place.value), None)
        if known and _first(place, known[0]):
            yield _row(place, *known, device)
            return
        if "chassis" in place.value and "port" in place.value:
            yield _lldpcli(place, device)
            return
    elif not isinstance(place.value, list):
        return
    for inner in place.each():
        yield from _of(inner, device)


def _row(place: Place, key: str, port_key: str, device: str) -> _Seen:
    """A neighbour from a row of a table: `key` names the neighbour, and `port_key` the port of `device`.

    In some forms, the rows are below the name of the device, the port, or both.
    """
    around = [str(name) for name in place.path if isinstance(name, str) and not _WRAPPERS.fullmatch(name)]
    port = _first(place, port_key) if port_key else ""
    if not port and around:
        port = around.pop()
    device = place.text("local_device") or place.text("local_hostname") or (around[0] if around else device)
    speed = place.text("speed")
    rate = rates.of_label(speed) if speed else None
    name, written = _first(place, _NAMES.get(key, key)), rates.written(rate) if rate else ""
    return _Seen(device, port, name, written, _is_station(place), "" if written else speed)


def _is_station(place: Place) -> bool:
    """True if the neighbour announces the capability of a station, but not of a bridge or router."""
    for key in ("remote_system_enable_capab", "systemCapabilities", "capabilities"):
        found = place.at(key)
        if found is None:
            continue
        listed = found.value
        if isinstance(listed, Mapping):
            listed = [name for name, is_on in listed.items() if is_on]
        text = " ".join(map(str, listed)) if isinstance(listed, list) else str(listed)
        return "station" in text.lower() and not re.search(r"bridge|router", text.lower())
    return False


def _lldpcli(place: Place, device: str) -> _Seen:
    around = [str(name) for name in place.path if isinstance(name, str) and not _WRAPPERS.fullmatch(name)]
    port = _first(place, "name") or (around.pop() if around else "")
    chassis, of_port = place.need("chassis"), place.need("port")
    if isinstance(chassis.value, list):
        chassis = chassis.need(0)
    name = _first(chassis, "name")
    if not name and isinstance(chassis.value, Mapping) and len(chassis.value) == 1 and "id" not in chassis.value:
        name = str(next(iter(chassis.value)))
        chassis = chassis.need(name)
    name = name or _first(chassis, "id")
    if isinstance(of_port.value, list):
        of_port = of_port.need(0)
    negotiated = of_port.at("auto-negotiation")
    if negotiated is not None and isinstance(negotiated.value, list):
        negotiated = negotiated.at(0)
    current = _first(negotiated, "current") if negotiated else ""
    rate = rates.of_ethernet(current) if current else None
    listed = chassis.at("capability")
    able = list(listed.each()) if listed and isinstance(listed.value, list) else [listed] if listed else []
    enabled = {each.text("type") for each in able if each.at("enabled") and each.need("enabled").value is True}
    is_station = "Station" in enabled and not enabled & {"Bridge", "Router"}
    written = rates.written(rate) if rate else ""
    return _Seen(around[0] if around else device, port, name, written, is_station, "" if written else current)


def _first(place: Place, key: str) -> str:
    """The text at a key, or the text of the first `value` or `data` below the key."""
    found = place.at(key)
    while found is not None and isinstance(found.value, Mapping | list):
        found = found.at(0) if isinstance(found.value, list) else (found.at("value") or found.at("data"))
    return str(found.value).strip() if found else ""


LLDP: Format = Format(
    "lldp",
    "LLDP neighbours in JSON, one file a device or one of all: a network",
    '"lldp" of lldpcli, "lldpNeighbors" of EOS, "TABLE_nbor" of NX-OS, "lldp-neighbors-information" of Junos, or '
    '"hostname" and "port" of NAPALM',
    _is_of,
    lambda file, options: _read_all([file], options),
    _read_all,
    options=(
        "host_names",
        "hosts_at",
    ),
)
