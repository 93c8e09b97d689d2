"""Published numbers of DCQCN and Swift. The simulator does not reproduce them, for unknown reasons."""

from shortflow.api.runs import Result
from shortflow_papers import lab
from shortflow_papers.papers.common import recorded
from shortflow_papers.papers.known import holds

RATE, FLOWS = 40e9 / 12_000, 8
"""Rate of the link in packets of 1500 bytes per second, and number of flows."""
STEP, GAP, TIMER, COUNTER = RATE / 1000, 50e-6, 55e-6, 10e6 / 1500
"""DCQCN's additive increase in packets per second, notification gap and timer in seconds, byte counter in packets."""
MARKED = (STEP * FLOWS**2 / (GAP * RATE**2) * (1 / COUNTER + FLOWS / (TIMER * RATE)) ** 2) ** (1 / 3)
"""Probability of a mark at the fixed point of DCQCN's fluid model."""
LEAST, MOST, AT_MOST = 5_000, 200_000, 0.01
"""RED's lower and upper threshold in bytes, and its marking probability at the upper threshold."""

dcqcn = lab.Figure(
    "known/dcqcn",
    "DCQCN",
    "DCQCN's fixed point",
    {"flows": lab.Study("known-dcqcn", ("dcqcn",), seeds=3, quick_seeds=1)},
)
holds(
    dcqcn,
    "dcqcn-link",
    "eight flows fill the link at the fixed point of the fluid model",
    lab.level("dcqcn", "utilisation"),
    1.0,
    0.02,
)
holds(
    dcqcn,
    "dcqcn-queue",
    "the queue of eight flows stands where RED marks with the probability of the fixed point",
    lab.level("dcqcn", "queue_mean_bytes"),
    LEAST + MARKED / AT_MOST * (MOST - LEAST),
    0.2,
)
EMPTY = 20e-6
"""Round-trip time without queues, in seconds. The paper does not give this time."""


@lab.per_run("mean round trip", "s")
def round_trip(result: Result) -> float:
    """Round-trip time without queues plus the mean wait of the packets."""
    return EMPTY + recorded(result, "queueing_long_s", "waits of long flows")


swift = lab.Figure(
    "known/swift",
    "Swift, Table 3",
    "Swift's incast",
    {"flows": lab.Study("known-swift-incast", ("swift",), seeds=3, quick_seeds=1)},
)
holds(
    swift,
    "swift-incast-delay",
    "the mean round trip of 5,000 flows is 110 us",
    lab.level("swift", round_trip),
    110e-6,
    0.2,
)
