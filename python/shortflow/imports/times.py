"""Calendar times, counted from the first time of a column.

In 64-bit floats, such times have a resolution of 0.24 µs.
"""

from shortflow.lazy import pl

_EPOCH = 1e8
"""Starts of at least this many seconds are calendar times."""
_DIGITS, _DECIMALS = 38, 12


def since_first(texts: "pl.Series", factor: float) -> "tuple[pl.Series, str] | None":
    """Seconds since the first of plain numbers with `factor` seconds per unit, and the first number as text.

    None if the numbers are not calendar times, or have an exponent.
    """
    exact = texts.cast(pl.Decimal(_DIGITS, _DECIMALS), strict=False)
    place = exact.arg_min()
    if exact.has_nulls() or place is None or float(exact[place]) * factor < _EPOCH:
        return None
    return ((exact - exact[place]).cast(pl.Float64) * factor).round(_DECIMALS), str(texts[place])


def dates_since_first(dates: "pl.Series", texts: "pl.Series") -> "tuple[pl.Series, str]":
    """Seconds since the first of dates in nanoseconds, and the first date as text. No date may be null."""
    whole, place = dates.dt.epoch("ns"), dates.arg_min() or 0
    return ((whole - whole[place]).cast(pl.Float64) * 1e-9).round(9), str(texts[place])
