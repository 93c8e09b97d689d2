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
    "newreno": "TCP without selective acknowledgements; of the schemes that react to losses alone, the survey has tcp",
    "l2dct-srpt": "L2DCT with the remaining bytes of each flow; it equals l2dct for flows of up to 200 KB",
    "l2dct-ps": "L2DCT without its weights, a variant that shows the effect of the weights",
    "swift": "it needs delay targets, which an operator sets for a topology and the workloads lack",
    "pfabric-minimal": "pFabric with a sender of its own; pfabric uses TCP's sender, as the other schemes do",
    "dcqcn": "its senders have no window and need a network that drops no packets",
    "timely": "it needs round-trip thresholds, which an operator sets for a topology and the workloads lack",
    "hpcc": "its hosts go back to the first missing packet and need a network that drops no packets",
    "homa": "it has hosts of its own and needs priorities that an operator sets for a workload",
    "ndp": "it has hosts of its own and needs queues that trim packets",
}

NEEDS = {
    "d2tcp": "deadlines",
    "xdctcp": "the class of each flow",
    "pecn": "sizes",
    "pecn-pmark": "sizes",
    "pecn-edf": "deadlines",
    "pfabric": "remaining bytes",
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
