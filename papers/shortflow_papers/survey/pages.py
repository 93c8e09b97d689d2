"""Report of the survey: a page with heat maps and tables, and plain data, which `docs/results.md` describes."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shortflow.api.charts import Chart, heat
from shortflow.api.charts import words as words_of
from shortflow.api.files import Kind, check_replaceable, write_text
from shortflow.api.judge import CONFIDENCE, USUAL, difference_table, mean_table
from shortflow.api.pages import NOTHING, Block, PagePart, Section, Words, now, number, part, text_section, write_blocks
from shortflow.api.runs import Results
from shortflow_papers.reproduction.tried import in_lines
from shortflow_papers.survey import words
from shortflow_papers.survey.engine import Survey, SurveyPlace, View
from shortflow_papers.survey.schemes import LEFT_OUT, SCHEMES
from shortflow_papers.survey.tables import (
    ALONE,
    CLOSE,
    DAGGER,
    cells_of,
    matrix,
    participants,
    wins,
    wins_section,
    workload_section,
)
from shortflow_papers.survey.winners import AFCT, CRITERIA, GOODPUT, MISSES, OVER_IDEAL, P99, Cell, Criterion

_LEAST = 1e-3
"""Smallest ratio in a heat map, because logarithmic colours need positive numbers."""

TITLE = "Beyond the papers: who wins where"
LEAD = (
    f"{len(SCHEMES)} schemes on the main workload of each of the five papers, and on four published distributions of "
    "flow sizes. None of the papers has this table."
)
READING = (
    "A cell is one criterion at one level of a workload. Cells are decided like answers of `shortflow compare`: the "
    "scheme with the best mean is compared with every other on the same seeds (Hsu's comparison with the best). The "
    f"intervals of their ratios together have {100 * CONFIDENCE:g} % confidence, and allow for timeouts and late flows "
    "that no seed had. A scheme may be the best unless its whole interval is worse. Schemes tie if their ratio is "
    f"within {100 * USUAL.ties[0]:g} % of 1, and its interval within {100 * USUAL.ties[1]:g} %.",
    f"A sole winner ({ALONE}) is the only scheme that may be the best, at a false discovery rate of "
    f"{100 * (1 - CONFIDENCE):.0f} % over all cells of both initial alphas (Benjamini and Hochberg). Several names "
    f"({CLOSE} in the tables of numbers) tie if the cell says so. Otherwise they are not told apart, in the order of "
    "their means, which does not show that they are equal. A cell is undecided if all schemes may be the best (the "
    "cell has their number), or if a sole winner, which is named, fails the correction.",
    f"A scheme with a dagger ({DAGGER}) left flows unfinished at some seed. These flows count with their age at "
    "the end, so times are lower bounds. If several schemes left flows unfinished, their means are compared with each "
    "flow counted up to one age, as far as this leaves out few flows.",
    "Over ideal is the mean completion time of short flows relative to ideal SRPT on the same flows: a fluid link "
    "without loss that knows all sizes. Goodput of long flows is their payload over their total time.",
    "Every scheme has its paper's parameters, except for the initial alpha. No scheme is tuned to a workload. K, "
    "buffers, RTOmin and initial window belong to the workload and are the same for all. pFabric's own paper has "
    "smaller buffers and a shorter RTO. xDCTCP knows the class of each flow, and D2TCP the deadline.",
)


def check_survey_page(out: Path) -> None:
    """Raises `ConfigError` if the page would replace a file of another kind below `out`."""
    check_replaceable(out / "beyond.html", Kind.PAGE)


def write_survey_page(found: Survey, out: Path) -> Path:
    """Writes `beyond.html`, and its content without maps as `beyond.json`, below `out`. Returns the page's path."""
    content = _content(found)
    write_text(out / "beyond.json", in_lines(content, 2) + "\n", Kind.CHECKED)
    maps = [_heat_map(view, each) for view in found.views for each in _MAPS if cells_of(view, each.won_by)]
    html = out / "beyond.html"
    head = [Words(LEAD), Words(f"{content['state']} Differences between schemes are paired.", "note")]
    write_blocks(html, title=f"Shortflow: {TITLE}", heading=TITLE, head=head, parts=_parts(content, maps), footer=now())
    return html


