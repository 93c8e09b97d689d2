"""Priority flow control as SONiC has it: lossless pools, profiles of priority groups, and the ports that pause.

Its meaning is that of `imports.sonic_pfc`: importing the tables again gives the same XOFF, XON, headroom and memory.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from shortflow.exports.switches import Neighbour, Switches
from shortflow.imports import sonic
from shortflow.imports.documents import Place
from shortflow.imports.networks import few
from shortflow.imports.sonic_pfc import COMPUTED, FlowControl
from shortflow.quantities import counted, parse

KEYS = ("xoff", "xon", "headroom", "xoff_alpha")
"""Keys of `[switch]` about flow control."""
INGRESS, EGRESS = "ingress_lossless_pool", "egress_lossless_pool"
QUEUE = 3
"""Queue and priority without loss of a new configuration; SONiC's own have 3 and 4."""
_LANES = 4
"""Lanes of a port, by which SONiC numbers ports."""
_FULL_PACKETS = 2
"""Full packets that XON is below XOFF by default."""


@dataclass(frozen=True)
class Today:
    """Flow control of an existing configuration for a queue."""

    ports: Sequence[str] = ()
    queue: int | None = None
    pauses: FlowControl = field(default_factory=FlowControl)
    enabled: Mapping[str, str] = field(default_factory=dict)
    """`pfc_enable` by port."""
    root: Place | None = None

    @classmethod
    def of(cls, root: Place, queue: int | None) -> "Today":
        """That of a configuration. Raises `ConfigError` as the import does."""
        chosen, ports, pauses = sonic.paused(root, queue)
        maps = {port.strip(): each for each in root.each("PORT_QOS_MAP") for port in each.name.split(",")}
        enabled = {port: maps[port].text("pfc_enable") for port in ports if port in maps}
        return cls(ports, chosen, pauses, enabled, root)

    def key(self, table: str, port: str, span: str) -> str:
        """The entry of a table for a port and its queues: that of the configuration, if it is of this port alone."""
        for entry in self.root.each(table) if self.root else ():
            ports, _, queues = entry.name.partition("|")
            first, _, last = queues.partition("-")
            if ports == port and first.isdigit() and int(first) <= (self.queue or 0) <= int(last or first):
                return entry.name
        return f"{port}|{span}"

    @property
    def profile(self) -> str:
        """Profile of most priority groups; empty if no port pauses."""
        names = list(self.pauses.profiles.values())
        return max(names, key=names.count, default="")


@dataclass
class Lossless:
    """Tables of flow control, and what they do not say."""

    tables: dict[str, dict[str, dict[str, str]]] = field(default_factory=dict)
    not_expressed: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def put(self, table: str, name: str, fields: Mapping[str, str]) -> None:
        """Adds fields of an entry."""
        self.tables.setdefault(table, {}).setdefault(name, {}).update(fields)


def pauses(values: Mapping[str, str]) -> bool:
    """True for settings of ports with flow control, or of some of its keys alone, as a tuning has them."""
    return values.get("xoff", "none") != "none" or ("xoff" not in values and any(key in values for key in KEYS))


def change_today(found: Lossless, values: Mapping[str, str], today: Today) -> None:
    """Changes the profile that most ports of a configuration have today, and the size of its pool."""
    name = today.profile
    if name == COMPUTED:
        _change_computed(found, values, today)
        return
    fields, headroom = _thresholds(found, name, values, None, 0)
    found.put("BUFFER_PROFILE", name, fields)
    memory = parse(values.get("memory", ""))
    if memory:
        each = {
            port: headroom if profile == name and headroom is not None else today.pauses.headroom[port]
            for port, profile in today.pauses.profiles.items()
        }
        _put_size(found, today.pauses.pool, memory.number * memory.factor - sum(each.values()))


def _change_computed(found: Lossless, values: Mapping[str, str], today: Today) -> None:
    fields, _ = _thresholds(
        found, "BUFFER_PG", {key: values[key] for key in ("xoff", "xoff_alpha") if key in values}, None, 0
    )
    if exponent := fields.get("dynamic_th"):
        found.put("DEFAULT_LOSSLESS_BUFFER_PARAMETER", today.pauses.defaults, {"default_dynamic_th": exponent})
    given = [f"switch.{key} = {values[key]}" for key in ("headroom", "xon") if values.get(key, "auto") != "auto"]
    if given:
        found.not_expressed.append(f"{' and '.join(given)}: the switch computes them for the profile NULL.")
    memory = parse(values.get("memory", ""))
    if memory:
        _put_size(found, today.pauses.pool, memory.number * memory.factor)


