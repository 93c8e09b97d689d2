"""One rule selects the current stored runs, and runs of different code are never combined."""

import dataclasses
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shortflow
from conftest import Patch, Tables
from made import make_result
from shortflow.metrics.data import Bins
from shortflow.report.study import studies
from shortflow.result import Result
from shortflow.scenario import Setting, Settings
from shortflow.store.directories import place_of, write_run
from shortflow.store.frames import UNSET, runs_frame, varying
from shortflow.store.runs import select_runs
from shortflow.store.selection import numbered, supersede

LAW = """
import shortflow
from helper import step

class Law(shortflow.CongestionControl):
    def on_ack(self, window, ack):
        window.cwnd = {cwnd}
"""


def changed(result: Result, **changes: Any) -> Result:
    record: Any = {**result.record, "provenance": {**result.provenance, **changes}}
    return dataclasses.replace(result, record=record)


def stored(directory: Path, results: Sequence[Result]) -> Path:
    for number, each in enumerate(results):
        write_run(changed(each, key=f"{number:012}"), directory / str(number))
    return directory


def settings(**values: tuple[str, str]) -> list[Setting]:
    return [{"key": key, "value": value, "source": source} for key, (value, source) in values.items()]


def test_the_newest_run_counts_in_whatever_order_they_lie(tmp_path: Path) -> None:
    times = ["2020-01-01T00:00:02", "2020-01-01T00:00:03", "2020-01-01T00:00:01"]
    stored(tmp_path, [changed(make_result(), finished_at=time, build=f"0+{time}") for time in times])
    selection = select_runs(tmp_path)
    assert [place_of(each).name for each in selection.current] == ["1"]
    assert [place_of(each).name for each in selection.superseded] == ["0", "2"]


def test_the_newest_failure_is_told_in_whatever_order_they_lie() -> None:
    def failed(day: int) -> Result:
        origin = changed(make_result(), finished_at=f"2020-01-0{day}").provenance
        return Result.failed(origin, shortflow.SimulationError(f"of day {day}"))

    assert [each.error_text for each in supersede([failed(day) for day in (2, 3, 1)]).failed] == ["of day 3"]


def test_runs_that_differ_in_seed_scheme_or_setting_all_count(tmp_path: Path) -> None:
    results = [make_result(), make_result(seed=2), make_result("tcp"), make_result(load="0.4")]
    assert len(select_runs(stored(tmp_path, results)).current) == 4


@pytest.mark.parametrize(
    ("more", "key", "labels"),
    [
        ({"traffic.2.kind": ("poisson", "scenario"), "traffic.2.to": ("0", "default")}, "traffic.2.kind", UNSET),
        ({"traffic.1.load": ("0.9", "--set")}, "traffic.1.load", "0.2"),
    ],
)
def test_runs_with_other_settings_are_never_one_point(
    tmp_path: Path, more: Mapping[str, tuple[str, str]], key: str, labels: str
) -> None:
    """The cases are a traffic entry that only one side has, and a key that follows a parameter on one side."""
    plain = make_result()
    kept = [each for each in plain.provenance["scenario_settings"] if each["key"] not in more]
    other = changed(plain, scenario_settings=[*kept, *settings(**more)], key="other")
    found = shortflow.read_store(stored(tmp_path, [plain, other]))
    assert [each.settings for each in found.comparisons()] == [{key: labels}, {key: more[key][0]}]
    assert found.to_frame().columns[10] == key
    (study,) = studies([plain, other])
    assert [len(point.runs) for point in study.points] == [1, 1]


def test_what_follows_from_other_keys_varies_with_them() -> None:
    def drain(duration: str) -> list[Setting]:
        return settings(duration=(duration, "--set"), drain=(duration, "default"))

    assert varying([drain("1s"), drain("2s")]) == ["duration"]
    assert varying([drain("1s"), settings(duration=("1s", "scenario"), drain=("3s", "--set"))]) == ["drain"]


