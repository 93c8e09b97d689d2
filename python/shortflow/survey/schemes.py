"""Who takes part: every registered scheme, but for variants that only one figure of their paper needs.

All run with the parameters that they have everywhere in Shortflow, those of their papers; none is tuned to a workload.
What belongs to switches and hosts, such as K, buffers and RTOmin, is the workload's and the same for all.
"""

from collections.abc import Mapping

from shortflow._core import Scheme
from shortflow.papers.unspecified import INITIAL_ALPHA
from shortflow.scenario import Settings

SCHEMES = (
    "tcp",
    "tcp-ecn",
    "cubic",
    "red",
    "dctcp",
    "d2tcp",
    "l2dct",
    "xdctcp",
    "atcp",
    "atcp-dctcp",
    "fast",
    "pias",
    "pecn",
    "pecn-pmark",
    "pecn-edf",
    "pfabric",
)

LEFT_OUT = {
    "newreno": "TCP without selective acknowledgements; tcp stands for TCP that knows only losses",
    "l2dct-srpt": "L2DCT told the remaining bytes: the same as l2dct for every flow of up to 200 KB",
    "l2dct-ps": "L2DCT without its weights, there to show what the weights do",
    "swift": "targets of delay, which an operator sets for a topology; the workloads have none",
    "pfabric-minimal": "pFabric with a sender of its own; pfabric has the sender that others have",
    "dcqcn": "senders without a window, made for networks that pause rather than drop, which is not modelled",
}

TOLD = {
    "d2tcp": "deadlines",
    "xdctcp": "the class of each flow",
    "pecn": "sizes",
    "pecn-pmark": "sizes",
    "pecn-edf": "deadlines",
    "pfabric": "bytes that remain",
}
"""What a scheme has to be told of a flow before it starts; the others are told nothing."""

IN_SWITCHES = ("pias", "pecn", "pecn-pmark", "pecn-edf", "pfabric")
"""Schemes whose switches choose which packet leaves first."""

PLAIN = "tcp-ecn"
"""What the schemes that estimate the share of marks are without the estimate."""
ALPHA = "transport.initial_alpha"
"""The congestion estimate that a connection begins with."""
OTHER_ALPHA = INITIAL_ALPHA.others[0]
"""That of RFC 8257 and Linux. Most schemes have that of the papers' ns-2 code."""


def initial_alphas(settings: Settings | None) -> dict[str, Mapping[str, str]]:
    """The schemes to run at each initial alpha: for each of `SCHEMES`, its name with the settings that it needs.

    The first is what the schemes themselves have, most of them; a survey whose settings have an initial alpha is run
    with that one alone.
    """
    given = (settings or {}).get(ALPHA)
    plain = {scheme: scheme for scheme in SCHEMES}
    if given is not None:
        return {str(given): plain}
    other = {s: s if own_alpha(s) in (None, OTHER_ALPHA) else f"{s}+{ALPHA}={OTHER_ALPHA}" for s in SCHEMES}
    return {INITIAL_ALPHA.taken: plain, OTHER_ALPHA: other}


def own_alpha(scheme: str) -> str | None:
    """The initial alpha that a scheme has of its own, if it has one."""
    return next((value for key, value, _ in Scheme.parse(scheme, []).resolved() if key == ALPHA), None)
