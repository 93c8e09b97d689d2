"""Pages of a reproduction: their charts, the papers that they keep, and that inserted text runs no code."""

import dataclasses
import math
import re
import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from browser import Browser
from made import make_results, make_rows, make_run
from shortflow.errors import DamagedResult
from shortflow.judge.estimates import Estimate
from shortflow.report.chart import Chart
from shortflow.report.library import library
from shortflow.results import Results
from shortflow_papers.lab import (
    RELATIVE,
    Claim,
    Curves,
    Data,
    Drawing,
    Figure,
    Line,
    Scale,
    Study,
    computed,
    level,
    within,
)
from shortflow_papers.lab.finding import Finding, all_hold
from shortflow_papers.lab.study import Position, Value
from shortflow_papers.papers import figures
from shortflow_papers.reproduction import kept
from shortflow_papers.reproduction.charts import curves_of, figure_charts
from shortflow_papers.reproduction.engine import Reproduced, Reproduction, select
from shortflow_papers.reproduction.judged import Judged
from shortflow_papers.reproduction.pages import evidence, write_pages
from shortflow_papers.reproduction.summary import measured_texts
from valid import check

if TYPE_CHECKING:
    from playwright.sync_api import Page

EVIL = "</script><script>alert(1)</script><img src=x onerror=alert(2)>"


def drawn(drawing: Drawing) -> Chart:
    """The chart of a drawing. Checks that it is valid."""
    found = curves_of(drawing, "figure")
    check(found)
    return found


def test_rows_are_the_numbers_of_the_curves_and_what_is_not_finite_is_left_out() -> None:
    exact = Line("exact", [1, 2], [10.0, 20.0], [(5.0, 60.0), None])
    bound = Line("bound", [1, 2], [30.0, 40.0], lower_bound=[False, True])
    printed = Line("exact", [2], [15.0], printed=True)
    found = drawn(Drawing("", "x", "y (ms)", [exact, bound, printed, Line("no", [1, 2], [math.nan, math.inf])]))
    assert [(row["scheme"], row["x"], row["y"]) for row in found.rows] == [
        *(("exact", 1, 10.0), ("exact", 2, 20.0), ("bound", 1, 30.0), ("bound", 2, 40.0), ("exact", 2, 15.0))
    ]
    assert [row["bound"] for row in found.rows] == [False, False, False, True, False]
    assert (found.rows[0]["low"], found.rows[0]["high"]) == (5.0, 60.0)
    assert found.caption == "Diamonds: the paper's numbers."
    y = found.panels[0]["layer"][0]["encoding"]["y"]
    assert y["title"] == "y (ms)"
    assert y["scale"]["domain"][1] > 60, "room for the interval"
    log = drawn(Drawing("", "x", "y", [Line("one", [1, 2], [10.0, 4000.0])], log_y=True))
    assert log.panels[0]["layer"][0]["encoding"]["y"]["scale"]["type"] == "log"


def test_a_long_curve_keeps_its_peaks() -> None:
    y = [0.0] * 100_000
    y[77_777] = 5.0
    rows = drawn(Drawing("", "x", "y", [Line("a", range(100_000), y, markers=False)])).rows
    assert len(rows) < 1000
    assert max(row["y"] for row in rows) == 5.0


def test_numbers_stand_beside_those_that_are_printed() -> None:
    fall, bound = Estimate(-0.3, (-0.4, -0.2), 3), Estimate(0.03, None, 1, True)
    conditions = [
        computed("fall", lambda: fall, RELATIVE).near(-0.45),
        computed("open", lambda: bound, RELATIVE).near(0.01, 0.02),
    ]
    (found,) = figure_charts(Figure("x/one", "", "", claims=[Claim("x/one").says("", *conditions)]), {})
    check(found)
    assert found.panels[0]["layer"][3]["encoding"]["x"]["title"] == "change (%)"
    rows = [(row["name"], row["ours"], row["low"], row["bound"]) for row in found.rows]
    assert rows == [("fall", -30.0, -40.0, ""), ("open", 3.0, None, "≥")]
    assert [(row["paper_low"], row["paper_high"]) for row in found.rows] == [(-45.0, -45.0), (1.0, 2.0)]


def test_rows_of_long_names_are_told_apart_by_their_places() -> None:
    name = "the median of one kind of flows with one scheme over that with another at every load, every size"
    claim = Claim("x/one").says("", computed(name, lambda: {"load 1": 1.0, "load 2": 2.0}).near(1.0))
    (found,) = figure_charts(Figure("x/one", "", "", claims=[claim]), {})
    shown = [row["name"] for row in found.rows]
    assert [text.partition("…")[2] for text in shown] == [": load 1", ": load 2"]
    assert all(len(text) <= 82 for text in shown)


