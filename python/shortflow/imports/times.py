"""Times of the calendar, counted from the first of a column: 64 bits have their digits below a microsecond no more."""

from shortflow.lazy import pl

_EPOCH = 1e8
"""Starts from this many seconds on are times of the calendar."""
_DIGITS, _DECIMALS = 38, 12


def since_first(texts: "pl.Series", factor: float) -> "tuple[pl.Series, str] | None":
    """Seconds from the first of plain numbers with this many seconds a unit, and the first as its text.

    None for numbers that are no times of the calendar, or have an exponent.
    """
    exact = texts.cast(pl.Decimal(_DIGITS, _DECIMALS), strict=False)
    place = exact.arg_min()
    if exact.has_nulls() or place is None or float(exact[place]) * factor < _EPOCH:
        return None
    return ((exact - exact[place]).cast(pl.Float64) * factor).round(_DECIMALS), str(texts[place])


def dates_since_first(dates: "pl.Series", texts: "pl.Series") -> "tuple[pl.Series, str]":
    """Seconds from the first of dates in nanoseconds, none of them null, and the first as its text."""
    whole, place = dates.dt.epoch("ns"), dates.arg_min() or 0
    return ((whole - whole[place]).cast(pl.Float64) * 1e-9).round(9), str(texts[place])
