"""Network of a study by link use: a drawing for each scheme, and a table of the busiest links."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from shortflow.lazy import pl
from shortflow.quantities import scale_for
from shortflow.report.blocks import Block, Column, Section, Words
from shortflow.report.chart import Chart, Row, Spec, has_value, mark, tips, view
from shortflow.report.study import point_shown_first
from shortflow.results import Results

_HOSTS = 48
"""Maximum number of hosts that are drawn one by one. If there are more, each rack is one node, with its busiest link
in each direction."""
_SCHEMES = 6
_LINKS = 5
_BESIDE = 0.12
"""Distance of a link's two directions from the middle line between them, in widths of a host."""
_COUNTS = ("drops", "trims", "marks", "pauses")
_FILLED = {"filled": True, "opacity": 1}

Edge = tuple[str, str]
Places = Mapping[str, tuple[float, int]]
Payload = Mapping[str, Mapping[str, Mapping[str, int]]]


def network_blocks(study: Results, carried: Payload) -> Iterator[Block]:
    """Drawing and table for the point that charts show first. No blocks without tables of ports.

    `carried` has the payload in bytes of one run of each scheme, by port and class.
    """
    point = point_shown_first(study).with_tables
    used = {scheme: _links(point, scheme) for scheme in point.schemes[:_SCHEMES]}
    used = {scheme: links for scheme, links in used.items() if links}
    if not used:
        return
    edges = [tuple(port.split("->")) for port in next(iter(used.values()))]
    neighbours: dict[str, set[str]] = defaultdict(set)
    for a, b in edges:
        neighbours[a].add(b)
    hosts = {node for node, others in neighbours.items() if len(others) == 1 or re.fullmatch(r"h\d+", node)}
    seeds = {scheme: sum(run.scheme == scheme for run in point.results) for scheme in used}
    yield Words("\n".join(_said(scheme, links, hosts, seeds[scheme]) for scheme, links in used.items()), "note")
    yield _chart(used, _places(neighbours, hosts), hosts)
    yield _table(used, carried)
    yield Words(
        "The payload of each class comes from one repeated run of each scheme. Bytes include headers and ACKs.", "note"
    )


def _links(point: Results, scheme: str) -> dict[str, dict[str, Any]]:
    """Means over the seeds of each port's use and counts, in natural order of names."""
    tables = [run.ports for run in point.results if run.scheme == scheme and not run.ports.is_empty()]
    if not tables:
        return {}
    counts = [pl.col(name).cast(pl.Float64).mean() for name in ("tx_bytes", *_COUNTS)]
    means = pl.concat(tables).group_by("port").agg(pl.col("utilisation").mean(), *counts)
    return {row["port"]: row for row in sorted(means.to_dicts(), key=lambda row: _natural(row["port"]))}


def _natural(name: str) -> list[Any]:
    """Sort key that compares digits as numbers, so that h2 comes before h10."""
    return [(int(part), "") if part.isdigit() else (0, part) for part in re.split(r"(\d+)", name)]


def _busiest(links: Mapping[str, Mapping[str, Any]]) -> list[str]:
    return sorted(links, key=lambda port: -links[port]["utilisation"])


def _said(scheme: str, links: Mapping[str, Mapping[str, Any]], hosts: set[str], seeds: int) -> str:
    """Sentence that names the most used link by the mean over the seeds, and says whether the link leads to a host."""
    port = _busiest(links)[0]
    where = "which leads to a host" if port.split("->")[1] in hosts else "which does not lead to a host"
    lost = f", with {links[port]['drops']:,.0f} drops" if links[port]["drops"] else ""
    of = "one seed" if seeds == 1 else f"the mean of {seeds} seeds"
    busy = f"busy {links[port]['utilisation']:.1%} of the time{lost}"
    return f"{scheme} ({of}): the most used link is {port}, {where}. The link is {busy}."


