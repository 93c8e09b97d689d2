"""`linux agreement`: the table of docs/testbed.md that holds the simulator against the kernel."""

import json as formats
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from shortflow.commands.testbed import AllowLate, Attempts, Virtual, chosen, exit_code
from shortflow.errors import ConfigError, Interrupted, did_you_mean
from shortflow.front import options as given
from shortflow.front.command import Answer, Arg, command
from shortflow.front.console import note
from shortflow.linux import agreement as study
from shortflow.linux.testbed import ATTEMPTS, SideBySide
from shortflow.store.files import Kind, write_text


@command
def agreement(
    rows: Annotated[
        Sequence[str] | None,
        Arg("Rows of the tables, such as 'messages, fq', or one-host for the second table.", "ROW", many=True),
    ] = None,
    *,
    seeds: given.Seeds = 10,
    out: given.KeptIn = Path("results/agreement"),
    attempts: Attempts = ATTEMPTS,
    allow_late: AllowLate = False,
    virtual: Virtual = False,
) -> Answer:
    """Compare simulator and kernel over all testbed scenarios, or over the rows that are named.

    Needs root, and the better part of an hour; or --virtual, and hours.

    Writes the table as agreement.md and everything as agreement.json. Finished runs are kept: the same command goes on
    from there. The exit code is 1 if a run did not keep time. The aim is completion times, goodput and queue within
    5 %, marks within 10 %, with their whole 95 % interval; what is outside and what is undecided is named.
    """
    out = Path(out)
    try:
        found = study.measure(_chosen_rows(rows), range(1, seeds + 1), out, _tell, attempts, chosen(virtual))
    except KeyboardInterrupt as cause:
        message = f"interrupted; finished runs are kept in {out}; the same command goes on from there"
        raise Interrupted(message) from cause
    document = found.document()
    table = study.markdown(document)
    write_text(out / "agreement.md", table, Kind.TABLE)
    write_text(out / "agreement.json", formats.dumps(document, indent=1) + "\n", Kind.AGREEMENT)
    for each in found.named(study.Standing.OUTSIDE):
        note(f"outside the aim: {each}")
    for each in found.named(study.Standing.UNDECIDED):
        note(f"undecided: {each}")
    return Answer(lambda: document, [table], exit_code(found.all_kept_time, allow_late, virtual))


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
    note(f"{done}: {scenario}, {scheme}: {cell.kept_time}, in {cell.tried} run{'s' if cell.tried != 1 else ''}")
