"""Sensitivity: repeats figures with other values of choices, and with combinations of values that move a claim."""

import random
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from shortflow.api.scenarios import as_pairs
from shortflow_papers.lab.figure import Figure
from shortflow_papers.lab.finding import OVER_SET_UPS, Finding, ranging
from shortflow_papers.lab.quantity import amount
from shortflow_papers.lab.study import Scale
from shortflow_papers.papers import choices, figures, set_ups
from shortflow_papers.reproduction.engine import Chosen, Reproduced, Reproduction, followed_choices
from shortflow_papers.reproduction.judged import Judged
from shortflow_papers.reproduction.tried import Outcome, Tried, combined, number_span, together

_PAIR, _MOVERS = 2, 6
"""Number of values in a pair, and number of values per paper of which larger combinations are made."""

Again = Callable[[Chosen, Sequence[Figure]], Reproduction]
"""Function that reproduces figures with other values of choices."""


@dataclass(frozen=True)
class Other:
    """Other values of one or several choices, and the ids of the claims to check with them."""

    values: Chosen
    claims: frozenset[str] = frozenset()
    set_up: bool = False
    """True for a set-up, which reaches a claim if any of its values does. Otherwise, each value must do so."""

    @property
    def text(self) -> str:
        """The values as text, such as `handshake=on+recovery=sack`."""
        return together(self.values)


@dataclass(frozen=True)
class Shift:
    """A claim before and under other values of choices."""

    other: Other
    before: Judged
    after: Judged
    reached: bool
    """True if each value (for a set-up, any value) changes the settings of a study that the claim reads."""
    changed: bool = True
    """True if a run of these studies has another digest than before."""

    @property
    def flips(self) -> bool:
        """True if the verdict changes."""
        return self.before.finding.verdict != self.after.finding.verdict


def outcomes(moved: Sequence[Shift]) -> dict[str, Tried]:
    """Outcomes by claim, for storage."""
    found: dict[str, Tried] = {}
    for shift in moved:
        tried = found.setdefault(shift.before.claim.id, untouched(shift.before))
        if shift.reached and shift.changed:
            tried.others[shift.other.text] = _outcome(shift.after, tried.deciding)
        elif shift.reached:
            tried.unchanged.append(shift.other.text)
    return found


def untouched(judged: Judged) -> Tried:
    """Outcome of a claim with the choices as taken, without outcomes of other values."""
    name = deciding(judged.finding)
    return Tried(name, _outcome(judged, name))


def _outcome(judged: Judged, followed: str) -> Outcome:
    """Verdict with the deciding number or, if the claim agrees, with the number `followed`."""
    finding = judged.finding
    name = followed if finding.holds and followed in finding.measured else deciding(finding)
    number = finding.measured.get(name)
    text = amount(number, finding.units.get(name, "")) if isinstance(number, int | float) else ""
    return Outcome(finding.verdict.value, text, name if text and name != followed else "")


def deciding(finding: Finding) -> str:
    """Name of the deciding number; without one, that of the first number."""
    return finding.deciding if finding.deciding in finding.measured else next(iter(finding.measured), "")


def choice_entries() -> list[dict[str, Any]]:
    """Plain data on all choices of all papers: the default value, and the settings of each value."""
    return [
        {
            "name": name,
            "paper": paper,
            "summary": choice.about,
            "taken": choice.taken,
            "values": {value: dict(as_pairs(settings)) for value, settings in choice.values.items()},
        }
        for paper in dict.fromkeys(figure.paper for figure in figures().values())
        for name, choice in choices(paper).items()
    ]


def reach(paper: str, name: str, value: str) -> tuple[list[str], list[str]]:
    """Ids of a paper's figures that follow a value of a choice at the quick scale, and of those that do not."""
    follows = {
        figure.id: any(followed_choices(figure, Scale.QUICK, {name: value}).values())
        for figure in figures().values()
        if figure.paper == paper and figure.studies
    }
    return [name for name, yes in follows.items() if yes], [name for name, yes in follows.items() if not yes]


def alternatives(of_figures: Sequence[Figure], chosen: Chosen) -> list[Other]:
    """All values of all choices of the figures' papers, except the values in use."""
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


def combinations_of(base: Reproduction, known: Mapping[str, Tried], count: int) -> list[Other]:
    """Combinations of `count` values of choices of which each alone moves the same claim, in random order.

    Of more than two values, only the `_MOVERS` values of a paper that move the most claims are combined.
    """
    moving = [(each.claim, known[each.claim.id].movers) for each in base.claims if _stands(each, known)]
    most: dict[str, set[str]] = {}
    for paper in dict.fromkeys(claim.paper for claim, _ in moving):
        counts = Counter(text for claim, texts in moving if claim.paper == paper for text in texts)
        most[paper] = {text for text, _ in counts.most_common(None if count == _PAIR else _MOVERS)}
    moved: dict[tuple[str, ...], set[str]] = {}
    for claim, texts in moving:
        for at_once in combined([text for text in texts if text in most[claim.paper]], count):
            moved.setdefault(at_once, set()).add(claim.id)
    found = [Other(dict(text.split("=", 1) for text in texts), frozenset(names)) for texts, names in moved.items()]
    random.Random(1).shuffle(found)  # if time runs out, the combinations tried are a random sample
    return found