def _put_size(found: Lossless, pool: str, size: float) -> None:
    if size >= 1:
        found.put("BUFFER_POOL", pool, {"size": f"{size:.0f}"})
    else:
        found.not_expressed.append(f"{pool}: the headroom of all ports takes the memory, so that no size is left.")


def _thresholds(
    found: Lossless, name: str, values: Mapping[str, str], needed: float | None, full_packet: int
) -> tuple[dict[str, str], float | None]:
    """Fields of a profile of priority groups, and its headroom in bytes; None if no one says it.

    `needed` is the headroom that `auto` is, and None where a profile keeps what it has.
    """
    fields: dict[str, str] = {}
    alpha, limit, xon = values.get("xoff_alpha", "none"), values.get("xoff", ""), values.get("xon", "auto")
    xoff = _bytes(limit)
    if alpha != "none":
        fields["dynamic_th"] = sonic_exponent(found.not_expressed, name, "xoff_alpha", alpha)
        memory = _bytes(values.get("memory", ""))
        if xoff is not None and memory is not None and xoff < memory / 2:
            found.not_expressed.append(
                f"{name}: xoff = {limit} beside the share of the free memory; SONiC takes one of them."
            )
    elif xoff is not None:
        fields["static_th"] = f"{xoff:.0f}"
        if xon == "auto" and needed is not None:
            xon = f"{max(xoff - _FULL_PACKETS * full_packet, 0):.0f}B"
    headroom = _bytes(values.get("headroom", "auto"))
    if headroom is None and needed is not None:
        headroom = needed
        found.notes.append(f"{name}: xoff is the headroom of {needed:.0f} B that switch.headroom = auto stands for.")
    if headroom is not None:
        fields["xoff"] = f"{headroom:.0f}"
    least = _bytes(xon)
    if least is not None:
        fields["xon"] = f"{least:.0f}"
    return fields, headroom


def sonic_exponent(not_expressed: list[str], name: str, key: str, alpha: str) -> str:
    """A share of the free memory as a power of two, with a sentence if it is none."""
    exponent = sonic.exponent(float(alpha))
    if abs(2.0**exponent - float(alpha)) > 1e-9 * float(alpha):
        not_expressed.append(f"{name}: {key} = {alpha}; SONiC takes powers of two, 2^{exponent} = {2.0**exponent:g}.")
    return str(exponent)


@dataclass(frozen=True)
class SwitchLinks:
    """Links of one switch with the settings of their ports, as the scenario has them."""

    switch: str
    links: Sequence[tuple[Neighbour, str, Mapping[str, str]]]
    """Other end, table of the scenario, and settings."""
    is_only: bool
    """True if the scenario has no other switch."""
    groups: Sequence[Sequence[str]]
    """Tables of the scenario by profile."""

    @classmethod
    def of(
        cls, switches: Switches, tables: Mapping[str, Mapping[str, str]], groups: Sequence[Sequence[str]]
    ) -> "SwitchLinks":
        """Those of the switch with most links; port tables change the settings of `[switch]`.

        The tables of a group have one profile.
        """
        switch = max(switches, key=lambda each: len(switches[each]), default="")
        found = []
        for each in switches.get(switch, ()):
            name = f"switch.{switch}->{each.name}"
            table = name if name in tables else "switch"
            found.append((each, table, {**tables.get("switch", {}), **tables.get(name, {})}))
        return cls(switch, found, len(switches) == 1, groups)

    @property
    def pausing(self) -> list[tuple[str, Mapping[str, str]]]:
        """Tables and settings of links with flow control."""
        return [(table, values) for _, table, values in self.links if pauses(values)]

    def needed(self, tables: Sequence[str]) -> float | None:
        """The largest headroom in bytes that `auto` is for links of these tables; None without links."""
        return max((end.headroom for end, table, _ in self.links if table in tables), default=None)

    @property
    def headroom(self) -> float:
        """Bytes of headroom of all links, each with that of its profile."""
        needed = {table: self.needed(group) or 0.0 for group in self.groups for table in group}
        given = [(table, _bytes(values.get("headroom", "auto"))) for table, values in self.pausing]
        return sum(needed[table] if each is None else each for table, each in given)

    def names(self, today: Today) -> list[str]:
        """SONiC's names of the links: those of the configuration, or new ones if the switch is the only one."""
        if today.ports:
            return list(today.ports) if len(today.ports) == len(self.links) else []
        return [f"Ethernet{_LANES * place}" for place in range(len(self.links))] if self.is_only else []


