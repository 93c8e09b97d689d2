"""Sensitivity: repeats figures with every other choice, and with combinations of choices that each move a claim."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from shortflow.lab.choices import changes
from shortflow.lab.condition import amount
from shortflow.lab.figure import Figure
from shortflow.lab.finding import Finding, ranging
from shortflow.lab.study import Scale
from shortflow.papers import ALL, choices, figures
from shortflow.reproduction.engine import Chosen, Judged, Reproduction, followed
from shortflow.reproduction.tried import Outcome, Tried, apart, combined, movers, stands, together, unchanged
from shortflow.scenario import as_pairs

_PAIR, _MOVERS = 2, 6
"""Most movers of a paper of which more than pairs are tried."""

Again = Callable[[Chosen, Sequence[Figure]], Reproduction]
"""Reproduces some figures with other choices."""


@dataclass(frozen=True)
class Other:
    """Another value of a choice, or of several at once, and the claims to check."""

    values: Chosen
    claims: frozenset[str]

    @property
    def text(self) -> str:
        """Text for storage and display."""
        return together(self.values)


@dataclass(frozen=True)
class Shift:
    """A claim under other choices."""

    other: Chosen
    before: Judged
    after: Judged
    reached: bool
    """True if each choice changes a study that the claim reads."""
    changed: bool = True
    """True if a run of these studies has another digest."""

    @property
    def text(self) -> str:
        """The choices as text, for storage and display."""
        return together(self.other)

    @property
    def flips(self) -> bool:
        """True if the verdict changes."""
        return self.before.finding.verdict != self.after.finding.verdict


def outcomes(moved: Sequence[Shift]) -> dict[str, Tried]:
    """Outcomes for each claim, for storage."""
    found: dict[str, Tried] = {}
    for shift in moved:
        tried = found.setdefault(shift.before.claim.id, untouched(shift.before))
        if shift.reached and shift.changed:
            tried["others"][shift.text] = _outcome(shift.after, tried["deciding"])
        elif shift.reached:
            tried.setdefault("unchanged", []).append(shift.text)
    return found


def untouched(judged: Judged) -> Tried:
    """A claim with the default choices, before any other is tried."""
    name = deciding(judged.finding)
    return {"deciding": name, "taken": _outcome(judged, name), "others": {}}


def _outcome(judged: Judged, followed: str) -> Outcome:
    """Verdict with the deciding number, or the followed number if all parts agree."""
    finding = judged.finding
    name = followed if finding.holds and followed in finding.measured else deciding(finding)
    number = finding.measured.get(name)
    text = amount(number, finding.units.get(name, "")) if isinstance(number, int | float) else ""
    outcome: Outcome = {"verdict": finding.verdict.value, "number": text}
    return {**outcome, "part": name} if text and name != followed else outcome


def deciding(finding: Finding) -> str:
    """Name of the number to follow: the deciding one, else the first."""
    return finding.deciding if finding.deciding in finding.measured else next(iter(finding.measured), "")


def choice_entries() -> list[dict[str, Any]]:
    """All choices of all papers: default, and settings of each value."""
    return [
        {
            "name": name,
            "paper": paper,
            "summary": choice.about,
            "taken": choice.taken,
            "values": {value: dict(as_pairs(settings)) for value, settings in choice.values.items()},
        }
        for paper in ALL
        for name, choice in choices(paper).items()
    ]


def reach(paper: str, name: str, value: str) -> tuple[list[str], list[str]]:
    """Figures of a paper that follow a choice at the quick scale, and figures that do not."""
    (change,) = changes(choices(paper), {name: value})
    of_paper = {figure.id: list(figure.studies.values()) for figure in figures().values() if figure.paper == paper}
    follows = {
        name: any(study.follows(Scale.QUICK, change) for study in studies)
        for name, studies in of_paper.items()
        if studies
    }
    return [name for name, yes in follows.items() if yes], [name for name, yes in follows.items() if not yes]


def alternatives(of_figures: Sequence[Figure], chosen: Chosen) -> list[Other]:
    """All values of all choices of the figures' papers, except those in use."""
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


