"""`shortflow bench`: what a packet-hop and a flow cost on this machine."""

from typing import Annotated

import typer

from shortflow import bench as benches
from shortflow.cli.console import print_json, print_note
from shortflow.cli.options import Json
from shortflow.cli.terminal import print_result
from shortflow.terms import names as names_in

_CASES = ", ".join(case.label for case in benches.CASES)


def bench(
    cases: Annotated[
        str | None, typer.Option(metavar="NAMES", help=f"These cases, separated by commas: {_CASES} (default: all).")
    ] = None,
    schemes: Annotated[
        str | None, typer.Option(metavar="NAMES", help="These schemes, separated by commas (default: all registered).")
    ] = None,
    json: Json = False,
) -> None:
    """Measure packet-hops per CPU-second, their cost over a minimal loop's, events, memory and start-up."""
    chosen = benches.chosen(
        None if cases is None else names_in(cases, "--cases"),
        None if schemes is None else names_in(schemes, "--schemes"),
    )
    start, rows = benches.start_up(), []
    for case, scheme in chosen:
        print_note(f"{case.label} ({case.what}), {scheme.label} …")
        rows.append(benches.measure(case, scheme))
    document = benches.document(rows, start)
    if json:
        print_json(document)
    else:
        print_result(benches.table(document))