def with_times(study: Study, times: Mapping[Value, Sequence[float]]) -> Data:
    """Data of the study with these mean FCTs at each value of its only key."""
    points: dict[Position, Results] = {}
    for value, found in times.items():
        rows = [make_rows(afct_short_s=fct) for fct in found]
        runs = [make_run(name, seed, "", row, 0.0) for name in study.schemes for seed, row in enumerate(rows)]
        points[value,] = make_results("incast", "", {}, runs)
    return Data(study, list(study.grid(Scale.FULL)), points)


def test_a_figure_has_what_its_claims_print_in_its_curves_and_beside_ours(tmp_path: Path) -> None:
    study = Study("incast", ("tcp", "dctcp"), over={"servers": (10, 20)})
    data = {"runs": with_times(study, {n: [n * 1e-3] for n in (10, 20)})}
    claim = Claim("x/one").says("", level("tcp", "afct_short_s").at(servers=20).near(0.005))
    figure = Figure("x/one", "Fig. 1", "", {"runs": study}, [claim], [Curves("servers", "afct_short_s", "", "")])
    curves, beside = figure_charts(figure, data)
    assert [(row["scheme"], row["x"], row["y"]) for row in curves.rows if row["printed"]] == [("tcp", 20.0, 5.0)]
    (row,) = beside.rows
    assert (beside.heading, row["paper_low"], row["ours"]) == ("Printed and measured: ms", 5.0, 20.0)


def test_curves_have_places_of_one_unit_and_no_interval_for_one_seed(tmp_path: Path) -> None:
    study = Study("incast", ("tcp",), over={"tcp.rto_min": ("900us", "1ms")})
    data = with_times(study, {"900us": [1e-3], "1ms": [2e-3, 4e-3]})
    (line,) = Curves("tcp.rto_min", "afct_short_s", "RTOmin (us)", "").draw(data).lines
    assert (list(line.x), list(line.y)) == ([900.0, 1000.0], [1.0, 3.0])
    assert line.ci95[0] is None
    low, high = line.ci95[1] or (0.0, 0.0)
    assert 0 < low < 3.0 < high


def reproduced(name: str, finding: Finding, *drawings: Drawing, statement: str = "", build: str = "") -> Reproduction:
    (figure,) = select([name])
    days = ("2026-11-25", "2026-11-26") if build else ()
    made = {"version": "0", "build": "0+library", "revision": build and f"{build}4567890abcdef"}
    origins: Any = {"runs": [{**made, "finished_at": f"{day}T12:00"} for day in days]}
    charts = [curves_of(each, f"{name.replace('/', '-')}-{place}") for place, each in enumerate(drawings, 1)]
    judged = [Judged(dataclasses.replace(claim, statement=statement), finding) for claim in figure.claims]
    return Reproduction(
        Scale.QUICK, {}, [Reproduced(figure, charts, judged, {}, origins)], frozenset({"run"}), frozenset(), 0.1
    )


def test_texts_of_claims_and_drawings_are_text_and_nothing_else(tmp_path: Path) -> None:
    for name in ("usual", EVIL):
        drawings = [Drawing(name, name, name, [Line(name, [1], [2])]), Drawing("", "", "", [])]
        front = write_pages(reproduced("l2dct/sec3b", within(3.0, 0, 1), *drawings, statement=name), tmp_path)
        page = (tmp_path / "l2dct.html").read_text(encoding="utf-8").replace(library(), "")
        for text in (front.read_text(encoding="utf-8"), page):
            assert "<script>alert" not in text
            assert "<img" not in text
        for file in (tmp_path / "pictures").glob("*.svg"):
            ET.parse(file)
        assert "<script" not in evidence("l2dct", kept.load_kept(tmp_path / "results.json")["l2dct"])


@pytest.mark.parametrize(("width", "dark"), [(320, True), (1280, False)])
def test_a_browser_finds_no_fault_with_the_pages(browser: Browser, tmp_path: Path, width: int, dark: bool) -> None:
    lines = [Line("tcp", [1, 2], [2, 3]), Line("dctcp", [1, 2], [1, 2], lower_bound=[False, True])]
    drawings = [Drawing("times", "load", "ms", lines), Drawing("rates", "load", "Mbps", lines)]
    front = write_pages(reproduced("l2dct/sec3b", within(3.0, 0, 1), *drawings), tmp_path)
    assert browser.see(front, width=width, dark=dark).faults == []
    inks: list[str] = []

    def read(page: "Page") -> None:
        page.wait_for_selector(".plot svg text")
        inks.append(page.evaluate("getComputedStyle(document.querySelector('.plot svg text')).fill"))

    assert browser.see(tmp_path / "l2dct.html", width=width, dark=dark, then=read).faults == []
    assert inks == ["rgb(230, 232, 235)" if dark else "rgb(31, 41, 55)"]
    assert (tmp_path / "pictures" / "l2dct-sec3b-2.svg").is_file()


