"""`bench`: cost of packet-hops and flows on this machine."""

from typing import Annotated

from shortflow import bench as benches
from shortflow.front.command import Answer, Opt, command
from shortflow.front.console import note
from shortflow.terms import names

_CASES = ", ".join(case.label for case in benches.CASES)


@command
def bench(
    *,
    cases: Annotated[str | None, Opt(f"Cases, separated by commas: {_CASES} (default: all).", "NAMES")] = None,
    schemes: Annotated[str | None, Opt("Schemes, separated by commas (default: all).", "NAMES")] = None,
) -> Answer:
    """Measure the simulator's speed, memory and start-up on this machine."""
    chosen = benches.chosen(
        None if cases is None else names(cases, "--cases"), None if schemes is None else names(schemes, "--schemes")
    )
    start, rows = benches.start_up(), []
    for case, scheme in chosen:
        note(f"{case.label} ({case.what}), {scheme.label} …")
        rows.append(benches.measure(case, scheme))
    document = benches.document(rows, start)
    return Answer(lambda: document, benches.blocks(document))
