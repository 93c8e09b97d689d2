"""Priority flow control as SONiC has it: lossless pools, profiles of priority groups, and the ports that pause.

Its meaning is that of `imports.sonic_pfc`: importing the tables again gives the same XOFF, XON, headroom and memory.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from shortflow.exports.sonic_patch import Patch
from shortflow.exports.switches import Neighbour, Switches
from shortflow.imports import sonic
from shortflow.imports.documents import Place
from shortflow.imports.networks import few
from shortflow.imports.sonic_pfc import COMPUTED, FlowControl, reference
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
        switch = sonic.Switch.of(root, queue)
        ports = [port.name for port in switch.ports]
        maps = {port.strip(): each for each in root.each("PORT_QOS_MAP") for port in each.name.split(",")}
        enabled = {port: maps[port].text("pfc_enable") for port in ports if port in maps}
        return cls(ports, switch.queue, switch.paused, enabled, root)

    def key(self, table: str, port: str, span: str) -> str:
        """The entry of a table for a port and its queues: that of the configuration, if it is of this port alone."""
        for entry in self.root.each(table) if self.root else ():
            ports, _, queues = entry.name.partition("|")
            first, _, last = queues.partition("-")
            if ports == port and first.isdigit() and int(first) <= (self.queue or 0) <= int(last or first):
                return entry.name
        return f"{port}|{span}"

    def has_several(self, profile: str) -> bool:
        """True if a port has several priority groups of this profile."""
        groups = Counter[str]()
        for entry in self.root.each("BUFFER_PG") if self.root else ():
            ports, _, span = entry.name.partition("|")
            first, _, last = span.partition("-")
            if reference(entry.at("profile")) == profile and first.isdigit():
                groups.update({port: int(last or first) - int(first) + 1 for port in ports.split(",")})
        return max(groups.values(), default=0) > 1

    @property
    def profile(self) -> str:
        """Profile of most priority groups; empty if no port pauses."""
        names = list(self.pauses.profiles.values())
        return max(names, key=names.count, default="")


def pauses(values: Mapping[str, str]) -> bool:
    """True for settings of ports with flow control, or of some of its keys alone, as a tuning has them."""
    return values.get("xoff", "none") != "none" or ("xoff" not in values and any(key in values for key in KEYS))


def change_today(found: Patch, values: Mapping[str, str], ports: "SwitchLinks", today: Today, full_packet: int) -> None:
    """Changes the profile that most ports of a configuration have today."""
    name = today.profile
    if name == COMPUTED:
        _change_computed(found, values, today)
        return
    is_auto = values.get("headroom") == "auto"
    needed = ports.needed(["switch"]) if is_auto else None
    fields, headroom = _thresholds(found, name, values, needed, full_packet)
    if is_auto and headroom is None:
        found.not_expressed.append(f"headroom = auto: {name} keeps its headroom (xoff).")
    profile = today.root.at("BUFFER_PROFILE", name) if today.root else None
    if values.get("xon") == "auto" and "xon" not in fields and profile and profile.at("xon"):
        found.not_expressed.append(f"xon = auto: {name} keeps its xon.")
    found.put("BUFFER_PROFILE", name, fields)
    for new, old in (("dynamic_th", "static_th"), ("static_th", "dynamic_th")):
        if new in fields and profile and profile.at(old):
            found.not_expressed.append(f"{name}: {old} of --base stays beside {new}. Remove {old}.")
    was = next(today.pauses.headroom[port] for port, profile in today.pauses.profiles.items() if profile == name)
    if headroom not in (None, was) and today.has_several(name):
        found.not_expressed.append(_several(name))


def put_rest_of_today(found: Patch, switch: Mapping[str, str], today: Today) -> None:
    """Sizes the pool by the profiles that the ports have after the patch, and names ports that it does not change.

    `found` has the tables of the whole patch, and `switch` are the settings of `[switch]`.
    """
    before = today.pauses.profiles
    new = {key.partition("|")[0]: each["profile"] for key, each in found.tables.get("BUFFER_PG", {}).items()}
    written = found.tables.get("BUFFER_PROFILE", {})
    headroom = [
        float(written.get(name, {}).get("xoff") or today.pauses.headroom[port])
        for port, name in {**before, **new}.items()
    ]
    memory = _bytes(switch.get("memory", ""))
    if memory is not None:
        _put_size(found, today.pauses.pool, memory - sum(headroom))
    elif switch.get("memory") == "static":
        found.not_expressed.append(f"memory = static: {today.pauses.pool} keeps its size.")
    for name in dict.fromkeys(before.values()):
        others = [port for port in before if before[port] == name != today.profile and port not in new]
        if others:
            found.not_expressed.append(
                f"{few(others)}: the profile {name} in BUFFER_PG stays as it is, and [switch] changes {today.profile}."
            )
    quiet = [port for port in today.ports if port not in before and port not in new]
    if quiet and pauses(switch):
        found.not_expressed.append(f"{few(quiet)}: without PFC in --base, and the patch adds none there.")


def _several(profile: str) -> str:
    return (
        f"{profile}: several priorities of a port have this profile. Each takes the headroom, and the pool leaves room "
        "for that of one."
    )


def _change_computed(found: Patch, values: Mapping[str, str], today: Today) -> None:
    fields, _ = _thresholds(
        found, "BUFFER_PG", {key: values[key] for key in ("xoff", "xoff_alpha") if key in values}, None, 0
    )
    if exponent := fields.get("dynamic_th"):
        found.put("DEFAULT_LOSSLESS_BUFFER_PARAMETER", today.pauses.defaults, {"default_dynamic_th": exponent})
    given = [f"switch.{key} = {values[key]}" for key in ("headroom", "xon") if values.get(key, "auto") != "auto"]
    if given:
        found.not_expressed.append(f"{' and '.join(given)}: the switch computes them for the profile NULL.")


def _put_size(found: Patch, pool: str, size: float) -> None:
    if size >= 1:
        found.put("BUFFER_POOL", pool, {"size": f"{size:.0f}"})
    else:
        found.not_expressed.append(f"{pool}: the headroom of all ports takes the memory, so that no size is left.")


def _thresholds(
    found: Patch, name: str, values: Mapping[str, str], needed: float | None, full_packet: int
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

    def pairs(self, today: Today) -> str:
        """The sentence on which port is which link, where both are in order."""
        first, last = self.links[0][0].name, self.links[-1][0].name
        return (
            f"The ports of --base are the links of {self.switch} in their order: {today.ports[0]} is that to {first}, "
            f"and {today.ports[-1]} is that to {last}."
        )

    def names(self, today: Today) -> list[str]:
        """SONiC's names of the links: those of the configuration, or new ones if the switch is the only one."""
        if today.ports:
            return list(today.ports) if len(today.ports) == len(self.links) else []
        return [f"Ethernet{_LANES * place}" for place in range(len(self.links))] if self.is_only else []


