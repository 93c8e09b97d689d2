"""What a packet-hop costs now, beside an earlier commit of this repository: instructions, as Valgrind counts them, and
processor time in pairs by turns.

Builds that commit below `target/against`, keeps there what was measured of both builds, so that the same command goes
on where it stopped, and writes a page. Times want a machine that does nothing else; instructions do not care.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import instructions

from shortflow import _core, bench
from shortflow.result import build_id

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

# Runs what it is asked for, a line each, and answers with the cost of a packet-hop in ns, or why there is none. Its
# argument asks for the floor's too. Of shortflow it takes what every version has.
WORKER = """
import json, sys, time
from shortflow import _core
from shortflow.scenario import load_scenario

def spent(work):
    started = time.thread_time()
    done = work()
    return time.thread_time() - started, done

for line in sys.stdin:
    name, scheme, settings = json.loads(line)
    try:
        scenario, scheme = load_scenario(name, settings).core, _core.Scheme.parse(scheme, [])
        simulation, result = spent(lambda: _core.run(scenario, scheme, 1, _core.Control()))
        hops = result.meta()["counters"]["packet_hops"]
        found = {"run": simulation / hops * 1e9}
        if len(sys.argv) > 1:
            floor, done = spent(lambda: _core.Floor(scenario).run(hops))
            found["floor"] = floor / done * 1e9
    except Exception as error:
        found = {"error": str(error)}
    print(json.dumps(found), flush=True)
