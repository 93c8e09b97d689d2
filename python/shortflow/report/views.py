"""Blocks of results for terminals and notebooks, and the studies that plots show."""

from shortflow.criteria import USUAL
from shortflow.errors import ConfigError, unknown_name
from shortflow.quantities import counted
from shortflow.report.answer import answer
from shortflow.report.blocks import Block, Words
from shortflow.report.notes import notes_on_results
from shortflow.report.study import studies
from shortflow.report.tables import caption, main_blocks, sweep_section
from shortflow.result import Result, changed
from shortflow.results import Results


def alone(run: Result) -> Results:
    """Results of one run."""
    return Results.of_point([run], changed(run.provenance))


def in_one_line(results: Results) -> str:
    """Scenario, settings that are equal everywhere, schemes or settings that vary, and number of runs."""
    if results.directory:
        return f"{results.directory}: {counted(len(results.done), 'run')} of {', '.join(results.scenarios)}"
    failed = f", {len(results.failed)} failed" if results.failed else ""
    which, what = ", ".join(results.schemes), f"{len(results.seeds)} seeds"
    if len(results.seeds) == 1:
        what = f"seed {results.seeds[0]}"
    settings = [*results.settings.items()]
    if results.keys:
        varies = {key for each in results.dimensions for key in (each.key, *each.in_step)}
        settings += [(key, results.done[0].at[key]) for key in results.keys if results.done and key not in varies]
        which = f"{counted(len(results.points), 'point')} of {', '.join(results.keys)}"
        what = counted(len(results.results) + len(results.failed), "run")
    equal = "".join(f", {key} = {value}" for key, value in settings)
    return f"{results.scenario}{equal}: {which}; {what}{failed}"


def results_blocks(results: Results) -> list[Block]:
    """Main tables and answer of results; of a store, those of each of its scenarios."""
    if results.directory:
        found = [block for study in studies(results.results) for block in sweep_blocks(study)]
        return [Words(in_one_line(results)), *found]
    if results.keys:
        return sweep_blocks(results)
    ranking = answer(results, results.criteria or USUAL)
    words = [*ranking.words, *notes_on_results(results)]
    return [*main_blocks(results, ranking.metrics), *([Words("\n".join(words))] if words else [])]


def sweep_blocks(sweep: Results) -> list[Block]:
    """Caption, table of the points, and answer of a sweep."""
    if not sweep.runs:
        return [caption(sweep), Words("no run finished")]
    ranking = answer(sweep, sweep.criteria or USUAL)
    return [caption(sweep), sweep_section(sweep, ranking.metrics, ranking.baseline), Words("\n".join(ranking.words))]


def one_scenario(results: Results, scenario: str | None = None, *, tables: bool = False) -> Results:
    """Runs of a scenario (default: the only one) by point of the settings that vary; with `tables`, those with tables.

    Raises `ConfigError` if no run has tables, for an unknown scenario, and for several scenarios if none is named.
    """
    if tables and not results.with_tables.done:
        raise ConfigError("these runs have no tables: `tables=True` and `sweep --tables` keep them")
    if not results.directory:
        if scenario not in (None, results.scenario):
            raise unknown_name("scenario of these runs", scenario, [results.scenario])
        return results.with_tables if tables and results.keys else results
    found = studies(run for run in results.results if run.tables or not tables)
    names = [each.scenario for each in found]
    if scenario is None and len(found) > 1:
        raise ConfigError(f"there are runs of several scenarios, so name one of {', '.join(names)} in comparisons(…)")
    if scenario is not None and scenario not in names:
        raise unknown_name("scenario of these runs", scenario, names)
    return found[names.index(scenario) if scenario else 0]
