"""What a packet-hop of dctcp costs over the number of hosts, of flows, and over the rate of links: instructions, as
Valgrind counts them, and processor time over that of the floor, a minimal loop over the same network.

Writes pictures and `scaling.md` to a folder. Takes minutes, most of them Valgrind's.
"""

import argparse
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import instructions

from shortflow import bench
from shortflow.lab.drawing import Drawing, Line
from shortflow.reproduction.svg import picture
from shortflow.runs import build_id
from shortflow.scheme import load_with_sources

SCHEME = "dctcp"
Point = tuple[float, str, str, str, dict[str, str | int]]
"""Where on the axis; the short and the longer time of counting, that of timing, and other settings."""


@dataclass(frozen=True)
class Axis:
    """A scenario that grows in one way."""

    name: str
    label: str
    what: str
    scenario: str
    points: tuple[Point, ...]


AXES = (
    Axis(
        "hosts",
        "hosts",
        "fat-trees of k = 4, 8, 16, 24, a permutation of long flows at 10 Gbit/s",
        "bench-fat-tree",
        (
            (16, "2ms", "4ms", "40ms", {"k": 4}),
            (128, "500us", "1ms", "15ms", {"k": 8}),
            (1024, "200us", "300us", "2ms", {"k": 16}),
            (3456, "150us", "200us", "800us", {"k": 24}),
        ),
    ),
    Axis(
        "flows",
        "flows open at once",
        "a star of 101 hosts at 100 Gbit/s, long flows to one receiver, RTT 300 µs",
        "bench-many-flows",
        tuple((flows, "2ms", "4ms", "20ms", {"traffic.1.flows": flows}) for flows in (100, 3_000, 100_000)),
    ),
    Axis(
        "rate",
        "rate of the links (Gbit/s)",
        "the fat-tree of k = 8, a permutation of long flows",
        "bench-fat-tree",
        (
            (1, "2ms", "5ms", "150ms", {"topology.rate": "1Gbps"}),
            (10, "500us", "1ms", "15ms", {"topology.rate": "10Gbps"}),
            (100, "200us", "300us", "2ms", {"topology.rate": "100Gbps"}),
        ),
    ),
)
REPEATS = 3
"""Runs by turns with the floor."""


@dataclass(frozen=True)
class Cost:
    """Of a packet-hop."""

    at: float
    instructions: float
    over_floor: float


def costs(axis: Axis) -> Iterator[Cost]:
    """Measures the points of an axis."""
    [(_, source)] = load_with_sources([SCHEME])
    assert source is not None
    for at, short, longer, timed, settings in axis.points:
        counted = instructions.per_hop((axis.scenario, short, longer, dict(settings)), SCHEME)
        case = bench.Case("scaling", axis.what, axis.scenario, {**settings, "duration": timed}, REPEATS)
        over_floor = bench.measure(case, source)["over_floor"]
        print(f"{axis.name} {at:g}: {counted:.0f} instructions, {over_floor:.2f} times the floor", flush=True)
        yield Cost(at, counted, over_floor)


def drawing(axis: Axis, found: list[Cost]) -> Drawing:
    """Both costs, over those of the first point."""
    x, first = [cost.at for cost in found], found[0]
    lines = [
        Line("instructions", x, [cost.instructions / first.instructions for cost in found]),
        Line("time over the floor's", x, [cost.over_floor / first.over_floor for cost in found]),
    ]
    return Drawing(axis.what, axis.label, f"cost of a packet-hop, 1 at {first.at:g}", lines, log_x=True)


def page(found: list[tuple[Axis, list[Cost]]]) -> Iterator[str]:
    """The pictures and their numbers."""
    yield "# Cost of a packet-hop over hosts, flows and link rate"
    yield (
        f"Made by `make bench-scaling` with {SCHEME} and the extension {build_id()}, on {bench.processor()}. "
        "Instructions are Valgrind's. The floor is the minimal loop of `shortflow bench` over the same network, "
        "timed by turns with the simulation; it waits for memory too, so a constant ratio is not a constant "
        "time."
    )
    for axis, rows in found:
        yield f"## {axis.label[0].upper()}{axis.label[1:]}\n\n{axis.what[0].upper()}{axis.what[1:]}."
        yield f"![cost over {axis.label}]({axis.name}.svg)"
        table = [f"| {axis.label} | instructions per packet-hop | time over the floor's |", "|---|---|---|"]
        table += [f"| {row.at:,g} | {row.instructions:.0f} | {row.over_floor:.2f} |" for row in rows]
        yield "\n".join(table)


def main() -> int:
    """Measure, then write all of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    if not shutil.which("valgrind"):
        print("missing: valgrind; on Debian: apt-get install valgrind", file=sys.stderr)
        return 3
    found = [(axis, list(costs(axis))) for axis in AXES]
    folder.mkdir(parents=True, exist_ok=True)
    for axis, rows in found:
        (folder / f"{axis.name}.svg").write_text(picture(drawing(axis, rows)))
    (folder / "scaling.md").write_text("\n\n".join(page(found)) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
