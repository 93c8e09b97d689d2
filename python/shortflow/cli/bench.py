"""`shortflow bench`: what a packet-hop and a flow cost on this machine."""

from shortflow import bench as benches
from shortflow.cli.console import print_json, print_note
from shortflow.cli.options import Json
from shortflow.cli.terminal import print_result


def bench(json: Json = False) -> None:
    """Measure packet-hops per CPU-second, events per packet-hop and bytes per flow."""
    rows = []
    for case in benches.CASES:
        print_note(f"{case.scenario} ({case.what}), {case.scheme} …")
        rows.append(benches.measure(case))
    document = benches.document(rows)
    if json:
        print_json(document)
    else:
        print_result(benches.table(document))
