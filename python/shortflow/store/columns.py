"""Tables of a run: columns and their types."""

import polars as pl

_NUMBER, _COUNT, _SMALL, _TEXT, _FLAG = pl.Float64(), pl.UInt64(), pl.UInt32(), pl.String(), pl.Boolean()
_QUEUE = {
    "mean": "time average of the backlog",
    "max": "the largest backlog",
    **{f"p{percent}": f"the backlog not exceeded for {percent} % of the time" for percent in (50, 95, 99)},
}


def _queue(name: str, unit: str) -> str:
    """Description of a queue column."""
    rounded = ", rounded up to a multiple of 128" if name.startswith("p") and unit == "bytes" else ""
    where = "; of measured ports, where samples are on" if name.startswith("p") else ""
    return f"{_QUEUE[name]}, in {'packets' if unit == 'pkt' else unit}{rounded}{where}"


TABLES: dict[str, dict[str, pl.DataType]] = {
    "flows": {
        "id": _COUNT,
        "source": _TEXT,
        "destination": _TEXT,
        "class": _TEXT,
        "size_bytes": _COUNT,
        "start_s": _NUMBER,
        "finish_s": _NUMBER,
        "fct_s": _NUMBER,
        "ideal_fct_s": _NUMBER,
        "slowdown": _NUMBER,
        "deadline_s": _NUMBER,
        "missed": _FLAG,
        "retransmits": _SMALL,
        "measured_retransmits": _SMALL,
        "timeouts": _SMALL,
        "measured_timeouts": _SMALL,
        "marks": _SMALL,
        "acked_bytes": _COUNT,
        "delivered_bytes": _COUNT,
        "queueing_s": _NUMBER,
        "switch_queueing_s": _NUMBER,
        "measured_switch_queueing_s": _NUMBER,
        "held_s": _NUMBER,
        "task": _COUNT,
    },
    "tasks": {
        "id": _COUNT,
        "kind": _TEXT,
        "class": _TEXT,
        "start_s": _NUMBER,
        "finish_s": _NUMBER,
        "time_s": _NUMBER,
        "flows": _SMALL,
        "deadline_s": _NUMBER,
        "missed": _FLAG,
        "part_of": _COUNT,
    },
    "samples": {"time_s": _NUMBER, "kind": _TEXT, "subject": _TEXT, "value": _NUMBER},
    "ports": {
        "port": _TEXT,
        "rate_bps": _COUNT,
        "tx_bytes": _COUNT,
        "tx_packets": _COUNT,
        "drops": _COUNT,
        "marks": _COUNT,
        "queue_mean_pkt": _NUMBER,
        "queue_max_pkt": _COUNT,
        "queue_p50_pkt": _COUNT,
        "queue_p95_pkt": _COUNT,
        "queue_p99_pkt": _COUNT,
        "queue_mean_bytes": _NUMBER,
        "queue_max_bytes": _COUNT,
        "queue_p50_bytes": _COUNT,
        "queue_p95_bytes": _COUNT,
        "queue_p99_bytes": _COUNT,
        "utilisation": _NUMBER,
    },
}
"""Tables of a run by name, with their columns except those that name the run."""

ABOUT: dict[str, dict[str, str]] = {
    "flows": {
        "id": "number of the row",
        "source": "sending host",
        "destination": "receiving host",
        "class": "class of the traffic",
        "size_bytes": "payload to send; empty for a backlogged flow",
        "start_s": "when it was handed to the transport",
        "finish_s": "when its last byte was acknowledged",
        "fct_s": "the time between them",
        "ideal_fct_s": "the completion time in an empty network with an unlimited window",
        "slowdown": "fct_s over ideal_fct_s",
        "deadline_s": "time allowed from start to finish",
        "missed": "whether the deadline was missed; empty while that is open",
        "retransmits": "segments retransmitted, needed or not",
        "measured_retransmits": "those of them within the measured time",
        "timeouts": "retransmission timeouts",
        "measured_timeouts": "those of them within the measured time",
        "marks": "data packets that arrived with a CE mark; none where a testbed's connection carries several flows",
        "acked_bytes": "payload acknowledged",
        "delivered_bytes": "payload that arrived within the measured time, each byte once; of a testbed, acknowledged",
        "queueing_s": "mean time that its data packets waited in queues",
        "switch_queueing_s": "the part of it in switches",
        "measured_switch_queueing_s": "the same of the packets of the measured time",
        "held_s": "time in which the sender had more to send while its host's small queue was full",
        "task": "row in the table of tasks of what it is part of",
    },
    "tasks": {
        "id": "number of the row",
        "kind": "`query`, `job`, `shuffle` or `request`",
        "class": "class of its flows",
        "start_s": "when its first message was handed to the transport",
        "finish_s": "when everything belonging to it had arrived",
        "time_s": "the time between them",
        "flows": "how many flows it has",
        "deadline_s": "time allowed from start to finish",
        "missed": "whether the deadline was missed; empty while that is open",
        "part_of": "row of the task that it is part of",
    },
    "samples": {
        "time_s": "when",
        "kind": "`queue_pkt`, `queue_bytes` of a measured port, `throughput_bps` of a class since the sample before; "
        "of a backlogged flow `flow_throughput_bps` since the sample before, `cwnd_seg` where it has a window, "
        "`rate_bps` where it paces at one, and the law's `alpha` where it has one",
        "subject": "port, class or flow",
        "value": "the number",
    },
    "ports": {
        "port": "sending and receiving node",
        "rate_bps": "rate of the link",
        "tx_bytes": "bytes of the packets whose last bit departed",
        "tx_packets": "how many packets these are",
        "drops": "packets of any kind dropped here",
        "marks": "packets of any kind marked here",
        **{f"queue_{name}_{unit}": _queue(name, unit) for unit in ("pkt", "bytes") for name in _QUEUE},
        "utilisation": "share of the time in which the link was busy",
    },
}
"""Descriptions of the columns."""

OPTIONAL = {
    "flows": {"size_bytes", "finish_s", "fct_s", "ideal_fct_s", "slowdown", "deadline_s", "missed", "queueing_s"}
    | {"marks", "switch_queueing_s", "measured_switch_queueing_s", "task"},
    "tasks": {"finish_s", "time_s", "deadline_s", "missed", "part_of"},
    "samples": set(),
    "ports": {f"queue_p{percent}_{unit}" for percent in (50, 95, 99) for unit in ("pkt", "bytes")},
}
"""Columns with optional values."""

TABLES["drain_flows"], ABOUT["drain_flows"], OPTIONAL["drain_flows"] = (
    TABLES["flows"],
    ABOUT["flows"],
    OPTIONAL["flows"],
)


def check_columns(name: str, table: pl.DataFrame) -> None:
    """Raises `ValueError` for a missing column or a wrong type."""
    wanted, found = TABLES[name], table.schema
    if missing := sorted(wanted.keys() - found.keys()):
        raise ValueError(f"without {', '.join(missing)}, or written by another version")
    for column, dtype in wanted.items():
        if found[column] != dtype:
            raise ValueError(f"{column}: found {found[column]} in place of {dtype}, or written by another version")
        if column not in OPTIONAL[name] and table[column].null_count():
            raise ValueError(f"{column}: rows without one")
