"""Page of the report: charts, tables and provenance in one HTML file that opens offline, or its numbers as data."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from shortflow import _core
from shortflow.criteria import USUAL, Criteria
from shortflow.quantities import counted
from shortflow.report import markup
from shortflow.report.answer import answer
from shortflow.report.blocks import Block, Legend, PagePart, Words, text_section
from shortflow.report.chart import Chart, finite_only
from shortflow.report.document import results_table
from shortflow.report.figures import charts, shown_first
from shortflow.report.notes import notes_on_settings
from shortflow.report.pauses import pause_blocks
from shortflow.report.tables import measured_time, settings_sections, study_section
from shortflow.report.wording import everyone, sizes_in_words
from shortflow.result import Result, changed
from shortflow.results import Results
from shortflow.runs import git_revision
from shortflow.scenario import WARNING
from shortflow.scheme import is_ideal

_SUPERSEDED = ("scheme", "seed", "digest", "finished_at")
_MOST_FAILURES = 3


@dataclass(frozen=True)
class Contents:
    """Contents of a page. No number on the page includes failed runs and damaged results; they are only named."""

    studies: Sequence[Results]
    failures: Sequence[Result] = ()
    damages: Sequence[str] = ()
    criteria: Criteria = USUAL
    more: Mapping[str, Sequence[Block]] = field(default_factory=dict)
    """Further blocks of a study, by the name of its scenario."""


def write_contents(path: Path, of: Contents) -> None:
    """Writes the page as HTML or, if the file's name ends in .md, as Markdown."""
    shown = [PagePart(study.title, list(_study_blocks(study, of))) for study in of.studies]
    versions = ", ".join(sorted({each.provenance["version"] for each in _results(of.studies)}))
    markup.write_blocks(
        path,
        title=", ".join(part.heading for part in shown) or "Shortflow report",
        heading="Shortflow report",
        head=_head(of),
        parts=shown,
        footer=f"Simulated by Shortflow {versions}. Written {markup.now()} by {git_revision() or _core.version()}.",
    )


def _head(of: Contents) -> Iterator[Words]:
    bins = of.criteria.bins
    every = ", ".join(each.label for each in bins.every)
    short, long = sizes_in_words(bins.short), sizes_in_words(bins.long)
    yield Words(
        f"{_lead(of.studies)} With one seed, all schemes see the same flows, so differences are paired. "
        f"All intervals are 95 % intervals over the seeds. {of.criteria.text} Size bins are {every}. Short flows have "
        f"sizes {short}, and long flows have sizes {long}.",
        "note",
    )
    if of.failures:
        them = "it" if len(of.failures) == 1 else "them"
        text = f"No number on this page includes {them}. The same command runs {them} again."
        first = " The first errors:" if len(of.failures) > _MOST_FAILURES else ""
        yield Words(f"{counted(len(of.failures), 'run')} failed. {text}{first}")
        yield Words("\n".join(map(_failure, of.failures[:_MOST_FAILURES])), "note")
    if of.damages:
        yield Words(f"This page leaves out {counted(len(of.damages), 'damaged result')}:")
        yield Words("\n".join(of.damages), "note")


def _failure(run: Result) -> str:
    settings = "".join(f", {key} = {value}" for key, value in changed(run.provenance).items())
    return f"{run.scheme}, seed {run.seed}{settings}: {run.error_text}"


def page_table(of: Contents) -> dict[str, Any]:
    """Numbers of the page as plain data: answer, charts and points of each study, failed runs and damage."""
    found = {
        "studies": [
            {
                "name": study.scenario,
                "title": study.title,
                "varies": study.x_name,
                "answer": answer(study, of.criteria).document(),
                "plots": [
                    *(chart.document for chart in charts(study, [study.require(name) for name in of.criteria.metrics])),
                    *(each.document for each in of.more.get(study.scenario, ()) if isinstance(each, Chart)),
                ],
                "points": [{"at": point.label, "comparison": results_table(point)} for point in study.points],
                "superseded": [
                    {name: value for name, value in each.provenance.items() if name in _SUPERSEDED}
                    for each in study.superseded
                ],
            }
            for study in of.studies
        ],
        "failed": [
            {
                "scenario": run.provenance["scenario"],
                "scheme": run.scheme,
                "seed": run.seed,
                "settings": changed(run.provenance),
                "error": run.error_text,
            }
            for run in of.failures
        ],
        "damaged": of.damages,
    }
    plain: dict[str, Any] = finite_only(found)
    return plain


