"""Judged claims: claims with their findings, the reasons for their verdicts, and the counts that include them."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from shortflow.api.judge import Verdict
from shortflow.api.scenarios import Scheme
from shortflow_papers.lab.data import Data
from shortflow_papers.lab.figure import Claim
from shortflow_papers.lab.finding import OVER_SET_UPS, Finding, finite
from shortflow_papers.lab.study import Scale
from shortflow_papers.papers import OWN, choices
from shortflow_papers.reproduction.tried import Tried, stored

NEAR = (10, 20, 30)
"""Distances from printed numbers that are counted, in per cent."""

Counts = dict[str, dict[str, int]]
"""Number of claims with each verdict, by group.

`numbers` counts claims with printed numbers: `all` of them, and those whose numbers all lie `within_10` %, 20 % and
30 % of the printed ones. Claims that the baseline passes, and claims that a fit used, are not in `numbers`.
"""


_WITH_VALUE = re.compile(r"([\w-]+=\S+) \(([^()]+)\)")
"""A value of a choice in a note, with the deciding number in parentheses."""


class Baseline(StrEnum):
    """Outcome of a claim with the baseline in the scheme's place, or the reason why there is no outcome."""

    AGREES = "agrees too"
    FAILS = "does not agree"
    EQUATION = "an equation"
    OTHERS = "about other schemes alone"
    PARAMETER = "about a parameter that the baseline does not have"
    UNTESTED = "untested"
    """The claim itself is untested, or the runs lack the baseline."""


class ClaimGroup(StrEnum):
    """The count that a claim belongs to."""

    SCHEME = "about the scheme"
    """Runs of the scheme decide the claim, and the baseline does not pass it."""
    NO_HARM = "no harm"
    """The claim says that the scheme equals another one, or is no worse, within a stated margin."""
    OTHERS = "equations and other schemes"
    """The claim is an equation that runs confirm, is about baselines alone, or agrees with the baseline, too."""
    OPEN = "not decided"
    """The verdict is undecided or untested."""
    FITTED = "used by a fit"
    """The set-up was fitted to the claim's number, so no count includes the claim."""


@dataclass(frozen=True)
class Judged:
    """A claim with its finding and the outcome of its baseline."""

    claim: Claim
    finding: Finding
    baseline: Baseline = Baseline.OTHERS
    scale: Scale | None = None
    """Scale of the simulation with default choices; None otherwise."""
    off: float | None = None
    """Largest relative distance of our numbers from printed ones; None without printed numbers."""

    @property
    def tried(self) -> Mapping[str, Tried]:
        """Stored outcomes of the claim under other choices, by scale."""
        return stored().get(self.claim.id, {}) if self.scale and self.finding.verdict is not Verdict.UNTESTED else {}

    @property
    def known(self) -> str:
        """Reason for a verdict other than `agrees`, and outcomes of other choices at this or another scale.

        The recipe's reason is about the quick scale. At another scale, it is given if the verdict is the same.
        """
        if not self.scale or self.finding.verdict in (Verdict.AGREES, Verdict.UNTESTED):
            return ""
        tried = dict(self.tried)
        quick, here = tried.get(Scale.QUICK), tried.pop(self.scale, None)
        same = self.scale is Scale.QUICK or (quick and quick.taken.verdict == self.finding.verdict)
        values = sum(len(choice.others) for choice in choices(self.claim.paper).values())
        sentences = [each.elsewhere(scale, values) for scale, each in tried.items()]
        if here:
            sentences.insert(0, here.sentence(values))
        elif not sentences and values and self.claim.paper in OWN:  # outcomes of other packages are stored nowhere
            sentences.append("no other choice was tried")
        return "; ".join(part for part in (self.claim.because if same else "", *sentences) if part)

    @property
    def over_choices(self) -> str:
        """Range of the deciding number over other choices, at the scale with most values tried; empty if unknown."""
        if not self.tried:
            return ""
        scale, tried = max(self.tried.items(), key=lambda each: (len(each[1].others), each[0] == self.scale))
        return f"{tried.spread} at the {scale} scale" if tried.spread and scale != self.scale else tried.spread

    @property
    def over_set_ups(self) -> str:
        """Number of set-ups that agree, with the range of the deciding number over them; empty without set-ups."""
        counts = self.finding.set_ups
        if not counts:
            return ""
        span = self.finding.note.rpartition(OVER_SET_UPS)[2] if OVER_SET_UPS in self.finding.note else ""
        agree = f"{counts.get(Verdict.AGREES, 0)} of {sum(counts.values())} set-ups agree"
        return f"{span}, {agree}" if span else agree

    @property
    def over_undecided(self) -> str:
        """The deciding number with each other value of an undecided choice, such as `recovery=sack -48.41 %`."""
        return ", ".join(f"{value} {number}" for value, number in _WITH_VALUE.findall(self.finding.note))

    @property
    def left_open_by(self) -> str:
        """Text with the causes of an undecided verdict: seeds, unfinished flows, or undecided choices."""
        return f"left open by {' and '.join(self.finding.open_by)}" if self.finding.open_by else ""

    @property
    def reason(self) -> str:
        """Reason for the verdict, or reason why agreement is not evidence."""
        fitted = "the set-up was fitted to this number, so agreement is no evidence"
        empty = "the baseline in the scheme's place agrees too, so this says nothing about the scheme"
        notes = (fitted * self.claim.fitted, self.left_open_by, self.finding.note)
        parts = (*notes, empty * self.agrees_emptily, self.known)
        return "; ".join(filter(None, parts))

    @property
    def group(self) -> ClaimGroup:
        """Group in which the claim is counted."""
        if self.claim.fitted:
            return ClaimGroup.FITTED
        if self.finding.verdict in (Verdict.UNDECIDED, Verdict.UNTESTED):
            return ClaimGroup.OPEN
        if self.claim.no_harm:
            return ClaimGroup.NO_HARM
        about_others = self.agrees_emptily or self.baseline in (Baseline.EQUATION, Baseline.OTHERS)
        return ClaimGroup.OTHERS if about_others else ClaimGroup.SCHEME

    @property
    def fails(self) -> bool:
        """True if commands end with exit code 1: the claim differs or is untested.

        Without the latter, a script would take a claim that no run decides for one that holds.
        """
        return self.finding.verdict in (Verdict.DIFFERS, Verdict.UNTESTED)

    @property
    def style(self) -> str:
        """CSS class of the verdict on a page."""
        return "emptily" if self.agrees_emptily else self.finding.verdict.value

    @property
    def agrees_emptily(self) -> bool:
        """True if the claim agrees with the baseline in the scheme's place, too, unless it is a no-harm claim."""
        return self.finding.holds and self.baseline is Baseline.AGREES and not self.claim.no_harm

    def document(self) -> dict[str, Any]:
        """The verdict as plain data. `docs/results.md` describes the keys."""
        return {
            "id": self.claim.id,
            "says": self.claim.statement,
            "verdict": self.finding.verdict.value,
            "measured": self.finding.document(),
            "ci95": self.finding.ci95 and [finite(end) for end in self.finding.ci95],
            "tolerance": self.claim.tolerance,
            "could_be": [verdict.value for verdict in self.finding.could_be],
            "over_choices": self.over_choices,
            "reason": self.reason,
            "group": self.group.value,
            "baseline": self.baseline.value,
            "off": None if self.off is None else finite(self.off),
        }


