"""Changes of an existing configuration, so that an import of the result has the settings of a scenario.

A profile changes only if the scenario's settings of its ports differ from the settings that an import gives them. If
ports of one profile need different settings, some of the ports get a new profile.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from shortflow.exports import sonic_pfc
from shortflow.exports.sonic_patch import Patch
from shortflow.exports.sonic_pfc import SwitchLinks
from shortflow.exports.sonic_profiles import (
    CURVE,
    KEYS,
    PAUSES,
    ROOM,
    bytes_of,
    curve,
    group,
    pauses,
    power_of_two,
    room,
)
from shortflow.exports.sonic_today import Tables, Today, all_settings, by_table, meanings
from shortflow.exports.switches import Switches
from shortflow.imports.documents import Place
from shortflow.imports.networks import few
from shortflow.imports.sonic_pfc import COMPUTED, reference
from shortflow.imports.sonic_switch import COLOURS, Port

NEW = "SHORTFLOW"
"""Name of new profiles. A profile for one tier or port also has the name of this tier or port."""


@dataclass(frozen=True)
class _Member:
    """Ports with one table of the scenario: one port of the configuration, or several ports without a name."""

    table: str
    name: str
    """Port of the configuration. Empty if several ports or no port are known."""
    place: int
    """Position of the port among the links of the switch."""
    today: Port | None
    """The port, or a port with the most usual profiles. None if the profiles are unknown."""
    wanted: Mapping[str, str]
    given: Mapping[str, str]
    """Settings of the scenario, and settings that an import of the configuration gives."""


@dataclass(frozen=True)
class _Change:
    """A configuration, and the scenario that changes it."""

    today: Today
    settings: Mapping[str, str]
    links: SwitchLinks
    full_packet: int
    ports: Sequence[_Member]
    found: Patch

    def differs(self, ports: _Member, keys: Sequence[str]) -> bool:
        return self.meaning(ports, keys) != meanings(ports.given, keys, self.full_packet)

    def meaning(self, ports: _Member, keys: Sequence[str]) -> tuple[object, ...]:
        return meanings(ports.wanted, keys, self.full_packet)

    def put(self, table: str, name: str, fields: Mapping[str, str]) -> None:
        """Adds fields of a profile whose values differ from the configuration's."""
        self.found.put(
            table, name, {key: text for key, text in fields.items() if not self._has(table, name, key, text)}
        )

    def _has(self, table: str, name: str, key: str, text: str) -> bool:
        old = self.today.root.text(table, name, key)
        try:
            return float(old) == float(text)
        except ValueError:
            return old == text


def change_base(settings: Mapping[str, str], today: Today, switches: Switches, full_packet: int) -> Patch:
    """The patch that gives a configuration the settings `switch.…` of a scenario and `queue.…` of a scheme.

    For settings that are absent, as most are after a tuning, the switch keeps its own values.
    """
    tables = {name: {key: of[key] for key in of if key in KEYS} for name, of in by_table(settings).items()}
    links = SwitchLinks.of(switches, tables)
    made = _Change(today, settings, links, full_packet, _ports(today, tables, switches), Patch())
    _change_curves(made)
    _change_rooms(made)
    _change_pauses(made)
    memory = next((each for each in made.ports if made.differs(each, ("memory",))), None)
    if memory and not any(pauses(each.wanted) for each in made.ports):
        text = memory.wanted["memory"]
        pool = reference(memory.today.buffer.at("pool")) if memory.today and memory.today.buffer else "the pool"
        made.found.not_expressed.append(
            f"switch.memory = {text} is not exported: set the size of {pool} in BUFFER_POOL."
        )
    return made.found


def _ports(today: Today, tables: Tables, switches: Switches) -> list[_Member]:
    """Ports of the configuration with the settings of the scenario.

    If switch and configuration have the same number of ports, each port gets the settings of its link. Otherwise the
    usual profiles get the settings of `[switch]`, and the other tables have ports without a name.
    """
    given = today.tables(switches)

    def of(table: str, name: str, place: int, port: Port | None) -> _Member:
        now = all_settings(given, table, switches)
        wanted = all_settings(tables, table, switches)
        return _Member(table, name, place, port, wanted if switches else {**now, **wanted}, now)

    if today.is_paired(switches):
        ((name, switch),) = switches.items()
        pairs = zip(today.switch.ports, switch.links, strict=True)
        return [of(f"switch.{name}->{end.name}", port.name, at, port) for at, (port, end) in enumerate(pairs)]
    others = {**tables, **(given if switches else {})}.keys() - {"switch"}
    return [of("switch", "", 0, today.switch.usual), *(of(each, "", 0, None) for each in sorted(others))]


