"""`shortflow linux agreement`: the table of docs/testbed.md that holds the simulator against the kernel."""

import json as formats
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from shortflow.cli.console import print_json, print_note
from shortflow.cli.options import Json, KeptIn, Seeds
from shortflow.cli.terminal import print_result
from shortflow.cli.testbed import AllowLate, Attempts, Virtual, chosen, exit_code
from shortflow.errors import ConfigError, Interrupted, did_you_mean
from shortflow.linux import agreement as study
from shortflow.linux.testbed import ATTEMPTS, SideBySide
from shortflow.store.files import Kind, write_text

Rows = Annotated[
    list[str] | None,
    typer.Argument(metavar="ROW", help="Rows of the tables, such as 'messages, fq', or one-host for the second table."),
]


def agreement(
    rows: Rows = None,
    seeds: Seeds = 10,
    out: KeptIn = Path("results/agreement"),
    attempts: Attempts = ATTEMPTS,
    allow_late: AllowLate = False,
    virtual: Virtual = False,
    json: Json = False,
) -> int:
    """Compare simulator and kernel over all testbed scenarios, or over the rows that are named.

    Needs root, and the better part of an hour; or --virtual, and hours.

    Writes the table as agreement.md and everything as agreement.json. Finished runs are kept: the same command goes on
    from there. The exit code is 1 if a run did not keep time. The aim is completion times, goodput and queue within
    5 %, marks within 10 %, with their whole 95 % interval; what is outside and what is undecided is named.
    """
    try:
        found = study.measure(_chosen_rows(rows), range(1, seeds + 1), out, _tell, attempts, chosen(virtual))
    except KeyboardInterrupt as cause:
        message = f"interrupted; finished runs are kept in {out}; the same command goes on from there"
        raise Interrupted(message) from cause
    document = found.document()
    table = study.markdown(document)
    write_text(out / "agreement.md", table, Kind.TABLE)
    write_text(out / "agreement.json", formats.dumps(document, indent=1) + "\n", Kind.AGREEMENT)
    if json:
        print_json(document)
    else:
        print_result(table)
    for each in found.named(study.Standing.OUTSIDE):
        print_note(f"outside the aim: {each}")
    for each in found.named(study.Standing.UNDECIDED):
        print_note(f"undecided: {each}")
    return exit_code(found.all_kept_time, allow_late, virtual)


def _chosen_rows(names: Sequence[str] | None) -> list[str]:
    """The rows of these names; all without a name."""
    rows = [row for name in names or () for row in study.GROUPS.get(name, [name])]
    for row in rows:
        if row not in study.CELLS:
            known = [*study.GROUPS, *study.CELLS]
            meant = did_you_mean(row, known)
            raise ConfigError(f"ROW: unknown row {row!r}; expected one of {', '.join(known)}{meant}")
    return rows or list(study.CELLS)


def _tell(scenario: str, scheme: str, done: int, cell: SideBySide) -> None:
    print_note(f"{done}: {scenario}, {scheme}: {cell.kept_time}, in {cell.tried} run{'s' if cell.tried != 1 else ''}")
