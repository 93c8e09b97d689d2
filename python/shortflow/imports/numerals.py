"""Numbers of a column in usual notations: a decimal point or decimal comma, and separators of thousands.

`1.000` is one thousand in some countries and one in others. A column therefore needs a number that is valid in only one
of the two notations, such as `0,5` or `1.000.000`.
"""

import re
from collections.abc import Collection, Mapping

from shortflow.imports.columns import LINE
from shortflow.imports.files import File
from shortflow.lazy import pl

_POINT, _COMMA = ".", ","
_NAMES = {_POINT: "decimal points", _COMMA: "decimal commas"}
_BLANKS = r"[ \x{a0}\x{202f}'’]"
_OTHER_SIGNS = r"[, \x{a0}\x{202f}'’]"
"""Characters that plain numbers do not have."""
_REST = r"(?:\s*[A-Za-z%µ]*)$"
"""A unit, or nothing, after a number."""


def _sure(decimal: str, thousands: str) -> str:
    """Pattern of numbers that certainly have this decimal separator."""
    d, t = (f"[{sign}]" for sign in (decimal, thousands))
    forms = (
        rf"\d+{d}\d*e[-+]?\d+",
        rf"(?:0\d*|\d{{4,}}){d}\d+",
        rf"\d*{d}(?:\d{{0,2}}|\d{{4,}})",
        rf"\d{{1,3}}(?:{t}\d{{3}})+{d}\d+",
        rf"[1-9]\d{{0,2}}(?:{t}\d{{3}}){{2,}}",
        rf"\d{{1,3}}(?:{_BLANKS}\d{{3}})+{d}\d+",
    )
    return rf"(?i)^[-+]?(?:{'|'.join(forms)}){_REST}"


_SURE = {_POINT: _sure(_POINT, _COMMA), _COMMA: _sure(_COMMA, _POINT)}
_UNSURE = rf"^[-+]?[1-9]\d{{0,2}}[.,]\d{{3}}{_REST}"
"""One separator before three digits, which may separate thousands or decimals."""
_SPACED = rf"^[-+]?[1-9]\d{{0,2}}(?:{_BLANKS}\d{{3}})+(?:[.,]\d+)?{_REST}"


def with_points(
    file: File, table: "pl.DataFrame", names: Mapping[str, str], separator: str | None, whole: Collection[str]
) -> "pl.DataFrame":
    """The table with plain numbers in these columns: decimal points, and no separators of thousands.

    `names` has the file's name of each column, and `whole` the columns whose numbers have no decimals. A `ConfigError`
    names a column that mixes two notations, or a number that is valid in both.
    """
    found = {column: _convention(file, table, column, names[column]) for column in names}
    known = {each for each in found.values() if each}
    for column, name in names.items():
        texts = table[column]
        unsure = texts.str.contains(_UNSURE).fill_null(False)
        decimal = found[column]
        if decimal is None and unsure.any():
            others = next(iter(known)) if len(known) == 1 else None
            if column in whole:
                is_other = texts.str.contains(rf"^[-+]?\d+[{others}]").fill_null(False) if others else unsure
                decimal = None if (unsure & is_other).any() else others
            else:
                decimal = others or (_POINT if separator in (None, _COMMA) else None)
            if decimal is None:
                raise _unsure(file, table, column, name, unsure)
        if decimal == _COMMA or texts.str.contains(_OTHER_SIGNS).any():
            table = table.with_columns(_plain(pl.col(column), decimal or _POINT))
    return table


def _convention(file: File, table: "pl.DataFrame", column: str, name: str) -> str | None:
    """The decimal separator that the column certainly has; None if uncertain.

    A `ConfigError` names a number with the other separator.
    """
    places = {
        sign: table[column].str.contains(form).fill_null(False).arg_true().to_list() for sign, form in _SURE.items()
    }
    first = [sign for sign in _SURE if places[sign]]
    if len(first) < 2:
        return first[0] if first else None
    usual, other = sorted(first, key=lambda sign: -len(places[sign]))
    row, like = table.row(places[other][0], named=True), table[column][places[usual][0]]
    raise file.wrong(row[LINE], name, row[column], f'{_NAMES[usual]} in the whole column, as "{like}" has')


def _unsure(file: File, table: "pl.DataFrame", column: str, name: str, unsure: "pl.Series") -> Exception:
    row = table.row(int(unsure.arg_true()[0]), named=True)
    text = row[column]
    sign = "." if "." in text else ","
    digits, parts = text.replace(sign, ""), re.sub(r"(\d)(\D*)$", r"\g<1>0\2", text.replace(sign, "."))
    return file.wrong(
        row[LINE],
        name,
        text,
        f"{digits} or {parts}, as no number of the column tells whether {'points' if sign == '.' else 'commas'} "
        "separate thousands or decimals",
    )


def _plain(column: "pl.Expr", decimal: str) -> "pl.Expr":
    thousands = _COMMA if decimal == _POINT else _POINT
    grouped = rf"^[-+]?[1-9]\d{{0,2}}(?:[{thousands}]\d{{3}})+(?:[{decimal}]\d+)?{_REST}"
    spaced = pl.when(column.str.contains(_SPACED)).then(column.str.replace_all(rf"(\d){_BLANKS}(\d)", "$1$2"))
    column = spaced.otherwise(column)
    column = (
        pl.when(column.str.contains(grouped))
        .then(column.str.replace_all(thousands, "", literal=True))
        .otherwise(column)
    )
    if decimal == _POINT:
        return column
    is_number = column.str.contains(rf"(?i)^[-+]?\d*,\d*(?:e[-+]?\d+)?{_REST}")
    return pl.when(is_number).then(column.str.replace(",", ".", literal=True)).otherwise(column)
