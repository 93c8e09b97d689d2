"""The report is one page that needs no other files, and gives the provenance of its numbers."""

import html
import json
import re
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from browser import Browser
from made import make_result, with_tables
from shortflow.commands.report import report, write_report
from shortflow.errors import ConfigError, DamagedResult
from shortflow.report.figures import over_points
from shortflow.report.library import library
from shortflow.report.page import Contents, page_table, write_contents
from shortflow.report.study import studies
from shortflow.result import Result
from shortflow.store.directories import write_run
from shortflow.store.runs import save

if TYPE_CHECKING:
    from playwright.sync_api import Page

ROOT = Path(__file__).parents[1]

RESULTS = [
    make_result(scheme, seed, load)
    for load in ("0.8", "0.2", "0.4")
    for scheme in ("l2dct", "tcp", "dctcp")
    for seed in (2, 1)
]


def without_library(page: str) -> str:
    """The page without the library, which contains addresses that it does not load."""
    return page.replace(library(), "")


def page_of(results: list[Result], directory: Path) -> str:
    for number, result in enumerate(results):
        write_run(result, directory / "runs" / str(number))
    page = directory / "report.html"
    assert write_report(directory, page) == len(results)
    return page.read_text(encoding="utf-8")


class Parts(HTMLParser):
    """Elements of a page, its attributes that are code, and its plots."""

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
    (axis,) = study.dimensions
    assert axis.numbers
    assert (axis.numbers[1], [*axis.numbers[0].values()]) == (unit, places)
    x = over_points(study).panels[0]["layer"][0]["encoding"]["x"]
    assert x["title"] == (f"load ({unit})" if unit else "load")


@pytest.mark.parametrize("values", [["100pkt", "30KB"], ["auto", "1ms"], ["1s", "1"]])
def test_words_and_unlike_quantities_are_no_axis(values: list[str]) -> None:
    (study,) = studies([make_result(load=value) for value in values])
    assert not study.dimensions[0].numbers
    x = over_points(study).panels[0]["layer"][0]["encoding"]["x"]
    assert (x["type"], x["sort"]) == ("nominal", [point.label for point in study.points])
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
    rest = without_library(page)
    assert len(Parts(page).figures) == 1 + 5, "the configuration and five charts"
    for text in (
        *("<title>A made-up scenario</title>", "Schemes by mean", "Trade-off", "Headlines over load"),
        *("Completion time of flows up to 100 KB", "Queue of port s0-&gt;h1", "is the measured port. It was sampled"),
        *("completion time (ms)", "p99 slowdown of flows up to 100 KB (x)", "All numbers", "transport.g"),
        *("parameter load", "Provenance: all 18 runs", "l2dct10.2"),
    ):
        assert text in rest, text


def test_the_page_loads_nothing_from_elsewhere(tmp_path: Path) -> None:
    rest = without_library(page_of(RESULTS[:2], tmp_path))
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
    assert len(found.figures) == len(harmless.figures) == 5
    shown = [text for figure in found.figures for text in texts(figure)]
    assert any(evil in text for text in shown)
    assert not [text for text in shown if "datum" in text and "alert" in text], "names are in no expression"


def test_a_browser_is_told_to_run_no_script_but_ours(tmp_path: Path) -> None:
    rest = without_library(page_of([make_result()], tmp_path))
    (nonce,) = re.findall(r"script-src 'nonce-([^']+)'", rest)
    assert len(nonce) > 20
    assert "default-src 'none'" in rest
    executed = re.findall(r"<script(?! type=\"application/json\")[^>]*>", rest)
    assert executed == [f'<script type="module" nonce="{nonce}">'] * 2


def test_runs_that_newer_ones_supersede_are_named(tmp_path: Path) -> None:
    old, newer = make_result("dctcp<", 7), make_result("dctcp", 7)
    older = old.provenance
    file = tmp_path / "page.html"
    write_contents(file, Contents(studies([newer])))
    assert "superseded" not in file.read_text(encoding="utf-8")
    write_contents(file, Contents(studies([newer], [old])))
    page = file.read_text(encoding="utf-8")
    assert "Left out, because newer runs have the same settings: 1 run" in page
    assert f"dctcp&lt;, seed 7, {older['finished_at']}: {older['digest'][:16].replace('<', '&lt;')}<" in page
    (named,) = page_table(Contents(studies([newer], [old])))["studies"][0]["superseded"]
    assert named.items() < older.items()
    assert list(named) == ["scheme", "seed", "digest", "finished_at"]


