"""Charts are valid Vega-Lite, have the numbers of the tables, and mark numbers that are bounds."""

import hashlib
import json
import math
import re
import shlex
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pictures
import polars as pl
import pytest

from conftest import Command, ran
from made import make_result, with_tables
from shortflow import read_store
from shortflow.commands.report import report
from shortflow.criteria import Criteria
from shortflow.errors import ConfigError, MissingRequirement
from shortflow.measured import MEASURED, read_measured
from shortflow.report import library, marks
from shortflow.report.answer import answer
from shortflow.report.chart import Chart, Row, finite_only, numeric
from shortflow.report.figures import charts, completion_times, extremes, kept_ranks, over_points, ranked
from shortflow.report.page import Contents, page_table
from shortflow.report.study import studies, with_measured
from shortflow.report.tables import study_section
from shortflow.result import Result
from shortflow.results import Results
from valid import check

ROOT = Path(__file__).parents[1]
UNITS = {"ms": 1e-3, "µs": 1e-6, "Mbps": 1e6, "Gbps": 1e9, "%": 0.01}
RESULTS = [
    make_result(scheme, seed, load, [fct * seed for fct in times])
    for load, times in (("0.2", (1e-3, 3e-3)), ("0.4", (2e-3, 5e-3)))
    for scheme in ("l2dct", "tcp", "dctcp", "ideal-srpt")
    for seed in (2, 1)
]


def study_of(results: list[Result]) -> Results:
    (study,) = studies(results)
    return study


def rows_of(chart: Chart, **wanted: object) -> list[Any]:
    return [row for row in chart.rows if wanted.items() <= row.items()]


def test_the_library_is_the_one_that_was_checked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    script = library.FILE.read_bytes()
    assert hashlib.sha256(script).hexdigest() == library.SHA256
    assert b'"6.2.0"' in script
    assert import_module("vl_convert").get_vega_version() == library.VERSIONS["vega"]
    assert library.VERSIONS["vega-lite"] in import_module("vl_convert").get_vegalite_versions()
    assert import_module("vl_convert").get_vega_embed_version() == library.VERSIONS["vega-embed"]
    monkeypatch.setattr(library, "FILE", tmp_path / "vega.js")
    library.library.cache_clear()
    with pytest.raises(MissingRequirement, match="make setup"):
        library.library()
    library.library.cache_clear()


@pytest.mark.parametrize("results", [RESULTS, RESULTS[:4]], ids=["loads", "one load"])
def test_every_chart_of_a_study_is_valid_and_has_the_numbers_of_the_table(results: list[Result]) -> None:
    study = study_of(results)
    found = charts(study)
    assert {"ranking", "trade-off", "distribution", "queue"} <= {chart.name for chart in found}
    points = page_table(Contents([study]))["studies"][0]["points"]
    numbers = 0
    for chart in found:
        check(chart)
        numbers += equal_to_table(chart.rows, points)
    assert numbers >= 8


def equal_to_table(rows: Sequence[Row], points: list[Any], gain_bps: float = 1e6) -> int:
    """Checks each row with a metric of a scheme against mean, interval and seeds of the table. Returns their number."""
    table = {(point["at"], scheme): of for point in points for scheme, of in point["comparison"]["schemes"].items()}
    own = [row for row in rows if "metric" in row and (row["at"], row["scheme"]) in table]
    for row in own:
        value, divisor = table[row["at"], row["scheme"]]["metrics"][row["metric"]], UNITS.get(row["unit"], 1)
        assert (row["value"] * divisor, row["seeds"]) == (pytest.approx(value["mean"]), value["n"])
        ends = [end and end * divisor for end in (row["low"], row["high"])]
        assert ends == (pytest.approx(value["ci95"]) if value["ci95"] else [None, None])
        if "gain" in row:
            gain = table[row["at"], row["scheme"]]["metrics"]["flow_goodput_over_1mb_bps"]
            assert row["gain"] * gain_bps == pytest.approx(gain["mean"])
            assert [row["gain_low"] * gain_bps, row["gain_high"] * gain_bps] == pytest.approx(gain["ci95"])
    return len(own)


