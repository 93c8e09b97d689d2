"""Every shipped scenario explains itself, is valid, and runs under every scheme that the papers compare."""

import math
import re
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path

import pytest
import tomli_w

import shortflow
from conftest import Command, Tables
from made import star
from shortflow import _core, load, run
from shortflow.metrics.catalogue import GOODPUT, MEAN_FCT, TASK_TIME
from shortflow.runner import waited_for
from shortflow.runs import check_metric
from shortflow.scenario import SHIPPED

NAMES = shortflow.shipped_scenarios()
SMALL: dict[str, dict[str, str | int]] = {
    "testbed-fig14": {"traffic.2.at": "10ms", "size": "100KB"},
    "testbed-incast": {"traffic.1.repeat": 1, "warmup": "0s"},
    "testbed-short-long": {"traffic.2.start": "0s"},
    "testbed-narrow-incast": {"traffic.1.repeat": 1, "warmup": "0s"},
    "testbed-wide-incast": {"traffic.1.repeat": 1, "warmup": "0s"},
    "testbed-messages": {"traffic.2.start": "0s"},
    "testbed-one-host": {"traffic.2.start": "0s"},
    "testbed-one-host-messages": {"traffic.2.start": "0s", "load": "0.05"},
    "testbed-stagger": {"traffic.2.start": "0s"},
    "testbed-same-host": {"traffic.2.start": "0s"},
    "testbed-card": {"traffic.2.start": "0s", "traffic.2.load": "0.05"},
    "testbed-weights": {
        "traffic.1.sizes.value": "100KB",
        "traffic.2.at": "10ms",
        "traffic.2.jitter": "0s",
        "traffic.2.sizes.value": "50KB",
        "warmup": "0s",
    },
    "incast": {"traffic.1.repeat": 1, "warmup": "0s"},
    "two-tier-incast": {"traffic.1.repeat": 1, "warmup": "0s"},
    "fat-tree-websearch": {"k": 4},
    "incast-deadlines": {"traffic.1.at": "10ms"},
    "atcp-trace": {"duration": "2s"},
    "link-failure": {"up_at": "30ms"},
    "mapreduce": {"traffic.1.sizes.value": "100KB", "traffic.1.repeat": 1},
    "two-level-aggregation": {"duration": "200ms"},
    "bench-many-flows": {"traffic.1.flows": 20},
    "bench-leaf-spine": {"duration": "6ms", "warmup": "2ms"},
    "bench-fat-tree": {"k": 4, "duration": "10ms", "warmup": "2ms"},
    "xdctcp-star": {"duration": "100ms", "warmup": "60ms"},
    "dctcp-convergence": {"traffic.1.stagger": "1ms", "traffic.1.stop": "20ms"},
    "dctcp-incast": {"traffic.1.repeat": 2, "warmup": "0s"},
    "known-fan-in": {"warmup": "0s"},
    "known-rfc6298": {"duration": "8s", "warmup": "0s"},
    "known-rfc6298-sample": {"warmup": "0s"},
    "known-rfc6928": {"duration": "4s", "warmup": "0s"},
    "known-rfc8985": {"warmup": "0s"},
    "lossless-incast": {"warmup": "0s"},
    "lossless-slow-port": {"warmup": "0s"},
    "lossless-victim": {"warmup": "0s"},
    "lossless-two-victims": {"warmup": "0s"},
    "sonic-dequeue-ecn": {"warmup": "0s"},
    "sonic-red-accuracy": {"warmup": "0s"},
    "sonic-roce-bursts": {"warmup": "0s"},
    "sonic-roce-storage": {"warmup": "0s"},
    "sonic-roce-two-queues": {"warmup": "0s"},
}
"""Settings with which a scenario has flows within a short duration."""


def test_there_is_a_scenario_of_every_kind() -> None:
    settings = [setting for name in NAMES for setting in shortflow.load(name).resolved()]
    for kinds, key in (("topologies", r"topology\.kind"), ("traffic", r"traffic\.\d+\.kind"), ("sizes", r".*\.kind")):
        used = {setting["value"] for setting in settings if re.fullmatch(key, setting["key"])}
        assert {kind["name"] for kind in _core.registry()[kinds]} <= used
    patterns = {setting["value"] for setting in settings if setting["key"].endswith(".pattern")}
    every = "many-to-one all-to-all permutation intra-rack inter-rack rack-locality hot-spot"
    assert patterns == set(every.split())
    assert any(setting["key"] == "switch.memory" and setting["value"] != "static" for setting in settings)


@pytest.mark.parametrize("name", NAMES)
def test_it_is_valid_and_says_what_it_is_and_where_each_value_is_from(name: str) -> None:
    scenario = shortflow.load(name)
    assert (scenario.name, bool(scenario.title), bool(scenario.traffic_notes())) == (name, True, True)
    assert all(setting["source"] for setting in scenario.resolved())
    text = (SHIPPED / f"{name}.toml").read_text()
    header = [line for line in text.split("\n\n")[0].splitlines() if line.startswith("#")]
    assert len(header) >= 3
    assert any(word in "\n".join(header) for word in ("Source", "Ours", "made up"))


