"""Flow completion times measured by the user, shown beside those of runs.

Measured flows have no seeds, hence no interval, and no paired differences. Their slowdown is over the FCT in the
scenario's empty network, interpolated between the sizes of simulated flows. Slowdown exists only if that FCT depends on
the size alone.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import polars as pl

from shortflow import _core
from shortflow.errors import ConfigError, did_you_mean
from shortflow.lazy import pd
from shortflow.metrics.catalogue import FCT, FLOWS_DONE, MEAN_FCT, OF_BIN, OF_SIZE, SLOWDOWN, SLOWDOWNS, Metric, Row
from shortflow.metrics.data import RunData
from shortflow.records import Meta
from shortflow.result import Result, as_measured
from shortflow.store.columns import TABLES

MEASURED = "measured"
"""Name of the row and the curve."""
_USUAL_CLASS = "short"
_EXPECTED = {
    "start_s": "a time of zero or more in seconds",
    "size_bytes": "a whole number of bytes above zero",
    "fct_s": "a time above zero in seconds",
}
"""Required columns and their expected values."""
_SAME = 1e-3
"""Ideal FCTs of one size that differ by more than this share come from different paths."""

_WORDS = ("key", "version", "build", "platform", "scenario", "title", "digest", "finished_at")
_LISTS: Any = {"scenario_settings": [], "scheme_settings": [], "traffic_notes": [], "files": {}}
_ORIGIN: Any = {**dict.fromkeys(_WORDS, ""), **_LISTS, "revision": None, "scheme": MEASURED, "seed": 0, "wall_s": 0.0}
"""Measured flows: not simulated."""

Source: TypeAlias = "str | Path | pl.DataFrame | pd.DataFrame"
"""A CSV or Parquet file, or a data frame."""


@dataclass(frozen=True)
class Measured:
    """Measured flows: `class`, `size_bytes`, `start_s`, `fct_s`, and `ideal_fct_s` and `slowdown` if known."""

    name: str
    """Name of the file."""
    flows: pl.DataFrame = field(repr=False, compare=False)

    @property
    def note(self) -> str:
        """One-line note on the row."""
        known = self.flows.height - self.flows["slowdown"].null_count()
        slowdown = "slowdown over the time in the scenario's empty network"
        if known < self.flows.height:
            slowdown = (
                f"the time in the scenario's empty network is known for {known:,} of them only, so there is no slowdown"
            )
        return (
            f"{MEASURED}: all {self.flows.height:,} flows of {self.name}, with their warm-up; no seeds, hence no "
            f"interval and no paired difference; {slowdown}"
        )

    @property
    def result(self) -> Result:
        """The completion times as a `Result`."""
        end_s = float((self.flows["start_s"] + self.flows["fct_s"]).to_numpy().max(initial=0.0))
        run = RunData({"flows": _as_table(self.flows)}, _meta(end_s))
        rows = []
        for name, group in run.classes.items():
            known = self.flows.filter(pl.col("class") == name)["slowdown"].null_count() == 0
            statistics = [FLOWS_DONE, MEAN_FCT, *FCT.values(), *([SLOWDOWN, *SLOWDOWNS.values()] if known else [])]
            rows += [(Metric(each, name), each.function(group)) for each in statistics]
            rows += [
                (Metric(each, name, of), each.function(flows))
                for of, flows in group.bins.items()
                for each in OF_BIN.statistics
            ]
        known = self.flows["slowdown"].null_count() == 0
        rows += [
            (Metric(each, size_bin=of), each.function(flows))
            for of, flows in run.sizes.items()
            for each in OF_SIZE.statistics
            if each.unit != "bps" and (known or each.unit != "x")
        ]
        known_rows = [Row(metric, value) for metric, value in rows if value is not None]
        return Result({"provenance": _ORIGIN, **as_measured(known_rows), "tables": {}, "meta": _meta(end_s)})

    @property
    def finished(self) -> pl.DataFrame:
        """All flows, with the column names that charts use."""
        return self.flows.with_columns(elapsed_s="fct_s", elapsed_slowdown="slowdown", censored=pl.lit(False))

    def in_network(self, flows: Iterable[pl.DataFrame]) -> "Measured":
        """The flows with slowdowns, if runs give the ideal FCT of each size."""
        known = pl.concat(each.select("size_bytes", "ideal_fct_s").drop_nulls().unique() for each in flows)
        by_size = known.group_by("size_bytes").agg(pl.col("ideal_fct_s").min(), high=pl.col("ideal_fct_s").max())
        by_size = by_size.sort("size_bytes")
        longest = by_size["high"].cum_max()  # up to this size: on one path larger flows take longer
        if by_size.is_empty() or (longest > by_size["ideal_fct_s"] * (1 + _SAME)).any():
            return self
        times = np.interp(
            self.flows["size_bytes"].to_numpy(),
            by_size["size_bytes"].to_numpy(),
            by_size["ideal_fct_s"].to_numpy(),
            left=np.nan,
            right=np.nan,
        )
        ideal = pl.Series("ideal_fct_s", times).fill_nan(None)
        found = self.flows.with_columns(ideal)
        return replace(self, flows=found.with_columns(slowdown=pl.col("fct_s") / pl.col("ideal_fct_s")))


def read_measured(source: Source, classes: Sequence[str]) -> Measured:
    """Reads measured flows from a CSV or Parquet file or a data frame, for a scenario with these classes.

    Without a column `class`, all flows are `short`, or of the only class. A `ConfigError` names the file, column and
    row, and what was expected.
    """
    name, table = _table(source)
    where = "line" if name.lower().endswith(".csv") else "row"
    first = 2 if where == "line" else 1
    known = [*_EXPECTED, "class"]
    expected = f"expected {', '.join(_EXPECTED)} and optionally class"
    for column in _EXPECTED:
        if column not in table.columns:
            raise ConfigError(f"{name}: has no column {column}; {expected}")
    for number, column in enumerate(table.columns, start=1):
        if column not in known:
            raise ConfigError(f"{name}: column {number}: unknown{did_you_mean(column, known)}; {expected}")
    if table.is_empty():
        raise ConfigError(f"{name}: has no rows")
    numbers = {column: _numbers(name, table[column], where, first) for column in _EXPECTED}
    flows = pl.DataFrame(
        {
            "class": _classes(name, table, classes, where, first),
            "size_bytes": numbers["size_bytes"].cast(pl.UInt64),
            "start_s": numbers["start_s"],
            "fct_s": numbers["fct_s"],
        }
    )
    nothing = pl.lit(None, pl.Float64)
    return Measured(name, flows.with_columns(ideal_fct_s=nothing, slowdown=nothing))


def _table(source: Source) -> tuple[str, pl.DataFrame]:
    """The table and its name in messages. CSV columns stay texts."""
    if isinstance(source, pl.DataFrame):
        return "measured flows", source
    if not isinstance(source, str | Path):
        try:
            return "measured flows", pl.from_pandas(source)
        except (TypeError, ValueError, ModuleNotFoundError):
            raise ConfigError(f"measured: expected a file or a data frame, not {type(source).__name__}") from None
    path = Path(source)
    data = _core.read_file(str(path))
    if path.suffix.lower() not in (".csv", ".parquet"):
        raise ConfigError(f"{path}: expected a file that ends in .csv or .parquet")
    try:
        if path.suffix.lower() == ".parquet":
            return str(path), pl.read_parquet(data)
        return str(path), pl.read_csv(data, infer_schema=False)
    except pl.exceptions.PolarsError:  # the text quotes the file
        raise ConfigError(
            f"{path}: is no {path.suffix[1:]} table; expected {', '.join(_EXPECTED)} and optionally class"
        ) from None


def _numbers(name: str, given: pl.Series, where: str, first: int) -> pl.Series:
    """A column as numbers. A `ConfigError` names the first bad row."""
    expected = _EXPECTED[given.name]
    if given.dtype != pl.String and not given.dtype.is_numeric():
        raise ConfigError(f"{name}: column {given.name}: is of type {given.dtype}; expected {expected}")
    found = given.cast(pl.Float64, strict=False)
    right = found.is_finite() & (found >= 0 if given.name == "start_s" else found > 0)
    if given.name == "size_bytes":
        right &= (found == found.floor()) & (found < 2**53)
    _check(name, given, right, expected, where, first)
    return found


def _classes(name: str, table: pl.DataFrame, classes: Sequence[str], where: str, first: int) -> pl.Series:
    if "class" not in table.columns:
        usual = _USUAL_CLASS if _USUAL_CLASS in classes else classes[0]
        if usual != _USUAL_CLASS and len(classes) > 1:
            raise ConfigError(f"{name}: has no column class; expected one of {', '.join(classes)} for each flow")
        return pl.Series("class", [usual] * table.height, pl.String)
    given = table["class"].cast(pl.String)
    _check(name, given, given.is_in(list(classes)), f"a class of the scenario: {', '.join(classes)}", where, first)
    return given


def _check(name: str, given: pl.Series, right: pl.Series, expected: str, where: str, first: int) -> None:
    wrong = (~right.fill_null(False)).arg_true()
    if len(wrong):
        at = int(wrong[0])
        value = given[at]
        found = "is empty" if value is None else f"{value!r}".replace("'", '"')
        raise ConfigError(f"{name}: {where} {at + first}, column {given.name}: {found}; expected {expected}")


def _as_table(flows: pl.DataFrame) -> pl.DataFrame:
    """The flows with the columns of a run's flow table; unknown values are null, unknown counts 0."""
    counts = ("acked_bytes", "delivered_bytes", "measured_retransmits", "measured_timeouts", "retransmits", "timeouts")
    given = {"finish_s": flows["start_s"] + flows["fct_s"], **{name: flows[name] for name in flows.columns}}
    blank: Mapping[str, object] = {"id": 0, "source": "", "destination": "", "marks": 0, **dict.fromkeys(counts, 0)}
    return pl.DataFrame(
        [
            given[name].cast(kind).alias(name)
            if name in given
            else pl.Series(name, [blank.get(name)] * flows.height, kind)
            for name, kind in TABLES["flows"].items()
        ]
    )


def _meta(end_s: float) -> Meta:
    """Run metadata for metrics of completion times: all flows are measured."""
    account: Any = {"warmup_s": 0.0, "duration_s": end_s, "end_s": end_s}
    meta: Meta = account
    return meta
