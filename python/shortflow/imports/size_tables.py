"""Distributions of flow sizes as tables: sizes and shares of flows, in any of the forms that simulators use.

HPCC and conweave: bytes and per cent. DCTCP, HULL, HKUST's TrafficGenerator: bytes and shares. ns-2 (pFabric) and YAPS:
packets, a constant, shares. Homa: a first line with the mean, and steps. All are linear between rows except Homa's.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from shortflow.errors import ConfigError
from shortflow.imports.columns import empty
from shortflow.imports.delimited import Grid, check_points, grid, head, number, sized
from shortflow.imports.files import MOST, File
from shortflow.imports.parts import Format, Options, Part, SizeTable
from shortflow.imports.units import unit_of
from shortflow.quantities import counted

_SIZES = re.compile(
    r"size|bytes|packets|pkts|length|flow|\b[kmgt]i?b\b|bits?\b|\bB\b|^x$|größe|groesse|taille|tamaño|octet",
    re.IGNORECASE,
)
_SHARES = re.compile(r"cdf|cumul|share|frac|prob|percent|pct|%|quantile|^p$|^y$|pdf|weight", re.IGNORECASE)
_COUNTS = re.compile(
    r"(.*[ _(-])?(counts?|freq(uency)?|hits|occurrences|weights?|anzahl|häufigkeit|nombre|fréquence|número|frecuencia)"
    r"([ _)-].*)?",
    re.IGNORECASE,
)
"""Names of columns that count flows of a size."""
_SUMS = re.compile(r"cumul|kumul|acumul|summiert|running|\bcum\b|up to|at most", re.IGNORECASE)
"""Names of counts of flows up to a size."""
_PER_CENT = re.compile(r"%|per ?cent|pct|prozent|pour ?cent|por ciento", re.IGNORECASE)
_NEAR = 0.01
"""Shares may end at 1 within this, and are then divided by their end."""
_NS2 = 3
"""Columns of ns-2's form: size, a constant, share."""
_MOST_FALLS = 0.1
"""Sum of falls in a cumulative share up to which the larger share is kept."""


@dataclass(frozen=True)
class _Row:
    line: int
    size: float
    share: float


def _is_table(file: File) -> bool:
    found = head(file)
    rows = found.rows[1:] if _has_lone_first(found) else found.rows
    whole = rows if file.is_short else rows[:-1]  # the last row of the head may be cut off
    width = len(rows[0]) if rows else 0
    if not 2 <= width <= 3 or any(len(row) != width for row in whole):
        return False
    if any(number(field) is None for row in whole for field in row):
        return False
    if found.header and not (any(map(_SHARES.search, found.header)) or any(map(_SIZES.search, found.header))):
        columns = [[number(row[place]) or 0.0 for row in rows if len(row) == width] for place in range(width)]
        if width > 2 or any(column != sorted(column) for column in columns):
            return False  # two rising columns are a distribution whatever their names
    try:
        return _roles(file, found, rows) is not None
    except ConfigError:
        return False


def _has_lone_first(found: Grid) -> bool:
    """True if the first row has one number and the second several: a mean or a count."""
    return len(found.rows) > 2 and len(found.rows[0]) == 1 and len(found.rows[1]) > 1


