"""Verdict on the found parameters on fresh seeds and workloads, by paired intervals, with its sentences."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from shortflow.judge.estimates import Estimate, Interval
from shortflow.judge.verdicts import Possible, Verdict, joint, true_interval, verdict_of
from shortflow.metrics.catalogue import UNFINISHED_OF_ALL, possible
from shortflow.metrics.statistic import Metric
from shortflow.quantities import counted
from shortflow.report.caveats import few_events_of
from shortflow.report.wording import percentage, phrase
from shortflow.tuning.goal import Constraint, Measurement, Objective
from shortflow.tuning.record import Check, Trial, Tuning


@dataclass(frozen=True)
class PairedChange:
    """Paired difference of a metric between two measurements."""

    estimate: Estimate
    """The difference. It is a bound if one side is a bound, and open if both sides are."""
    relative: bool
    """True if the change is relative to the other side's mean. If this mean is zero, it has the metric's unit."""

    @property
    def is_open(self) -> bool:
        """True if sign and size are open, because both sides are bounds."""
        return self.estimate.lower_bound and self.estimate.upper_bound

    def gains(self, objective: Objective) -> Interval:
        """Interval of the gain in an objective, which is positive for improvements. Unknown ends are infinite."""
        worst, best = sorted(objective.gain(end) for end in true_interval(self.estimate))
        return worst, best

    def words(self, unit: str, *, interval: bool = True) -> str:
        """The change as text, such as `3.2 % (95 % interval 1.0 to 5.4 %) lower`. `unit` is the metric's unit."""
        if self.is_open:
            return "not comparable"
        if not self.estimate.value:
            return "the same"
        sign = 1 if self.estimate.value > 0 else -1
        scale, unit = (100.0, " %") if self.relative else (1.0, f" {unit}" if unit not in ("", "share") else "")
        digits = ".1f" if self.relative else ".4g"
        value, *ends = (scale * sign * each for each in (self.estimate.value, *(self.estimate.ci95 or ())))
        kind = "higher" if sign > 0 else "lower"
        if self.estimate.lower_bound or self.estimate.upper_bound:
            return f"at {'least' if self.estimate.lower_bound == (sign > 0) else 'most'} {value:{digits}}{unit} {kind}"
        within = " to ".join(f"{end:{digits}}" for end in sorted(ends)) + unit
        if ends and verdict_of((min(ends), max(ends)), (0.0, math.inf)) is Verdict.UNDECIDED:
            within += ", so undecided"
        return f"{value:{digits}}{unit} {f'(95 % interval {within}) ' if ends and interval else ''}{kind}"

    def beside(self, unit: str, name: str) -> str:
        """The change as text, with the name of the reference scheme."""
        joint = "with" if self.is_open else "than with" if self.estimate.value else "as with"
        return f"{self.words(unit)} {joint} {name}{'' if self.relative else ', where it is 0'}"


def paired_change(metric: str, ours: Measurement, theirs: Measurement) -> PairedChange | None:
    """Difference of a metric of `ours` from `theirs`, paired by seed; None if a run does not have the metric."""
    one, other = ours.sample(metric), theirs.sample(metric)
    if not one.is_complete or not other.is_complete:
        return None
    relative = one.relation(other)
    found = relative or one.difference(other)
    return PairedChange(found, relative is not None) if found else None


HOLDS = {Verdict.AGREES: "holds", Verdict.DIFFERS: "does not hold", Verdict.UNDECIDED: "undecided"}
"""Text of each verdict."""


@dataclass(frozen=True)
class VerdictInWords:
    """Verdict on a check, or on one of its requirements, with a text that has its numbers."""

    verdict: Verdict
    words: str

    @property
    def holds(self) -> str:
        """Text of the verdict."""
        return HOLDS[self.verdict]


def verdict(tuning: Tuning, check: Check, number: int) -> VerdictInWords:
    """Joint verdict of a check on trial `number`, with one clause for each requirement."""
    parts = [
        *_failures(check, number),
        *_unfinished(tuning, check, number),
        *_objectives(tuning, check, number),
        *_constraints(check, number),
        # A constraint that this scenario cannot measure is named, but must not change the joint verdict.
        *(
            VerdictInWords(Verdict.AGREES, f"{each} is left out, because it is not measured there")
            for each in check.left_out
        ),
    ]
    seeds, clauses = len(check.trials[number].seeds), "; ".join(part.words for part in parts)
    words = f"{check.scenario}, {seeds} fresh seeds: {clauses}. {_few_events(tuning, check, number)}".rstrip()
    return VerdictInWords(_joint(parts), words)