def _split(
    made: _Change, ports: Sequence[_Member], keys: Sequence[str], *, is_there: bool
) -> tuple[list[_Member], list[list[_Member]]]:
    """Ports whose settings the present profile takes, and groups of ports that need a new profile.

    The profile stays unchanged if it already has the settings of some of its ports.
    """
    alike: dict[tuple[object, ...], list[_Member]] = {}
    for each in ports:
        if made.differs(each, keys):
            alike.setdefault(made.meaning(each, keys), []).append(each)
    several = sorted(alike.values(), key=len, reverse=True)
    is_kept = sum(map(len, several)) < len(ports)
    return (several[0], several[1:]) if several and is_there and not is_kept else ([], several)


def _by_profile(ports: Sequence[_Member], names: Mapping[int, str]) -> dict[str, list[_Member]]:
    found: dict[str, list[_Member]] = {}
    for at, each in enumerate(ports):
        found.setdefault(names[at], []).append(each)
    return found


def _change_curves(made: _Change) -> None:
    names = {at: each.today.wred.name if each.today and each.today.wred else "" for at, each in enumerate(made.ports)}
    for name, ports in _by_profile(made.ports, names).items():
        old = next((each.today.wred for each in ports if each.today), None)
        colour = next((each for each in COLOURS if old and old.at(f"{each}_max_threshold")), COLOURS[0])
        changed, several = _split(made, ports, CURVE, is_there=bool(name))
        for alike in [changed] if changed else []:
            fields = curve(made.found, name, colour, alike[0].wanted, made.settings, made.full_packet)
            made.put("WRED_PROFILE", name, _enabled(fields, colour, old))
        for alike in several:
            new = _new_name(made, "WRED_PROFILE", alike)
            fields = curve(made.found, new, colour, alike[0].wanted, made.settings, made.full_packet)
            if fields:
                marks = made.settings.get("queue.ecn", "true") == "true"
                fresh = {"ecn": "ecn_all" if marks else "ecn_none", f"wred_{colour}_enable": "true"}
                fields = {**(_fields(old) or fresh), **_enabled(fields, colour, old)}
                made.found.put("WRED_PROFILE", new, fields)
                _assign(made, "QUEUE", "wred_profile", "WRED_PROFILE", new, alike)


def _enabled(fields: dict[str, str], colour: str, old: Place | None) -> dict[str, str]:
    """The fields, with WRED turned on if the profile has it off."""
    is_off = old is not None and old.text(f"wred_{colour}_enable") == "false"
    return {**fields, f"wred_{colour}_enable": "true"} if fields and is_off else fields


def _change_rooms(made: _Change) -> None:
    """Changes profiles of queues, for ports that do not pause: thresholds at egress limit these ports."""
    ports = [each for each in made.ports if not pauses(each.wanted)]
    names = {at: each.today.buffer.name if each.today and each.today.buffer else "" for at, each in enumerate(ports)}
    for name, members in _by_profile(ports, names).items():
        old = next((each.today.buffer for each in members if each.today), None)
        changed, several = _split(made, members, ROOM, is_there=bool(name))
        if changed:
            fields = room(made.found, name, changed[0].wanted, made.full_packet)
            made.put("BUFFER_PROFILE", name, fields)
            _say_beside(made, name, fields, old)
        for alike in several:
            new = _new_name(made, "BUFFER_PROFILE", alike)
            fields = room(made.found, new, alike[0].wanted, made.full_packet)
            if fields:
                kept = {key: text for key, text in _fields(old).items() if key not in ("static_th", "dynamic_th")}
                pool = {"pool": made.today.named("BUFFER_POOL", sonic_pfc.LOSSY), "size": "0"}
                made.found.put("BUFFER_PROFILE", new, {**(kept or pool), **fields})
                _assign(made, "BUFFER_QUEUE", "profile", "BUFFER_PROFILE", new, alike)


