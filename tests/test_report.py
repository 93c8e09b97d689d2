"""The report is one page that needs nothing else and tells where its numbers came from."""

import dataclasses
import re
from pathlib import Path

import polars as pl
import pytest

from made import make_result
from shortflow import _core
from shortflow.errors import ConfigError, DamagedResult
from shortflow.report import write_report
from shortflow.report.figures import plots
from shortflow.report.looks import look_of
from shortflow.report.study import studies
from shortflow.result import RunResult
from shortflow.store import write_run

RESULTS = [
    make_result(scheme, seed, load)
    for load in ("0.8", "0.2", "0.4")
    for scheme in ("l2dct", "tcp", "dctcp")
    for seed in (2, 1)
]


def page_of(results: list[RunResult], directory: Path) -> str:
    for number, result in enumerate(results):
        write_run(result, directory / "runs" / str(number))
    page = directory / "report.html"
    assert write_report(directory, page) == len(results)
    return page.read_text(encoding="utf-8")


def without_plotly(page: str) -> str:
    """The page less the plotting library, which may mention addresses that it does not load."""
    return re.sub(r"<script>/\*\*.*?</script>", "", page, flags=re.DOTALL)


def test_points_are_the_values_of_the_parameter_in_order() -> None:
    (study,) = studies(RESULTS)
    assert study.x_name == "load"
    assert [(point.label, point.x) for point in study.points] == [("0.2", 0.2), ("0.4", 0.4), ("0.8", 0.8)]
    assert study.schemes == ["tcp", "dctcp", "l2dct"]
    assert study.points[0].comparison.seeds == [1, 2]


def test_words_and_mixed_units_are_no_axis() -> None:
    (study,) = studies([make_result(load="100Mbps"), make_result(load="1Gbps")])
    assert not study.numeric
    (alone,) = studies([make_result()])
    assert alone.x_name is None


def test_the_page_holds_plots_tables_choices_and_provenance(tmp_path: Path) -> None:
    page = page_of(RESULTS, tmp_path)
    rest = without_plotly(page)
    assert len(page) - len(rest) > 1_000_000
    assert rest.count("Plotly.newPlot") == 5
    for text in (
        "Completion time of short flows versus load",
        "Distribution of the completion time",
        "Slowdown of short flows by size",
        "Throughput of long flows versus load",
        "Queue length",
        "completion time (ms)",
        "goodput (Mbps)",
        "queue (packets)",
        "Overview",
        "transport.g",
        "parameter load",
        "Provenance: all 18 runs",
        "l2dct10.2",
    ):
        assert text in rest, text


def test_the_page_loads_nothing_from_elsewhere(tmp_path: Path) -> None:
    rest = without_plotly(page_of(RESULTS[:2], tmp_path))
    assert not re.findall(r"(?:src|href)\s*=\s*[\"'](?!#)", rest)
    assert "@import" not in rest


def test_a_title_cannot_break_the_page(tmp_path: Path) -> None:
    result = make_result()
    provenance = result.provenance.copy()
    provenance["title"] = "</h1><script>alert(1)</script>"
    evil = dataclasses.replace(result, provenance=provenance)
    assert "<script>alert" not in page_of([evil], tmp_path)


def test_a_directory_without_results_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="holds no results"):
        write_report(tmp_path, tmp_path / "report.html")
    assert list(tmp_path.iterdir()) == []


def test_a_look_belongs_to_the_scheme_and_not_to_its_neighbours() -> None:
    names = [entry["name"] for kind in ("schemes", "ideal") for entry in _core.registry()[kind]]
    assert len({look_of(name) for name in names}) == len(names)
    (together,), (alone,) = studies(RESULTS), studies([make_result("l2dct", 1), make_result("dctcp", 1)])
    lines = [
        {trace["name"]: trace["line"] for plot in plots(study) for trace in plot.figure["data"] if "line" in trace}
        for study in (together, alone)
    ]
    assert lines[0]["l2dct"]["color"] == lines[1]["l2dct"]["color"] == look_of("l2dct").colour
    assert look_of("mine.py:Mine") == look_of("mine.py:Mine")


def test_the_axis_of_the_throughput_is_linear_with_ticks_of_its_own() -> None:
    for results in (RESULTS, [make_result("tcp"), make_result("dctcp")]):
        (study,) = studies(results)
        (plot,) = (plot for plot in plots(study) if plot.heading.startswith("Throughput"))
        assert plot.figure["layout"]["yaxis"]["type"] == "linear"
        assert plot.figure["layout"]["yaxis"]["tickvals"] is None


def test_flows_of_one_size_are_one_mark() -> None:
    result = make_result(fct_s=[1e-3] * 40)
    sizes = pl.when(pl.col("id") < 38).then(2000).otherwise(7000 + pl.col("id")).cast(pl.UInt64)
    flows = result.flows.with_columns(pl.when(pl.col("class") == "short").then(sizes).alias("size_bytes"))
    (study,) = studies([dataclasses.replace(result, flows=flows)])
    (plot,) = (plot for plot in plots(study) if plot.heading.startswith("Slowdown"))
    assert list(plot.figure["data"][0]["x"]) == [2.0, 7.0385]


def test_without_samples_the_page_says_why_there_is_no_queue_over_time(tmp_path: Path) -> None:
    result = make_result()
    assert "took no samples" not in page_of([result], tmp_path / "with")
    page = page_of([dataclasses.replace(result, samples=result.samples.clear())], tmp_path / "without")
    assert "these runs took no samples" in page
    assert "<h3>Queue length</h3>" not in page


def test_a_page_about_some_runs_does_not_read_the_others(tmp_path: Path) -> None:
    write_run(RESULTS[0], tmp_path / "runs" / "mine")
    (tmp_path / "runs" / "old").mkdir()
    (tmp_path / "runs" / "old" / "result.json").write_text("{}", encoding="utf-8")
    page = tmp_path / "report.html"
    assert write_report(tmp_path, page, [tmp_path / "runs" / "mine"]) == 1
    with pytest.raises(DamagedResult, match="old"):
        write_report(tmp_path, page)