def verdicts(tuning: Tuning) -> list[VerdictInWords]:
    """Verdict of each check on the chosen trial; empty without a chosen trial or checks."""
    chosen = tuning.chosen
    return [verdict(tuning, check, chosen.number) for check in tuning.checks] if chosen else []


def joint_verdict(tuning: Tuning) -> Verdict:
    """Joint verdict of all checks on the chosen trial. Undecided before the check; differs if no trial is feasible."""
    if tuning.chosen is None:
        return Verdict.DIFFERS
    return _joint(verdicts(tuning)) if tuning.checks else Verdict.UNDECIDED


def sentence(tuning: Tuning) -> str:
    """Sentences on the joint verdict. The first sentence states the outcome."""
    chosen = tuning.chosen
    if chosen is None:
        return f"No trial of {len(tuning.trials)} is feasible: {_why_infeasible(tuning)}."
    if not tuning.checks:
        return f"Trials so far: {len(tuning.trials)}, not checked yet; the same command resumes."
    if tuning.is_untuned(chosen):
        return _nothing_better(tuning)
    if tuning.yardstick and not _has_gained(tuning, chosen):
        return f"No feasible trial is better than {_named(tuning, tuning.yardstick)}."
    found = [(_place(tuning, check), each.verdict) for check, each in zip(tuning.checks, verdicts(tuning), strict=True)]
    places = {verdict: [place for place, of in found if of is verdict] for verdict in _CLAUSES}
    clauses = [_CLAUSES[verdict].format(" and on ".join(named)) for verdict, named in places.items() if named]
    words = f"{'; '.join([*clauses, *_price(tuning, chosen)])}.".replace("they", "the found parameters", 1)
    keys = " and ".join(tuning.question.flow_keys)
    verb = "change" if " and " in keys else "changes"
    flows = keys and f" Trials differ in more than the scheme: {keys} {verb} the flows themselves."
    return f"{words[0].upper()}{words[1:]}{_held_against(tuning)}{flows}"


def _nothing_better(tuning: Tuning) -> str:
    """Sentence for a tuning whose chosen trial has the untuned parameters."""
    name, others = tuning.question.scheme, len(tuning.front) - 1
    if not others:
        return f"No trial is better than untuned {name}: keep its parameters."
    return (
        f"No trial is better than untuned {name} in one objective without losing in the other: keep its parameters, or "
        f"choose what to trade among the other trials on the front ({others})."
    )


_CLAUSES = {
    Verdict.AGREES: "they hold on {}",
    Verdict.UNDECIDED: "it is undecided whether they hold on {}",
    Verdict.DIFFERS: "they do not hold on {}",
}


def _joint(found: Sequence[VerdictInWords]) -> Verdict:
    return joint(Possible.of(each.verdict) for each in found).verdict


def _place(tuning: Tuning, check: Check) -> str:
    """Text that names the place of a check, and the constraints that it does not measure."""
    place = "fresh seeds" if check is tuning.checks[0] else check.scenario
    without = ", ".join(check.left_out)
    return f"{place} (without {without}, not measured there)" if without else place


def _price(tuning: Tuning, chosen: Trial) -> Iterator[str]:
    """Clauses on the loss in one objective that the chosen trial has for a gain in the other, in each check."""
    name = tuning.yardstick
    for place, (objective, before) in enumerate(_promised(tuning, chosen)):
        if name is None or before is None or objective.gain(before.estimate.value) >= 0:
            continue
        amounts = []
        for check in tuning.checks:
            metric = check.goal.objectives[place].metric
            found = paired_change(metric, check.trials[chosen.number], check.schemes[name])
            where = "fresh seeds" if check is tuning.checks[0] else check.scenario
            amounts.append(
                f"{found.words(_metric(check, metric).unit, interval=False) if found else 'unknown'} on {where}"
            )
        yield f"they pay with {objective.metric}, {' and '.join(amounts)}"


