"""What becomes of a claim with the baseline in the scheme's place: one that passes says nothing about it."""

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum

from shortflow._core import Scheme
from shortflow.lab.data import Data
from shortflow.lab.figure import Claim
from shortflow.lab.finding import Finding, Verdict


class Baseline(StrEnum):
    """What came of a claim with the baseline in the scheme's place, or why that cannot be asked."""

    AGREES = "agrees too"
    FAILS = "does not agree"
    EQUATION = "an equation"
    ARITHMETIC = "no runs"
    OTHERS = "about other schemes alone"
    PARAMETER = "about a parameter that the baseline does not have"
    UNTESTED = "untested"
    """As the claim is itself, or as the runs have no baseline."""


def with_baseline(
    claim: Claim,
    ours: Finding,
    data: Mapping[str, Data],
    stand_ins: Mapping[str, str],
    decide: Callable[..., Finding],
) -> Baseline:
    """What `decide` says of a claim where each scheme's runs are those of what stands in for it."""
    if claim.kind == "equation" or not claim.studies:
        return Baseline.EQUATION if claim.kind == "equation" else Baseline.ARITHMETIC
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
    """Why a claim has no value with the baseline; one that it leaves without, such as a trend of zeros, fails."""
    needed = [(stand_ins[name], each.study) for each in looked_at for name in each.study.schemes if name in stand_ins]
    if any(not Scheme.accepts(name, key) for name, each in needed for key in each.over if key.startswith("transport.")):
        return Baseline.PARAMETER
    return Baseline.UNTESTED if any(name not in each.schemes for name, each in needed) else Baseline.FAILS
