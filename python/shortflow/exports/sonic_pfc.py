"""Priority flow control in SONiC: lossless pools, profiles of priority groups, and ports that pause.

`imports.sonic_pfc` reads the tables with the same meaning: an import gives the same XOFF, XON, headroom and memory.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from shortflow.exports.sonic_patch import Patch
from shortflow.exports.sonic_profiles import bytes_of, group, pauses
from shortflow.exports.sonic_today import Tables, Today, all_settings
from shortflow.exports.switches import Neighbour, Switches
from shortflow.imports.networks import few
from shortflow.quantities import counted

INGRESS, EGRESS, LOSSY = "ingress_lossless_pool", "egress_lossless_pool", "egress_lossy_pool"
QUEUE = 3
"""Lossless queue and priority of a new configuration. SONiC's own configurations have 3 and 4."""
_LANES = 4
"""Lanes of a port. SONiC numbers ports by their first lane."""


def several_priorities(profile: str) -> str:
    """Sentence on a profile that several priorities of a port share."""
    return (
        f"{profile}: several priorities of a port have this profile. Each takes its own headroom, but the pool leaves "
        "room for one."
    )


def require_room(found: Patch, pool: str, size: float) -> None:
    """Reports a pool for which the headroom leaves no memory."""
    if size < 1:
        found.not_expressed.append(
            f"{pool}: the headroom of all ports takes the whole memory, so the pool has no size."
        )


def alike(tables: Tables) -> list[list[str]]:
    """Tables grouped by equal settings. The table of all ports is a group of its own."""
    groups: dict[tuple[object, ...], list[str]] = {}
    for table, values in sorted(tables.items()):
        groups.setdefault((table == "switch", *sorted(values.items())), []).append(table)
    return list(groups.values())


@dataclass(frozen=True)
class SwitchLinks:
    """Links of one switch, with the settings of their ports in the scenario."""

    switch: str
    links: Sequence[tuple[Neighbour, str, Mapping[str, str]]]
    """Other end, table of the scenario, and settings of each link."""
    is_only: bool
    """True if the scenario has no other switch."""
    groups: Sequence[Sequence[str]]
    """Tables of the scenario, grouped by profile."""

    @classmethod
    def of(cls, switches: Switches, tables: Tables) -> "SwitchLinks":
        """The links of the switch with most links. Tables of ports override the settings of `[switch]`."""
        switch = max(switches, key=lambda each: len(switches[each].links), default="")
        found = []
        for each in switches[switch].links if switch else ():
            name = f"switch.{switch}->{each.name}"
            found.append((each, name if name in tables else "switch", all_settings(tables, name, switches)))
        return cls(switch, found, len(switches) == 1, alike(tables))

    @property
    def pausing(self) -> list[tuple[str, Mapping[str, str]]]:
        """Tables and settings of the links with flow control."""
        return [(table, values) for _, table, values in self.links if pauses(values)]

    def places(self, tables: Sequence[str]) -> list[int]:
        """Positions of the links with these tables."""
        return [place for place, (_, table, _) in enumerate(self.links) if table in tables]

    def needed(self, places: Sequence[int] | None) -> float | None:
        """The largest headroom in bytes that `auto` means for these links, or for all links. None without links."""
        chosen = range(len(self.links)) if places is None else places
        return max((self.links[place][0].headroom for place in chosen), default=None)

    @property
    def headroom(self) -> float:
        """Total headroom of all links with flow control in bytes.

        If the headroom is `auto`, each link has the headroom of its profile.
        """
        needed = {table: self.needed(self.places(group)) or 0.0 for group in self.groups for table in group}
        given = [(table, bytes_of(values.get("headroom", "auto"))) for table, values in self.pausing]
        return sum(needed[table] if each is None else each for table, each in given)

    def pairs(self, today: Today) -> str:
        """Sentence on the pairing of ports and links in their order."""
        first, last = self.links[0][0].name, self.links[-1][0].name
        return (
            f"The patch takes the ports of --base as the links of {self.switch} in order, from {today.ports[0]} (to "
            f"{first}) to {today.ports[-1]} (to {last})."
        )

    def names(self, today: Today | None) -> list[str]:
        """SONiC's port names of the links: from the configuration, or new names if the switch is the only one.

        Empty if ports and links cannot be paired.
        """
        if today and today.ports:
            return list(today.ports) if len(today.ports) == len(self.links) else []
        return [f"Ethernet{_LANES * place}" for place in range(len(self.links))] if self.is_only else []


@dataclass(frozen=True)
class NewPorts:
    """Ports that pause in the scenario but not in the configuration today, and that share their settings."""

    name: str
    """Name of their new profile of queues. The profile of their priority groups has the suffix `_PG`."""
    values: Mapping[str, str]
    places: Sequence[int]
    """Positions of their links; empty if unknown."""
    tables: Sequence[str]
    """Their tables in the scenario."""
    wred: str = ""
    """Name of their WRED profile; empty for none."""

    @property
    def profile(self) -> str:
        """Name of the profile of their priority groups."""
        return f"{self.name}_PG"


