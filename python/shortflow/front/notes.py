"""Notes on scenarios and results."""

from collections.abc import Iterable, Mapping, Sequence

from shortflow._core import Scheme
from shortflow.front.console import note
from shortflow.records import Drop
from shortflow.scenario import WARNING, Scenario, warnings_at

FAULTS = ("loss", "corrupted", "link down", "no route")
"""Reasons of drops that are faults of a scenario."""


def note_warnings(scenario: Scenario, schemes: Iterable[Scheme]) -> None:
    """Notes values of a scenario that are valid but probably unintended, alone or under these schemes."""
    for warning in scenario.warnings(schemes):
        note(f"{WARNING}{warning}")


def note_warnings_at(ends: Iterable[tuple[Mapping[str, str], Scenario, Scheme]]) -> None:
    """Notes warnings at both ends of a range.

    Each warning is noted once, with the settings of its end unless both ends have the warning.
    """
    found = [
        (", ".join(f"{key}={value}" for key, value in point.items()), scenario.warnings([scheme]))
        for point, scenario, scheme in ends
    ]
    for warning in warnings_at(found):
        note(warning)


def note_faults(drops: Sequence[Drop]) -> None:
    """Notes the packets lost to a scenario's faults, with the three places that lost most."""
    for reason in FAULTS:
        places = sorted(((row["in_run"], row["place"]) for row in drops if row["reason"] == reason), reverse=True)
        if places:
            most = ", ".join(f"{count} at {place}" for count, place in places[:3])
            more = ", …" if len(places) > 3 else ""
            packets = sum(count for count, _ in places)
            note(f"dropped in the whole run, {reason}: {packets} packets ({most}{more})")


def note_about(notes: Iterable[str]) -> None:
    """Notes limits of results. Warnings are left out, because they are noted before the runs."""
    for each in notes:
        if not each.startswith(WARNING):
            note(each)
