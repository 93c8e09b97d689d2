"""Which claims depend on what a paper leaves unspecified: the same figures again with every other choice, and with two
others at once where each by itself moves a claim.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from shortflow.lab.amounts import amount
from shortflow.lab.choices import changes
from shortflow.lab.figure import Figure
from shortflow.lab.finding import Finding
from shortflow.lab.study import Scale
from shortflow.papers import PAPERS, choices, figures
from shortflow.reproduction.engine import Chosen, Judged, Reproduction, followed
from shortflow.reproduction.tried import Outcome, Tried, apart, pairs_of_movers, stands, together, unchanged
from shortflow.scenario import as_pairs

Again = Callable[[Chosen, Sequence[Figure]], Reproduction]
"""Reproduces some figures with other choices."""


@dataclass(frozen=True)
class Other:
    """Another value of a choice, or of two at once, and the claims to look at."""

    values: Chosen
    claims: frozenset[str]

    @property
    def text(self) -> str:
        """As it is stored and shown."""
        return together(self.values)


@dataclass(frozen=True)
class Shift:
    """A claim under other choices."""

    other: Chosen
    before: Judged
    after: Judged
    reached: bool
    """Whether each of the choices changes a study that the claim looks at."""
    changed: bool = True
    """Whether a run of these studies has another digest."""

    @property
    def text(self) -> str:
        """The choices as they are stored and shown."""
        return together(self.other)

    @property
    def flips(self) -> bool:
        """Whether the verdict changes."""
        return self.before.finding.verdict != self.after.finding.verdict


def outcomes(moved: Sequence[Shift]) -> dict[str, Tried]:
    """What was tried for each claim, to be stored."""
    found: dict[str, Tried] = {}
    for shift in moved:
        tried = found.setdefault(shift.before.claim.id, untouched(shift.before))
        if shift.reached and shift.changed:
            tried["others"][shift.text] = _outcome(shift.after, tried["deciding"])
        elif shift.reached:
            tried.setdefault("unchanged", []).append(shift.text)
    return found


def untouched(judged: Judged) -> Tried:
    """A claim with the choices taken, before any other is tried."""
    name = deciding(judged.finding)
    return {"deciding": name, "taken": _outcome(judged, name), "others": {}}


def _outcome(judged: Judged, followed: str) -> Outcome:
    """The number that decides; where all parts agree none does, so the one that is followed."""
    finding = judged.finding
    name = followed if finding.holds and followed in finding.measured else deciding(finding)
    number = finding.measured.get(name)
    text = amount(number, finding.units.get(name, "")) if isinstance(number, int | float) else ""
    outcome: Outcome = {"verdict": finding.verdict.value, "number": text}
    return {**outcome, "part": name} if text and name != followed else outcome


def deciding(finding: Finding) -> str:
    """The name of the number to follow: the one that decides, or else the first."""
    return finding.deciding if finding.deciding in finding.measured else next(iter(finding.measured), "")


def choice_entries() -> list[dict[str, Any]]:
    """Every choice of every paper: the value taken, and the settings that make each value."""
    return [
        {
            "name": name,
            "paper": paper,
            "summary": choice.about,
            "taken": choice.taken,
            "values": {value: dict(as_pairs(settings)) for value, settings in choice.values.items()},
        }
        for paper in PAPERS
        for name, choice in choices(paper).items()
    ]


def reach(paper: str, name: str, value: str) -> tuple[list[str], list[str]]:
    """The figures of a paper with a run that follows a choice at the quick scale, and those with runs that do not."""
    (change,) = changes(choices(paper), {name: value})
    of_paper = {figure.id: list(figure.studies.values()) for figure in figures().values() if figure.paper == paper}
    follows = {
        name: any(study.follows(Scale.QUICK, change) for study in studies)
        for name, studies in of_paper.items()
        if studies
    }
    return [name for name, yes in follows.items() if yes], [name for name, yes in follows.items() if not yes]


def alternatives(of_figures: Sequence[Figure], chosen: Chosen) -> list[Other]:
    """Every value of every choice of the figures' papers but those that are chosen or, without that, taken."""
    papers = dict.fromkeys(figure.paper for figure in of_figures)
    every = frozenset(claim.id for figure in of_figures for claim in figure.claims)
    found = [
        (name, value)
        for paper in papers
        for name, choice in choices(paper).items()
        for value in choice.values
        if value != chosen.get(name, choice.taken)
    ]
    return [Other({name: value}, every) for name, value in dict.fromkeys(found)]


def pairs(base: Reproduction, known: Mapping[str, Tried]) -> list[Other]:
    """The values of two choices of which each by itself moves one and the same claim."""
    moved: dict[tuple[str, str], set[str]] = {}
    for judged in base.claims:
        tried = known.get(judged.claim.id)
        if tried is None or not stands(tried, untouched(judged)):
            continue
        for pair in pairs_of_movers(tried):
            moved.setdefault(pair, set()).add(judged.claim.id)
    return [Other(dict(map(apart, texts)), frozenset(claims)) for texts, claims in moved.items()]


def shifts(base: Reproduction, again: Again, other: Other) -> list[Shift]:
    """What other values do to each claim; `again` reproduces the figures that they reach with other choices."""
    reached = _reached(base, other)
    again_with = [each.figure for each in base.figures if any(one.claim.id in reached for one in each.claims)]
    after = again({**base.chosen, **other.values}, again_with).figures if again_with else []
    by_id = {figure.figure.id: figure for figure in after}
    found = []
    for figure in base.figures:
        again_of = by_id.get(figure.figure.id, figure)
        moved = {name for name, digests in figure.digests.items() if digests != again_of.digests[name]}
        for before, now in zip(figure.claims, again_of.claims, strict=True):
            if before.claim.id in other.claims:
                is_changed = not moved.isdisjoint(figure.figure.looked_at(before.claim))
                found.append(Shift(other.values, before, now, before.claim.id in reached, is_changed))
    return found


def untried(base: Reproduction, others: Sequence[Other], known: Mapping[str, Tried]) -> list[Other]:
    """The values that reach a claim of which is not known what they do to it as it stands now."""

    def is_known(judged: Judged, text: str) -> bool:
        tried = known.get(judged.claim.id)
        return tried is not None and stands(tried, untouched(judged)) and text in {*tried["others"], *unchanged(tried)}

    return [
        other
        for other in others
        for reached in [_reached(base, other)]
        if any(each.claim.id in reached and not is_known(each, other.text) for each in base.claims)
    ]


def _reached(base: Reproduction, other: Other) -> set[str]:
    """The claims to look at that look at a study which each of the values changes."""
    by_value = [_looking_at_moved(base, name, value) for name, value in other.values.items()]
    return set(other.claims).intersection(*by_value)


def _looking_at_moved(base: Reproduction, name: str, value: str) -> set[str]:
    """The claims that look at a study which another value changes."""
    found = set()
    for each in base.figures:
        now = followed(each.figure, base.scale, {**base.chosen, name: value})
        moved = {study for study, was in each.followed.items() if was != now[study]}
        found |= {one.claim.id for one in each.claims if not moved.isdisjoint(each.figure.looked_at(one.claim))}
    return found
