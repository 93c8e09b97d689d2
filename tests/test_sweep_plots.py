"""The plots of sweeps: which kind for how many keys, what stands where, and that they can be drawn."""

import json
import random
import re
from pathlib import Path
from typing import Any

import pytest

from conftest import Command
from made import make_rows, make_run, with_rows
from shortflow.report.blocks import Words
from shortflow.report.looks import BEST
from shortflow.report.sweep.plots import plots
from shortflow.report.sweep.runs import Swept, swept
from shortflow.report.sweep.view import best_section, sweep_part, table
from shortflow.result import Result
from shortflow.scenario import Setting
from valid import check


def run_of(
    scheme: str, seed: int, fct: float, scenario: dict[str, str], law: dict[str, str], goodput: float = 1e8
) -> Result:
    def settings(values: dict[str, str]) -> list[Setting]:
        return [{"key": key, "value": value, "source": "--set"} for key, value in values.items()]

    origin: Any = {
        "scenario": "made",
        "title": "A made-up scenario",
        "scheme": scheme,
        "scenario_settings": settings(scenario),
        "scheme_settings": settings(law),
        "version": "0",
    }
    return make_run(scheme, seed, "-", make_rows(afct_short_s=fct, goodput_long_bps=goodput), 0.0, origin=origin)


def of_keys(**keys: list[str]) -> Swept:
    """l2dct at all combinations of up to three keys, one of the scenario and two of the law; tcp has not the latter."""
    runs = [
        run_of(
            "l2dct",
            seed,
            (float(g) + float(w) + float(load)) * 1e-3 * seed,
            {"parameters.load": load},
            {"transport.g": g, "transport.w_max": w},
            goodput=1e8 * float(g),
        )
        for load in keys.get("load", ["0.5"])
        for g in keys.get("g", ["1"])
        for w in keys.get("w", ["1"])
        for seed in (1, 3)
    ]
    runs += [run_of("tcp", 1, 4e-3, {"parameters.load": load}, {}) for load in keys.get("load", ["0.5"])]
    (found,) = swept(runs)
    return found


def test_one_key_is_a_line_with_a_band_and_a_level_of_who_has_not_got_it() -> None:
    sweep = of_keys(g=["4", "10", "2"])
    chart = next(iter(plots(sweep)))
    check(chart)
    rows = {scheme: [row for row in chart.rows if row["scheme"] == scheme] for scheme in ("l2dct", "tcp")}
    assert [row["x"] for row in rows["l2dct"]] == [2.0, 4.0, 10.0], "numbers in their order"
    assert [row["value"] for row in rows["l2dct"]] == pytest.approx([7.0, 11.0, 23.0]), "means of seeds 1 and 3, in ms"
    assert [(row["x"], row["value"]) for row in rows["tcp"]] == [(2.0, 4.0), (4.0, 4.0), (10.0, 4.0)]
    assert "tcp: without this key" in chart.caption
    assert all(row["low"] < row["value"] < row["high"] for row in rows["l2dct"])
    x = chart.panels[0]["layer"][0]["encoding"]["x"]
    assert (x["title"], x["type"]) == ("transport.g", "quantitative")


def test_two_keys_are_a_heat_map_for_each_scheme() -> None:
    sweep = of_keys(g=["1", "2", "3"], load=["0.2", "0.4"])
    chart = next(iter(plots(sweep)))
    check(chart)
    assert [panel["title"] for panel in chart.panels] == ["l2dct", "tcp"]
    colours = [panel["layer"][0]["encoding"]["color"]["scale"]["domain"] for panel in chart.panels]
    assert colours == [[4.0, pytest.approx(8.8)]] * 2, "one scale of colours"
    cells = {(row["panel"], row["y"], row["x"]): (row["value"], row["said"]) for row in chart.rows}
    assert [cells["l2dct", "0.2", g][0] for g in "123"] == pytest.approx([4.4, 6.4, 8.4])
    assert [cells["l2dct", "0.4", g][0] for g in "123"] == pytest.approx([4.8, 6.8, 8.8])
    assert {value for (panel, *_), (value, _) in cells.items() if panel == "tcp"} == {4.0}, "which has no g, but a load"
    assert cells["l2dct", "0.2", "1"][1] == "4.4"


