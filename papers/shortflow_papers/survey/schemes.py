"""Schemes of the survey: all registered schemes except those in `LEFT_OUT`.

Schemes have the parameters of their papers, and are not tuned to a workload. Parameters of switches and hosts, such as
K, buffers and RTOmin, belong to the workload and are equal for all schemes.
"""

from collections.abc import Mapping

from shortflow.api.scenarios import ALPHA, LAWS, ONE_ALPHA, Scheme, Settings
from shortflow_papers.papers.unspecified import INITIAL_ALPHA

SCHEMES = (
    *("tcp", "tcp-ecn", "cubic", "red", "dctcp", "d2tcp", "l2dct", "xdctcp", "atcp", "atcp-dctcp", "fast", "pias"),
    *("pecn", "pecn-pmark", "pecn-edf", "pfabric"),
)

LEFT_OUT = {
    "newreno": "TCP without selective acknowledgements; tcp stands for TCP that knows only losses",
    "l2dct-srpt": "L2DCT told the remaining bytes: the same as l2dct for every flow of up to 200 KB",
    "l2dct-ps": "L2DCT without its weights, there to show what the weights do",
    "swift": "targets of delay, which an operator sets for a topology; the workloads have none",
    "pfabric-minimal": "pFabric with a sender of its own; pfabric has the sender that others have",
    "dcqcn": "senders without a window, made for networks that pause rather than drop, which is not modelled",
    "timely": "thresholds of round-trip time, which an operator sets for a topology; the workloads have none",
    "hpcc": "hosts that go back to the first missing packet, made for networks that pause rather than drop",
    "homa": "hosts of its own, and priorities that an operator sets for a workload",
}

NEEDS = {
    "d2tcp": "deadlines",
    "xdctcp": "the class of each flow",
    "pecn": "sizes",
    "pecn-pmark": "sizes",
    "pecn-edf": "deadlines",
    "pfabric": "bytes that remain",
}
"""Information about flows that a scheme needs in advance. Schemes without entry need none."""

IN_SWITCHES = ("pias", "pecn", "pecn-pmark", "pecn-edf", "pfabric")
"""Schemes with a scheduler in switches."""

PLAIN = "tcp-ecn"
"""Scheme that reacts to marks without an estimate of the marked fraction."""
OTHER_ALPHA = INITIAL_ALPHA.others[0]
"""Initial alpha of RFC 8257 and Linux, which is the default. The papers' ns-2 code has the other value."""
FLOOR: Settings = {key: value for key, value in LAWS.items() if key != ALPHA}
"""Settings of the papers' laws except the initial alpha: the smallest window."""


def initial_alphas(settings: Settings | None) -> dict[str, Mapping[str, str]]:
    """By initial alpha: the name of each of `SCHEMES` with the settings that give this alpha.

    The first alpha is that of the papers' ns-2 code. If `settings` have an initial alpha, it is the only one.
    """
    given = (settings or {}).get(ALPHA)
    plain = {scheme: scheme for scheme in SCHEMES}
    if given is not None:
        return {str(given): plain}
    taken = INITIAL_ALPHA.taken
    takes = {scheme for scheme in SCHEMES if scheme not in ONE_ALPHA and Scheme.accepts(scheme, ALPHA)}
    papers = {scheme: f"{scheme}+{ALPHA}={taken}" if scheme in takes else scheme for scheme in SCHEMES}
    return {taken: papers, OTHER_ALPHA: plain}