def _change_pauses(made: _Change) -> None:
    """Changes priority groups of ports that pause, adds groups for ports that begin to pause, and sizes the pool."""
    paused = made.today.switch.paused
    before = [each for each in made.ports if pauses(each.given)]
    after = [each for each in made.ports if pauses(each.wanted)]
    gone = [each for each in before if each not in after]
    for name in dict.fromkeys(_group_of(made, each) for each in gone):
        made.found.not_expressed.append(
            f"switch.xoff = none is not exported: ports of {name} pause. Remove {name} from BUFFER_PG."
        )
    both = [each for each in before if each in after]
    for buffer in dict.fromkeys(each.wanted["buffer"] for each in both if made.differs(each, ("buffer",))):
        made.found.not_expressed.append(
            f"switch.buffer = {buffer} is not exported: a port with PFC has thresholds at ingress instead."
        )
    headroom = dict(paused.headroom)
    names = {at: _group_of(made, each) for at, each in enumerate(both)}
    for name, ports in _by_profile(both, names).items():
        if name == COMPUTED:
            _change_computed(made, [each for each in ports if made.differs(each, PAUSES)])
        else:
            headroom |= _change_groups(made, name, ports)
    fresh = [each for each in after if each not in before]
    alike: dict[tuple[object, ...], list[_Member]] = {}
    for each in fresh:
        alike.setdefault(made.meaning(each, KEYS), []).append(each)
    for members in alike.values():
        new = _new_name(made, "BUFFER_PROFILE", members)
        headroom |= _begin(made, new, members)
    is_changed = any(made.differs(each, (*PAUSES, "memory")) for each in both) or (fresh and made.today.is_paused)
    if both and is_changed:
        _size_pool(made, both[0], headroom)


def _change_groups(made: _Change, name: str, ports: Sequence[_Member]) -> dict[str, float]:
    """Changes a profile of priority groups. Returns the headroom in bytes of the ports whose headroom is known."""
    old = made.today.root.need("BUFFER_PROFILE", name)
    changed, several = _split(made, ports, PAUSES, is_there=True)
    found: dict[str, float] = {}
    for alike in [changed, *several] if changed else several:
        new = name if alike is changed else _new_name(made, "BUFFER_PROFILE", alike, "_PG")
        first = alike[0].wanted
        is_auto = first.get("headroom", "auto") == "auto"
        needed = made.links.needed([each.place for each in alike] if alike[0].name else None) if is_auto else None
        fields, headroom = group(made.found, new, first, needed, made.full_packet)
        if is_auto and headroom is None:
            made.found.not_expressed.append(f"switch.headroom = auto is not exported: {new} keeps its headroom (xoff).")
        if first.get("xon", "auto") == "auto" and "xon" not in fields and old.at("xon") and not old.at("xon_offset"):
            made.found.not_expressed.append(f"switch.xon = auto is not exported: {new} keeps its xon.")
        if alike is changed:
            made.put("BUFFER_PROFILE", name, fields)
            _say_beside(made, name, fields, old)
        else:
            thresholds = ("static_th", "dynamic_th") if {"static_th", "dynamic_th"} & fields.keys() else ()
            kept = {key: text for key, text in _fields(old).items() if key not in thresholds}
            made.found.put("BUFFER_PROFILE", new, {**kept, **fields})
            _assign(made, "BUFFER_PG", "profile", "BUFFER_PROFILE", new, alike)
        if headroom is not None:
            everywhere = [port for port, of in made.today.switch.paused.profiles.items() if of == name]
            of_ports = [each.name for each in alike] if alike[0].name else everywhere
            is_other = any(made.today.switch.paused.headroom[port] != headroom for port in of_ports)
            found |= dict.fromkeys(of_ports, headroom)
            if is_other and made.today.has_several(name):
                made.found.not_expressed.append(sonic_pfc.several_priorities(new))
    return found