def test_three_keys_are_small_multiples_and_a_bundle() -> None:
    found = list(plots(of_keys(g=["1", "2", "3"], load=["0.2", "0.4"], w=["1", "2", "3", "4"])))
    for chart in found:
        check(chart)
    heat, bundle = found[0], found[-1]
    assert [panel["title"] for panel in heat.panels] == ["load = 0.2", "load = 0.4"]
    (cell,) = (row for row in heat.rows if (row["panel"], row["y"], row["x"]) == ("load = 0.4", "3", "4"))
    assert cell["value"] == pytest.approx(2 * (3 + 4 + 0.4))
    axes = bundle.panels[0]["layer"][0]["encoding"]["x"]["sort"]
    assert axes[:3] == ["load", "transport.g", "transport.w_max"]
    best = [row for row in bundle.rows if row["scheme"] == BEST]
    assert len({row["line"] for row in best}) == 2
    assert [row["height"] for row in best if row["line"] == 0] == [0.0] * 5, "the least of everything"


def test_a_trade_off_joins_what_nothing_beats() -> None:
    sweep = of_keys(g=["1", "2", "3"])
    plot = next(plot for plot in plots(sweep) if plot.heading.startswith("Trade-off"))
    front = [row for row in plot.rows if row["scheme"] == BEST]
    assert [row["y"] for row in front] == [100.0, 200.0, 300.0], "more goodput for more time"
    assert front[0]["label"] == "tcp: as it is"
    check(plot)


def test_keys_in_step_are_one_axis() -> None:
    runs = [run_of("l2dct", 1, 1e-3, {}, {"transport.a": value, "transport.b": value * 2}) for value in ("1", "2", "3")]
    (found,) = swept(runs)
    assert [key.label for key in found.keys] == ["transport.a (with transport.b)"]


def answer_of(sweep: Swept) -> str:
    return next(each.text for each in sweep_part(sweep).blocks if isinstance(each, Words) and each.role == "answer")


def test_the_best_point_of_each_scheme_is_in_the_table() -> None:
    shown = of_keys(g=["3", "1", "2"])
    assert [row[:2] for row in best_section(shown).rows] == [("l2dct", "1"), ("tcp", "–")]
    assert answer_of(shown).startswith("The least afct_short_s has tcp: 4 ms with one seed. Beside it")
    assert "each at its own best point by that metric" in answer_of(shown)
    assert ": l2dct -37.5 %. These were" in answer_of(shown), "with seed 1, which both have: 2.5 over 4 ms"
    assert "Points have different seeds, from 1 to 2 of them: the fewer" in answer_of(shown)
    numbers = table(of_keys(g=["3", "1", "2"]))
    assert numbers["keys"] == ["transport.g"]
    assert {point["at"].get("transport.g") for point in numbers["points"]} == {"1", "2", "3", None}


def test_a_key_that_changes_nothing_has_any_value() -> None:
    runs = [
        run_of(scheme, 1, 1e-3 * float(k if scheme == "dctcp" else 3), {"switch.mark_above": k}, {})
        for scheme in ("dctcp", "tcp")
        for k in ("1", "2", "3")
    ]
    (shown,) = swept(runs)
    assert [row[:2] for row in best_section(shown).rows] == [("dctcp", "1"), ("tcp", "any")]
    assert answer_of(shown).startswith(
        "The least afct_short_s has dctcp with switch.mark_above = 1: 1 ms with one seed. "
    )
    assert ": tcp +200.0 %. These were" in answer_of(shown)


def test_no_interval_is_told_of_what_was_chosen_among_many_points() -> None:
    """The best of forty noisy points is better than one such point: nothing that an interval knows of."""
    dice = random.Random(0)
    noise = iter(lambda: 1e-3 * (1 + 0.1 * dice.gauss(0, 1)), None)
    runs = [run_of("l2dct", seed, next(noise), {}, {"transport.g": f"{g}"}) for g in range(40) for seed in (1, 2, 3)]
    alone = [run_of("l2dct", seed, next(noise), {}, {}) for seed in (1, 2, 3)]
    runs_of_tcp = [run_of("tcp", seed, next(noise), {}, {}) for seed in (1, 2, 3)]
    (many,), (one,) = swept([*runs, *runs_of_tcp]), swept([*alone, *runs_of_tcp])
    said = answer_of(many)
    assert re.search(r"on the same flows: tcp [+-][\d.]+ %\. These were chosen", said)
    assert said.endswith("among their points (40 of l2dct, 1 of tcp): run the best ones again with fresh seeds.")
    assert re.search(r"on the same flows: \w+ [+-][\d.]+ (± [\d.]+|\[.*\]) %\.$", answer_of(one))