def _held_against(tuning: Tuning) -> str:
    """Sentence on the reference if the untuned scheme is infeasible; otherwise empty."""
    question = tuning.question
    if tuning.yardstick == question.scheme:
        return ""
    if tuning.yardstick:
        return f" They are compared with {tuning.yardstick}, because untuned {question.scheme} is infeasible."
    names = " and ".join(dict.fromkeys([f"untuned {question.scheme}", _named(tuning, question.baseline)]))
    return f" Only feasibility is judged: {names} are infeasible too, so there is no gain to state."


def _named(tuning: Tuning, scheme: str) -> str:
    return f"untuned {scheme}" if scheme == tuning.question.scheme else scheme


def _metric(check: Check, name: str) -> Metric:
    return possible(check.classes)[name]


def _promised(tuning: Tuning, trial: Trial) -> list[tuple[Objective, PairedChange | None]]:
    """Each objective, with the trial's change from the yardstick on the trials' seeds; empty without a yardstick."""
    if tuning.yardstick is None:
        return []
    other = tuning.references[tuning.yardstick]
    return [(each, paired_change(each.metric, trial.found, other)) for each in tuning.question.goal.objectives]


def _has_gained(tuning: Tuning, trial: Trial) -> bool:
    """True if, on the trials' seeds, the trial is or may be better than the yardstick in at least one objective."""
    promised = _promised(tuning, trial)
    return any(found is None or objective.gain(found.estimate.value) > 0 for objective, found in promised)


def _failures(check: Check, number: int) -> Iterator[VerdictInWords]:
    """Verdicts on failed runs: they decide with the found parameters, and leave the check open with other schemes."""
    named = {"the found parameters": check.trials[number], **check.schemes}
    for name, found in named.items():
        if found.errors:
            count = f"{len(found.errors)} of {counted(len(found.seeds), 'run')} with {name} failed"
            verdict = Verdict.DIFFERS if found is check.trials[number] else Verdict.UNDECIDED
            yield VerdictInWords(verdict, f"{count}: {next(iter(found.errors.values()))}")


def _unfinished(tuning: Tuning, check: Check, number: int) -> Iterator[VerdictInWords]:
    """Verdict on unfinished flows. It is undecided if the reference scheme leaves as many or more."""
    name = tuning.yardstick or tuning.question.scheme
    ours, other = check.trials[number], check.schemes[name]
    share, theirs = (found.mean(UNFINISHED_OF_ALL.pattern) or 0.0 for found in (ours, other))
    if share:
        beside = f", {percentage(theirs)} with {_named(tuning, name)}" if theirs else ""
        hint = ", so the check is undecided: raise drain" if share <= theirs else ""
        verdict = Verdict.UNDECIDED if share <= theirs else Verdict.DIFFERS
        yield VerdictInWords(verdict, f"{percentage(share)} of the flows did not finish{beside}{hint}")
    elif ours.lower_bounds:
        yield VerdictInWords(Verdict.DIFFERS, f"{', '.join(ours.lower_bounds)} is a lower bound only")


def _objectives(tuning: Tuning, check: Check, number: int) -> Iterator[VerdictInWords]:
    """Verdicts on the objectives: is the change from the reference scheme as good as on the trials' seeds?"""
    question, ours = tuning.question, check.trials[number]
    trial = tuning.trials[number]
    promised = [found for _, found in _promised(tuning, trial)]
    for here, before in zip_longest(check.goal.objectives, promised):
        unit = _metric(check, here.metric).unit
        found = {
            name: paired_change(here.metric, ours, check.schemes[name])
            for name in dict.fromkeys([question.scheme, question.baseline])
        }
        named = {_named(tuning, name): each for name, each in found.items()}
        beside = (each.beside(unit, name) if each else f"not comparable with {name}" for name, each in named.items())
        words = f"{here.metric} is {' and '.join(beside)}"
        if before and here.gain(before.estimate.value) < 0:
            words += f" ({before.words(unit, interval=False)} on the trials' seeds)"
        if tuning.yardstick is None:  # all references are infeasible, so only feasibility decides
            yield VerdictInWords(Verdict.AGREES, words)
        else:
            gained = _has_gained(tuning, trial)
            yield VerdictInWords(
                _is_as_promised(here, before, found[tuning.yardstick]) if gained else Verdict.DIFFERS, words
            )