def test_a_report_in_markdown_has_the_words_tables_and_charts_of_the_page(tmp_path: Path) -> None:
    page, text = page_of(RESULTS, tmp_path), tmp_path / "own.md"
    for _ in range(2):  # the second report replaces the first
        report(tmp_path, out=text)
    found = text.read_text(encoding="utf-8")
    (study,) = report(tmp_path, json=True).document()["studies"]
    assert [words for words in study["answer"]["words"] if f"- {words}\n" not in found] == []
    assert re.findall(r"^## (.+)$", found, re.M) == [study["title"]]
    charts = re.findall(r"^!\[(.+)\]\((.+)\)$", found, re.M)
    assert [heading for heading, _ in charts] == [each["heading"] for each in study["plots"]]
    assert all((tmp_path / file).read_text(encoding="utf-8").startswith("<svg ") for _, file in charts)
    rows = re.findall(r"^\| (.+) \|$", found.split("**All numbers**")[1].split("\n\n")[1], re.M)
    cells = {html.unescape(each.strip()) for each in re.findall(r"<t[dh][^>]*>([^<]*)<", page)}
    assert {cell for row in rows[2:] for cell in row.split(" | ")} <= cells
    text.write_text("# mine\n", encoding="utf-8")
    with pytest.raises(ConfigError, match="exists and is no earlier output of this kind"):
        report(tmp_path, out=text)


def test_without_samples_the_page_says_why_there_is_no_queue_over_time(tmp_path: Path) -> None:
    result = make_result()
    assert "took no samples" not in page_of([result], tmp_path / "with")
    page = page_of([with_tables(result, samples=result.samples.clear())], tmp_path / "without")
    assert "these runs took no samples" in page
    assert "<h3>Queue of" not in page


def test_a_page_about_some_runs_does_not_read_the_others(tmp_path: Path) -> None:
    write_run(RESULTS[0], tmp_path / "runs" / "mine")
    (tmp_path / "runs" / "old").mkdir()
    (tmp_path / "runs" / "old" / "result.json").write_text("{}", encoding="utf-8")
    page = tmp_path / "report.html"
    assert write_report(tmp_path, page, [RESULTS[0].key]) == 1
    with pytest.raises(ConfigError, match=r"only: .* is not of the kind Collection; give a list"):
        write_report(tmp_path, page, RESULTS[0].key)
    with pytest.raises(DamagedResult, match="old"):
        write_report(tmp_path, page)


def test_a_page_about_an_unknown_run_is_refused_with_the_nearest_key(tmp_path: Path) -> None:
    save(RESULTS[:2], tmp_path)
    key = RESULTS[0].key
    with pytest.raises(ConfigError, match=f'no run has the key "{key[:-1]}"; did you mean "{key}"'):
        write_report(tmp_path, tmp_path / "report.html", [RESULTS[1].key, key[:-1]])
    with pytest.raises(ConfigError, match="column run of read_store"):
        write_report(tmp_path, tmp_path / "report.html", ["nothing like it"])


@pytest.mark.parametrize("of_log", [False, True], ids=["a directory", "a line of a log"])
def test_a_page_about_some_runs_names_the_damage_that_may_be_theirs(tmp_path: Path, of_log: bool) -> None:
    whole, victim = RESULTS[:2]
    if of_log:
        save([whole, victim], tmp_path)
        (log,) = (tmp_path / "run-logs").iterdir()
        lines = log.read_bytes().splitlines(keepends=True)
        at = max(place for place, line in enumerate(lines) if victim.key.encode() in line)
        log.write_bytes(b"".join([*lines[:at], lines[at].replace(b'"', b"'", 1), *lines[at + 1 :]]))
        record = f"{log.name}, line {at + 1}"
    else:
        write_run(whole, tmp_path / "runs" / "whole")
        write_run(victim, tmp_path / "runs" / "victim")
        (tmp_path / "runs" / "victim" / "result.json").write_text("{", encoding="utf-8")
        record = "victim/result.json"
    page, damages = tmp_path / "report.html", list[str]()
    assert write_report(tmp_path, page, [whole.key], damages=damages) == 1
    assert damages == []
    with pytest.raises(DamagedResult, match=record):
        write_report(tmp_path, page, [whole.key, victim.key])
    assert write_report(tmp_path, page, [whole.key, victim.key], damages=damages) == 1
    assert [record in damage for damage in damages] == [True]
    assert record in page.read_text(encoding="utf-8")


def test_the_numbers_are_one_document_and_documented(tmp_path: Path) -> None:
    page_of(RESULTS[:4], tmp_path)
    (tmp_path / "report.html").unlink()
    printed = report(tmp_path, json=True).document()
    assert not (tmp_path / "report.html").exists()
    (study,) = printed["studies"]
    names = {name for part in (study, study["plots"][0], study["points"][0]) for name in part}
    text = (ROOT / "docs" / "results.md").read_text(encoding="utf-8").split("## `report --json`")[1].split("\n## ")[0]
    assert not [name for name in names if f"`{name}`" not in text]
    with pytest.raises(ConfigError, match="--json: prints numbers instead of a page"):
        report(tmp_path, out=tmp_path / "page.html", json=True)


