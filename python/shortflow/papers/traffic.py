"""Traffic and measures that several papers have."""

from shortflow import lab
from shortflow.lab.study import Value
from shortflow.metrics.stats import jain_index
from shortflow.result import Result


def burst(senders: Value, to: Value, size: Value, flow_class: str = "", **more: object) -> dict[str, object]:
    """One flow (or `flows`) of this size from each sender, all at once."""
    named = {"class": flow_class} if flow_class else {}
    sizes = {"kind": "fixed", "value": size}
    return {"kind": "incast", **named, "flows": 1, "from": senders, "to": to, "sizes": sizes, **more}


@lab.measure("Jain's index")
def fairness(result: Result) -> float:
    """Jain index of bytes delivered."""
    return jain_index(result.flows["delivered_bytes"].to_list())
