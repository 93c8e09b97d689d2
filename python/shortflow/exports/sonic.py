"""A patch of SONiC's `config_db.json`: WRED and buffer profiles with a scenario's thresholds.

The patch is a part of `config_db.json` for `config load`. `imports.sonic` reads the patch with the same meaning: an
import of the patch gives the same settings, rounded to whole per cents and powers of two.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from shortflow.errors import ConfigError
from shortflow.exports import sonic_pfc
from shortflow.exports.export import Base, Export
from shortflow.exports.sonic_base import NEW, change_base
from shortflow.exports.sonic_patch import Patch
from shortflow.exports.sonic_pfc import LOSSY, SwitchLinks, alike
from shortflow.exports.sonic_profiles import KEYS, curve, pauses, room
from shortflow.exports.sonic_today import Today, all_settings, by_table
from shortflow.exports.switches import Switches
from shortflow.imports.documents import Place, read_json
from shortflow.imports.files import File
from shortflow.imports.networks import few
from shortflow.quantities import parse

FILE = "patch.json"
"""Name of the patch file."""
FULL_PACKET = 1500
"""Bytes of a full packet, unless the settings give another size."""
_WRED = {
    "queue.weight": (
        "1",
        "queue.weight = {} is not exported: SONiC has no such key, and most switches do not average the queue",
    ),
    "queue.gentle": (
        "false",
        "queue.gentle = {} is not exported: SONiC marks every packet above the maximum threshold",
    ),
    "queue.spread": ("false", "queue.spread = {} is not exported: SONiC decides for each packet independently"),
    "queue.mark": (
        "arrival",
        "queue.mark = {} is not exported: SONiC has no such key, and the chip decides where to mark",
    ),
    "queue.min": (
        "auto",
        "queue.min = {} is not exported: the patch has switch.mark_above instead. Add +queue.min=auto to the scheme",
    ),
    "queue.drop_not_ect": (
        "true",
        "queue.drop_not_ect = {} is not exported: SONiC drops packets without ECN by the same curve",
    ),
}
_PRIORITIES = {
    "switch.lossless": "the patch has one lossless priority. Repeat its entries for the others",
    "switch.weights": "set the weights of the queues in SCHEDULER",
}


def patch(
    settings: Mapping[str, str],
    full_packet: int,
    switches: Switches | None = None,
    base: Place | None = None,
    queue: int | None = None,
) -> Patch:
    """A patch with the settings `switch.…` of a scenario and `queue.…` of a scheme, and the settings that SONiC lacks.

    `full_packet` is the size of a full packet in bytes, for thresholds in packets. `switches` are the switches of the
    scenario. With a configuration `base`, the patch has only the differences for one queue of its ports, and the switch
    keeps its own values of absent settings. Without `base`, the patch is a new configuration.
    """
    found = (
        change_base(settings, Today.of(base, queue), switches or {}, full_packet)
        if base
        else _new(settings, full_packet, switches or {})
    )
    for key, (expected, words) in _WRED.items():
        if key in settings and settings[key] != expected:
            found.not_expressed.append(f"{words.format(settings[key])}.")
    for key, words in _PRIORITIES.items():
        if key in settings:
            found.not_expressed.append(f"{key} = {settings[key]} is not exported: {words}.")
    for key, value in settings.items():
        if key.startswith("switch.") and key.endswith(".pfc_thresholds"):
            found.not_expressed.append(
                f"{key} = {value} is not exported: the patch has the thresholds of [switch] for one priority. Add a "
                "profile for each of the others."
            )
    # Ports that share a pool or a profile give the same sentences.
    found.not_expressed, found.notes = ([*dict.fromkeys(each)] for each in (found.not_expressed, found.notes))
    return found


def _new(settings: Mapping[str, str], full_packet: int, switches: Switches) -> Patch:
    """A new configuration."""
    found = Patch()
    tables = {name: {key: of[key] for key in of if key in KEYS} for name, of in by_table(settings).items()}
    tables = {name: of for name, of in tables.items() if of}
    links = SwitchLinks.of(switches, tables)
    for same in alike(tables):
        table = same[0]
        name = NEW if table == "switch" else _named(table)
        values = all_settings(tables, table, switches)
        fields = curve(found, name, "green", values, settings, full_packet)
        if fields:
            marks = settings.get("queue.ecn", "true") == "true"
            fields = {"ecn": "ecn_all" if marks else "ecn_none", "wred_green_enable": "true", **fields}
            found.put("WRED_PROFILE", name, fields)
        if pauses(values):
            ports = sonic_pfc.NewPorts(name, values, links.places(same), same, wred=name if fields else "")
            sonic_pfc.add(found, ports, links, None, full_packet)
            continue
        limit = room(found, name, values, full_packet)
        if limit:
            found.put("BUFFER_PROFILE", name, {"pool": LOSSY, "size": "0", **limit})
        of = few([f"[{each}]" for each in same])
        found.notes.append(f"Assign {name} to the ports of {of} in QUEUE and BUFFER_QUEUE.")
    memory = tables.get("switch", {}).get("memory", "static")
    if memory != "static" and not any(map(pauses, tables.values())):
        found.not_expressed.append(f"switch.memory = {memory} is not exported: set the size of {LOSSY} in BUFFER_POOL.")
    return found


def write(settings: Mapping[str, str], base: Base | None, switches: Switches, directory: Path) -> Sequence[str]:
    """Writes the patch. Returns sentences on settings that the patch lacks, and on its use.

    Raises `ConfigError` if no setting has a counterpart in SONiC.
    """
    sizes = [parse(settings.get(key, "0B")) for key in ("tcp.mss", "tcp.header")]
    full_packet = round(sum(size.number * size.factor for size in sizes if size)) or FULL_PACKET
    root = read_json(File(base.path)) if base else None
    found = patch(settings, full_packet, switches, root, base.queue if base else None)
    has_keys = any(key in KEYS for table in by_table(settings).values() for key in table)
    if not has_keys or (not found.tables and not base):
        raise ConfigError("--as sonic: the scenario has no key of [switch] that SONiC has, such as switch.mark_above")
    same = [] if found.tables else [f"{FILE} is empty: no profile of --base needs a change."]
    write_json(directory / FILE, found.tables)
    return [*same, *found.not_expressed, *found.notes]


def write_json(path: Path, tables: Mapping[str, object]) -> None:
    """Writes tables of a configuration as JSON."""
    path.write_text(json.dumps(tables, indent=4) + "\n", "utf-8")


def _named(table: str) -> str:
    words = "".join(each if each.isalnum() else "_" for each in table.removeprefix("switch."))
    return f"{NEW}_{words.strip('_').upper()}"


EXPORT = Export(
    "sonic",
    "a part of SONiC's config_db.json with WRED and buffer profiles, for `config load`",
    write_settings=write,
)
