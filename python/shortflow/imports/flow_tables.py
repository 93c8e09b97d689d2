"""Tables with a header and one flow per row: nfdump's CSV, exports of other tools, and frames of Polars or pandas.

Source of nfdump's names: nfdump(1), output format csv of version 1.7 and of earlier versions.
"""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from shortflow.errors import ConfigError
from shortflow.imports import columns
from shortflow.imports.files import File
from shortflow.imports.headings import (
    COUNTS,
    DESTINATION,
    FLOW,
    FURTHER,
    ONE_WAY,
    PROTOCOLS,
    SHARE,
    SIZE,
    SOURCE,
    START,
    SUMS,
    column_of,
    meaning,
    plain_heading,
)
from shortflow.imports.numerals import with_points
from shortflow.imports.parts import Flows, Format, Options, Part
from shortflow.imports.protocols import protocols
from shortflow.imports.sizes import Heading, in_bytes
from shortflow.imports.starts import deadlines, is_date, starts
from shortflow.imports.units import of_name
from shortflow.lazy import pl
from shortflow.quantities import counted

_SIZED = ("bytes", "back")
_TOTAL = ("totbytes", "tot_bytes")
"""Columns of Argus with the bytes of both directions."""
_LENGTHS = ("length", "frame.len", "frame_len", "ip.len", "caplen")
"""Columns of tables with one packet per row."""
_SEPARATORS = (",", ";", "\t", "|")
_TRACE = (START, SOURCE, DESTINATION)
_LOOKED_AT = 20
"""Maximum number of lines among which the header is sought. Titles may precede the header."""


@dataclass(frozen=True)
class _Header:
    line: int
    names: Sequence[str]
    """Names of the columns. Empty without a header."""
    separator: str | None
    """The separator. None for blanks."""
    above: int = 0
    """Number of lines above that are neither empty nor comments."""


def _header(file: File) -> _Header:
    """The first line with all columns of a trace. Without such a line, the first line that is not a comment."""
    found = None
    above = 0
    for number, line in enumerate(file.head.split("\n"), start=1):
        if not line.strip():
            continue
        is_comment = line.startswith(("#", "//"))
        header = _names(number, line.lstrip("#/ ") if is_comment else line, above)
        if {*_found(header.names, FLOW)} == {*FLOW}:
            return header
        if is_comment:
            continue
        found = found or header
        above += not line.lower().startswith("sep=")  # Excel's first line, which names the separator
        if above > _LOOKED_AT:
            break
    return found or _Header(0, [], ",")


def _names(number: int, line: str, above: int) -> _Header:
    sign = max(_SEPARATORS, key=line.count)
    if sign not in line:
        return _Header(number, line.split(), None, above)
    try:
        names = next(csv.reader([line], delimiter=sign, skipinitialspace=True), [])
    except csv.Error:
        names = []
    return _Header(number, [" ".join(name.split()) for name in names], sign, above)


