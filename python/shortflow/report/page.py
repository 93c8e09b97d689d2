"""The report's page: plots, tables and provenance in one HTML file that opens offline. Or its numbers alone."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal, TypedDict

from shortflow import _core
from shortflow.measured import MEASURED
from shortflow.report.answer import CORRECTED, answer
from shortflow.report.chart import Chart, finite
from shortflow.report.figures import charts
from shortflow.report.looks import is_ideal
from shortflow.report.markup import page
from shortflow.report.sweep.runs import Swept
from shortflow.report.sweep.view import SweepView
from shortflow.report.sweep.view import table as sweep_table
from shortflow.report.sweep.view import view as sweep_view
from shortflow.report.tables import Section, measured_time, study_section
from shortflow.result import Result
from shortflow.results import Results
from shortflow.runs import git_revision
from shortflow.scenario import Setting

_SUPERSEDED: tuple[Literal["scheme", "seed", "digest", "finished_at"], ...] = (
    "scheme",
    "seed",
    "digest",
    "finished_at",
)


@dataclass(frozen=True)
class StudyView:
    """A study for the template."""

    study: Results
    words: Sequence[str]
    """A sentence for each headline metric."""
    by_point: Sequence[str]
    caveats: Sequence[str]
    legend: Sequence[str]
    points: Sequence[str]
    at: str
    """The point shown first."""
    charts: Sequence[Chart]
    without_samples: bool
    numbers: Section
    measured_time: str
    """Empty if points differ."""
    traffic_notes: Sequence[str]
    choices: Sequence[tuple[str, Sequence[Setting]]]
    """All values used by the runs, by owner."""
    provenance: str
    """Runs in the table of provenance, in words."""
    runs: Sequence[Sequence[str]]
    """Provenance of the numbers: one row per run."""


class StoredFailure(TypedDict):
    """A stored run that failed, for the page and as plain data."""

    scenario: str
    scheme: str
    seed: int
    settings: dict[str, str]
    """Changes by `--set`."""
    error: str


def render(
    studies: Sequence[Results],
    sweeps: Sequence[Swept] = (),
    failures: Sequence[StoredFailure] = (),
    damages: Sequence[str] = (),
    baseline: str | None = None,
    metrics: Sequence[str] = (),
) -> str:
    """Renders the whole page."""
    results = _results(studies)
    shown = [sweep_view(sweep) for sweep in sweeps]
    origins = [*(of.provenance for of in results), *(origin for sweep in sweeps for origin in sweep.origins)]
    return page(
        "report/page.html",
        titles=[study.title for study in studies] + [each.sweep.title for each in shown],
        lead=_lead(studies, results, shown),
        corrected=CORRECTED,
        views=[_view(study, baseline, metrics) for study in studies],
        sweeps=shown,
        failures=failures,
        damages=damages,
        versions=", ".join(sorted({each["version"] for each in origins})),
        written=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        revision=git_revision() or f"version {_core.version()}",
    )


def document(
    studies: Sequence[Results],
    sweeps: Sequence[Swept] = (),
    failures: Sequence[StoredFailure] = (),
    damages: Sequence[str] = (),
    baseline: str | None = None,
    metrics: Sequence[str] = (),
) -> dict[str, Any]:
    """Numbers of the page as plain data: plots and points of each study or sweep."""
    found = {
        "studies": [
            {
                "name": study.scenario,
                "title": study.title,
                "varies": study.x_name,
                "answer": answer(study, list(map(study.require, metrics)), baseline).document(),
                "plots": [chart.document for chart in charts(study, list(map(study.require, metrics)))],
                "points": [{"at": point.label, "comparison": point.document()} for point in study.points],
                "superseded": [{name: each.provenance[name] for name in _SUPERSEDED} for each in study.superseded],
            }
            for study in studies
        ],
        "sweeps": [sweep_table(sweep) for sweep in sweeps],
        "failed": failures,
        "damaged": damages,
    }
    plain: dict[str, Any] = finite(found)
    return plain


def _results(studies: Sequence[Results]) -> list[Result]:
    return [run for study in studies for run in study.results]


def _lead(studies: Sequence[Results], results: Sequence[Result], sweeps: Sequence[SweepView]) -> str:
    schemes = {scheme for study in studies for scheme in study.schemes}
    schemes |= {scheme for view in sweeps for scheme in view.sweep.schemes}
    every, results = results, [each for each in results if not _of_ideal(each)] or results
    keys, ideal = {result.provenance["key"] for result in results}, len(every) - len(results)
    count = len(keys.union(origin["key"] for view in sweeps for origin in view.sweep.origins))
    runs = f"{_counted(count, 'run')} of {_counted(len(schemes), 'scheme')}"
    if ideal:
        runs += f", beside {_counted(ideal, 'run')} of ideal schedulers on the same flows"
    if not results:
        return f"{runs}."
    flows = sum(len(result.flows) for result in results)
    simulated = sum(result.meta["end_s"] for result in results)
    of_which = f"; {len(results):,} of the {count:,} have tables, with" if sweeps else ":"
    return f"{runs}{of_which} {flows:,} flows in {simulated:,.1f} simulated seconds."


def _of_ideal(result: Result) -> bool:
    return is_ideal(result.provenance["scheme"])


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}{'s' * (count != 1)}"


def _provenance(results: Sequence[Result]) -> str:
    """Number of runs in the table of provenance, and of ideal runs not counted in the head."""
    ideal = sum(map(_of_ideal, results))
    which = f", {ideal:,} of them of ideal schedulers" if 0 < ideal < len(results) else ""
    return f"all {len(results):,} runs{which}" if len(results) > 1 else "the run"


def _view(study: Results, baseline: str | None, metrics: Sequence[str]) -> StudyView:
    measured = {measured_time(point) for point in study.points}
    of_packets = [result for result in _results([study]) if not result.ports.is_empty()]
    ranking = answer(study, list(map(study.require, metrics)), baseline)
    return StudyView(
        study,
        ranking.over_points,
        ranking.at_points if study.x_name else (),
        ranking.caveats,
        [*study.schemes, *study.ideal_names, *([MEASURED] if study.measured else [])],
        [point.label for point in study.points],
        study.shown_first.label,
        charts(study, ranking.metrics),
        bool(of_packets) and all(result.samples.is_empty() for result in of_packets),
        study_section(study, ranking.metrics, ranking.baseline),
        measured.pop() if len(measured) == 1 else "",
        study.results[0].provenance["traffic_notes"],
        list(_choices(study)),
        _provenance(_results([study])),
        [_run(point.label, run) for point in study.points for run in point.results],
    )


def _choices(study: Results) -> Iterator[tuple[str, Sequence[Setting]]]:
    yield "Scenario", study.results[0].provenance["scenario_settings"]
    by_scheme = {result.provenance["scheme"]: result.provenance["scheme_settings"] for result in _results([study])}
    for scheme, settings in by_scheme.items():
        if settings:
            yield f"Scheme {scheme}", settings


def _run(label: str, result: Result) -> Sequence[str]:
    origin = result.provenance
    return (
        label or "as shipped",
        origin["scheme"],
        str(origin["seed"]),
        origin["digest"][:16],
        origin["finished_at"],
        f"{origin['wall_s']:.2f}",
        f"{origin['version']} {(origin['revision'] or origin['build'])[:19]}",
    )
