"""Zeek's `conn.log` in columns or JSON: a trace with a flow for each direction that has bytes.

Source: Zeek's documentation of conn.log (`ts`, `id.orig_h`, `id.resp_h`, `orig_bytes`, `resp_bytes`).
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence

from shortflow.errors import ConfigError
from shortflow.imports import columns
from shortflow.imports.documents import read_json
from shortflow.imports.files import File
from shortflow.imports.parts import Flows, Format, Options, Part
from shortflow.imports.protocols import protocols
from shortflow.imports.times import dates_since_first, since_first
from shortflow.lazy import pl
from shortflow.quantities import counted

_FIELDS = {"ts": "start", "id.orig_h": "orig", "id.resp_h": "resp", "orig_bytes": "sent", "resp_bytes": "answered"}
_FILE_NAMES = {to: name for name, to in _FIELDS.items()}
"""Names of the log's fields, for errors."""
_PROTOCOL = "proto"
_UNSET = ("-", "(empty)", "")
_DATE = r"^\d{4}-\d\d-\d\dT"


def _is_log(file: File) -> bool:
    first = next((line for line in file.head.split("\n") if line.strip()), "")
    return first.startswith("#separator") or (first.startswith(("{", "[")) and '"id.orig_h"' in file.head)


def _read(file: File, _: Options) -> Part:
    table, names = _of_json(file) if file.head.lstrip().startswith(("{", "[")) else _of_columns(file)
    part = Part()
    if table.is_empty():
        raise columns.empty(file, "connections below #fields")
    for end in ("orig", "resp"):
        columns.check(file, table, end, ~table[end].is_in(_UNSET), "an address", _FILE_NAMES[end])
    start, first = _starts(file, table)
    known = table.with_columns(start=start)
    flows = []
    for of_bytes, source, destination, name in (
        ("sent", "orig", "resp", "request"),
        ("answered", "resp", "orig", "response"),
    ):
        rows = known.filter(~pl.col(of_bytes).is_in(_UNSET))
        size = columns.numbers(
            file, rows, of_bytes, "a whole number of bytes, or -", is_whole=True, field=_FILE_NAMES[of_bytes]
        )
        ends = {"source": pl.col(source), "destination": pl.col(destination)}
        rows = rows.select(columns.LINE, "start", **ends).with_columns(size.alias("bytes"), pl.lit(name).alias("class"))
        flows.append(rows.filter(pl.col("bytes") > 0))
    part.left_out += _left_out(table, names)
    both = pl.concat(flows).sort("start", columns.LINE, maintain_order=True)
    if both.is_empty():
        raise ConfigError(f"{file.path}: no connection has bytes")
    part.notes.append(
        f"{counted(table.height, 'connection')}: bytes of payload to the responder became flows of class request, and "
        "bytes back became flows of class response. Both start with the connection, because the log has no other time."
    )
    if first:
        part.notes.append(f"Starts count from the first, {first}.")
    lines = table[columns.LINE]
    part.flows = Flows(both, file.origin(int(lines[0]), int(lines[-1])), str(file.path))
    return part


def _left_out(table: "pl.DataFrame", names: Sequence[str]) -> list[str]:
    """Sentences on directions without bytes, on protocols, and on columns that the trace does not have."""
    sentences = []
    unset = table["sent"].is_in(_UNSET) & table["answered"].is_in(_UNSET)
    sends, answers = (table[of].cast(pl.Float64, strict=False).fill_null(0) > 0 for of in ("sent", "answered"))
    if unset.any():
        sentences.append(f"{counted(int(unset.sum()), 'connection')} without a number of bytes.")
    if (empty := ~(sends | answers | unset)).any():
        sentences.append(f"{counted(int(empty.sum()), 'connection')} of 0 bytes.")
    for of, lacks, way in (("sent", answers & ~sends, "request"), ("answered", sends & ~answers, "response")):
        if lacks.any():
            rows = counted(int(lacks.sum()), "connection")
            sentences.append(f"The {way} of {rows}, of which {_FILE_NAMES[of]} has 0 bytes or no number.")
    if _PROTOCOL in table.columns:
        sentences.append(protocols(table[_PROTOCOL], _PROTOCOL))
    others = [name for name in names if name not in (*_FIELDS, _PROTOCOL)]
    if others:
        sentences.append(f"Fields {', '.join(others)}. A trace has only starts, hosts and sizes.")
    return sentences


