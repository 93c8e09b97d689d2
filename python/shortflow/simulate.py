"""Simulates one run."""

import contextlib
import math
import os
import re
import resource
import threading
import time
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

from shortflow import _core
from shortflow.errors import Cancelled, ConfigError, MissingRequirement, SimulationError, did_you_mean
from shortflow.result import Result
from shortflow.runs import Run

REMEDY = "raise an error in place of os._exit"
"""Advice to authors of laws that end their process."""

_GROUPS = Path("/sys/fs/cgroup")


def available_bytes() -> float:
    """Available memory in bytes: the minimum over system, control groups and address-space limit.

    Infinite if unknown.
    """
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
    """Bytes left in a control group. Cached files count as free."""
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


def available_cores() -> int:
    """Number of cores available to this process."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def cores_for(run: Run, *, is_captured: bool = False) -> tuple[int, str | None]:
    """Number of cores of a run, and the reason if it is lower than allowed."""
    present = available_cores()
    cores, why = _core.cores(run.scenario.core, run.scheme, min(run.cores, present), is_captured)
    if run.cores > present and why is None:
        why = f"this process may use {present} processor{'s' if present > 1 else ''}"
    return cores, why


def simulate_run(run: Run, control: _core.Control, capture: _core.Capture | None = None) -> Result:
    """Simulates the run. The core releases the GIL, so several threads can simulate at the same time.

    Raises `MissingRequirement` if the run needs too much memory, and `ConfigError` for an error in a Python law.
    """
    started = time.perf_counter()
    cores, why = cores_for(run, is_captured=capture is not None)
    needed, free = run.scenario.core.table_bytes(), available_bytes()
    if needed > free:
        raise _too_large(run, f"they need at least {_megabytes(needed)}, and {_megabytes(free)} are free")
    try:
        with _law_stays(run):
            result = _core.run(run.scenario.core, run.scheme, run.seed, control, capture, cores)
        tables = result.tables()
    except MemoryError as error:
        raise _too_large(run, f"{error}, and {_megabytes(available_bytes())} are free") from None
    except (ConfigError, SimulationError, Cancelled):
        raise
    except (Exception, SystemExit) as error:  # an error or exit in a hook of a Python law
        if capture and isinstance(error, OSError):  # an error in writing a capture file
            raise
        said = f"{type(error).__name__}: {error}{_meant(error)}"
        frames = traceback.extract_tb(error.__traceback__)
        # A place helps only in the user's own file.
        if frames and Path(frames[-1].filename).parent != Path(__file__).parent:
            said += f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})"
        raise ConfigError(f"{run.scheme.name}: {said}") from error
    meta = result.meta()
    origin = run.provenance(meta["digest"], time.perf_counter() - started, (cores, why))
    return Result.of(origin, tables, meta, run)


_leave = os._exit
_at_work = threading.local()


def _stay(code: int) -> NoReturn:
    if law := getattr(_at_work, "law", None):
        raise ConfigError(f"{law}: the law ended its process with exit code {code}; {REMEDY}")
    _leave(code)


@contextlib.contextmanager
def _law_stays(run: Run) -> Iterator[None]:
    """Turns `os._exit` in a law of this thread into an error. Otherwise the process would end without a message."""
    if run.scheme_source and not run.scheme_source.in_python:
        yield
        return
    os._exit, _at_work.law = _stay, run.scheme.name  # type: ignore[assignment]
    try:
        yield
    finally:
        _at_work.law = None


def _too_large(run: Run, why: str) -> MissingRequirement:
    remedy = "a shorter duration, fewer flows, measure.ports or a longer measure.sample_every need less memory"
    return MissingRequirement(f"{run.scenario.name}: its tables do not fit in memory: {why}; {remedy}")


def _megabytes(size: float) -> str:
    return f"{size / 1e6:,.0f} MB"


def _meant(error: BaseException) -> str:
    """Suggestion for an unknown attribute of a hook's argument. Empty for other errors."""
    missed = re.fullmatch(r"'shortflow\._core\.(\w+)' object has no attribute '(\w+)'.*", str(error))
    if missed is None:
        return ""
    return did_you_mean(missed[2], (name for name in dir(getattr(_core, missed[1])) if not name.startswith("_")))
