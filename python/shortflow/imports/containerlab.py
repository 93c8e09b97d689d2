"""Topology files of containerlab (`*.clab.yml`): nodes, kinds, groups and links.

Source: containerlab.dev, "Topology definition" and "Links". Containerlab's links are virtual, so the files have no
rates.
"""

import re
from collections.abc import Mapping

from shortflow.errors import did_you_mean
from shortflow.imports.documents import Place, read_yaml
from shortflow.imports.files import File
from shortflow.imports.networks import completed, few, plain_name, tier_name
from shortflow.imports.parts import Format, Link, Network, Node, Options, Part
from shortflow.quantities import counted

_BEGINS = re.compile(r"^topology:", re.MULTILINE)
_HAS = re.compile(r"^\s+-?\s*endpoints?:", re.MULTILINE)
_HOST_KINDS = ("linux", "ext-container", "k8s-kind")
_ROUTERS = re.compile(r"frr|bird|quagga|gobgp|vyos|openbgpd|sonic|cumulus|holo|exabgp", re.IGNORECASE)
_OUTSIDE = ("host", "mgmt-net", "macvlan", "dummy", "vxlan", "vxlan-stitch")
"""Ends of links that are not nodes, but interfaces of the machine that runs the lab."""
_LINK = ("type", "endpoints", "endpoint")


def _is_of(file: File) -> bool:
    return bool(_BEGINS.search(file.head) and (_HAS.search(file.head) or "nodes:" in file.head))


def _read(file: File, options: Options) -> Part:
    topology = read_yaml(file).need("topology")
    part = Part()
    listed_nodes = topology.at("nodes")
    if listed_nodes is None or not isinstance(listed_nodes.value, Mapping) or not listed_nodes.value:
        raise topology.wrong("a table of nodes")
    # A node without settings of its own (`leaf1:`) is null in YAML, but still has those of its kind and the defaults.
    nodes = {
        str(name): listed_nodes.at(name) or Place(listed_nodes.file, {}, (*listed_nodes.path, name), listed_nodes.lines)
        for name in listed_nodes.value
    }
    names = {of: plain_name(of) for of in nodes}
    links, outside = [], []
    taken: dict[tuple[str, str], Place] = {}
    further: dict[str, None] = {}
    for link in topology.each("links"):
        alone = link.at("endpoint")
        ends = [_end(end) for end in link.each("endpoints")] or ([_end(alone)] if alone else [])
        is_outside = link.text("type") in _OUTSIDE or any(end in _OUTSIDE for end, _ in ends)
        if is_outside:
            outside.append(" to ".join([*(end for end, _ in ends), *([link.text("type")] if len(ends) < 2 else [])]))
            continue
        if len(ends) != 2:
            raise link.wrong("two endpoints, such as [leaf1:e1-1, spine1:e1-1]")
        for end, place in ends:
            if end not in nodes:
                raise place.wrong(f"NODE:INTERFACE with a node of topology.nodes{did_you_mean(end, nodes)}")
            is_table = isinstance(place.value, Mapping)
            interface = place.text("interface") if is_table else str(place.value).partition(":")[2]
            if interface and (other := taken.setdefault((end, interface), place)) is not place:
                raise place.wrong(f"each interface in one link; line {other.line} has it")
        further |= dict.fromkeys(each.name for each in link.each() if each.name not in _LINK)
        (a, _), (b, _) = ends
        links.append(Link(names[a], names[b]))
    if further:
        part.left_out.append(f"Keys of links without a counterpart: {few(further)}.")
    if outside:
        part.left_out.append(f"{counted(len(outside), 'link')} to the machine of the lab: {few(outside)}.")
    listed = [_node(topology, nodes[of], names[of]) for of in nodes]
    hosts = [node.name for node in listed if node.is_host]
    if hosts and not options.host_names:
        are_hosts = "is a host" if len(hosts) == 1 else "are hosts"
        part.notes.append(
            f"{counted(len(hosts), 'node')} of kind linux {are_hosts}: {few(hosts)}. Nodes whose image is a router "
            "are switches. --host-names names other hosts."
        )
    part.notes.append("The file has no rates and delays, because containerlab's links are virtual.")
    first = topology.at("links")
    part.network = Network(listed, links, (first or topology).origin)
    return completed(part, options)


def _end(end: Place) -> tuple[str, Place]:
    """Name of the node at an end of a link, which is `leaf1:e1-1` or a table with `node`."""
    if isinstance(end.value, Mapping):
        return end.text("node"), end
    return str(end.value).partition(":")[0], end


def _node(topology: Place, node: Place, name: str) -> Node:
    group = node.text("group")
    kind = _setting(topology, node, group, "kind")
    image = _setting(topology, node, group, "image", kind)
    is_host = kind in _HOST_KINDS and not _ROUTERS.search(image)
    return Node(name, is_host, "" if is_host else tier_name(group))


def _setting(topology: Place, node: Place, group: str, key: str, kind: str = "") -> str:
    """A value of a node or, in this order, of its group, its kind and the defaults. Empty without a value."""
    kinds = ("kinds", kind, key) if kind else ("kinds", "", key)
    places = ((node, (key,)), (topology, ("groups", group, key)), (topology, kinds), (topology, ("defaults", key)))
    return next((found for place, keys in places if (found := place.text(*keys))), "")


CONTAINERLAB: Format = Format(
    "containerlab",
    "containerlab's topology file: a network",
    "topology: with nodes: and links: of endpoints such as [leaf1:e1-1, spine1:e1-1]",
    _is_of,
    _read,
    options=(
        "host_names",
        "hosts_at",
    ),
)
