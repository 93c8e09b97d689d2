"""Fig. 12: DCTCP's query time over the segment size; and Sec. 3.2 on how many flows fit without loss."""

from collections.abc import Sequence

import polars as pl
from scipy.stats import spearmanr

from shortflow._core import fast_bottleneck
from shortflow.papers.fast.fig04 import query_ms
from shortflow.papers.fast.setup import DCTCP, ROOT, queries, tree
from shortflow.reproduction import Data, Drawing, Figure, Finding, Line, Study, all_hold, at_most, within
from shortflow.result import RunResult

HEADER = 40
PACKETS = (100, 250, 500, 750, 1000, 1250, 1500)
"""Sizes of whole packets in bytes."""

SIZES = queries(
    ("dctcp",),
    {"workers": (25, 40, 50, 60, 80), "tcp.mss": tuple(f"{packet - HEADER}B" for packet in PACKETS)},
)
FITTING = queries(
    ("dctcp",),
    {"tcp.mss": ("460B", "960B", "1460B"), "workers": tuple(range(10, 151, 5))},
    {"repetitions": 10},
)
