"""Priority flow control in SONiC's `config_db.json`: XOFF, XON and headroom of ports for one queue.

Source: SONiC's Configuration.md (`BUFFER_PG`, `PORT_QOS_MAP`) and SAI's `saibuffer.h`. `dynamic_th` n pauses a priority
group above 2^n times the free pool, `xoff` is the group's headroom in bytes, and `xon` ends the pause.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from shortflow.errors import did_you_mean
from shortflow.imports.documents import Place
from shortflow.imports.networks import few
from shortflow.imports.parts import Value
from shortflow.quantities import counted

_Settings = dict[str, Value]
COMPUTED = "NULL"
"""Profile of a priority group whose headroom the switch computes."""


@dataclass
class FlowControl:
    """Flow control of ports for one queue, with sentences on data that was left out."""

    by_port: dict[str, _Settings] = field(default_factory=dict)
    """Settings of `[switch]`, by port."""
    profiles: dict[str, str] = field(default_factory=dict)
    """Profile of the priority group, by port."""
    headroom: dict[str, float] = field(default_factory=dict)
    """Headroom in bytes, by port. 0 if the file does not give it."""
    defaults: str = ""
    """Entry of DEFAULT_LOSSLESS_BUFFER_PARAMETER, if the switch computes profiles."""
    pool: str = ""
    """Pool of the priority groups."""
    memory: Value | None = None
    """Sum of the pool and of the headroom of all ports."""
    left_out: list[str] = field(default_factory=list)


def flow_control(root: Place, queue: int, ports: Sequence[str], groups: Mapping[tuple[str, int], Place]) -> FlowControl:
    """Flow control of these ports. `groups` has the values that name profiles, by port and priority group."""
    found = FlowControl()
    enabled, others, reasons = 0, dict[str, dict[str, float]](), dict[str, None]()
    # A name may list several ports, or be `global`.
    maps = {port.strip(): entry for entry in root.each("PORT_QOS_MAP") for port in entry.name.split(",")}
    for port in ports:
        of_port = maps.get(port) or maps.get("global")
        listed = [each.strip() for each in of_port.text("pfc_enable").split(",")] if of_port else []
        priorities = {each for each in listed if each}
        mine = {each for each in priorities if _queue(root, of_port, each) == str(queue)}
        for priority in priorities - mine:
            row, headroom = _row(root, of_port, priority, port, groups)
            rows = others.setdefault(priority, {})
            rows[row] = rows.get(row, 0.0) + headroom
        if not mine:
            continue
        enabled += 1
        named = next((by for group in _groups(root, of_port, queue) if (by := groups.get((port, group)))), None)
        if named is None:
            reasons[f"no BUFFER_PG of queue {queue} has a profile"] = None
            continue
        settings = _settings(root, named, found, reasons)
        if settings:
            found.by_port[port] = settings
            profile = reference(named)
            headroom_of = root.at("BUFFER_PROFILE", profile, "xoff")
            found.profiles[port] = profile
            found.headroom[port] = headroom_of.number("a number of bytes") if headroom_of else 0.0
    if found.by_port:
        size = root.need("BUFFER_POOL", found.pool, "size")
        headroom = sum(found.headroom.values())
        total = size.number("a number of bytes", 1) + headroom
        beside = f", and {headroom:.0f} B of headroom beside it" if headroom else ""
        found.memory = Value(f"{total:.0f}B", f"{size.origin}{beside}")
    if enabled > len(found.by_port):
        without = counted(enabled - len(found.by_port), "port")
        found.left_out.append(f"PFC of {without}: {few(reasons)}. Set `switch.xoff` to turn PFC on.")
    if others:
        found.left_out.append(_said_of_others(others, bool(found.by_port)))
    if found.by_port and root.at("PFC_WD"):
        found.left_out.append("PFC_WD. Shortflow has no watchdog that ends a pause.")
    return found


def _row(
    root: Place, of_port: Place | None, priority: str, port: str, groups: Mapping[tuple[str, int], Place]
) -> tuple[str, float]:
    """Row of `switch.pfc_thresholds` for a priority of a port, and its headroom in bytes.

    The row is empty if the file does not give the thresholds.
    """
    queue = _queue(root, of_port, priority)
    of_queue = _groups(root, of_port, int(queue)) if queue.isdigit() else []
    named = next((by for group in of_queue if (by := groups.get((port, group)))), None)
    if named is None or not (reference(named) == COMPUTED or root.at("BUFFER_PROFILE", reference(named))):
        return "", 0.0
    settings = _settings(root, named, FlowControl(), {})
    if not settings:
        return "", 0.0
    xon, headroom = (str(settings[name].value) if name in settings else "auto" for name in ("xon", "headroom"))
    alpha = settings["xoff_alpha"].value if "xoff_alpha" in settings else "none"
    row = f"{priority} {settings['xoff'].value} {xon} {headroom} {alpha}"
    return row, 0.0 if headroom == "auto" else float(headroom.removesuffix("B"))


def _said_of_others(others: Mapping[str, Mapping[str, float]], is_paused: bool) -> str:
    """Sentences on enabled priorities of other queues, with settings if all ports have the same thresholds.

    `others` has for each priority the headroom of all ports in bytes, by row of `switch.pfc_thresholds`.
    """
    names = sorted(others)
    few_names = few(names)
    said = (
        f"PFC of priority {few_names}: it belongs to another queue."
        if len(names) == 1
        else f"PFC of priorities {few_names}: they belong to other queues."
    )
    rows = [row for name in names for row in others[name]]
    if not is_paused or len(rows) > len(names) or not all(rows):
        return said
    more = sum(headroom for name in names for headroom in others[name].values())
    memory = f" and raise switch.memory by {more:.0f}B" if more else ""
    return (
        f'{said} For traffic with pfc_priority = {few_names}, set switch.pfc_thresholds = "{"; ".join(rows)}"{memory}.'
    )


def _queue(root: Place, of_port: Place | None, priority: str) -> str:
    """The queue that a frame for this priority pauses. Without a map, queue and priority have the same number."""
    name = reference(of_port.at("pfc_to_queue_map")) if of_port else ""
    return root.text("MAP_PFC_PRIORITY_TO_QUEUE", name, priority) or priority


def _groups(root: Place, of_port: Place | None, queue: int) -> list[int]:
    """Priority groups of the traffic classes of this queue."""
    if of_port is None:
        return [queue]
    to_queue = root.at("TC_TO_QUEUE_MAP", reference(of_port.at("tc_to_queue_map")))
    classes = [each.name for each in to_queue.each() if each.text() == str(queue)] if to_queue else []
    name = reference(of_port.at("tc_to_pg_map"))
    texts = [root.text("TC_TO_PRIORITY_GROUP_MAP", name, each) or each for each in classes or [str(queue)]]
    return [int(text) for text in texts if text.isdigit()]


def _settings(root: Place, named: Place, found: FlowControl, reasons: dict[str, None]) -> _Settings:
    """Settings of `[switch]` from the named profile. Empty if the file does not give its thresholds."""
    name = reference(named)
    if name == COMPUTED:
        return _computed(root, found, reasons)
    profile = referred(root, "BUFFER_PROFILE", named)
    headroom = profile.at("xoff")
    if headroom is None:
        reasons[f"{name} has no xoff"] = None
        return {}
    pool = referred(root, "BUFFER_POOL", profile.need("pool"))
    if not _sized(pool, reasons):
        return {}
    found.pool = pool.name
    if pool.at("xoff"):
        said = f"xoff of {pool.name}: links share this headroom; in Shortflow each link has its own."
        found.left_out += [said] if said not in found.left_out else []
    settings = _threshold(profile, pool)
    if not settings:
        reasons[f"{name} has neither static_th nor dynamic_th"] = None
        return {}
    settings["headroom"] = Value(f"{headroom.number('a number of bytes'):.0f}B", headroom.origin)
    xon, offset = profile.at("xon"), profile.at("xon_offset")
    if xon and not offset and (least := xon.number("a number of bytes")):
        settings["xon"] = Value(f"{least:.0f}B", xon.origin)
    elif offset and "xoff_alpha" not in settings:
        least = xon.number("a number of bytes") if xon else 0.0
        static = profile.need("static_th").number("a number of bytes", 1)
        most = max(least, static - offset.number("a number of bytes"))
        settings["xon"] = Value(f"{max(most, 0):.0f}B", f"{offset.origin}: below static_th")
    elif offset:
        said = f"xon_offset of {name}: in Shortflow, a link resumes at its XOFF threshold."
        found.left_out += [said] if said not in found.left_out else []
    return settings


def _threshold(profile: Place, pool: Place) -> _Settings:
    static, dynamic = profile.at("static_th"), profile.at("dynamic_th")
    if static:
        return {"xoff": Value(f"{static.number('a number of bytes', 1):.0f}B", static.origin)}
    if not dynamic:
        return {}
    exponent = dynamic.number("an exponent of 2 from -8 to 8", -8, 8)
    size = pool.need("size")
    return {
        "xoff": Value(f"{size.number('a number of bytes', 1):.0f}B", f"{size.origin}: no limit but the share"),
        "xoff_alpha": Value(2.0**exponent, f"{dynamic.origin}: 2^{exponent:g}"),
    }


def _computed(root: Place, found: FlowControl, reasons: dict[str, None]) -> _Settings:
    """Settings of a priority group whose profile the switch computes from rate and cable length.

    The headroom is not among the settings, because the scenario computes it likewise.
    """
    defaults = next(root.each("DEFAULT_LOSSLESS_BUFFER_PARAMETER"), None)
    exponent = defaults.at("default_dynamic_th") if defaults else None
    if exponent is None:
        reasons["the switch computes the profile, and no DEFAULT_LOSSLESS_BUFFER_PARAMETER has a threshold"] = None
        return {}
    pool = root.need("BUFFER_POOL", "ingress_lossless_pool")
    if not _sized(pool, reasons):
        return {}
    found.pool, found.defaults = pool.name, defaults.name if defaults else ""
    share = exponent.number("an exponent of 2 from -8 to 8", -8, 8)
    size = pool.need("size")
    return {
        "xoff": Value(f"{size.number('a number of bytes', 1):.0f}B", f"{size.origin}: no limit but the share"),
        "xoff_alpha": Value(2.0**share, f"{exponent.origin}: 2^{share:g}"),
    }


def _sized(pool: Place, reasons: dict[str, None]) -> bool:
    if pool.at("size"):
        return True
    reasons[f"{pool.name} has no size, since the switch computes it"] = None
    return False


def reference(by: Place | None) -> str:
    """The name in a value: `AZURE`, or `[WRED_PROFILE|AZURE]` in older versions. Empty without a value."""
    return by.text().strip("[]").rpartition("|")[2] if by else ""


def referred(root: Place, table: str, by: Place) -> Place:
    """The entry of a table that a value names. A `ConfigError` lists the table's entries if there is none."""
    name = reference(by)
    found = root.at(table, name)
    if found is None:
        known = [each.name for each in root.each(table)]
        listed = f"a name in {table}: {few(known, 8)}{did_you_mean(name, known)}"
        raise by.wrong(listed if known else f"a table {table} with this name")
    return found
