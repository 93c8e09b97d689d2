"""Shares of flows in a table of sizes: cumulative shares, shares of each size, shares of larger flows, or counts."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from shortflow.imports.delimited import shared
from shortflow.imports.files import File
from shortflow.imports.headings import COUNTS, SUMS, meaning, plain_heading
from shortflow.imports.parts import Part
from shortflow.quantities import counted

_PER_CENT = re.compile(r"%|per_?cent|pct|prozent|pour_?cent|por_?ciento|porcent")
_CUMULATIVE = re.compile(r"cdf|cumul|kumul|acumul|(^|_)cum(_|$)|quantile")
_LARGER = re.compile(r"ccdf|complement|1_?cdf|exceed|surviv")
"""Names of shares of larger flows."""
_DENSITY = re.compile(r"pdf|pmf|densit|dichte")
_RELATIVE = re.compile(r"freq|weight|haufigkeit|frec")
"""Names of counts that may be relative."""
_NEAR = 0.01
"""Shares may end at 1 within this tolerance. They are then divided by their end."""
_MOST_FALLS = 0.1
"""Maximum total decrease of a cumulative share that counts as rounding. The larger share is kept."""
_CLEARLY = 2.0
"""Shares between 1 and this number are errors, not per cent."""


@dataclass(frozen=True)
class Row:
    """A size in bytes, with the texts of its row."""

    line: int
    size: float
    of_size: str
    of_share: str


@dataclass(frozen=True)
class CumulativeShares:
    """Sizes in bytes in increasing order, with cumulative shares up to 1."""

    rows: Sequence[tuple[float, float]]
    form: str
    is_steps: bool = False
    """True if only the listed sizes occur."""


def named_cumulative(name: str) -> bool:
    """True for a heading that says cumulative."""
    return bool(_CUMULATIVE.search(plain_heading(name)))


def ends_like_shares(column: Sequence[float]) -> bool:
    """True for numbers whose largest value is 1 or 100, and is the first or the last."""
    most = max(column)
    ends = (column[0], column[-1])
    return most in ends and (abs(most - 1) < _NEAR or abs(most - 100) < 100 * _NEAR)


def is_density(column: Sequence[float], scale: float) -> bool:
    """True for several numbers whose sum is `scale`, and whose last number is smaller than `scale`."""
    return abs(sum(column) - scale) < _NEAR * scale and len(column) > 1 and column[-1] < (1 - _NEAR) * scale


def cumulative(file: File, name: str, rows: Sequence[Row], part: Part) -> CumulativeShares:
    """The cumulative shares of a table. `name` is the heading of the column of shares, or empty.

    A `ConfigError` names the first row that contradicts the heading or the previous rows.
    """
    field = name or "share"
    numbers = [shared(file, row.line, field, row.of_share) for row in rows]
    of, word = meaning(name) if name else "", plain_heading(name)
    if of == COUNTS:
        _check_counts(file, name, rows, numbers)
        return CumulativeShares(_summed(rows, numbers), "counts of flows", is_steps=True)
    scale, form = _scale(file, field, rows, numbers)
    if of == SUMS and scale > 1:
        scale, form = max(numbers), "counts of flows"
    is_sum = is_density(numbers, scale)
    if _DENSITY.search(word) and not is_sum and len(rows) > 1:
        raise file.wrong(0, field, f"{sum(numbers):g} together", f"{scale:g} together, as the header says")
    if is_sum and not named_cumulative(name):
        return CumulativeShares(_summed(rows, numbers), f"density, {form}", is_steps=True)
    ordered, shares = _by_size(file, rows, [number / scale for number in numbers], part)
    is_of_larger = bool(_LARGER.search(word)) or (shares[0] > shares[-1] and shares[0] > 1 - _NEAR)
    if is_of_larger:
        shares = [round(1 - share, 12) for share in shares]
        form += " of larger flows (1 minus the cumulative share)"
    shares = _rising(
        file, field, ordered, shares, part, wrong=("rises", "no more") if is_of_larger else ("falls", "no less")
    )
    end = shares[-1]
    if abs(end - 1) > _NEAR:
        whole = "0" if is_of_larger else "1 or 100" if form == "shares" else f"{scale:g}"
        expected = f"{whole}: the rest of the flows has no size"
        raise file.wrong(ordered[-1].line, f"last {field}", ordered[-1].of_share, expected)
    if abs(end - 1) > 1e-9:
        part.notes.append(f"The shares end at {end * scale:.9g}; they are divided by it.")
    return CumulativeShares(
        [(row.size, share / end) for row, share in zip(ordered, shares, strict=True)], f"cumulative, {form}"
    )


def _check_counts(file: File, name: str, rows: Sequence[Row], numbers: Sequence[float]) -> None:
    """Raises `ConfigError` for fractional counts, unless they may be relative, and for counts that look cumulative."""
    broken = next((row for row, number in zip(rows, numbers, strict=True) if number % 1), None)
    if broken and not _RELATIVE.search(plain_heading(name)):
        raise file.wrong(broken.line, name, broken.of_share, "a whole number of flows")
    if broken and list(numbers) == sorted(numbers) and ends_like_shares(numbers):
        expected = f"shares of each size, and these rise to {numbers[-1]:g}: name the column cumulative, or weight"
        raise file.wrong(rows[-1].line, name, rows[-1].of_share, expected)
    if not sum(numbers) > 0:
        raise file.wrong(rows[0].line, "counts", "0 together", "a flow")


def _summed(rows: Sequence[Row], numbers: Sequence[float]) -> list[tuple[float, float]]:
    """Cumulative shares by increasing size, from a number for each size."""
    several = sorted(zip((row.size for row in rows), numbers, strict=True))
    total = sum(number for _, number in several)
    sums = accumulate(number for _, number in several)
    return [(size, so_far / total) for (size, _), so_far in zip(several, sums, strict=True)]


def _scale(file: File, field: str, rows: Sequence[Row], numbers: Sequence[float]) -> tuple[float, str]:
    """The whole of the shares, 1 or 100, and its name. A `ConfigError` names a share above the whole."""
    signed = [row.of_share.endswith("%") for row in rows]
    if any(signed) and not all(signed):
        odd = rows[signed.index(not signed[0])]
        raise file.wrong(odd.line, field, odd.of_share, "a sign of per cent at all shares, or at none")
    most = max(numbers)
    is_count = meaning(field) == SUMS
    is_per_cent = all(signed) or bool(_PER_CENT.search(plain_heading(field)))
    if not is_per_cent and 1 + _NEAR < most < _CLEARLY and not is_count:
        row = next(row for row, number in zip(rows, numbers, strict=True) if number > 1 + _NEAR)
        raise file.wrong(row.line, field, row.of_share, "a share up to 1, or per cent up to 100")
    if not is_per_cent and most <= 1 + _NEAR:
        return 1.0, "shares"
    row = next((row for row, number in zip(rows, numbers, strict=True) if number > 100 * (1 + _NEAR)), rows[0])
    if most > 100 * (1 + _NEAR) and not is_count:
        raise file.wrong(row.line, field, row.of_share, "a share up to 1, or per cent up to 100")
    return 100.0, "per cent"


def _by_size(file: File, rows: Sequence[Row], shares: Sequence[float], part: Part) -> tuple[Sequence[Row], list[float]]:
    """Distinct rows in the order of sizes, with their shares. A `ConfigError` names a size below the previous size."""
    found = list({(row.size, share): row for row, share in zip(rows[::-1], shares[::-1], strict=True)}.items())[::-1]
    if found[0][0][0] > found[-1][0][0]:
        found.reverse()
        part.notes.append("Rows are by falling size; they are turned round.")
    fall = next((at for before, at in pairwise(found) if at[0][0] < before[0][0]), None)
    if fall:
        found.sort(key=lambda each: each[0])
        values = [share for (_, share), _ in found]
        if values not in (sorted(values), sorted(values, reverse=True)):
            expected = "no less than in the row before, where shares are cumulative"
            raise file.wrong(fall[1].line, "size", fall[1].of_size, expected)
        part.notes.append("Rows are sorted by size.")
    return [row for _, row in found], [share for (_, share), _ in found]


def _rising(
    file: File, field: str, rows: Sequence[Row], shares: Sequence[float], part: Part, *, wrong: tuple[str, str]
) -> list[float]:
    """Shares that never fall.

    A fall is replaced by the previous share if the sum of all falls may be due to rounding. `wrong` has the words for a
    fall and for the expectation, in terms of the file's numbers.
    """
    falls = [
        (before - after, row) for (before, after), row in zip(pairwise(shares), rows[1:], strict=True) if after < before
    ]
    if sum(fall for fall, _ in falls) > _MOST_FALLS:
        row = falls[0][1]
        raise file.wrong(row.line, field, row.of_share, f"{wrong[1]} than in the row before")
    if falls:
        several, line = counted(len(falls), "row"), falls[0][1].line
        part.notes.append(f"The share {wrong[0]} in {several}, first in line {line}; the one before is kept.")
    return list(accumulate(shares, max))