def _places(neighbours: Mapping[str, set[str]], hosts: set[str]) -> dict[str, tuple[float, int]]:
    """Position of each node: x in widths of a host, and y as its tier.

    The tier is the distance from the hosts, which are at the bottom. Nodes of a tier stand above the middle of their
    neighbours below, or at equal distances if several have the same middle.
    """
    tier = dict.fromkeys(hosts, 0)
    edge = set(hosts)
    while edge:
        edge = {other for node in edge for other in neighbours[node] if other not in tier}
        tier |= dict.fromkeys(edge, max(tier.values(), default=0) + 1)
    racks: dict[str, list[str]] = defaultdict(list)
    for host in sorted(hosts, key=_natural):
        racks[min(neighbours[host], key=_natural)].append(host)
    order = [host for rack in sorted(racks, key=_natural) for host in racks[rack]]
    groups = (
        [[host] for host in order] if len(order) <= _HOSTS else [racks[rack] for rack in sorted(racks, key=_natural)]
    )
    places = {host: (float(at), 0) for at, group in enumerate(groups) for host in group}
    width = max(len(groups), *(sum(each == level for each in tier.values()) for level in tier.values()))
    for level in range(max(tier.values(), default=0) + 1):
        nodes = sorted((node for node in tier if tier[node] == level), key=_natural)
        if level:
            below = {node: [places[o][0] for o in neighbours[node] if tier[o] < level] for node in nodes}
            middles = {node: sum(found) / len(found) for node, found in below.items()}
            nodes.sort(key=lambda node: (middles[node], _natural(node)))
            spread = len({round(each, 6) for each in middles.values()}) == len(nodes)
            for at, node in enumerate(nodes):
                places[node] = (middles[node] if spread else (at + 0.5) * width / len(nodes) - 0.5, level)
        elif width > len(groups):
            places = {host: ((x + 0.5) * width / len(groups) - 0.5, 0) for host, (x, _) in places.items()}
    return places


def _chart(used: Mapping[str, Mapping[str, Mapping[str, Any]]], places: Places, hosts: set[str]) -> Chart:
    rows: list[Row] = []
    joined = len({places[host] for host in hosts}) < len(hosts)
    for scheme, links in used.items():
        drawn: dict[Any, Row] = {}
        for port in _busiest(links):
            a, b = port.split("->")
            (x, y), (x2, y2) = places[a], places[b]
            aside = _BESIDE if (y, x) < (y2, x2) else -_BESIDE
            of = links[port]
            counts = {name: f"{of[name]:,.0f}" for name in _COUNTS if of[name]}
            line = {"x": x + aside, "y": y, "x2": x2 + aside, "y2": y2, "use": of["utilisation"]}
            said = {"link": port, "busy": f"{of['utilisation']:.1%}", "bytes": _bytes(of["tx_bytes"]), **counts}
            drawn.setdefault((x, y, x2, y2), {"scheme": scheme, "kind": "link", **line, **said})
        rows += reversed(drawn.values())  # the busiest on top
        for node, (x, y) in places.items():
            if y or not joined:
                rows.append(
                    {"scheme": scheme, "kind": "host" if node in hosts else "switch", "x": x, "y": y, "node": node}
                )
    wide = max(x for x, _ in places.values()) > 14
    ends = min(x for x, _ in places.values()) - 0.6, max(x for x, _ in places.values()) + 0.6
    panels = [_panel(scheme, ends, max(y for _, y in places.values())) for scheme in used]
    caption = (
        "Wide and dark lines are busy links; both directions of a link are side by side. On a line, a cross stands for "
        "dropped packets, a triangle for trimmed packets, a circle for marked packets, and a square for pauses of the "
        "link. Round nodes are hosts, and square nodes are switches."
    )
    caption += " The hosts of a rack share one place, with the busiest of their links." if joined else ""
    return Chart("network", "The network by link use", caption, rows, panels, list(used), wide=wide)


