"""Findings: measured numbers of a claim, with their verdict."""

import math
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from shortflow import Estimate
from shortflow.api.judge import Band, Possible, Verdict, joint, possible_verdicts, spanning, true_interval
from shortflow.api.numbers import counted

Number = float | str | Sequence[float]
Numbers = Mapping[str, Number]

BOUND = "flows were left unfinished, so that the value is a bound and the truth may lie beyond its interval"
"""Note for a deciding number that is a bound. The claim then agrees only if every possible true value agrees."""


_NAMED = 4


@dataclass(frozen=True)
class Finding:
    """Measured numbers of a claim, and their verdict."""

    worst: Verdict
    """Worst possible verdict. It equals the best unless the claim is undecided."""
    best: Verdict
    measured: Numbers = field(default_factory=dict)
    ci95: tuple[float, float] | None = None
    """95 % interval of the deciding number; None for a single seed."""
    note: str = ""
    deciding: str = ""
    """Name of the deciding number."""
    units: Mapping[str, str] = field(default_factory=dict)
    """Units of measured numbers that have one."""
    beyond: float = 0.0
    """Distance by which the interval (with one seed, the value) exceeds the band of agreement.

    The distance is relative to the exceeded end of the band, or absolute if this end is zero.
    """
    open_by: Sequence[str] = ()
    """Causes of an undecided verdict: seeds, unfinished flows, or open choices that change the verdict."""
    as_taken: str = ""
    """Verdict with the choices as taken, if the claim was also judged over set-ups."""
    set_ups: Mapping[str, int] = field(default_factory=dict)
    """Number of set-ups with each verdict."""

    @property
    def possible(self) -> Possible:
        """Verdicts that the measured numbers allow."""
        return Possible(self.worst, self.best)

    @property
    def verdict(self) -> Verdict:
        """Verdict, undecided if `worst` and `best` differ."""
        return self.possible.verdict

    @property
    def could_be(self) -> list[Verdict]:
        """Possible verdicts of an undecided claim, worst first; empty for a decided claim."""
        return [] if self.worst is self.best else [self.worst, self.best]

    @property
    def holds(self) -> bool:
        """True if the claim agrees."""
        return self.verdict is Verdict.AGREES

    def document(self) -> Numbers:
        """Measured numbers as plain data, with ∞ as the text "inf"."""
        return {name: finite(value) for name, value in self.measured.items()}


def finite(value: Number) -> Number:
    """A number for JSON, with ∞ as the text "inf"."""
    return str(value) if isinstance(value, float) and math.isinf(value) else value


def fact(holds: bool, **measured: Number) -> Finding:
    """Finding without an interval, such as that of an equation: `agrees` if `holds`, otherwise `differs`."""
    verdict = Verdict.AGREES if holds else Verdict.DIFFERS
    return Finding(verdict, verdict, measured)


def not_tested(why: str) -> Finding:
    """Finding of a claim that these runs cannot test, with the reason."""
    return Finding(Verdict.UNTESTED, Verdict.UNTESTED, note=why)


def placed(value: Estimate | float, agrees: Band, direction: Band | None, unit: str = "", **more: Number) -> Finding:
    """Finding of a number: `agrees` within the band `agrees`, `direction` within the wider band `direction`.

    The verdict is undecided unless the whole interval (with one seed, the value) gives the same verdict. `more` has
    further numbers to report.
    """
    found = value if isinstance(value, Estimate) else Estimate(value, None, 1)
    worst, best = possible_verdicts(true_interval(found, one_seed_decides=True), agrees, direction)
    note = BOUND if found.lower_bound or found.upper_bound else ""
    units = {"value": unit} if unit else {}
    beyond = _beyond(found.ci95 or (found.value, found.value), agrees)
    open_by = ["unfinished flows" if note else "seeds"] * (worst is not best)
    return Finding(worst, best, {"value": found.value, **more}, found.ci95, note, "value", units, beyond, open_by)


def within(value: Estimate | float, low: float = -math.inf, high: float = math.inf, **more: Number) -> Finding:
    """Finding of a number that must lie from `low` to `high`. A band with one end has only this end."""
    return placed(value, (low, high), None, "", **more)


