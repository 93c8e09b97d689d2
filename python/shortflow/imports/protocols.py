"""Protocols of flows in logs. A trace has no protocols, because every flow has the transport of the scheme."""

from shortflow.lazy import pl

_NAMES = {"1": "icmp", "6": "tcp", "17": "udp", "58": "ipv6-icmp", "132": "sctp"}
"""Names of protocols by the number that IANA assigns."""


def protocols(texts: "pl.Series", column: str) -> str:
    """A sentence on a column of protocols, with the number of rows of each protocol."""
    names = texts.fill_null("").str.to_lowercase().replace(_NAMES).replace("", "none")
    counts = names.value_counts(sort=True, name="rows").rows()
    listed = ", ".join(f"{name} {rows:,}" for name, rows in sorted(counts, key=lambda each: (-each[1], each[0])))
    return f"The protocol of each row ({column}: {listed}): all flows have the transport of the scheme."
