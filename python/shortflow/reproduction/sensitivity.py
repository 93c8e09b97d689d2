"""Which claims depend on what a paper leaves unspecified: the same figures again with every other choice."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from shortflow.lab.choices import changes
from shortflow.lab.figure import Figure
from shortflow.lab.finding import Finding
from shortflow.lab.study import Scale
from shortflow.papers import PAPERS, choices, figures
from shortflow.reproduction.engine import Chosen, Judged, Reproduced, Reproduction, followed
from shortflow.reproduction.tried import Outcome, Tried
from shortflow.scenario import as_pairs

Again = Callable[[Chosen, Sequence[Figure]], Reproduction]
"""Reproduces some figures with other choices."""


@dataclass(frozen=True)
class Shift:
    """A claim under another choice."""

    choice: str
    value: str
    before: Judged
    after: Judged
    reached: bool
    """Whether the choice changes a study that the claim looks at."""

    @property
    def flips(self) -> bool:
        """Whether the verdict changes."""
        return self.before.finding.verdict != self.after.finding.verdict


def outcomes(moved: Sequence[Shift]) -> dict[str, Tried]:
    """What was tried for each claim, to be stored: the number that decides is the same one throughout."""
    found: dict[str, Tried] = {}
    for shift in moved:
        tried = found.setdefault(shift.before.claim.id, {"taken": _taken(shift.before), "others": {}})
        if shift.reached:
            name = deciding(shift.before.finding)
            tried["others"][f"{shift.choice}={shift.value}"] = _outcome(shift.after, name)
    return found


def _taken(judged: Judged) -> Outcome:
    return _outcome(judged, deciding(judged.finding))


def _outcome(judged: Judged, name: str) -> Outcome:
    number = judged.finding.measured.get(name)
    text = f"{number:.4g}" if isinstance(number, int | float) else ""
    return {"verdict": judged.finding.verdict.value, "number": text}


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


def alternatives(of_figures: Sequence[Figure], chosen: Chosen) -> list[tuple[str, str]]:
    """Every value of every choice of the figures' papers but those that are chosen or, without that, taken."""
    papers = dict.fromkeys(figure.paper for figure in of_figures)
    every = [
        (name, value)
        for paper in papers
        for name, choice in choices(paper).items()
        for value in choice.values
        if value != chosen.get(name, choice.taken)
    ]
    return list(dict.fromkeys(every))


def shifts(base: Reproduction, again: Again, name: str, value: str) -> list[Shift]:
    """What another value does to each claim; `again` reproduces the figures that it reaches with other choices."""
    moved = _moved(base, name, value)
    reached = [each.figure for each in base.figures if moved[each.figure.id]]
    after = again({**base.chosen, name: value}, reached).figures if reached else []
    judged = {each.claim.id: each for figure in after for each in figure.claims}
    return [
        Shift(name, value, each, judged.get(each.claim.id, each), _looks_at(figure, each, moved))
        for figure in base.figures
        for each in figure.claims
    ]


def untried(base: Reproduction, other: Sequence[tuple[str, str]], known: Mapping[str, Tried]) -> list[tuple[str, str]]:
    """The values that reach a claim of which is not known what they do to it as it stands now."""

    def is_known(judged: Judged, text: str) -> bool:
        tried = known.get(judged.claim.id)
        return tried is not None and tried["taken"] == _taken(judged) and text in tried["others"]

    return [
        (name, value)
        for name, value in other
        for moved in [_moved(base, name, value)]
        if any(
            _looks_at(figure, each, moved) and not is_known(each, f"{name}={value}")
            for figure in base.figures
            for each in figure.claims
        )
    ]


def _moved(base: Reproduction, name: str, value: str) -> dict[str, set[str]]:
    """For each figure the studies that another value changes."""
    found = {}
    for each in base.figures:
        now = followed(each.figure, base.scale, {**base.chosen, name: value})
        found[each.figure.id] = {study for study, was in each.followed.items() if was != now[study]}
    return found


def _looks_at(figure: Reproduced, judged: Judged, moved: Mapping[str, set[str]]) -> bool:
    return not moved[figure.figure.id].isdisjoint(figure.figure.looked_at(judged.claim))