def _change_computed(made: _Change, ports: Sequence[_Member]) -> None:
    """Changes the threshold of profiles that the switch computes. All ports share this threshold."""
    for each in ports[:1]:
        alpha = each.wanted.get("xoff_alpha", "none")
        if alpha != "none":
            power = power_of_two(made.found, "BUFFER_PG", "xoff_alpha", alpha)
            defaults = made.today.switch.paused.defaults
            made.put("DEFAULT_LOSSLESS_BUFFER_PARAMETER", defaults, {"default_dynamic_th": power})
        given = [
            f"switch.{key} = {text}" for key in ("headroom", "xon") if (text := each.wanted.get(key, "auto")) != "auto"
        ]
        if given:
            made.found.not_expressed.append(
                f"Not exported: {' and '.join(given)}. The switch computes the values of the profile NULL."
            )


def _begin(made: _Change, name: str, ports: Sequence[_Member]) -> dict[str, float]:
    """Adds ports that pause in the scenario but not in the configuration. Returns their headroom in bytes, by port."""
    places = [each.place for each in ports] if ports[0].name else []
    tables = list(dict.fromkeys(each.table for each in ports))
    new = sonic_pfc.NewPorts(name, ports[0].wanted, places, tables)
    headroom = sonic_pfc.add(made.found, new, made.links, made.today, made.full_packet)
    return {each.name: headroom for each in ports if each.name and headroom is not None}


def _size_pool(made: _Change, ports: _Member, headroom: Mapping[str, float]) -> None:
    """Sizes the pool at ingress: the memory without the headroom of all ports."""
    pool = made.today.switch.paused.pool
    memory = bytes_of(ports.wanted.get("memory", ""))
    if memory is not None:
        size = memory - sum(headroom.values())
        sonic_pfc.require_room(made.found, pool, size)
        made.put("BUFFER_POOL", pool, {"size": f"{size:.0f}"} if size >= 1 else {})
    elif ports.wanted.get("memory") == "static":
        made.found.not_expressed.append(f"switch.memory = static is not exported: {pool} keeps its size.")


def _group_of(made: _Change, ports: _Member) -> str:
    return made.today.switch.paused.profiles.get(ports.name, made.today.profile)


def _say_beside(made: _Change, name: str, fields: Mapping[str, str], old: Place | None) -> None:
    """Reports fields that a patch cannot remove."""
    pairs = (("dynamic_th", "static_th"), ("static_th", "dynamic_th"), ("xon", "xon_offset"))
    for new, other in pairs:
        if new in fields and old is not None and old.at(other) and (new != "xon" or "static_th" in fields):
            made.found.not_expressed.append(
                f"{name}: a patch cannot remove {other} of --base, which contradicts {new}. Remove {other} yourself."
            )


def _fields(profile: Place | None) -> dict[str, str]:
    return {each.name: each.text() for each in profile.each()} if profile else {}


def _new_name(made: _Change, table: str, ports: Sequence[_Member], suffix: str = "") -> str:
    """A name that no profile has."""
    words = "".join(each if each.isalnum() else "_" for each in ports[0].table.removeprefix("switch"))
    stem = NEW if len(ports) == len(made.ports) else "_".join(filter(None, (NEW, words.strip("_").upper())))
    taken = {each.name for each in made.today.root.each(table)} | made.found.tables.get(table, {}).keys()
    names = (f"{stem}{number or ''}{suffix}" for number in range(len(taken) + 2) if number != 1)
    return next(name for name in names if name not in taken)


def _assign(made: _Change, table: str, field: str, of: str, name: str, ports: Sequence[_Member]) -> None:
    """Assigns a profile to ports, or says which tables of the scenario need the profile."""
    if not ports[0].name:
        tables = few([f"[{each.table}]" for each in ports])
        made.found.notes.append(f"Assign {name} to the ports of {tables} in {table}.")
        return
    beside = []
    for each in ports:
        for entry, around in made.today.entries(table, each.name).items():
            made.found.put(table, entry, {field: made.today.named(of, name)})
            beside += [f"{each.name} from {around}"] if around else []
    if beside:
        made.found.not_expressed.append(
            f"{table}: remove {few(beside)}, because the patch has separate entries for these ports."
        )
    pairs = made.links.pairs(made.today)
    made.found.notes += [pairs] if pairs not in made.found.notes else []
