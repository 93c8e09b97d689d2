"""The Python calls: results, and messages for wrong input."""

import dataclasses
import inspect
import re
import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

import shortflow as sf
from conftest import Patch, Tables
from shortflow.front import reference
from shortflow.report.chart import finite_only
from shortflow.report.page import Contents, page_table
from shortflow.report.study import studies
from shortflow.scenario import Settings
from shortflow.shown import Shown
from valid import check

AFCT = "afct_short_s"


@pytest.fixture(scope="module")
def scenario() -> sf.Scenario:
    return sf.load("l2dct-benchmark").with_(load=0.2, duration="300ms")


@pytest.fixture(scope="module")
def comparison(scenario: sf.Scenario) -> sf.Results:
    return sf.compare(scenario, "tcp,dctcp", seeds=2)


def dir_of_fields(value: type) -> set[str]:
    return {each.name for each in dataclasses.fields(value)} if dataclasses.is_dataclass(value) else set()


def public_parts() -> Iterator[tuple[str, object]]:
    for name in sf.__all__:
        value = getattr(sf, name)
        yield name, value
        if inspect.isclass(value) and (issubclass(value, Shown) or value.__name__.endswith("Plots")):
            parts = (part for part in dir(value) if not part.startswith("_") and part not in dir_of_fields(value))
            yield from ((f"{name}.{part}", getattr(value, part)) for part in parts)


def test_every_public_name_says_what_it_is() -> None:
    parts = dict(public_parts())
    assert "Results.to_pandas" in parts
    undescribed = {
        name for name, value in parts.items() if not inspect.getdoc(value) or inspect.getdoc(value) == str.__doc__
    }
    assert undescribed == {"__version__"}


def test_every_name_for_packages_says_what_it_is() -> None:
    undescribed = [
        f"{module}.{name}"
        for module in reference.api_modules()
        for name, about in reference.api_names(module).items()
        if not about
    ]
    assert undescribed == []


def test_what_users_call_says_what_goes_wrong() -> None:
    for verb in (sf.load, sf.run, sf.compare, sf.sweep, sf.tune, sf.read_store, sf.read_run, sf.read_tuning):
        assert "Error" in (verb.__doc__ or "") or "DamagedResult" in (verb.__doc__ or ""), verb.__name__
        assert "Annotated" not in str(inspect.signature(verb)), "help() has plain types"


def test_a_changed_scenario_says_so_and_is_what_a_setting_makes(scenario: sf.Scenario) -> None:
    assert scenario.resolved() == sf.load("l2dct-benchmark", {"load": 0.2, "duration": "300ms"}).resolved()
    assert repr(scenario).startswith("<Scenario l2dct-benchmark, load=0.2, duration=300ms: L2DCT benchmark")
    assert repr(scenario.with_(load=0.3)).startswith("<Scenario l2dct-benchmark, load=0.3, duration=300ms: ")
    deeper = scenario.with_(**{"switch.mark_above": "30pkt"})
    assert {"key": "switch.mark_above", "value": "30pkt", "source": "--set"} in deeper.resolved()
    assert sf.load(deeper) is deeper


def test_flows_are_those_that_count_with_the_time_of_those_that_did_not_finish(scenario: sf.Scenario) -> None:
    cut = scenario.with_(drain="1ms")
    found = sf.compare(cut, "tcp", seeds=2, ideal=False)
    assert found.flows["censored"].any()
    assert "fct_s" not in found.flows.columns
    short = found.flows.filter(pl.col("class") == "short")
    (one,) = (run for run in found.runs if run.seed == 1)
    mean = short.filter(pl.col("seed") == 1)["elapsed_s"].mean()
    assert mean == pytest.approx(one.metrics[AFCT])
    assert short["start_s"].min() >= 0.2  # type: ignore[operator]  # the warm-up


def test_every_object_is_a_table_and_shows_itself(comparison: sf.Results, tmp_path: Path) -> None:
    run = comparison.results[0]
    swept = sf.sweep("l2dct-benchmark", "dctcp", {"load": [0.2, 0.4]}, seeds=1, settings={"duration": "300ms"})
    stored = sf.read_store(comparison.save(tmp_path / "store"))
    for each in (run, comparison, swept, stored):
        assert "<table" in (page := each._repr_html_())
        assert "<script" not in page
        assert re.search(r"^\| .* \|\n\| --- .*--: .*\|\n\| .* \|$", each.to_markdown(), re.MULTILINE)
        assert len(repr(each)) < 200
        assert each.to_frame().height == each.to_pandas().shape[0]
    assert "<svg" in comparison._repr_html_()
    theirs, ours = (each.to_frame().drop("finished_at").sort("run") for each in (stored, comparison))
    assert theirs.equals(ours.select(theirs.columns))
    assert set(ours["load"]) == {0.2}, "a setting of all runs has a column"


