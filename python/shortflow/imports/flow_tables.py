"""Tables with one flow a row and a header: nfdump's CSV, exports of other tools, and frames of Polars or pandas.

Source of nfdump's names: nfdump(1), output formats csv and, before version 1.7, csv.
"""

import csv
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from shortflow.errors import ConfigError
from shortflow.imports import columns
from shortflow.imports.files import MOST, File
from shortflow.imports.numerals import with_points
from shortflow.imports.parts import Flows, Format, Options, Part
from shortflow.imports.times import dates_since_first, since_first
from shortflow.imports.units import bytes_per_unit, of_header, of_name, of_text, seconds_per_unit
from shortflow.lazy import pl
from shortflow.quantities import counted

_NAMES: Mapping[str, Sequence[str]] = {
    "start": (
        *("start", "start_s", "start_time", "starttime", "ts", "time", "timestamp", "firstseen", "first_seen", "first"),
        *("beginn", "startzeit", "anfang", "zeit", "zeitstempel", "debut", "heure_de_debut", "horodatage", "temps"),
        *("heure", "inicio", "hora_de_inicio", "comienzo", "tiempo", "hora", "marca_de_tiempo"),
    ),
    "source": (
        *("source", "src", "sa", "srcaddr", "src_addr", "src_ip", "srcip", "ip_src", "source_ip", "src_host", "sip"),
        *("quelle", "quelladresse", "quell_ip", "quell_adresse", "absender", "sender", "ip_source", "adresse_source"),
        *("expediteur", "origen", "ip_origen", "ip_de_origen", "direccion_origen", "direccion_de_origen"),
    ),
    "destination": (
        *("destination", "dst", "dest", "da", "dstaddr", "dst_addr", "dst_ip", "dstip", "ip_dst", "destination_ip"),
        *("dst_host", "dip", "ziel", "zieladresse", "ziel_ip", "ziel_adresse", "empfanger", "empfaenger"),
        *("ip_destination", "adresse_destination", "destinataire", "destino", "ip_destino", "ip_de_destino"),
        *("direccion_destino", "direccion_de_destino"),
    ),
    "bytes": (
        *("bytes", "size", "size_bytes", "flow_size", "ibyt", "in_bytes", "octets", "doctets", "byt", "nbytes"),
        *("totbytes", "tot_bytes", "total_bytes", "bytes_total", "grosse", "groesse", "volumen", "datenmenge"),
        *("taille", "volume", "octetos", "tamano", "kbytes", "mbytes", "bits", "kbits", "srcbytes", "src_bytes"),
    ),
}
"""Names of columns in lower case without accents; German, French and Spanish ones after the English."""
_OPTIONAL: Mapping[str, Sequence[str]] = {
    "class": ("class",),
    "deadline": ("deadline",),
    "back": ("obyt", "out_bytes", "dstbytes", "dst_bytes"),
}
"""`back` has the bytes of the other direction, as bidirectional flows of nfdump and Argus have them."""
_SIZED = ("bytes", "back")
_THERE = ("ibyt", "in_bytes", "srcbytes", "src_bytes")
_TOTAL = ("totbytes", "tot_bytes")
"""Bytes of both directions, in Argus."""
_LENGTHS = ("length", "frame.len", "frame_len", "ip.len", "caplen")
"""Columns of one packet a row."""
_CLOCK = r"^(\d\d?):(\d\d):(\d\d(?:\.\d+)?)$"
"""Time of the day, as Argus prints it."""
_UNITS = re.compile(r"[ _(\[]+(ns|us|ms|s|sec|seconds|sekunden|secondes|segundos)[)\]]*$")
_SIZE_UNITS = re.compile(
    r"[ _(\[]+((in|en)_)?(([kmgt]i?|kilo|mega|giga|tera)?(b|bytes?|octets?|bits?)|[kmg]i?o|packets|pkts|pakete|paquets|"
    r"paquetes)[)\]]*$"
)
_SEPARATORS = (",", ";", "\t", "|")
_DATE = re.compile(r"(\d{4}[-/]\d\d[-/]\d\d|\d\d\.\d\d\.\d{4})[ T]")
"""Years first, or days first between points."""
_TIME = re.compile(r"(?i)^([-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)\s*(ps|ns|us|ms|s)?$")
_SIZE = r"(?i)^((?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)\s*([A-Z]+)?$"
_FAR = 1e11
"""Starts of this many seconds are of the year 5138: their unit is another one."""


@dataclass(frozen=True)
class _Header:
    line: int
    names: Sequence[str]
    """Names of the columns; none if there is no header."""
    separator: str | None
    """None for blanks."""


