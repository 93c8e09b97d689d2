"""Store of runs. The record of each run is a line of a log; its tables, if they are kept, are a directory.

The tables are complete before the line is written. A run without a line does not exist.
"""

import contextlib
import logging
import os
from collections.abc import Collection, Hashable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import polars as pl

from shortflow.errors import ConfigError, DamagedResult, did_you_mean, front_door
from shortflow.result import Result, is_measured_today, parquet, with_distances
from shortflow.results import Results
from shortflow.runs import Run
from shortflow.store import directories
from shortflow.store.directories import RECORD, OnDisk, loaded, measured_today, place_of
from shortflow.store.files import PARTIAL, Kind, remove_leftovers, write_bytes
from shortflow.store.frames import runs_frame
from shortflow.store.run_logs import RUN_LOGS, TABLES_IN, Kept, RunLog, RunLogs, place_in
from shortflow.store.selection import Selection, check_one_code, decisive, supersede

TABLE = "runs.parquet"
_log = logging.getLogger(__name__)


class Store:
    """Runs below one directory, found by the hash of their inputs.

    A damaged result counts as missing, and a warning names it. A result that a newer run with the same settings
    supersedes counts as missing, too, as in `select_runs`.
    """

    def __init__(self, directory: Path) -> None:
        """Opens or creates the store, and removes leftovers of killed writers."""
        self.directory = directory
        self.runs = directory / TABLES_IN
        self.runs.mkdir(parents=True, exist_ok=True)
        remove_leftovers(self.runs)
        self.log, self._logs, self._kept = RunLog(directory), RunLogs(directory), Kept()
        self._logs.more(self._kept)
        self._logs.sweep()
        for damage in self._kept.damages:
            _log.warning("%s; it is run again", damage)
        old = supersede(self._kept.results).superseded
        self._superseded = {(result.key, bool(result.tables)) for result in old}

    def results(self) -> list[Result]:
        """All readable runs, including the runs of other processes."""
        self.look()
        return self._kept.results

    def find(self, run: Run, *, tables: bool = True, warn: bool = True) -> Result | None:
        """Stored result of exactly this run, or None. Its tables are read on access.

        With `tables`, a run that was stored without tables is not found. With `warn`, a damaged result is reported.
        """
        for with_tables in (True,) if tables else (False, True):
            found = self._kept.by_key.get((run.key, with_tables, False))
            if found and (run.key, with_tables) not in self._superseded:
                try:
                    if isinstance(found.tables, OnDisk):
                        found.tables.check()
                    today = measured_today(found)
                except DamagedResult as damage:
                    if warn:
                        _log.warning("%s; it is run again", damage)
                    continue
                if today is not found:
                    self._add(today)
                if is_measured_today(today.record):
                    return replace(today, reused=True)
        return None

    def look(self) -> None:
        """Reads the runs that other processes appended. Damage in their logs is left to readers of the store."""
        self._logs.more(self._kept, but=self.log.path)

    def claim(self, run: Run) -> bool:
        """Claims a run for this process. Returns False if another process works on the run.

        If two processes claim a run simultaneously, the earlier claim counts.
        """
        if self._logs.is_claimed(run.key):
            return False
        claimed_at = self.log.claim(run.key)
        # Another process may have claimed the run between the question and this claim, so its log is read once more.
        self.look()
        if self._logs.is_claimed(run.key, before=claimed_at):
            self.log.release(run.key)
            return False
        return True

    def keep(self, result: Result, *, tables: bool = True) -> Result:
        """Stores a finished or failed run immediately, and returns the stored result.

        Tables are stored if `tables` is true and the run has tables.
        """
        if result.error or not (tables and result.tables):
            done = result.alone()
        else:
            done, scenario = result.encoded(), result.provenance["scenario"]
            place = place_in(self.directory, scenario, result.scheme, result.seed, result.key)
            directories.write_tables(done, place)
            done = Result(done.record, OnDisk(place, done.record["tables"]))
        self._add(done)
        return done

    def _add(self, result: Result) -> None:
        self.log.add(result)
        self._kept.add(result)
        self._superseded.discard((result.key, bool(result.tables)))

    def check_names(self, runs: Sequence[Run]) -> None:
        """Raises `ConfigError` for a run whose directory name is too long for the file system."""
        limit = os.pathconf(self.runs, "PC_NAME_MAX")
        for run in runs:
            place = place_in(self.directory, run.scenario.name, run.scheme.name, run.seed, run.key)
            excess = len(os.fsencode(place.name)) - limit
            if excess > 0:
                raise ConfigError(
                    f"{run.scenario.name} with {run.scheme.name}: the names of scenario and scheme are {excess} bytes "
                    f"too long for a directory in {self.runs}; give the scenario's file a shorter name"
                )


