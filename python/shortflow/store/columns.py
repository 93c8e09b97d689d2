"""The tables of a run: their columns and the types of those."""

import polars as pl

_NUMBER, _COUNT, _SMALL, _TEXT, _FLAG = pl.Float64(), pl.UInt64(), pl.UInt32(), pl.String(), pl.Boolean()

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
"""The tables of a run by name, each with its columns beside those that name the run."""

_OPTIONAL = {
    "flows": {"size_bytes", "finish_s", "fct_s", "ideal_fct_s", "slowdown", "deadline_s", "missed", "queueing_s"}
    | {"switch_queueing_s", "task"},
    "tasks": {"finish_s", "time_s", "deadline_s", "missed", "part_of"},
    "samples": set(),
    "ports": {f"queue_p{percent}_{unit}" for percent in (50, 95, 99) for unit in ("pkt", "bytes")},
}
"""The columns in which rows may have no value."""


def check_columns(name: str, table: pl.DataFrame) -> None:
    """A `ValueError` that says what a table lacks, or what has another type."""
    wanted, found = TABLES[name], table.schema
    if missing := sorted(wanted.keys() - found.keys()):
        raise ValueError(f"without {', '.join(missing)}, or written by another version")
    for column, dtype in wanted.items():
        if found[column] != dtype:
            raise ValueError(f"{column}: found {found[column]} in place of {dtype}, or written by another version")
        if column not in _OPTIONAL[name] and table[column].null_count():
            raise ValueError(f"{column}: rows without one")
