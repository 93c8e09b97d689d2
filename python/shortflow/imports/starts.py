"""Starts and deadlines of flows: numbers with or without a unit, dates, and times of day.

A unit from the user is refused if the file contradicts it, or if no start needs it.
"""

import re

from shortflow.imports import columns
from shortflow.imports.comments import unit_of_times_in
from shortflow.imports.files import File
from shortflow.imports.headings import unit_of_times
from shortflow.imports.times import dates_since_first, since_first
from shortflow.imports.units import seconds_per_unit
from shortflow.lazy import pl

_CLOCK = r"^(\d\d?):(\d\d):(\d\d(?:\.\d+)?)$"
"""Time of day, in Argus's format."""
_DATE = re.compile(r"(\d{4}[-/]\d\d[-/]\d\d|\d\d\.\d\d\.\d{4})[ T]")
"""Dates with the year first, or with the day first and points."""
_TIME = re.compile(r"(?i)^([-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)\s*(ps|ns|us|ms|s)?$")
_FAR = 1e11
"""Starts of this many seconds would be in the year 5138, so their unit is not seconds."""


def starts(file: File, table: "pl.DataFrame", name: str, line: int, given: str | None) -> "tuple[pl.Series, str]":
    """Starts in seconds, and a sentence on their interpretation. `line` is the line of the heading.

    A `ConfigError` names a text that is not a start, or a unit that contradicts `given`.
    """
    if is_date(table["start"][0]):
        _refuse(file, table, name, given, "dates")
        times = _dates(table)
        expected = "a date and time such as 2026-01-31 12:00:00.123"
        columns.check(file, table, "start", times.is_not_null(), expected, name)
        since, first_date = dates_since_first(times, table["start"])
        return since, f"starts are dates and count from the first, {first_date}"
    if (of_day := _clock(table)) is not None:
        _refuse(file, table, name, given, "times of the day")
        columns.check(file, table, "start", of_day.is_not_null(), "a time of the day such as 12:00:00.5", name)
        return of_day, "starts are times of one day"
    texts, units = (table["start"].str.extract(_TIME.pattern, group) for group in (1, 2))
    expected = "a time from 0 on, with or without a unit, or a date such as 2026-01-31 12:00:00.123"
    columns.check(file, table, "start", texts.is_not_null() & ~texts.str.starts_with("-"), expected, name)
    numbers = table.with_columns(start=texts)
    if not units.is_null().any():
        _refuse(file, table, name, given, "times with units")
        return _with_units(file, numbers, units, expected, name, "starts have units")
    named = unit_of_times(name)
    if given and named and seconds_per_unit(given) != seconds_per_unit(named):
        expected = f"{given}, as --time says: this says {named}. Leave --time out, or rename the column"
        raise file.wrong(line, "unit of starts", name, expected)
    commented = None if named else _of_comments(file, given)
    taken = given or named or commented or "s"
    how = "as the header says" if named else "as given" if given else "as the comment says"
    if not given and not named and not commented:
        how = "assumed; change it with --time"
        is_near = units.is_not_null() | ~(texts.cast(pl.Float64, strict=False) > _FAR).fill_null(False)
        columns.check(file, table, "start", is_near, "seconds, or the unit of starts: give --time ms, us or ns", name)
    has_units = ", and others have units" if units.is_not_null().any() else ""
    return _with_units(
        file, numbers, units.fill_null(taken), expected, name, f"starts are in {taken}, {how}{has_units}"
    )


def _of_comments(file: File, given: str | None) -> str | None:
    """The unit of starts that comments name. None without such a comment.

    A `ConfigError` names a unit that `given` contradicts, or several units if none is given.
    """
    found = [(line, text, unit) for line, text in file.remarks() if (unit := unit_of_times_in(text))]
    if not found:
        return None
    line, text, unit = found[-1]
    several = dict.fromkeys(each for _, _, each in found)
    if given and seconds_per_unit(given) not in map(seconds_per_unit, several):
        expected = f"{given}, as --time says: this says {unit}. Leave --time out, or correct the file"
        raise file.wrong(line, "unit of starts", text, expected)
    if not given and len(several) > 1:
        expected = f"one unit: comments say {' and '.join(several)}. Choose one with --time"
        raise file.wrong(line, "unit of starts", text, expected)
    return given or unit


