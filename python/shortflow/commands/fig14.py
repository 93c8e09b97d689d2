"""`linux fig14`: L2DCT's testbed figure, measured."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

from rich.console import RenderableType

from shortflow.commands.testbed import AllowLate, Attempts, Virtual, chosen, exit_code
from shortflow.errors import ConfigError, Interrupted
from shortflow.front import options as given
from shortflow.front.command import Answer, Opt, command
from shortflow.front.console import note
from shortflow.linux import fig14 as figure
from shortflow.linux.testbed import ATTEMPTS
from shortflow.records import Account
from shortflow.report.tables import lay_out, stacked
from shortflow.reproduction.summary import claim_table


@command
def fig14(
    *,
    repeat: Annotated[int, given.whole("Repetitions of each run; the paper has 10.")] = 10,
    flows: Annotated[str, Opt("Numbers of simultaneous flows, from 1 to 8.", "N,…")] = "1,2,4,8",
    full: Annotated[bool, Opt(f"Flows of {figure.FULL_MB} MB, which take hours in all.")] = False,
    out: given.KeptIn = Path("results/fig14"),
    attempts: Attempts = ATTEMPTS,
    allow_late: AllowLate = False,
    virtual: Virtual = False,
) -> Answer:
    """Measure Fig. 14 of L2DCT on the kernel's TCP, and decide its claims.

    Needs root, and some minutes; or --virtual, and hours.

    Finished runs are kept: after Ctrl-C, or where one fails, the same command goes on from there, and it repeats those
    in which the testbed did not keep time, which enter no average. The exit code is 1 if a run did not keep time; a
    claim most of whose runs did not is undecided.
    """
    size_mb = figure.FULL_MB if full else figure.SCALED_MB
    counts, out = _counts(flows), Path(out)
    try:
        measured = figure.measure(counts, repeat, size_mb, out, _tell, attempts, chosen(virtual))
    except KeyboardInterrupt as cause:
        message = f"interrupted; finished runs are kept in {out}; the same command goes on from there"
        raise Interrupted(message) from cause
    note(f"runs: {measured.store.runs}")
    code = exit_code(measured.all_kept_time, allow_late, virtual)
    return Answer(lambda: _document(size_mb, measured), _tables(measured), code)


def _document(size_mb: int, measured: figure.Fig14) -> dict[str, Any]:
    kept: dict[str, dict[str, object]] = {}
    for (count, scheme), accounts in measured.accounts.items():
        kept.setdefault(str(count), {})[scheme] = accounts
    points = {str(count): comparison.document() for count, comparison in measured.points.items()}
    decided = [judged.document() for judged in measured.claims()]
    return {"size_mb": size_mb, "flows": points, "claims": decided, "testbed": kept}


def _tables(measured: figure.Fig14) -> Iterator[RenderableType]:
    for section in figure.sections(measured):
        yield stacked(*lay_out(section))
    yield claim_table(measured.claims())


def _counts(text: str) -> list[int]:
    counts = [int(each) if each.strip().isdigit() else 0 for each in text.split(",")]
    if not all(1 <= count <= 8 for count in counts):
        raise ConfigError(f"--flows {text}: expected numbers from 1 to 8, separated by commas")
    return list(dict.fromkeys(counts))


def _tell(scheme: str, flows: int, repetition: int, account: Account) -> None:
    note(f"{flows} flow{'s' if flows > 1 else ''}, repetition {repetition}, {scheme}: {account['verdict']}")
