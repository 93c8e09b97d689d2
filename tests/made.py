"""Results made by hand, small enough to check by mental arithmetic."""

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import polars as pl

from shortflow.metrics.catalogue import named
from shortflow.metrics.columns import TABLES
from shortflow.metrics.statistic import MetricValue
from shortflow.records import Meta
from shortflow.result import Result, as_measured
from shortflow.results import Results
from shortflow.runner import Ask, Runner
from shortflow.runs import Provenance
from shortflow.store.runs import Store

T = TypeVar("T")


def star(traffic: Sequence[Mapping[str, object]], hosts: int = 5, **tables: object) -> dict[str, Any]:
    """Tables of a scenario with hosts at a 1 Gbps switch. `tables` may also have `rtt`, `buffer` and `mark_above`."""
    network = {"rtt": "100us", "buffer": "100pkt", "mark_above": "20pkt"}
    of: dict[str, Any] = {"title": "made", "duration": "10ms", **network, **tables}
    topology = {"kind": "star", "hosts": hosts, "rate": "1Gbps", "rtt": of.pop("rtt")}
    switch = {key: of.pop(key) for key in ("buffer", "mark_above")}
    return {**of, "topology": topology, "switch": switch, "traffic": traffic}


def sure(value: T | None) -> T:
    """The value, which must not be None."""
    assert value is not None
    return value


def make_flows(rows: Sequence[Mapping[str, object]]) -> pl.DataFrame:
    """A flow table from the columns that matter. Other columns that cannot be null have usual values."""
    counts = ("retransmits", "measured_retransmits", "timeouts", "measured_timeouts", "marks")
    zeros = dict.fromkeys(("id", *counts, "acked_bytes", "delivered_bytes", "start_s", "held_s"), 0)
    usual = {**zeros, "source": "h0", "destination": "h1", "class": "short"}
    full = [{**dict.fromkeys(TABLES["flows"]), **usual, **row} for row in rows]
    return pl.DataFrame(full, schema=TABLES["flows"])


def make_samples(rows: Sequence[tuple[float, str, str, float]] = ()) -> pl.DataFrame:
    """A table of samples from time, kind, subject and value."""
    return pl.DataFrame(rows, schema=TABLES["samples"], orient="row")


def make_tasks(rows: Sequence[Mapping[str, object]] = ()) -> pl.DataFrame:
    """A task table from the columns that matter. By default, tasks are queries of two flows."""
    usual = {"id": 0, "kind": "query", "class": "short", "start_s": 0, "flows": 2}
    full = [{**dict.fromkeys(TABLES["tasks"]), **usual, **row} for row in rows]
    return pl.DataFrame(full, schema=TABLES["tasks"])


def make_meta(**changes: object) -> Meta:
    """The core's account of a run from 1 s to 3 s with one measured port."""
    packets = {"packets_sent": 6, "packets_delivered": 3, "packets_dropped": 3, "packets_in_flight": 0}
    meta: Any = {
        **{"scenario": "made", "scheme": "dctcp", "seed": 1, "digest": "d1", "version": "0"},
        **{"warmup_s": 1.0, "duration_s": 3.0, "end_s": 4.0, "measured_ports": ["s0->h1"]},
        "fairness_windows_s": {"long": 1.0},
        "counters": {"events": 10, "packet_hops": 8, **packets, "trims": 8, "drain_flows": 2, "drain_bytes": 3000},
        "drops": [{"place": "s0->h1", "reason": "buffer full", "in_run": 3, "measured": 1}],
        **{"unfinished": 0, "connections_peak": 2, "bytes_per_connection": 500},
        **changes,
    }
    checked: Meta = meta
    return checked


def make_ports() -> pl.DataFrame:
    """A measured port with a queue and another port without."""
    return pl.DataFrame(
        {
            "port": ["s0->h1", "s0->h0"],
            "rate_bps": [1_000_000_000, 1_000_000_000],
            "tx_bytes": [300_000_000, 40_000],
            "tx_packets": [200_000, 1_000],
            "drops": [1, 0],
            "marks": [5, 2],
            "trims": [4, 2],
            "returns": [0, 0],
            "queue_mean_pkt": [12.5, 0.0],
            "queue_p50_pkt": [12, None],
            "queue_p95_pkt": [20, None],
            "queue_p99_pkt": [25, None],
            "queue_max_pkt": [30, 1],
            "queue_mean_bytes": [18_000.0, 0.0],
            "queue_p50_bytes": [18_048, None],
            "queue_p95_bytes": [30_080, None],
            "queue_p99_bytes": [37_504, None],
            "queue_max_bytes": [45_000, 40],
            "utilisation": [0.98, 0.01],
            "pauses": [None, None],
            "paused_s": [None, None],
        },
        schema_overrides=TABLES["ports"],
    )


