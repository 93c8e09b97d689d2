"""The survey as other programs read it."""

from typing import TypedDict

from shortflow.comparison import MeanTable, mean_table
from shortflow.survey import words
from shortflow.survey.engine import Place, Survey, View
from shortflow.survey.schemes import SCHEMES
from shortflow.survey.tables import cells_of, wins
from shortflow.survey.winners import CRITERIA, DISTANCE, Cell


class CellTable(TypedDict):
    """A criterion at a place."""

    verdict: str
    """alone, tie, undecided or alike."""
    best: list[str]
    """The schemes that may be the best, in the order of their means."""
    p: dict[str, float]
    """For each scheme that finished its flows, the p-value of "no other is better"."""
    unfinished: list[str]


class PlaceTable(TypedDict):
    """A workload at a level: who wins by which metric, and the means of all schemes."""

    workload: str
    level: float
    cells: dict[str, CellTable]
    schemes: dict[str, dict[str, MeanTable]]


class WinsTable(TypedDict):
    """In how many cells a scheme is alone the best, and in how many it ties."""

    alone: int
    tied: int


class ViewTable(TypedDict):
    """Everything at one initial alpha."""

    initial_alpha: str
    conclusions: list[str]
    wins: dict[str, dict[str, WinsTable]]
    """By metric and scheme."""
    places: list[PlaceTable]


class Document(TypedDict):
    """A whole survey."""

    scale: str
    settings: dict[str, str]
    seeds: int
    runs: int
    seconds: float
    alpha_effects: list[str]
    views: list[ViewTable]


def document(found: Survey) -> Document:
    """The survey as plain data; a metric that a place does not have is absent."""
    return {
        "scale": found.scale.value,
        "settings": dict(found.settings),
        "seeds": found.seeds,
        "runs": found.runs,
        "seconds": round(found.seconds, 1),
        "alpha_effects": words.alpha_effects(found),
        "views": [_view(view) for view in found.views],
    }


def _view(view: View) -> ViewTable:
    counts: dict[str, dict[str, WinsTable]] = {}
    for criterion in CRITERIA:
        of_scheme = {scheme: wins(cells_of(view, criterion), scheme) for scheme in SCHEMES}
        counts[criterion.metric] = {s: {"alone": alone, "tied": tied} for s, (alone, tied) in of_scheme.items()}
    return {
        "initial_alpha": view.alpha,
        "conclusions": words.conclusions(view),
        "wins": counts,
        "places": [_place(view, place) for place in view.places],
    }


def _place(view: View, place: Place) -> PlaceTable:
    comparison = view.places[place]
    metrics = [criterion.metric for criterion in (*CRITERIA, DISTANCE)]
    means = {scheme: {metric: comparison.estimate(scheme, metric) for metric in metrics} for scheme in SCHEMES}
    return {
        "workload": place.workload.name,
        "level": place.level,
        "cells": {criterion.metric: _cell(cell) for criterion, cell in view.cells[place].items()},
        "schemes": {
            scheme: {metric: mean_table(each) for metric, each in of_scheme.items() if each}
            for scheme, of_scheme in means.items()
        },
    }


def _cell(cell: Cell) -> CellTable:
    return {
        "verdict": cell.verdict.value,
        "best": cell.best,
        "p": dict(cell.chances),
        "unfinished": list(cell.unfinished),
    }
