"""Arithmetic of hashed paths."""

from shortflow_papers import lab
from shortflow_papers.papers.known import holds

PATHS = 8
USED = PATHS * (1 - (1 - 1 / PATHS) ** PATHS)
"""Mean number of paths that eight flows with hashed paths use."""

ecmp = lab.Figure(
    "known/ecmp",
    "ECMP",
    "Collisions of hashed paths",
    {"flows": lab.Study("known-ecmp", ("dctcp",), seeds=200, quick_seeds=20)},
)
holds(
    ecmp,
    "ecmp-collisions",
    "eight flows on eight hashed paths get 65.6 % of what all paths carry",
    lab.level("dctcp", "goodput_long_bps"),
    USED * 10e9 * 1460 / 1500,
    0.05,
)
