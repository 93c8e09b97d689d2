"""Fig. 4: the mean query time over the number of workers."""

from collections.abc import Sequence

from shortflow.papers.fast.setup import ALONE, MARKING, SCHEMES, queries, tree
from shortflow.reproduction import Data, Drawing, Figure, Finding, Study, all_hold, at_least, at_most, curves, fact, within
from shortflow.reproduction.finding import lower
from shortflow.result import RunResult

TIMEOUT_S = 0.01
"""A query that took this long has waited for a retransmission timeout."""

PING = Study(
    tree("One byte from one rack to another", "1s", [{"kind": "incast", "flows": 1, "from": 99, "to": 0, **{
        "class": "ping", "sizes": {"kind": "fixed", "value": "1B"}}}]),
    ("tcp",),
    seeds=1,
    quick_seeds=1,
)
NAGLE = queries(("fast",), {"transport.nagle": ("off", "on")}, {"workers": 60})