def test_every_chart_of_the_demo_has_the_numbers_of_its_tables(shortflow: Command, tmp_path: Path) -> None:
    """Runs the commands of `make demo` with a shorter duration, two seeds and two loads."""
    schemes = ["tcp", "dctcp", "l2dct"]
    commands = re.findall(r"bin/shortflow (.+)", ran(["make", "--dry-run", "demo"], cwd=ROOT).stdout)
    assert len(commands) == 3
    for command in commands:
        few = command.replace("--seeds 5", "--seeds 2").replace("0.8:0.1", "0.8:0.5")
        short = re.sub(r"duration=\w+", "duration=300ms", few)
        shortflow(*shlex.split(re.sub(r"'.+'", str(tmp_path), short)), code=0)
    for study in report(tmp_path, json=True).document()["studies"]:
        runs = {  # of a point by its schemes
            (point.label, scheme): [run for run in point.runs if run.scheme == scheme]
            for point in read_store(tmp_path).comparisons(study["name"])
            for scheme in schemes
        }
        charts = {chart["name"]: chart["spec"]["data"]["values"] for chart in study["plots"]}
        rate = next(UNITS[row["unit"]] for row in charts["ranking"] if row["metric"] == "flow_goodput_over_1mb_bps")
        counts = {name: equal_to_table(rows, study["points"], rate) for name, rows in charts.items()}
        assert all(counts.pop(name, 1) for name in ("ranking", "slowdown-by-size", "trade-off", "over-points"))
        assert counts.pop("distribution") == sum(counts.values()) == 0, "another chart has numbers of its own"
        for row in (row for row in charts["distribution"] if row["mark"]):
            flows = [
                run.flows.filter(pl.col("start_s") >= run.meta["warmup_s"]) for run in runs[row["at"], row["scheme"]]
            ]
            times = pl.concat(flows).filter(pl.col("size_bytes") <= 100_000)["fct_s"].sort()
            rank = math.ceil(round(len(times) * float(row["mark"][1:]) / 100, 6))
            assert row["time"] == pytest.approx(1e3 * times[rank - 1], rel=1e-5)
        port = next(chart["heading"] for chart in study["plots"] if chart["name"] == "queue").removeprefix(
            "Queue of port "
        )
        for (at, scheme), of in runs.items():
            shown = [row["length"] for row in charts["queue"] if (row["at"], row["scheme"]) == (at, scheme)]
            samples = pl.concat(run.samples for run in of)
            queue = samples.filter(pl.col("kind") == "queue_pkt", pl.col("subject") == port)["value"]
            assert max(shown) == queue.to_numpy().max()


def test_the_page_s_table_has_the_numbers_of_the_charts() -> None:
    study = study_of(RESULTS)
    metrics = answer(study).metrics
    section = study_section(study, metrics, "tcp")
    rows = {row[:2]: row[2:] for row in section.rows}
    for chart in (ranked(study), over_points(study)):
        for row in chart.rows:
            place = [metric.name for metric in metrics].index(row["metric"])
            cell = rows[row["at"], row["scheme"]][2 * place]
            assert float(cell.split()[0].replace(",", "")) == pytest.approx(row["value"], rel=6e-3)


def test_a_distribution_has_percentiles_of_the_pool_and_ends_at_what_finished() -> None:
    times = [1e-5 * i for i in range(1, 1001)]
    chart = completion_times(study_of([make_result(fct_s=times)]), "short")
    marks = {row["mark"]: row["time"] for row in chart.rows if row["mark"]}
    assert marks == pytest.approx({"p50": 5.0, "p90": 9.0, "p99": 9.9, "p99.9": 9.99})
    ended = completion_times(study_of([stalled(make_result(fct_s=[1e-3, 2e-3, 3e-3, 4e-3]), [1])]), "short")
    assert [(row["time"], row["share"], row["bound"]) for row in ended.rows] == [
        (1e-3, 0.25, False),
        (3e-3, 0.5, False),
        (4e-3, 0.75, False),
    ], "in seconds, as one took so long"
    pale = completion_times(study_of([stalled(make_result(fct_s=[1e-3, 2.4, 2.6]), [0])]), "short")
    assert [row["bound"] for row in pale.rows] == [False, True]
    assert "In the pale part of a curve the true share may be higher" in pale.caption


def stalled(result: Result, ids: list[int]) -> Result:
    """The result with these flows unfinished. They start at 1.5 s, the run ends at 4 s, and ideal FCTs are 0.5 ms."""
    stops = pl.col("id").is_in(ids)
    gone = [pl.when(~stops).then(pl.col(name)).alias(name) for name in ("fct_s", "slowdown")]
    ideal = pl.when(pl.col("size_bytes").is_not_null()).then(5e-4).alias("ideal_fct_s")
    result.meta["unfinished"] = len(ids)
    return with_tables(result, flows=result.flows.with_columns(*gone, ideal))


