"""`shortflow linux fig14`: L2DCT's testbed figure, measured."""

from typing import Annotated

import typer

from shortflow.cli.console import print_json, print_note, print_result
from shortflow.cli.options import Json, whole_number
from shortflow.errors import ConfigError
from shortflow.papers.l2dct import testbed
from shortflow.tables import lay_out, stacked
from shortflow.testbed import Account


def fig14(
    repeat: Annotated[
        int, typer.Option(metavar="NUMBER", parser=whole_number(1), help="Repetitions of each run; the paper has 10.")
    ] = 10,
    flows: Annotated[str, typer.Option(metavar="N,…", help="Numbers of simultaneous flows, from 1 to 8.")] = "1,2,4,8",
    full: Annotated[
        bool, typer.Option("--full", help=f"Flows of {testbed.FULL_MB} MB, which take hours in all.")
    ] = False,
    json: Json = False,
) -> None:
    """Measure Fig. 14 of L2DCT on the kernel's TCP. Needs root, and some minutes."""
    size_mb = testbed.FULL_MB if full else testbed.SCALED_MB
    measured = testbed.measure(_counts(flows), repeat, size_mb, _tell)
    if json:
        points = {str(count): comparison.document() for count, comparison in measured.points.items()}
        print_json({"size_mb": size_mb, "flows": points, "testbed": measured.accounts})
        return
    for section in testbed.sections(measured):
        print_result(stacked(*lay_out(section)))
    late = [account for account in measured.accounts if account["verdict"] != "trustworthy"]
    print_result(
        f"{len(measured.accounts)} runs, of which the testbed kept time in {len(measured.accounts) - len(late)}."
    )


def _counts(text: str) -> list[int]:
    counts = [int(each) if each.strip().isdigit() else 0 for each in text.split(",")]
    if not all(1 <= count <= 8 for count in counts):
        raise ConfigError(f"--flows {text}: expected numbers from 1 to 8, separated by commas")
    return counts


def _tell(scheme: str, flows: int, repetition: int, account: Account) -> None:
    print_note(f"{flows} flows, repetition {repetition}, {scheme}: {account['verdict']}")
