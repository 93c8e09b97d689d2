"""What a packet-hop costs now, beside an earlier commit of this repository: instructions, as Valgrind counts them, and
processor time in pairs by turns.

Builds that commit below `target/against`, keeps there what was measured of both builds, so that the same command goes
on where it stopped, and writes a page. Times want a machine that does nothing else; instructions do not care.
"""

import argparse
import hashlib
import itertools
import json
import os
import shutil
import statistics
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypedDict

import instructions

from shortflow import bench
from shortflow.runs import build_id

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "target" / "against"
COUNTED = ("S1", "S3")
TIMED: dict[str, tuple[str, dict[str, object]]] = {
    "S1": ("bench-star", {"duration": "10s"}),
    "S2": ("bench-two-tier", {"duration": "100ms"}),
    "S3": ("bench-leaf-spine", {"duration": "10ms"}),
    "k=8": ("bench-fat-tree", {"k": 8, "duration": "4ms"}),
    "k=16": ("bench-fat-tree", {"k": 16, "duration": "800us"}),
    "k=32": ("bench-fat-tree", {"k": 32, "duration": "300us"}),
}
ROUNDS = {"k=16": 3, "k=32": 1}
USUAL_ROUNDS = 5

# Runs what it is asked for, a line each, and answers with the cost of a packet-hop in ns: of a scheme or, without one,
# of the floor for as many packet-hops. Of shortflow it takes what every version has.
WORKER = """
import json, sys, time
from shortflow import _core
from shortflow.scenario import load_scenario

print(json.dumps([each["name"] for each in _core.registry()["schemes"]]), flush=True)
for line in sys.stdin:
    name, settings, scheme, hops = json.loads(line)
    scenario = load_scenario(name, settings).core
    scheme = scheme and _core.Scheme.parse(scheme, [])
    started = time.thread_time()
    if scheme:
        result = _core.run(scenario, scheme, 1, _core.Control())
    else:
        hops = _core.Floor(scenario).run(hops)
    spent = time.thread_time() - started
    hops = result.meta()["counters"]["packet_hops"] if scheme else hops
    print(json.dumps([spent / hops * 1e9, hops]), flush=True)
"""


class Worker:
    """A process that runs one build."""

    def __init__(self, python: Path) -> None:
        """It imports the package from that folder."""
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-c", WORKER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(python)},
        )
        self.schemes = self._answer()

    def run(self, label: str, scheme: str | None, hops: int = 0) -> tuple[float, int]:
        """The cost of a packet-hop in ns and how many there were; of the floor without a scheme."""
        assert self.process.stdin
        name, settings = TIMED[label]
        print(json.dumps([name, settings, scheme, hops]), file=self.process.stdin, flush=True)
        cost, done = self._answer()
        return float(cost), int(done)

    def _answer(self) -> list[Any]:
        assert self.process.stdout
        line = self.process.stdout.readline()
        if not line:
            sys.exit("a build has failed; what it said stands above")
        return list(json.loads(line))


def built(commit: str) -> Path:
    """The Python folder of that commit with its extension in it."""
    place = TARGET / commit
    extension = place / "python" / "shortflow" / "_core.abi3.so"
    if not extension.exists():
        print(f"building {commit} in {place}", file=sys.stderr, flush=True)
        place.mkdir(parents=True, exist_ok=True)
        archive = subprocess.run(["git", "archive", commit], cwd=ROOT, check=True, capture_output=True).stdout
        subprocess.run(["tar", "-x", "-C", str(place)], input=archive, check=True)
        build = ["cargo", "build", "--release", "--locked", "--quiet", "--package", "shortflow-py"]
        environment = {**os.environ, "CARGO_TARGET_DIR": str(TARGET / "build")}
        subprocess.run([*build, "--features", "pyo3/extension-module"], cwd=place, check=True, env=environment)
        (library,) = (TARGET / "build" / "release").glob("lib_core.*")
        shutil.copy(library, extension)
    return extension.parent.parent


class Cell(TypedDict):
    """A scheme on a network."""

    load: float
    """Of the machine, by the end."""
    rounds: list[tuple[float | None, float, float]]
    """In each the ns of a packet-hop before (none of a new scheme), now, and of the floor."""


def paired(before: Worker, now: Worker, floor: Worker, label: str, scheme: str) -> Cell:
    """Runs by turns. One round that is not kept goes first, and each build begins every other round."""
    rounds: list[tuple[float | None, float, float]] = []
    builds = [each for each in (before, now) if scheme in each.schemes]
    for number in range(ROUNDS.get(label, USUAL_ROUNDS) + 1):
        found = {each: each.run(label, scheme) for each in builds[:: 1 if number % 2 else -1]}
        cost, hops = found[now]
        least, _ = floor.run(label, None, hops)
        if number:
            rounds.append((found[before][0] if before in found else None, cost, least))
    return {"load": os.getloadavg()[0], "rounds": rounds}


def speed_up(cell: Cell) -> str:
    """Before over now: of the minima / the median of the pairs, where there are several."""
    pairs = [(before, now) for before, now, _ in cell["rounds"] if before is not None]
    if not pairs:
        return "new"
    before, now = zip(*pairs, strict=True)
    median = f" / {statistics.median(b / n for b, n in pairs):.2f}" if len(pairs) > 1 else ""
    return f"{min(before) / min(now):.2f}{median}"


def over_floor(cell: Cell) -> str:
    """The median."""
    return f"{statistics.median(now / floor for _, now, floor in cell['rounds']):.1f}"