def add(
    found: Patch,
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
    found.put("BUFFER_PROFILE", group, {"pool": today.pauses.pool or INGRESS, "size": "0", **fields})
    if headroom is None:
        found.not_expressed.append(f"{group}: the headroom (xoff). Give switch.headroom, as SONiC needs its bytes.")
    if not today.profile:
        _put_pools(found, name, values, ports)
    queue = str(QUEUE if today.queue is None else today.queue)
    names, several = ports.names(today), False
    for place in mine if names else ():
        port = names[place]
        if wred:
            found.put("QUEUE", today.key("QUEUE", port, queue), {"wred_profile": wred})
        if not today.profile:
            found.put("BUFFER_QUEUE", today.key("BUFFER_QUEUE", port, queue), {"profile": name})
        entry = today.key("BUFFER_PG", port, queue)
        found.put("BUFFER_PG", entry, {"profile": group})
        several |= "-" in entry
        before = [each.strip() for each in today.enabled.get(port, "").split(",") if each.strip()]
        found.put("PORT_QOS_MAP", port, {"pfc_enable": ",".join(sorted({*before, queue}))})
    if several:
        found.not_expressed.append(_several(group))
    if not mine or not names:
        of = few([f"[{each}]" for each in tables])
        found.notes.append(
            f"Assign {name} to the ports of {of} in QUEUE and BUFFER_QUEUE and {group} in BUFFER_PG, as PORT|{queue}, "
            f"and set pfc_enable to {queue} in PORT_QOS_MAP."
        )
        if ports.links and not names and not today.profile:
            found.notes.append(f"{INGRESS} has room for {counted(len(ports.pausing), 'port')}, as {ports.switch} has.")
    elif not today.ports:
        said = (
            f"The ports of {ports.switch} are named {names[0]} to {names[-1]}, from {ports.links[0][0].name} to "
            f"{ports.links[-1][0].name}; rename them as your PORT table has them, or give --base."
        )
        found.notes.append(said)
    else:
        found.notes.append(ports.pairs(today))


def _put_pools(found: Patch, name: str, values: Mapping[str, str], ports: SwitchLinks) -> None:
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
