"""Cost of a packet-hop of dctcp by hosts, flows and link rate: instructions (Valgrind), and CPU time over the floor.

The tool prints a line for each point. It takes minutes, most of them in Valgrind.
"""

import shutil
import sys

import instructions

from shortflow.commands import bench
from shortflow.scenario import Settings
from shortflow.scheme import load_with_sources

SCHEME = "dctcp"
REPEATS = 3
"""Number of timed runs, which alternate with runs of the floor."""

# Each point has a name, a scenario, the durations of the two counted runs and of the timed run, and settings.
POINTS: tuple[tuple[str, str, str, str, str, Settings], ...] = (
    ("16 hosts", "bench-fat-tree", "2ms", "4ms", "40ms", {"k": 4}),
    ("128 hosts", "bench-fat-tree", "500us", "1ms", "15ms", {"k": 8}),
    ("1,024 hosts", "bench-fat-tree", "200us", "300us", "2ms", {"k": 16}),
    ("3,456 hosts", "bench-fat-tree", "150us", "200us", "800us", {"k": 24}),
    ("100 flows", "bench-many-flows", "2ms", "4ms", "20ms", {"traffic.1.flows": 100}),
    ("3,000 flows", "bench-many-flows", "2ms", "4ms", "20ms", {"traffic.1.flows": 3_000}),
    ("100,000 flows", "bench-many-flows", "2ms", "4ms", "20ms", {"traffic.1.flows": 100_000}),
    ("1 Gbps", "bench-fat-tree", "2ms", "5ms", "150ms", {"topology.rate": "1Gbps"}),
    ("10 Gbps", "bench-fat-tree", "500us", "1ms", "15ms", {"topology.rate": "10Gbps"}),
    ("100 Gbps", "bench-fat-tree", "200us", "300us", "2ms", {"topology.rate": "100Gbps"}),
)


def main() -> int:
    """Measures and prints all points."""
    if not shutil.which("valgrind"):
        print("missing: valgrind; on Debian: apt-get install valgrind", file=sys.stderr)
        return 3
    [(_, source)] = load_with_sources([SCHEME])
    assert source is not None
    for point, scenario, short, longer, timed, settings in POINTS:
        counted = instructions.per_hop((scenario, short, longer, dict(settings)), SCHEME)
        case = bench.Case("scaling", point, scenario, {**settings, "duration": timed}, REPEATS)
        over_floor = bench.measure_speed(case, source)["over_floor"]
        print(f"{point}: {counted:.0f} instructions, {over_floor:.2f} times the floor", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
