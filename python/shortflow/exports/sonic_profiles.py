"""Fields of SONiC's profiles for the settings of ports: WRED, queues and priority groups."""

import math
from collections.abc import Mapping

from shortflow.exports.sonic_patch import Patch
from shortflow.quantities import parse

CURVE = ("mark_above", "mark_all_above", "mark_probability")
ROOM = ("buffer", "memory_alpha")
PAUSES = ("xoff", "xon", "headroom", "xoff_alpha")
"""Keys of `[switch]` in a profile of WRED, of a queue, and of a priority group."""
KEYS = (*CURVE, *ROOM, *PAUSES, "memory")
_FULL_PACKETS = 2
"""Default distance of XON below XOFF, in full packets."""


def pauses(values: Mapping[str, str]) -> bool:
    """True for settings of ports with flow control.

    Also true for settings with only some keys of flow control, as a tuning has them.
    """
    return values.get("xoff", "none") != "none" or ("xoff" not in values and any(key in values for key in PAUSES))


def curve(
    found: Patch, name: str, colour: str, values: Mapping[str, str], scheme: Mapping[str, str], full_packet: int
) -> dict[str, str]:
    """Thresholds and probability of a WRED profile. Empty if the scheme does not mark by these thresholds."""
    if "tcp.mss" in scheme and not {"queue.mark", "queue.max"} & scheme.keys():
        found.not_expressed.append(
            f"{name}: the patch has no WRED profile, because the scheme's queue does not mark by switch.mark_above."
        )
        return {}
    if values.get("mark_above") == "unlimited":
        found.not_expressed.append(
            f"{name}: with switch.mark_above = unlimited nothing is marked. Remove the WRED profile from QUEUE."
        )
        return {}
    least = _threshold(found, values.get("mark_above", ""), full_packet)
    most = _threshold(found, values.get("mark_all_above", ""), full_packet)
    share = values.get("mark_probability", "")
    is_step = scheme.get("queue") == "step-ecn" or "queue.max" not in scheme
    if values.get("mark_all_above") == "auto" and least:
        most = least if is_step else round(least * float(scheme["queue.max"]))
    if share == "auto":
        share = "1" if is_step else scheme["queue.max_p"]
    fields = {f"{colour}_min_threshold": least, f"{colour}_max_threshold": most}
    written = {key: str(value) for key, value in fields.items() if value is not None}
    if share:
        percent = float(share) * 100
        written[f"{colour}_drop_probability"] = str(round(percent))
        if abs(percent - round(percent)) > 1e-9:
            found.not_expressed.append(
                f"{name}: the probability of {percent:.4g} % is rounded to {round(percent)} %, as SONiC needs."
            )
    return written


def room(found: Patch, name: str, values: Mapping[str, str], full_packet: int) -> dict[str, str]:
    """The limit of a queue: a share of the free pool, or bytes."""
    buffer, alpha = values.get("buffer", ""), values.get("memory_alpha", "")
    if alpha and values.get("memory") != "static":
        if buffer not in ("", "unlimited"):
            found.not_expressed.append(
                f"{name}: switch.buffer = {buffer} is not exported: SONiC has either a dynamic or a static threshold."
            )
        return {"dynamic_th": power_of_two(found, name, "memory_alpha", alpha)}
    limit = _threshold(found, buffer, full_packet)
    return {"static_th": str(limit)} if limit else {}


def group(
    found: Patch, name: str, values: Mapping[str, str], needed: float | None, full_packet: int
) -> tuple[dict[str, str], float | None]:
    """Fields of a profile of priority groups, and its headroom in bytes, or None if unknown.

    `needed` is the headroom that `auto` means. None keeps the headroom and XON of an existing profile.
    """
    fields: dict[str, str] = {}
    alpha, limit, xon = values.get("xoff_alpha", "none"), values.get("xoff", ""), values.get("xon", "auto")
    xoff = bytes_of(limit)
    if alpha != "none":
        fields["dynamic_th"] = power_of_two(found, name, "xoff_alpha", alpha)
        memory = bytes_of(values.get("memory", ""))
        if xoff is not None and memory is not None and xoff < memory / 2:
            found.not_expressed.append(
                f"{name}: switch.xoff = {limit} is not exported: SONiC has either a dynamic or a static threshold."
            )
    elif xoff is not None:
        fields["static_th"] = f"{xoff:.0f}"
        if xon == "auto" and needed is not None:
            xon = f"{max(xoff - _FULL_PACKETS * full_packet, 0):.0f}B"
    headroom = bytes_of(values.get("headroom", "auto"))
    if headroom is None and needed is not None:
        headroom = needed
        found.notes.append(f"{name}: xoff is {needed:.0f} B, the headroom by switch.headroom = auto.")
    if headroom is not None:
        fields["xoff"] = f"{headroom:.0f}"
    least = bytes_of(xon)
    if least is not None:
        fields["xon"] = f"{least:.0f}"
    return fields, headroom


def power_of_two(found: Patch, name: str, key: str, alpha: str) -> str:
    """The exponent for a share of the free memory. Reports a share that is not a power of two."""
    power = min(max(round(math.log2(float(alpha))), -8), 8)
    if abs(2.0**power - float(alpha)) > 1e-9 * float(alpha):
        found.not_expressed.append(
            f"{name}: switch.{key} = {alpha} is rounded to 2^{power} = {2.0**power:g}, because SONiC has powers of two."
        )
    return str(power)


def bytes_of(text: str) -> float | None:
    """A size in bytes. None for words and other quantities."""
    quantity = parse(text)
    return quantity.number * quantity.factor if quantity and quantity.base == "B" else None


def _threshold(found: Patch, text: str, full_packet: int) -> int | None:
    """A threshold in bytes, converted from packets if needed. None for words."""
    quantity = parse(text)
    if quantity is None:
        return None
    if quantity.unit == "pkt":
        note = f"Thresholds in packets were converted to bytes, with {full_packet} bytes per packet."
        if note not in found.notes:
            found.notes.append(note)
        return round(quantity.number * full_packet)
    return round(quantity.number * quantity.factor)
