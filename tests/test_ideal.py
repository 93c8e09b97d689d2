"""Ideal schedulers: they have the schemes' flows, are shown apart, stored and reused, and none beats SRPT."""

import math
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shortflow
from conftest import Command, Tables
from made import make_rows, make_run, star, sure
from shortflow import _core
from shortflow.report.study import studies
from shortflow.result import with_distances
from shortflow.runner import run_one
from shortflow.runs import plan

WITHOUT_DEADLINES = ["ideal-srpt", "ideal-sjf", "ideal-las", "ideal-ps", "ideal-fifo"]


def with_deadlines(small: dict[str, Any]) -> dict[str, Any]:
    small["traffic"][1]["deadline"] = {"kind": "uniform", "min": "300us", "max": "1ms"}
    return small


def test_the_flow_table_is_that_of_the_schemes(small: Tables) -> None:
    scenario = shortflow.load(with_deadlines(small))
    results = [run_one(run) for run in plan(scenario, ["dctcp", "ideal-srpt", "ideal-las"], [3])]
    columns = ["id", "source", "destination", "class", "size_bytes", "start_s", "ideal_fct_s", "deadline_s"]
    for result in results[1:]:
        assert result.flows.select(columns).equals(results[0].flows.select(columns))
        finite = result.flows.filter(pl.col("size_bytes").is_not_null())
        assert (finite["fct_s"] >= finite["ideal_fct_s"] - 1e-12).all()
        assert result.samples.is_empty()
        assert result.ports.is_empty()


def test_earliest_deadline_first_appears_with_deadlines(small: Tables) -> None:
    scenario = shortflow.load(with_deadlines(small))
    comparison = shortflow.compare(scenario, ["dctcp"], [1, 2])
    assert comparison.ideal_names == [*WITHOUT_DEADLINES, "ideal-edf"]
    misses = {name: comparison.estimate(name, "deadline_miss") for name in [*comparison.ideal_names, "dctcp"]}
    best, fifo = misses["ideal-edf"], misses["ideal-fifo"]
    assert best
    assert fifo
    assert best.value <= fifo.value


def test_settings_of_schemes_pass_them_by(small: Tables) -> None:
    scenario = shortflow.load(small)
    plain, changed = (
        shortflow.compare(scenario, ["dctcp"], [1], settings=settings)
        for settings in ({"load": 0.5}, {"load": 0.5, "transport.g": 0.9})
    )
    assert [run.digest for run in plain.ideal] == [run.digest for run in changed.ideal]
    assert plain.runs_digest != changed.runs_digest
    with pytest.raises(shortflow.ConfigError, match=r"transport\.g: unknown parameter; ideal-las has no parameters"):
        _core.Scheme.parse("ideal-las", [("transport.g", "0.5", "--set")])


def test_a_report_shows_them_beside_the_schemes(shortflow: Command, scenario: str, tmp_path: Path) -> None:
    arguments = ("compare", scenario, "--schemes", "dctcp", "--seeds", "2", "--json", "--out", "kept")
    assert "12 runs, 0 reused" in shortflow(*arguments).stderr
    answer = shortflow("report", "kept", code=0)
    page = (tmp_path / answer.stdout.strip()).read_text()
    assert "2 runs of 1 scheme, and 10 runs of ideal schedulers on the same flows: " in page
    assert "Provenance: all 12 runs, 10 of them of ideal schedulers" in page
    assert '<tr><th scope="row">ideal-srpt</th>' in page


def test_a_report_of_ideal_runs_alone_shows_them(small: Tables) -> None:
    runs = plan(shortflow.load(small), ["ideal-ps", "ideal-srpt"], [1, 2])
    (study,) = studies([run_one(run) for run in runs])
    assert study.schemes == ["ideal-srpt", "ideal-ps"]
    assert not study.points[0].ideal


def test_the_distance_is_the_ratio_of_means_on_the_same_flows() -> None:
    runs = [
        make_run("dctcp", 1, "", make_rows(afct_short_s=3.0, drops=1.0), 0.0),
        make_run("dctcp", 2, "", make_rows(afct_short_s=4.0, afct_other_s=1.0), 0.0),
        make_run("dctcp", 3, "", make_rows(afct_short_s=4.0), 0.0),
        make_run("ideal-srpt", 1, "", make_rows(afct_short_s=2.0), 0.0),
        make_run("ideal-srpt", 2, "", make_rows(afct_short_s=1.0), 0.0),
    ]
    found = [run.metrics.get("distance_short") for run in with_distances(runs)]
    assert found == [1.5, 4.0, None, 1.0, 1.0]
    assert "distance_other" not in with_distances(runs)[1].metrics


def test_pecn_bounds_of_80_senders() -> None:
    """The paper has 5.9 (SJF), 8.4 (FIFO) and 11.6 ms (PS) for 80 flows of 2 to 50 KB at 1 Gbps.

    Here, headers (2.7 %) and a round trip are added.
    """
    sizes = {"kind": "uniform", "min": "2KB", "max": "50KB"}
    incast = {"kind": "incast", "flows": 80, "sizes": sizes, "to": 80}
    scenario = shortflow.load(star([incast], 81, rtt="120us", buffer="256KB", mark_above="30KB"))
    comparison = shortflow.compare(scenario, ["ideal-sjf"], range(1, 41))
    for name, bound_ms in {"ideal-sjf": 5.9, "ideal-srpt": 5.9, "ideal-fifo": 8.4, "ideal-ps": 11.6}.items():
        found = sure(comparison.estimate(name, "afct_short_s"))
        assert math.isclose(found.value * 1e3, bound_ms * 1.027 + 0.14, rel_tol=0.03), name


def test_an_ideal_scheduler_of_several_limiting_links_is_refused_by_name() -> None:
    wanted = r"ideal-srpt: much of the traffic waits at several links, such as s0->s1 and s\d+->h\d+"
    with pytest.raises(shortflow.ConfigError, match=wanted):
        plan(shortflow.load("parking-lot"), ["dctcp", "ideal-srpt"], [1])