def test_metrics_of_flows_with_another_transport_are_not_refused() -> None:
    mixed: dict[str, str | float] = {"traffic.2.transport": "cubic", "traffic.2.transport_share": 0.5}
    scenario = shortflow.load("l2dct-benchmark", {"duration": "40ms", "warmup": "5ms", **mixed})
    metrics = shortflow.run(scenario, "dctcp").metrics
    assert any("-cubic" in metric for metric in metrics)
    for metric in metrics:
        check_metric(metric, scenario)


@pytest.mark.parametrize("scheme", ["tcp", "dctcp", "l2dct"])
@pytest.mark.parametrize("name", NAMES)
def test_it_runs_and_every_metric_is_a_finite_number(name: str, scheme: str) -> None:
    settings: dict[str, str | int] = {"duration": "40ms", "warmup": "5ms", **SMALL.get(name, {})}
    scenario = shortflow.load(name, settings)
    result = shortflow.run(scenario, scheme)
    assert result.flows.height > 0
    assert result.metrics["utilisation"] > 0
    assert all(math.isfinite(value) for value in result.metrics.values()), result.metrics
    for metric in result.metrics:
        check_metric(metric, scenario)
    statistics = {row.metric.statistic for row in result.rows}
    assert statistics & {MEAN_FCT, GOODPUT, TASK_TIME}, "something has come of the traffic"
    if {"key": "host.model", "value": "linux", "source": "default"} in scenario.resolved():
        of_hosts = set(result.meta["remarks"])
        assert of_hosts <= ({"phase"} if scheme == "tcp" else set()), "hosts decide nothing"


@pytest.mark.parametrize(
    ("name", "metric"),
    [
        ("query-fan-in", "query_time_s"),
        ("two-level-aggregation", "query_time_s"),
        ("mapreduce", "job_time_s"),
        ("web-tier", "request_time_s"),
        ("ring-all-reduce", "collective_time_s"),
    ],
)
def test_applications_have_tasks(name: str, metric: str) -> None:
    settings = {"duration": "40ms", **SMALL.get(name, {}), "warmup": "0s"}
    result = shortflow.run(shortflow.load(name, settings), "dctcp")
    assert result.metrics[metric] > 0
    of_tasks = result.flows.filter(result.flows["task"].is_not_null())
    counted = result.tasks.filter(result.tasks["part_of"].is_null())["flows"].sum()
    assert of_tasks.height == counted


def test_the_link_that_fails_is_counted_and_used_again() -> None:
    result = shortflow.run(shortflow.load("link-failure", {"duration": "60ms"}), "dctcp")
    lost = {row["place"] for row in result.meta["drops"] if row["reason"] == "link down"}
    assert lost <= {"leaf0->spine0", "spine0->leaf0"}
    assert lost
    assert sum(row["in_run"] for row in result.meta["drops"]) == result.meta["counters"]["packets_dropped"]
    samples = result.samples
    queue = samples.filter((samples["subject"] == "leaf0->spine0") & (samples["kind"] == "queue_bytes"))
    during = queue.filter((queue["time_s"] > 0.02) & (queue["time_s"] < 0.04))
    assert during["value"].sum() == 0
    assert queue.filter(queue["time_s"] > 0.04)["value"].sum() > 0
    assert result.metrics["unfinished"] == 0


def test_progress_says_what_drains_wait_for() -> None:
    waiting = waited_for([(12, 18_204, 0.154)])
    assert waiting == "drain: 12 of 18,204 flows open, at most 0.154 s of simulated time left"
    both = waited_for([(1, 10, 0.5), (2, 20, 0.25)])
    assert both == "drain: 3 of 30 flows of 2 runs open, at most 0.5 s of simulated time left"
    assert waited_for([]) == ""


def test_a_run_whose_flows_are_done_is_done_whatever_its_drain_allows(small: Tables) -> None:
    control = _core.Control()
    _core.run(load({**small, "drain": "20s"}).core, _core.Scheme.parse("tcp", []), 1, control)
    assert 0.5 < control.fraction() < 1


def _star(hosts: int, traffic: Sequence[Mapping[str, object]], **tables: object) -> dict[str, object]:
    """A FIFO star of 1 Gbps and 300 us."""
    return star(traffic, hosts, duration="1s", rtt="300us", buffer="250pkt", host={"model": "fifo"}, **tables)


def test_every_nth_packet_of_a_port_is_lost() -> None:
    """Every 100th of 2,020 packets is lost, retransmissions included: 20."""
    sizes = {"kind": "fixed", "value": "2920000B"}
    traffic = [{"kind": "incast", "flows": 1, "from": 0, "to": 2, "sizes": sizes}]
    tables = _star(3, traffic=traffic, tcp={"receive_window": "40pkt"})
    faults = {"links": ["s0->h2"], "loss_every": 100}
    outcome = run(load({**tables, "faults": faults}), "tcp")
    assert [(row["reason"], row["in_run"]) for row in outcome.meta["drops"]] == [("loss", 20)]
    assert outcome.flows["retransmits"].to_list() == [20]
    assert run(load(tables), "tcp").flows["retransmits"].to_list() == [0]