def planned(base: Reproduction, others: Sequence[Other]) -> int:
    """Maximum number of runs that other values need: all runs of the figures that they affect."""
    return sum(each.runs for other in others for each in _affected(base, _reached(base, other)))


def shifts(base: Reproduction, again: Again, other: Other) -> list[Shift]:
    """Effect of other values on each claim to check. `again` reproduces the affected figures."""
    reached = _reached(base, other)
    affected = [each.figure for each in _affected(base, reached)]
    reaching = {name: _looking_at_moved(base, name, value) for name, value in other.values.items()}
    # `again` refuses values that change no run of the affected figures.
    acting = {name: other.values[name] for name, claims in reaching.items() if not claims.isdisjoint(other.claims)}
    after = again({**base.chosen, **acting}, affected).figures if affected else []
    by_id = {figure.figure.id: figure for figure in after}
    found = []
    for figure in base.figures:
        again_of = by_id.get(figure.figure.id, figure)
        moved = {name for name, digests in figure.digests.items() if digests != again_of.digests[name]}
        for before, now in zip(figure.claims, again_of.claims, strict=True):
            if before.claim.id in other.claims:
                is_changed = not moved.isdisjoint(figure.figure.looked_at(before.claim))
                found.append(Shift(other, before, now, before.claim.id in reached, is_changed))
    return found


def with_ranges(base: Reproduction, again: Again) -> Reproduction:
    """The reproduction with verdicts that span undecided choices of each paper, and its set-ups.

    With changed choices, the reproduction stays as it is.
    """
    found: dict[str, dict[str, Judged]] = {}
    over_set_ups: dict[str, list[Judged]] = {}
    for paper in [] if base.chosen else dict.fromkeys(each.figure.paper for each in base.figures):
        of_paper = frozenset(each.claim.id for each in base.claims if each.claim.paper == paper)
        undecided = [(name, choice.others) for name, choice in choices(paper).items() if choice.undecided]
        others = [Other({name: value}, of_paper) for name, values in undecided for value in values]
        for shift in [shift for other in others for shift in shifts(base, again, other)]:
            if shift.reached and shift.changed:
                found.setdefault(shift.before.claim.id, {})[shift.other.text] = shift.after
        for values in set_ups(paper):
            for shift in shifts(base, again, Other(values, of_paper, set_up=True)):
                over_set_ups.setdefault(shift.before.claim.id, []).append(shift.after)

    def over(each: Judged) -> Judged:
        others, of_set_ups = found.get(each.claim.id, {}), over_set_ups.get(each.claim.id, [])
        name = deciding(each.finding)
        numbers = [f"{text}{number}" for text, one in others.items() if (number := _outcome(one, name).numbered)]
        if ends := number_span([_outcome(one, name) for one in of_set_ups]):
            numbers.append(f"{OVER_SET_UPS}{ends}")
        findings = {text: one.finding for text, one in others.items()}
        return replace(each, finding=ranging(each.finding, findings, [one.finding for one in of_set_ups], numbers))

    return replace(base, figures=[replace(each, claims=[*map(over, each.claims)]) for each in base.figures])


def untried(base: Reproduction, others: Sequence[Other], known: Mapping[str, Tried]) -> list[Other]:
    """Those of `others` whose effect on at least one reached claim is unknown."""

    def is_known(judged: Judged, text: str) -> bool:
        tried = known.get(judged.claim.id)
        return tried is not None and _stands(judged, known) and text in {*tried.others, *tried.unchanged}

    return [
        other
        for other in others
        for reached in [_reached(base, other)]
        if any(each.claim.id in reached and not is_known(each, other.text) for each in base.claims)
    ]


def _stands(judged: Judged, known: Mapping[str, Tried]) -> bool:
    """True if the stored outcomes are of a claim whose outcome with the choices as taken is still the same."""
    return untouched(judged).stands(known.get(judged.claim.id))


def _affected(base: Reproduction, reached: Collection[str]) -> list[Reproduced]:
    """Figures that have at least one of the reached claims."""
    return [each for each in base.figures if any(one.claim.id in reached for one in each.claims)]


def _reached(base: Reproduction, other: Other) -> set[str]:
    """Claims to check that read, for each value (for a set-up, for any value), a study that the value changes."""
    by_value = [_looking_at_moved(base, name, value) for name, value in other.values.items()]
    return set(other.claims) & set().union(*by_value) if other.set_up else set(other.claims).intersection(*by_value)


def _looking_at_moved(base: Reproduction, name: str, value: str) -> set[str]:
    """Ids of the claims that read a study that a value of a choice changes."""
    if (name, value) not in base.reach:
        base.reach[name, value] = set()
        for each in base.figures:
            now = followed_choices(each.figure, base.scale, {**base.chosen, name: value})
            moved = {study for study, was in each.followed.items() if was != now[study]}
            found = {one.claim.id for one in each.claims if not moved.isdisjoint(each.figure.looked_at(one.claim))}
            base.reach[name, value] |= found
    return base.reach[name, value]
