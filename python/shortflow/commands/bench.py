"""`bench`: packet-hops per CPU-second, ratio to a minimal loop, events, memory and start-up on this machine.

Each case runs in a fresh process, so its peak resident memory is its own. The minimal loop (the floor) moves as many
packets over the same topology and does nothing else. Runs of simulation and floor alternate. The floor never changes,
so the ratio is comparable between machines.
"""

import multiprocessing
import platform
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

from shortflow import _core
from shortflow.errors import MissingRequirement, unknown_name
from shortflow.front.command import Answer, Opt, command
from shortflow.front.console import note
from shortflow.records import Meta
from shortflow.report.blocks import Block, Column, Section, Words
from shortflow.runs import git_revision
from shortflow.scenario import Settings, load_scenario
from shortflow.scheme import SchemeSource, laws_of_papers, load_with_sources
from shortflow.terms import names

_MANY = 10_000
_STATUS = Path("/proc/self/status")


@dataclass(frozen=True)
class Case:
    """A scenario to measure: one untimed run, then `repeats` timed runs. With `repeats` 0, the first run is timed."""

    label: str
    what: str
    scenario: str
    settings: Settings
    repeats: int


def _fat_tree(k: int, duration: str, repeats: int) -> Case:
    what = f"fat-tree of {k**3 // 4:,} hosts, a permutation of long flows, 10 Gbps, {duration}"
    return Case(f"k={k}", what, "bench-fat-tree", {"k": k, "duration": duration}, repeats)


_CASES = (
    Case("S1", "star, 20 long flows to one receiver, 1 Gbps, 20 s", "bench-star", {}, 5),
    Case("S2", "two-tier tree, a permutation of 100 long flows, 1 Gbps, 500 ms", "bench-two-tier", {}, 3),
    Case("S3", "leaf-spine of 144 hosts, web-search flows, 10 Gbps, 37 ms", "bench-leaf-spine", {}, 3),
    _fat_tree(8, "20ms", 3),
    _fat_tree(16, "4ms", 1),
    _fat_tree(32, "500us", 1),
    Case("flows", "star, 100,000 flows open at once, 100 Gbps, 20 ms", "bench-many-flows", {}, 0),
)
_LINUX = {"host.model": "linux"}  # the scenarios' default
CASES = tuple(
    row
    for case in _CASES
    for row in (case, replace(case, label=f"{case.label}-linux", settings={**case.settings, **_LINUX}))
)
_LABELS = ", ".join(case.label for case in CASES)


