"""Metrics of one run, from tables small enough for mental arithmetic."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shortflow
from made import make_flows, make_meta, make_ports, make_samples, make_tasks, star, sure
from shortflow.metrics import catalogue, data
from shortflow.metrics.absence import check_name
from shortflow.metrics.catalogue import STATISTICS, measure, named, possible, short_and_long, telling
from shortflow.metrics.data import USUAL_BINS, Bins, Sizes
from shortflow.metrics.statistic import MetricValue
from shortflow.records import Meta

Rows = list[dict[str, Any]]


def rows_of(flows: Sequence[Mapping[str, object]], **others: Any) -> list[MetricValue]:
    """Metric values of a run with these flows. `others` has further tables, and other values of the metadata."""
    tables = {"flows": make_flows(flows), "tasks": make_tasks(), "samples": make_samples(), "ports": make_ports()}
    meta = {name: value for name, value in others.items() if name not in tables}
    return measure({name: others.get(name, table) for name, table in tables.items()}, make_meta(**meta))


def measured(flows: Sequence[Mapping[str, object]], **others: Any) -> dict[str, float]:
    """Values of the metrics of a run with these flows, by name."""
    return {row.metric.name: row.value for row in rows_of(flows, **others)}


def bounds(flows: Sequence[Mapping[str, object]], **others: Any) -> set[str]:
    """Names of the metrics that are lower bounds."""
    return {row.metric.name for row in rows_of(flows, **others) if row.lower_bound}


def test_completion_counts_flows_after_the_warm_up() -> None:
    flows: Rows = [
        {"id": 0, "size_bytes": 1, "start_s": 0.9, "fct_s": 100.0, "slowdown": 50.0},  # before the warm-up
        {"id": 1, "size_bytes": 1, "start_s": 1.0, "fct_s": 1.0, "slowdown": 1.0},
        {"id": 2, "size_bytes": 1, "start_s": 2.0, "fct_s": 3.0, "slowdown": 4.0},
    ]
    metrics = measured(flows)
    assert metrics["flows_short"] == 2
    assert metrics["afct_short_s"] == 2.0
    assert (metrics["p50_short_s"], metrics["p95_short_s"], metrics["p99_short_s"]) == (1.0, 3.0, 3.0)
    assert (metrics["p1_short_s"], metrics["p5_short_s"]) == (1.0, 1.0)
    assert metrics["slowdown_short"] == 2.5
    assert (metrics["slowdown_p50_short"], metrics["slowdown_p99_short"]) == (1.0, 4.0)
    assert (metrics["unfinished_share"], metrics["unfinished_share_short"]) == (0, 0)
    assert not bounds(flows)


def unfinished(*ages: float, done: Sequence[float]) -> Any:
    """Flows of a run that ends at 4 s: finished after the times `done`, or unfinished with these ages, in seconds.

    The ideal FCT is 0.5 s.
    """
    flow: dict[str, Any] = {"size_bytes": 1000, "ideal_fct_s": 0.5}
    flows: Rows = [{**flow, "start_s": 1.0, "fct_s": time, "slowdown": time / 0.5} for time in done]
    return {"flows": [*flows, *({**flow, "start_s": 4.0 - age} for age in ages)], "unfinished": len(ages)}


def test_a_flow_that_did_not_finish_counts_with_its_age() -> None:
    run = unfinished(2.0, 1.0, done=(0.5, 0.5, 1.5, 2.5))
    metrics = measured(**run)
    assert metrics["afct_short_s"] == pytest.approx(8 / 6)
    assert metrics["slowdown_short"] == pytest.approx(16 / 6)
    assert (metrics["flows_short"], metrics["unfinished"]) == (4, 2)
    assert metrics["unfinished_share"] == metrics["unfinished_share_short"] == pytest.approx(1 / 3)
    # In order: 0.5, 0.5, 1.0 or more, 1.5, 2.0 or more, 2.5. The true time of the third may be the longest.
    assert (metrics["p5_short_s"], metrics["p50_short_s"], metrics["p99_short_s"]) == (0.5, 1.0, 2.5)
    assert {name for name in bounds(**run) if name.endswith("short_s")} == {
        *("afct_short_s", "p50_short_s", "p95_short_s", "p99_short_s", "p100_short_s")
    }
    assert bounds(**run) >= {"slowdown_short", "slowdown_p50_short", "slowdown_p99_short"}


@given(st.lists(st.integers(1, 8), max_size=12), st.lists(st.tuples(st.integers(1, 3), st.integers(0, 9)), max_size=6))
def test_what_is_no_bound_stays_however_long_open_flows_take(done: list[int], still: list[tuple[int, int]]) -> None:
    """Each unfinished flow in `still` has an age, and the time by which its true time is longer."""
    if not done and not still:
        return
    run = unfinished(*(age for age, _ in still), done=done)
    truth = measured(**unfinished(done=[*done, *(age + more for age, more in still)]))
    never = measured(**unfinished(done=[*done, *(1000 for _ in still)]))
    is_bound = bounds(**run)
    for name, value in measured(**run).items():
        if name.startswith(("afct", "p", "slowdown")):
            assert value <= truth[name] or value == pytest.approx(truth[name])
            assert (name in is_bound) == (value != pytest.approx(never[name])), name


def test_goodput_is_what_the_backlogged_flows_of_a_class_got_in_the_window() -> None:
    flows: Rows = [
        {"id": 0, "class": "long", "delivered_bytes": 100_000_000},
        {"id": 1, "class": "long", "delivered_bytes": 50_000_000},
        {"id": 2, "size_bytes": 1000, "delivered_bytes": 1000, "start_s": 1.0, "fct_s": 1.0, "slowdown": 1.0},
    ]
    metrics = measured(flows)
    assert metrics["goodput_long_bps"] == 150e6 * 8 / 2  # between 1 s and 3 s
    assert "goodput_short_bps" not in metrics
    assert "afct_long_s" not in metrics


def test_goodput_per_flow_is_payload_over_the_time_that_flows_took() -> None:
    flows: Rows = [
        {"id": 0, "class": "long", "delivered_bytes": 3_000_000},  # from 1 s to 3 s, the measured time
        {"id": 1, "class": "long", "delivered_bytes": 1_000_000, "start_s": 2.0},  # from 2 s to 3 s
        {"id": 2, "class": "long", "size_bytes": 500_000, "start_s": 1.5, "fct_s": 2.0, "slowdown": 1.0},
        {"id": 3, "class": "long", "size_bytes": 9_000_000, "start_s": 0.5, "fct_s": 1.0, "slowdown": 1.0},
        {"id": 4, "class": "long", "size_bytes": 9_000_000, "start_s": 1.5, "acked_bytes": 100},  # until 4 s
    ]
    assert measured(flows)["flow_goodput_long_bps"] == 4_500_100 * 8 / (2 + 1 + 2 + 2.5)
    assert "flow_goodput_long_bps" not in bounds(flows)
    ideal = bounds(flows, ports=make_ports().clear())
    assert "flow_goodput_long_bps" in ideal, "it does not tell how far the last one got"


def test_queues_are_those_of_measured_ports_and_counts_those_of_the_whole_network() -> None:
    counts = {"timeouts": 5, "measured_timeouts": 2, "retransmits": 7, "measured_retransmits": 3}
    flows: Rows = [{"id": 0, "size_bytes": 1, "start_s": 1.5, **counts}]
    metrics = measured(flows)
    assert metrics["queue_mean_pkt"] == 12.5
    assert metrics["queue_max_pkt"] == 30
    assert [metrics[f"queue_p{percent}_pkt"] for percent in (50, 95, 99)] == [12, 20, 25]
    assert (metrics["queue_p99_bytes"], metrics["queue_max_bytes"]) == (37_504, 45_000)
    assert metrics["utilisation"] == 0.98
    assert (metrics["drops"], metrics["marks"], metrics["trims"]) == (1, 7, 6)
    assert (metrics["drops_in_run"], metrics["trims_in_run"]) == (3, 8)
    assert (metrics["timeouts"], metrics["retransmits"]) == (5, 7), "the drain included"


def test_timeouts_per_flow_are_those_of_the_flows_whose_completion_times_count() -> None:
    flows: Rows = [
        {"id": 0, "size_bytes": 1, "start_s": 0.5, "timeouts": 8, "measured_timeouts": 4},  # before the warm-up
        {"id": 1, "size_bytes": 1, "start_s": 1.5, "timeouts": 3, "measured_timeouts": 1},  # two in the drain
        {"id": 2, "start_s": 0.0, "timeouts": 9, "measured_timeouts": 2},  # backlogged
        {"id": 3, "class": "query", "size_bytes": 1, "start_s": 1.5},
    ]
    metrics = measured(flows)
    assert (metrics["timeouts_short"], metrics["timeouts_query"]) == ((3 + 2) / 2, 0)
    assert metrics["timeouts"] == 3 + 2
    assert (metrics["timed_out_short"], metrics["timed_out_query"]) == (1, 0)


def test_a_task_timed_out_if_a_flow_of_it_or_of_a_part_of_it_did() -> None:
    late = {"size_bytes": 1, "start_s": 1.5, "timeouts": 1, "task": 4}
    flows: Rows = [{**late, "id": 0, "timeouts": 0, "task": 0}, {**late, "id": 1, "task": 1}, {**late, "id": 2}]
    queries: Rows = [{"id": number, "start_s": 1.5} for number in (0, 1, 2)]
    jobs: Rows = [{"id": number, "kind": "job", "start_s": 1.5} for number in (3, 5)]
    parts: Rows = [{"id": job + 1, "kind": "shuffle", "start_s": 1.5, "part_of": job} for job in (3, 5)]
    metrics = measured(flows, tasks=make_tasks([*queries, *jobs, *parts]))
    assert [metrics[f"{task}_timed_out"] for task in ("query", "job", "shuffle")] == [1 / 3, 1 / 2, 1 / 2]
    assert metrics["timed_out_short"] == 2 / 3
    assert "query_timed_out" not in measured(flows)
    ideal = measured(flows, tasks=make_tasks(queries), ports=make_ports().clear())
    assert "timed_out_short" not in ideal


def test_ranks_of_a_ring_share_the_bus_bandwidth_and_the_slowest_has_the_longest_chunks() -> None:
    """Three ranks receive two chunks of 1 MB each, in 4 ms: 2 MB over 4 ms are 4 Gbps. The slowest takes 3 of 6 ms."""
    chunk: dict[str, Any] = {"size_bytes": 1_000_000, "start_s": 1.5, "slowdown": 1.0, "task": 0}
    times_s = {"h0": 0.001, "h1": 0.0005, "h2": 0.0015}
    flows: Rows = [{**chunk, "destination": rank, "fct_s": time_s} for rank, time_s in times_s.items() for _ in "ab"]
    one: dict[str, Any] = {"id": 0, "kind": "collective", "start_s": 1.5, "time_s": 0.004}
    metrics = measured(flows, tasks=make_tasks([one]))
    assert metrics["collective_bandwidth_bps"] == pytest.approx(4e9)
    assert metrics["collective_slowest"] == pytest.approx(1.5)
    before = {"id": 1, "kind": "collective", "start_s": 0.5, "time_s": 3.0}
    assert measured(flows, tasks=make_tasks([one, before])) == metrics, "the warm-up does not count"
    still = measured(flows, tasks=make_tasks([one, {"id": 1, "kind": "collective", "start_s": 1.5}]))
    assert "collective_bandwidth_bps" not in still, "a collective that did not finish is the slower one"
    assert not {"collective_slowest", "query_bandwidth_bps"} & {*still, *measured(flows, tasks=make_tasks())}


def test_an_open_flow_has_missed_its_deadline_once_that_has_passed_and_else_may_miss_it() -> None:
    due: dict[str, Any] = {"size_bytes": 1, "start_s": 1.0, "deadline_s": 0.5}
    flows: Rows = [
        {"id": 0, **due, "missed": False, "fct_s": 0.1, "slowdown": 1.0},
        {"id": 1, **due, "missed": True, "fct_s": 1.0, "slowdown": 1.0},
        {"id": 2, **due},  # unfinished at 4 s, after its deadline
        {"id": 3, "size_bytes": 1, "start_s": 1.0, "deadline_s": 9.0},  # unfinished, before its deadline
        {"id": 4, "size_bytes": 1, "start_s": 0.0, "deadline_s": 0.1, "missed": True},  # before the warm-up
        {"id": 5, "size_bytes": 1, "start_s": 1.0},
        {"id": 6, **due, "class": "query", "missed": False, "fct_s": 0.1, "slowdown": 1.0},
    ]
    metrics = measured(flows)
    assert [metrics[f"deadline_miss{of}"] for of in ("", "_short", "_query")] == [2 / 5, 2 / 4, 0]
    assert "deadline_miss" in bounds(flows)
    decided = [flow for flow in flows if flow["id"] != 3]
    assert measured(decided)["deadline_miss"] == 2 / 4
    assert "deadline_miss" not in bounds(decided)
    at_the_end: Rows = [{**due, "deadline_s": 3.0}]  # due at 4 s, when the run ends
    assert (measured(at_the_end)["deadline_miss"], "deadline_miss" in bounds(at_the_end)) == (0, True)


def test_pauses_and_events_of_the_whole_run_are_those_of_all_ports() -> None:
    """One port has paused priority 3 four times, another port once."""
    flows: Rows = [{"id": 0, "size_bytes": 1, "start_s": 1.5, "fct_s": 1.0, "slowdown": 1.0}]
    ports = make_ports().with_columns(pauses=pl.Series([4, 1], dtype=pl.UInt64), paused_s=pl.Series([0.25, 0.5]))
    found = [{"priority": 3, "pauses": 4, "paused_s": 0.25}, {"priority": 3, "pauses": 1, "paused_s": 0.5}]
    found.append({"priority": 4, "pauses": 0, "paused_s": 0.0})
    metrics = measured(flows, ports=ports, pauses=found, counters={"trims": 8, "marks": 9})
    assert (metrics["pauses"], metrics["paused_max_s"], metrics["marks_in_run"]) == (5, 0.5, 9)
    of_priorities = [(metrics[f"pauses_priority_{each}"], metrics[f"paused_max_priority_{each}_s"]) for each in (3, 4)]
    assert of_priorities == [(5, 0.5), (0, 0)]
    assert not {"pauses", "paused_max_s", "marks_in_run", "pauses_priority_5"} & {*measured(flows)}
    of_testbed = {name: value for name, value in make_meta().items() if name != "counters"}
    tables = {"flows": make_flows(flows), "tasks": make_tasks(), "samples": make_samples(), "ports": make_ports()}
    names = {row.metric.name for row in measure(tables, cast("Meta", of_testbed))}
    assert {"marks", "drops_in_run"} <= names
    assert not {"marks_in_run", "trims", "trims_in_run"} & names, "no switch of the testbed counts these events"


def test_a_class_that_the_scenario_declares_has_a_count_without_flows() -> None:
    metrics = measured(LONG, classes=["long", "rare"])
    assert metrics["flows_rare"] == 0
    assert "flows_long" not in metrics, "backlogged flows never finish"


def test_a_table_is_read_block_by_block(monkeypatch: pytest.MonkeyPatch) -> None:
    rows: Rows = [{"id": i, "size_bytes": 1, "start_s": 1.5, "fct_s": 1.0 + i, "slowdown": 1.0} for i in range(5)]
    whole = measured(rows)
    monkeypatch.setattr(data, "BLOCK_ROWS", 2)
    assert measured(rows) == whole
    assert (whole["flows_short"], whole["afct_short_s"]) == (5, 3)


def test_an_edit_of_any_source_of_the_metrics_makes_stored_ones_out_of_date(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def found() -> str:
        catalogue.measuring_id.cache_clear()
        return catalogue.measuring_id()

    monkeypatch.setattr(catalogue, "__file__", str(tmp_path / "catalogue.py"))
    for name in ("catalogue.py", "data.py"):
        (tmp_path / name).write_text("1\n")
    try:
        before = found()
        (tmp_path / "notes.txt").write_text("1\n")
        assert found() == before
        (tmp_path / "data.py").write_text("2\n")
        assert found() != before
    finally:
        catalogue.measuring_id.cache_clear()


def test_a_metric_that_a_run_does_not_have_is_absent() -> None:
    metrics = measured([{"id": 0, "size_bytes": 1}], measured_ports=[])
    assert not {"afct_short_s", "goodput_short_bps", "queue_mean_pkt", "utilisation", "deadline_miss"} & set(metrics)


def test_names_say_what_they_mean() -> None:
    known = possible(["web_search"])
    found = known["p99_web_search_s"]
    assert (found.label, found.unit, found.flow_class) == ("p99 FCT", "s", "web_search")
    assert known["utilisation"].unit == "share"
    assert (known["query_count"].label, known["query_time_s"].label) == ("queries", "query time")
    for wrong, near in (("queue_mean_pkts", "queue_mean_pkt"), ("afct_web_serch_s", "afct_web_search_s")):
        with pytest.raises(shortflow.ConfigError, match=f'did you mean "{near}"'):
            check_name(wrong, ["web_search"])


def test_finite_flows_have_a_throughput_and_packets_a_wait_in_switches() -> None:
    flows: Rows = [
        {"id": 0, "size_bytes": 1, "delivered_bytes": 50_000_000, "measured_switch_queueing_s": 1e-6},
        {"id": 1, "size_bytes": 1, "delivered_bytes": 25_000_000, "measured_switch_queueing_s": 4e-6},
        {"id": 2, "size_bytes": 1},  # no packet has arrived
        {"id": 3, "class": "long", "delivered_bytes": 1, "measured_switch_queueing_s": 9e-6},
    ]
    metrics = measured(flows)
    assert metrics["throughput_short_bps"] == 75e6 * 8 / 2
    assert "throughput_long_bps" not in metrics
    assert metrics["queueing_short_s"] == pytest.approx(2.5e-6)
    assert metrics["queueing_long_s"] == 9e-6


def test_waits_are_those_of_the_measured_time(small: dict[str, Any]) -> None:
    """A long flow with a window of two segments waits in the warm-up. In the measured time, it is alone."""
    small["tcp"] |= {"receive_window": "2pkt", "initial_window": 2}
    small["warmup"] = "30ms"
    sizes = {"kind": "fixed", "value": "30KB"}
    small["traffic"][1] = {"kind": "incast", "flows": 60, "sizes": sizes, "from": "0-2", "to": 4, "unmeasured": True}
    del small["parameters"]
    result = shortflow.run(small, "dctcp+cwnd_floor=1")
    assert result.flows.filter(pl.col("class") == "long")["switch_queueing_s"][0] > 1e-6
    assert result.metrics["queueing_long_s"] < 1e-9
    assert "queueing_short_s" not in result.metrics, "they were done before"


def test_tasks_count_by_kind_from_the_end_of_the_warm_up() -> None:
    tasks = make_tasks(
        [
            {"id": 0, "start_s": 0.5, "time_s": 9.0},  # before the warm-up
            {"id": 1, "start_s": 1.0, "time_s": 1.0, "deadline_s": 2.0, "missed": False},
            {"id": 2, "start_s": 2.0, "time_s": 3.0, "deadline_s": 2.0, "missed": True},
            {"id": 3, "start_s": 3.0},  # unfinished
            {"id": 4, "start_s": 1.0, "time_s": 5.0, "kind": "job"},
        ]
    )
    run: Any = {"flows": [{"id": 0, "size_bytes": 1}], "tasks": tasks, "end_s": 3.5}
    metrics = measured(**run)
    # The unfinished query has an age of 0.5 s, and its true time may be the longest.
    assert (metrics["query_count"], metrics["query_time_s"], metrics["p99_query_time_s"]) == (2, 1.5, 3.0)
    assert bounds(**run) == {"query_time_s", *(f"p{percent}_query_time_s" for percent in (50, 95, 99, 100))}
    assert metrics["query_miss"] == 0.5
    late = make_tasks([{"start_s": 1.0, "deadline_s": 2.0}])
    assert measured([], tasks=late, end_s=3.5)["query_miss"] == 1, "due at 3 s, and unfinished at 3.5 s"
    assert metrics["job_time_s"] == 5.0
    assert not {"job_miss", "request_time_s", "shuffle_time_s"} & set(metrics)
    assert (possible([])["query_time_s"].unit, possible([])["query_time_s"].flow_class) == ("s", None)


def test_inversions_count_smaller_flows_that_take_longer_within_a_burst() -> None:
    times = [1, 3, 2, 4, 5, 6, 9, 8, 10, 11]  # by size: 3 > 2 and 9 > 8
    burst: Rows = [
        {"id": i, "size_bytes": 1000 * (i + 1), "start_s": 2.0 + i * 1e-5, "fct_s": float(time), "slowdown": 1.0}
        for i, time in enumerate(times)
    ]
    alone: Rows = [{"id": 10, "size_bytes": 1, "start_s": 2.5, "fct_s": 99.0, "slowdown": 1.0}]
    metrics = measured([*burst, *alone])
    assert metrics["inversions_short"] == 2
    few = measured(alone)
    assert "inversions_short" not in few


def test_inversions_that_unfinished_flows_leave_open_are_not_counted() -> None:
    """Times are in order of size. The run ends at 4 s, when unfinished flows have an age of 2 s."""
    times = [1.0, 1.5, None, 1.6, 1.7, 1.8, 1.65, 1.9, 1.95, 1.97]
    burst: Rows = [
        {"id": i, "size_bytes": 1000 * (i + 1), "start_s": 2.0, "fct_s": time, "slowdown": time, "ideal_fct_s": 1.0}
        for i, time in enumerate(times)
    ]
    for end_s, inversions, is_open in (
        (4.0, 2, False),  # 2 s or more > 1.6 s, and 1.8 s > 1.65 s
        (3.55, 1, True),  # 1.55 s or more against 1.6 s
        (3.4, 1, True),  # 1.5 s against 1.4 s or more, too
    ):
        assert measured(burst, end_s=end_s)["inversions_short"] == inversions
        assert ("inversions_short" in bounds(burst, end_s=end_s)) is is_open


def test_flows_to_several_hosts_are_no_burst() -> None:
    flows: Rows = [
        {"id": i, "destination": f"h{i % 2}", "size_bytes": 1000, "start_s": 2.0, "fct_s": 1.0, "slowdown": 1.0}
        for i in range(18)
    ]
    several = measured(flows)
    assert "inversions_short" not in several


def test_completion_by_size_has_a_bin_up_to_its_upper_end() -> None:
    sizes = {10_000: 1.0, 10_001: 2.0, 100_000: 4.0, 10_000_001: 9.0}
    rows: Rows = [
        {"id": i, "size_bytes": size, "start_s": 1.0, "fct_s": fct, "slowdown": 1.0}
        for i, (size, fct) in enumerate(sizes.items())
    ]
    found = rows_of(rows)
    shown = telling(found)
    of_class = [row for row in found if row.metric.flow_class and row.metric.size_bin]
    assert {row.metric.name: row.value for row in of_class if row.metric.name in shown} == {
        **{"flows_short_upto_10kb": 1, "afct_short_upto_10kb_s": 1},
        **{"flows_short_100kb": 2, "afct_short_100kb_s": 3},
        **{"flows_short_over_1mb": 1, "afct_short_over_1mb_s": 9},
        **{f"p{percent}_short_upto_10kb_s": 1 for percent in (50, 99, 100)},
        **{f"p{percent}_short_100kb_s": time for percent, time in ((50, 2), (99, 4), (100, 4))},
        **{f"p{percent}_short_over_1mb_s": 9 for percent in (50, 99, 100)},
    }
    about = possible(["web_search"])["p99_web_search_100kb_s"]
    assert (about.flow_class, about.size_bin, about.unit) == ("web_search", Sizes(10_000, 100_000), "s")
    one = rows_of(rows[1:3])
    bins = [each for each in telling(one).values() if each.flow_class and each.size_bin]
    assert not bins, "one bin says what the class says"
    beside = {row.metric.name: row.value for row in one if row.metric.name in telling([*found, *one])}
    assert beside["flows_short_upto_10kb"] == 0
    assert "afct_short_upto_10kb_s" not in beside
    assert beside["afct_short_100kb_s"] == 3, "the bins of a class are the same in all runs"


def test_a_class_with_flows_in_two_bins_has_these_bins() -> None:
    two: Rows = [{"size_bytes": size, "start_s": 1.0, "fct_s": 1.0, "slowdown": 1.0} for size in (10_000, 10_001)]
    shown = {each.size_bin for each in telling(rows_of(two)).values() if each.flow_class and each.size_bin}
    assert shown == {Sizes(0, 10_000), Sizes(10_000, 100_000)}


def test_bins_are_named_by_their_ends() -> None:
    own = Bins.parse("500,10KB,2MB")
    assert [(each.name, each.label) for each in own.every] == [
        ("upto_500b", "≤ 500 B"),
        ("10kb", "500 B–10 KB"),
        ("2mb", "10 KB–2 MB"),
        ("over_2mb", "> 2 MB"),
    ]
    assert [each.label for each in USUAL_BINS.every] == ["≤ 10 KB", "10–100 KB", "100 KB–1 MB", "> 1 MB"]
    assert (own.short, own.long) == (Sizes(0, 10_000), Sizes(2_000_000, None))
    assert [metric.name for metric in short_and_long(own)] == [
        *("slowdown_p99_upto_10kb", "afct_upto_10kb_s", "flow_goodput_over_2mb_bps")
    ]
    (one,) = named({"afct_upto_10kb_s": 1.0}, {"afct_upto_10kb_s"}, [], own)
    assert (one.metric.size_bin, one.metric.sizes, one.lower_bound) == (own.short, "≤ 10 KB", True)
    assert possible(["long"])["jain_long"].sizes == ""
    flows: Rows = [{"size_bytes": 400, "start_s": 1.0, "fct_s": 1.0, "slowdown": 1.0}]
    tables = {"flows": make_flows(flows), "tasks": make_tasks(), "samples": make_samples(), "ports": make_ports()}
    assert {row.metric.name: row.value for row in measure(tables, make_meta(), own)}["flows_upto_500b"] == 1


def test_short_and_long_flows_are_those_of_all_classes_and_a_flow_that_stalls_slows_the_long_ones() -> None:
    """1,000 short flows have slowdowns of 1 to 1,000. The slowest is unfinished. One of two long flows stalls."""
    rows: Rows = [
        {"class": f"c{i % 2}", "size_bytes": 50 + 99_950 * (i % 2), "start_s": 1.0, "fct_s": 1e-3 * i, "slowdown": i}
        for i in range(1, 1001)
    ]
    rows[-1] |= {"fct_s": None, "slowdown": None, "ideal_fct_s": 1e-3}
    rows.append({"class": "c0", "size_bytes": 2_000_000, "start_s": 1.0, "fct_s": 1.0, "slowdown": 2.0})
    rows.append({"class": "c1", "size_bytes": 2_000_000, "start_s": 1.0, "ideal_fct_s": 1.0, "acked_bytes": 1_000_000})
    metrics, low = measured(rows), bounds(rows)
    assert (metrics["flows_upto_100kb"], metrics["flows_over_1mb"], metrics["flows_upto_10kb"]) == (999, 1, 499)
    slowdowns = [metrics[f"slowdown_{which}_upto_100kb"] for which in ("p50", "p99", "p999")]
    assert slowdowns == [500, 990, 999]
    assert not {"slowdown_p99_upto_100kb", "slowdown_p999_upto_100kb"} & low, "one open flow of 1,000 is above both"
    assert {"slowdown_upto_100kb", "slowdown_p100_upto_100kb", "slowdown_p99_over_1mb"} <= low
    assert metrics["flow_goodput_over_1mb_bps"] == pytest.approx(8 * 3e6 / (1 + 3))
    assert "flow_goodput_over_1mb_bps" not in low
    endless = measured(LONG)
    assert endless["flow_goodput_over_1mb_bps"] == 8 * 4_000 / (2 + 2)


def shares(*intervals: tuple[float, float, float]) -> list[tuple[float, str, str, float]]:
    """Samples of two flows. Each argument has the end of an interval, and the flows' throughputs in it."""
    return [
        (time, "flow_throughput_bps", flow, rate)
        for time, *rates in intervals
        for flow, rate in zip(("0", "1"), rates, strict=True)
    ]


