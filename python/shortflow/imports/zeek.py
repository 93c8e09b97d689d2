"""Zeek's `conn.log`, as columns or as JSON: a trace with a flow for each direction that has bytes.

Source: Zeek's documentation of conn.log (`ts`, `id.orig_h`, `id.resp_h`, `orig_bytes`, `resp_bytes`).
"""

import json
import re

from shortflow.errors import ConfigError
from shortflow.imports import columns
from shortflow.imports.files import File
from shortflow.imports.parts import Flows, Format, Options, Part
from shortflow.lazy import pl
from shortflow.quantities import counted

_FIELDS = {"ts": "start", "id.orig_h": "orig", "id.resp_h": "resp", "orig_bytes": "sent", "resp_bytes": "answered"}
_UNSET = ("-", "(empty)", "")


def _is_log(file: File) -> bool:
    first = next((line for line in file.head.split("\n") if line.strip()), "")
    return first.startswith("#separator") or (first.startswith("{") and '"id.orig_h"' in first)


def _read(file: File, _: Options) -> Part:
    table = _of_json(file) if file.head.lstrip().startswith("{") else _of_columns(file)
    part = Part()
    start = columns.numbers(file, table, "start", "a time in seconds")
    known = table.with_columns(start=start)
    flows = []
    for of_bytes, source, destination, name in (
        ("sent", "orig", "resp", "request"),
        ("answered", "resp", "orig", "response"),
    ):
        rows = known.filter(~pl.col(of_bytes).is_in(_UNSET))
        size = columns.numbers(file, rows, of_bytes, "a whole number of bytes, or -", is_whole=True)
        ends = {"source": pl.col(source), "destination": pl.col(destination)}
        rows = rows.select(columns.LINE, "start", **ends).with_columns(size.alias("bytes"), pl.lit(name).alias("class"))
        flows.append(rows.filter(pl.col("bytes") > 0))
    unset = int(known.select(((pl.col("sent").is_in(_UNSET)) & (pl.col("answered").is_in(_UNSET))).sum()).item())
    if unset:
        part.left_out.append(f"{counted(unset, 'connection')} without a number of bytes.")
    both = pl.concat(flows).sort("start", columns.LINE, maintain_order=True).drop(columns.LINE)
    if both.is_empty():
        raise ConfigError(f"{file.path}: no connection has bytes")
    part.notes.append(
        f"{table.height:,} connections: bytes of payload to the responder are flows of class request, those back of "
        "class response. Both start with the connection, as the log has no other time."
    )
    lines = table[columns.LINE]
    part.flows = Flows(both, file.origin(int(lines[0]), int(lines[-1])))
    return part


def _of_columns(file: File) -> "pl.DataFrame":
    heads = dict(line[1:].split(None, 1) for line in file.head.split("\n") if re.match(r"#\w+\s+\S", line))
    sign = heads.get("separator", r"\x09").strip().encode().decode("unicode_escape")
    line = next((line for line in file.head.split("\n") if line.startswith("#fields")), "")
    names = [name.strip() for name in line.split(sign)[1:]]
    missing = [name for name in _FIELDS if name not in names]
    if missing:
        raise ConfigError(f"{file.path}: #fields: has no {missing[0]}; expected {', '.join(_FIELDS)}")
    table = columns.rows(file, 1, names, separator=sign)
    return table.select(columns.LINE, *(pl.col(name).alias(to) for name, to in _FIELDS.items())).with_columns(
        pl.col(*list(_FIELDS.values())[3:]).fill_null("-")
    )


def _of_json(file: File) -> "pl.DataFrame":
    found: dict[str, list[object]] = {name: [] for name in (columns.LINE, *_FIELDS.values())}
    for number, line in file.lines():
        try:
            row = json.loads(line)
        except ValueError:
            raise file.wrong(number, "line", line, "a JSON object") from None
        found[columns.LINE].append(number)
        for name, to in _FIELDS.items():
            found[to].append(str(row.get(name, "-")))
    return pl.DataFrame(found)


LOG = Format(
    "zeek-conn",
    "Zeek's conn.log, as columns or JSON: a trace of flows",
    "a line #separator \\x09, or JSON objects with id.orig_h",
    _is_log,
    _read,
)