def make_result(
    scheme: str = "dctcp", seed: int = 1, load: str = "0.2", fct_s: Sequence[float] = (1e-3, 3e-3)
) -> Result:
    """A result of a scenario with the parameter `load`."""
    flows: list[dict[str, object]] = [
        {"id": i, "size_bytes": 1000 * (i + 1), "start_s": 1.5, "fct_s": fct, "slowdown": 2.0}
        for i, fct in enumerate(fct_s)
    ]
    flows.append({"id": len(flows), "class": "long", "delivered_bytes": 200_000_000})
    samples = make_samples([(1.0, "queue_pkt", "s0->h1", 3.0), (1.1, "queue_pkt", "s0->h1", 9.0)])
    code = {"version": "0", "build": "0+abc", "revision": None, "platform": "test"}
    notes = {"title": "A made-up scenario", "files": {}, "traffic_notes": ["traffic.1: <50 flows/s>"]}
    provenance: Any = {
        **{**code, **notes, "key": f"key-{scheme}-{seed}-{load}", "scenario": "made", "scheme": scheme, "seed": seed},
        "scenario_settings": [
            {"key": "parameters.load", "value": load, "source": "--set"},
            {"key": "traffic.1.load", "value": load, "source": "parameter load"},
            {"key": "topology.rate", "value": "1Gbps", "source": "scenario"},
        ],
        "scheme_settings": [{"key": "transport.g", "value": "0.0625", "source": "default"}],
        **{"digest": f"{scheme}{seed}{load}", "finished_at": "2020-01-01T00:00:00+00:00", "wall_s": 0.5},
    }
    meta = make_meta(scheme=scheme, seed=seed)
    of_flows = {"flows": make_flows(flows), "drain_flows": make_flows([])}
    tables = {**of_flows, "tasks": make_tasks(), "samples": samples, "ports": make_ports()}
    return Result.of(provenance, tables, meta)


def with_tables(result: Result, **tables: pl.DataFrame) -> Result:
    """A result with other tables."""
    every: Any = {**result.tables, **tables}
    if set(TABLES["flows"]) <= set(pl.DataFrame(every["flows"]).columns):
        return Result.of(result.provenance, every, result.meta)
    return dataclasses.replace(result, tables=every)


def make_run(
    scheme: str,
    seed: int,
    digest: str,
    rows: Sequence[MetricValue],
    wall_s: float = 0.0,
    origin: Provenance | None = None,
) -> Result:
    """A result with these metrics and without tables. `origin` overrides the provenance."""
    usual: Any = {"scenario": "made", "title": "", "scenario_settings": [], "scheme_settings": [], "traffic_notes": []}
    own: Any = {"scheme": scheme, "seed": seed, "digest": digest, "wall_s": wall_s}
    key = f"{scheme}-{seed}-{digest}-{id(rows)}"
    record: Any = {"provenance": {**usual, "key": key, **(origin or {}), **own}, **as_measured(rows), "tables": {}}
    record["meta"] = {}
    found = Result(record)
    found.__dict__["rows"] = rows  # replaces cached rows, whose statistics come from the catalogue
    return found


def with_rows(result: Result, rows: Sequence[MetricValue]) -> Result:
    """A result with other metrics."""
    return dataclasses.replace(result, record={**result.record, **as_measured(rows)})


def make_results(
    scenario: str, title: str, settings: Mapping[str, str], runs: Sequence[Result], ideal: Sequence[Result] = ()
) -> Results:
    """A comparison of made results."""
    return Results([*runs, *ideal], scenario, title, settings, ideal_names=[run.scheme for run in ideal])


def answered(directory: Path, ask: Ask[T]) -> T:
    """Answer to an ask from the runs of a store."""
    return Runner(store=Store(directory)).answer(ask)


def make_rows(**values: float) -> list[MetricValue]:
    """The rows of metrics of flows of the classes short, long and other."""
    return named(values, (), ("short", "long", "other"))