def add(found: Patch, ports: NewPorts, links: SwitchLinks, today: Today | None, full_packet: int) -> float | None:
    """Adds the pools, profiles and entries of ports that pause. Returns the headroom of a port in bytes, if known."""
    is_fresh = today is None or not today.is_paused
    name, profile = ports.name, ports.profile
    fields, headroom = group(found, profile, ports.values, links.needed(ports.places), full_packet)
    pool = today.switch.paused.pool if today and today.is_paused else INGRESS
    pool = today.named("BUFFER_POOL", pool) if today else pool
    found.put("BUFFER_PROFILE", profile, {"pool": pool, "size": "0", **fields})
    if headroom is None:
        found.not_expressed.append(f"{profile}: the headroom (xoff) is unknown. Give switch.headroom in bytes.")
    if is_fresh:
        _put_pools(found, name, ports.values, links, today)
    queue = str(today.switch.queue if today else QUEUE)
    names = links.names(today)
    if names and ports.places:
        _put_ports(found, ports, names, queue, today)
        if today and today.ports:
            found.notes.append(links.pairs(today))
        else:
            found.notes.append(
                f"The patch names the ports of {links.switch} {names[0]} (to {links.links[0][0].name}) to {names[-1]} "
                f"(to {links.links[-1][0].name}). Rename the ports as in your PORT table, or give --base."
            )
        return headroom
    of = few([f"[{each}]" for each in ports.tables])
    found.notes.append(
        f"Assign {name} to the ports of {of} in QUEUE and BUFFER_QUEUE and {profile} in BUFFER_PG, as PORT|{queue}, "
        f"and set pfc_enable to {queue} in PORT_QOS_MAP."
    )
    if links.links and not names and is_fresh:
        found.notes.append(f"{INGRESS} has room for the {counted(len(links.pausing), 'port')} of {links.switch}.")
    return headroom


def _put_ports(found: Patch, ports: NewPorts, names: Sequence[str], queue: str, today: Today | None) -> None:
    """Adds entries of ports that pause: profiles of their queue and priority group, and their enabled priorities.

    `names` are SONiC's names of all links of the switch.
    """

    def put(table: str, port: str, field: str, of: str, value: str) -> Sequence[str]:
        entries = list(today.entries(table, port)) if today else [f"{port}|{queue}"]
        for entry in entries:
            found.put(table, entry, {field: today.named(of, value) if today else value})
        return entries

    groups = list[str]()
    is_fresh = today is None or not today.is_paused
    for port in (names[place] for place in ports.places):
        # A switch that pauses already has its queues' profiles.
        if is_fresh and ports.wred:
            put("QUEUE", port, "wred_profile", "WRED_PROFILE", ports.wred)
        if is_fresh:
            put("BUFFER_QUEUE", port, "profile", "BUFFER_PROFILE", ports.name)
        priorities = put("BUFFER_PG", port, "profile", "BUFFER_PROFILE", ports.profile)
        groups += [each for each in priorities if "-" in each]
        before = _enabled(today, port) if today else []
        found.put("PORT_QOS_MAP", port, {"pfc_enable": ",".join(sorted({*before, queue}))})
    if groups:
        found.not_expressed.append(several_priorities(ports.profile))


def _enabled(today: Today, port: str) -> list[str]:
    """Priorities of a port for which flow control is enabled already."""
    entries = today.root.each("PORT_QOS_MAP")
    texts = [each.text("pfc_enable") for each in entries if port in map(str.strip, each.name.split(","))]
    return [each.strip() for text in texts for each in text.split(",") if each.strip()]


def _put_pools(found: Patch, name: str, values: Mapping[str, str], links: SwitchLinks, today: Today | None) -> None:
    """Adds the pools at ingress and egress, and a profile of queues that the egress pool limits."""
    memory = bytes_of(values.get("memory", "static"))
    limits = [bytes_of(of_link.get("xoff", "")) for _, of_link in links.pausing]
    if memory is None and limits:
        memory = sum(each or 0.0 for each in limits) + links.headroom
        found.not_expressed.append(
            f"switch.memory = static is not exported: SONiC's ports share {INGRESS}, which has room for the thresholds "
            f"of {counted(len(limits), 'port')}."
        )
    if values.get("buffer", "unlimited") != "unlimited":
        found.not_expressed.append(
            f"switch.buffer = {values['buffer']} is not exported: a port with PFC has thresholds at ingress instead."
        )
    egress = today.named("BUFFER_POOL", EGRESS) if today else EGRESS
    found.put("BUFFER_POOL", INGRESS, {"type": "ingress", "mode": "dynamic"})
    if memory is None or not limits:
        found.not_expressed.append(
            f"The size of {INGRESS} is unknown: set it to the switch's memory minus the headroom of its ports."
        )
        found.put("BUFFER_POOL", EGRESS, {"type": "egress", "mode": "dynamic"})
        found.put("BUFFER_PROFILE", name, {"pool": egress, "size": "0", "dynamic_th": "8"})
        return
    size = memory - links.headroom
    require_room(found, INGRESS, size)
    found.put("BUFFER_POOL", INGRESS, {"size": f"{size:.0f}"} if size >= 1 else {})
    # A larger pool at egress already has room for the whole memory.
    today_has = float(today.root.text("BUFFER_POOL", EGRESS, "size") or 0) if today else 0.0
    if today_has < memory:
        found.put("BUFFER_POOL", EGRESS, {"type": "egress", "mode": "static", "size": f"{memory:.0f}"})
    found.put("BUFFER_PROFILE", name, {"pool": egress, "size": "0", "static_th": f"{memory:.0f}"})