def judge_claim(claim: Claim, studies: Mapping[str, Data], stand_ins: Mapping[str, str], scale: Scale | None) -> Judged:
    """Decides a claim by these studies, and once more with the runs of each scheme's stand-in in the scheme's place."""
    finding = claim.judge(studies)
    return Judged(claim, finding, _with_baseline(claim, finding, studies, stand_ins), scale, claim.off(studies))


def _with_baseline(claim: Claim, ours: Finding, studies: Mapping[str, Data], stand_ins: Mapping[str, str]) -> Baseline:
    if claim.equation:
        return Baseline.EQUATION
    if ours.verdict is Verdict.UNTESTED:
        return Baseline.UNTESTED
    instead = {name: replace(each, stand_ins=stand_ins, replaced=set()) for name, each in studies.items()}
    found = claim.judge(instead)
    if not any(each.replaced for each in instead.values()):
        return Baseline.OTHERS
    if found.verdict is not Verdict.UNTESTED:
        return Baseline.AGREES if found.holds else Baseline.FAILS
    looked_at = [(studies[name] if name else next(iter(studies.values()))).study for name in claim.studies]
    needed = [(stand_ins[name], study) for study in looked_at for name in study.schemes if name in stand_ins]
    if any(not Scheme.accepts(name, key) for name, each in needed for key in each.over if key.startswith("transport.")):
        return Baseline.PARAMETER
    # All runs exist, but give no value, such as the trend of equal numbers: the baseline does not agree.
    return Baseline.UNTESTED if any(name not in each.schemes for name, each in needed) else Baseline.FAILS


def count(claims: Sequence[Judged]) -> Counts:
    """Number of claims with each verdict, by group."""

    def verdicts(of: ClaimGroup, *named: Verdict) -> dict[str, int]:
        found = [each.finding.verdict for each in claims if each.group is of]
        return {verdict.value: found.count(verdict) for verdict in named}

    decided = (Verdict.AGREES, Verdict.DIRECTION, Verdict.DIFFERS)
    counted = [each for each in claims if each.group is not ClaimGroup.FITTED and not each.agrees_emptily]
    far = [each.off for each in counted if each.off is not None]
    return {
        "scheme": verdicts(ClaimGroup.SCHEME, *decided),
        "no_harm": verdicts(ClaimGroup.NO_HARM, *decided),
        "others": verdicts(ClaimGroup.OTHERS, *decided),
        "open": verdicts(ClaimGroup.OPEN, Verdict.UNDECIDED, Verdict.UNTESTED),
        "numbers": {"all": len(far), **{f"within_{each}": sum(off <= each / 100 for off in far) for each in NEAR}},
    }
