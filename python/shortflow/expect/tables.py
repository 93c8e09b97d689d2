"""Expected numbers, verdicts and suspects as tables and plain data."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from textwrap import shorten
from typing import Any

from shortflow.expect.expected import Expected
from shortflow.expect.simulated import Expectation
from shortflow.expect.suspects import Accused, Inquiry
from shortflow.quantities import scale_for
from shortflow.report.blocks import Block, Column, Section, Words, text_section

TOPICS = {
    "links": "Links",
    "alone": "Flows alone in the network",
    "load": "Use of links and shares of long flows",
    "slowdown": "Slowdown at the most loaded link",
    "bursts": "Flows that start together",
    "queue": "Queue, threshold and marks",
    "timers": "Timers",
}
_SUSPECTS = 5
_SHOWN_SCATTER = 0.005
_LONGEST = 60
"""Maximum number of characters of a setting."""


def quantity(value: float, unit: str) -> str:
    """A number with three digits and its unit."""
    scale = scale_for(unit, [value])
    shown = value / scale.divisor
    return f"{shown:,.0f}{scale.suffix}" if abs(shown) >= 1000 else f"{shown:.3g}{scale.suffix}"


def blocks(found: Expectation, inquiry: Inquiry | None) -> Iterator[Block]:
    """Comparisons and suspects first, then one table for each topic."""
    scenario = found.arithmetic.scenario
    yield Words(f"{scenario.title}\n{scenario.name}, {found.scheme}")
    if inquiry:
        yield from _inquiry_blocks(inquiry)
    for topic, rows in groupby(found.numbers, key=lambda row: row.formula.topic):
        yield _section(TOPICS[topic], list(rows))
    formulas = {}
    for row in found.numbers:
        simulated = "" if row.reading is None or row.simulated is None else row.reading.scheme or "the scheme"
        formulas[row.name] = [row.name, row.formula.formula, row.formula.source, simulated]
    yield text_section("Formulas", ["number", "formula", "source", "simulated by"], list(formulas.values()))
    if any(row.is_least for row in found.numbers):
        yield Words("A simulated number after ≥ is a lower bound, because some flows or tasks did not finish.")
    if found.omitted:
        yield Words(f"{found.scheme} was not simulated: {found.omitted}.")


def _section(heading: str, rows: Sequence[Expected]) -> Section:
    simulated = any(row.simulated is not None for row in rows)
    lead = Column("number", [row.name for row in rows], text=True)
    columns = [
        Column("flows or link", [row.subject for row in rows], text=True),
        Column("expected", [quantity(row.value, row.formula.unit) for row in rows]),
    ]
    if any(row.scatter >= _SHOWN_SCATTER for row in rows):
        scatter = [f"± {100 * row.scatter:.0f} %" if row.scatter >= _SHOWN_SCATTER else "" for row in rows]
        columns.append(Column("scatter of a seed", scatter))
    if simulated:
        numbers = ["" if row.simulated is None else quantity(row.simulated, row.formula.unit) for row in rows]
        bounds = ["≥ " if row.is_least and row.simulated is not None else "" for row in rows]
        columns.append(Column("simulated", [f"{bound}{text}" for bound, text in zip(bounds, numbers, strict=True)]))
        columns.append(Column("difference", [_difference(row) for row in rows]))
    return Section(heading, [lead], columns)


def _difference(row: Expected) -> str:
    if row.off is None:
        return ""
    percent = round(100 * row.off)
    return f"{percent:+d} %" if percent else "0 %"


def _inquiry_blocks(inquiry: Inquiry) -> Iterator[Block]:
    for verdict in inquiry.verdicts:
        measured = verdict.measured
        unit = measured.unit
        low, expected, high = (quantity(value, unit) for value in (verdict.low, verdict.expected, verdict.high))
        place = "within" if verdict.inside else "outside"
        yield Words(
            f"The measured {measured.name} of {quantity(measured.value, unit)} lies {place} the expected range: "
            f"{low} to {high}. The mean of five seeds is {expected}.",
            "answer",
        )
    if all(verdict.inside for verdict in inquiry.verdicts):
        return
    if not inquiry.accused:
        yield Words(f"None of the {inquiry.tried} simulated causes brings the simulation closer to the measurement.")
        return
    rows = [_suspect_row(place, each, inquiry) for place, each in enumerate(inquiry.accused[:_SUSPECTS], start=1)]
    heads = ["cause", "simulated change and its result", "how to check"]
    yield text_section("Likely causes, the most likely first", heads, rows, spaced=True)


def _suspect_row(place: int, accused: Accused, inquiry: Inquiry) -> list[str]:
    given = zip(inquiry.verdicts, accused.numbers, strict=True)
    settings = [shorten(f"{key}={value}", _LONGEST, placeholder=" …") for key, value in accused.settings.items()]
    others = [f"and {len(settings) - 3} more"] if len(settings) > 3 else []
    gives = [f"{verdict.measured.name} {quantity(number, verdict.measured.unit)}" for verdict, number in given]
    left = f"{100 * accused.unexplained:.0f} % of the deviation remains"
    simulated = "\n".join([*settings[:3], *others, f"gives {', '.join(gives)}; {left}"])
    return [f"{place}. {accused.suspect.cause}", simulated, accused.suspect.test]


def document(found: Expectation, inquiry: Inquiry | None) -> dict[str, Any]:
    """Plain data, for --json."""
    answer: dict[str, Any] = {
        "scenario": found.arithmetic.scenario.name,
        "title": found.arithmetic.scenario.title,
        "scheme": found.scheme,
        "expected": [_row(row) for row in found.numbers],
        "omitted": found.omitted or None,
    }
    if inquiry:
        answer["measured"] = [
            {
                "name": verdict.measured.name,
                "metric": verdict.measured.metric,
                "value": verdict.measured.value,
                "unit": verdict.measured.unit,
                "expected": verdict.expected,
                "low": verdict.low,
                "high": verdict.high,
                "inside": verdict.inside,
            }
            for verdict in inquiry.verdicts
        ]
        answer["suspects"] = [_suspect(each, inquiry) for each in inquiry.accused]
    return answer


def _row(row: Expected) -> dict[str, Any]:
    reading: Mapping[str, Any] = {}
    if row.reading:
        reading = {"metric": row.reading.metric, "simulated_scheme": row.reading.scheme or None}
    given = {"name": row.name, "subject": row.subject, "value": row.value, "scatter": row.scatter}
    return {**given, **row.formula._asdict(), "simulated": row.simulated, "simulated_is_least": row.is_least, **reading}


def _suspect(accused: Accused, inquiry: Inquiry) -> dict[str, Any]:
    given = zip(inquiry.verdicts, accused.numbers, strict=True)
    return {
        "cause": accused.suspect.cause,
        "test": accused.suspect.test,
        "settings": dict(accused.settings),
        "would_give": {verdict.measured.name: number for verdict, number in given},
        "unexplained": accused.unexplained,
    }