@command
def bench(
    *,
    cases: Annotated[
        str | None, Opt(f"Cases to measure, separated by commas: {_LABELS} (default: all).", "NAMES")
    ] = None,
    schemes: Annotated[str | None, Opt("Schemes to measure, separated by commas (default: all).", "NAMES")] = None,
) -> Answer:
    """Measure the simulator's speed, memory and start-up on this machine."""
    chosen = _chosen(
        None if cases is None else names(cases, "--cases"), None if schemes is None else names(schemes, "--schemes")
    )
    start, rows = _start_up(), []
    for case, scheme in chosen:
        note(f"{case.label} ({case.what}), {scheme.label} …")
        rows.append(measure_speed(case, scheme))
    machine = {
        "processor": processor(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "python": platform.python_version(),
    }
    made = {"version": _core.version(), "revision": git_revision()}
    document = {"rows": rows, "start_up": start, "machine": machine, **made}
    return Answer(lambda: document, _blocks(document))


def _chosen(cases: list[str] | None, schemes: list[str] | None) -> Iterator[tuple[Case, SchemeSource]]:
    """Cases with these labels under these schemes (default: all)."""
    known = {case.label: case for case in CASES}
    for label in cases or []:
        if label not in known:
            raise unknown_name("case in --cases", label, known)
    wanted = schemes or [scheme["name"] for scheme in _core.registry()["schemes"]]
    load_with_sources(wanted)  # raises if a scheme is named twice
    loaded = [load_with_sources([scheme], laws_of_papers(scheme)) for scheme in wanted]
    sources = [source for [(_, source)] in loaded if source]
    return ((known[label], source) for label in cases or known for source in sources)


def _start_up() -> dict[str, Any]:
    """CPU time and peak memory of `shortflow run --json` with one short flow, mostly start-up.

    Must be the first measurement, because the peak memory is the maximum over all child processes.
    """
    scenario = ["one-long-flow", "--set", "duration=10ms", "--set", "warmup=0s"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-P", "-m", "shortflow", "run", *scenario, "--scheme", "dctcp", "--json"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"cpu_s": spent, "peak_rss_bytes": after.ru_maxrss * 1024}


def measure_speed(case: Case, scheme: SchemeSource) -> dict[str, Any]:
    """Measures a case under a scheme in a fresh process.

    `cpu_s` is the median CPU time of the simulating thread over the repeats. `over_floor` is the median ratio to the
    floor's time for as many packet-hops, measured right after each run. Raises `MissingRequirement` if the system is
    not Linux.
    """
    if not _STATUS.exists():
        raise MissingRequirement("bench needs Linux: it reads memory use from /proc/self/status")
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(_measure_here, case, scheme).result()


def _blocks(document: dict[str, Any]) -> list[Block]:
    rows, machine, start = document["rows"], document["machine"], document["start_up"]
    lead = Column("case", [f"{row['case']} {row['scheme']}" for row in rows])
    columns = [
        Column("million\npacket-hops", [f"{row['packet_hops'] / 1e6:.3f}" for row in rows]),
        Column("CPU\n(s)", [f"{row['cpu_s']:.4f}" for row in rows]),
        Column("million packet-hops\nper CPU-second", [f"{row['packet_hops_per_cpu_s'] / 1e6:.1f}" for row in rows]),
        Column("times\nthe floor", [f"{row['over_floor']:.2f}" for row in rows]),
        Column("events per\npacket-hop", [f"{row['events_per_packet_hop']:.2f}" for row in rows]),
        Column("flows\nopen", [f"{row['flows_open']:,}" for row in rows]),
        Column("bytes\nper flow", [f"{row['bytes_per_flow']:,}" for row in rows]),
        Column("peak\n(MB)", [f"{row['peak_rss_bytes'] / 1e6:.0f}" for row in rows]),
    ]
    caption = [
        f"{machine['processor']}, {machine['system']}; one core.",
        "A packet-hop is one packet, data or ACK, over one link. The floor is a minimal loop over the same topology.",
        *dict.fromkeys(f"{row['case']}: {row['what']}" for row in rows),
        f"start-up: {start['cpu_s']:.2f} CPU-seconds, {start['peak_rss_bytes'] / 1e6:.0f} MB for a short `run --json`",
    ]
    return [Words("\n".join(caption)), Section("Cost of simulation", [lead], columns)]


def _measure_here(case: Case, source: SchemeSource) -> dict[str, Any]:
    """Measures a case in this process. The first run grows the memory; later runs are timed."""
    scenario, scheme = load_scenario(case.scenario, case.settings), source.build()
    before = _resident("VmRSS")
    meta, first_cpu_s = _timed(scenario.core, scheme)
    peak = _resident("VmHWM")
    hops, flows = meta["counters"]["packet_hops"], meta["connections_peak"]
    floor = _core.Floor(scenario.core)
    floor.run(hops // 4)
    times = [(_timed(scenario.core, scheme)[1], _timed_floor(floor, hops)) for _ in range(case.repeats)]
    times = times or [(first_cpu_s, _timed_floor(floor, hops))]
    cpu_s = statistics.median(run for run, _ in times)
    return {
        "case": case.label,
        "what": case.what,
        "scheme": source.label,
        "packet_hops": hops,
        "cpu_s": cpu_s,
        "packet_hops_per_cpu_s": hops / cpu_s,
        "over_floor": statistics.median(run / floor for run, floor in times),
        "events_per_packet_hop": meta["counters"]["events"] / hops,
        "flows_open": flows,
        # Resident memory added by the run, with packets and result tables. This is too coarse for few flows, so the
        # size of a connection's state replaces it.
        "bytes_per_flow": round((peak - before) / flows) if flows >= _MANY else meta["bytes_per_connection"],
        "peak_rss_bytes": peak,
        "runs": len(times),
    }


def _timed(scenario: _core.Scenario, scheme: _core.Scheme) -> tuple[Meta, float]:
    started = time.thread_time()
    result = _core.run(scenario, scheme, 1, _core.Control())
    return result.meta(), time.thread_time() - started


def _timed_floor(floor: _core.Floor, hops: int) -> float:
    """CPU time of the floor for this many packet-hops, in seconds."""
    started = time.thread_time()
    done = floor.run(hops)
    return (time.thread_time() - started) * hops / done


def _resident(field: str) -> int:
    """Resident memory of this process in bytes: VmRSS is the present value, VmHWM the peak."""
    line = next(line for line in _STATUS.read_text().splitlines() if line.startswith(f"{field}:"))
    return int(line.split()[1]) * 1024


def processor() -> str:
    """Name of the processor."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.processor() or "unknown processor"