def _panel(scheme: str, ends: tuple[float, float], tiers: int) -> Spec:
    """Panel of the network under one scheme."""

    def axis(field: str, domain: Sequence[float]) -> Spec:
        scale = {"domain": list(domain), "nice": False, "zero": False}
        return {"field": field, "type": "quantitative", "scale": scale, "axis": None}

    x, y = axis("x", ends), axis("y", (-0.4, tiers + 0.4))
    colour = {
        "value": "var(--rule)",
        "condition": [
            {"test": "datum.use >= 0.8", "value": "var(--c6)"},
            {"test": "datum.use >= 0.4", "value": "var(--c1)"},
            {"test": "datum.use >= 0.05", "value": "var(--soft)"},
        ],
    }
    width = {"field": "use", "type": "quantitative", "scale": {"domain": [0, 1], "range": [1, 6]}, "legend": None}
    tip = tips(**{field: field for field in ("scheme", "link", "busy", "bytes", *_COUNTS)})
    line: Spec = {"x": x, "y": y, "x2": {"field": "x2"}, "y2": {"field": "y2"}}
    line |= {"color": colour, "strokeWidth": width, "tooltip": tip}
    at = {"x": {**x, "field": "at_x"}, "y": {**y, "field": "at_y"}}
    layers = [mark("rule", line, where=["datum.kind == 'link'"], strokeCap="round")]
    for field, shape, place in (
        ("drops", "cross", 0.3),
        ("trims", "triangle-up", 0.375),
        ("marks", "circle", 0.45),
        ("pauses", "square", 0.6),
    ):
        position: list[Spec] = [
            {"filter": f"isValid(datum.{field})"},
            {"calculate": f"datum.x + {place} * (datum.x2 - datum.x)", "as": "at_x"},
            {"calculate": f"datum.y + {place} * (datum.y2 - datum.y)", "as": "at_y"},
        ]
        look = {"type": "point", "shape": shape, "angle": 45 * (shape == "cross"), **_FILLED, "color": "var(--ink)"}
        encoding: Spec = {**at, "tooltip": tip}
        layers.append({"transform": position, "mark": {**look, "size": 60}, "encoding": encoding})
    for kind, shape in (("host", "circle"), ("switch", "square")):
        encoding = {"x": x, "y": y, "tooltip": tips(node=kind)}
        look = {"shape": shape, "size": 50 if kind == "host" else 140, **_FILLED, "color": "var(--soft)"}
        layers.append(mark("point", encoding, where=[f"datum.kind == '{kind}'"], **look))
    text = {"x": x, "y": y, "text": {"field": "node"}}
    layers.append(mark("text", text, where=["datum.kind == 'switch'"], dy=-14, fontSize=11))
    said = f"the network under {scheme}, with wider lines for busier links"
    return view(scheme, said, layers, where=[has_value("scheme", scheme)], height=90 + 90 * tiers)


def _bytes(value: float) -> str:
    scale = scale_for("B", [value])
    return f"{value / scale.divisor:.4g}{scale.suffix}"


def _table(used: Mapping[str, Mapping[str, Mapping[str, Any]]], carried: Payload) -> Section:
    """Table of the busiest links of each scheme, with their payload by class."""
    rows = [(scheme, port, links[port]) for scheme, links in used.items() for port in _busiest(links)[:_LINKS]]
    counts = [name for name in _COUNTS if any(of[name] for _, _, of in rows)]
    payload = [carried.get(scheme, {}).get(port, {}) for scheme, port, _ in rows]
    classes = list(dict.fromkeys(name for of in payload for name in sorted(of)))
    return Section(
        f"The {_LINKS} busiest links of each scheme (means over the seeds)",
        [
            Column("scheme", [scheme for scheme, _, _ in rows], text=True),
            Column("link", [p for _, p, _ in rows], text=True),
        ],
        [
            Column("busy", [f"{of['utilisation']:.1%}" for _, _, of in rows]),
            Column("bytes", [_bytes(of["tx_bytes"]) for _, _, of in rows]),
            *(Column(f"payload of {name}", [_bytes(of.get(name, 0)) for of in payload]) for name in classes),
            *(Column(name, [f"{of[name] or 0:,.0f}" for _, _, of in rows]) for name in counts),
        ],
    )
