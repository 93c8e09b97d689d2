"""Tables with one flow a row and a header: nfdump's CSV, exports of other tools, and frames of Polars or pandas.

Source of nfdump's names: nfdump(1), output formats csv and, before version 1.7, csv.
"""

import re
from collections.abc import Mapping, Sequence

from shortflow.errors import ConfigError
from shortflow.imports import columns
from shortflow.imports.files import File
from shortflow.imports.parts import Flows, Format, Options, Part
from shortflow.imports.units import bytes_per_unit, seconds_per_unit
from shortflow.lazy import pl
from shortflow.quantities import counted

_NAMES: Mapping[str, Sequence[str]] = {
    "start": (
        "start",
        "start_s",
        "start_time",
        "starttime",
        "ts",
        "time",
        "timestamp",
        "firstseen",
        "first_seen",
        "first",
    ),
    "source": (
        "source",
        "src",
        "sa",
        "srcaddr",
        "src_addr",
        "src_ip",
        "srcip",
        "ip_src",
        "source_ip",
        "src_host",
        "sip",
    ),
    "destination": (
        *("destination", "dst", "dest", "da", "dstaddr", "dst_addr", "dst_ip", "dstip", "ip_dst", "destination_ip"),
        *("dst_host", "dip"),
    ),
    "bytes": ("bytes", "size", "size_bytes", "flow_size", "ibyt", "in_bytes", "octets", "doctets", "byt", "nbytes"),
}
_OPTIONAL: Mapping[str, Sequence[str]] = {"class": ("class",), "deadline": ("deadline",)}
_UNITS = re.compile(r"[ _(\[]+(ns|us|ms|s|sec|seconds)[)\]]?$")
_SEPARATORS = (",", ";", "\t", "|")
_DATE = re.compile(r"\d{4}-\d\d-\d\d[ T]")


def _header(file: File) -> tuple[int, list[str], str]:
    """Line, names and separator of the header; no names if there is none."""
    for number, line in enumerate(file.head.split("\n"), start=1):
        if not line.strip() or line.startswith(("#", "//")):
            continue
        sign = max(_SEPARATORS, key=line.count)
        return number, [name.strip().strip('"').lower() for name in line.split(sign)], sign
    return 0, [], ","


def _found(names: Sequence[str], wanted: Mapping[str, Sequence[str]]) -> dict[str, int]:
    plain = [_UNITS.sub("", name) for name in names]
    places = {
        of: next((plain.index(each) for each in (*known,) if each in plain), None) for of, known in wanted.items()
    }
    return {of: place for of, place in places.items() if place is not None}


def _is_table(file: File) -> bool:
    return set(_found(_header(file)[1], _NAMES)) == set(_NAMES)


def _read(file: File, options: Options) -> Part:
    number, names, sign = _header(file)
    places = {**_found(names, _NAMES), **_found(names, _OPTIONAL)}
    wide = [f"column {place + 1}" for place in range(len(names))]
    table = columns.rows(file, number + 1, wide, separator=sign)
    table = table.select(
        columns.LINE, *(pl.col(wide[place]).str.strip_chars('"').alias(of) for of, place in places.items())
    )
    part = Part()
    rest = table.filter(pl.col("destination").is_null() | (pl.col("start") == "Summary"))
    if rest.height:  # nfdump ends with a summary
        last = int(rest[columns.LINE][0])
        part.left_out.append(
            f"{counted(table.height - table.filter(pl.col(columns.LINE) < last).height, 'line')} of summary."
        )
        table = table.filter(pl.col(columns.LINE) < last)
    if table.is_empty():
        raise columns.empty(file, "rows below the header")
    start, said = _starts(file, table, names[places["start"]], options)
    factor = bytes_per_unit(options.unit) if options.unit else 1.0
    size = columns.numbers(file, table, "bytes", "a whole number of bytes", is_whole=True)
    size = (size * factor).round().cast(pl.Int64) if factor != 1 else size
    flows = table.select("source", "destination", *(name for name in _OPTIONAL if name in places))
    flows = flows.with_columns(start.alias("start"), size.alias("bytes"))
    if "class" in flows.columns:
        flows = flows.with_columns(pl.col("class").str.to_lowercase().fill_null("short").replace("", "short"))
    empty = flows.filter(pl.col("bytes") <= 0).height
    if empty:
        part.left_out.append(f"{counted(empty, 'row')} of 0 bytes.")
    flows = flows.filter(pl.col("bytes") > 0).sort("start", maintain_order=True)
    if flows.is_empty():
        raise ConfigError(f"{file.path}: no row has bytes")
    part.notes.append(f"{', '.join(f'{of} is column {names[place]}' for of, place in places.items())}; {said}.")
    part.flows = Flows(flows, file.origin(int(table[columns.LINE][0]), int(table[columns.LINE][-1])))
    return part


def _starts(file: File, table: "pl.DataFrame", name: str, options: Options) -> tuple["pl.Series", str]:
    """Starts in seconds, and how they were read: dates, or numbers of a unit."""
    if _DATE.match(str(table["start"][0])):
        times = table["start"].str.to_datetime(
            strict=False, time_unit="us", time_zone="UTC" if _has_zone(table) else None
        )
        columns.check(file, table, "start", times.is_not_null(), "a date and time such as 2026-01-31 12:00:00.123")
        return times.dt.epoch("us") * 1e-6, "starts are dates"
    unit = _UNITS.search(name)
    named = unit[1].replace("seconds", "s").replace("sec", "s") if unit else None
    texts = table["start"].str.extract(r"^([-+0-9.eE]+)\s*(ps|ns|us|ms|s)?$", 1)
    units = table["start"].str.extract(r"(ps|ns|us|ms|s)$", 1)
    found = columns.numbers(file, table.with_columns(start=texts), "start", "a time, a number or a date")
    if units.is_not_null().any():
        factors = {each: seconds_per_unit(each) for each in ("ps", "ns", "us", "ms", "s")}
        return found * units.fill_null("s").replace_strict(factors, return_dtype=pl.Float64), "starts have units"
    taken = options.time or named or "s"
    how = "as given" if options.time else "as the header says" if named else "assumed; change it with --time"
    return found * seconds_per_unit(taken), f"starts are in {taken}, {how}"


def _has_zone(table: "pl.DataFrame") -> bool:
    return bool(re.search(r"(Z|[+-]\d\d:?\d\d)$", str(table["start"][0])))


FLOWS: Format = Format(
    "flow-table",
    "one flow a row with a header: nfdump's CSV, exports of collectors and of frames: a trace of flows",
    "a header with columns such as start, source, destination, bytes, or ts, sa, da, ibyt",
    _is_table,
    _read,
)
