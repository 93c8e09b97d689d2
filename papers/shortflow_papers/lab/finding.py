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
"""Note for a deciding number that is a bound. The claim agrees only if every possible true value does."""


_NAMED = 4


@dataclass(frozen=True)
class Finding:
    """Measured numbers of a claim, and their verdict."""

    worst: Verdict
    """Worst possible verdict; equal to the best unless undecided."""
    best: Verdict
    measured: Numbers = field(default_factory=dict)
    ci95: tuple[float, float] | None = None
    """95 % interval of the deciding number, if several seeds were run."""
    note: str = ""
    deciding: str = ""
    """Name of the deciding number."""
    units: Mapping[str, str] = field(default_factory=dict)
    """Units of measured numbers that have one."""
    beyond: float = 0.0
    """Distance by which the interval (with one seed, the value) exceeds the band of agreement, relative to the end of
    the band (absolute if that is zero)."""
    open_by: Sequence[str] = ()
    """Causes of an undecided verdict: open choices that change it, seeds or unfinished flows."""
    as_taken: str = ""
    """Verdict with the choices as taken, if the paper's claims are judged over set-ups too."""
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
        """Possible verdicts of an undecided claim, worst first; empty for others."""
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
    """A claim without an interval, such as an equation."""
    verdict = Verdict.AGREES if holds else Verdict.DIFFERS
    return Finding(verdict, verdict, measured)


def not_tested(why: str) -> Finding:
    """A claim that could not be tested here."""
    return Finding(Verdict.UNTESTED, Verdict.UNTESTED, note=why)


def placed(value: Estimate | float, agrees: Band, direction: Band | None, unit: str = "", **more: Number) -> Finding:
    """Agrees within one band; has at least the right direction within a wider one.

    The whole interval counts (with one seed, the value).
    """
    found = value if isinstance(value, Estimate) else Estimate(value, None, 1)
    worst, best = possible_verdicts(true_interval(found, one_seed_decides=True), agrees, direction)
    note = BOUND if found.lower_bound or found.upper_bound else ""
    units = {"value": unit} if unit else {}
    beyond = _beyond(found.ci95 or (found.value, found.value), agrees)
    open_by = ["unfinished flows" if note else "seeds"] * (worst is not best)
    return Finding(worst, best, {"value": found.value, **more}, found.ci95, note, "value", units, beyond, open_by)


def within(value: Estimate | float, low: float = -math.inf, high: float = math.inf, **more: Number) -> Finding:
    """A number that must lie in a band, from `low` to `high`; name the end where there is only one."""
    return placed(value, (low, high), None, "", **more)


def all_hold(findings: Mapping[str, Finding]) -> Finding:
    """Combines measurements that must all hold. The worst decides and is named.

    On a tie, the one furthest beyond its band decides. A certain difference decides in any case. Otherwise, one
    untested measurement leaves the claim untested.
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
"""Precedes, at the end of a note, the span of the deciding number."""


def ranging(
    finding: Finding, others: Mapping[str, Finding], set_ups: Sequence[Finding] = (), numbers: Sequence[str] = ()
) -> Finding:
    """The finding with a verdict over its own and others' that the paper's numbers do not tell apart.

    `others` are by name, such as `recovery=sack`; `set_ups` are values of several choices each. `numbers` say what the
    deciding number is with the others, for the note.
    """
    tested = [each for each in (finding, *others.values(), *set_ups) if each.verdict is not Verdict.UNTESTED]
    if finding not in tested or len(tested) == 1:
        return finding
    worst, best = spanning(each.possible for each in tested)
    verdicts = [f"{each.verdict.value} with {name}" for name, each in others.items()]
    counts = dict(Counter(each.verdict.value for each in set_ups))
    verdicts += [f"{verdict} with {counted(number, 'set-up')}" for verdict, number in counts.items()]
    notes = [f"{finding.verdict.value} as taken, {', '.join(verdicts)}", *([finding.note] if finding.note else [])]
    change = [name.partition("=")[0] for name, each in others.items() if _moved(finding, each)]
    change += ["the set-up"] * any(_moved(finding, each) for each in set_ups)
    left = change + [what for each in tested for what in each.open_by]
    note = "; ".join([*notes, *numbers]) if change or numbers else finding.note
    as_taken = finding.verdict.value if set_ups else ""
    ranged = replace(finding, worst=worst, best=best, note=note, open_by=list(dict.fromkeys(left)))
    return replace(ranged, as_taken=as_taken, set_ups=counts)


def _moved(finding: Finding, other: Finding) -> bool:
    return other.verdict not in (finding.verdict, Verdict.UNTESTED)


def shortened(parts: Sequence[str], most: int = _NAMED) -> str:
    """The first parts, and the number of the rest."""
    return ", ".join(parts[:most]) + f" and {len(parts) - most} more" * (len(parts) > most)


def _beyond(interval: Band, band: Band) -> float:
    """Relative distance by which an interval reaches out of a band."""
    (low, high), (least, most) = interval, band
    outside = [(least - low, least)] * (low < least) + [(high - most, most)] * (high > most)
    return max((by / (abs(end) if abs(end) > sys.float_info.min else 1.0) for by, end in outside), default=0.0)


def _qualified(name: str, key: str) -> str:
    """Name of a number within several findings."""
    if not name:
        return key
    return name if key == "value" else f"{name}: {key}"