def counted(before: Worker, folders: Sequence[Path], label: str, scheme: str) -> list[float | None]:
    """Instructions per packet-hop of each build; none before of a new scheme."""
    is_new = scheme not in before.schemes
    counts = (instructions.per_hop(instructions.CASES[label], scheme, each) for each in folders[is_new:])
    return [*[None] * is_new, *(round(each, 1) for each in counts)]


def grown(found: Sequence[float | None]) -> str:
    """Instructions before and now."""
    return " → ".join(f"{each:.0f}" for each in found if each is not None)


class Known(TypedDict):
    """What was measured, by network and scheme."""

    times: dict[str, Cell]
    counts: dict[str, list[float | None]]


def table(labels: tuple[str, ...], schemes: list[str], text: Callable[[str], str]) -> str:
    """A row for each scheme, of what `text` gives for a network and a scheme."""
    rows = [[f"`{scheme}`", *(text(f"{label} {scheme}") for label in labels)] for scheme in schemes]
    head = f"| scheme | {' | '.join(labels)} |\n|---|{'---:|' * len(labels)}"
    return "\n".join([head, *(f"| {' | '.join(row)} |" for row in rows)])


def page(builds: str, schemes: list[str], known: Known) -> str:
    """The three tables, and how they were made; blank is what was not measured."""
    times, counts = known["times"], known["counts"]
    lengths = ", ".join(f"{label} {settings['duration']}" for label, (_, settings) in TIMED.items())
    rounds = ", ".join(f"{number} on {label}" for label, number in ROUNDS.items())
    loads = [cell["load"] for cell in times.values()] or [0.0]
    parts = [
        "# Cost of a packet-hop, before and now",
        f"Made by `make bench-against`: {builds}, on {bench.processor()} at a load of {min(loads):.1f} to "
        f"{max(loads):.1f}. Times are processor time of one core for a run with its set-up, which weighs most in large "
        f"networks, in {USUAL_ROUNDS} pairs by turns ({rounds}); simulated are {lengths}. Transports have changed in "
        "between, so the packets are not the same. A scheme without a before is new.",
        "Time before over now, as the ratio of the minima / the median of the pairs' ratios; above 1 it is faster now, "
        "and where the two differ it is known no better than that:",
        table(tuple(TIMED), schemes, lambda cell: speed_up(times[cell]) if cell in times else ""),
        "Time now over the floor's, a minimal loop over the same network with its set-up, the median:",
        table(tuple(TIMED), schemes, lambda cell: over_floor(times[cell]) if cell in times else ""),
        "Instructions per packet-hop, before → now:",
        table(COUNTED, schemes, lambda cell: grown(counts[cell]) if cell in counts else ""),
    ]
    return "\n\n".join(parts) + "\n"


def inputs() -> str:
    """What a measurement hangs on beside the two builds."""
    scenarios = sorted({instructions.CASES[label][0] for label in COUNTED} | {name for name, _ in TIMED.values()})
    texts = [(ROOT / "python" / "shortflow" / "scenarios" / f"{name}.toml").read_text() for name in scenarios]
    plan = [TIMED, ROUNDS, USUAL_ROUNDS, instructions.CASES, WORKER, bench.processor(), texts]
    return hashlib.sha256(json.dumps(plan).encode()).hexdigest()[:8]


def main() -> int:
    """Measure what is not known, print a line for each, and write the page once nothing is missing."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("commit")
    parser.add_argument("page", type=Path, help="where the page goes")
    for name, labels in (("--count", COUNTED), ("--time", tuple(TIMED))):
        parser.add_argument(name, nargs="*", choices=labels, default=labels, help="the networks")
    asked = parser.parse_args()
    if asked.count and not shutil.which("valgrind"):
        print("missing: valgrind; on Debian: apt-get install valgrind", file=sys.stderr)
        return 3
    described = ["git", "rev-parse", "--verify", "--short=12", f"{asked.commit}^{{commit}}"]
    found = subprocess.run(described, cwd=ROOT, check=False, capture_output=True, text=True)
    if found.returncode:
        print(f"{asked.commit}: no commit of this repository: {found.stderr.strip()}", file=sys.stderr)
        return 2
    commit = found.stdout.strip()
    folders = [built(commit), ROOT / "python"]
    before, now, floor = Worker(folders[0]), Worker(folders[1]), Worker(folders[1])
    build, schemes = build_id(), now.schemes
    kept = TARGET / f"{commit}-{build}-{inputs()}.json"
    known: Known = json.loads(kept.read_text()) if kept.exists() else {"times": {}, "counts": {}}
    builds = f"commit {commit} before, the extension {build} now"

    def keep(cell: str, text: str) -> None:
        kept.write_text(json.dumps(known))
        print(f"{cell:22} {text}, at a load of {os.getloadavg()[0]:.1f}", flush=True)

    for label, scheme in itertools.product(asked.count, schemes):
        cell = f"{label} {scheme}"
        if cell not in known["counts"]:
            known["counts"][cell] = counted(before, folders, label, scheme)
            keep(cell, f"{grown(known['counts'][cell])} instructions")
    for label, scheme in itertools.product(asked.time, schemes):
        cell = f"{label} {scheme}"
        if cell not in known["times"]:
            known["times"][cell] = paired(before, now, floor, label, scheme)
            keep(cell, speed_up(known["times"][cell]))
    left = len(schemes) * (len(TIMED) + len(COUNTED)) - len(known["times"]) - len(known["counts"])
    if left:
        print(f"{left} cells are left: the page is written once nothing is missing")
        return 0
    asked.page.write_text(page(builds, schemes, known))
    return 0


if __name__ == "__main__":
    sys.exit(main())