def _few_events(tuning: Tuning, check: Check, number: int) -> str:
    """Note on the first objective whose interval has a large allowance for rare events; empty without one."""
    name = tuning.yardstick or tuning.question.scheme
    for objective in check.goal.objectives:
        found = paired_change(objective.metric, check.trials[number], check.schemes[name])
        if found and found.relative and found.estimate.few_events:
            named = phrase(_metric(check, objective.metric))
            return few_events_of(found.estimate, named, f"from {_named(tuning, name)}")
    return ""


def _is_as_promised(objective: Objective, before: PairedChange | None, found: PairedChange | None) -> Verdict:
    """Verdict on "the whole interval shows a gain or, after a loss on the trials' seeds, no larger loss".

    The largest loss that is accepted is the far end of the interval on the trials' seeds, because few seeds are
    uncertain.
    """
    if found is None:
        return Verdict.UNDECIDED
    if before is None or objective.gain(before.estimate.value) > 0:
        least = math.nextafter(0.0, math.inf)
    else:
        least = before.gains(objective)[0] if before.estimate.ci95 else objective.gain(before.estimate.value)
    return verdict_of(found.gains(objective), (least, math.inf))


def _constraints(check: Check, number: int) -> Iterator[VerdictInWords]:
    """Verdict on each constraint. A bound by another scheme is compared with the whole paired interval."""
    ours = check.trials[number]
    for each in check.goal.constraints:
        metric, limit = _metric(check, each.metric), each.limit(check.schemes)
        found = ours.sample(each.metric, metric.support).mean
        if limit is None or found is None or found.lacking:
            yield VerdictInWords(Verdict.UNDECIDED, f"{each.text} is undecided there")
            continue
        wanted = "at least" if each.sign == ">=" else "at most"
        relative = paired_change(each.metric, ours, check.schemes[each.scheme]) if each.scheme else None
        if relative and relative.relative:
            value, *ends = (1 + end for end in (relative.estimate.value, *(relative.estimate.ci95 or ())))
            interval = _interval(*(f"{100 * end:.1f}" for end in ends), unit=" %")
            words = f"{100 * value:.1f} % of {each.scheme}'s ({interval}{wanted} {100 * each.bound:.4g} % wanted)"
            low, high = true_interval(relative.estimate)
            verdict = _is_kept(each, (1 + low, 1 + high), each.bound)
        else:
            unit = f" {metric.unit}" if metric.unit not in ("", "share") else ""
            interval = _interval(*(f"{end:.4g}" for end in found.ci95 or ()), unit=unit)
            words = f"{found.value:.4g}{unit} ({interval}{wanted} {limit:.4g}{unit} wanted)"
            verdict = _is_kept(each, true_interval(found), limit)
        yield VerdictInWords(verdict, f"{each.metric} is {words}")


def _is_kept(constraint: Constraint, ends: Interval, limit: float) -> Verdict:
    """Verdict on a constraint by an interval; undecided if the limit lies inside the interval."""
    return verdict_of(ends, (limit, math.inf) if constraint.sign == ">=" else (-math.inf, limit))


def _interval(*ends: str, unit: str = "") -> str:
    return f"95 % interval {' to '.join(ends)}{unit}, " if ends else ""


def _why_infeasible(tuning: Tuning) -> str:
    """Text with the number of trials that each violation makes infeasible."""
    judged = [tuning.judge(trial) for trial in tuning.trials]
    names = ["flows were left unfinished", *(f"{each.text} was broken" for each in tuning.question.goal.constraints)]
    counts = [sum(len(each.violations) > i and each.violations[i] > 0 for each in judged) for i in range(len(names))]
    errors = [error for trial in tuning.trials for error in trial.found.errors.values()]
    names.append(f"runs failed ({errors[0] if errors else ''})")
    counts.append(sum(bool(trial.found.errors) for trial in tuning.trials))
    found = ", ".join(f"{name} in {count}" for name, count in zip(names, counts, strict=True) if count)
    left = tuning.references[tuning.question.scheme].mean(UNFINISHED_OF_ALL.pattern)
    return f"{found}; a longer drain may let them finish (untuned, some are unfinished too)" if left else found
