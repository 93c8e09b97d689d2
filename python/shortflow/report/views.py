"""Blocks of results for terminals and notebooks, and the studies behind plots."""

from shortflow.errors import ConfigError, unknown_name
from shortflow.report.answer import answer
from shortflow.report.blocks import Block, Words
from shortflow.report.study import studies
from shortflow.report.sweep.runs import stored_sweeps
from shortflow.report.sweep.tables import sweep_blocks
from shortflow.report.sweep.view import best_section
from shortflow.report.tables import main_blocks, overview_section
from shortflow.result import Result, changed
from shortflow.results import Results


def alone(run: Result) -> Results:
    """Results of one run."""
    return Results.of_point([run], changed(run.provenance))


def blocks(results: Results) -> list[Block]:
    """Main tables of results with their answer."""
    if results.directory:
        found = [overview_section(each.title, each.x_name or "", each.points) for each in with_tables(results)]
        best = [best_section(each) for each in stored_sweeps(results.results)]
        return [Words(repr(results)[len("<Results ") : -1]), *found, *best]
    if results.keys:
        return sweep_blocks(results)
    told = [*answer(results).words, *results.notes]
    return [*main_blocks(results), *([Words("\n".join(told))] if told else [])]


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