def _starts(file: File, table: "pl.DataFrame") -> tuple["pl.Series", str]:
    """Starts in seconds, from numbers or from dates of Zeek's `json_timestamps`, and the first start as text.

    Calendar times count from the first start. For other times, the text is empty.
    """
    if not table["start"].str.contains(_DATE).any():
        found = columns.numbers(file, table, "start", "a time in seconds", field="ts")
        return since_first(table["start"], 1) or (found, "")
    times = table["start"].str.to_datetime("%+", strict=False, time_unit="ns", time_zone="UTC")
    columns.check(file, table, "start", times.is_not_null(), "a date and time such as 2026-01-31T12:00:00.5Z", "ts")
    return dates_since_first(times, table["start"])


def _of_columns(file: File) -> "tuple[pl.DataFrame, Sequence[str]]":
    """The connections, and the names of all fields."""
    heads = dict(line[1:].split(None, 1) for line in file.head.split("\n") if re.match(r"#\w+\s+\S", line))
    written = heads.get("separator", r"\x09").strip()
    one = re.fullmatch(r"\\x([0-9a-fA-F]{2})|(.)", written)
    if not one:
        raise file.wrong(1, "#separator", written, r"one sign, such as \x09")
    sign = chr(int(one[1], 16)) if one[1] else one[2]
    line = next((line for line in file.head.split("\n") if line.startswith("#fields")), "")
    names = [name.strip() for name in line.split(sign)[1:]]
    missing = [name for name in _FIELDS if name not in names]
    if missing:
        raise ConfigError(f"{file.path}: #fields: has no {missing[0]}; expected {', '.join(_FIELDS)}")
    if len(set(names)) < len(names):
        raise file.wrong(0, "#fields", line, "each name once")
    table = columns.rows(file, 1, names, separator=sign)
    further = [_PROTOCOL] if _PROTOCOL in names else []
    found = table.select(columns.LINE, *(pl.col(name).alias(to) for name, to in _FIELDS.items()), *further)
    for name, to in _FIELDS.items():
        columns.check(file, found, to, found[to].is_not_null(), "a value, as #fields says", name)
    return found, names


def _of_json(file: File) -> "tuple[pl.DataFrame, Sequence[str]]":
    """The connections, and the names of all fields."""
    found: dict[str, list[object]] = {name: [] for name in (columns.LINE, *_FIELDS.values(), _PROTOCOL)}
    names: dict[str, None] = {}
    for number, row in _listed(file) if file.head.lstrip().startswith("[") else _objects(file):
        found[columns.LINE].append(number)
        names.update(dict.fromkeys(row))
        for name, to in (*_FIELDS.items(), (_PROTOCOL, _PROTOCOL)):
            value = row.get(name)
            found[to].append("-" if value is None else str(value))
    table = pl.DataFrame(found)
    return table if _PROTOCOL in names else table.drop(_PROTOCOL), list(names)


def _objects(file: File) -> Iterator[tuple[int, Mapping[str, object]]]:
    """The object of each line, with its line number."""
    for number, line in file.lines():
        try:
            row = json.loads(line, parse_float=str)  # a float would lose digits
        except (ValueError, RecursionError):
            row = None
        if not isinstance(row, dict):
            raise file.wrong(number, "line", line, "a JSON object")
        yield number, row


def _listed(file: File) -> Iterator[tuple[int, Mapping[str, object]]]:
    """The objects of a list, with their line numbers."""
    for place in read_json(file, decimals=str).each():  # a float would lose digits
        if not isinstance(place.value, dict):
            raise place.wrong("a JSON object")
        yield place.line, place.value


LOG = Format(
    "zeek-conn",
    "Zeek's conn.log, as columns or JSON: a trace of flows",
    "a line #separator \\x09, or JSON objects with id.orig_h",
    _is_log,
    _read,
)
