"""Recomputes claims drawn by a seed from full-scale runs, and compares the committed numbers: `make verdicts`.

The numbers come from raw tables by Polars alone (`recomputed.py`); no code of the lab or of metrics is shared.
"""

import argparse
import fnmatch
import random
import sys
from pathlib import Path

import recomputed

from shortflow_papers.lab.study import Scale
from shortflow_papers.reproduction import kept

COMMITTED = Path(__file__).parents[1] / "docs" / "reproduction" / "results.json"
DIGITS = 4
"""Number of significant digits that are compared. Committed numbers have five."""


def main() -> int:
    """Compares the numbers. Returns exit code 1 if a recomputed number differs from the committed one."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("patterns", nargs="*", help="papers or claims to draw from (default: all)")
    options.add_argument("--seed", type=int, required=True)
    options.add_argument("--out", type=Path, default=Path("results/verdicts"))
    given = options.parse_args()

    measured = {
        each.claim.id: each.finding.measured
        for entry in kept.load_kept(COMMITTED).values()
        for each in kept.judged(entry)
    }
    wanted = [pattern if "/" in pattern else f"{pattern}/*" for pattern in given.patterns or ["*/*"]]
    known = [name for name in recomputed.CLAIMS if measured.get(name)]
    names = [name for name in known if any(fnmatch.fnmatchcase(name, pattern) for pattern in wanted)]
    drawn = random.Random(given.seed).sample(names, min(5, len(names)))
    print(f"seed {given.seed}: {', '.join(drawn)} of {len(names)} recomputed claims", flush=True)
    recomputed.use(Scale.FULL, given.out)
    equal = []
    for name in drawn:
        wrong = recomputed.differing(name, measured[name], DIGITS)
        equal.append(not wrong)
        said = ", ".join(
            f"{number}: committed {ours:g}, recomputed {value:g}" for number, (ours, value) in wrong.items()
        )
        print(f"{name}: {f'NOT as committed ({said})' if wrong else 'as committed'}", flush=True)
    return 0 if all(equal) else 1


if __name__ == "__main__":
    sys.exit(main())