def _with_units(
    file: File, numbers: "pl.DataFrame", units: "pl.Series", expected: str, name: str, said: str
) -> "tuple[pl.Series, str]":
    """Starts in seconds, from numbers and units. Calendar times with one unit count from the first."""
    units = units.str.to_lowercase()
    one = units.unique().to_list()
    if len(one) == 1 and (exact := since_first(numbers["start"], seconds_per_unit(one[0]))):
        return exact[0], f"{said}, and count from the first, {exact[1]} {one[0]}"
    found = columns.numbers(file, numbers, "start", expected, field=name)
    factors = {each: seconds_per_unit(each) for each in ("ps", "ns", "us", "ms", "s")}
    return found * units.replace_strict(factors, return_dtype=pl.Float64), said


def _refuse(file: File, table: "pl.DataFrame", name: str, given: str | None, what: str) -> None:
    """Raises `ConfigError` if a unit is given that no start needs."""
    if given:
        row = table.row(0, named=True)
        expected = f"numbers without a unit for --time {given}: these are {what}. Leave --time out"
        raise file.wrong(row[columns.LINE], name, row["start"], expected)


def deadlines(
    file: File, table: "pl.DataFrame", of_start: str, name: str, given: str | None
) -> "tuple[pl.Series, str]":
    """Deadlines in the form of a trace, and a sentence on their unit.

    The unit is that of the heading, the unit given for times, or seconds. A `ConfigError` asks for the unit if the
    heading of the starts, `of_start`, or a comment names a unit but the heading of the deadlines does not.
    """
    texts = table["deadline"].replace("", None)
    is_right = texts.is_null() | texts.str.contains(_TIME.pattern)
    columns.check(file, table, "deadline", is_right, "a time such as 0.005 or 5ms", name)
    has_unit = texts.is_null() | texts.str.contains("[A-Za-z]$")
    named, other, place = unit_of_times(name), unit_of_times(of_start), of_start
    if other is None and given is None:
        other, place = _of_comments(file, None), "the comment"
    if named is None and other not in (None, "s"):
        expected = f"a unit, as in 5ms or a heading deadline_{other}: {place} has one"
        columns.check(file, table, "deadline", has_unit, expected, name)
    unit = named or given or "s"
    said = "deadlines have units" if has_unit.all() else f"deadlines without a unit are in {unit}"
    return texts.str.replace(r"([\d.])$", f"${{1}}{unit}"), said


def _clock(table: "pl.DataFrame") -> "pl.Series | None":
    """Seconds of the day. None if the first start is not a time of day."""
    if not re.match(_CLOCK, str(table["start"][0])):
        return None
    hours, minutes, seconds = (table["start"].str.extract(_CLOCK, group).cast(pl.Float64) for group in (1, 2, 3))
    return hours * 3600 + minutes * 60 + seconds


def is_date(text: object) -> bool:
    """True for a text that begins with a date and a time."""
    return bool(_DATE.match(str(text)))


def _dates(table: "pl.DataFrame") -> "pl.Series":
    """Starts as dates. Null for other texts."""
    has_zone = re.search(r"(Z|[+-]\d\d:?\d\d)$", str(table["start"][0]))
    try:
        return (
            table["start"]
            .str.replace(r"^(\d{4})/(\d\d)/(\d\d)", "$1-$2-$3")
            .str.replace(r"^(\d\d)\.(\d\d)\.(\d{4})", "$3-$2-$1")
            .str.replace(r"(:\d\d),(\d+)", "$1.$2")
            .str.to_datetime(strict=False, time_unit="ns", time_zone="UTC" if has_zone else None)
        )
    except pl.exceptions.PolarsError:  # the first start is not a date
        return pl.Series([None] * table.height, dtype=pl.Datetime("ns"))
