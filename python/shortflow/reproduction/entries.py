"""Figures, claims and open choices of the papers, as `shortflow list` has them."""

from collections.abc import Mapping, Sequence
from typing import Any

from shortflow import papers
from shortflow.reproduction.sensitivity import choice_entries


def of_papers(kind: str) -> Sequence[Mapping[str, Any]]:
    """Figures, choices, or claims with the recipe that decides each."""
    figures = papers.figures()
    if kind == "figures":
        return [{"name": name, "summary": f"{each.ref}: {each.title}"} for name, each in figures.items()]
    if kind == "choices":
        return choice_entries()
    return [
        {
            "id": claim.id,
            "recipe": figure.id,
            "ref": claim.ref or figure.ref,
            "summary": claim.statement,
            "agrees_if": claim.tolerance,
        }
        for figure in figures.values()
        for claim in figure.claims
    ]
