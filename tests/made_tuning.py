"""Tunings made by hand from results of their trials and of a check."""

import dataclasses
from collections.abc import Sequence

from made import sure
from shortflow.metrics.catalogue import UNFINISHED_OF_ALL
from shortflow.tuning.goal import Constraint, Goal, Measurement, Objective, Parameter
from shortflow.tuning.record import Check, Question, Trial, Tuning

AFCT, GOODPUT, MISS = "afct_short_s", "goodput_long_bps", "deadline_miss"
CLASSES = ["short", "long"]
W_MAX = Parameter.parse("transport.w_max=1:5")
W_MIN = Parameter.parse("transport.w_min=0.05:1:log")
FASTEST = Goal([Objective(AFCT)])
BOTH = Goal([Objective(AFCT), Objective(GOODPUT, maximize=True)])
KEPT = Goal([Objective(AFCT)], [Constraint(GOODPUT, ">=", 0.9, scheme="dctcp")])


def made(
    *times: float,
    goodput: float | list[float] = 1e8,
    misses: float | list[float] = 0.0,
    unfinished: float = 0.0,
    bound: bool = False,
    failed: Sequence[int] = (),
) -> Measurement:
    """Measurement with results of seeds 1, 2 and so on. Some runs may have failed."""
    seeds = list(range(1, len(times) + 1))

    def of(values: float | Sequence[float]) -> list[float | None]:
        every = [values] * len(seeds) if isinstance(values, float) else values
        return [None if seed in failed else value for seed, value in zip(seeds, every, strict=True)]

    values = {AFCT: of(times), GOODPUT: of(goodput), MISS: of(misses), UNFINISHED_OF_ALL.pattern: of(unfinished)}
    values[UNFINISHED_OF_ALL.pattern] = [share or 0.0 for share in values[UNFINISHED_OF_ALL.pattern]]
    digests = [None if seed in failed else f"{seed} {time} {goodput} {misses}" for seed, time in enumerate(times, 1)]
    return Measurement(seeds, values, [AFCT] if bound else [], digests, dict.fromkeys(failed, "it went wrong"))


REFERENCES = {"l2dct": made(2.0, 2.0), "dctcp": made(3.0, 3.0)}


def tuning_of(goal: Goal, *found: Measurement, references: dict[str, Measurement] | None = None) -> Tuning:
    question = Question(
        "s", "t", "-", CLASSES, "l2dct", {}, [W_MAX], {"transport.w_max": "2.5"}, goal, "dctcp", 2, 8, {}, "-"
    )
    trials = [
        Trial(number, {"transport.w_max": 1.0 + number / 4}, {"transport.w_max": f"{1 + number / 4:g}"}, each)
        for number, each in enumerate(found)
    ]
    return Tuning(question, references or REFERENCES, trials)


def checked(
    goal: Goal,
    tuned: Measurement,
    untuned: Measurement,
    baseline: Measurement,
    *,
    trials: Sequence[Measurement] = (),
    references: dict[str, Measurement] | None = None,
    left_out: Sequence[str] = (),
) -> Tuning:
    """A tuning of which only the chosen trial was checked."""
    found = tuning_of(goal, *(trials or [made(1.0, 1.0)]), references=references)
    schemes = {"l2dct": untuned, "dctcp": baseline}
    check = Check("s", "t", {}, CLASSES, goal, list(left_out), schemes, {sure(found.chosen).number: tuned})
    return dataclasses.replace(found, checks=[check])
