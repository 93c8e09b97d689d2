"""What a store holds, as tables: one of its runs, and one of all their flows."""

import contextlib
import io
from collections.abc import Hashable
from pathlib import Path

import polars as pl

from shortflow.comparison import with_distances
from shortflow.errors import ConfigError, DamagedResult
from shortflow.metrics.catalogue import measuring_id
from shortflow.result import Record, RunSummary, summarize
from shortflow.store.files import Kind, write_bytes
from shortflow.store.frames import counted, runs_frame
from shortflow.store.run_logs import RUN_LOGS, read_run_logs
from shortflow.store.runs import Store, measured_today, read_table, select_runs
from shortflow.store.selection import Selection, decisive, supersede

RUNS = "runs.parquet"


def read_runs(directory: str | Path) -> pl.DataFrame:
    """The runs in or below a directory as one table: a row per run, the newest of each and, marked, the superseded.

    See `docs/results.md` for its columns. Current runs of one scenario that come from different code are a
    `ConfigError`, damaged ones a `DamagedResult`. The file `runs.parquet` of a store, which has the same contents, is
    renewed if it is out of date. Runs that failed have a row with their `error`, and no metrics.
    """
    table = _table(select_runs(Path(directory)))
    if (Path(directory) / "runs").is_dir():
        with contextlib.suppress(OSError):  # of a store that is only to be read
            _renew(Path(directory), table)
    return table


def read_flows(directory: str | Path) -> pl.DataFrame:
    """The flows that count for completion times, of all current runs in or below a directory.

    They are the finite flows that started after the warm-up, with the columns of `flows.parquet`. In place of `fct_s`
    and `slowdown`, which those that did not finish have not, stand `elapsed_s`, `elapsed_slowdown` and `censored`: of a
    flow that did not finish the time until the end of the run, which the true one exceeds. To be joined by `run` with
    `read_store`.
    """
    selection = select_runs(Path(directory))
    tables = []
    for place in selection.current:
        record = selection.records[place]
        if not record["tables"]:
            raise ConfigError(f"{directory}: holds runs without tables of flows; `sweep --tables` keeps them")
        tables.append(counted(read_table(place, "flows", record), record["meta"], record["provenance"]))
    return pl.concat(tables)


def renew_table(store: Store) -> None:
    """Write a store's table of runs; what is damaged, or cannot be compared, is left to those who read the store."""
    kept = read_run_logs(store.directory / RUN_LOGS)
    records = {place: today for place, record in store.records(kept).items() if (today := _today(place, record))}
    _renew(store.directory, _table(supersede(records, kept.failures)))


def _today(place: Path, record: Record) -> Record | None:
    try:
        found = measured_today(place, record)
    except DamagedResult:
        return None
    return found if found["measured_by"] == measuring_id() else None


def summaries(selection: Selection) -> list[RunSummary]:
    """The current runs, each with its distance from ideal SRPT where a run of that has the same flows."""
    points: dict[Hashable, list[RunSummary]] = {}
    for place in selection.current:
        origin = selection.origin(place)
        point = origin["scenario"], decisive(origin["scenario_settings"])
        points.setdefault(point, []).append(_summary(place, selection.records[place]))
    return [run for runs in points.values() for run in with_distances(runs)]


def _table(selection: Selection) -> pl.DataFrame:
    superseded = [
        _summary(place, record)
        for place in selection.superseded
        if (record := selection.records[place])["tables"] or record["measured_by"] == measuring_id()
    ]
    return runs_frame(summaries(selection), superseded, selection.failures.values())


def _summary(place: Path, record: Record) -> RunSummary:
    return summarize(measured_today(place, record))


def _renew(directory: Path, table: pl.DataFrame) -> None:
    """Write the file, unless it is as it should be already."""
    buffer = io.BytesIO()
    table.write_parquet(buffer)
    path = directory / RUNS
    if not path.is_file() or path.read_bytes() != buffer.getvalue():
        write_bytes(path, buffer.getvalue(), Kind.RUNS)
