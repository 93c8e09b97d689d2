"""Traffic that several papers have."""

from shortflow.lab.study import Value


def burst(senders: Value, to: Value, size: Value, flow_class: str = "", **more: object) -> dict[str, object]:
    """One flow (or `flows`) of this size from each sender, all at once."""
    named = {"class": flow_class} if flow_class else {}
    sizes = {"kind": "fixed", "value": size}
    return {"kind": "incast", **named, "flows": 1, "from": senders, "to": to, "sizes": sizes, **more}