def _read(file: File, options: Options) -> Part:
    found, part = grid(file), Part()
    rows, lines, stated = found.rows, found.lines, None
    if _has_lone_first(found):
        stated = file.number(lines[0], "first line", rows[0][0])
        rows, lines = rows[1:], lines[1:]
    if not rows:
        raise empty(file, "rows of a size and a share")
    width = len(rows[0])
    if width not in (2, _NS2):
        raise file.wrong(lines[0], "row", " ".join(rows[0]), "a size and a share, or three fields of ns-2")
    for line, fields in zip(lines, rows, strict=True):
        if len(fields) != width:
            raise file.wrong(line, "row", " ".join(fields), f"{width} fields, as in the rows before")
    roles = _roles(file, found, rows)
    if roles is None:
        raise ConfigError(f"{file.path}: no column rises to 1 or 100; expected sizes and cumulative shares of flows")
    of_size, of_share = roles
    check_points(file, found, of_size)
    table = [
        _Row(line, sized(file, line, "size", fields[of_size]), sized(file, line, "share", fields[of_share]))
        for line, fields in zip(lines, rows, strict=True)
    ]
    is_homa = stated is not None and stated != len(rows)
    heading = found.header[of_share].replace("_", " ") if len(found.header) > of_share else ""
    has_counts, has_sums = bool(_COUNTS.fullmatch(heading)), bool(_SUMS.search(heading))
    is_counts = has_counts and not has_sums
    counts = has_counts and not _PER_CENT.search(heading)
    shares = _counted(file, table) if is_counts else _cumulative(file, table, part, may_count=counts)
    name = found.name(of_size)
    factor, unit = unit_of(file, name, options.unit, [row.size for row in table], is_ns2=_is_ns2(found, rows))
    is_steps = is_homa or is_counts or "density" in shares.form
    sizes = SizeTable([(round(size * factor), share) for size, share in shares.rows], file.origin(), is_steps)
    if sizes.rows[-1][0] > MOST:
        raise file.wrong(lines[-1], "size", rows[-1][of_size], f"at most {MOST:g} bytes")
    how = "steps: flows have the listed sizes alone" if is_steps else "lines: sizes are spread evenly between rows"
    part.sizes = sizes
    part.notes.insert(0, f"{found.about}; {shares.form}; {unit}; {how}; mean {sizes.mean:,.1f} B.")
    if found.remarks:
        part.left_out.append(f"{counted(found.remarks, 'line')} after the rows: remarks.")
    if is_homa and stated:
        off = stated * factor / sizes.mean - 1
        part.notes.append(f"The first line says a mean of {stated:,g}: {off:+.2%} from that of the rows.")
    if not sizes.mean > 0:
        raise file.wrong(0, "sizes", 0, "a size above zero")
    return part


def _is_ns2(found: Grid, rows: Sequence[Sequence[str]]) -> bool:
    """True for three columns without a header, the second of one value."""
    return not found.header and len(rows[0]) == _NS2 and len({row[1] for row in rows if len(row) == _NS2}) == 1


def _roles(file: File, found: Grid, rows: Sequence[Sequence[str]]) -> tuple[int, int] | None:
    """Columns of size and share: by the header, or by the values."""
    width = len(rows[0]) if rows else 0
    columns = [[number(row[place]) or 0.0 for row in rows if len(row) == width] for place in range(width)]
    if _is_ns2(found, rows):
        return (0, 2)
    if len(found.header) == width:
        counts = [place for place in range(width) if _COUNTS.fullmatch(found.header[place])]
        sizes = [place for place in range(width) if _SIZES.search(found.header[place]) and place not in counts]
        if len(counts) == len(sizes) == 1:
            return (sizes[0], counts[0])
        shares = [place for place in range(width) if _SHARES.search(found.header[place])]
        sizes = [place for place in range(width) if _SIZES.search(found.header[place]) and place not in shares]
        if len(shares) == 1 and sizes:
            return (sizes[0], shares[0])
    likely = [place for place in range(width) if _ends_like_shares(columns[place])]
    if width == 2 and not likely and any(abs(sum(column) - 1) < _NEAR for column in columns):
        likely = [place for place in range(width) if abs(sum(columns[place]) - 1) < _NEAR]
    if not likely:  # a file that ends before 1, of which the error tells
        likely = [
            place for place in range(width) if max(columns[place]) < 1 and columns[place] == sorted(columns[place])
        ]
    if not likely:
        return None
    share = likely[-1] if len(likely) == 1 or columns[likely[-1]] != columns[0] else likely[0]
    if len(likely) > 1:  # sizes that end at 1 or 100 too: shares are not whole, or come last
        broken = [place for place in likely if any(value % 1 for value in columns[place])]
        share = broken[-1] if broken else likely[-1]
    return (next(place for place in range(width) if place != share), share)