def survey_evidence(content: dict[str, Any]) -> str:
    """HTML of the content of `beyond.json` for the project's site."""
    return part("report/notebook.html", blocks=[Words(content["state"]), *_parts(content)], chart="")


def _parts(content: dict[str, Any], maps: Sequence[Chart] = ()) -> list[PagePart]:
    """Parts of the page: findings, explanations, tables and workloads."""
    findings: list[Block] = [Words(content["about_alpha"])]
    findings += [PagePart(heading, [Words("\n".join(said), "note")]) for heading, said in content["conclusions"]]
    if content["alpha_effects"]:
        findings.append(PagePart("Effects of the initial alpha", [Words("\n".join(content["alpha_effects"]), "note")]))
    tables = [
        PagePart(each["heading"], [text_section("", each["heads"], each["rows"])], folded=True)
        for each in content["tables"]
    ]
    workloads = "\n".join(f"`{name}`: {about}." for name, about in content["workloads"])
    return [
        PagePart("Findings", [*findings, *maps]),
        PagePart("How to read the tables", [Words(each) for each in content["reading"]]),
        PagePart("Tables", tables),
        PagePart("Workloads", [Words(workloads, "note"), Words(content["left_out"])]),
    ]


def _content(found: Survey) -> dict[str, Any]:
    """Content of the page without maps, as plain data: sentences and tables."""
    workloads = dict.fromkeys(place.workload for view in found.views for place in view.places)
    changed = "".join(f" Changed: {key}={value}." for key, value in found.settings.items())
    tables = [*map(matrix, found.views), wins_section(found)]
    tables += [workload_section(view, each.name) for each in workloads for view in found.views]
    return {
        "state": f"Scale {found.scale.value}, {found.seeds} seeds, {found.runs} runs. "
        f"Means ± 95 % over the seeds.{changed}",
        "about_alpha": words.about_alpha(found),
        "conclusions": [[f"With initial {view.label}", words.conclusions(view)] for view in found.views],
        "alpha_effects": words.alpha_effects(found),
        "reading": [*READING, words.about_seeds(found)],
        "workloads": [[each.name, each.about] for each in workloads],
        "tables": [_table(each) for each in (*tables, participants())],
        "left_out": "The survey leaves out: " + "; ".join(f"{name} ({why})" for name, why in LEFT_OUT.items()) + ".",
    }


def _table(section: Section) -> dict[str, Any]:
    heads = [column.header for column in section.all]
    return {"heading": section.heading, "heads": heads, "rows": [list(row) for row in section.rows]}


@dataclass(frozen=True)
class _Shown:
    """Declaration of a heat map: its metric, heading and unit."""

    criterion: Criterion
    heading: str
    unit: str
    best: Callable[[Iterable[float]], float] | None = None
    """Chooses the reference among the values, `min` or `max`; None for values that are not relative."""

    @property
    def won_by(self) -> Criterion:
        """Criterion whose winners are bold. Distance from ideal has the winners of mean FCT."""
        return AFCT if self.criterion is OVER_IDEAL else self.criterion


_MAPS = (
    _Shown(OVER_IDEAL, "Mean completion time of short flows over ideal SRPT's", "times ideal"),
    _Shown(P99, "99th percentile of short flows' completion times over the best scheme's", "times the best", min),
    _Shown(MISSES, "Deadlines missed by short flows", "%"),
    _Shown(GOODPUT, "Goodput of long flows in per cent of the best scheme's", "% of the best", max),
)
_BOLD = f"bold: the best, tied with it, or not told apart from it; {DAGGER}: flows unfinished"