"""


class Worker:
    """A process that runs one build."""

    def __init__(self, python: Path, *arguments: str) -> None:
        """It imports the package from that folder."""
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-c", WORKER, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(python)},
        )

    def run(self, label: str, scheme: str) -> dict[str, float]:
        """The cost of a packet-hop in ns; empty where this build cannot run that, which is told."""
        assert self.process.stdin
        assert self.process.stdout
        name, settings = TIMED[label]
        print(json.dumps([name, scheme, settings]), file=self.process.stdin, flush=True)
        found = json.loads(self.process.stdout.readline())
        if "error" in found:
            print(f"  {found['error'].splitlines()[0]}", file=sys.stderr)
            return {}
        return dict(found)


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


def paired(before: Worker, now: Worker, label: str, scheme: str) -> list[list[float]]:
    """In each round the ns of a packet-hop before (none where that build has no such scheme), now, and of the floor.

    One round that is not kept goes first, and each build begins every other round.
    """
    rounds = []
    for number in range(ROUNDS.get(label, USUAL_ROUNDS) + 1):
        found = {each: each.run(label, scheme) for each in ((before, now) if number % 2 else (now, before))}
        if number:
            rounds.append([found[before].get("run", 0.0), found[now]["run"], found[now]["floor"]])
    return rounds


def speed_up(rounds: list[list[float]]) -> str:
    """Before over now: of the minima / the median of the pairs."""
    if not rounds[0][0]:
        return "new"
    before, now, _ = zip(*rounds, strict=True)
    return f"{min(before) / min(now):.2f} / {statistics.median(b / n for b, n, _ in rounds):.2f}"


def over_floor(rounds: list[list[float]]) -> str:
    """The median."""
    return f"{statistics.median(now / floor for _, now, floor in rounds):.1f}"


def counted(folders: list[Path], label: str, scheme: str) -> list[float]:
    """Instructions per packet-hop of each build; zero where it has no such scheme."""

    def count(folder: Path) -> float:
        try:
            return round(instructions.per_hop(instructions.CASES[label], scheme, folder), 1)
        except subprocess.CalledProcessError:
            return 0.0

    return [count(folder) for folder in folders]


def grown(found: list[float]) -> str:
    """Instructions before and now."""
    before, now = found
    return f"{before:.0f} → {now:.0f}" if before else f"{now:.0f}"


def table(labels: tuple[str, ...], schemes: list[str], text: Callable[[str], str]) -> str:
    """A row for each scheme, of what `text` gives for a network and a scheme."""
    rows = [[f"`{scheme}`", *(text(f"{label} {scheme}") for label in labels)] for scheme in schemes]
    head = f"| scheme | {' | '.join(labels)} |\n|---|{'---:|' * len(labels)}"
    return "\n".join([head, *(f"| {' | '.join(row)} |" for row in rows)])


def page(commit: str, schemes: list[str], times: dict[str, list[list[float]]], counts: dict[str, list[float]]) -> str:
    """The three tables, and how they were made; blank is what was not measured."""
    lengths = ", ".join(f"{label} {settings['duration']}" for label, (_, settings) in TIMED.items())
    rounds = ", ".join(f"{number} on {label}" for label, number in ROUNDS.items())
    parts = [
        "# Cost of a packet-hop, before and now",
        f"Made by `make bench-against COMMIT={commit}` on {bench.processor()}. Times are processor time of one core, "
        f"with all a run takes, in {USUAL_ROUNDS} pairs by turns ({rounds}); simulated are {lengths}. Transports have "
        "changed in between too. A scheme without a before is new.",
        "Time before over now, as the ratio of the minima / the median of the pairs' ratios; above 1 it is faster now:",
        table(tuple(TIMED), schemes, lambda cell: speed_up(times[cell]) if cell in times else ""),
        "Time now over the floor's, a minimal loop over the same network, the median:",
        table(tuple(TIMED), schemes, lambda cell: over_floor(times[cell]) if cell in times else ""),
        "Instructions per packet-hop, before → now:",
        table(COUNTED, schemes, lambda cell: grown(counts[cell]) if cell in counts else ""),
    ]
    return "\n\n".join(parts) + "\n"


def cells(
    asked: str, labels: tuple[str, ...], schemes: list[str], known: dict[str, object]
) -> Iterator[tuple[str, str]]:
    """What is not known yet of the networks that were asked for."""
    for label in (each for each in labels if each in asked.split(",")):
        yield from ((label, scheme) for scheme in schemes if f"{label} {scheme}" not in known)


def main() -> int:
    """Measure what is not known, print a line for each, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("commit")
    parser.add_argument("page", type=Path, help="where the page goes")
    parser.add_argument("--count", default=",".join(COUNTED), help="networks on which instructions are counted")
    parser.add_argument("--time", default=",".join(TIMED), help="networks on which time is taken")
    asked = parser.parse_args()
    if asked.count and not shutil.which("valgrind"):
        print("missing: valgrind; on Debian: apt-get install valgrind", file=sys.stderr)
        return 3
    described = ["git", "rev-parse", "--verify", "--short=12", f"{asked.commit}^{{commit}}"]
    commit = subprocess.run(described, cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()
    schemes = [each["name"] for each in _core.registry()["schemes"]]
    folders = [built(commit), ROOT / "python"]
    kept = TARGET / f"{commit}-{build_id()}.json"
    known = json.loads(kept.read_text()) if kept.exists() else {"times": {}, "counts": {}}

    def keep(kind: str, cell: str, found: list[object], text: str) -> None:
        known[kind][cell] = found
        kept.write_text(json.dumps(known))
        asked.page.write_text(page(commit, schemes, known["times"], known["counts"]))
        print(f"{cell:22} {text}, at a load of {os.getloadavg()[0]:.1f}", flush=True)

    for label, scheme in cells(asked.count, COUNTED, schemes, known["counts"]):
        counts = counted(folders, label, scheme)
        keep("counts", f"{label} {scheme}", [*counts], f"{grown(counts)} instructions")
    before, now = Worker(folders[0]), Worker(folders[1], "floor")
    for label, scheme in cells(asked.time, tuple(TIMED), schemes, known["times"]):
        times = paired(before, now, label, scheme)
        keep("times", f"{label} {scheme}", [*times], speed_up(times))
    return 0


if __name__ == "__main__":
    sys.exit(main())
