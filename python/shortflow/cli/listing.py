"""`shortflow list`: what there is to name on the command line."""

from collections.abc import Iterator
from typing import Annotated

import typer

from shortflow import _core, papers
from shortflow.cli.console import print_json, print_result
from shortflow.cli.options import Json
from shortflow.errors import unknown_name
from shortflow.metrics import KINDS as METRICS
from shortflow.records import Entry
from shortflow.scenario import load_scenario, shipped_scenarios
from shortflow.tables import named_table

KINDS = (*_core.registry(), "scenarios", "metrics", "figures", "claims")


def list_names(
    kind: Annotated[
        str,
        typer.Argument(
            help=f"{', '.join(KINDS)}.",
            metavar="KIND",
        ),
    ],
    json: Json = False,
) -> None:
    """List what has a name: schemes, queues, scenarios, metrics, figures, claims and so on."""
    registry = _core.registry()
    if kind == "scenarios":
        rows = [{"name": name, "summary": load_scenario(name).title} for name in shipped_scenarios()]
        entries: list[Entry] | list[dict[str, str]] = rows
    elif kind == "metrics":
        entries = [{"name": each.pattern, "unit": each.unit, "summary": each.about} for each in METRICS]
        rows = [{"name": row["name"], "summary": f"{row['summary']}{_unit(row['unit'])}"} for row in entries]
    elif kind == "figures":
        entries = rows = [{"name": name, "summary": f"{f.ref}: {f.title}"} for name, f in papers.figures().items()]
    elif kind == "claims":
        entries = _claims()
        rows = [{"name": entry["id"], "summary": entry["summary"]} for entry in entries]
    elif kind in registry:
        entries = registry[kind]
        rows = [{"name": name, "summary": line} for entry in entries for name, line in _lines(entry)]
    else:
        raise unknown_name("list", kind, KINDS)
    if json:
        print_json(entries)
    else:
        print_result(named_table(kind, [(row["name"], row["summary"]) for row in rows]))


def _unit(unit: str) -> str:
    return f" ({unit})" if unit else ""


def _claims() -> list[dict[str, str]]:
    """Every claim of the papers, and the recipe that decides it."""
    decided = {claim.id: (figure.id, claim.says) for figure in papers.figures().values() for claim in figure.claims}
    return [{"id": name, "recipe": decided[name][0], "summary": decided[name][1]} for name in papers.catalogue()]


def _lines(entry: Entry) -> Iterator[tuple[str, str]]:
    """An entry, and below it its parameters with default and range."""
    yield entry["name"], _with_source(entry)
    for parameter in entry["parameters"]:
        default = f" = {parameter['default']}" if parameter["default"] else ""
        about = f": {parameter['summary']}" if parameter["summary"] else ""
        yield "", f"  {parameter['name']}{default}{about} ({parameter['expected']})"


def _with_source(entry: Entry) -> str:
    return f"{entry['summary']} [{entry['source']}]" if entry["source"] else entry["summary"]