LONG: Rows = [
    {"id": 0, "class": "long", "delivered_bytes": 3_000, "start_s": 0.0},
    {"id": 1, "class": "long", "delivered_bytes": 1_000, "start_s": 0.5},
]


def test_jain_index_is_of_the_whole_measured_time() -> None:
    samples = make_samples(
        shares((0.0, 0, 0), (0.5, 8, 0), (1.0, 8, 0), (1.5, 2, 2), (2.0, 3, 1), (2.5, 2, 2), (3.0, 2.1, 1.9))
    )
    metrics = measured(LONG, samples=samples, fairness_windows_s={"long": 0.5})
    assert metrics["jain_long"] == pytest.approx(16 / (2 * 10))
    # The second flow starts at 0.5 s. In all windows that begin at 2 s or later, both flows get about the same.
    assert metrics["convergence_long_s"] == pytest.approx(1.5)


def test_flows_unfair_at_the_end_converge_later_and_one_flow_shares_with_nobody() -> None:
    unfair = make_samples(shares((0.0, 0, 0), (1.0, 2, 2), (2.0, 2, 2), (3.0, 4, 0)))
    metrics = measured(LONG, samples=unfair)
    found = rows_of(LONG, samples=unfair)
    # Windows of 1 s begin at 0.5 s. Shares are 2 and 2, then 3 and 1 until 2.5 s.
    assert metrics["convergence_long_s"] == 2.0
    assert [row.metric.name for row in found if row.lower_bound] == ["convergence_long_s"]
    alone = measured(LONG[:1], samples=unfair)
    assert not [name for name in alone if "jain" in name or "convergence" in name]
    once = measured(LONG, samples=make_samples(shares((1.0, 2, 2))))
    assert not {"jain_sampled_long", "convergence_long_s"} & {*once}, "one sample has no interval"
    without = measured(LONG)
    assert "jain_long" in without
    assert "jain_sampled_long" not in without


