"""A patch of SONiC's `config_db.json`: WRED and buffer profiles with a scenario's thresholds.

The patch is a part of `config_db.json`, as `config load` takes it. Its meaning is that of `imports.sonic`: importing it
again gives the same settings, up to whole per cents and powers of two.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from shortflow.errors import ConfigError
from shortflow.exports import sonic_pfc
from shortflow.exports.export import Base, Export
from shortflow.exports.sonic_patch import Patch
from shortflow.exports.sonic_pfc import Today
from shortflow.exports.switches import Switches
from shortflow.imports import sonic
from shortflow.imports.documents import Place, read_json
from shortflow.imports.files import File
from shortflow.imports.networks import few
from shortflow.imports.sonic_pfc import reference
from shortflow.quantities import parse

FILE = "patch.json"
"""Name of the file."""
FULL_PACKET = 1500
"""Bytes of a full packet, unless settings say otherwise."""
NEW = "SHORTFLOW"
"""Name of new profiles; those of a tier or port have its name too."""
LOSSY = "egress_lossy_pool"
_CURVE = ("mark_above", "mark_all_above", "mark_probability")
_ROOM = ("buffer", "memory", "memory_alpha")
_KEYS = (*_CURVE, *_ROOM, *sonic_pfc.KEYS)
_WRED = {
    "queue.weight": (
        "1",
        "RED averages the queue with weight {}: SONiC has no such key, and most switches take the queue as it is",
    ),
    "queue.gentle": ("false", "gentle = {}: SONiC marks every packet from the maximum threshold on"),
    "queue.spread": ("false", "spread = {}: SONiC chooses each packet by itself"),
    "queue.mark": ("arrival", "mark = {}: SONiC has no such key, and a switch marks where its chip does"),
    "queue.min": (
        "auto",
        "min = {}: the scheme marks from there on, and the patch has mark_above. Add +queue.min=auto",
    ),
    "queue.drop_not_ect": ("true", "drop_not_ect = {}: SONiC drops packets that are not ECN-capable by the same curve"),
}


@dataclass(frozen=True)
class Names:
    """Profiles of an existing configuration that a patch changes, and the colour whose curve counts."""

    wred: str = NEW
    buffer: str = NEW
    pool: str = LOSSY
    colour: str = "green"
    is_new: bool = True

    @classmethod
    def of(cls, root: Place, queue: int | None) -> "Names":
        """The profiles of most ports for a queue. Raises `ConfigError` as the import does."""
        usual = sonic.Switch.of(root, queue).usual
        wred, buffer = usual.profiles
        colours = [each for each in sonic.COLOURS if usual.wred and usual.wred.at(f"{each}_max_threshold")]
        pool = reference(usual.buffer.at("pool")) if usual.buffer else ""
        return cls(wred or NEW, buffer or NEW, pool or LOSSY, (colours or ["green"])[0], not usual.wred)


def patch(
    settings: Mapping[str, str],
    names: Names,
    full_packet: int,
    switches: Switches | None = None,
    today: Today | None = None,
) -> Patch:
    """A patch with the settings `switch.…` of a scenario and `queue.…` of a scheme, and what it cannot express.

    `full_packet` is the size of a full packet in bytes, for thresholds in packets. The switch keeps its own values of
    settings that are absent. `switches` are those of the scenario, and `today` is the flow control of the configuration
    that the patch changes; both are about ports that pause.
    """
    found = Patch()
    tables: dict[str, dict[str, str]] = {}
    for key, value in settings.items():
        table, _, name = key.rpartition(".")
        if table.split(".")[0] == "switch" and name in _KEYS:
            tables.setdefault(table, {})[name] = value
    groups = _alike(tables)
    ports = sonic_pfc.SwitchLinks.of(switches or {}, tables, groups)
    for alike in groups:
        table = alike[0]
        own = names if table == "switch" else Names(_named(table), _named(table), names.pool)
        values = {**tables.get("switch", {}), **tables[table]} if own.is_new else tables[table]
        _curve(found, own, values, settings, full_packet)
        if sonic_pfc.pauses(values):
            _pause(found, own, values, full_packet, alike, ports, today or Today())
            continue
        _room(found, own, values, full_packet)
        if table == "switch" and today and today.profile and values.get("xoff") == "none":
            found.not_expressed.append(
                f"xoff = none: ports with the profile {today.profile} in BUFFER_PG pause. Take it from BUFFER_PG."
            )
        if own.is_new:
            of = few([f"[{each}]" for each in alike])
            found.notes.append(f"Assign {own.wred} to the ports of {of} in QUEUE and BUFFER_QUEUE.")
    is_paused = any(map(sonic_pfc.pauses, tables.values()))
    if today and today.profile and is_paused:
        sonic_pfc.put_rest_of_today(found, tables.get("switch", {}), today)
    memory = tables.get("switch", {}).get("memory", "static")
    if memory != "static" and not is_paused:
        found.not_expressed.append(f"The memory of {memory}: it is the size of {names.pool} in BUFFER_POOL.")
    for key, (expected, words) in _WRED.items():
        if key in settings and settings[key] != expected:
            found.not_expressed.append(f"{words.format(settings[key])}.")
    return found


def _pause(
    found: Patch,
    names: Names,
    values: Mapping[str, str],
    full_packet: int,
    alike: Sequence[str],
    ports: sonic_pfc.SwitchLinks,
    today: Today,
) -> None:
    """Flow control of the ports of these tables of the scenario."""
    if today.profile and not names.is_new:
        sonic_pfc.change_today(found, values, ports, today, full_packet)
    else:
        wred = names.wred if names.wred in found.tables.get("WRED_PROFILE", {}) else ""
        name = NEW if alike == ["switch"] else names.buffer
        sonic_pfc.add(found, name, values, alike, ports, today, full_packet, wred)
    # Groups of ports that share a pool say the same of it.
    found.not_expressed, found.notes = ([*dict.fromkeys(each)] for each in (found.not_expressed, found.notes))


def write(settings: Mapping[str, str], base: Base | None, switches: Switches, directory: Path) -> Sequence[str]:
    """Writes the patch. Returns what it does not express, and how it is to be used."""
    sizes = [parse(settings.get(key, "0B")) for key in ("tcp.mss", "tcp.header")]
    full_packet = round(sum(size.number * size.factor for size in sizes if size)) or FULL_PACKET
    root = read_json(File(base.path)) if base else None
    names, today = (Names.of(root, base.queue), Today.of(root, base.queue)) if root and base else (Names(), Today())
    found = patch(settings, names, full_packet, switches, today)
    if not found.tables:
        raise ConfigError("--as sonic: no key of [switch] that SONiC has, such as switch.mark_above")
    write_json(directory / FILE, found.tables)
    return [*found.not_expressed, *found.notes]


def write_json(path: Path, tables: Mapping[str, object]) -> None:
    """Writes tables of a configuration."""
    path.write_text(json.dumps(tables, indent=4) + "\n", "utf-8")


def _alike(tables: Mapping[str, Mapping[str, str]]) -> list[list[str]]:
    """Tables with the same settings; that of all ports is alone."""
    groups: dict[tuple[object, ...], list[str]] = {}
    for table, values in sorted(tables.items()):
        groups.setdefault((table == "switch", *sorted(values.items())), []).append(table)
    return list(groups.values())


def _named(table: str) -> str:
    words = "".join(each if each.isalnum() else "_" for each in table.removeprefix("switch."))
    return f"{NEW}_{words.strip('_').upper()}"


def _curve(found: Patch, names: Names, values: Mapping[str, str], scheme: Mapping[str, str], full_packet: int) -> None:
    if "tcp.mss" in scheme and not {"queue.mark", "queue.max"} & scheme.keys():
        found.not_expressed.append(
            f"{names.wred}: the scheme has no queue that marks by mark_above, and SONiC has WRED alone. The patch has "
            "no WRED profile."
        )
        return
    least = _bytes(found, values.get("mark_above", ""), full_packet)
    most = _bytes(found, values.get("mark_all_above", ""), full_packet)
    share = values.get("mark_probability", "")
    if values.get("mark_above") == "unlimited":
        found.not_expressed.append(
            f"{names.wred}: mark_above is unlimited, so nothing is marked. Take the WRED profile from QUEUE for this."
        )
        return
    is_step = scheme.get("queue") == "step-ecn" or "queue.max" not in scheme
    if values.get("mark_all_above") == "auto" and least:
        most = least if is_step else round(least * float(scheme["queue.max"]))
    if share == "auto":
        share = "1" if is_step else scheme["queue.max_p"]
    fields = {f"{names.colour}_min_threshold": least, f"{names.colour}_max_threshold": most}
    written = {key: str(value) for key, value in fields.items() if value is not None}
    if share:
        percent = float(share) * 100
        written[f"{names.colour}_drop_probability"] = str(round(percent))
        if abs(percent - round(percent)) > 1e-9:
            found.not_expressed.append(
                f"{names.wred}: a probability of {percent:.4g} %; SONiC takes whole per cents, {round(percent)}."
            )
    if written and names.is_new:
        marks = scheme.get("queue.ecn", "true") == "true"
        written = {"ecn": "ecn_all" if marks else "ecn_none", f"wred_{names.colour}_enable": "true", **written}
    found.put("WRED_PROFILE", names.wred, written)


def _room(found: Patch, names: Names, values: Mapping[str, str], full_packet: int) -> None:
    buffer, memory, alpha = (values.get(key, "") for key in _ROOM)
    base = {"pool": names.pool, "size": "0"} if names.is_new else {}
    if alpha and memory != "static":
        exponent = sonic_pfc.sonic_exponent(found.not_expressed, names.buffer, "memory_alpha", alpha)
        found.put("BUFFER_PROFILE", names.buffer, {**base, "dynamic_th": exponent})
        if buffer not in ("", "unlimited"):
            found.not_expressed.append(
                f"{names.buffer}: a limit of {buffer} beside the dynamic threshold; SONiC takes one of them."
            )
        return
    room = _bytes(found, buffer, full_packet)
    if room:
        found.put("BUFFER_PROFILE", names.buffer, {**base, "static_th": str(room)})


def _bytes(found: Patch, text: str, full_packet: int) -> int | None:
    """A threshold in bytes; None for words."""
    quantity = parse(text)
    if quantity is None:
        return None
    if quantity.unit == "pkt":
        note = f"Thresholds in packets are bytes here, {full_packet} a packet."
        if note not in found.notes:
            found.notes.append(note)
        return round(quantity.number * full_packet)
    return round(quantity.number * quantity.factor)


EXPORT = Export(
    "sonic",
    "a part of SONiC's config_db.json with WRED and buffer profiles, for `config load`",
    write_settings=write,
)
