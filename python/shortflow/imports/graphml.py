"""GraphML of topology collections such as the Topology Zoo: nodes, links, rates from labels, and places on a map.

Source: the GraphML primer; the Topology Zoo's dataset (LinkSpeedRaw in bit/s, LinkSpeed with LinkSpeedUnits, LinkLabel,
Latitude and Longitude in degrees, Internal).
"""

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from xml.parsers import expat

from shortflow.errors import did_you_mean
from shortflow.imports import rates
from shortflow.imports.files import File
from shortflow.imports.networks import completed, few, plain_name
from shortflow.imports.parts import Format, Link, Network, Node, Options, Part
from shortflow.quantities import counted, parse

_EARTH_KM, _KM_PER_S = 6371.0, 200_000.0
_RATE_NAMES = ("rate", "linkspeedraw", "linkspeed", "linklabel", "linktype", "label")
_OTHER_RATES = ("bandwidth", "capacity", "speed", "throughput", "bw")
_ABSENT = ("future", "planned", "proposed", "under construction")
"""Status of links that do not exist yet."""
_READ = {
    *_RATE_NAMES,
    "linkspeedunits",
    "linkstatus",
    "delay",
    "kind",
    "tier",
    "latitude",
    "longitude",
    "internal",
    "id",
    "key",
}


@dataclass
class _Item:
    """A node or an edge: its line, its XML attributes, and its data by name in lower case."""

    line: int
    written: Mapping[str, str]
    data: dict[str, str] = field(default_factory=dict)


class _Reader:
    """Collects nodes and edges from the events of an XML parser."""

    def __init__(self, file: File) -> None:
        self.file = file
        self.nodes: list[_Item] = []
        self.edges: list[_Item] = []
        self.is_directed = False
        self.keys: dict[str, tuple[str, str]] = {}
        self.defaults: dict[tuple[str, str], str] = {}
        self.open: list[tuple[str, Mapping[str, str]]] = []
        self.words = ""

    def parse(self) -> None:
        parser = expat.ParserCreate(namespace_separator=" ")
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._text
        parser.EntityDeclHandler = self._entity
        self.parser = parser
        try:
            parser.Parse(self.file.text, True)
        except expat.ExpatError as error:
            raise self.file.wrong(error.lineno, "XML", expat.ErrorString(error.code), "a GraphML document") from error
        for of, items in (("node", self.nodes), ("edge", self.edges)):
            for item in items:
                given = {name: value for (kind, name), value in self.defaults.items() if kind in (of, "all")}
                item.data = given | item.data

    def _entity(self, name: str, *_: object) -> None:
        raise self.file.wrong(self.parser.CurrentLineNumber, "entity", name, "a document without entities")

    def _start(self, name: str, written: dict[str, str]) -> None:
        name = name.rpartition(" ")[2]
        self.words = ""
        self.open.append((name, written))
        if name == "graph":
            self.is_directed = written.get("edgedefault") == "directed"
        elif name == "key":
            self.keys[written.get("id", "")] = (written.get("for", "all"), written.get("attr.name", "").lower())
        elif name in ("node", "edge"):
            items = self.nodes if name == "node" else self.edges
            items.append(_Item(self.parser.CurrentLineNumber, written))

    def _text(self, words: str) -> None:
        self.words += words

    def _end(self, _: str) -> None:
        name, written = self.open.pop()
        outer, of = self.open[-1] if self.open else ("", {})
        if name == "default" and outer == "key":
            self.defaults[self.keys[of.get("id", "")]] = self.words.strip()
        elif name == "data" and outer in ("node", "edge"):
            key = written.get("key", "")
            known = self.keys.get(key, ("", key.lower()))[1]
            (self.nodes if outer == "node" else self.edges)[-1].data[known] = self.words.strip()


def _read(file: File, options: Options) -> Part:
    found = _Reader(file)
    found.parse()
    if not found.nodes:
        raise file.wrong(1, "nodes", 0, "<graphml> with <node> elements")
    part = Part()
    nodes = _nodes(found, part)
    labels, links, absent, seen = [], [], [], Counter[tuple[str, str]]()
    raw = False
    for edge in found.edges:
        ends = []
        for end in ("source", "target"):
            of = edge.written.get(end, "")
            if of not in nodes:
                raise file.wrong(edge.line, end, of, f"the id of a node{did_you_mean(of, nodes)}")
            ends.append(nodes[of])
        (a, node_a), (b, node_b) = ends
        if edge.data.get("linkstatus", "").lower() in _ABSENT:
            absent.append(f"{a}-{b}")
            continue
        if found.is_directed:
            seen[a, b] += 1
            if seen[a, b] <= seen[b, a]:
                continue  # the other direction of a link already read
        rate, unread = _rate(edge, file)
        labels += [unread] if unread else []
        raw |= bool(edge.data.get("linkspeedraw")) and not edge.data.get("rate")
        given = edge.data.get("delay", "")
        delay = parse(given) if given else None
        if given and (delay is None or delay.number < 0 or delay.base != "s"):
            raise file.wrong(edge.line, "delay", given, "a time with its unit, such as 5us")
        written = f"{delay.number * delay.factor * 1e12:.0f}ps" if delay else _distance(node_a, node_b)
        links.append(Link(a, b, rate, written))
    if absent:
        part.left_out.append(f"{counted(len(absent), 'link')} of the future, by LinkStatus: {few(absent)}.")
    if labels:
        part.notes.append(
            f"Labels of {counted(len(labels), 'link')} are not one rate with its unit and are not read: "
            f"{few(dict.fromkeys(labels))}."
        )
    if raw:
        part.notes.append("LinkSpeedRaw is in bit/s, as the Topology Zoo defines it.")
    if any(_distance(a, b) for (_, a) in nodes.values() for (_, b) in list(nodes.values())[:1]):
        part.notes.append("Delays follow from great-circle distances between the nodes at 200,000 km/s.")
    _say_unread(found, part)
    # Nodes without a kind are switches, as all nodes of the Topology Zoo are.
    made = [
        Node(name, node.data.get("kind", "").lower() in ("host", "server"), node.data.get("tier", "").lower())
        for name, node in nodes.values()
    ]
    part.network = Network(made, links, file.origin(found.nodes[0].line, (found.edges or found.nodes)[-1].line))
    return completed(part, options)


