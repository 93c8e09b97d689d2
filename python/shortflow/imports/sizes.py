"""Columns of sizes in bytes. The unit comes from each field, from the heading, from a comment, or from the user.

A unit from the user is refused if the file contradicts it, or if no size needs it.
"""

from dataclasses import dataclass

from shortflow.errors import ConfigError
from shortflow.imports import columns
from shortflow.imports.comments import clauses_on_sizes, has_statistic
from shortflow.imports.files import MOST, File
from shortflow.imports.headings import BYTES, plain_heading
from shortflow.imports.units import SEGMENT, Unit, bytes_per_unit, of_name, of_remark, of_text
from shortflow.lazy import pl

_SIZE = r"(?i)^((?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)\s*([A-Z]+)?$"
_EXPECTED = "a number of bytes, such as 3000 or 3KB"
_LARGEST_PACKETS = 1e6
_SMALLEST_PACKETS = 10


@dataclass(frozen=True)
class Heading:
    """The heading of a column of sizes. Its name is empty without a heading."""

    name: str = ""
    line: int = 0

    @property
    def field(self) -> str:
        """The column's name in errors."""
        return self.name or "size"

    @property
    def unit(self) -> Unit | None:
        """The unit that the heading names."""
        return Unit("bytes", 1) if plain_heading(self.name) in BYTES else of_name(self.name)


def in_bytes(
    file: File,
    table: "pl.DataFrame",
    heading: Heading,
    given: str | None,
    *,
    column: str = "bytes",
    is_ns2: bool = False,
) -> "tuple[pl.Series, str]":
    """A column of sizes in bytes, not rounded, and a sentence on the source of their unit.

    A `ConfigError` asks for the unit if numbers may count packets, or are not whole.
    """
    field = heading.field
    texts, units = (table[column].str.extract(_SIZE, group) for group in (1, 2))
    columns.check(file, table, column, texts.is_not_null(), _EXPECTED, field)
    found = texts.cast(pl.Float64)
    known = {text: of_text(text) for text in units.drop_nulls().unique().to_list()}
    for text, unit in known.items():
        if unit is None or unit.size is None:
            columns.check(file, table, column, units.fill_null("") != text, unit.instead if unit else _EXPECTED, field)
    factors = {text: unit.size for text, unit in known.items() if unit}
    is_bare = units.is_null()
    if not is_bare.any():
        if given:
            row = table.row(0, named=True)
            expected = f"sizes without a unit for --unit {given}: leave it out"
            raise file.wrong(row[columns.LINE], field, row[column], expected)
        usual, said = 1.0, "sizes have units"
    else:
        bare = table.with_columns(found.alias("number")).filter(is_bare)
        usual, said = _usual(file, bare, heading, given, column, is_ns2=is_ns2)
        said += ", and others have units" if factors else ""
    scaled = found * units.replace_strict(factors, default=usual, return_dtype=pl.Float64)
    columns.check(file, table, column, scaled <= MOST, f"at most {MOST:g} bytes", field)
    columns.check(file, table, column, (scaled == 0) | (scaled > 1 - 1e-6), "a byte or more, or 0", field)
    return scaled, said


def _usual(
    file: File, bare: "pl.DataFrame", heading: Heading, given: str | None, column: str, *, is_ns2: bool
) -> tuple[float, str]:
    """Bytes per unit of the sizes without a unit, and a sentence on the source of this unit."""
    if stated := _stated(file, heading, given):
        line, text, unit, where = stated
        factor = _agreed(file, line, text, unit, given)
        if factor == 1 and not given:
            _check_whole(
                file,
                bare,
                heading,
                column,
                f"whole bytes, as the {where} says. Sizes in KB have a header such as size_KB",
            )
        return factor, f"sizes in {unit.name if unit.size else given}, as the {where} says"
    if given:
        return bytes_per_unit(given), f"sizes in {given}, as given"
    least, most = float(bare["number"].min()), float(bare["number"].max())  # type: ignore[arg-type]
    if is_ns2 and most <= _LARGEST_PACKETS:
        _check_whole(file, bare, heading, column, "whole packets, as in ns-2, or a unit: give --unit")
        return SEGMENT, f"packets of {SEGMENT} B, as in ns-2"
    _check_whole(
        file,
        bare,
        heading,
        column,
        "whole bytes or packets. Give their unit by --unit KB, or in a header such as size_KB",
    )
    if is_ns2 or looks_like_packets(bare["number"]):
        raise ConfigError(
            f"{file.path}: sizes from {least:,g} to {most:,g}: bytes or packets? Give --unit B, or --unit packets for "
            f"{SEGMENT} bytes each, or --unit 1000B; or name the column bytes or packets in the file's first line"
        )
    return 1.0, "sizes in bytes"


def _stated(file: File, heading: Heading, given: str | None) -> tuple[int, str, Unit, str] | None:
    """Line, text and unit of the heading or of the comments. None without a unit.

    A `ConfigError` names comments with several units, unless the user gives one of these units.
    """
    if unit := heading.unit:
        return heading.line, heading.name, unit, "header"
    found = []
    for line, text in file.remarks():
        for clause in clauses_on_sizes(text):
            units = of_remark(clause)
            if units and has_statistic(clause):
                if given:
                    continue
                expected = "the unit of the column by --unit, as a comment on one value may have another"
                raise file.wrong(line, "unit of sizes", text, expected)
            found += [(line, text, unit, "comment") for unit in units]
    if len({unit.size for _, _, unit, _ in found}) > 1:
        if given and (same := [each for each in found if each[2].size == bytes_per_unit(given)]):
            return same[0]
        line, text, *_ = found[-1]
        several = " and ".join(dict.fromkeys(unit.name for _, _, unit, _ in found))
        raise file.wrong(line, "unit of sizes", text, f"one unit: comments say {several}. Choose one with --unit")
    return found[0] if found else None


def _agreed(file: File, line: int, text: str, unit: Unit, given: str | None) -> float:
    """Bytes of the unit in a header or comment.

    A `ConfigError` names a unit that the user's unit contradicts, or a unit that may mean bits or bytes.
    """
    if unit.size is None:
        if given is None:
            raise file.wrong(line, "unit of sizes", text, f"{unit.instead}. Rename the column, or give --unit")
        if bytes_per_unit(given) not in unit.readings:
            raise file.wrong(line, "unit of sizes", text, f"{unit.instead}, and --unit says {given}")
        return bytes_per_unit(given)
    if given is not None and bytes_per_unit(given) != unit.size:
        expected = f"{given}, as --unit says: this says {unit.name}. Leave --unit out, or correct the file"
        raise file.wrong(line, "unit of sizes", text, expected)
    return unit.size


def _check_whole(file: File, bare: "pl.DataFrame", heading: Heading, column: str, expected: str) -> None:
    columns.check(file, bare, column, bare["number"] == bare["number"].floor(), expected, heading.field)


def looks_like_packets(sizes: "pl.Series") -> bool:
    """True if whole sizes may count packets: the smallest is at most 10, and the largest is at most 1,000,000."""
    positive = sizes.filter(sizes > 0)
    if positive.is_empty():
        return False
    return float(positive.min()) <= _SMALLEST_PACKETS and float(positive.max()) <= _LARGEST_PACKETS  # type: ignore[arg-type]
