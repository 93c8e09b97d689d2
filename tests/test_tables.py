"""Tables fit 100 columns, carry units and intervals, and say nothing that is not there."""

import io
from collections.abc import Sequence

import pytest
from rich.console import Console, RenderableType

from made import make_result
from shortflow.comparison import Comparison
from shortflow.errors import ConfigError
from shortflow.metrics import describe
from shortflow.runner import summary
from shortflow.stats import Estimate
from shortflow.tables import (
    comparison_tables,
    lay_out,
    main_tables,
    number,
    overview_section,
    percent,
    scale_for,
    stacked,
)


def printed(renderable: RenderableType, width: int = 1000) -> list[str]:
    console = Console(file=io.StringIO(), width=width)
    console.print(renderable)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue().splitlines()


def compared(schemes: Sequence[str], seeds: Sequence[int] = (1, 2, 3)) -> Comparison:
    results = [
        make_result(s, seed, fct_s=(1e-3 * seed, 3e-3 + i * 1e-3)) for i, s in enumerate(schemes) for seed in seeds
    ]
    return Comparison("made", "A made-up scenario", {"load": "0.2"}, [summary(each) for each in results])


@pytest.mark.parametrize("width", [60, 80, 100])
def test_tables_fit_a_narrow_terminal_without_breaking_their_cells(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    lines = printed(main_tables(compared(["tcp", "dctcp", "l2dct"])), width)
    assert max(len(line) for line in lines) <= width
    assert sum("l2dct vs dctcp" in line for line in lines) == sum("schemes" in line for line in lines)


@pytest.mark.parametrize(
    "schemes", [["dctcp"], ["tcp", "dctcp", "l2dct"], [f"a-long-scheme-name-{i}" for i in range(6)]]
)
def test_no_line_is_wider_than_100_columns(schemes: Sequence[str]) -> None:
    comparison = compared(schemes)
    lines = printed(comparison_tables(comparison))
    assert max(len(line) for line in lines) <= 100
    overview = overview_section("all", "load", [("0.2", comparison), ("0.4", comparison)])
    assert max(len(line) for line in printed(stacked(*lay_out(overview)))) <= 100


def test_units_stand_in_the_headers_and_intervals_behind_the_means() -> None:
    text = "\n".join(printed(comparison_tables(compared(["dctcp", "l2dct"]))))
    assert "(ms)" in text
    assert "(Mbps)" in text
    assert "800 ± 0" in text  # 200 MB in 2 s, the same for every seed
    assert "l2dct vs dctcp" in text
    assert "mean ± 95 % confidence over 3 seeds" in text
    assert "load = 0.2" in text


def test_one_seed_is_shown_without_an_interval() -> None:
    text = "\n".join(printed(comparison_tables(compared(["dctcp"], seeds=[7]))))
    assert "seed 7" in text
    assert "±" not in text


def test_chosen_metrics_only() -> None:
    text = "\n".join(printed(comparison_tables(compared(["dctcp", "l2dct"]), ["utilisation"])))
    assert "link use" in text
    assert "98" in text
    assert "FCT" not in text


def test_a_metric_that_a_scheme_lacks_is_a_dash() -> None:
    with_flows, without = make_result("dctcp"), make_result("l2dct", fct_s=())
    comparison = Comparison("made", "made", {}, [summary(with_flows), summary(without)])
    row = next(line for line in printed(comparison_tables(comparison)) if line.startswith(" l2dct"))
    assert "–" in row


def test_an_unknown_metric_suggests_the_nearest() -> None:
    with pytest.raises(ConfigError, match='did you mean "afct_short_s"'):
        compared(["dctcp"]).require("afct_shorts_s")


def test_numbers_have_about_three_digits() -> None:
    shown = [number(value) for value in (0.0, 3.0, 0.9374, 1.2345, 23.456, 345.6, 12345.6)]
    assert shown == ["0", "3", "0.937", "1.23", "23.5", "346", "12,346"]
    assert number(23.456, 1.29) == "23.5 ± 1.3"
    assert percent(Estimate(-0.3012, (-0.3312, -0.2712), 5)) == "-30.1 ± 3.0"
    assert percent(None) == "–"


def test_units_suit_the_values() -> None:
    assert scale_for(describe("afct_short_s").unit, [0.0005, 0.02]).unit == "ms"
    assert scale_for(describe("afct_short_s").unit, [20e-6]).unit == "µs"
    assert scale_for(describe("goodput_long_bps").unit, [361e6, 900e6]).unit == "Mbps"
    assert scale_for(describe("goodput_long_bps").unit, [9.1e9]).unit == "Gbps"
    assert scale_for("share", [0.5]).divisor == 0.01