def select_runs(directory: Path, only: Collection[str] | None = None, damages: list[str] | None = None) -> Selection:
    """Current and superseded runs in or below `directory`; with `only`, those among runs with these keys.

    Runs are equal if scenario, scheme, seed and settings are equal, regardless of the code that made them. The newest
    of equal runs is current.

    Raises `ConfigError` if there are no runs, or if current runs of one scenario come from different code. The error
    says which runs to repeat. Without a list `damages`, a damaged record raises `DamagedResult`. With the list, damaged
    records are left out and added to the list, and raise only if no current run remains.

    With `only`, damaged records are ignored if every one of these runs is found. If one is missing, every damaged
    record counts: its key is unreadable, so it may be the record of the missing run. Without damaged records, a missing
    run raises `ConfigError`.
    """
    found, damaged = _found(directory)
    if only is not None:
        known = {each.key for each in found}
        found = [each for each in found if each.key in only]
        if {each.key for each in found if not each.error}.issuperset(only):
            damaged = []
        unknown = [key for key in only if key not in known]
        if unknown and known and not damaged:
            hint = did_you_mean(unknown[0], known) or "; column run of read_store(…).to_frame() has the keys"
            raise ConfigError(f'{directory}: only: no run has the key "{unknown[0]}"{hint}')
    if damages is not None:
        damages += damaged
    selection = supersede(found)
    if damaged and (damages is None or not selection.current):
        raise DamagedResult("\n".join(damaged))
    if not selection.current:
        if selection.failed:
            raise ConfigError(f"{directory}: every run failed; the first: {selection.failed[0].error_text}")
        table = directory / TABLE
        is_kept = table.is_file() or any((directory / TABLES_IN).glob("*"))
        if is_kept and not any((directory / RUN_LOGS).glob("*")):
            raise ConfigError(
                f"{directory}: the records of its runs, {directory / RUN_LOGS}, are missing; restore them, or repeat "
                f"the command that made the store{f'; the metrics are still in {table}' if table.is_file() else ''}"
            )
        raise ConfigError(f"{directory}: holds no results; create some with `shortflow compare … --out {directory}`")
    check_one_code(directory, selection)
    return selection


def _found(directory: Path) -> tuple[list[Result], list[str]]:
    """All runs in or below a directory, and a text for each damaged record.

    If the directory is a store, runs of other stores below it are not included.
    """
    own = directory / TABLES_IN
    stores, places = [directory], []
    for folder, folders, files in os.walk(directory):
        place = Path(folder)
        if RUN_LOGS in folders and not own.is_dir():
            stores.append(place)
        of_other = own.is_dir() and place.parent.name == TABLES_IN and place.parent != own
        if RECORD in files and not of_other and not place.name.startswith(PARTIAL):
            places.append(place)
    in_logs: list[Result] = []
    in_lines = []
    for store in sorted({*stores}):
        kept = Kept()
        RunLogs(store).more(kept)
        in_logs += kept.results
        in_lines += [f"{each}, and the same command runs it again" for each in kept.damages]
    taken = {place_of(result) for result in in_logs if result.tables}
    left = sorted(place for place in places if place not in taken)
    damaged: list[str] = []
    in_places = directories.read_each(left, directories.in_directory, damaged)
    return [*in_places, *in_logs], [*damaged, *in_lines]


@front_door
def load_run(directory: str | Path) -> Result:
    """Reads the run of a directory that `Result.save` or `shortflow run --out` wrote, or of one in a store's `runs`.

    Raises `DamagedResult`, which names the file, for a missing or altered file, and `ConfigError` for a `directory`
    that is a file.
    """
    place = Path(directory)
    if place.is_file():
        raise ConfigError(f"{directory}: is a file; expected the directory of `run --out`")
    kept, store = Kept(), place.absolute().parents[1]
    if not (place / RECORD).exists() and place.absolute().parent.name == TABLES_IN:
        RunLogs(store).more(kept)
    found = (each for each in kept.results if each.tables and place_of(each) == place.absolute())
    return loaded(next(found, None) or directories.in_directory(place))


@front_door
def load_store(directory: str | Path) -> Results:
    """Current runs that `compare`, `sweep`, `run` or `tune` stored in or below a directory.

    Raises `ConfigError` if there are no runs, or if runs of one scenario come from different code. Raises
    `DamagedResult`, which names the file, for a damaged file. Also updates the store's `runs.parquet`, which has the
    contents of `to_frame`.
    """
    directory = Path(directory)
    selection = select_runs(directory)
    today = [measured_today(result) for result in selection.current]
    renewed = [now for now, result in zip(today, selection.current, strict=True) if now is not result]
    selection = replace(selection, current=today)
    found = Results([*current(selection), *selection.failed], directory=directory, superseded=superseded(selection))
    if (directory / TABLES_IN).is_dir():
        with contextlib.suppress(OSError):  # the store may be read-only
            log = RunLog(directory)
            for result in renewed:
                log.add(result)
            log.flush()
            _renew(directory, runs_frame(found.results, found.superseded, found.failed))
    return found


def save(results: Iterable[Result], directory: str | Path) -> Path:
    """Saves runs with their tables to the store in `directory`, and returns the directory."""
    store = Store(Path(directory))
    for result in results:
        store.keep(result)
    conclude(store)
    return store.directory


def conclude(store: Store) -> None:
    """Makes a store's runs durable, and updates its `runs.parquet`. Damage and mixed code are left to readers."""
    store.log.flush()
    today = []
    for result in store.results():
        with contextlib.suppress(DamagedResult):
            today.append(measured_today(result))
    selection = supersede([result for result in today if is_measured_today(result.record)])
    _renew(store.directory, runs_frame(current(selection), superseded(selection), selection.failed))


def current(selection: Selection) -> list[Result]:
    """Current runs. If the store has a run of ideal SRPT on the same flows, each run has its distance from it."""
    points: dict[Hashable, list[Result]] = {}
    for result in selection.current:
        origin = result.provenance
        points.setdefault((origin["scenario"], decisive(origin["scenario_settings"])), []).append(result)
    return [run for runs in points.values() for run in with_distances(runs)]


def superseded(selection: Selection) -> list[Result]:
    """Superseded runs whose metrics the present code measured or can measure."""
    every = [measured_today(result) for result in selection.superseded]
    return [result for result in every if is_measured_today(result.record)]


def _renew(directory: Path, table: pl.DataFrame) -> None:
    """Writes the store's table of runs, unless the file has the same contents."""
    path, data = directory / TABLE, parquet([table])
    if not path.is_file() or path.read_bytes() != data:
        write_bytes(path, data, Kind.RUNS)