def test_the_front_page_keeps_papers_that_were_reproduced_before(tmp_path: Path) -> None:
    write_pages(reproduced("l2dct/sec3b", within(3.0, 0, 1), Drawing("old", "", "", [])), tmp_path)
    write_pages(reproduced("pecn/query", within(0.5, 0, 1)), tmp_path)
    front = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert front.index("l2dct: A part: ") < front.index("pecn: A part: ")
    assert '<a href="l2dct.html">l2dct</a>' in front
    assert '<b class="differs">differs</b>' in front
    assert '<a href="l2dct.html#l2dct/sec3b-ramp-200ms">' in front
    assert [cells_of(front, name)[5] for name in ("l2dct", "pecn", "all")] == ["0 of 1", "1 of 1", "1 of 2"]
    every = sum(name.startswith("l2dct/") for name in figures())
    pages = (front, (tmp_path / "l2dct.html").read_text(encoding="utf-8"))
    assert all(f"A part: 1 of {every} figures." in text for text in pages)
    assert '<a href="#l2dct/sec3b">Sec. III-B.2 0/1</a>' in pages[1]
    assert '<p id="l2dct/sec3b">' in pages[1]
    picture = tmp_path / "pictures" / "l2dct-sec3b-1.svg"
    assert picture.exists()
    write_pages(reproduced("l2dct/sec3b", within(0.5, 0, 1)), tmp_path)
    assert not picture.exists(), "the figure has no such drawing any more"
    known = kept.load_kept(tmp_path / "results.json")
    assert {paper: [each.finding.verdict for each in kept.judged(entry)] for paper, entry in known.items()} == {
        "l2dct": ["agrees"],
        "pecn": ["agrees"],
    }
    write_pages(reproduced("l2dct/sec3b", within(0.5, 0, 1), build="01dc0de123"), tmp_path)
    write_pages(reproduced("pecn/query", within(0.5, 0, 1), build="2e4c0de123"), tmp_path)
    front = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert "Build 0 at 2e4c0de12345, 2026-11-25 to 2026-11-26." in front
    assert "No sum: several builds" in front
    builds = {"0+new": {"l2dct/fig12": ["2026-11-26"]}, "0+old": {"l2dct/fig4a": ["2026-11-25"], "l2dct/fig5": []}}
    several = kept.made({"state": "", "made": builds, "scale": None, "claims": {}})
    assert several == "Builds 0+old, 2026-11-25; 0+new, 2026-11-26 (l2dct/fig12)."
    assert ">all</th>" not in front
    (tmp_path / "results.json").write_text("{")
    with pytest.raises(DamagedResult, match="reproduce its papers again"):
        write_pages(reproduced("pecn/query", within(0.5, 0, 1)), tmp_path)


def test_results_name_the_version_and_the_commit_and_a_wheel_its_build() -> None:
    def code(revision: str | None) -> str:
        run: Any = {"version": "0.3.0", "build": "0.3.0+bd7e9e75d5d9", "revision": revision}
        return kept.code(run)

    commit = "193f99ac8c1b0d5e6f7a8b9c0d1e2f3a4b5c6d7e"
    assert code(commit) == "0.3.0 at 193f99ac8c1b"
    assert code(f"{commit}-dirty") == "0.3.0 at 193f99ac8c1b-dirty"
    assert code(None) == "0.3.0+bd7e9e75d5d9"


def cells_of(front: str, name: str) -> list[str]:
    """Cells of a row in the table of counts."""
    (row,) = re.findall(rf'<th scope="row">{name}</th>(.*?)</tr>', front, re.DOTALL)
    return [name, *re.findall("<td.*?>(.*?)</td>", row)]


def test_what_is_kept_of_a_finding_is_what_tables_show() -> None:
    found = all_hold({"a b": within(0.123456789, 0, 1), "never": within(math.inf, 0, 1)})
    (before,) = reproduced("l2dct/sec3b", found).claims
    (after,) = kept.judged({"state": "", "made": {}, "scale": None, "claims": {before.claim.id: kept.kept(before)}})
    assert measured_texts(after.finding) == measured_texts(before.finding)
    assert (after.finding.verdict, after.reason) == (before.finding.verdict, before.reason)
