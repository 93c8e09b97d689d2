"""Traffic, measures and curves that several papers have."""

from collections.abc import Mapping

from shortflow import lab
from shortflow.lab.study import Value
from shortflow.metrics.stats import Estimate, jain_index
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


def decreases(name: str, found: Mapping[int, Estimate] | Mapping[float, Estimate]) -> lab.Line:
    """A curve of relative differences, drawn as decreases in per cent."""
    ci95 = [each.ci95 and (-100 * each.ci95[1], -100 * each.ci95[0]) for each in found.values()]
    return lab.Line(name, list(found), [-100 * each.value for each in found.values()], ci95)