def _found(names: Sequence[str], wanted: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """Columns by meaning. If several columns have a meaning, the first counts."""
    places = {of: column_of(names, known, of_sizes=of in _SIZED) for of, known in wanted.items()}
    if SIZE in wanted and places[SIZE] is None:
        sizes = [place for place, name in enumerate(names) if meaning(name) == SIZE]
        places[SIZE] = sizes[0] if len(sizes) == 1 else None
    return {of: place for of, place in places.items() if place is not None}


def _is_table(file: File) -> bool:
    """True for the header of a trace.

    Also true for the header of an incomplete trace, so that the reader can raise the error.
    """
    header = _header(file)
    names = header.names
    found = {*_found(names, FLOW)}
    if found == {*FLOW} or _is_packets(names):
        return True
    known = [meaning(name) for name in names]
    if {SHARE, SUMS, COUNTS}.intersection(known) or (header.separator is None and "" in known):
        return False
    return len(found) > 1


def _is_packets(names: Sequence[str]) -> bool:
    """True for tables with one packet per row, such as Wireshark's export of its packet list."""
    return {*_found(names, FLOW)} >= {*_TRACE} and (
        any(plain_heading(name) in _LENGTHS for name in names) and column_of(names, FLOW[SIZE], of_sizes=True) is None
    )


def _read(file: File, options: Options) -> Part:
    header = _header(file)
    names = header.names
    part = Part()
    places = _places(names, part)
    _check_header(file, header, places)
    wide = [f"column {place + 1}" for place in range(len(names))]
    table = columns.rows(file, header.line + 1, wide, separator=header.separator)
    protocol = column_of(names, PROTOCOLS, of_sizes=False)
    taken = places if protocol is None else {**places, "protocol": protocol}
    table = table.select(columns.LINE, *(pl.col(wide[place]).alias(of) for of, place in taken.items()))
    table = _without_summary(table, part)
    if table.is_empty():
        raise columns.empty(file, "rows below the header")
    _say_left_out(part, header, taken, table)
    numbers = {of: names[places[of]] for of in ("start", *_SIZED, "deadline") if of in places}
    table = _with_plain_numbers(file, table, numbers, header, options)
    for end in ("source", "destination"):
        columns.check(file, table, end, table[end] != "", "a host or an address", names[places[end]])
    start, said = starts(file, table, names[places["start"]], header.line, options.time)
    size, of_size = _sizes(file, table, "bytes", Heading(names[places["bytes"]], header.line), options)
    kept = [name for name in ("class", "deadline") if name in places]
    flows = table.select(columns.LINE, "source", "destination", *kept)
    flows = flows.with_columns(start.alias("start"), size.alias("bytes"))
    if "class" in places:
        flows = _with_classes(flows, part)
    if "deadline" in places:
        of_times = (names[places["start"]], names[places["deadline"]], options.time)
        deadline, of_deadline = deadlines(file, table, *of_times)
        flows = flows.with_columns(deadline.alias("deadline"))
        said += f"; {of_deadline}"
    if "back" in places:
        flows = _both_ways(file, table, flows, Heading(names[places["back"]], header.line), options, part)
    empty = flows.filter(pl.col("bytes") <= 0).height
    if empty:
        part.left_out.append(f"{counted(empty, 'row')} of 0 bytes.")
    flows = flows.filter(pl.col("bytes") > 0).sort("start", maintain_order=True)
    if flows.is_empty():
        raise ConfigError(f"{file.path}: no row has bytes")
    part.notes.append(
        f"{', '.join(f'{of} is column {names[place]}' for of, place in places.items())}; {said}; {of_size}."
    )
    if plain_heading(names[places["bytes"]]) in _TOTAL:
        part.notes.append(
            f"Column {names[places['bytes']]} counts both directions; the import takes all bytes as sent to the "
            "destination. Columns SrcBytes and DstBytes separate the directions."
        )
    part.flows = Flows(flows, file.origin(int(table[columns.LINE][0]), int(table[columns.LINE][-1])), str(file.path))
    return part


def _check_header(file: File, header: _Header, places: Mapping[str, int]) -> None:
    """Raises `ConfigError` for a header that lacks a column of a trace, or that has such a column twice."""
    names, text = header.names, (header.separator or " ").join(header.names)
    if header.separator is None and [name.lower() for name in names[:3]] == ["date", "first", "seen"]:
        raise file.wrong(header.line, "header", text, "nfdump's CSV: write it with nfdump -o csv")
    if _is_packets(names):
        expected = "one flow a row, and these are packets: make flows of the capture with Zeek, Argus or nfpcapd"
        raise file.wrong(header.line, "header", text, expected)
    missing = [of for of in FLOW if of not in places]
    if missing:
        such = " and ".join(f"a column {of}, such as {FLOW[of][1]}" for of in missing)
        sizes = "" if SIZE in missing else ". To import the sizes alone, give --format size-samples"
        raise file.wrong(header.line, "header", text, f"{such}, for a trace of flows{sizes}")
    twice = [name for name in names if name and names.count(name) > 1 and names.index(name) in places.values()]
    if twice:
        raise file.wrong(header.line, "header", twice[0], "each column once")


def _with_classes(flows: "pl.DataFrame", part: Part) -> "pl.DataFrame":
    """Flows with classes in lower case. A row without a class gets the class short."""
    of = pl.col("class")
    found = flows.with_columns(of.str.to_lowercase().fill_null("short").replace("", "short"))
    without = int((flows["class"].fill_null("") == "").sum())
    if without:
        part.notes.append(f"{counted(without, 'row')} without a class became class short.")
    if flows.height - without > int((flows["class"] == found["class"]).sum()):
        part.notes.append("Classes are in lower case.")
    return found


def _both_ways(
    file: File, table: "pl.DataFrame", flows: "pl.DataFrame", heading: Heading, options: Options, part: Part
) -> "pl.DataFrame":
    """The flows, and a flow in the other direction for each row with bytes of the other direction."""
    filled = table.with_columns(back=pl.col("back").replace("", "0").fill_null("0"))
    size, said = _sizes(file, filled, "back", heading, options)
    if not (size > 0).any():
        part.left_out.append(f"Column {heading.name}, of which no row has bytes.")
        return flows
    ways = {"source": pl.col("destination"), "destination": pl.col("source")}
    back = flows.with_columns(**ways).with_columns(size.alias("bytes"))
    if "class" in flows.columns:
        of_class = "their class is that of the row with -response behind it"
        back = back.with_columns(pl.col("class") + "-response")
    else:
        of_class = "they are flows of class response, and the others of request"
        flows, back = (
            each.with_columns(pl.lit(of).alias("class")) for each, of in ((flows, "request"), (back, "response"))
        )
    if "deadline" in flows.columns:
        of_class += ". A deadline is that of the flow there, and those back have none"
        back = back.with_columns(pl.lit(None, pl.String).alias("deadline"))
    if without := int((size == 0).sum()):
        part.left_out.append(f"The flow back of {counted(without, 'row')}, of which {heading.name} has 0 bytes.")
    part.notes.append(f"Bytes of column {heading.name} go back ({said}): {of_class}.")
    return pl.concat([flows, back.filter(pl.col("bytes") > 0).select(flows.columns)])


def _places(names: Sequence[str], part: Part) -> dict[str, int]:
    """Columns by meaning.

    If a column has the bytes of the other direction, `bytes` is the column of one direction only.
    """
    places = {**_found(names, FLOW), **_found(names, FURTHER)}
    if "back" in places:
        there = column_of(names, ONE_WAY, of_sizes=True)
        if there is None:
            part.left_out.append(
                f"Column {names[places['back']]}: the bytes of the other direction, as no column such as {ONE_WAY[-2]} "
                "has those of one direction alone."
            )
            del places["back"]
        else:
            places["bytes"] = there
    return places


def _without_summary(table: "pl.DataFrame", part: Part) -> "pl.DataFrame":
    """Rows before nfdump's summary, which a row with the word Summary starts."""
    summary = table.filter(pl.col("start") == "Summary")
    if summary.is_empty():
        return table
    last = int(summary[columns.LINE][0])
    rest = table.filter(pl.col(columns.LINE) >= last)
    part.left_out.append(f"{counted(rest.height, 'line')} of summary.")
    return table.filter(pl.col(columns.LINE) < last)


def _with_plain_numbers(
    file: File, table: "pl.DataFrame", names: Mapping[str, str], header: _Header, options: Options
) -> "pl.DataFrame":
    """Starts and sizes as numbers with decimal points. Dates stay unchanged."""
    numbers = {of: name for of, name in names.items() if of != "start" or not is_date(table["start"][0])}
    whole = [of for of in _SIZED if of in names and not options.unit and _counts_bytes(names[of], table[of])]
    return with_points(file, table, numbers, header.separator, whole)


def _counts_bytes(name: str, texts: "pl.Series") -> bool:
    """True if neither the column's name nor a text gives a unit other than bytes."""
    named = of_name(name)
    return not (named and named.size != 1) and not texts.str.contains("[A-Za-z]").any()


def _sizes(
    file: File, table: "pl.DataFrame", column: str, heading: Heading, options: Options
) -> tuple["pl.Series", str]:
    """Sizes in whole bytes, and a sentence on the source of their unit."""
    scaled, said = in_bytes(file, table, heading, options.unit, column=column)
    whole = scaled.round()
    columns.check(file, table, column, (scaled - whole).abs() < 1e-6, "a whole number of bytes", heading.name)
    return whole.cast(pl.Int64), said


def _say_left_out(part: Part, header: _Header, taken: Mapping[str, int], table: "pl.DataFrame") -> None:
    """Reports data that a trace cannot have: lines above the header, other columns, and protocols."""
    if header.above:
        part.left_out.append(f"{counted(header.above, 'line')} above the header.")
    others = [name for place, name in enumerate(header.names) if name and place not in taken.values()]
    if others:
        noun = "Columns" if len(others) > 1 else "Column"
        part.left_out.append(f"{noun} {', '.join(others)}. A trace has only starts, hosts and sizes.")
    if "protocol" in table.columns:
        part.left_out.append(protocols(table["protocol"], header.names[taken["protocol"]]))


FLOWS: Format = Format(
    "flow-table",
    "one flow a row with a header: nfdump's CSV, exports of collectors and of frames: a trace of flows",
    "a header with columns such as start, source, destination, bytes, or ts, sa, da, ibyt",
    _is_table,
    _read,
    options=(
        "unit",
        "time",
    ),
)
