"""Schemes of the survey: all registered ones except variants for a single figure.

All run with the parameters of their papers; none is tuned to a workload. Parameters of switches and
hosts, such as K, buffers and RTOmin, belong to the workload and are equal for all.
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
"""Flow information that a scheme needs in advance; the others need none."""

IN_SWITCHES = ("pias", "pecn", "pecn-pmark", "pecn-edf", "pfabric")
"""Schemes with a scheduler in switches."""

PLAIN = "tcp-ecn"
"""The marking schemes without their estimate of the marked fraction."""
OTHER_ALPHA = INITIAL_ALPHA.others[0]
"""Value of RFC 8257 and Linux, and the default. The papers' ns-2 code has the other one."""
FLOOR: Settings = {key: value for key, value in LAWS.items() if key != ALPHA}
"""Smallest window of the papers' laws."""


def initial_alphas(settings: Settings | None) -> dict[str, Mapping[str, str]]:
    """Scheme names by initial alpha: for each of `SCHEMES`, the name with the needed settings.

    The first alpha is that of the papers' ns-2 code. If the settings give an initial alpha, only this one is run.
    """
    given = (settings or {}).get(ALPHA)
    plain = {scheme: scheme for scheme in SCHEMES}
    if given is not None:
        return {str(given): plain}
    taken = INITIAL_ALPHA.taken
    takes = {scheme for scheme in SCHEMES if scheme not in ONE_ALPHA and Scheme.accepts(scheme, ALPHA)}
    papers = {scheme: f"{scheme}+{ALPHA}={taken}" if scheme in takes else scheme for scheme in SCHEMES}
    return {taken: papers, OTHER_ALPHA: plain}
