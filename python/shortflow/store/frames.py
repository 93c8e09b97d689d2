"""Tables of runs: one row per run, with a column per varying setting and per metric."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import polars as pl

from shortflow.grid import short_name
from shortflow.metrics.catalogue import telling
from shortflow.metrics.columns import TABLES
from shortflow.metrics.data import RunData
from shortflow.quantities import in_base_unit
from shortflow.records import Meta
from shortflow.result import Result, labelled
from shortflow.runs import KEY_LENGTH, Provenance
from shortflow.scenario import Setting
from shortflow.transport import SOURCE

UNSET = "not set"
"""Text in place of the value of a key that a run does not have."""
_HEAD: dict[str, Callable[[Result], str | int | None]] = {
    "run": lambda run: run.key[:KEY_LENGTH],
    "scenario": lambda run: run.provenance["scenario"],
    "scheme": lambda run: run.scheme,
    "seed": lambda run: run.seed,
    "digest": lambda run: run.digest or None,
    "build": lambda run: run.provenance["build"],
    "source": lambda run: _value(run.provenance, SOURCE),
    "finished_at": lambda run: run.provenance["finished_at"],
}


def runs_frame(
    current: Sequence[Result], superseded: Sequence[Result] = (), failed: Sequence[Result] = ()
) -> pl.DataFrame:
    """Table of runs.

    The first columns are `run` (as in the tables of a run), `scenario`, `scheme`, `seed`, `digest`, `build`, `source`,
    `finished_at`, `superseded` and `error` (of a failed run).

    Next is one column for each setting that was given by `--set`, or that varies between current runs of a scenario or
    scheme. If all values of a setting are quantities of one kind, the column has numbers, in seconds, bytes or bits per
    second where the unit allows it. Otherwise it has text.

    Next is one column for each metric, null for runs without the metric. The last column is `lower_bounds`, a list of
    the run's metrics that are lower bounds.
    """
    runs = [*current, *superseded, *failed]
    metrics = list(telling((row for run in runs for row in run.rows), *(run.bins for run in runs[:1])))
    taken = {*_HEAD, "superseded", "error", *metrics, "lower_bounds"}
    settings = _settings([run.provenance for run in (*current, *failed)], taken)
    old = {id(run) for run in superseded}
    bounds = [sorted(run.lower_bounds.intersection(metrics)) for run in runs]
    values = _values([run.provenance for run in runs])
    types = {"seed": pl.UInt64}
    return pl.DataFrame(
        [
            *(pl.Series(name, [*map(of, runs)], types.get(name, pl.String)) for name, of in _HEAD.items()),
            pl.Series("superseded", [id(run) in old for run in runs], pl.Boolean),
            pl.Series("error", [run.error_text or None for run in runs], pl.String),
            *(_setting_column(name, [each.get(key) for each in values]) for name, key in settings.items()),
            *_metric_columns(metrics, runs),
            pl.Series("lower_bounds", bounds, pl.List(pl.String)),
        ]
    )


def completion(flows: pl.DataFrame, meta: Meta) -> pl.DataFrame:
    """Flows that count for completion times: finite flows that started after the warm-up.

    Added columns: `elapsed_s` is the FCT, or the age of an unfinished flow at the end of the run. `elapsed_slowdown` is
    the slowdown, or `elapsed_s` divided by `ideal_fct_s` for an unfinished flow. `censored` is true for unfinished
    flows, whose FCT is at least `elapsed_s`.
    """
    group = RunData({"flows": flows}, meta).flows
    counts = pl.Series("counts", [group.counts(flow) for flow in group.flows], pl.Boolean)
    return flows.filter(counts).with_columns(
        pl.Series("elapsed_s", group.times.values, pl.Float64),
        pl.Series("elapsed_slowdown", group.slowdowns.values, pl.Float64),
        pl.Series("censored", group.times.censored, pl.Boolean),
    )


def counted_flows(flows: pl.DataFrame, meta: Meta, origin: Provenance) -> pl.DataFrame:
    """Flows of a run that count for completion times, labelled with the run.

    `elapsed_s`, `elapsed_slowdown` and `censored` replace `fct_s` and `slowdown`, which unfinished flows lack.
    """
    found = completion(flows.select(list(TABLES["flows"])), meta).drop("fct_s", "slowdown")
    return labelled(found, origin)


def varying(settings: Iterable[Sequence[Setting]]) -> list[str]:
    """Keys that tell the runs' settings apart, in the order of the settings.

    Keys that were set explicitly, vary, and occur in all runs are always included. A key that follows from a parameter
    or a default, or that only some runs have, is included only if it tells more runs apart. Titles and the source of a
    law are never included.
    """
    known = {id(each): each for each in settings}.values()  # runs of a log share settings objects: read each once
    values = [{one["key"]: one["value"] for one in each if one["key"] not in ("title", SOURCE)} for each in known]
    every = dict.fromkeys(key for each in values for key in each)
    chosen = {one["key"] for each in known for one in each if not one["source"].startswith(("default", "parameter"))}
    differing = [key for key in every if len({each.get(key) for each in values}) > 1]
    leading = [key for key in differing if key in chosen and all(key in each for each in values)]
    found: list[str] = []
    apart = 1
    for key in [*leading, *(key for key in differing if key not in leading)]:
        now = len({tuple(each.get(one) for one in (*found, key)) for each in values})
        if key in leading or now > apart:
            found, apart = [*found, key], now
    return [key for key in every if key in found]


def _settings(origins: Sequence[Provenance], taken: set[str]) -> dict[str, str]:
    """Key of each column of settings. Runs are compared by scenario, and by scheme up to a `+` in its name.

    A column has the key's short name, or the whole key if the short name is one of `taken`.
    """
    groups: dict[tuple[str, str], list[Sequence[Setting]]] = {}
    for origin in origins:
        groups.setdefault(("scenario", origin["scenario"]), []).append(origin["scenario_settings"])
        groups.setdefault(("scheme", origin["scheme"].partition("+")[0]), []).append(origin["scheme_settings"])
    every = (each for origin in origins for each in (*origin["scenario_settings"], *origin["scheme_settings"]))
    given = [each["key"] for each in every if each["source"] == "--set" and each["key"] != "title"]
    keys = dict.fromkeys([*(key for group in groups.values() for key in varying(group)), *given])
    return {key if short_name(key) in taken else short_name(key): key for key in keys}


def _setting_column(name: str, texts: Sequence[str | None]) -> pl.Series:
    """Column of numbers if all texts are quantities of one kind; otherwise of texts."""
    known = [*dict.fromkeys(text for text in texts if text is not None)]
    numbers = in_base_unit(known)
    if numbers is None:
        return pl.Series(name, texts, pl.String)
    number = dict(zip(known, numbers, strict=True))
    return pl.Series(name, [number.get(text or "") for text in texts], pl.Float64)


def _value(origin: Provenance, key: str) -> str | None:
    settings = (*origin["scenario_settings"], *origin["scheme_settings"])
    return next((setting["value"] for setting in settings if setting["key"] == key), None)


def _values(origins: Sequence[Provenance]) -> list[Mapping[str, str]]:
    """Settings of each run by key. A key of the scenario takes precedence over an equal key of the scheme.

    Runs of a log share settings objects, each of which is read once.
    """
    known: dict[tuple[int, int], Mapping[str, str]] = {}
    found = []
    for origin in origins:
        of_scenario, of_scheme = origin["scenario_settings"], origin["scheme_settings"]
        place = (id(of_scenario), id(of_scheme))
        if place not in known:
            known[place] = {each["key"]: each["value"] for each in (*reversed(of_scheme), *reversed(of_scenario))}
        found.append(known[place])
    return found


def _metric_columns(names: Sequence[str], runs: Sequence[Result]) -> Iterator[pl.Series]:
    """Columns of metrics, filled run by run, because most metrics of one scenario are null in runs of another one."""
    found: dict[str, list[tuple[int, float]]] = {name: [] for name in names}
    for at, run in enumerate(runs):
        for name, value in run.metrics.items():
            if name in found:
                found[name].append((at, value))
    for name, of_runs in found.items():
        column: list[float | None] = [None] * len(runs)
        for at, value in of_runs:
            column[at] = value
        yield pl.Series(name, column, pl.Float64)
