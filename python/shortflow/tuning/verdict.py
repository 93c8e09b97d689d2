"""Whether the found parameters hold where no trial has been: decided by paired intervals, said in plain sentences."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from shortflow.metrics.catalogue import possible
from shortflow.metrics.stats import Estimate, estimate, paired_difference
from shortflow.report.plotting import percentage
from shortflow.tuning.goal import UNFINISHED, Constraint, Measurement, Objective
from shortflow.tuning.record import Check, Trial, Tuning


class Holds(StrEnum):
    """What came of a check."""

    YES = "holds"
    OPEN = "undecided"
    NO = "does not hold"


@dataclass(frozen=True)
class Part:
    """One thing that has to hold, with its numbers in words."""

    holds: Holds
    words: str


@dataclass(frozen=True)
class Verdict:
    """What a check says of one trial's parameters."""

    scenario: str
    seeds: Sequence[int]
    holds: Holds
    parts: Sequence[Part]

    @property
    def words(self) -> str:
        """The verdict with its numbers, in one sentence."""
        return f"{self.scenario}, {len(self.seeds)} fresh seeds: {'; '.join(part.words for part in self.parts)}."


def verdict(tuning: Tuning, check: Check, number: int) -> Verdict:
    """What a check says of the parameters of the trial with this number."""
    parts = [*_unfinished(tuning, check, number), *_objectives(tuning, check, number), *_constraints(check, number)]
    parts += [Part(Holds.YES, f"{each} cannot be told there") for each in check.left_out]
    found = {part.holds for part in parts}
    worst = next(each for each in (Holds.NO, Holds.OPEN, Holds.YES) if each in found)
    return Verdict(check.scenario, check.trials[number].seeds, worst, parts)


def verdicts(tuning: Tuning) -> list[Verdict]:
    """What the checks say of the chosen trial's parameters; none if none was chosen."""
    chosen = tuning.chosen
    return [verdict(tuning, check, chosen.number) for check in tuning.checks] if chosen else []


def sentence(tuning: Tuning) -> str:
    """The verdict in plain words, the first sentence of which is the verdict itself."""
    question, chosen = tuning.question, tuning.chosen
    if chosen is None:
        return f"No trial of {len(tuning.trials)} is feasible: {_why_infeasible(tuning)}."
    if question.untuned_values and chosen.settings == question.written(question.untuned_values):
        return f"No trial is better than untuned {question.scheme}: keep its parameters."
    if not any(_promised(tuning, chosen)):
        return f"No feasible trial is better than {_named(tuning, tuning.measure)}."
    places = ["fresh seeds", *(check.scenario for check in tuning.checks[1:])]
    of_place = dict(zip(places, verdicts(tuning), strict=True))
    by_word = {each: [place for place in places if of_place[place].holds is each] for each in Holds}
    clauses = [_CLAUSES[each].format(" and on ".join(found)) for each, found in by_word.items() if found]
    words = f"{'; '.join(clauses)}.".replace("they", "the found parameters", 1)
    if tuning.measure == question.scheme:
        return _capital(words)
    return f"{_capital(words)} They are held against {tuning.measure}, as untuned {question.scheme} is infeasible."


_CLAUSES = {
    Holds.YES: "they hold on {}",
    Holds.OPEN: "it is undecided whether they hold on {}",
    Holds.NO: "they do not hold on {}",
}


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]


def _named(tuning: Tuning, scheme: str) -> str:
    return f"untuned {scheme}" if scheme == tuning.question.scheme else scheme


def _promised(tuning: Tuning, trial: Trial) -> list[bool]:
    """For each objective whether the trial gained, against the scheme that it is held against, on the trials' seeds."""
    other = tuning.references[tuning.measure]
    changes = [(each, change(each.metric, trial.found, other)) for each in tuning.question.goal.objectives]
    return [found is not None and each.gain(found.value) > 0 for each, found in changes]


def holds(tuning: Tuning) -> Holds:
    """The worst that a check says of the chosen trial; it does not hold if no trial is feasible."""
    found = {each.holds for each in verdicts(tuning)} if tuning.chosen else {Holds.NO}
    return next(each for each in (Holds.NO, Holds.OPEN, Holds.YES) if each in found)


def change(metric: str, ours: Measurement, theirs: Measurement) -> Estimate | None:
    """How far a metric lies above another measurement's with the same seeds, relatively; none if that is open."""
    pairs = [
        (one, other)
        for one, other in zip(ours.values[metric], theirs.values[metric], strict=True)
        if one is not None and other is not None
    ]
    if not pairs or len(pairs) < len(ours.seeds):
        return None
    return paired_difference([one for one, _ in pairs], [other for _, other in pairs])


