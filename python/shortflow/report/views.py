"""Views of results: tables for terminals and notebooks, and the studies behind plots."""

from collections.abc import Sequence
from typing import TypeAlias

from rich.console import RenderableType
from rich.text import Text

from shortflow.errors import ConfigError, unknown_name
from shortflow.report.answer import answer
from shortflow.report.study import studies
from shortflow.report.sweep.runs import stored_sweeps
from shortflow.report.sweep.tables import sweep_section, sweep_tables
from shortflow.report.sweep.view import best_section
from shortflow.report.tables import (
    Section,
    caption,
    comparison_tables,
    lay_out,
    main_sections,
    main_tables,
    overview_section,
    stacked,
)
from shortflow.result import Result, changed
from shortflow.results import Results

__all__ = ["RenderableType", "View", "alone", "one_scenario", "text", "text_of_run", "view"]

View: TypeAlias = tuple[str, Sequence[Section], Sequence[str]]
"""Caption, tables and notes."""


def alone(run: Result) -> Results:
    """Results of one run."""
    return Results.of_point([run], changed(run.provenance))


def text_of_run(run: Result) -> RenderableType:
    """All metrics of a run."""
    return comparison_tables(alone(run))


def text(results: Results) -> RenderableType:
    """Main tables of results for a terminal."""
    if results.directory:
        return stacked(*(table for section in view(results)[1] for table in lay_out(section)))
    if results.keys:
        return sweep_tables(results)
    return stacked(main_tables(results), Text("\n".join(answer(results).words)), Text("\n".join(results.notes)))


def view(results: Results) -> View:
    """Like `text`, before layout, with caption and notes."""
    if results.directory:
        found = [overview_section(each.title, each.x_name or "", each.points) for each in with_tables(results)]
        found += [best_section(each) for each in stored_sweeps(results.results)]
        return repr(results)[len("<Results ") : -1], found, ()
    if results.keys:
        section = sweep_section(results)
        return f"{results.title}\n{results.scenario}{results.changed}", [section] if section else [], ()
    return caption(results), main_sections(results), [*answer(results).words, *results.notes]


def with_tables(results: Results) -> list[Results]:
    """Runs with tables, by scenario, at the points of the varying settings."""
    return studies([run for run in results.results if run.record["tables"] or run.tables])


def one_scenario(results: Results, scenario: str | None = None, *, tables: bool = False) -> Results:
    """Runs of a scenario (default: the only one), or those with tables, at the points of the varying settings."""
    if not results.directory and not results.keys:
        return results
    found = with_tables(results) if tables else studies(results.results)
    names = [each.scenario for each in found]
    if not names:
        raise ConfigError("these runs have no tables: `tables=True` and `sweep --tables` keep them")
    if scenario is None and len(found) > 1:
        raise ConfigError(f"there are runs of several scenarios, so name one of {', '.join(names)} in comparisons(…)")
    if scenario is not None and scenario not in names:
        raise unknown_name("scenario of these runs", scenario, names)
    return found[names.index(scenario) if scenario else 0]
