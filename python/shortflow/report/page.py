"""The report's page: plots, tables and provenance in one HTML file that opens offline. Or its numbers alone."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, TypedDict

from shortflow import _core
from shortflow.measured import MEASURED
from shortflow.quantities import counted
from shortflow.report import markup
from shortflow.report.answer import USUAL, Criteria, answer
from shortflow.report.blocks import Block, Legend, Part, Words, text_section
from shortflow.report.chart import finite
from shortflow.report.figures import charts
from shortflow.report.looks import is_ideal
from shortflow.report.sweep.runs import Swept
from shortflow.report.sweep.view import sweep_part
from shortflow.report.sweep.view import table as sweep_table
from shortflow.report.tables import choices, measured_time, study_section
from shortflow.result import Result
from shortflow.results import Results
from shortflow.runs import git_revision

_Origin = Literal["scheme", "seed", "digest", "finished_at"]
_SUPERSEDED: tuple[_Origin, ...] = ("scheme", "seed", "digest", "finished_at")
_MOST_FAILURES = 3


class StoredFailure(TypedDict):
    """A stored run that failed, for the page and as plain data."""

    scenario: str
    scheme: str
    seed: int
    settings: dict[str, str]
    """Changes by `--set`."""
    error: str


def write(
    path: Path,
    studies: Sequence[Results],
    sweeps: Sequence[Swept] = (),
    failures: Sequence[StoredFailure] = (),
    damages: Sequence[str] = (),
    criteria: Criteria = USUAL,
) -> None:
    """Writes the whole page, or Markdown."""
    shown = parts(studies, sweeps, criteria)
    origins = [*(of.provenance for of in _results(studies)), *(origin for sweep in sweeps for origin in sweep.origins)]
    versions = ", ".join(sorted({each["version"] for each in origins}))
    markup.write(
        path,
        title=", ".join(part.heading for part in shown) or "Shortflow report",
        heading="Shortflow report",
        head=head(studies, sweeps, failures, damages, criteria),
        parts=shown,
        footer=f"Simulated by Shortflow {versions}. Written {markup.now()} by {git_revision() or _core.version()}.",
    )


def parts(studies: Sequence[Results], sweeps: Sequence[Swept], criteria: Criteria) -> list[Part]:
    """A part for each study and sweep."""
    found = [Part(study.title, list(_study_blocks(study, criteria))) for study in studies]
    return [*found, *(sweep_part(sweep) for sweep in sweeps)]


def head(
    studies: Sequence[Results],
    sweeps: Sequence[Swept],
    failures: Sequence[StoredFailure],
    damages: Sequence[str],
    criteria: Criteria,
) -> Iterator[Words]:
    """What the page is about, and what is in no number of it."""
    yield Words(
        f"{_lead(studies, sweeps)} Within a seed every scheme sees the same flows, so differences are paired. "
        f"Intervals are 95 % over the seeds. {criteria.text} {_bins(criteria)}",
        "note",
    )
    if failures:
        text = "failed and are in no number here; the same command tries them again."
        first = " The first:" if len(failures) > _MOST_FAILURES else ""
        yield Words(f"{counted(len(failures), 'run')} {text}{first}")
        yield Words("\n".join(map(_failure, failures[:_MOST_FAILURES])), "note")
    if damages:
        yield Words(f"{counted(len(damages), 'damaged result')} left out:")
        yield Words("\n".join(damages), "note")


def _bins(criteria: Criteria) -> str:
    """Size bins, and the sizes of short and long flows."""
    every = ", ".join(each.label for each in criteria.bins.every)
    short, long = criteria.bins.short.label, criteria.bins.long.label
    return f"Size bins are {every}. Short flows are {short}, long flows {long}."


def _failure(run: StoredFailure) -> str:
    settings = "".join(f", {key} = {value}" for key, value in run["settings"].items())
    return f"{run['scheme']}, seed {run['seed']}{settings}: {run['error']}"


def document(
    studies: Sequence[Results],
    sweeps: Sequence[Swept] = (),
    failures: Sequence[StoredFailure] = (),
    damages: Sequence[str] = (),
    criteria: Criteria = USUAL,
) -> dict[str, Any]:
    """Numbers of the page as plain data: plots and points of each study or sweep."""
    found = {
        "studies": [
            {
                "name": study.scenario,
                "title": study.title,
                "varies": study.x_name,
                "answer": answer(study, criteria).document(),
                "plots": [chart.document for chart in charts(study, list(map(study.require, criteria.metrics)))],
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


def _lead(studies: Sequence[Results], sweeps: Sequence[Swept]) -> str:
    results = _results(studies)
    schemes = {scheme for study in studies for scheme in study.schemes}
    schemes |= {scheme for sweep in sweeps for scheme in sweep.schemes}
    every, results = results, [each for each in results if not _of_ideal(each)] or results
    keys, ideal = {result.provenance["key"] for result in results}, len(every) - len(results)
    count = len(keys.union(origin["key"] for sweep in sweeps for origin in sweep.origins))
    runs = f"{counted(count, 'run')} of {counted(len(schemes), 'scheme')}"
    if ideal:
        runs += f", beside {counted(ideal, 'run')} of ideal schedulers on the same flows"
    if not results:
        return f"{runs}."
    flows = sum(len(result.flows) for result in results)
    simulated = sum(result.meta["end_s"] for result in results)
    of_which = f"; {len(results):,} of the {count:,} have tables, with" if sweeps else ":"
    return f"{runs}{of_which} {flows:,} flows in {simulated:,.1f} simulated seconds."


def _of_ideal(result: Result) -> bool:
    return is_ideal(result.provenance["scheme"])


def _provenance(results: Sequence[Result]) -> str:
    """Number of runs in the table of provenance, and of ideal runs not counted in the head."""
    ideal = sum(map(_of_ideal, results))
    which = f", {ideal:,} of them of ideal schedulers" if 0 < ideal < len(results) else ""
    return f"all {len(results):,} runs{which}" if len(results) > 1 else "the run"


def _study_blocks(study: Results, criteria: Criteria) -> Iterator[Block]:
    """The answer, the charts, all numbers in one table, then traffic, choices and provenance."""
    ranking, x_name = answer(study, criteria), study.x_name or ""
    yield Words("\n".join(ranking.over_points), "answer")
    if x_name:
        yield Part(f"At each {x_name}", [Words("\n".join(ranking.at_points), "note")], folded=True)
    yield Words("\n".join(ranking.caveats), "note")
    everyone = [*study.schemes, *study.ideal_names, *([MEASURED] if study.measured else [])]
    yield Legend(everyone, x_name, [point.label for point in study.points], study.shown_first.label)
    yield from charts(study, ranking.metrics)
    results = _results([study])
    of_packets = [result for result in results if not result.ports.is_empty()]
    if of_packets and all(result.samples.is_empty() for result in of_packets):
        text = "No chart of the queue over time: these runs took no samples."
        yield Words(f"{text} `--set measure.sample_every=1ms` turns them on.", "note")
    yield study_section(study, ranking.metrics, ranking.baseline)
    measured = {measured_time(point) for point in study.points}
    at = f" (at {x_name} {study.points[0].label})" if x_name else ""
    about = f"Scenario `{study.scenario}`{measured.pop() if len(measured) == 1 else ''}. Traffic{at}:"
    own = [study.measured.note] if study.measured else []
    yield Words("\n".join([about, *study.results[0].provenance["traffic_notes"], *own]), "note")
    varies = f"; {x_name} varies and is shown for the first point" if x_name else ""
    yield Part(f"Choices: every value, and where it came from{varies}", choices(results), folded=True)
    heads = (x_name or "settings", "scheme", "seed", "digest", "finished", "seconds", "version")
    runs = [_run(point.label, run) for point in study.points for run in point.results]
    yield Part(f"Provenance: {_provenance(results)}", [text_section("", heads, runs)], folded=True)
    if older := [result.provenance for result in study.superseded]:
        named = (f"{of['scheme']}, seed {of['seed']}, {of['finished_at']}: {of['digest'][:16]}" for of in older)
        heading = f"Superseded by newer runs with the same settings, and left out: {len(older)}"
        yield Part(heading, [Words("\n".join(named), "note")], folded=True)


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
