"""DCTCP: M. Alizadeh et al., "Data Center TCP (DCTCP)", SIGCOMM 2010."""

from shortflow_papers import lab

CHOICES = {
    "cwnd-floor": lab.Choice(
        "smallest window after a mark, in segments",
        {"2": {"transport.cwnd_floor": 2}, "1": {"transport.cwnd_floor": 1}},
    ),
}
"""Details that the paper leaves open, by name. A window of 2: "each sending around 2 packets" (Fig. 17, which differs
with 1)."""

STAND_INS = {"dctcp": "tcp"}
"""The scheme that the paper's scheme modifies."""