def test_a_new_default_of_a_new_build_supersedes_too(tmp_path: Path) -> None:
    chosen = settings(load=("0.4", "--set"))
    old = changed(make_result(), scenario_settings=chosen, build="0+old")
    new = [*chosen, *settings(drain=("1s", "default"))]
    newer = changed(make_result(), scenario_settings=new, build="0+new", finished_at="2021")
    assert [place_of(each).name for each in select_runs(stored(tmp_path, [old, newer])).current] == ["1"]


@pytest.mark.parametrize(
    ("change", "wanted"),
    [
        ({"build": "0+new", "version": "1"}, "builds of Shortflow 0 and 1, .*: dctcp --set load=0.2, seeds 1 to 2$"),
        (
            {"scheme_settings": settings(**{"transport.source": ("abc", "default")})},
            "of made with dctcp come from different sources of that law.*seeds 1 to 2$",
        ),
        ({"files": {"traffic.1.file": "abc"}}, "different contents of the same file.*seeds 1 to 2$"),
    ],
)
def test_what_counts_must_come_from_the_same_code(tmp_path: Path, change: Mapping[str, Any], wanted: str) -> None:
    old = [make_result(seed=seed) for seed in (1, 2)]
    new = changed(make_result(seed=3), **change, finished_at="2021")
    stored(tmp_path, [*old, new])
    for read in (select_runs, shortflow.read_store):
        with pytest.raises(shortflow.ConfigError, match=wanted):
            read(tmp_path)
    with pytest.raises(shortflow.ConfigError, match=wanted):
        shortflow.write_report(tmp_path, tmp_path / "report.html")
    again = [changed(make_result(seed=seed), **change, finished_at="2021") for seed in (1, 2)]
    stored(tmp_path / "again", again)
    assert len(select_runs(tmp_path).current) == 3
    assert shortflow.write_report(tmp_path, tmp_path / "report.html") == 3


@pytest.mark.parametrize(("points", "named"), [(5, 5), (7, 4)])
def test_the_runs_to_repeat_are_at_most_five_groups(tmp_path: Path, points: int, named: int) -> None:
    old = [make_result(load=f"0.{point}") for point in range(1, points + 1)]
    stored(tmp_path, [*old, changed(make_result(load="0.9"), build="0+new", finished_at="2021")])
    with pytest.raises(shortflow.ConfigError) as refused:
        select_runs(tmp_path)
    assert str(refused.value).count("dctcp --set load=0.") == named
    assert str(refused.value).endswith("; and 3 more") is (points == 7)


def test_a_changed_law_and_a_restored_one_are_run_again(small: Tables, tmp_path: Path, monkeypatch: Patch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "helper.py").write_text("step = 1.0\n", encoding="utf-8")
    scenario, store = shortflow.load(small), tmp_path / "store"
    for cwnd in ("4.0", "1.0", "4.0"):
        (tmp_path / "law.py").write_text(LAW.format(cwnd=cwnd), encoding="utf-8")
        comparison = shortflow.compare(scenario, [f"{tmp_path}/law.py:Law"], seeds=[1, 2], out=store, ideal=False)
        assert not any(run.reused for run in comparison.runs)
        runs = shortflow.read_store(store).to_frame()
        current = runs.filter(~pl.col("superseded")).sort("seed")
        assert current["digest"].to_list() == [run.digest for run in comparison.runs]
        assert set(shortflow.read_store(store).flows["run"]) == set(current["run"])
    assert runs["superseded"].sum() == 2
    assert runs.group_by("source").len()["len"].sort().to_list() == [2, 2]