def test_where_flows_vary_the_best_points_are_those_of_each_load() -> None:
    shown = of_keys(g=["2", "1"], load=["0.2", "0.4"])
    assert answer_of(shown) == (
        "No point is the best of all by afct_short_s: load changes the flows themselves, so compare where it is the"
        " same."
    )
    assert sorted(row[:3] for row in best_section(shown).rows) == [
        *(("l2dct", "0.2", "1"), ("l2dct", "0.4", "1")),
        *(("tcp", "0.2", "–"), ("tcp", "0.4", "–")),
    ]
    trade_off = next(plot for plot in plots(of_keys(g=["2", "1", "3"], load=["0.2", "0.4"])) if "Trade" in plot.heading)
    assert BEST not in trade_off.schemes


def test_of_equal_times_the_one_with_more_goodput_is_on_the_front() -> None:
    points = ((1e-3, "1", 1e8), (1e-3, "2", 2e8), (2e-3, "3", 3e8), (3e-3, "4", 1e8))
    (found,) = swept(run_of("l2dct", 1, fct, {}, {"transport.g": g}, goodput=rate) for fct, g, rate in points)
    plot = next(plot for plot in plots(found) if plot.heading.startswith("Trade-off"))
    assert [(row["x"], row["y"]) for row in plot.rows if row["scheme"] == BEST] == [(1.0, 200.0), (2.0, 300.0)]


def test_a_bound_goes_before_nothing_and_is_no_best_point() -> None:
    runs = [run_of("l2dct", 1, 1e-3, {}, {"transport.g": "2"}), run_of("l2dct", 1, 1e-3, {}, {"transport.g": "1"})]
    bound = with_rows(runs[0], [row._replace(lower_bound=True) for row in runs[0].rows])
    without = with_rows(runs[1], make_rows(goodput_long_bps=1e8))
    (shown,) = swept([without, bound])
    assert (
        answer_of(shown) == "No point is the best: flows did not finish, so that every afct_short_s is a lower bound."
    )
    assert best_section(shown).rows[0][:2] == ("l2dct", "2")
    exact = run_of("l2dct", 1, 9e-3, {}, {"transport.g": "3"})
    (shown,) = swept([bound, exact])
    assert answer_of(shown).startswith("The least afct_short_s has l2dct with transport.g = 3: 9 ms")


@pytest.mark.usefixtures("scenario")
def test_runs_that_were_done_again_with_tables_stay_in_their_sweep(shortflow: Command) -> None:
    common = ("small.toml", "--schemes", "tcp", "--out", "s")
    assert shortflow("sweep", *common, "--grid", "load=0.2,0.4", "--seeds", "3").code == 0
    assert shortflow("compare", *common, "--set", "load=0.4", "--seeds", "2").code == 0
    answer = shortflow("report", "s", "--json")
    (sweep,) = json.loads(answer.stdout)["sweeps"]
    assert [each["metrics"]["afct_short_s"]["n"] for each in sweep["points"]] == [3, 3]
    assert {each["scheme"] for each in sweep["points"]} == {"tcp"}
    assert shortflow("report", "s").code == 0
    page = Path("s/report.html").read_text(encoding="utf-8")
    assert "6 runs of 1 scheme, beside" in page
    assert "; 2 of the 6 have tables" in page


@pytest.mark.usefixtures("scenario")
def test_the_report_of_a_sweep(shortflow: Command, small: dict[str, object]) -> None:
    grid = ("--grid", "transport.g=0.05,0.2", "--grid", "load=0.2,0.4")
    assert shortflow("sweep", "small.toml", "--schemes", "tcp,dctcp", *grid, "--seeds", "1", "--out", "s").code == 0
    assert shortflow("report", "s").code == 0
    page = Path("s/report.html").read_text(encoding="utf-8")
    assert "small, over load, transport.g" in page
    document = json.loads(shortflow("report", "s", "--json").stdout)
    (sweep,) = document["sweeps"]
    assert len(sweep["points"]) == 2 + 4
    assert len(sweep["plots"][0]["spec"]["concat"]) == 2


def test_a_bound_that_leaves_the_sign_open_is_no_difference() -> None:
    runs = [run_of("dctcp", 1, 4e-3, {}, {}), run_of("tcp", 1, 3e-3, {}, {}), run_of("l2dct", 1, 6e-3, {}, {})]
    runs[1:] = [with_rows(run, [row._replace(lower_bound=True) for row in run.rows]) for run in runs[1:]]
    (sweep,) = swept(runs)
    assert answer_of(sweep).endswith("the same flows: tcp open, as flows did not finish, l2dct ≥ +50.0 %.")
