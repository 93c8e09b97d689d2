"""Flow completion times measured by the user, shown beside the completion times of runs.

Measured flows have no seeds, so they have no interval and no paired differences. Their slowdown refers to the FCT in
the scenario's empty network, interpolated between the sizes of simulated flows. They have a slowdown only if this FCT
depends on nothing but the size.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from shortflow import _core, metrics
from shortflow.errors import ConfigError, did_you_mean
from shortflow.frames import FrameSource, as_polars
from shortflow.lazy import np, pl
from shortflow.metrics.catalogue import FCT, FLOWS_DONE, MEAN_FCT, OF_BIN, OF_SIZE, SLOWDOWN, SLOWDOWNS, measure
from shortflow.metrics.data import USUAL_BINS, Bins
from shortflow.quantities import counted
from shortflow.result import Result, as_measured

MEASURED = "measured"
"""Name of the row and of the curve."""
_USUAL_CLASS = "short"
_EXPECTED = {
    "start_s": "a time of zero or more in seconds",
    "size_bytes": "a whole number of bytes above zero",
    "fct_s": "a time above zero in seconds",
}
"""Required columns and their expected values."""
_OF_TIMES = {FLOWS_DONE, MEAN_FCT, *FCT.values(), SLOWDOWN, *SLOWDOWNS.values(), *OF_BIN.statistics}
_OF_TIMES |= {each for each in OF_SIZE.statistics if each.unit != "bps"}
"""Statistics of completion times."""
_SAME = 1e-3
"""Relative difference above which ideal FCTs of one size come from different paths."""

_WORDS = ("key", "version", "build", "platform", "scenario", "title", "digest", "finished_at")
_LISTS: Any = {"scenario_settings": [], "scheme_settings": [], "traffic_notes": [], "files": {}}
_ORIGIN: Any = {**dict.fromkeys(_WORDS, ""), **_LISTS, "revision": None, "scheme": MEASURED, "seed": 0, "wall_s": 0.0}
"""Provenance of measured flows, which no run produced."""


@dataclass(frozen=True)
class MeasuredFlows:
    """Measured flows.

    Columns are `class`, `size_bytes`, `start_s`, `fct_s`, and, if known, `ideal_fct_s` and `slowdown`.
    """

    name: str
    """Name of the file."""
    flows: "pl.DataFrame" = field(repr=False, compare=False)
    bins: Bins = USUAL_BINS
    too_fast: str = ""
    """Remark on flows that are faster than the scenario's empty network. Empty without such flows."""

    @property
    def note(self) -> str:
        """Note on the row of measured flows."""
        known = self.flows.height - self.flows["slowdown"].null_count()
        slowdown = "Slowdowns are relative to the time in the scenario's empty network."
        if known < self.flows.height:
            known_of = f"only {known:,} of these flows" if known else "none of these flows"
            slowdown = f"The time in the scenario's empty network is known for {known_of}, so there is no slowdown."
        return (
            f"{MEASURED}: {counted(self.flows.height, 'flow')} of {self.name}, warm-up included. Measured flows have "
            f"no seeds, so they have no interval and no paired difference. {slowdown}{self.too_fast}"
        )

    @property
    def result(self) -> Result:
        """The completion times as a `Result`."""
        end_s = float((self.flows["start_s"] + self.flows["fct_s"]).to_numpy().max(initial=0.0))
        meta: Any = {"warmup_s": 0.0, "duration_s": end_s, "end_s": end_s, "drops": []}
        tables = {name: pl.DataFrame(schema=columns) for name, columns in metrics.columns.TABLES.items()}
        unknown = {None, *self.flows.filter(pl.col("slowdown").is_null())["class"]}
        rows = [
            row
            for row in measure({**tables, "flows": _as_table(self.flows)}, meta, self.bins)
            if row.metric.statistic in _OF_TIMES
            and (row.metric.unit != "x" or len(unknown) == 1 or row.metric.flow_class not in unknown)
        ]
        return Result({"provenance": _ORIGIN, **as_measured(rows, self.bins), "tables": {}, "meta": meta})

    @property
    def finished(self) -> "pl.DataFrame":
        """All flows, with the column names that charts use."""
        return self.flows.with_columns(elapsed_s="fct_s", elapsed_slowdown="slowdown", censored=pl.lit(False))

    def in_network(self, flows: "Iterable[pl.DataFrame]") -> "MeasuredFlows":
        """The flows with slowdowns, if runs give one ideal FCT for each size. Otherwise, the flows unchanged."""
        known = pl.concat(each.select("size_bytes", "ideal_fct_s").drop_nulls().unique() for each in flows)
        by_size = known.group_by("size_bytes").agg(pl.col("ideal_fct_s").min(), high=pl.col("ideal_fct_s").max())
        by_size = by_size.sort("size_bytes")
        longest = by_size["high"].cum_max()  # ideal FCT up to this size: on one path, a larger flow takes longer
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
        found = found.with_columns(slowdown=pl.col("fct_s") / pl.col("ideal_fct_s"))
        last = by_size.row(-1, named=True)
        larger = pl.col("size_bytes") > last["size_bytes"]  # they take at least as long as the largest simulated flow
        least = pl.when(larger).then(last["ideal_fct_s"]).otherwise(pl.col("ideal_fct_s"))
        return replace(self, flows=found, too_fast=_too_fast(found.with_columns(least_s=least)))


