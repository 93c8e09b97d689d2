"""The survey as plain data (`docs/results.md`). Metrics that a place lacks are absent."""

from typing import Any

from shortflow.results import mean_table
from shortflow.survey import words
from shortflow.survey.engine import Place, Survey, View
from shortflow.survey.schemes import SCHEMES
from shortflow.survey.tables import cells_of, wins
from shortflow.survey.winners import CRITERIA, DISTANCE, Cell, Criterion


def document(found: Survey) -> dict[str, Any]:
    """The survey as plain data."""
    return {
        "scale": found.scale.value,
        "settings": dict(found.settings),
        "seeds": found.seeds,
        "runs": found.runs,
        "seconds": round(found.seconds, 1),
        "alpha_effects": words.alpha_effects(found),
        "views": [_view(view) for view in found.views],
    }


def _view(view: View) -> dict[str, Any]:
    def won(criterion: Criterion, scheme: str) -> dict[str, int]:
        return dict(zip(("alone", "tied"), wins(cells_of(view, criterion), scheme), strict=True))

    return {
        "initial_alpha": view.alpha,
        "conclusions": words.conclusions(view),
        "wins": {each.metric: {scheme: won(each, scheme) for scheme in SCHEMES} for each in CRITERIA},
        "places": [_place(view, place) for place in view.places],
    }


def _place(view: View, place: Place) -> dict[str, Any]:
    comparison = view.places[place]
    metrics = [criterion.metric for criterion in (*CRITERIA, DISTANCE)]
    means = {scheme: {metric: comparison.mean(scheme, metric) for metric in metrics} for scheme in SCHEMES}
    return {
        "workload": place.workload.name,
        "level": place.level,
        "cells": {criterion.metric: _cell(cell) for criterion, cell in view.cells[place].items()},
        "schemes": {
            scheme: {metric: mean_table(each) for metric, each in of_scheme.items() if each}
            for scheme, of_scheme in means.items()
        },
    }


def _cell(cell: Cell) -> dict[str, Any]:
    return {
        "verdict": cell.verdict.value,
        "best": cell.best,
        "p": dict(cell.chances),
        "unfinished": list(cell.unfinished),
    }
