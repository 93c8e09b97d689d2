"""Memory that this process may still take."""

import math
import re
import resource
from pathlib import Path

_GROUPS = Path("/sys/fs/cgroup")


def available_bytes() -> float:
    """Bytes that system, control groups and the limit of address space leave: the least of them, ∞ if unknown."""
    free = [math.inf]
    if found := re.search(r"MemAvailable:\s+(\d+) kB", _text(Path("/proc/meminfo"))):
        free.append(int(found[1]) * 1024)
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit != resource.RLIM_INFINITY and (taken := _text(Path("/proc/self/statm"))):
        free.append(limit - int(taken.split()[0]) * resource.getpagesize())
    if group := re.search(r"^0::/(.*)$", _text(Path("/proc/self/cgroup")), re.MULTILINE):
        place = _GROUPS / group[1]
        free.extend(_left(each) for each in (place, *place.parents) if each.is_relative_to(_GROUPS))
    return max(min(free), 0.0)


def _left(group: Path) -> float:
    """Bytes that a control group may still take; cached files give way."""
    limit, taken = (_text(group / f"memory.{name}").strip() for name in ("max", "current"))
    if not limit.isdigit() or not taken.isdigit():
        return math.inf
    cached = re.search(r"^inactive_file (\d+)$", _text(group / "memory.stat"), re.MULTILINE)
    return int(limit) - int(taken) + (int(cached[1]) if cached else 0)


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="ascii")
    except OSError:
        return ""