def _heat_map(view: View, what: _Shown) -> Chart:
    """Heat map of schemes by workload and level, with winners in bold.

    Colours follow the displayed, rounded numbers, so that equal numbers have equal colours. The scale of ratios is
    logarithmic, and that of percentages linear.
    """
    cells = cells_of(view, what.won_by)
    percent = what.unit.startswith("%")
    rows = []
    for place, cell in cells.items():
        found = _relative(view.places[place], cell, what, 100 if percent else 1)
        for scheme in SCHEMES:
            value = found.get(scheme)
            said = (NOTHING if value is None else number(value)) + f" {DAGGER}" * (scheme in cell.unfinished)
            rows.append(
                {"x": place.name, "y": scheme, "value": value if percent or value is None else max(value, _LEAST)}
                | {"said": said, "bold": value is not None and cell.wins(scheme)}
            )
    x = words_of("x", "workload", [place.name for place in cells], axis={"labelAngle": -45})
    y = words_of("y", "scheme", SCHEMES)
    colours = "blues" if what.criterion.about.more_is_better else "oranges"
    heading = f"{what.heading} ({what.unit}), {view.label}; {_BOLD}"
    panel = heat(rows, x, y, what.unit, log=not percent, colours=colours)
    return Chart(f"{what.criterion.metric}-{view.label}", heading, "", rows, [panel], wide=True)


def _relative(comparison: Results, cell: Cell, what: _Shown, factor: int) -> dict[str, float]:
    """Mean of the metric for each scheme that has it, times `factor`, rounded as shown.

    If the map has a reference, means are relative to it. They are empty if every scheme left flows unfinished, because
    there is then no reference.
    """
    means = {scheme: each.value for scheme in SCHEMES if (each := comparison.mean(scheme, what.criterion.metric))}
    exact = [value for scheme, value in means.items() if scheme not in cell.unfinished]
    if what.best and not exact:
        return {}
    reference = what.best(exact) if what.best else 1.0
    return {scheme: round(float(f"{factor * value / reference:.3g}"), 3) for scheme, value in means.items()}


def survey_table(found: Survey) -> dict[str, Any]:
    """The survey as plain data. Metrics that a place does not have are absent."""
    return {
        "scale": found.scale.value,
        "settings": dict(found.settings),
        "seeds": found.seeds,
        "runs": found.runs,
        "seconds": round(found.seconds, 1),
        "alpha_effects": words.alpha_effects(found),
        "views": [_view_table(view) for view in found.views],
    }


def _view_table(view: View) -> dict[str, Any]:
    def won(criterion: Criterion, scheme: str) -> dict[str, int]:
        return dict(zip(("alone", "tie", "not_told_apart"), wins(cells_of(view, criterion), scheme), strict=True))

    return {
        "initial_alpha": view.alpha,
        "conclusions": words.conclusions(view),
        "wins": {each.metric: {scheme: won(each, scheme) for scheme in SCHEMES} for each in CRITERIA},
        "places": [_place_table(view, place) for place in view.places],
    }


def _place_table(view: View, place: SurveyPlace) -> dict[str, Any]:
    comparison = view.places[place]
    metrics = [criterion.metric for criterion in (*CRITERIA, OVER_IDEAL)]
    means = {scheme: {metric: comparison.mean(scheme, metric) for metric in metrics} for scheme in SCHEMES}
    return {
        "workload": place.workload.name,
        "level": place.level,
        "cells": {
            criterion.metric: {
                "verdict": cell.outcome,
                "best": cell.best,
                "lead": {each.scheme: difference_table(each.lead) for each in cell.line.standings if each.lead},
                "unfinished": list(cell.unfinished),
            }
            for criterion, cell in view.cells[place].items()
        },
        "schemes": {
            scheme: {metric: mean_table(each) for metric, each in of_scheme.items() if each}
            for scheme, of_scheme in means.items()
        },
    }