def _unfinished(tuning: Tuning, check: Check, number: int) -> Iterator[Part]:
    """Whether flows finish; open where they do not under the scheme that the trial is held against either."""
    ours, other = check.trials[number], check.schemes[tuning.measure]
    share, theirs = (found.mean(UNFINISHED) or 0.0 for found in (ours, other))
    if share and theirs:
        beside = f"{percentage(theirs)} with {_named(tuning, tuning.measure)}"
        yield Part(Holds.OPEN, f"{percentage(share)} of the flows did not finish, {beside}: a longer drain would tell")
    elif share:
        yield Part(Holds.NO, f"{percentage(share)} of the flows did not finish")
    elif ours.lower_bounds:
        yield Part(Holds.NO, f"{', '.join(ours.lower_bounds)} is a lower bound only")


def _objectives(tuning: Tuning, check: Check, number: int) -> Iterator[Part]:
    """Whether what the trial gained against the scheme that it is held against is gained here too.

    Of two objectives, one may have been given away for the other.
    """
    question, ours = tuning.question, check.trials[number]
    names = dict.fromkeys([question.scheme, question.baseline])
    promised = _promised(tuning, tuning.trials[number])
    for here, gained in zip(check.goal.objectives, promised, strict=True):
        found = {name: change(here.metric, ours, check.schemes[name]) for name in names}
        compared = " and ".join(f"{_compared(found[name])} with {_named(tuning, name)}" for name in names)
        holds = _is_gained(here, found[tuning.measure]) if gained else Holds.YES if any(promised) else Holds.NO
        yield Part(holds, f"{here.metric} is {compared}")


def _is_gained(objective: Objective, found: Estimate | None) -> Holds:
    """Whether a change is for the better with its whole interval; one seed leaves it open."""
    if found is None or found.ci95 is None:
        return Holds.OPEN
    gains = sorted(objective.gain(end) for end in found.ci95)
    if gains[0] > 0:
        return Holds.YES
    return Holds.NO if gains[1] < 0 else Holds.OPEN


def _constraints(check: Check, number: int) -> Iterator[Part]:
    """Whether each bound is kept, with the whole paired interval where it is another scheme's."""
    ours = check.trials[number]
    for each in check.goal.constraints:
        values, limit = ours.values[each.metric], each.limit(check.schemes)
        known = [value for value in values if value is not None]
        if limit is None or len(known) < len(values):
            yield Part(Holds.OPEN, f"{each.text} cannot be told there")
            continue
        wanted = "at least" if each.sign == ">=" else "at most"
        relative = change(each.metric, ours, check.schemes[each.scheme]) if each.scheme else None
        if relative:
            value, *ends = (1 + end for end in (relative.value, *(relative.ci95 or ())))
            interval = _interval(*(f"{100 * end:.1f}" for end in ends), unit=" %")
            words = f"{100 * value:.1f} % of {each.scheme}'s ({interval}{wanted} {100 * each.bound:.4g} % wanted)"
            holds = _is_kept(each, ends, each.bound)
        else:
            found = estimate(known, possible(check.classes)[each.metric].support)
            interval = _interval(*(f"{end:.4g}" for end in found.ci95 or ()))
            words = f"{found.value:.4g} ({interval}{wanted} {limit:.4g} wanted)"
            holds = _is_kept(each, found.ci95 or (), limit)
        yield Part(holds, f"{each.metric} is {words}")


def _is_kept(constraint: Constraint, ends: Sequence[float], limit: float) -> Holds:
    """Whether an interval is on the right side of a bound; where it has both sides, or is none, that is open."""
    kept = {constraint.violation(end, limit) <= 0 for end in ends}
    return Holds.OPEN if len(kept) != 1 else Holds.YES if True in kept else Holds.NO


def _interval(*ends: str, unit: str = "") -> str:
    return f"95 % interval {' to '.join(ends)}{unit}, " if ends else ""


def _compared(found: Estimate | None) -> str:
    """A relative change in words."""
    if found is None:
        return "not comparable"
    if not found.value:
        return "the same as"
    sign = 1 if found.value > 0 else -1
    ends = sorted(100 * sign * end for end in found.ci95 or ())
    interval = f" (95 % interval {ends[0]:.1f} to {ends[1]:.1f} %)" if ends else ""
    return f"{100 * sign * found.value:.1f} %{interval} {'higher' if sign > 0 else 'lower'} than"


def _why_infeasible(tuning: Tuning) -> str:
    """What most trials break."""
    judged = [tuning.judge(trial) for trial in tuning.trials]
    names = ["flows were left unfinished", *(f"{each.text} was broken" for each in tuning.question.goal.constraints)]
    counts = [sum(len(each.violations) > i and each.violations[i] > 0 for each in judged) for i in range(len(names))]
    names.append("runs failed")
    counts.append(sum(None in trial.found.digests for trial in tuning.trials))
    found = ", ".join(f"{name} in {count}" for name, count in zip(names, counts, strict=True) if count)
    left = tuning.references[tuning.question.scheme].mean(UNFINISHED)
    return f"{found}; a longer drain may let them finish, as they do not untuned either" if left else found
