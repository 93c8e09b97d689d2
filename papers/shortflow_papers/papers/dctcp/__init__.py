"""DCTCP: M. Alizadeh et al., "Data Center TCP (DCTCP)", SIGCOMM 2010."""

from shortflow_papers import lab

CHOICES = {
    "cwnd-floor": lab.Choice(
        "smallest window after a mark, in segments",
        {"2": {"transport.cwnd_floor": 2}, "1": {"transport.cwnd_floor": 1}},
    ),
}
"""Details that the paper leaves open, by name.

The smallest window is 2, because the paper has "each sending around 2 packets". Fig. 17 differs with 1.
"""

STAND_INS = {"dctcp": "tcp"}
"""The scheme that the paper's scheme modifies."""
