"""Contents of a store as tables: one of its runs, and one of all their flows."""

import contextlib
import io
from collections.abc import Hashable, Iterable
from pathlib import Path

import polars as pl

from shortflow.errors import DamagedResult, front_door
from shortflow.metrics.catalogue import measuring_id
from shortflow.result import Result
from shortflow.results import Results, with_distances
from shortflow.store.files import Kind, write_bytes
from shortflow.store.frames import runs_frame
from shortflow.store.run_logs import RUN_LOGS, read_run_logs
from shortflow.store.runs import Store, place_of, select_runs, stored, write_run
from shortflow.store.selection import Selection, decisive, supersede

RUNS = "runs.parquet"


@front_door
def read_store(directory: str | Path) -> Results:
    """Newest version of each run that `compare`, `sweep`, `run` or `tune` stored in or below a directory.

    Raises `ConfigError` if there are none, or if different code made runs of one scenario. A `DamagedResult` names a
    damaged file. Also updates the store's `runs.parquet`, which has the contents of `to_frame`.
    """
    directory = Path(directory)
    selection = select_runs(directory)
    done = [*current(selection), *failed(selection)]
    found = Results(done, directory=directory, superseded=superseded(selection))
    if (directory / "runs").is_dir():
        with contextlib.suppress(OSError):  # a read-only store
            _renew(directory, found.to_frame())
    return found


def save(results: Iterable[Result], directory: str | Path) -> Path:
    """Saves runs with their tables to a store."""
    store = Store(Path(directory))
    for result in results:
        write_run(result, place_of(store.directory, result.provenance))
    renew_table(store)
    return store.directory


def renew_table(store: Store) -> None:
    """Updates a store's table of runs. Damage and mixed code are left to readers of the store."""
    kept = read_run_logs(store.directory / RUN_LOGS)
    results = {place: today for place, result in store.results(kept).items() if (today := _today(place, result))}
    _renew(store.directory, _table(supersede(results)))


def _today(place: Path, result: Result) -> Result | None:
    try:
        found = _measured(place, result)
    except DamagedResult:
        return None
    return found if found.record["measured_by"] == measuring_id() else None


def current(selection: Selection) -> list[Result]:
    """Current runs, with their distance from ideal SRPT if a run of it has the same flows."""
    points: dict[Hashable, list[Result]] = {}
    for place in selection.current:
        origin = selection.origin(place)
        point = origin["scenario"], decisive(origin["scenario_settings"])
        points.setdefault(point, []).append(_measured(place, selection.results[place]))
    return [run for runs in points.values() for run in with_distances(runs)]


def _table(selection: Selection) -> pl.DataFrame:
    return runs_frame(current(selection), superseded(selection), failed(selection))


def superseded(selection: Selection) -> list[Result]:
    """Superseded runs that this version can measure."""
    return [
        _measured(place, result)
        for place in selection.superseded
        if (result := selection.results[place]).record["tables"] or result.record["measured_by"] == measuring_id()
    ]


def failed(selection: Selection) -> list[Result]:
    """Failed runs that were not repeated since."""
    return [selection.results[place] for place in selection.failed]


def _measured(place: Path, result: Result) -> Result:
    return result if result.error else stored(place, result.record)


def _renew(directory: Path, table: pl.DataFrame) -> None:
    """Writes the file unless unchanged."""
    buffer = io.BytesIO()
    table.write_parquet(buffer)
    path = directory / RUNS
    if not path.is_file() or path.read_bytes() != buffer.getvalue():
        write_bytes(path, buffer.getvalue(), Kind.RUNS)