def several(base: Reproduction, known: Mapping[str, Tried], count: int) -> list[Other]:
    """Combinations of so many values of choices that each move the same claim; of more than two, among six a paper."""
    found = {each.claim.id: known[each.claim.id] for each in base.claims if _stands(each, known)}
    moving = {name: movers(tried) for name, tried in found.items()}
    most: dict[str, set[str]] = {}
    for paper in dict.fromkeys(map(_paper, moving)):
        counts = Counter(text for name, texts in moving.items() if _paper(name) == paper for text in texts)
        most[paper] = {text for text, _ in counts.most_common(None if count == _PAIR else _MOVERS)}
    moved: dict[tuple[str, ...], set[str]] = {}
    for name, texts in moving.items():
        for at_once in combined([text for text in texts if text in most[_paper(name)]], count):
            moved.setdefault(at_once, set()).add(name)
    return [Other(dict(map(apart, texts)), frozenset(claims)) for texts, claims in moved.items()]


def planned(base: Reproduction, others: Sequence[Other]) -> int:
    """Most runs of other values: those of the figures that they affect."""
    reached = [_reached(base, other) for other in others]
    return sum(
        figure.runs
        for names in reached
        for figure in base.figures
        if any(one.claim.id in names for one in figure.claims)
    )


def shifts(base: Reproduction, again: Again, other: Other) -> list[Shift]:
    """Effect of other values on each claim; `again` reproduces the affected figures."""
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


def ranged(base: Reproduction, again: Again) -> Reproduction:
    """The reproduction with verdicts over every value of the choices that a paper's numbers leave undecided."""
    found: dict[str, dict[str, Finding]] = {}
    for paper in [] if base.chosen else dict.fromkeys(figure.figure.paper for figure in base.figures):
        of_paper = frozenset(each.claim.id for each in base.claims if _paper(each.claim.id) == paper)
        undecided = [(name, choice.others) for name, choice in choices(paper).items() if choice.undecided]
        for other in [Other({name: value}, of_paper) for name, values in undecided for value in values]:
            for shift in shifts(base, again, other):
                if shift.reached and shift.changed:
                    found.setdefault(shift.before.claim.id, {})[shift.text] = shift.after.finding

    def over(each: Judged) -> Judged:
        return replace(each, finding=ranging(each.finding, found.get(each.claim.id, {})))

    return replace(base, figures=[replace(each, claims=[*map(over, each.claims)]) for each in base.figures])


def untried(base: Reproduction, others: Sequence[Other], known: Mapping[str, Tried]) -> list[Other]:
    """Values whose effect on some affected claim is unknown."""

    def is_known(judged: Judged, text: str) -> bool:
        tried = known.get(judged.claim.id)
        return tried is not None and _stands(judged, known) and text in {*tried["others"], *unchanged(tried)}

    return [
        other
        for other in others
        for reached in [_reached(base, other)]
        if any(each.claim.id in reached and not is_known(each, other.text) for each in base.claims)
    ]


def _stands(judged: Judged, known: Mapping[str, Tried]) -> bool:
    """True if the stored outcomes are of the claim as it is now."""
    tried = known.get(judged.claim.id)
    return tried is not None and stands(tried, untouched(judged))


def _paper(claim: str) -> str:
    return claim.partition("/")[0]


def _reached(base: Reproduction, other: Other) -> set[str]:
    """Claims to check that read a study changed by each of the values."""
    by_value = [_looking_at_moved(base, name, value) for name, value in other.values.items()]
    return set(other.claims).intersection(*by_value)


def _looking_at_moved(base: Reproduction, name: str, value: str) -> set[str]:
    """Claims that read a study changed by another value."""
    if (name, value) not in base.reach:
        base.reach[name, value] = set()
        for each in base.figures:
            now = followed(each.figure, base.scale, {**base.chosen, name: value})
            moved = {study for study, was in each.followed.items() if was != now[study]}
            found = {one.claim.id for one in each.claims if not moved.isdisjoint(each.figure.looked_at(one.claim))}
            base.reach[name, value] |= found
    return base.reach[name, value]