def test_the_table_of_runs_has_what_varies_and_every_metric_everywhere(small: Tables, tmp_path: Path) -> None:
    frames, points = [], [(0.2, 0.1), (0.2, 0.5), (0.4, 0.1), (0.4, 0.5)]
    for load, gain in points:
        changes: Settings = {"load": load, "transport.g": gain}
        comparison = shortflow.compare(small, "dctcp,tcp", 1, settings=changes, out=tmp_path)
        frames.append(comparison.to_frame())
    runs = shortflow.read_store(tmp_path).to_frame()
    assert runs.equals(pl.read_parquet(tmp_path / "runs.parquet"))
    assert {"load", "transport.g"} < set(runs.columns)
    assert not {"traffic.2.load", "title", "topology.rate"} & set(runs.columns)
    assert sorted(runs.filter(pl.col("scheme") == "dctcp").select("load", "transport.g").rows()) == points
    assert runs.filter(pl.col("scheme") == "tcp")["transport.g"].null_count() == 2  # tcp has no gain
    both = [column for column in frames[0].columns if column in runs.columns]
    assert both == frames[0].columns
    for frame in frames:
        same = [column for column in both if column != "transport.ecn"]
        rows = runs.filter(pl.col("run").is_in(frame["run"].to_list()))
        assert frame.select(same).sort("run").equals(rows.select(same).sort("run"))


def test_a_parameter_with_the_name_of_a_column_keeps_its_whole_key() -> None:
    taken = ("seed", "superseded", "error", "lower_bounds", "afct_short_s")
    results = []
    for value in ("7", "8"):
        named = settings(**{f"parameters.{name}": (value, "--set") for name in (*taken, "k")})
        results.append(changed(make_result(), key=value, scenario_settings=named))
    frame = runs_frame(results)
    assert frame["seed"].to_list() == [1, 1]
    columns = ["k", *(f"parameters.{name}" for name in taken)]
    assert frame.select(columns).rows() == [(7.0,) * 6, (8.0,) * 6]


def test_the_table_of_runs_has_the_bins_of_its_runs() -> None:
    frame = runs_frame([make_result().with_bins(Bins.parse("1KB,5KB"))])
    assert frame.select("flows_upto_1kb", "flows_5kb").rows() == [(1.0, 1.0)]
    assert "flows_upto_10kb" not in frame.columns


def test_the_table_of_runs_is_renewed_when_it_is_out_of_date(small: Tables, tmp_path: Path) -> None:
    shortflow.compare(shortflow.load(small), ["dctcp"], seeds=[1], out=tmp_path, ideal=False)
    good = (tmp_path / "runs.parquet").read_bytes()
    middle = len(good) // 2
    (tmp_path / "runs.parquet").write_bytes(good[:middle] + bytes([good[middle] ^ 1]) + good[middle + 1 :])
    shortflow.read_store(tmp_path).to_frame()
    assert (tmp_path / "runs.parquet").read_bytes() == good


def test_values_with_units_are_numbers_in_base_units(small: Tables, tmp_path: Path) -> None:
    for rate, threshold in (("1Gbps", "10pkt"), ("500Mbps", "20pkt")):
        scenario = shortflow.load(small, {"topology.rate": rate, "switch.mark_above": threshold})
        shortflow.compare(scenario, ["dctcp"], seeds=[1], out=tmp_path, ideal=False)
    runs = shortflow.read_store(tmp_path).to_frame().sort("switch.mark_above")
    assert runs["switch.mark_above"].to_list() == [10.0, 20.0]
    assert runs["topology.rate"].to_list() == [1e9, 5e8]


def test_all_damaged_runs_are_named(tmp_path: Path) -> None:
    stored(tmp_path, [make_result(), make_result(seed=2)])
    for name in "01":
        record = json.loads((tmp_path / name / "result.json").read_text(encoding="utf-8"))
        del record["tables"]
        (tmp_path / name / "result.json").write_text(json.dumps(record), encoding="utf-8")
    with pytest.raises(shortflow.DamagedResult, match=r"0/result.json: .*`tables`.*\n.*1/result.json"):
        shortflow.read_store(tmp_path).to_frame()


def test_seeds_in_a_row_are_a_range() -> None:
    assert [numbered(seeds) for seeds in ([3], [1, 2, 3], [1, 4])] == ["seed 3", "seeds 1 to 3", "seeds 1, 4"]
