"""Recomputes claims drawn by a seed at full scale, and compares each with its committed verdict: `make verdicts`."""

import argparse
import random
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from shortflow.lab.figure import Figure
from shortflow.lab.study import Scale
from shortflow.reproduction import kept
from shortflow.reproduction.engine import Reproduction, reproduce, select
from shortflow.reproduction.sensitivity import ranged
from shortflow.reproduction.summary import measured
from shortflow.runner import Runner
from shortflow.store.runs import Store

COMMITTED = Path(__file__).parents[1] / "docs" / "reproduction" / "results.json"


def main() -> int:
    """Exit code 1 if a recomputed claim has another number or verdict than the committed one."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("patterns", nargs="*", help="papers, figures or claims to draw from (default: all)")
    options.add_argument("--seed", type=int, required=True)
    options.add_argument("--out", type=Path, default=Path("results/verdicts"))
    given = options.parse_args()

    committed = {each.claim.id: each for entry in kept.load(COMMITTED).values() for each in kept.judged(entry)}
    known = {
        claim.id: each for each in select(given.patterns) if each.studies for claim in each.claims if claim.studies
    }
    names = sorted(committed.keys() & known.keys())
    drawn = random.Random(given.seed).sample(names, min(5, len(names)))
    print(f"seed {given.seed}: {', '.join(drawn)} of {len(names)} claims with runs", flush=True)
    runner = Runner(store=Store(given.out))

    def again(chosen: Mapping[str, str], figures: Sequence[Figure]) -> Reproduction:
        return runner.answer(reproduce(figures, Scale.FULL, chosen))

    equal = []
    for name in drawn:
        done = ranged(again({}, [known[name]]), again)
        (ours,) = (each for each in done.claims if each.claim.id == name)
        one, other = ({**kept.kept(each), "note": ""} for each in (ours, committed[name]))  # words may change
        equal.append(one == other)
        said = f"{ours.finding.verdict.value}, {measured(ours.finding)[0]} ({done.runs} runs)"
        print(f"{name}: {said}: {'as committed' if equal[-1] else 'NOT as committed'}", flush=True)
    return 0 if all(equal) else 1


if __name__ == "__main__":
    sys.exit(main())
