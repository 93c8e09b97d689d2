"""Distributions of flow sizes as tables of sizes and shares of flows, in the forms that simulators use.

- HPCC and conweave: bytes and per cent.
- DCTCP, HULL, HKUST's TrafficGenerator: bytes and shares.
- ns-2 (pFabric) and YAPS: packets, a constant, shares.
- Homa: a first line with the mean, then steps. All other forms are linear between rows.
"""

from collections.abc import Sequence

from shortflow.imports.columns import LINE, empty
from shortflow.imports.delimited import Grid, check_points, grid, head, not_read, number, squared
from shortflow.imports.files import File
from shortflow.imports.headings import BYTE_SHARE, COUNTS, GENERIC, INDEX, SHARE, SIZE, SUMS, meaning, sizes_among
from shortflow.imports.parts import Format, Options, Part, SizeTable
from shortflow.imports.shares import Row, cumulative, ends_like_shares, is_density, named_cumulative
from shortflow.imports.sizes import Heading, in_bytes
from shortflow.lazy import pl

_NS2 = 3
"""Columns of ns-2's form: size, a constant, share."""
_PER_CENT = 100.0
_MOSTLY = 0.6
"""Minimum share of rows with two numbers in a table without a header. The reader reports the other rows."""


def _is_table(file: File) -> bool:
    """True for headings of sizes and shares, and for rows of two numbers, so that the reader can report errors."""
    found = head(file)
    rows = found.rows[1:] if _has_lone_first(found) else found.rows
    if not rows or found.width < 2:
        return False
    known = [meaning(name) for name in found.names]
    if {SHARE, SUMS, COUNTS, BYTE_SHARE}.intersection(known):
        return True
    if SIZE in known:
        return _unnamed_share(found, rows) is not None
    if any(of not in (GENERIC, INDEX) for of in known):
        return False
    pairs = sum(len(row) == 2 and None not in map(number, row) for row in rows)
    return _is_ns2(found, rows) or pairs > _MOSTLY * len(rows)


def _has_lone_first(found: Grid) -> bool:
    """True if the first row has one number, a mean or a count, and the second row has several numbers."""
    return len(found.rows) > 2 and len(found.rows[0]) == 1 and len(found.rows[1]) > 1


def _read(file: File, options: Options) -> Part:
    found, part = grid(file), Part()
    rows, lines, stated = found.rows, found.lines, None
    if _has_lone_first(found):
        stated = file.number(lines[0], "first line", rows[0][0])
        rows, lines = rows[1:], lines[1:]
    if not rows:
        raise empty(file, "rows of a size and a share")
    rows = squared(file, found, lines, rows)
    of_size, of_share = _named(file, found, rows) if found.names else _by_values(file, found, lines, rows)
    check_points(file, found, of_size)
    table = pl.DataFrame({LINE: lines, "bytes": [row[of_size] for row in rows]})
    heading = Heading(found.name(of_size), found.header_line)
    sizes, unit = in_bytes(file, table, heading, options.unit, is_ns2=_is_ns2(found, rows))
    of_rows = zip(lines, sizes, (row[of_size] for row in rows), (row[of_share] for row in rows), strict=True)
    name = found.names[of_share] if found.names else ""
    shares = cumulative(file, name, [Row(*row) for row in of_rows], part)
    is_homa = stated is not None and stated != len(rows)
    is_steps = is_homa or shares.is_steps
    part.sizes = SizeTable([(round(size), share) for size, share in shares.rows], file.origin(), is_steps)
    how = "steps: flows have the listed sizes alone" if is_steps else "lines: sizes are spread evenly between rows"
    mean = part.sizes.mean
    columns = f"sizes are column {found.names[of_size]}, and shares are column {name}; " if found.names else ""
    part.notes.insert(0, f"{found.about}; {columns}{shares.form}; {unit}; {how}; mean {mean:,.1f} B.")
    if not mean > 0:
        raise file.wrong(0, "sizes", 0, "a size above zero")
    part.left_out += not_read(found, [of_size, of_share])
    if is_homa and stated:
        factor = max(float(sizes[-1]), 1.0) / max(number(rows[-1][of_size]) or 1.0, 1.0)
        part.notes.append(
            f"The first line says a mean of {stated:,g}: {stated * factor / mean - 1:+.2%} from the rows'."
        )
    return part