def test_the_sampling_interval_does_not_decide_the_mean_jain_index() -> None:
    """Windows of 100 x 5 ms follow the warm-up of 1 s. Shares are 3 and 1 in the first and third, else 2 and 2.

    Flow 2 starts in the second window, and counts in the last two with a share of zero.
    """
    late: Rows = [*LONG, {"id": 2, "class": "long", "delivered_bytes": 1, "start_s": 1.75}]
    fair, unfair = (2.0, 2.0), (3.0, 1.0)

    def sampled(parts: int) -> float | None:
        """The index with `parts` samples per window."""
        windows = [fair, fair, unfair, fair, unfair, fair]
        ends = [(0.5 * (number // parts) + 0.5 * (number % parts + 1) / parts) for number in range(6 * parts)]
        rows = [(end, *windows[number // parts]) for number, end in enumerate(ends)]
        return measured(late, samples=make_samples(shares((0.0, 0, 0), *rows)), fairness_windows_s={"long": 0.005}).get(
            "jain_sampled_long"
        )

    of_two, of_three = (0.8, 1.0), (16 / (3 * 10), 16 / (3 * 8))
    expected = (sum(of_two) + sum(of_three)) / 4
    assert [sampled(parts) for parts in (1, 2, 5)] == pytest.approx([expected] * 3)
    coarse = make_samples(shares((0.0, 0, 0), (1.0, 2, 2), (2.0, 2, 2), (3.0, 4, 0)))
    assert "jain_sampled_long" not in measured(LONG, samples=coarse, fairness_windows_s={"long": 0.005})


def test_the_sampling_interval_does_not_decide_convergence() -> None:
    """From 3.5 s on, shares are equal: the flows take turns of 0.1 s."""

    def sampled(every: int) -> float | None:
        """Convergence with samples that are `every` tenths of a second apart."""
        bits = [(0.0, 0.0)] * 5 + [(2.0, 0.0)] * 30 + [(2.0, 0.0), (0.0, 2.0)] * 60
        ends = range(every, len(bits) + 1, every)

        def mean(end: int, flow: int) -> float:
            return sum(each[flow] for each in bits[end - every : end]) / every

        rows = [(end / 10, mean(end, 0), mean(end, 1)) for end in ends]
        samples = make_samples(shares((0.0, 0, 0), *rows))
        return measured(LONG, samples=samples).get("convergence_long_s")

    assert [sampled(every) for every in (1, 2, 5)] == pytest.approx([3.0, 3.0, 3.0])
    assert sampled(20) is None, "samples further apart than a window tell nothing"


def test_samples_as_far_apart_as_the_error_advises_are_enough() -> None:
    def compared(flows: int, **settings: str) -> shortflow.Results:
        traffic = {"kind": "long-lived", "class": "long", "flows": flows, "from": "0-1", "to": 3}
        scenario = star([traffic], 4, duration="250ms", warmup="10ms")
        return shortflow.compare(scenario, "dctcp", 1, settings={**settings}, ideal=False)

    for name in ("convergence_long_s", "jain_sampled_long"):
        with pytest.raises(shortflow.ConfigError, match=f"^{name}: needs two or more") as refused:
            compared(2).require(name)
        key, every = sure(re.search(r"`--set (\S+)=(\d+)us` records it", str(refused.value))).groups()
        assert name in compared(2, **{key: f"{every}us"}).metric_names
        assert name not in compared(2, **{key: f"{2 * int(every)}us"}).metric_names
        with pytest.raises(shortflow.ConfigError, match="of class long, and no run here has one"):
            compared(1, **{key: f"{every}us"}).require(name)


def test_a_flow_that_has_stopped_delays_no_convergence() -> None:
    """Flow 2 stops at 0.3 s, before the last start at 0.5 s. From then on, the two other flows share equally."""
    stopped = {"id": 2, "class": "long", "delivered_bytes": 1, "start_s": 0.0, "finish_s": 0.3}
    rows = [(0.5 + number, 1.0, 1.0) for number in range(12)]
    samples = make_samples(shares((0.0, 0, 0), *rows))
    assert measured([*LONG, stopped], samples=samples)["convergence_long_s"] == 0.0


@given(st.lists(st.sampled_from([0.5, 1.0]), min_size=1, max_size=60), st.integers(1, 60))
def test_convergence_does_not_depend_on_when_one_stops_looking(rates: list[float], stop: int) -> None:
    """Rates of 1 and 1 are fair, and 1 and 0.5 are not. Convergence takes ten consecutive fair intervals."""

    def convergence(seen: list[float]) -> tuple[float, bool]:
        samples = make_samples(shares(*((0.5 + number, 1.0, rate) for number, rate in enumerate([1.0, *seen]))))
        return measured(LONG, samples=samples)["convergence_long_s"], "convergence_long_s" in bounds(
            LONG, samples=samples
        )

    (early, open_early), (late, open_late) = convergence(rates[:stop]), convergence(rates)
    assert early <= late
    assert open_early or (early, open_early) == (late, open_late)
    in_a_row = "".join("x" if rate == 1.0 else "." for rate in rates).find("x" * 10)
    assert (late, open_late) == (in_a_row, False) if in_a_row >= 0 else open_late


def test_a_metric_is_found_by_its_name_alone() -> None:
    known = possible(["short"])
    assert {metric.statistic for metric in known.values()} == set(STATISTICS.values())
    assert sum(metric.size_bin is not None for metric in known.values()) == 5 * len(USUAL_BINS.every) + 14 * len(
        USUAL_BINS.ranges
    )
    assert not [name for name, metric in known.items() if set("<>{}") & {*name, *metric.label}]
    found = rows_of(LONG)
    values = {row.metric.name: row.value for row in found}
    assert named(values, {row.metric.name for row in found if row.lower_bound}, ["long"]) == found
