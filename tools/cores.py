"""Measures how many times faster a run is on several cores than on one core, by wall-clock time.

Runs on one core and on several cores alternate, in pairs, and their outcomes must be equal. For each case, the command
prints the ratio of the two shortest times, the median of the ratios of all pairs, and the load of the machine.
"""

import argparse
import os
import statistics
import time

from shortflow import _core
from shortflow.scenario import Settings, load_scenario

CASES: dict[str, tuple[str, Settings]] = {
    "S3": ("bench-leaf-spine", {}),
    "k=8": ("bench-fat-tree", {"k": 8, "duration": "4ms"}),
    "k=16": ("bench-fat-tree", {"k": 16, "duration": "1ms"}),
}


def timed(scenario: _core.Scenario, scheme: str, cores: int) -> tuple[float, str]:
    """Wall-clock time of a run in seconds, and its digest."""
    started = time.perf_counter()
    result = _core.run(scenario, _core.Scheme.parse(scheme, []), 1, _core.Control(), None, cores)
    spent = time.perf_counter() - started
    return spent, str(result.meta()["digest"])


def main() -> None:
    """Times the cases, and prints a line for each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cores", type=int, default=2, help="number of cores (default: 2)")
    parser.add_argument("--rounds", type=int, default=7, help="number of pairs of runs (default: 7)")
    parser.add_argument("--scheme", default="dctcp", help="scheme of the runs (default: dctcp)")
    parser.add_argument("cases", nargs="*", default=list(CASES), help=", ".join(CASES))
    asked = parser.parse_args()
    for label in asked.cases:
        name, settings = CASES[label]
        scenario, pairs = load_scenario(name, settings).core, []
        used, why = _core.cores(scenario, _core.Scheme.parse(asked.scheme, []), asked.cores, capture=False)
        assert used == asked.cores, f"{label}: {why}"
        for _ in range(asked.rounds):
            (one, digest), (several, same) = (timed(scenario, asked.scheme, cores) for cores in (1, asked.cores))
            assert digest == same, f"{label}: outcomes differ"
            pairs.append((one, several))
        minima = min(one for one, _ in pairs) / min(several for _, several in pairs)
        median = statistics.median(one / several for one, several in pairs)
        ratios = f"{minima:.2f} / {median:.2f} times as fast on {asked.cores} cores"
        print(f"{label}: {ratios}, at a load of {os.getloadavg()[0]:.1f}", flush=True)


if __name__ == "__main__":
    main()