def _results(studies: Sequence[Results]) -> list[Result]:
    return [run for study in studies for run in study.results]


def _lead(studies: Sequence[Results]) -> str:
    every = _results(studies)
    schemes = {scheme for study in studies for scheme in study.schemes}
    results = [each for each in every if not is_ideal(each.scheme)] or every
    text = f"{counted(len(results), 'run')} of {counted(len(schemes), 'scheme')}"
    if len(every) > len(results):
        text += f", and {counted(len(every) - len(results), 'run')} of ideal schedulers on the same flows"
    if not all(result.tables for result in results):
        return f"{text}."
    flows = sum(len(result.flows) for result in results)
    return f"{text}: {flows:,} flows in {sum(each.meta['end_s'] for each in results):,.1f} simulated seconds."


def _provenance(results: Sequence[Result]) -> str:
    """Text with the number of runs in the table of provenance, and of runs under ideal schedulers among them."""
    ideal = sum(is_ideal(each.scheme) for each in results)
    which = f", {ideal:,} of them of ideal schedulers" if 0 < ideal < len(results) else ""
    return f"all {len(results):,} runs{which}" if len(results) > 1 else "the run"


def _study_blocks(study: Results, of: Contents) -> Iterator[Block]:
    """Blocks of a study: answer, charts, all numbers in one table, traffic, choices and provenance."""
    ranking, x_name = answer(study, of.criteria), study.x_name or ""
    yield Words("\n".join(ranking.over_points), "answer")
    each_point = f"At each {x_name if len(study.dimensions) == 1 else 'point'}"
    for heading, words in (("Best values of each scheme", ranking.by_value), (each_point, ranking.at_points)):
        if words:
            yield PagePart(heading, [Words("\n".join(words), "note")], folded=True)
    yield Words("\n".join([*ranking.caveats, *notes_on_settings(study)]), "note")
    values = zip(study.dimensions, shown_first(study) or [], strict=True)
    yield Legend(everyone(study), [(each.label, each.values, first) for each, first in values])
    yield from charts(study, ranking.metrics)
    yield from pause_blocks(study)
    yield from of.more.get(study.scenario, ())
    yield Words(_left_out(study), "note")
    results = _results([study])
    yield study_section(study, ranking.metrics, ranking.baseline)
    measured = {measured_time(point) for point in study.points}
    at = f", at {study.points[0].place}" if x_name else ""
    about = f"Scenario `{study.scenario}`{measured.pop() if len(measured) == 1 else ''}. Traffic{at}:"
    own = [study.measured.note] if study.measured else []
    traffic = [note for note in study.results[0].provenance["traffic_notes"] if not note.startswith(WARNING)]
    yield Words("\n".join([about, *traffic, *own]), "note")
    yield PagePart(f"Every value, and where it comes from{at}", settings_sections(results), folded=True)
    heads = (x_name or "settings", "scheme", "seed", "digest", "finished", "seconds", "version")
    runs = [_run(", ".join(run.at[each.key] for each in study.dimensions), run) for run in study.results]
    yield PagePart(f"Provenance: {_provenance(results)}", [text_section("", heads, runs)], folded=True)
    if older := [result.provenance for result in study.superseded]:
        named = (f"{it['scheme']}, seed {it['seed']}, {it['finished_at']}: {it['digest'][:16]}" for it in older)
        heading = f"Left out, because newer runs have the same settings: {counted(len(older), 'run')}"
        yield PagePart(heading, [Words("\n".join(named), "note")], folded=True)


def _left_out(study: Results) -> str:
    """Reason why charts of distributions or of queues are left out; empty if none is."""
    tabled = study.with_tables.results
    if not tabled:
        return (
            "There are no charts of distributions and queues, because these runs have no tables. `sweep --tables` "
            "stores tables."
        )
    of_packets = [result for result in tabled if not result.ports.is_empty()]
    if not of_packets or not all(result.samples.is_empty() for result in of_packets):
        return ""
    text = "There is no chart of the queue over time, because these runs took no samples."
    return f"{text} `--set measure.sample_every=1ms` turns samples on."


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