def _header(file: File) -> _Header:
    for number, line in enumerate(file.head.split("\n"), start=1):
        if not line.strip() or line.startswith(("#", "//")):
            continue
        sign = max(_SEPARATORS, key=line.count)
        if sign not in line:
            return _Header(number, line.split(), None)
        try:
            names = next(csv.reader([line], delimiter=sign, skipinitialspace=True), [])
        except csv.Error:
            names = []
        return _Header(number, [" ".join(name.split()) for name in names], sign)
    return _Header(0, [], ",")


def _found(names: Sequence[str], wanted: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """Columns by meaning; the first of several."""
    found = {}
    for of, known in wanted.items():
        place = _place(names, known, _SIZE_UNITS if of in _SIZED else _UNITS)
        if place is not None:
            found[of] = place
    return found


def _place(names: Sequence[str], known: Sequence[str], unit: re.Pattern[str]) -> int | None:
    """The column of the first of the known names, with or without a unit behind it; None without any."""
    words = [_plain_name(name) for name in names]
    plain = [name if name in known else unit.sub("", name) for name in words]
    return next((plain.index(each) for each in known if each in plain), None)


def _plain_name(name: str) -> str:
    """A column's name in lower case, without accents, with underscores."""
    letters = unicodedata.normalize("NFKD", name.casefold())
    return re.sub(r"[ -]+", "_", "".join(each for each in letters if not unicodedata.combining(each)))


def _is_table(file: File) -> bool:
    names = _header(file).names
    return set(_found(names, _NAMES)) == set(_NAMES) or _is_packets(names)


def _is_packets(names: Sequence[str]) -> bool:
    """True for one packet a row, as Wireshark exports its list."""
    return {*_found(names, _NAMES)} == {*_NAMES} - {"bytes"} and any(_plain_name(name) in _LENGTHS for name in names)


def _read(file: File, options: Options) -> Part:
    header = _header(file)
    names = header.names
    part = Part()
    places = _places(names, part)
    if header.separator is None and [name.lower() for name in names[:3]] == ["date", "first", "seen"]:
        raise file.wrong(header.line, "header", " ".join(names), "nfdump's CSV: write it with nfdump -o csv")
    if _is_packets(names):
        expected = "one flow a row, and these are packets: make flows of the capture with Zeek, Argus or nfpcapd"
        raise file.wrong(header.line, "header", " ".join(names), expected)
    missing = [of for of in _NAMES if of not in places]
    if missing:
        raise file.wrong(
            header.line, "header", " ".join(names), f"a column {missing[0]}, such as {_NAMES[missing[0]][1]}"
        )
    twice = [name for name in names if name and names.count(name) > 1 and names.index(name) in places.values()]
    if twice:
        raise file.wrong(header.line, "header", twice[0], "each column once")
    wide = [f"column {place + 1}" for place in range(len(names))]
    table = columns.rows(file, header.line + 1, wide, separator=header.separator)
    table = table.select(columns.LINE, *(pl.col(wide[place]).alias(of) for of, place in places.items()))
    table = _without_summary(table, part)
    if table.is_empty():
        raise columns.empty(file, "rows below the header")
    numbers = {of: names[places[of]] for of in ("start", *_SIZED, "deadline") if of in places}
    table = _with_plain_numbers(file, table, numbers, header, options)
    for end in ("source", "destination"):
        columns.check(file, table, end, table[end] != "", "a host or an address", names[places[end]])
    start, said = _starts(file, table, names[places["start"]], options)
    size, of_size = _sizes(file, table, names[places["bytes"]], options)
    kept = [name for name in ("class", "deadline") if name in places]
    flows = table.select(columns.LINE, "source", "destination", *kept)
    flows = flows.with_columns(start.alias("start"), size.alias("bytes"))
    if "class" in places:
        flows = flows.with_columns(pl.col("class").str.to_lowercase().fill_null("short").replace("", "short"))
    if "deadline" in places:
        flows = flows.with_columns(_deadlines(file, table, names[places["deadline"]]).alias("deadline"))
    if "back" in places:
        flows = _both_ways(file, table, flows, names[places["back"]], options, part)
    empty = flows.filter(pl.col("bytes") <= 0).height
    if empty:
        part.left_out.append(f"{counted(empty, 'row')} of 0 bytes.")
    flows = flows.filter(pl.col("bytes") > 0).sort("start", maintain_order=True)
    if flows.is_empty():
        raise ConfigError(f"{file.path}: no row has bytes")
    part.notes.append(
        f"{', '.join(f'{of} is column {names[place]}' for of, place in places.items())}; {said}; {of_size}."
    )
    if _plain_name(names[places["bytes"]]) in _TOTAL:
        part.notes.append(
            f"Column {names[places['bytes']]} counts both directions, and all of its bytes go to the destination. "
            "Columns SrcBytes and DstBytes divide them."
        )
    part.flows = Flows(flows, file.origin(int(table[columns.LINE][0]), int(table[columns.LINE][-1])), str(file.path))
    return part


def _both_ways(
    file: File, table: "pl.DataFrame", flows: "pl.DataFrame", name: str, options: Options, part: Part
) -> "pl.DataFrame":
    """The flows, with one back for each row that has bytes of the other direction."""
    filled = table.with_columns(bytes=pl.col("back").replace("", "0").fill_null("0"))
    size, said = _sizes(file, filled, name, options)
    if not (size > 0).any():
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
    part.notes.append(f"Bytes of column {name} go back ({said}): {of_class}.")
    return pl.concat([flows, back.filter(pl.col("bytes") > 0).select(flows.columns)])


def _places(names: Sequence[str], part: Part) -> dict[str, int]:
    """Columns by meaning. With bytes of the other direction, the bytes are those of one direction."""
    places = {**_found(names, _NAMES), **_found(names, _OPTIONAL)}
    if "back" in places:
        there = _place(names, _THERE, _SIZE_UNITS)
        if there is None:
            part.left_out.append(
                f"Column {names[places['back']]}: the bytes of the other direction, as no column such as {_THERE[-2]} "
                "has those of one direction alone."
            )
            del places["back"]
        else:
            places["bytes"] = there
    return places


def _without_summary(table: "pl.DataFrame", part: Part) -> "pl.DataFrame":
    """Rows before the summary of nfdump: a row of that word, or the last rows if they are shorter."""
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
    """Starts and sizes with a point before decimals. Dates stay as they are."""
    numbers = {of: name for of, name in names.items() if of != "start" or not _is_date(table["start"][0])}
    whole = [of for of in _SIZED if of in names and not options.unit and _counts_bytes(names[of], table[of])]
    return with_points(file, table, numbers, header.separator, whole)


def _counts_bytes(name: str, texts: "pl.Series") -> bool:
    """True for sizes of which neither the column's name nor a text says another unit."""
    named = of_name(name)
    return not (named and named.size != 1) and not texts.str.contains("[A-Za-z]").any()


def _sizes(file: File, table: "pl.DataFrame", name: str, options: Options) -> tuple["pl.Series", str]:
    """Sizes in whole bytes, and their unit: as given, as the header says, or bytes."""
    texts, units = (table["bytes"].str.extract(_SIZE, group) for group in (1, 2))
    expected = "a number of bytes, such as 3000 or 3KB"
    columns.check(file, table, "bytes", texts.is_not_null(), expected, name)
    found = columns.numbers(file, table.with_columns(bytes=texts), "bytes", expected, field=name)
    if units.is_not_null().any():
        known = {text: of_text(text) for text in units.drop_nulls().unique().to_list()}
        for text, unit in known.items():
            if unit and unit.size is None:
                columns.check(file, table, "bytes", units.fill_null("") != text, unit.instead, name)
        wrong = [text for text, unit in known.items() if unit is None]
        columns.check(file, table, "bytes", ~units.fill_null("").is_in(wrong), expected, name)
        factors = {text: unit.size for text, unit in known.items() if unit}
        scaled = found * units.replace_strict(factors, default=1.0, return_dtype=pl.Float64)
        said = "sizes have units"
    else:
        factor, said = _unit_of_sizes(file, table, name, options)
        scaled = found * factor
    whole = scaled.round()
    columns.check(file, table, "bytes", (scaled - whole).abs() < 1e-6, "a whole number of bytes", name)
    columns.check(file, table, "bytes", whole <= MOST, f"at most {MOST:g} bytes", name)
    return whole.cast(pl.Int64), said


def _unit_of_sizes(file: File, table: "pl.DataFrame", name: str, options: Options) -> tuple[float, str]:
    if options.unit:
        return bytes_per_unit(options.unit), f"sizes in {options.unit}, as given"
    if named := of_name(name):
        line = int(table[columns.LINE][0])
        return of_header(file, line, name, named), f"sizes in {named.name}, as the header says"
    return 1.0, "sizes in bytes"


def _starts(file: File, table: "pl.DataFrame", name: str, options: Options) -> tuple["pl.Series", str]:
    """Starts in seconds, and how they were read: dates, or numbers of a unit."""
    if _is_date(table["start"][0]):
        times = _dates(table)
        columns.check(
            file, table, "start", times.is_not_null(), "a date and time such as 2026-01-31 12:00:00.123", name
        )
        since, first_date = dates_since_first(times, table["start"])
        return since, f"starts are dates and count from the first, {first_date}"
    if (of_day := _clock(table)) is not None:
        columns.check(file, table, "start", of_day.is_not_null(), "a time of the day such as 12:00:00.5", name)
        return of_day, "starts are times of one day"
    named = _unit_of_times(name)
    texts, units = (table["start"].str.extract(_TIME.pattern, group) for group in (1, 2))
    expected = "a time from 0 on, with or without a unit, or a date such as 2026-01-31 12:00:00.123"
    columns.check(file, table, "start", texts.is_not_null() & ~texts.str.starts_with("-"), expected, name)
    if units.is_not_null().any():
        return _starts_with_units(file, table.with_columns(start=texts), units, expected, name)
    taken = options.time or named or "s"
    how = "as given" if options.time else "as the header says" if named else "assumed; change it with --time"
    if not options.time and not named:
        is_near = ~(texts.cast(pl.Float64, strict=False) > _FAR).fill_null(False)
        columns.check(file, table, "start", is_near, "seconds, or the unit of starts: give --time ms, us or ns", name)
    if exact := since_first(texts, seconds_per_unit(taken)):
        return exact[0], f"starts are in {taken}, {how}, and count from the first, {exact[1]}"
    found = columns.numbers(file, table.with_columns(start=texts), "start", expected, field=name)
    return found * seconds_per_unit(taken), f"starts are in {taken}, {how}"


def _starts_with_units(
    file: File, table: "pl.DataFrame", units: "pl.Series", expected: str, name: str
) -> tuple["pl.Series", str]:
    """Starts in seconds of numbers and units; a number without one is in seconds."""
    units = units.str.to_lowercase().fill_null("s")
    one = units.unique().to_list()
    if len(one) == 1 and (exact := since_first(table["start"], seconds_per_unit(one[0]))):
        return exact[0], f"starts have units and count from the first, {exact[1]} {one[0]}"
    found = columns.numbers(file, table, "start", expected, field=name)
    factors = {each: seconds_per_unit(each) for each in ("ps", "ns", "us", "ms", "s")}
    return found * units.replace_strict(factors, return_dtype=pl.Float64), "starts have units"


def _deadlines(file: File, table: "pl.DataFrame", name: str) -> "pl.Series":
    """Deadlines as a trace has them: numbers have the unit of the column's name, and are in seconds without one."""
    texts = table["deadline"].replace("", None)
    is_right = texts.is_null() | texts.str.contains(_TIME.pattern)
    columns.check(file, table, "deadline", is_right, "a time such as 0.005 or 5ms", name)
    return texts.str.replace(r"([\d.])$", f"${{1}}{_unit_of_times(name) or ''}")


def _unit_of_times(name: str) -> str | None:
    """The unit that a column's name has behind it."""
    unit = _UNITS.search(_plain_name(name))
    return (unit[1] if unit[1] in ("ns", "us", "ms") else "s") if unit else None


def _clock(table: "pl.DataFrame") -> "pl.Series | None":
    """Seconds of the day; None if the first start is no such time."""
    if not re.match(_CLOCK, str(table["start"][0])):
        return None
    hours, minutes, seconds = (table["start"].str.extract(_CLOCK, group).cast(pl.Float64) for group in (1, 2, 3))
    return hours * 3600 + minutes * 60 + seconds


def _is_date(text: object) -> bool:
    return bool(_DATE.match(str(text)))


def _dates(table: "pl.DataFrame") -> "pl.Series":
    """Starts as dates; null for other texts."""
    try:
        return (
            table["start"]
            .str.replace(r"^(\d{4})/(\d\d)/(\d\d)", "$1-$2-$3")
            .str.replace(r"^(\d\d)\.(\d\d)\.(\d{4})", "$3-$2-$1")
            .str.replace(r"(:\d\d),(\d+)", "$1.$2")
            .str.to_datetime(strict=False, time_unit="ns", time_zone="UTC" if _has_zone(table) else None)
        )
    except pl.exceptions.PolarsError:  # the first is no date
        return pl.Series([None] * table.height, dtype=pl.Datetime("ns"))


def _has_zone(table: "pl.DataFrame") -> bool:
    return bool(re.search(r"(Z|[+-]\d\d:?\d\d)$", str(table["start"][0])))


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