def test_bounds_are_marked_and_unfinished_flows_have_a_chart() -> None:
    times = [1e-3] * 30
    late = [stalled(make_result("dctcp", load=load, fct_s=times), [0]) for load in ("0.2", "0.4")]
    study = study_of([*late, *(make_result("tcp", load=load, fct_s=times) for load in ("0.2", "0.4"))])
    chart = ranked(study)
    (bound,) = rows_of(chart, scheme="dctcp", at="0.2", metric="afct_upto_100kb_s")
    assert (bound["bound"], bound["value"]) == (True, pytest.approx((29 * 1e-3 + 2.5) / 30 * 1e3))
    assert "≥ marks lower bounds" in chart.caption
    (headlines,) = (each for each in charts(study) if each.name == "over-points")
    (share,) = rows_of(headlines, scheme="dctcp", at="0.2", metric="unfinished_share")
    assert share["value"] == pytest.approx(100 / 30)


def test_bounds_rank_behind_exact_numbers_as_in_the_answer_and_the_trade_off_flags_them() -> None:
    late = stalled(make_result("dctcp", fct_s=[1e-3] * 30), [0])
    mean = (29 * 1e-3 + 2.5) / 30
    study = study_of([late, make_result("tcp", fct_s=[mean] * 30), make_result("l2dct", fct_s=[2 * mean] * 30)])
    rows = rows_of(ranked(study), metric="afct_upto_100kb_s")
    assert [row["scheme"] for row in sorted(rows, key=lambda row: row["rank"])] == ["tcp", "l2dct", "dctcp"]
    (line,) = answer(study, Criteria(metrics=["afct_upto_100kb_s"])).lines
    assert [each.scheme for each in line.standings] == ["tcp", "l2dct", "dctcp"]
    (chart,) = (each for each in charts(study) if each.name == "trade-off")
    assert {row["scheme"]: (row["bound"], row["gain_bound"]) for row in chart.rows}["dctcp"] == (True, False)
    said = {each["as"]: each["calculate"] for each in chart.panels[0]["transform"] if "as" in each}
    assert said["gain_said"].startswith("(datum.gain_bound ?")
    assert chart.panels[0]["layer"][-1]["transform"] == [{"filter": "datum.bound || datum.gain_bound"}]


def test_panels_of_sizes_share_their_axis_and_lines_differ_by_more_than_colour() -> None:
    times = [1e-3] * 4 + [1.0] * 96  # slowdowns of both bins together span a decade, those of one bin do not
    ideal = pl.Series("slowdown", [2.0] * 4 + [90.0] * 96 + [None])
    sizes = pl.Series("size_bytes", [1000] * 4 + [50_000] * 96 + [None])
    runs = [make_result("tcp", load=load, fct_s=times) for load in ("0.2", "0.4")]
    study = study_of([with_tables(run, flows=run.flows.with_columns(ideal, sizes)) for run in runs])
    (chart,) = (each for each in charts(study) if each.name == "slowdown-by-size")
    scales = [panel["layer"][0]["encoding"]["y"]["scale"] for panel in chart.panels]
    assert len(scales) == 2
    assert scales[0] == scales[1]
    assert scales[0]["type"] == "log"
    (queue,) = (each for each in charts(study) if each.name == "queue")
    line, points = queue.panels[0]["layer"]
    assert "strokeDash" in line["encoding"]
    assert ("tooltip" in line["encoding"], "tooltip" in points["encoding"]) == (False, True), "of each point its own"


def test_means_count_flows_up_to_one_time_where_several_schemes_leave_some_unfinished() -> None:
    times = {"dctcp": 0.5, "tcp": 2.0}
    late = [
        stalled(make_result(name, seed, fct_s=[time] * 10), [0]) for name, time in times.items() for seed in range(1, 6)
    ]
    (line,) = (ranking := answer(study_of(late), Criteria(["afct_upto_100kb_s"]))).lines
    assert (line.outcome, line.leaders, line.cut_s) == ("winner", ["dctcp"], 2.5)
    assert [each.mean.value for each in line.standings] == pytest.approx([0.7, 2.05])
    assert "Each flow counts up to 2,500 ms only, because some flows did not finish." in ranking.words[0]