def test_every_host_may_ask() -> None:
    """Each of two hosts asks the other one. A query takes its time in an empty network.

    This time is 2 ms, four links of 75 us, and two transmissions each of 140 and 1,040 B at 1 Gbps.
    """
    query = {"kind": "queries", "to": "all", "repeat": 2, "compute": "2ms", "think": "1ms"}
    query["sizes"] = {"kind": "fixed", "value": "1KB"}
    outcome = run(load(_star(2, traffic=[{**query, "workers": 1}])), "dctcp")
    assert outcome.tasks["time_s"].to_list() == pytest.approx([2e-3 + 4 * 75e-6 + 2 * (140 + 1040) * 8e-9] * 4)
    outcome = run(load(_star(4, traffic=[{**query, "workers": 2}])), "dctcp")
    asked = outcome.flows.filter(outcome.flows["size_bytes"] == 100)["destination"].to_list()
    assert sorted(asked) == sorted([f"h{host}" for host in range(4)] * 4), "each is asked by two others, twice"
    assert outcome.meta["unfinished"] == 0


def test_load_may_count_headers_and_windows_limit_what_is_too_much(shortflow: Command, tmp_path: Path) -> None:
    """A flow of 50 KB has 35 headers of 40 B. A window of 64 packets per 300 us is too small for an unlimited rate."""
    poisson = {"kind": "poisson", "load": 0.2, "sizes": {"kind": "fixed", "value": "50KB"}, "load_with_headers": True}
    (tmp_path / "headers.toml").write_text(tomli_w.dumps(_star(3, traffic=[poisson])))
    notes = shortflow("show", str(tmp_path / "headers.toml"), "--json").document["notes"]
    rate = f"{0.2 * 1e9 / (8 * (50_000 + 35 * 40)):.1f}"
    assert f"traffic.1: offered load 0.2 with headers of s0->h2 (1Gbps): {rate} flows/s of mean 50KB" in notes
    (tmp_path / "long.toml").write_text(tomli_w.dumps(_star(3, traffic=[{"kind": "long-lived", "flows": 2}])))
    fast = ("show", str(tmp_path / "long.toml"), "--set", "topology.rate=1000Tbps")
    assert "data packets, drain included; at most 1e9 are accepted" in shortflow(*fast).stderr
    assert "without end" in shortflow(*fast, "--set", "tcp.receive_window=64pkt").stdout


def test_what_is_left_of_a_run_of_large_flows_is_known_after_a_fifth_of_it() -> None:
    """The forecast follows from the flows' rates, although the drain may last 100 s."""
    sizes = {"kind": "fixed", "value": "240MB"}
    incast = {"kind": "incast", "flows": 5, "to": 5, "sizes": sizes}
    scenario = load(_star(6, traffic=[incast]) | {"duration": "5ms", "drain": "100s"}).core
    control, looks = _core.Control(), []
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(_core.run, scenario, _core.Scheme.parse("dctcp", []), 1, control)
        while not running.done():
            drain = control.drain()
            looks += [(100.005 - drain[2], control.fraction())] if drain else []
            time.sleep(0.002)
    end_s = running.result().meta()["end_s"]
    changes = {fraction: now for now, fraction in reversed(looks)}  # runs report progress every few thousand events
    at = [(now, fraction) for fraction, now in reversed(changes.items()) if 0.2 < now / end_s < 0.8]
    steps = at[:: max(len(at) // 8, 1)]
    told = [(1 - later) / (later - before) * (now - since) for (since, before), (now, later) in pairwise(steps)]
    ratios = [left_s / (end_s - now) for left_s, (now, _) in zip(told, steps[1:], strict=True)]
    assert len(ratios) > 3
    assert all(1 / 1.5 < ratio < 1.5 for ratio in ratios), ratios


def test_an_unused_parameter_hides_no_other_error(shortflow: Command, tmp_path: Path) -> None:
    text = 'title = "t"\nduration = "1ms"\ntopology = { kind = "star", hosts = 3, rate = "1Gbps", rtt = "1us" }\n'
    rest = '[parameters]\nunused = 3\n[[traffic]]\nkind = "long-lived"\nflowz = 1\n'
    (tmp_path / "t.toml").write_text(text + rest, encoding="utf-8")
    assert shortflow("show", "t.toml").stderr == (
        'shortflow: t.toml:8: traffic.1.flowz: unknown key; did you mean "traffic.1.flows"?\n'
        'shortflow: t.toml:5: parameters.unused: no value of the scenario uses "$unused"; use or remove the parameter\n'
    )
