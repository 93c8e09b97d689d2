"""The pages of a reproduction: what they draw, and that nothing in them runs but their own script."""

import dataclasses
import math
import re
from pathlib import Path

from made import make_rows
from shortflow.comparison import Comparison
from shortflow.lab import Curves, Data, Drawing, Line, Scale, Study, within
from shortflow.lab.study import Position
from shortflow.reproduction.engine import Judged, Reproduced, Reproduction, select
from shortflow.reproduction.pages import draw, write_pages
from shortflow.result import RunSummary
from shortflow.store.runs import Store

EVIL = "</script><script>alert(1)</script><img src=x onerror=alert(2)>"


def test_a_drawing_shows_its_numbers_and_its_intervals() -> None:
    exact = Line("exact", [1, 2], [10.0, 200.0], [(5.0, 20.0), None])
    bound = Line("bound", [1, 2], [30.0, 4000.0], lower_bound=[False, True])
    curve = Line("curve", [1, 2], [3.0, 4.0], markers=False)
    figure = draw(Drawing("title", "x <1>", "y (ms)", [exact, bound, curve], log_y=True))
    assert [list(trace["y"]) for trace in figure["data"]] == [[10.0, 200.0], [30.0, 4000.0], [3.0, 4.0]]
    bars = figure["data"][0]["error_y"]
    assert (list(bars["array"]), list(bars["arrayminus"])) == ([10.0, "none"], [5.0, "none"])
    assert list(figure["data"][1]["text"]) == ["", "≥"]
    assert list(figure["data"][1]["marker"]["symbol"]) == ["circle", "circle-open"]
    assert figure["data"][1]["error_y"]["array"] is figure["data"][2]["text"] is None
    assert figure["layout"]["xaxis"]["title"]["text"] == "x &lt;1&gt;"
    assert list(figure["layout"]["yaxis"]["ticktext"]) == ["10", "100", "1,000"]


def test_an_axis_has_room_for_the_intervals() -> None:
    line = Line("one", [1, 2], [10.0, 20.0], [(1.0, 100.0), (15.0, 25.0)])
    low, high = draw(Drawing("", "x", "y", [line], log_y=True))["layout"]["yaxis"]["range"]
    assert low < math.log10(1.0) < math.log10(100.0) < high


def test_curves_have_places_of_one_unit_and_no_interval_for_one_seed(tmp_path: Path) -> None:
    study = Study("incast", ("tcp",), over={"tcp.rto_min": ("900us", "1ms")})
    times = {"900us": [1e-3], "1ms": [2e-3, 4e-3]}
    points: dict[Position, Comparison] = {
        (value,): Comparison(
            "incast",
            "",
            {},
            [RunSummary("tcp", seed, "", make_rows(afct_short_s=fct), 0.0) for seed, fct in enumerate(times[value])],
        )
        for value in times
    }
    data = Data(study, list(study.grid(Scale.FULL)), points, {}, Store(tmp_path))
    (line,) = Curves("tcp.rto_min", "afct_short_s", "RTOmin (us)", "").draw(data).lines
    assert (list(line.x), list(line.y)) == ([900.0, 1000.0], [1.0, 3.0])
    assert line.ci95[0] is None
    low, high = line.ci95[1] or (0.0, 0.0)
    assert 0 < low < 3.0 < high


def test_texts_of_claims_and_drawings_are_text_and_nothing_else(tmp_path: Path) -> None:
    (figure,) = select(["l2dct/fig2"])
    (claim,) = figure.claims
    finding = within(3.0, 0, 1)
    judged = Judged(dataclasses.replace(claim, paper=EVIL), finding)
    pages = {}
    for name in ("usual", EVIL):
        drawings = [Drawing(name, name, name, [Line(name, [1], [2])]), Drawing("", "", "", [])]
        done = Reproduction(Scale.QUICK, {}, [Reproduced(figure, drawings, [judged], 1, {})], 1, 0, 0.1)
        front = write_pages(done, tmp_path)
        pages[name] = (tmp_path / "l2dct.html").read_text(encoding="utf-8")
        assert "<script" not in front.read_text(encoding="utf-8")
    counts = {len(re.findall(r"<script[ >](?!/\*\*)", page)) for page in pages.values()}
    assert counts == {4}  # the library, two plots, and what draws them
    for page in pages.values():
        assert "<img" not in re.sub(r"<script nonce=[^>]*>/\*\*.*?</script>", "", page, flags=re.DOTALL)
        assert page.count('id="plot-1-1"') == page.count('data-plot="plot-1-1"') == 1
