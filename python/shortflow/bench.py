"""What the simulator costs: packet-hops per CPU-second, events per packet-hop, memory per open flow.

Every case runs in a fresh process of its own, so that its peak of resident memory is its own.
"""

import multiprocessing
import platform
import statistics
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict

from rich.console import RenderableType
from rich.text import Text

from shortflow import _core
from shortflow.errors import MissingRequirement
from shortflow.records import Meta
from shortflow.report.tables import Column, Section, lay_out, stacked
from shortflow.result import git_revision
from shortflow.scenario import load_scenario

_MANY = 10_000
_STATUS = Path("/proc/self/status")


@dataclass(frozen=True)
class Case:
    """One row: a scenario under a scheme, run `repeats` times after one run that is not timed."""

    label: str
    what: str
    scenario: str
    scheme: str
    repeats: int


_STAR = "20 senders, 1 receiver, 1 Gbps, 2 s"
CASES = (
    *(Case("S1", _STAR, "bench-star", scheme["name"], 5) for scheme in _core.registry()["schemes"]),
    Case("S2", "100,000 flows open at once", "bench-many-flows", "dctcp", 0),
)


class Row(TypedDict):
    """A case's cost. `cpu_s` is the median over the repeats of the processor time of the simulating thread."""

    scenario: str
    what: str
    scheme: str
    packet_hops: int
    cpu_s: float
    packet_hops_per_cpu_s: float
    events_per_packet_hop: float
    flows_open: int
    bytes_per_flow: int
    peak_rss_bytes: int
    runs: int


def measure(case: Case) -> Row:
    """Run a case in a fresh process."""
    if not _STATUS.exists():
        raise MissingRequirement("bench reads memory use from /proc/self/status, which only Linux has")
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(_measure_here, case).result()


def document(rows: list[Row]) -> dict[str, Any]:
    """The rows with what they were measured on."""
    machine = {
        "processor": _processor(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "python": platform.python_version(),
    }
    return {"rows": rows, "machine": machine, "version": _core.version(), "revision": git_revision()}


def table(document: dict[str, Any]) -> RenderableType:
    """The benchmark for people."""
    rows, machine = document["rows"], document["machine"]
    lead = Column("scenario", [f"{row['scenario']} {row['scheme']}" for row in rows])
    columns = [
        Column("million\npacket-hops", [f"{row['packet_hops'] / 1e6:.3f}" for row in rows]),
        Column("CPU\n(s)", [f"{row['cpu_s']:.4f}" for row in rows]),
        Column("million packet-hops\nper CPU-second", [f"{row['packet_hops_per_cpu_s'] / 1e6:.1f}" for row in rows]),
        Column("events per\npacket-hop", [f"{row['events_per_packet_hop']:.2f}" for row in rows]),
        Column("flows\nopen", [f"{row['flows_open']:,}" for row in rows]),
        Column("bytes\nper flow", [f"{row['bytes_per_flow']:,}" for row in rows]),
        Column("peak\n(MB)", [f"{row['peak_rss_bytes'] / 1e6:.0f}" for row in rows]),
    ]
    caption = [
        f"{machine['processor']}, {machine['system']}; one core.",
        "A packet-hop is one packet, data or ACK, over one link.",
        *dict.fromkeys(f"{row['scenario']}: {row['what']}" for row in rows),
    ]
    return stacked(Text("\n".join(caption)), *lay_out(Section("Cost of simulation", [lead], columns)))


def _measure_here(case: Case) -> Row:
    """Run a case in this process: the first run grows the memory, the others are timed."""
    scenario, scheme = load_scenario(case.scenario), _core.Scheme.parse(case.scheme, [])
    before = _resident("VmRSS")
    meta, first_cpu_s = _timed(scenario.core, scheme)
    peak = _resident("VmHWM")
    cpu_s = statistics.median([_timed(scenario.core, scheme)[1] for _ in range(case.repeats)] or [first_cpu_s])
    hops, flows = meta["counters"]["packet_hops"], meta["connections_peak"]
    return {
        "scenario": case.label,
        "what": case.what,
        "scheme": case.scheme,
        "packet_hops": hops,
        "cpu_s": cpu_s,
        "packet_hops_per_cpu_s": hops / cpu_s,
        "events_per_packet_hop": meta["counters"]["events"] / hops,
        "flows_open": flows,
        # What the run added to resident memory, its packets and result tables included. That is too coarse for a few
        # flows, where the size of a connection's state has to do.
        "bytes_per_flow": round((peak - before) / flows) if flows >= _MANY else meta["bytes_per_connection"],
        "peak_rss_bytes": peak,
        "runs": max(1, case.repeats),
    }


def _timed(scenario: _core.Scenario, scheme: _core.Scheme) -> tuple[Meta, float]:
    started = time.thread_time()
    result = _core.run(scenario, scheme, 1, _core.Control())
    return result.meta(), time.thread_time() - started


def _resident(field: str) -> int:
    """Resident memory of this process in bytes: VmRSS is now, VmHWM the peak."""
    line = next(line for line in _STATUS.read_text().splitlines() if line.startswith(f"{field}:"))
    return int(line.split()[1]) * 1024


def _processor() -> str:
    """The processor's name as the system gives it."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or "unknown processor"