def test_ideal_schedulers_and_measured_flows_stand_beside_the_schemes_without_intervals() -> None:
    own = pl.DataFrame({"start_s": [0.0, 1.0], "size_bytes": [1000, 2000], "fct_s": [2e-3, 4e-3]})
    study = with_measured(study_of(RESULTS), read_measured(own, ["short", "long"]))
    chart = completion_times(study)
    assert chart.schemes == ["tcp", "dctcp", "l2dct", "ideal-srpt", MEASURED]
    assert [row["time"] for row in rows_of(chart, scheme=MEASURED, at="0.4")] == [2.0, 4.0]
    ideal = rows_of(over_points(study), scheme="ideal-srpt")
    assert ideal
    assert {row["low"] for row in ideal} == {None}
    assert "ideal-srpt" not in ranked(study).schemes


def test_twenty_two_schemes_stand_in_one_chart() -> None:
    from shortflow import _core

    names = [entry["name"] for entry in _core.registry()["schemes"]]
    chart = ranked(study_of([make_result(name, seed) for name in names for seed in (1, 2)]))
    check(chart)
    assert len(names) >= 22
    assert chart.panels[0]["height"] == 24 * len(names)
    scale = chart.panels[0]["layer"][1]["encoding"]["shape"]["scale"]
    assert scale["domain"] == names


def test_pictures_of_the_docs_are_drawn_from_the_charts_of_today() -> None:
    for name, chart in pictures.charts().items():
        check(chart)
        kept = (pictures.PLACE / f"{name}.svg").read_text(encoding="utf-8")
        assert pictures.SPECIFICATION.findall(kept) == pictures.SPECIFICATION.findall(chart.svg), "run `make pictures`"


@pytest.mark.parametrize("count", [1, 7, 1000, 100_000])
def test_a_thinned_distribution_is_exact_to_a_pixel(count: int) -> None:
    kept = kept_ranks(count)
    assert kept[0] == 0
    assert kept[-1] == count - 1
    assert len(kept) <= 700
    assert np.max(np.diff(kept), initial=0) / count <= max(1 / 260, 1 / count)
    late = np.log10((count - kept) / count)  # the share that takes longer
    left_out = (np.diff(kept) > 1) & (late[1:] > -4)
    assert np.max(-np.diff(late)[left_out], initial=0) * 260 / 4 < 3, "pixels of a tail to 1e-4"


def test_a_slice_of_a_queue_keeps_its_least_and_most() -> None:
    lengths = np.sin(np.arange(1e4) / 700) * np.arange(1e4)
    kept = extremes(lengths)
    assert len(kept) <= 310
    assert {int(lengths.argmin()), int(lengths.argmax())} <= set(kept)


@pytest.mark.parametrize(("low", "high"), [(0.5, 0.9), (1.0, 30.0), (2e-4, 7e5), (99.0, 101.0)])
def test_a_logarithmic_axis_holds_its_values_and_has_round_ticks(low: float, high: float) -> None:
    axis = numeric("x", "time (ms)", [low, high, None], log=True)
    begin, end = axis["scale"]["domain"]
    assert begin < low
    assert end > high
    ticks = json.loads(axis["axis"]["values"]["expr"].rpartition(" : ")[2])
    assert len(ticks) >= 2
    assert all(begin <= tick <= end for tick in ticks)


def test_a_chart_is_saved_as_a_picture_or_as_its_specification(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    chart = ranked(study_of(RESULTS))
    assert chart.save(tmp_path / "a.svg").read_text("utf-8").startswith("<svg")
    assert "var(--" not in chart.svg
    assert chart.save(tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    assert json.loads(chart.save(tmp_path / "a.json").read_text("utf-8")) == finite_only(chart.spec)
    with pytest.raises(ConfigError, match=r"expected a name that ends with \.svg"):
        chart.save(tmp_path / "a.gif")

    def missing(name: str) -> None:
        raise ModuleNotFoundError(name=name)

    monkeypatch.setattr("shortflow.report.chart.import_module", missing)
    with pytest.raises(MissingRequirement, match=r"shortflow\[figures\]"):
        chart.save(tmp_path / "b.svg")
    assert chart._repr_html_().startswith('<iframe sandbox="allow-scripts" srcdoc=')


@pytest.mark.parametrize(("high", "is_cut"), [(2.0, False), (100.0, True)])
def test_intervals_that_leave_their_panel_are_told(high: float, is_cut: bool) -> None:
    other = {"metric": "b", "value": 1000.0, "low": 900.0, "high": 1100.0}  # another metric has another panel
    assert marks.are_cut([{"metric": "a", "value": 1.0, "low": 0.5, "high": high}, other]) == is_cut
    assert not marks.are_cut([{"metric": "a", "value": 1.0, "low": None, "high": None}])