def _ends_like_shares(column: Sequence[float]) -> bool:
    most = max(column)
    ends = (column[0], column[-1])
    return most in ends and (abs(most - 1) < _NEAR or abs(most - 100) < 100 * _NEAR)


@dataclass(frozen=True)
class _Shares:
    rows: Sequence[tuple[float, float]]
    form: str


def _counted(file: File, table: Sequence[_Row]) -> _Shares:
    """Rows by rising size with cumulative shares, of the number of flows of each size."""
    rows = sorted(table, key=lambda row: row.size)
    total = sum(row.share for row in rows)
    if not total > 0:
        raise file.wrong(rows[0].line, "counts", f"{total:g} together", "a flow")
    cumulative = accumulate(row.share for row in rows)
    return _Shares(
        [(row.size, so_far / total) for row, so_far in zip(rows, cumulative, strict=True)], "counts of flows"
    )


def _cumulative(file: File, table: Sequence[_Row], part: Part, *, may_count: bool) -> _Shares:
    """Rows by rising size with cumulative shares up to 1. Shares that may be counts are so from 1 on."""
    rows = list(dict.fromkeys(table))
    most = max(row.share for row in rows)
    scale, form = (100.0, "per cent") if most > 1 + _NEAR else (1.0, "shares")
    if may_count and scale > 1:
        scale, form = most, "counts of flows"
    if rows[0].size > rows[-1].size:
        rows.reverse()
        part.notes.append("Rows are by falling size; they are turned round.")
    if any(after.size < before.size for before, after in pairwise(rows)):
        rows.sort(key=lambda row: (row.size, row.share))
        part.notes.append("Rows are sorted by size.")
    shares = [row.share / scale for row in rows]
    if abs(sum(shares) - 1) < _NEAR and len(rows) > 1 and shares[-1] < 1 - _NEAR:
        total = [sum(shares[: place + 1]) for place in range(len(shares))]
        return _Shares(
            [(row.size, share / total[-1]) for row, share in zip(rows, total, strict=True)], f"density, {form}"
        )
    if shares[0] > shares[-1] and shares[0] > 1 - _NEAR:
        shares = [1 - share for share in shares]
        form += " of larger flows (1 minus the cumulative share)"
        shares[-1] = 1.0
    falls = [
        (before - after, row)
        for before, after, row in zip(shares, shares[1:], rows[1:], strict=False)
        if after < before
    ]
    if sum(fall for fall, _ in falls) > _MOST_FALLS:
        raise file.wrong(falls[0][1].line, "share", falls[0][1].share, "no less than in the row before")
    if falls:
        part.notes.append(
            f"The share falls in {len(falls)} rows, first in line {falls[0][1].line}; the larger one before is kept."
        )
        for place in range(1, len(shares)):
            shares[place] = max(shares[place], shares[place - 1])
    end = shares[-1]
    if abs(end - 1) > _NEAR:
        raise file.wrong(rows[-1].line, "last share", rows[-1].share, "1 or 100: the rest of the flows has no size")
    if abs(end - 1) > 1e-9:
        part.notes.append(f"The shares end at {end * scale:.9g}; they are divided by it.")
    return _Shares([(row.size, share / end) for row, share in zip(rows, shares, strict=True)], f"cumulative, {form}")


SIZES = Format(
    "sizes",
    "size distributions of HPCC, conweave, DCTCP, HULL, ns-2 (pFabric), YAPS, Homa and others: a cdf",
    "rows of a size and a cumulative share or per cent, with any separator, header, first line with the mean",
    _is_table,
    _read,
    options=("unit",),
)
