"""Figures, claims and open choices of the papers, as `shortflow list` shows them."""

from collections.abc import Iterator, Sequence
from typing import Any

from shortflow.api.commands import Entry, Listed, note
from shortflow_papers import papers
from shortflow_papers.lab.figure import Figure
from shortflow_papers.reproduction.sensitivity import choice_entries, reach


def _known() -> dict[str, Figure]:
    """All figures by id. Prints a note on each paper that cannot be used."""
    for each in papers.unheard():
        note(f"left out: {each}")
    return papers.figures()


def _figures() -> list[dict[str, Any]]:
    return [{"name": name, "summary": f"{each.ref}: {each.title}"} for name, each in _known().items()]


def _claims() -> list[dict[str, Any]]:
    """Entries of all claims, with the id of the figure that decides each."""
    return [
        {
            "id": claim.id,
            "recipe": figure.id,
            "ref": claim.ref or figure.ref,
            "summary": claim.statement,
            "agrees_if": claim.tolerance,
        }
        for figure in _known().values()
        for claim in figure.claims
    ]


def _choices() -> list[dict[str, Any]]:
    _known()
    return choice_entries()


def _of_claim(entry: Entry) -> Iterator[str]:
    """Lines on a claim: its place in the paper, its figure, and its condition."""
    yield f"{entry['ref']}, decided by {entry['recipe']}"
    yield f"agrees if: {entry['agrees_if']}"


def _of_choice(entry: Entry) -> Iterator[str]:
    """Lines on a choice: each value with its settings and the figures that follow it."""
    texts = {
        value: ", ".join(f"{key}={new}" for key, new in settings.items()) for value, settings in entry["values"].items()
    }
    taken = texts[entry["taken"]]
    for value, made in texts.items():
        reached = entry["reaches"].get(value)
        if reached is None:
            text = "what recipes take"
        elif reached["others"] and not reached["figures"]:
            text = f"at the quick scale reaches no figure; a study follows the choice only if it has {taken}"
        elif len(reached["others"]) <= len(reached["figures"]):
            but = f" but {_short(reached['others'])}" if reached["others"] else ""
            text = f"at the quick scale reaches all figures with runs{but}"
        else:
            text = f"at the quick scale reaches {_short(reached['figures'])}"
        yield f"{value}: {made}; {text}"


def _with_reaches(entry: Entry) -> Entry:
    """The entry of a choice. Each alternative value has the figures that follow it, and the other figures of the paper.

    A figure follows a value if a study of the figure does so at the quick scale.
    """
    reaches = {}
    for value in entry["values"]:
        if value != entry["taken"]:
            following, others = reach(entry["paper"], entry["name"], value)
            reaches[value] = {"figures": following, "others": others}
    return {**entry, "reaches": reaches}


def _short(figures: Sequence[str]) -> str:
    return ", ".join(figure.partition("/")[2] for figure in figures)


FIGURES = Listed(_figures)
CLAIMS = Listed(_claims, _of_claim)
CHOICES = Listed(_choices, _of_choice, _with_reaches, "which figures follow each value")