def test_the_plots_are_those_of_the_report(comparison: sf.Results) -> None:
    (of_report,) = page_table(Contents(studies(comparison.results)))["studies"]
    theirs = {plot["name"]: plot["spec"] for plot in of_report["plots"]}
    plot = comparison.plot
    for make in (plot.ranked, plot.by_size, plot.trade_off, plot.fct_cdf, plot.queue):
        chart = make()
        check(chart)
        assert finite_only(chart.spec) == theirs[chart.name]
    with pytest.raises(sf.ConfigError, match="no setting varies"):
        plot.headlines()
    assert "<svg" in plot.sketch()


def test_the_time_line_of_a_burst_is_the_same_kept_or_in_memory(tmp_path: Path) -> None:
    settings: Settings = {"servers": 10, "duration": "60ms", "warmup": "0s", "traffic.1.repeat": 1}
    kept = sf.compare("incast", "tcp,dctcp", seeds=2, settings=settings, out=tmp_path, jobs=2)
    assert len(list(tmp_path.rglob("burst.parquet"))) == 2, "of the first seed"
    chart = kept.plot.timeline("dctcp")
    check(chart)
    shown = {row.get("state") for row in chart.rows} | {row.get("event") for row in chart.rows}
    assert {"on its way", "in the queue", "sends", "is marked"} <= shown
    assert kept.plot.timeline() == kept.plot.timeline("tcp") != kept.plot.timeline("dctcp")
    held = sf.compare("incast", "tcp,dctcp", seeds=2, settings=settings, jobs=1)
    assert held.plot.timeline("dctcp") == kept.plot.timeline("dctcp")
    assert sf.run("incast", "dctcp", settings=settings).plot.timeline() == kept.plot.timeline("dctcp")
    with pytest.raises(sf.ConfigError, match='"l2dct": unknown scheme of these runs'):
        kept.plot.timeline("l2dct")
    with pytest.raises(sf.ConfigError, match="no 8 flows to one host"):
        sf.run("incast", "dctcp", settings={**settings, "servers": 7}).plot.timeline()


def test_a_sweep_has_a_comparison_at_each_point(tmp_path: Path) -> None:
    settings: Settings = {"duration": "300ms", "transport.g": 0.1}
    grid = {"load": [0.2, 0.4]}
    swept = sf.sweep("l2dct-benchmark", ["dctcp", "l2dct"], grid, seeds=1, settings=settings, tables=True)
    assert [dict(point.at) for point in swept.points] == [{"load": "0.2"}, {"load": "0.4"}]
    assert swept.settings == {"duration": "300ms", "transport.g": "0.1"}
    alone = sf.compare("l2dct-benchmark", "dctcp,l2dct", 1, settings={**settings, "load": 0.4}, ideal=False)
    there = swept.points[1]
    assert there.runs_digest == alone.runs_digest
    assert swept.document()["points"][1]["paired"] == alone.document()["paired"]
    assert isinstance(there, sf.Results)
    assert there.flows.height == alone.flows.height < swept.flows.height
    assert swept.plot.metric(AFCT).heading.endswith("over load")
    check(swept.plot.headlines())
    assert sf.read_store(swept.save(tmp_path / "kept")).flows.height == swept.flows.height


def test_a_sweep_without_tables_has_comparisons_when_it_is_read_again(small: Tables, tmp_path: Path) -> None:
    grid = {"load": [0.2, 0.4], "transport.g": [0.1, 0.9]}
    swept = sf.sweep(sf.load(small), "tcp,dctcp", grid, seeds=2, out=tmp_path)
    *_, high = points = sf.read_store(tmp_path).comparisons()
    assert [point.settings for point in points] == [point.at for point in swept.points]
    assert high.schemes == ["tcp", "dctcp"]
    last = swept.points[-1]
    assert high.difference("dctcp", "tcp", AFCT) == last.difference("dctcp", "tcp", AFCT)


def test_a_run_on_several_cores_is_the_same_and_says_how_many(scenario: sf.Scenario, monkeypatch: Patch) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1})
    racks = sf.load("fat-tree-websearch").with_(duration="12ms", drain="10ms")
    alone, two, four = (sf.run(racks, cores=cores) for cores in (1, 2, 4))
    assert len({run.provenance["digest"] for run in (alone, two, four)}) == 1
    assert two.flows.equals(alone.flows)
    took = [(run.provenance.get("cores"), run.provenance.get("fewer_cores")) for run in (alone, two, four)]
    assert took == [(1, None), (2, None), (2, "this process may use 2 processors")]
    star = sf.run(scenario, cores=2).provenance
    assert (star.get("cores"), star.get("fewer_cores")) == (1, "all hosts are at one switch")
    near = sf.run("cdf-example", settings={"duration": "12ms", "warmup": "1ms"}, cores=2).provenance
    assert near.get("cores") == 1
    assert near.get("fewer_cores") == (
        "2 parts would synchronise every 25us, in which links carry at most 75 packets; each part needs 100"
    )


