"""What is counted over whole runs, warm-up and drain included, unlike the metrics of the same names.

Claims about bursts need it: the timeouts of one that comes late fall into the drain.
"""

from shortflow.lab.quantity import measure
from shortflow.result import Result


@measure("drops in the whole run")
def drops_in_run(result: Result) -> float:
    """Packets dropped anywhere, ACKs included."""
    return float(result.meta["counters"]["packets_dropped"])


@measure("timeouts in the whole run")
def timeouts_in_run(result: Result) -> float:
    """Retransmission timeouts of all flows."""
    return float(result.flows["timeouts"].sum())


@measure("retransmissions in the whole run")
def retransmits_in_run(result: Result) -> float:
    """Data segments retransmitted by all flows."""
    return float(result.flows["retransmits"].sum())
