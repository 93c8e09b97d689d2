"""Who takes part: every registered scheme, but for variants that only one figure of their paper needs.

All run with the parameters that they have everywhere in Shortflow, those of their papers; none is tuned to a workload.
What belongs to switches and hosts, such as K, buffers and RTOmin, is the workload's and the same for all.
"""

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
