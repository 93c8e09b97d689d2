"""Claims with the baseline in the scheme's place: a claim that passes is not evidence for the scheme."""

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum

from shortflow._core import Scheme
from shortflow.lab.data import Data
from shortflow.lab.figure import Claim
from shortflow.lab.finding import Finding, Verdict


class Baseline(StrEnum):
    """Outcome of a claim with the baseline in the scheme's place, or the reason why none exists."""

    AGREES = "agrees too"
    FAILS = "does not agree"
    NO_RUNS = "an equation, or no runs"
    OTHERS = "about other schemes alone"
    PARAMETER = "about a parameter that the baseline does not have"
    UNTESTED = "untested"
    """The claim itself is untested, or the runs lack the baseline."""


class Group(StrEnum):
    """The count that a claim belongs to."""

    SCHEME = "about the scheme"
    """Runs of the scheme decide the claim, and the baseline does not pass it."""
    NO_HARM = "no harm"
    """The scheme equals another within a stated margin, or is no worse by more."""
    OTHERS = "no runs, or other schemes"
    """An equation, arithmetic, baselines alone, or a claim that the baseline passes too."""
    OPEN = "not decided"


def group(claim: Claim, verdict: Verdict, baseline: Baseline) -> Group:
    """The count that a claim belongs to, which its verdict word does not depend on."""
    if verdict in (Verdict.UNDECIDED, Verdict.UNTESTED):
        return Group.OPEN
    if claim.no_harm:
        return Group.NO_HARM
    passed = verdict is Verdict.AGREES and baseline is Baseline.AGREES
    about_others = passed or baseline in (Baseline.NO_RUNS, Baseline.OTHERS)
    return Group.OTHERS if about_others else Group.SCHEME


def with_baseline(
    claim: Claim,
    ours: Finding,
    data: Mapping[str, Data],
    stand_ins: Mapping[str, str],
    decide: Callable[..., Finding],
) -> Baseline:
    """Verdict of `decide` on a claim if each scheme's runs are those of its stand-in."""
    if claim.equation or not claim.studies:
        return Baseline.NO_RUNS
    if ours.verdict is Verdict.UNTESTED:
        return Baseline.UNTESTED
    instead = {name: each.with_stand_ins(stand_ins) for name, each in data.items()}
    found = decide(claim, instead)
    if not any(each.replaced for each in instead.values()):
        return Baseline.OTHERS
    if found.verdict is Verdict.UNTESTED:
        return _undefined([data[name] if name else next(iter(data.values())) for name in claim.studies], stand_ins)
    return Baseline.AGREES if found.holds else Baseline.FAILS


def _undefined(looked_at: Sequence[Data], stand_ins: Mapping[str, str]) -> Baseline:
    """Reason why a claim has no value with the baseline; FAILS for runs without one, such as a trend of zeros."""
    needed = [(stand_ins[name], each.study) for each in looked_at for name in each.study.schemes if name in stand_ins]
    if any(not Scheme.accepts(name, key) for name, each in needed for key in each.over if key.startswith("transport.")):
        return Baseline.PARAMETER
    return Baseline.UNTESTED if any(name not in each.schemes for name, each in needed) else Baseline.FAILS