def test_a_store_with_several_scenarios_is_asked_by_name(small: Tables, tmp_path: Path) -> None:
    sf.compare(sf.load(small), "dctcp", 1, ideal=False, out=tmp_path)
    sf.compare("two-long-flows", "dctcp", 1, ideal=False, out=tmp_path, settings={"duration": "20ms", "warmup": "1ms"})
    stored = sf.read_store(tmp_path)
    assert set(stored.scenarios) == {"scenario", "two-long-flows"}
    (one,) = stored.comparisons("scenario")
    assert one.estimate("dctcp", AFCT)
    with pytest.raises(sf.ConfigError, match=r"several scenarios.*name one of"):
        stored.plot.fct_cdf()
    with pytest.raises(sf.ConfigError, match='did you mean "two-long-flows"'):
        stored.comparisons("two-long-flow")
    with pytest.raises(sf.ConfigError, match='did you mean "scenario"'):
        one.comparisons("scenarios")


def test_tuning_takes_texts_and_goes_on(small: Tables, tmp_path: Path) -> None:
    def tuned(trials: int) -> sf.Tuning:
        quick: dict[str, Any] = {"trials": trials, "seeds": 1, "check_on": "none", "check_seeds": 2}
        ranges = {"transport.w_max": (1, 4)}
        return sf.tune(sf.load(small), "l2dct", ranges, minimize=AFCT, out=tmp_path / "tuned", **quick)

    first = tuned(8)
    assert first.to_frame().columns == ["trial", "transport.w_max", AFCT, "unfinished_share", "given_up", "feasible"]
    assert tuned(16).to_frame().head(8).equals(first.to_frame())
    again = sf.read_tuning(tmp_path / "tuned")
    assert again.chosen
    assert "<table" in again._repr_html_()
    assert len(again.plot.all()) >= 2


class Cluster:
    """Common attributes of Dask's clusters."""

    scheduler_address = "tcp://10.0.0.7:8786"

    def __repr__(self) -> str:
        return "a cluster"


API: Any = sf
"""Without types, as a script may call it."""
LOADS = {"load": [0.2]}
WRONG: dict[str, Callable[[sf.Scenario, sf.Results], object]] = {
    'lod: unknown parameter; did you mean "load"?': lambda given, _: given.with_(lod=0.2),
    "transport.g: is a key of schemes, not of the scenario; set it with the scheme, as in dctcp+g=0.1": (
        lambda given, _: given.with_(**{"transport.g": 0.1})
    ),
    '"l2dct-bechmark": unknown scenario; did you mean "l2dct-benchmark"?': lambda *_: sf.run("l2dct-bechmark"),
    '"dctpc": unknown scheme; did you mean "dctcp"?': lambda given, _: sf.compare(given, "tcp,dctpc"),
    'schemes.L2dct.w_mx: unknown key; did you mean "w_max"?': lambda *_: API.schemes.L2dct(w_mx=1),
    "transport.w_max: 1000 is not a number from 0.01 to 100": lambda *_: sf.schemes.L2dct(w_max=1000),
    '"dctpc": unknown scheme of this comparison; did you mean "dctcp"?': lambda _, found: found.estimate("dctpc", AFCT),
    '"afct_shrt_s": unknown metric; did you mean "afct_short_s"?': (
        lambda _, found: found.difference("dctcp", "tcp", "afct_shrt_s")
    ),
    '"shrt": unknown class of such flows; did you mean "short"?': lambda _, found: found.plot.fct_cdf("shrt"),
    "seeds: 0 is neither a number from 1 on nor a list of whole numbers": (
        lambda given, _: sf.compare(given, "tcp", seeds=0)
    ),
    "seeds: '1' is neither": lambda given, _: API.compare(given, "dctcp", seeds="1"),
    "seeds: [1, 1] names a seed twice": lambda given, _: sf.compare(given, "dctcp", seeds=[1, 1]),
    "seeds: 0 is not a whole number from 1 on": lambda given, _: sf.sweep(given, "tcp", LOADS, 0),
    "seeds: [7, 8] is not a whole number": lambda given, _: API.sweep(given, "dctcp", LOADS, [7, 8]),
    "cores: 0 is not a whole number from 1 on": lambda given, _: sf.run(given, cores=0),
    "--grid: at lod=0.2: lod: unknown parameter": lambda given, _: sf.sweep(given, "tcp", {"lod": [0.2, 0.3]}),
    'transport.w_mx: no parameter of l2dct; did you mean "transport.w_max"?': (
        lambda given, _: sf.tune(given, "l2dct", ["transport.w_mx=1:4"], minimize=AFCT, out="nowhere")
    ),
    "scheme: 3 is not of the kind str or type": lambda given, _: API.run(given, 3),
    "schemes: 5 is not of the kind str or type or Sequence": lambda given, _: API.compare(given, 5),
    "schemes: 7 is no name, nor a subclass of": lambda given, _: API.compare(given, ["tcp", 7]),
    f"schemes: {Cluster} is no name, nor a subclass of": lambda given, _: API.run(given, Cluster),
    "pcap: 's0->h3' is not of the kind": lambda given, _: API.run(given, pcap="s0->h3"),
    "grid: 'load=0.2' is not of the kind Grid or Mapping or Sequence; give a list": (
        lambda given, _: sf.sweep(given, "tcp", "load=0.2")
    ),
    "grid: 5 is not of the kind Grid or Mapping or Sequence": lambda given, _: API.sweep(given, "tcp", 5),
    "out: 7 is not of the kind str or Path": lambda given, _: API.compare(given, "tcp", out=7),
    "jobs: '2' is not a whole number from 1 on": lambda given, _: API.compare(given, "dctcp", jobs="2"),
    "jobs: 2.5 is not a whole number from 1 on": lambda given, _: API.compare(given, "dctcp", jobs=2.5),
    "jobs: 0 is not a whole number from 1 on": lambda given, _: sf.compare(given, "dctcp", jobs=0),
    "jobs: a cluster is not a whole number from 1 on; for a Dask cluster pass shortflow.Dask('tcp://10.0.0.7:8786')": (
        lambda given, _: API.sweep(given, "dctcp", LOADS, jobs=Cluster())
    ),
}