def _nodes(found: _Reader, part: Part) -> dict[str, tuple[str, _Item]]:
    """Names of nodes by id: the label if it is a word that no other node has, else the id."""
    ids = [node.written.get("id", "") for node in found.nodes]
    twice = next(
        (node for node, count in zip(found.nodes, map(Counter(ids).get, ids), strict=True) if count != 1), None
    )
    if twice:
        raise found.file.wrong(twice.line, "id", twice.written.get("id", ""), "each node once, with an id")
    labels = [_name(node.data.get("label", "")) for node in found.nodes]
    counts = Counter(labels)
    names = [label if label and counts[label] == 1 else _name(of) for of, label in zip(ids, labels, strict=True)]
    if len(set(names)) < len(names):
        names = [_name(of) for of in ids]
    repeated = [label for label, count in counts.items() if label and count > 1]
    if repeated:
        part.notes.append(f"Nodes whose label is not theirs alone have their id as name: {few(repeated)}.")
    return {of: (name, node) for of, name, node in zip(ids, names, found.nodes, strict=True)}


def _name(text: str) -> str:
    """A name that a scenario's files may have. Empty for a text without letters and digits, such as `?`."""
    return plain_name(text) if any(map(str.isalnum, text)) else ""


def _rate(edge: _Item, file: File) -> tuple[str, str]:
    """The rate, or an empty text if the edge has no rate, and a label that is not a rate."""
    data = edge.data
    if text := data.get("rate"):
        found = parse(text)
        if found is None or found.number <= 0 or found.base != "bps":
            raise file.wrong(edge.line, "rate", text, "a rate with its unit, such as 10Gbps")
        return rates.written(found.number * found.factor), ""
    if text := data.get("linkspeedraw"):
        return rates.written(file.number(edge.line, "LinkSpeedRaw", text, 1)), ""
    if (text := data.get("linkspeed")) and (unit := data.get("linkspeedunits")):
        try:
            bps = rates.of_unit(float(text), unit)
        except ValueError:
            bps = None
        if bps:
            return rates.written(bps), ""
        if rates.is_bytes(unit):
            raise file.wrong(edge.line, "LinkSpeedUnits", unit, "bits per second, such as G or Gbps")
    labels = [text for name in ("linklabel", "linktype", "label") if (text := data.get(name))]
    known = next((bps for text in labels if (bps := rates.of_label(text))), None)
    if known:
        return rates.written(known), ""
    speed = f"LinkSpeed {data['linkspeed']} {data.get('linkspeedunits', '')}".strip() if data.get("linkspeed") else ""
    return "", speed or next(iter(labels), "")


def _distance(a: _Item, b: _Item) -> str:
    """Propagation delay of the great circle between two places at 200,000 km/s. Empty if a place is unknown."""
    try:
        places = [[math.radians(float(node.data[key])) for key in ("latitude", "longitude")] for node in (a, b)]
    except (KeyError, ValueError):
        return ""
    (lat_a, lon_a), (lat_b, lon_b) = places
    half = math.sin((lat_b - lat_a) / 2) ** 2 + math.cos(lat_a) * math.cos(lat_b) * math.sin((lon_b - lon_a) / 2) ** 2
    km = 2 * _EARTH_KM * math.asin(math.sqrt(min(half, 1.0)))
    return f"{km / _KM_PER_S * 1e9:.0f}ns"


def _say_unread(found: _Reader, part: Part) -> None:
    names = Counter(name for item in (*found.nodes, *found.edges) for name in item.data if name not in _READ)
    rate = [name for name in names if any(word in name for word in _OTHER_RATES)]
    if rate and not any(edge.data.get(name) for edge in found.edges for name in _RATE_NAMES):
        part.left_out.append(
            f"{few(rate)} of links, because the file does not say the unit. Rename the attribute to rate, with values "
            "such as 10Gbps."
        )
    others = [name for name in names if name not in rate]
    if others:
        part.left_out.append(f"Attributes without a counterpart: {few(others, 8)}.")


GRAPHML: Format = Format(
    "graphml",
    "GraphML of the Topology Zoo and other collections: a network",
    "<graphml>, with nodes, edges and rates in LinkSpeedRaw, LinkSpeed and LinkSpeedUnits, LinkLabel, or rate",
    lambda file: "<graphml" in file.head,
    _read,
    options=(
        "host_names",
        "hosts_at",
    ),
)
