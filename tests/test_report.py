"""The report is one page that needs nothing else and tells where its numbers came from."""

import json
import re
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from browser import Browser
from conftest import Command
from made import make_result, with_tables
from shortflow import _core
from shortflow.api.report import report_numbers, write_report
from shortflow.commands.report import report
from shortflow.errors import ConfigError, DamagedResult
from shortflow.report.drawing import draw
from shortflow.report.figures import plots
from shortflow.report.looks import look_of
from shortflow.report.page import document, render
from shortflow.report.plot import Plot, Series
from shortflow.report.study import studies
from shortflow.result import Result
from shortflow.store.directories import write_run

if TYPE_CHECKING:
    from playwright.sync_api import Page

ROOT = Path(__file__).parents[1]

RESULTS = [
    make_result(scheme, seed, load)
    for load in ("0.8", "0.2", "0.4")
    for scheme in ("l2dct", "tcp", "dctcp")
    for seed in (2, 1)
]


def page_of(results: list[Result], directory: Path) -> str:
    for number, result in enumerate(results):
        write_run(result, directory / "runs" / str(number))
    page = directory / "report.html"
    assert write_report(directory, page) == len(results)
    return page.read_text(encoding="utf-8")


class Parts(HTMLParser):
    """The elements of a page, its attributes that are code, and its plots."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: Counter[str] = Counter()
        self.code: list[tuple[str, str | None]] = []
        self.figures: list[Any] = []
        self.in_figure = False
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements[tag] += 1
        self.code += [
            (name, value)
            for name, value in attrs
            if name.startswith("on") or (name in ("href", "src", "action", "style") and "javascript:" in (value or ""))
        ]
        self.in_figure = ("type", "application/json") in attrs

    def handle_data(self, data: str) -> None:
        if self.in_figure:
            self.figures.append(json.loads(data))
            self.in_figure = False


def texts(value: Any) -> list[str]:
    """All texts in a figure."""
    if isinstance(value, dict | list):
        return [text for each in (value.values() if isinstance(value, dict) else value) for text in texts(each)]
    return [value] if isinstance(value, str) else []


def without_plotly(page: str) -> str:
    """The page less the plotting library, which may mention addresses that it does not load."""
    return re.sub(r"<script nonce=[^>]*>/\*\*.*?</script>", "", page, flags=re.DOTALL)


def plot_of(results: list[Result], heading: str) -> Plot:
    (study,) = studies(results)
    (plot,) = (plot for plot in plots(study) if plot.heading.startswith(heading))
    return plot


def series_of(plot: Plot, scheme: str, at: str | None = None, panel: int = 0) -> Series:
    (found,) = (each for each in plot.panels[panel].series if (each.scheme, each.at) == (scheme, at))
    return found


def test_points_are_the_values_of_the_parameter_in_order() -> None:
    (study,) = studies(RESULTS)
    assert study.x_name == "load"
    assert study.axis == ({"0.2": 0.2, "0.4": 0.4, "0.8": 0.8}, "")
    assert study.schemes == ["tcp", "dctcp", "l2dct"]
    assert study.points[0].seeds == [1, 2]


@pytest.mark.parametrize(
    ("values", "unit", "places"),
    [
        (["100KB", "30KB", "300KB"], "KB", [30, 100, 300]),
        (["1ms", "900us", "20ms"], "ms", [0.9, 1, 20]),
        (["1Gbps", "100Mbps", "10Gbps"], "Mbps", [100, 1000, 10_000]),
        (["100pkt", "20pkt"], "pkt", [20, 100]),
        (["10", "9", "1e-05"], "", [1e-05, 9, 10]),
    ],
)
def test_settings_that_are_numbers_stand_as_numbers_of_one_unit(
    values: list[str], unit: str, places: list[float]
) -> None:
    (study,) = studies([make_result(load=value) for value in values])
    assert study.axis
    assert (study.axis[1], [*study.axis[0].values()]) == (unit, places)
    axis = plot_of([make_result(load=value) for value in values], "Completion").panels[0].x
    assert (axis.label, axis.unit) == ("load", unit)


@pytest.mark.parametrize("values", [["100pkt", "30KB"], ["auto", "1ms"], ["1s", "1"]])
def test_words_and_unlike_quantities_are_no_axis(values: list[str]) -> None:
    (study,) = studies([make_result(load=value) for value in values])
    assert not study.axis
    axis = plot_of([make_result(load=value) for value in values], "Completion").panels[0].x
    assert (axis.scale, list(axis.categories)) == ("category", [point.label for point in study.points])
    (alone,) = studies([make_result()])
    assert alone.x_name is None


def test_where_two_settings_vary_each_sorts_as_a_number() -> None:
    results = []
    for size, servers in (("30KB", "10"), ("30KB", "9"), ("4KB", "10")):
        result = make_result(load=size)
        result.provenance["scenario_settings"].append(
            {"key": "parameters.servers", "value": servers, "source": "--set"}
        )
        results.append(result)
    (study,) = studies(results)
    assert [point.label for point in study.points] == ["4KB, 10", "30KB, 9", "30KB, 10"]


def test_the_page_holds_plots_tables_choices_and_provenance(tmp_path: Path) -> None:
    page = page_of(RESULTS, tmp_path)
    rest = without_plotly(page)
    assert len(page) - len(rest) > 1_000_000
    assert len(Parts(page).figures) == 8, "a figure for each panel of five plots"
    assert rest.count("Plotly.react") == 1
    for text in (
        "Completion time of short flows versus load",
        "Distribution of the completion time",
        "Slowdown of short flows by size",
        "Throughput of long flows versus load",
        "Queue of port s0-&gt;h1",
        "the measured one, sampled",
        "completion time (ms)",
        "goodput (Mbps)",
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


def test_names_in_a_foreign_result_are_text_and_nothing_else(tmp_path: Path) -> None:
    evil = "</script><script>alert(1)</script>\"'><img src=x onerror=alert(2)><a href='javascript:alert(3)'>&lt;b&gt;"

    def spoilt(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: spoilt(each) for key, each in value.items()}
        if isinstance(value, list):
            return [spoilt(each) for each in value]
        return value + evil if isinstance(value, str) and not value.startswith("2020-") else value

    def foreign(result: Result) -> Result:
        columns = [pl.format("{}" + evil.replace("{", ""), pl.col("class")).alias("class")]
        ports, samples = (
            ["s0->h1" + evil, "s0->h0"],
            result.samples.with_columns(pl.lit("s0->h1" + evil).alias("subject")),
        )
        changed: Any = {
            "flows": result.flows.with_columns(columns),
            "ports": result.ports.with_columns(pl.Series("port", ports)),
            "samples": samples,
        }
        meta: Any = {**result.meta, "measured_ports": [ports[0]]}
        changed = {**result.tables, **changed}
        return Result.of(spoilt(dict(result.provenance)), changed, meta)

    usual = [make_result("dctcp", 1, load) for load in ("0.2", "0.4")]
    harmless = Parts(page_of(usual, tmp_path / "usual"))
    found = Parts(page_of([foreign(result) for result in usual], tmp_path / "foreign"))
    assert found.elements == harmless.elements
    assert not found.code
    assert len(found.figures) == len(harmless.figures) == 8
    shown = [text for figure in found.figures for text in texts(figure)]
    assert any("&lt;script&gt;alert(1)" in text for text in shown)
    assert not [text for text in shown if "<" in text]  # plotly takes tags in text for markup
    assert any("&amp;lt;b&amp;gt;" in text for text in shown)  # and entities


def test_a_browser_is_told_to_run_no_script_but_ours(tmp_path: Path) -> None:
    rest = without_plotly(page_of([make_result()], tmp_path))
    (nonce,) = re.findall(r"script-src 'nonce-([^']+)'", rest)
    assert len(nonce) > 20
    assert "default-src 'none'" in rest
    executed = re.findall(r"<script(?! type=\"application/json\")[^>]*>", rest)
    assert executed == [f'<script nonce="{nonce}">']


def test_runs_that_newer_ones_supersede_are_named() -> None:
    old, newer = make_result("dctcp<", 7), make_result("dctcp", 7)
    older = old.provenance
    assert "superseded" not in render(studies([newer]))
    page = render(studies([newer], [old]))
    assert "Superseded by newer runs with the same settings, and left out: 1" in page
    assert f"<li>dctcp&lt;, seed 7, {older['finished_at']}: {older['digest'][:16].replace('<', '&lt;')}</li>" in page
    (named,) = document(studies([newer], [old]))["studies"][0]["superseded"]
    assert named.items() < older.items()
    assert list(named) == ["scheme", "seed", "digest", "finished_at"]


def test_a_directory_without_results_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="holds no results"):
        write_report(tmp_path, tmp_path / "report.html")
    assert list(tmp_path.iterdir()) == []


def test_a_look_belongs_to_the_scheme_and_not_to_its_neighbours() -> None:
    names = [entry["name"] for kind in ("schemes", "ideal") for entry in _core.registry()[kind]]
    assert len({look_of(name) for name in names}) == len(names)
    (together,), (alone,) = studies(RESULTS), studies([make_result("l2dct", 1), make_result("dctcp", 1)])
    lines = [
        {trace["name"]: trace["line"] for plot in plots(study) for trace in draw(plot)["data"] if "line" in trace}
        for study in (together, alone)
    ]
    assert lines[0]["l2dct"]["color"] == lines[1]["l2dct"]["color"] == look_of("l2dct").colour
    assert look_of("mine.py:Mine") == look_of("mine.py:Mine")


def test_the_axis_of_the_throughput_is_linear_with_ticks_of_its_own() -> None:
    for results in (RESULTS, [make_result("tcp"), make_result("dctcp")]):
        figure = draw(plot_of(results, "Throughput"))
        assert figure["layout"]["yaxis"]["type"] == "linear"
        assert figure["layout"]["yaxis"]["tickvals"] is None


def test_flows_of_one_size_are_one_mark() -> None:
    result = make_result(fct_s=[1e-3] * 40)
    sizes = pl.when(pl.col("id") < 38).then(2000).otherwise(7000 + pl.col("id")).cast(pl.UInt64)
    flows = result.flows.with_columns(pl.when(pl.col("class") == "short").then(sizes).alias("size_bytes"))
    plot = plot_of([with_tables(result, flows=flows)], "Slowdown")
    assert list(plot.panels[0].series[0].x) == [2.0, 7.0385]


def test_without_samples_the_page_says_why_there_is_no_queue_over_time(tmp_path: Path) -> None:
    result = make_result()
    assert "took no samples" not in page_of([result], tmp_path / "with")
    page = page_of([with_tables(result, samples=result.samples.clear())], tmp_path / "without")
    assert "these runs took no samples" in page
    assert "<h3>Queue length</h3>" not in page


def test_a_page_about_some_runs_does_not_read_the_others(tmp_path: Path) -> None:
    write_run(RESULTS[0], tmp_path / "runs" / "mine")
    (tmp_path / "runs" / "old").mkdir()
    (tmp_path / "runs" / "old" / "result.json").write_text("{}", encoding="utf-8")
    page = tmp_path / "report.html"
    assert write_report(tmp_path, page, [RESULTS[0].key]) == 1
    with pytest.raises(DamagedResult, match="old"):
        write_report(tmp_path, page)


def test_a_figure_shows_the_numbers_of_its_plot() -> None:
    (study,) = studies(RESULTS)
    for plot in plots(study):
        series = [each for panel in plot.panels for each in panel.series]
        traces = draw(plot)["data"]
        assert [(trace["name"], list(trace["x"]), list(trace["y"])) for trace in traces] == [
            (each.scheme, list(each.x), list(each.y)) for each in series
        ]
        for trace, each in zip(traces, series, strict=True):
            assert trace["visible"] is (each.at in (None, plot.shown))
            if each.ci95:
                ends = zip(trace["error_y"]["arrayminus"], each.y, trace["error_y"]["array"], strict=True)
                assert [(y - below, y + above) for below, y, above in ends] == [pytest.approx(ci) for ci in each.ci95]


def test_plots_and_tables_have_the_same_numbers() -> None:
    times = {1: [1e-5 * i for i in range(1, 1001)], 2: [5e-6 * i for i in range(1, 1001)]}
    results = [make_result("dctcp", seed, fct_s=fct) for seed, fct in times.items()]
    table = document(studies(results))["studies"][0]["points"][0]["comparison"]["schemes"]["dctcp"]["metrics"]
    mean, p99 = (series_of(plot_of(results, "Completion time"), "dctcp", panel=panel) for panel in (0, 1))
    for series, name in ((mean, "afct_short_s"), (p99, "p99_short_s")):
        assert [series.y[0] * 1e-3, series.seeds] == [pytest.approx(table[name]["mean"]), [2]]
        assert series.ci95 is not None
        assert [end * 1e-3 for end in series.ci95[0] or ()] == pytest.approx(table[name]["ci95"])
    goodput = plot_of(results, "Throughput")
    assert goodput.panels[0].y.unit == "Mbps"
    assert series_of(goodput, "dctcp").y[0] * 1e6 == table["goodput_long_bps"]["mean"]
    curve = series_of(plot_of(results[:1], "Distribution"), "dctcp", "")
    alone = results[0].metrics
    for percent in (1, 5, 50, 95, 99):
        read = next(x for x, y in zip(curve.x, curve.y, strict=True) if y >= percent / 100)
        assert read == pytest.approx(alone[f"p{percent}_short_s"] * 1e3)
    pooled = series_of(plot_of(results, "Distribution"), "dctcp", "")
    read = next(x for x, y in zip(pooled.x, pooled.y, strict=True) if y >= 0.5)
    assert read == pytest.approx(sorted([*times[1], *times[2]])[999] * 1e3)


def stalled(result: Result, ids: list[int]) -> Result:
    """The result if these flows, which start at 1.5 s, had not finished by its end at 4 s; ideal ones take 0.5 ms."""
    stops = pl.col("id").is_in(ids)
    gone = [pl.when(~stops).then(pl.col(name)).alias(name) for name in ("fct_s", "slowdown")]
    ideal = pl.when(pl.col("size_bytes").is_not_null()).then(5e-4).alias("ideal_fct_s")
    result.meta["unfinished"] = len(ids)
    return with_tables(result, flows=result.flows.with_columns(*gone, ideal))


def test_a_distribution_ends_at_the_share_of_flows_that_finished() -> None:
    result = stalled(make_result(fct_s=[1e-3, 2e-3, 3e-3, 4e-3]), [1])
    plot = plot_of([result], "Distribution")
    curve = series_of(plot, "dctcp", "")
    assert (list(curve.x), list(curve.y)) == ([1.0, 3.0, 4.0], [0.25, 0.5, 0.75])
    assert (curve.unfinished_share, any(curve.lower_bound)) == (0.25, False)
    assert plot.caption.endswith("Not finished: dctcp: 25 %.")
    assert [trace["name"] for trace in draw(plot)["data"]] == ["dctcp (25 % unfinished)"]


def test_a_distribution_is_a_bound_once_unfinished_flows_were_younger() -> None:
    result = stalled(make_result(fct_s=[1e-3, 2.4, 2.6]), [0])
    plot = plot_of([result], "Distribution")
    assert list(series_of(plot, "dctcp", "").lower_bound) == [False, True]
    assert "In its pale part the true share may be higher" in plot.caption
    exact, bound = draw(plot)["data"]
    assert (list(exact["x"]), exact["opacity"]) == ([2.4], None)
    assert (list(bound["x"]), bound["opacity"]) == ([2.4, 2.6], 0.35)


def test_lower_bounds_are_hollow_and_said(tmp_path: Path) -> None:
    times = [1e-3] * 30
    results = [make_result("tcp", fct_s=times), stalled(make_result("dctcp", fct_s=times), [0])]
    plot = plot_of(results, "Completion")
    mean, p99 = (series_of(plot, "dctcp", panel=panel) for panel in (0, 1))
    assert list(mean.y) == [pytest.approx((29 * 1e-3 + 2.5) / 30 * 1e3)]
    assert (mean.lower_bound, p99.lower_bound, mean.unfinished_share) == ([True], [True], [1 / 30])
    assert "Hollow marks with ≥ are lower bounds" in plot.caption
    assert plot.caption.endswith("Not finished: dctcp: 3.33 %.")
    whole, hollow = draw(plot)["data"][:2]
    assert (whole["text"], hollow["text"]) == (None, ("≥",))
    assert (whole["marker"]["color"], hollow["marker"]["color"]) == ((look_of("tcp").colour,), ("rgba(0,0,0,0)",))
    share = series_of(plot_of(results, "Unfinished flows"), "dctcp")
    assert list(share.y) == [pytest.approx(100 / 30)]
    assert not [plot for plot in plots(studies(results[:1])[0]) if plot.heading.startswith("Unfinished")]
    slowdown = plot_of(results, "Slowdown").panels
    assert [sum(sum(series.lower_bound) for series in panel.series) for panel in slowdown] == [1, 1]
    assert max(y for series in slowdown[1].series for y in series.y) == pytest.approx(2.5 / 5e-4)
    assert page_of(results, tmp_path).count("≥") > 3


def test_marks_with_one_seed_have_no_interval_and_the_caption_says_so() -> None:
    assert plot_of([make_result()], "Completion").caption.endswith("One seed, so no error bars.")
    assert draw(plot_of([make_result()], "Completion"))["data"][0]["error_y"]["array"] is None
    results = [make_result("dctcp", seed, load) for load in ("0.2", "0.4") for seed in (1, 2)][:3]
    plot = plot_of(results, "Completion")
    assert plot.caption.endswith(
        "Error bars: 95 % confidence over 2 seeds, but for dctcp at load 0.4 (1 seed, so no error bar)."
    )
    series = series_of(plot, "dctcp")
    assert (series.seeds, series.ci95 and series.ci95[1]) == ([2, 1], None)
    assert draw(plot)["data"][0]["error_y"]["array"][1] == "none"  # null would be a bar of length zero


def test_what_is_pooled_is_said_for_each_scheme() -> None:
    results = [make_result(scheme, seed) for scheme, seed in (("tcp", 1), ("dctcp", 1), ("dctcp", 2))]
    assert "(seeds 1 and 2, but for tcp seed 1 alone)" in plot_of(results, "Distribution").caption


def test_no_error_bar_of_a_time_reaches_zero() -> None:
    results = [make_result("dctcp", seed, fct_s=fct) for seed, fct in ((1, [1e-3]), (2, [30e-3]))]
    series = series_of(plot_of(results, "Completion"), "dctcp")
    assert series.ci95 is not None
    (low, _) = series.ci95[0] or (0.0, 0.0)
    assert 0 < low < series.y[0]


def test_wide_intervals_do_not_hide_the_values() -> None:
    wild = [make_result("dctcp", seed, fct_s=[fct]) for seed, fct in ((1, 1e-3), (2, 30e-3))]
    plot = plot_of(wild, "Completion")
    assert plot.panels[0].y.window == pytest.approx((0.0, 46.5))
    assert plot.caption.endswith(
        "Error bars: 95 % confidence over 2 seeds. Those that leave the plot go on: few seeds tell little."
    )
    assert list(draw(plot)["layout"]["yaxis"]["range"]) == [0.0, pytest.approx(46.5)]
    assert (series_of(plot, "dctcp").ci95 or [None])[0] is not None
    sweep = [*wild, make_result("dctcp", 1, "0.4", [1.0]), make_result("dctcp", 2, "0.4", [1.0])]
    log = plot_of(sweep, "Completion").panels[0].y
    assert log.scale == "log"
    assert log.window == pytest.approx((1.55, 1e4))
    assert plot_of(RESULTS, "Completion").panels[0].y.window is None


def test_the_numbers_are_one_document_and_documented(tmp_path: Path) -> None:
    page_of(RESULTS[:4], tmp_path)
    (tmp_path / "report.html").unlink()
    printed = report(tmp_path, json=True).document()
    assert printed == report_numbers(tmp_path)
    assert not (tmp_path / "report.html").exists()
    (study,) = printed["studies"]
    plot = study["plots"][0]
    names = {name for part in (study, plot, plot["panels"][0], plot["panels"][0]["x"]) for name in part}
    names |= set(plot["panels"][0]["series"][0]) | set(study["points"][0])
    text = (ROOT / "docs" / "results.md").read_text(encoding="utf-8").split("## `report --json`")[1].split("\n## ")[0]
    assert not [name for name in names if f"`{name}`" not in text]
    with pytest.raises(ConfigError, match="--json: prints numbers instead of a page"):
        report(tmp_path, out=tmp_path / "page.html", json=True)


def test_numbers_that_are_none_become_null() -> None:
    result = make_result(fct_s=[1e-3, float("nan")])
    printed = document(studies([result]))
    assert "NaN" not in json.dumps(printed, allow_nan=False)


@pytest.mark.parametrize(("width", "dark"), [(320, False), (1280, True), (2560, False)])
def test_a_browser_finds_no_fault_with_the_page(browser: Browser, tmp_path: Path, width: int, dark: bool) -> None:
    page_of([*RESULTS, make_result("ideal-srpt", 1, "0.2")], tmp_path)
    drawn = []

    def read(page: "Page") -> None:
        drawn.append(page.locator(".plot .main-svg").count())
        page.locator("details").evaluate_all("all => all.forEach(each => each.open = true)")

    assert browser.see(tmp_path / "report.html", width=width, dark=dark, then=read).faults == []
    assert drawn[0] >= 8


def test_the_legend_hides_and_the_menu_chooses(browser: Browser, tmp_path: Path) -> None:
    page_of(RESULTS, tmp_path)
    seen: list[int | str | None] = []

    def use(page: "Page") -> None:
        figure = page.locator("figure", has_text="Distribution of the completion time")
        lines = figure.locator(".scatterlayer .trace path.js-line")
        seen.append(lines.count())
        figure.get_by_role("button", name="l2dct").click()
        seen.append(lines.count())
        figure.locator("select").select_option("load 0.8")
        seen.append(lines.count())
        seen.append(figure.get_by_role("button", name="l2dct").get_attribute("aria-pressed"))

    assert browser.see(tmp_path / "report.html", then=use).faults == []
    assert seen == [3, 2, 2, "false"]


def test_on_paper_plots_are_light_and_fit(browser: Browser, tmp_path: Path) -> None:
    page_of(RESULTS, tmp_path)
    seen = []

    def use(page: "Page") -> None:
        colour = "getComputedStyle(document.querySelector('.plot text')).fill"
        widths = "[...document.querySelectorAll('.plot svg')].map(each => each.clientWidth)"
        seen.append(page.evaluate(colour))
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        seen.append(page.evaluate(colour))
        assert max(page.evaluate(widths)) <= 640
        page.evaluate("dispatchEvent(new Event('afterprint'))")
        seen.append(page.evaluate(colour))

    browser.see(tmp_path / "report.html", dark=True, then=use)
    assert seen == ["rgb(230, 232, 235)", "rgb(31, 41, 55)", "rgb(230, 232, 235)"]


def test_error_bars_stand_out_from_their_bars(browser: Browser, tmp_path: Path) -> None:
    page_of([make_result(scheme, seed) for scheme in ("tcp", "dctcp") for seed in (1, 2)], tmp_path)
    colours: set[str] = set()

    def use(page: "Page") -> None:
        read = "all => all.map(each => getComputedStyle(each).stroke)"
        colours.update(page.locator(".barlayer .errorbar path").evaluate_all(read))

    browser.see(tmp_path / "report.html", dark=True, then=use)
    assert colours == {"rgb(230, 232, 235)"}


def test_plots_follow_a_window_that_shrinks(browser: Browser, tmp_path: Path) -> None:
    page_of(RESULTS, tmp_path)

    def use(page: "Page") -> None:
        page.set_viewport_size({"width": 320, "height": 900})
        page.wait_for_timeout(1000)
        widths = page.evaluate("[...document.querySelectorAll('.plot svg')].map(each => each.clientWidth)")
        assert max(widths) <= 320

    assert browser.see(tmp_path / "report.html", width=700, then=use).faults == []


def test_an_ideal_scheduler_is_a_grey_line_beside_schemes_and_like_one_alone() -> None:
    beside = [make_result("dctcp"), make_result("ideal-srpt", fct_s=(5e-4, 1e-3))]
    (plot,) = (plot for plot in plots(*studies(beside)) if plot.heading.startswith("Completion time"))
    figure = draw(plot)
    assert [trace["name"] for trace in figure["data"] if trace["xaxis"] == "x"] == ["dctcp"]
    level = figure["layout"]["shapes"][0]
    assert (level["name"], level["y0"], level["line"]["width"]) == ("ideal-srpt", 0.75, 1.3)
    curve = series_of(plot_of(beside, "Distribution"), "ideal-srpt", "")
    assert list(curve.x) == [0.5, 1.0]
    alone = draw(plot_of([make_result("ideal-srpt")], "Completion time"))
    assert [(trace["type"], trace["name"]) for trace in alone["data"]] == [("bar", "ideal-srpt")] * 2


def test_flows_of_one_size_have_no_plot_by_size() -> None:
    result = make_result(fct_s=[1e-3] * 40)
    one = pl.when(pl.col("class") == "short").then(pl.lit(2000, pl.UInt64)).alias("size_bytes")
    (study,) = studies([with_tables(result, flows=result.flows.with_columns(one))])
    assert not [plot for plot in plots(study) if "by size" in plot.heading]


def test_a_page_about_one_run_draws_no_lone_bars(tmp_path: Path) -> None:
    rest = without_plotly(page_of([make_result()], tmp_path))
    assert "Distribution of the completion time" in rest
    assert "<h3>Throughput of long flows" not in rest
    assert "1 run of 1 scheme: 3 flows" in rest


def test_schemes_of_one_name_are_told_apart_by_what_they_were_set_to(shortflow: Command, scenario: str) -> None:
    for g in ("0.5", "0.9"):
        arguments = ("--schemes", "dctcp", "--seeds", "1", "--no-ideal", "--set", f"transport.g={g}", "--out", "kept")
        assert shortflow("compare", scenario, *arguments).code == 0
    (study,) = shortflow("report", "kept", "--json").document["studies"]
    assert list(study["points"][0]["comparison"]["schemes"]) == ["dctcp (g = 0.5)", "dctcp (g = 0.9)"]