@pytest.mark.parametrize("said", WRONG)
def test_wrong_input_is_one_error_with_the_nearest_name(
    said: str, scenario: sf.Scenario, comparison: sf.Results
) -> None:
    with pytest.raises(sf.ConfigError) as error:
        WRONG[said](scenario, comparison)
    assert str(error.value).startswith(said)
    assert traceback.format_exception_only(error.value)[0].startswith("shortflow.ConfigError: ")
    frames = [Path(frame.filename).name for frame in traceback.extract_tb(error.value.__traceback__)]
    assert len([frame for frame in frames if frame != "test_api.py"]) <= 1, "no wall of frames"
    assert error.value.__suppress_context__ or error.value.__context__ is None


def test_a_misspelt_name_of_the_package_is_answered_with_the_nearest() -> None:
    with pytest.raises(AttributeError, match='did you mean "compare"'):
        _ = sf.copmare  # type: ignore[attr-defined]
    names = {*sf.__all__} - {"__version__"}
    assert {getattr(sf, name).__name__ for name in names} == names


def test_without_pandas_the_remedy_is_named(comparison: sf.Results, monkeypatch: Patch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(sf.MissingRequirement, match=r"pip install 'shortflow\[pandas\]'"):
        comparison.to_pandas()


def test_progress_is_told_to_whoever_asks(small: Tables) -> None:
    told: list[tuple[int, int]] = []
    sf.compare(sf.load(small), "tcp", 3, ideal=False, progress=lambda *how_far: told.append((how_far[1], how_far[2])))
    assert told[-1] == (3, 3)


def test_a_notebook_has_a_bar_that_goes_away(small: Tables, monkeypatch: Patch) -> None:
    shown: list[dict[str, str]] = []

    class Handle:
        def update(self, data: dict[str, str], **_: object) -> None:
            shown.append(data)

    def display(data: dict[str, str], **_: object) -> Any:
        shown.append(data)
        return Handle()

    ipython = SimpleNamespace(get_ipython=lambda: SimpleNamespace(kernel=True))
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", SimpleNamespace(display=display))
    sf.compare(sf.load({**small, "title": "<b>"}), "tcp", 2, ideal=False)
    assert any('<progress max="1" value="1.0000"' in each.get("text/html", "") for each in shown)
    assert shown[-1]["text/html"] == ""


def test_results_answer_by_the_choices_of_their_call() -> None:
    short = sf.load("l2dct-benchmark").with_(warmup="5ms", duration="40ms")
    chosen: Any = {"seeds": 2, "baseline": "dctcp", "metrics": "p99_short_s", "ties": "1%,2%"}
    done = [sf.compare(short, "tcp,dctcp", **chosen, ideal=False)]
    done += [sf.sweep(short, "tcp,dctcp", {"load": [0.2, 0.5]}, **chosen)]
    for runs in done:
        found = runs.answer()
        assert found["baseline"] == "dctcp"
        assert {line["metric"] for line in found["lines"]} == {"p99_short_s"}
        assert found["words"][0].removesuffix(".") in " ".join(runs.to_markdown().split())
        assert runs.answer(baseline="tcp")["baseline"] == "tcp"