def test_the_metrics_of_the_answer_are_chosen(tmp_path: Path) -> None:
    page_of(RESULTS[:6], tmp_path)
    (study,) = report(tmp_path, json=True, metrics="afct_short_s,queue_mean_pkt", baseline="dctcp").document()[
        "studies"
    ]
    assert {line["metric"] for line in study["answer"]["lines"]} == {"afct_short_s", "queue_mean_pkt"}
    (ranking,) = (plot for plot in study["plots"] if plot["name"] == "ranking")
    assert {row["metric"] for row in ranking["spec"]["data"]["values"]} == {"afct_short_s", "queue_mean_pkt"}
    with pytest.raises(ConfigError, match="did you mean"):
        report(tmp_path, json=True, metrics="afct_shrt_s")


def test_numbers_that_are_none_become_null() -> None:
    result = make_result(fct_s=[1e-3, float("nan")])
    printed = page_table(Contents(studies([result])))
    assert "NaN" not in json.dumps(printed, allow_nan=False)


@pytest.mark.parametrize(("width", "dark"), [(320, False), (1280, True), (2560, False)])
def test_a_browser_finds_no_fault_with_the_page(browser: Browser, tmp_path: Path, width: int, dark: bool) -> None:
    page_of([*RESULTS, make_result("ideal-srpt", 1, "0.2")], tmp_path)
    drawn: list[object] = []

    def read(page: "Page") -> None:
        page.locator("details").evaluate_all("all => all.forEach(each => each.open = true)")
        draw_all(page)
        drawn.append(page.locator(".plot").count())

    assert browser.see(tmp_path / "report.html", width=width, dark=dark, then=read).faults == []
    assert drawn == [11]


def draw_all(page: "Page") -> None:
    """Draws all charts, including charts that are not in view."""
    page.evaluate("dispatchEvent(new Event('beforeprint')); dispatchEvent(new Event('afterprint'))")
    page.wait_for_function("[...document.querySelectorAll('.plot')].every(each => each.querySelector('svg'))")


def test_the_legend_the_menu_the_keys_and_the_table_work(browser: Browser, tmp_path: Path) -> None:
    page_of(RESULTS, tmp_path)

    def use(page: "Page") -> None:
        draw_all(page)
        marks = page.locator("figure", has_text="Schemes by mean").locator("path[aria-roledescription=point]")
        assert marks.count() == 9
        page.locator("section .bar").get_by_role("button", name="l2dct").click()
        page.wait_for_function("document.querySelectorAll('figure path[aria-roledescription=point]').length")
        page.wait_for_timeout(300)
        assert marks.count() == 6
        page.locator(".plot").first.focus()
        page.keyboard.press("ArrowRight")
        said = page.locator("#tip").inner_text()
        assert "scheme" in said
        assert "95 % interval" in said
        assert "0.4" in said
        page.locator("section .bar select").select_option("0.8")
        page.wait_for_timeout(300)
        page.keyboard.press("ArrowRight")
        assert "0.8" in page.locator("#tip").inner_text()
        rows = page.locator("table.sortable tbody tr:visible")
        page.locator("input.filter").fill("0.8 dctcp")
        assert rows.count() == 1
        page.locator("input.filter").fill("")
        page.locator("table.sortable thead button").nth(1).click()
        assert rows.locator("td:nth-child(2)").all_inner_texts() == ["dctcp"] * 3 + ["l2dct"] * 3 + ["tcp"] * 3
        with page.expect_download() as download:
            page.locator("figure .csv").first.click()
        table = pl.read_csv(download.value.path())
        assert {"scheme", "at", "metric", "value", "low", "high"} <= set(table.columns)
        assert table.height == 27

    assert browser.see(tmp_path / "report.html", then=use).faults == []


def test_on_paper_plots_are_light_and_fit(browser: Browser, tmp_path: Path) -> None:
    page_of(RESULTS, tmp_path)
    seen = []

    def use(page: "Page") -> None:
        draw_all(page)
        colour = "getComputedStyle(document.querySelector('.plot text')).fill"
        widths = "[...document.querySelectorAll('.plot svg')].map(each => each.clientWidth)"
        seen.append(page.evaluate(colour))
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        seen.append(page.evaluate(colour))
        assert max(page.evaluate(widths)) <= 1280
        page.evaluate("dispatchEvent(new Event('afterprint'))")
        seen.append(page.evaluate(colour))

    browser.see(tmp_path / "report.html", dark=True, then=use)
    assert seen == ["rgb(230, 232, 235)", "rgb(31, 41, 55)", "rgb(230, 232, 235)"]


def test_plots_follow_a_window_that_shrinks(browser: Browser, tmp_path: Path) -> None:
    page_of(RESULTS, tmp_path)

    def use(page: "Page") -> None:
        draw_all(page)
        page.set_viewport_size({"width": 320, "height": 900})
        page.wait_for_timeout(1000)
        widths = page.evaluate("[...document.querySelectorAll('.plot svg')].map(each => each.clientWidth)")
        assert max(widths) <= 320

    assert browser.see(tmp_path / "report.html", width=700, then=use).faults == []