def _too_fast(flows: "pl.DataFrame") -> str:
    """Remark on flows that take less than the minimum time `least_s` in seconds. Empty without such flows."""
    fast = flows.filter(pl.col("fct_s") < (1 - _SAME) * pl.col("least_s")).sort(pl.col("fct_s") / pl.col("least_s"))
    if fast.is_empty():
        return ""
    first = fast.row(0, named=True)
    return (
        f" {counted(fast.height, 'flow')} took less time than the scenario's empty network needs: "
        f"{first['size_bytes']:,} B in {1e6 * first['fct_s']:,.3g} µs instead of at least "
        f"{1e6 * first['least_s']:,.3g} µs. Check the unit of fct_s and the rates of the scenario."
    )


def read_measured(source: FrameSource, classes: Sequence[str]) -> MeasuredFlows:
    """Reads measured flows from a CSV or Parquet file or a data frame, for a scenario with these classes.

    Without a column `class`, all flows are of class `short`, or of the only class. A `ConfigError` names the file, the
    column, the row, and the expected value.
    """
    name, table = _table(source)

    def check(given: "pl.Series", right: "pl.Series", expected: str) -> None:
        wrong = (~right.fill_null(False)).arg_true()
        if len(wrong):
            at = int(wrong[0])
            row = f"line {at + 2}" if name.lower().endswith(".csv") else f"row {at + 1}"
            found = "is empty" if given[at] is None else f"{given[at]!r}".replace("'", '"')
            raise ConfigError(f"{name}: {row}, column {given.name}: {found}; expected {expected}")

    def numbers(given: "pl.Series") -> "pl.Series":
        wanted = _EXPECTED[given.name]
        if given.dtype != pl.String and not given.dtype.is_numeric():
            raise ConfigError(f"{name}: column {given.name}: is of type {given.dtype}; expected {wanted}")
        found = given.cast(pl.Float64, strict=False)
        right = found.is_finite() & (found >= 0 if given.name == "start_s" else found > 0)
        if given.name == "size_bytes":
            right &= (found == found.floor()) & (found < 2**53)
        check(given, right, wanted)
        return found

    known = [*_EXPECTED, "class"]
    expected = f"expected {', '.join(_EXPECTED)} and optionally class"
    for column in _EXPECTED:
        if column not in table.columns:
            raise ConfigError(f"{name}: has no column {column}; {expected}{_separator(table.columns)}")
    for number, column in enumerate(table.columns, start=1):
        if column not in known:
            raise ConfigError(f"{name}: column {number}: unknown{did_you_mean(column, known)}; {expected}")
    if table.is_empty():
        raise ConfigError(f"{name}: has no rows")
    found = {column: numbers(table[column]) for column in _EXPECTED}
    if "class" in table.columns:
        of = table["class"].cast(pl.String)
        check(of, of.is_in(list(classes)), f"a class of the scenario: {', '.join(classes)}")
    else:
        usual = _USUAL_CLASS if _USUAL_CLASS in classes else classes[0]
        if usual != _USUAL_CLASS and len(classes) > 1:
            raise ConfigError(f"{name}: has no column class; expected one of {', '.join(classes)} for each flow")
        of = pl.Series("class", [usual] * table.height, pl.String)
    sizes = found["size_bytes"].cast(pl.UInt64)
    flows = pl.DataFrame({"class": of, "size_bytes": sizes, "start_s": found["start_s"], "fct_s": found["fct_s"]})
    nothing = pl.lit(None, pl.Float64)
    return MeasuredFlows(name, flows.with_columns(ideal_fct_s=nothing, slowdown=nothing))


def _separator(columns: Sequence[str]) -> str:
    """Remark on a header with another separator than commas. Empty for other headers."""
    names = {"\t": "tabs", ";": "semicolons", "|": "bars", " ": "spaces"}
    found = next((name for sign, name in names.items() if len(columns) == 1 and sign in columns[0]), None)
    return f"; the columns are separated by {found}, and commas are expected" if found else ""


def _table(source: FrameSource) -> "tuple[str, pl.DataFrame]":
    """Name for messages, and the table. Columns of CSV files stay texts."""
    if not isinstance(source, str | Path):
        table = as_polars(source)
        if table is None:
            raise ConfigError(f"measured: expected a file or a data frame, not {type(source).__name__}")
        return "measured flows", table
    path = Path(source)
    data = _core.read_file(str(path))
    if path.suffix.lower() not in (".csv", ".parquet"):
        raise ConfigError(f"{path}: expected a file that ends in .csv or .parquet")
    try:
        if path.suffix.lower() == ".parquet":
            return str(path), pl.read_parquet(data)
        return str(path), pl.read_csv(data, infer_schema=False)
    except pl.exceptions.PolarsError:  # without the error's text, which quotes the file
        raise ConfigError(
            f"{path}: is no {path.suffix[1:]} table; expected {', '.join(_EXPECTED)} and optionally class"
        ) from None


def _as_table(flows: "pl.DataFrame") -> "pl.DataFrame":
    """The flows with the columns of a run's flow table. Unknown values are null, and unknown counts are 0."""
    counts = ("acked_bytes", "delivered_bytes", "measured_retransmits", "measured_timeouts", "retransmits", "timeouts")
    whole = pl.DataFrame(schema=metrics.columns.TABLES["flows"])
    found = flows.with_columns(finish_s=pl.col("start_s") + pl.col("fct_s"))
    table = pl.concat([whole, found], how="diagonal_relaxed").cast(whole.schema)
    zeros, words = pl.col("id", "marks", *counts).fill_null(0), pl.col("source", "destination").fill_null("")
    return table.with_columns(zeros, words)