def all_hold(findings: Mapping[str, Finding]) -> Finding:
    """Combines findings that must all hold. The worst finding decides, and the result names its number.

    If several findings are equally bad, the finding furthest outside its band decides. If no finding certainly differs,
    a single untested finding leaves the result untested.
    """
    if not findings:
        return not_tested("nothing was measured")
    measured, units = (
        {_qualified(name, key): each for name, found in findings.items() for key, each in getattr(found, part).items()}
        for part in ("measured", "units")
    )
    tested = {name: each for name, each in findings.items() if each.verdict is not Verdict.UNTESTED}
    untested = [name for name in findings if name not in tested]
    worst, best = joint(each.possible for each in tested.values())
    if untested and best is not Verdict.DIFFERS:
        worst = best = Verdict.UNTESTED
    whole = Finding(worst, best)
    of_verdict = {name: each for name, each in findings.items() if each.possible == (worst, best)}
    as_bad = {name: each for name, each in findings.items() if each.worst is worst}
    decides = max(of_verdict or as_bad, key=lambda name: findings[name].beyond)
    part = findings[decides]
    notes = []
    if not whole.holds and worst is not Verdict.UNTESTED:
        met = shortened([name for name, each in findings.items() if each.holds])
        failing = sorted(as_bad, key=lambda name: name != decides)
        notes = [f"{whole.verdict.value}: {shortened(failing)}", f"holds: {met}" if met else "none holds"]
        notes += [part.note] if part.note else []
    notes += [f"{name} is not tested: {findings[name].note}" for name in untested]
    deciding = _qualified(decides, part.deciding)
    return Finding(worst, best, measured, part.ci95, "; ".join(notes), deciding, units, part.beyond, part.open_by)


OVER_SET_UPS = "over the set-ups: "
"""Text before the range of the deciding number, which is at the end of a note."""


def ranging(
    finding: Finding, others: Mapping[str, Finding], set_ups: Sequence[Finding] = (), numbers: Sequence[str] = ()
) -> Finding:
    """The finding with a verdict that spans its own and those under other choices, which the paper leaves open.

    `others` has the finding for each other value of a choice by name, such as `recovery=sack`; `set_ups` has findings
    for values of several choices each. `numbers` are texts for the note, with the deciding number under other choices.
    """
    tested = [each for each in (finding, *others.values(), *set_ups) if each.verdict is not Verdict.UNTESTED]
    if finding not in tested or len(tested) == 1:
        return finding
    worst, best = spanning(each.possible for each in tested)
    verdicts = [f"{each.verdict.value} with {name}" for name, each in others.items()]
    counts = dict(Counter(each.verdict.value for each in set_ups))
    verdicts += [f"{verdict} with {counted(number, 'set-up')}" for verdict, number in counts.items()]
    notes = [f"{finding.verdict.value} as taken, {', '.join(verdicts)}", *([finding.note] if finding.note else [])]
    moved_by = [name.partition("=")[0] for name, each in others.items() if _moved(finding, each)]
    moved_by += ["the set-up"] * any(_moved(finding, each) for each in set_ups)
    open_by = moved_by + [cause for each in tested for cause in each.open_by]
    return replace(
        finding,
        worst=worst,
        best=best,
        note="; ".join([*notes, *numbers]) if moved_by or numbers else finding.note,
        open_by=list(dict.fromkeys(open_by)),
        as_taken=finding.verdict.value if set_ups else "",
        set_ups=counts,
    )


def _moved(finding: Finding, other: Finding) -> bool:
    return other.verdict not in (finding.verdict, Verdict.UNTESTED)


def shortened(parts: Sequence[str], most: int = _NAMED) -> str:
    """Text with the first `most` parts, and the number of the rest."""
    return ", ".join(parts[:most]) + f" and {len(parts) - most} more" * (len(parts) > most)


def _beyond(interval: Band, band: Band) -> float:
    """Distance by which an interval exceeds a band, relative to the exceeded end; absolute if this end is zero."""
    (low, high), (least, most) = interval, band
    outside = [(least - low, least)] * (low < least) + [(high - most, most)] * (high > most)
    return max((by / (abs(end) if abs(end) > sys.float_info.min else 1.0) for by, end in outside), default=0.0)


def _qualified(name: str, key: str) -> str:
    """Name of the number `key` of the finding `name` in a combination of findings."""
    if not name:
        return key
    return name if key == "value" else f"{name}: {key}"