def _is_ns2(found: Grid, rows: Sequence[Sequence[str]]) -> bool:
    """True for three columns without a header, of which the second is a constant number."""
    if found.names or len(rows[0]) != _NS2 or number(rows[0][1]) is None:
        return False
    return len({row[1] for row in rows if len(row) == _NS2}) == 1


def _column(rows: Sequence[Sequence[str]], place: int) -> list[float]:
    """Numbers of a column. Other texts count as 0, and are reported later."""
    return [number(row[place]) or 0.0 for row in rows if place < len(row)]


def _unnamed_share(found: Grid, rows: Sequence[Sequence[str]]) -> int | None:
    """The only column with an unknown heading, if its numbers rise to 1 or 100. Else None."""
    unknown = [place for place, name in enumerate(found.names) if meaning(name) in ("", GENERIC)]
    if len(unknown) != 1:
        return None
    values = _column(rows, unknown[0])
    return unknown[0] if values == sorted(values) and ends_like_shares(values) else None


def _named(file: File, found: Grid, rows: Sequence[Sequence[str]]) -> tuple[int, int]:
    """Columns of size and share according to the header.

    A `ConfigError` names a header without one of them, or with several.
    """
    names = found.names
    known = [meaning(name) for name in names]
    sizes = sizes_among(names)
    shares = [place for place, of in enumerate(known) if of == SHARE]
    if len(shares) > 1:
        shares = [place for place in shares if named_cumulative(names[place])] or shares
    share = next((several for several in (shares, *_counts(known)) if several), [])
    if not share and len(sizes) == 1 and (place := _unnamed_share(found, rows)) is not None:
        share = [place]
    generic = [place for place, of in enumerate(known) if of in ("", GENERIC) and place not in share]
    if not sizes and share and len(generic) == 1 and known[generic[0]] == GENERIC:
        sizes = generic
    if not sizes and not share and len(names) == 2 and len(generic) == 2:
        return _by_values(file, found, found.lines, rows)
    of_flows = "shares or counts of flows, such as cumulative or count"
    for places, what in ((sizes, "sizes, such as bytes"), (share, of_flows)):
        if len(places) != 1 or names.count(names[places[0]]) > 1:
            among = f"; these may be: {', '.join(names[place] for place in places)}" if places else ""
            text = (found.separator or " ").join(names)
            raise file.wrong(found.header_line, "header", text, f"one column of {what}{among}")
    return sizes[0], share[0]


def _counts(known: Sequence[str]) -> list[list[int]]:
    return [[place for place, each in enumerate(known) if each == of] for of in (SUMS, COUNTS)]


def _by_values(file: File, found: Grid, lines: Sequence[int], rows: Sequence[Sequence[str]]) -> tuple[int, int]:
    """Columns of size and share according to their numbers. A `ConfigError` asks for a header if both may be shares."""
    if _is_ns2(found, rows):
        return 0, 2
    text = (found.separator or " ").join(rows[0])
    ask = "name the columns in the first line, such as `bytes cumulative`, `bytes percent` or `bytes count`"
    if len(rows[0]) != 2:
        raise file.wrong(lines[0], "row", text, f"a size and a share, or three fields of ns-2. Else {ask}")
    columns = [_column(rows, place) for place in (0, 1)]
    likely = [place for place in (0, 1) if ends_like_shares(columns[place])]
    likely = likely or [place for place in (0, 1) if is_density(columns[place], 1.0)]
    if len(likely) > 1:  # the sizes end at 1 or 100 too, so the column with fractions has the shares
        broken = [place for place in likely if any(value % 1 for value in columns[place])]
        if not broken and columns[0] != columns[1]:
            raise file.wrong(lines[0], "row", text, f"one column that ends at 1 or 100, and both do: {ask}")
        likely = broken[-1:] or [1]
    if not likely:  # the shares end at another number, which the reader reports
        least = min((1, 0), key=lambda place: max(columns[place]))
        likely = [least] if max(columns[least]) <= 2 * _PER_CENT else []
    if not likely:
        raise file.wrong(lines[-1], "row", " ".join(rows[-1]), f"a column that rises to 1 or 100. Else {ask}")
    return 1 - likely[0], likely[0]


SIZES = Format(
    "sizes",
    "size distributions of HPCC, conweave, DCTCP, HULL, ns-2 (pFabric), YAPS, Homa and others: a cdf",
    "rows of a size and a cumulative share or per cent, with any separator, header, first line with the mean",
    _is_table,
    _read,
    options=("unit",),
)
