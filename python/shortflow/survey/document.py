"""The survey as other programs read it."""

from typing import TypedDict

from shortflow.comparison import MeanTable
from shortflow.survey.engine import Survey
from shortflow.survey.schemes import SCHEMES
from shortflow.survey.winners import CRITERIA, DISTANCE, winners


class PlaceTable(TypedDict):
    """A workload at a level: who wins by which metric, and the means of all schemes."""

    workload: str
    level: float
    winners: dict[str, list[str]]
    schemes: dict[str, dict[str, MeanTable]]


class Document(TypedDict):
    """A whole survey."""

    scale: str
    settings: dict[str, str]
    seeds: int
    runs: int
    seconds: float
    places: list[PlaceTable]


def document(found: Survey) -> Document:
    """The survey as plain data; a metric that a place does not have is absent."""
    metrics = [criterion.metric for criterion in (*CRITERIA, DISTANCE)]
    places: list[PlaceTable] = []
    for place, comparison in found.places.items():
        won = {criterion.metric: winners(comparison, criterion) for criterion in CRITERIA}
        means = {scheme: {metric: comparison.estimate(scheme, metric) for metric in metrics} for scheme in SCHEMES}
        places.append(
            {
                "workload": place.workload.name,
                "level": place.level,
                "winners": {metric: list(each.names) for metric, each in won.items() if each},
                "schemes": {
                    scheme: {
                        metric: {"mean": e.value, "ci95": None if e.ci95 is None else list(e.ci95), "n": e.n}
                        for metric, e in of_scheme.items()
                        if e
                    }
                    for scheme, of_scheme in means.items()
                },
            }
        )
    return {
        "scale": found.scale.value,
        "settings": dict(found.settings),
        "seeds": found.seeds,
        "runs": found.runs,
        "seconds": round(found.seconds, 1),
        "places": places,
    }