def add(
    found: Lossless,
    name: str,
    values: Mapping[str, str],
    tables: Sequence[str],
    ports: SwitchLinks,
    today: Today,
    full_packet: int,
    wred: str,
) -> None:
    """Adds pools, profiles, and the ports that pause, where a configuration does not have them pause today.

    The ports are those of these tables of the scenario.
    """
    mine = [place for place, (_, table, _) in enumerate(ports.links) if table in tables]
    needed = ports.needed(tables)
    group = f"{name}_PG"
    fields, headroom = _thresholds(found, group, values, needed, full_packet)
    found.put("BUFFER_PROFILE", group, {"pool": INGRESS, "size": "0", **fields})
    if headroom is None:
        found.not_expressed.append(f"{group}: the headroom (xoff). Give switch.headroom, as SONiC needs its bytes.")
    _put_pools(found, name, values, ports)
    queue = str(QUEUE if today.queue is None else today.queue)
    names = ports.names(today)
    for place in mine if names else ():
        port = names[place]
        if wred:
            found.put("QUEUE", today.key("QUEUE", port, queue), {"wred_profile": wred})
        found.put("BUFFER_QUEUE", today.key("BUFFER_QUEUE", port, queue), {"profile": name})
        found.put("BUFFER_PG", today.key("BUFFER_PG", port, queue), {"profile": group})
        before = [each.strip() for each in today.enabled.get(port, "").split(",") if each.strip()]
        found.put("PORT_QOS_MAP", port, {"pfc_enable": ",".join(sorted({*before, queue}))})
    if not mine or not names:
        of = few([f"[{each}]" for each in tables])
        found.notes.append(
            f"Assign {name} to the ports of {of} in QUEUE and BUFFER_QUEUE and {group} in BUFFER_PG, as PORT|{queue}, "
            f"and set pfc_enable to {queue} in PORT_QOS_MAP."
        )
        if ports.links and not names:
            found.notes.append(f"{INGRESS} has room for {counted(len(ports.pausing), 'port')}, as {ports.switch} has.")
    elif not today.ports:
        said = (
            f"The ports of {ports.switch} are named {names[0]} to {names[-1]}, from {ports.links[0][0].name} to "
            f"{ports.links[-1][0].name}; rename them as your PORT table has them, or give --base."
        )
        found.notes.append(said)


def _put_pools(found: Lossless, name: str, values: Mapping[str, str], ports: SwitchLinks) -> None:
    """The pools at ingress and egress, and a profile of queues that the pool at egress limits."""
    memory = _bytes(values.get("memory", "static"))
    limits = [_bytes(of_link.get("xoff", "")) for _, of_link in ports.pausing]
    if memory is None and limits:
        memory = sum(each or 0.0 for each in limits) + ports.headroom
        found.not_expressed.append(
            f"memory = static: SONiC's ports share {INGRESS}, which has room for the thresholds of "
            f"{counted(len(limits), 'port')}."
        )
    if values.get("buffer", "unlimited") != "unlimited":
        found.not_expressed.append(f"buffer = {values['buffer']}: thresholds at ingress limit a port with PFC.")
    if memory is None or not limits:
        found.not_expressed.append(
            f"The size of {INGRESS}: it is the memory of the switch less the headroom of its ports."
        )
        found.put("BUFFER_POOL", INGRESS, {"type": "ingress", "mode": "dynamic"})
        found.put("BUFFER_POOL", EGRESS, {"type": "egress", "mode": "dynamic"})
        found.put("BUFFER_PROFILE", name, {"pool": EGRESS, "size": "0", "dynamic_th": "8"})
        return
    found.put("BUFFER_POOL", INGRESS, {"type": "ingress", "mode": "dynamic"})
    _put_size(found, INGRESS, memory - ports.headroom)
    found.put("BUFFER_POOL", EGRESS, {"type": "egress", "mode": "static", "size": f"{memory:.0f}"})
    found.put("BUFFER_PROFILE", name, {"pool": EGRESS, "size": "0", "static_th": f"{memory:.0f}"})


def _bytes(text: str) -> float | None:
    quantity = parse(text)
    return quantity.number * quantity.factor if quantity and quantity.base == "B" else None
