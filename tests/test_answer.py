"""Winner, tie or open order: from made numbers, and from runs whose tables Polars reads independently."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import shortflow as sf
from conftest import Command, Tables
from made import make_results, make_rows, make_run
from shortflow.criteria import Criteria
from shortflow.judge.estimates import student
from shortflow.metrics.catalogue import short_and_long
from shortflow.metrics.data import USUAL_BINS
from shortflow.metrics.statistic import MetricValue
from shortflow.order import AnswerLine
from shortflow.report.answer import answer
from shortflow.results import Results
from shortflow.scenario import Settings

TAIL, MEAN, RATE = (metric.name for metric in short_and_long(USUAL_BINS))


def compared(
    schemes: Mapping[str, Sequence[float]], late: Mapping[str, int] | None = None, flows: int = 2000, **rates: float
) -> Results:
    """Results of schemes with these mean FCTs in ms, by seed. The p99 slowdown is three times the mean in ms.

    Times of schemes with unfinished flows are lower bounds.
    """
    runs = []
    for scheme, times in schemes.items():
        left = (late or {}).get(scheme, 0)
        for seed, ms in enumerate(times, 1):
            values = {MEAN: ms * 1e-3, TAIL: 3 * ms, RATE: rates.get(scheme, 8.0) * 1e8}
            counts = {
                "flows_upto_100kb": flows,
                "flows_short": 100 - left,
                "unfinished": left,
                "unfinished_share": left,
            }
            rows = [
                MetricValue(row.metric, row.value, bool(left) and row.metric.name in (MEAN, TAIL))
                for row in make_rows(**counts, **values)
            ]
            runs.append(make_run(scheme, seed, f"{scheme}{seed}", rows, wall_s=0.1))
    return make_results("made", "Made", {}, runs)


def line_of(found: Results, metric: str = MEAN) -> AnswerLine:
    (line,) = answer(found, Criteria([metric])).lines
    return line


def test_the_winner_is_named_with_factors_of_the_baseline() -> None:
    found = compared({"dctcp": [4.0, 4.2, 3.8, 4.0, 4.0], "l2dct": [2.0, 2.1, 1.9, 2.0, 2.0]}, l2dct=4.8, dctcp=8.0)
    assert answer(found).words == [
        "l2dct has the lowest p99 slowdown of flows up to 100 KB: 6 (95 % interval 5.74 to 6.27), 0.500 of dctcp's.",
        "l2dct has the lowest mean FCT of flows up to 100 KB: 2 ms (95 % interval 1.91 to 2.09), 0.500 of dctcp's.",
        "dctcp has the highest goodput per flow above 1 MB: 800 Mbps; l2dct has 0.600 of dctcp's.",
        "All measured flows finished.",
    ]
    level = compared({"dctcp": [4.0] * 5, "l2dct": [4.0] * 5})
    tied = "tie for the lowest mean FCT of flows up to 100 KB: dctcp has 4 ms; l2dct has the same."
    assert answer(level).words[1] == f"dctcp and l2dct {tied}"
    assert answer(found, Criteria((), "l2dct")).words[1].endswith("; dctcp has 2 times l2dct's.")


def test_schemes_tie_within_five_per_cent_and_are_open_where_seeds_do_not_tell() -> None:
    times = {"tcp": [9.0, 9.1, 9.2, 9.1, 9.1], "a": [2.0, 2.1, 2.2, 2.1, 2.1], "b": [2.04, 2.14, 2.24, 2.14, 2.14]}
    close = compared(times)
    assert (line_of(close).outcome, line_of(close).leaders) == ("tie", ["a", "b"])
    (narrow,) = answer(close, Criteria([MEAN], ties=(0.01, 0.1))).lines
    assert (narrow.outcome, narrow.leaders) == ("winner", ["a"])
    wide = compared({"tcp": [9.0, 9.0, 9.2, 9.0, 9.0], "a": [2.0, 2.9, 2.2, 2.4, 2.4], "b": [2.9, 2.0, 2.6, 2.5, 2.5]})
    told = line_of(wide)
    assert (told.outcome, told.leaders) == ("open", ["a", "b"])
    assert (
        "With 3 schemes, 97.5 % intervals decide the order. They are wider than those of the tables."
        in answer(wide).words
    )
    assert answer(wide, Criteria([MEAN])).words[0] == (
        "The lowest mean FCT of flows up to 100 KB is open between a and b: a has 2.38 ms (95 % interval 2.00 to "
        "2.83), 0.263 of tcp's."
    )
    assert "Run at least 20 seeds to estimate how many seeds settle an open order." in answer(wide).words


def test_from_twenty_seeds_on_an_open_order_says_how_many_seeds_settle_it() -> None:
    """Residuals of ± 0.4 around a ratio of 1 have a standard deviation of 0.4104 over twenty seeds.

    t(0.975) * 0.4104 / √m is below ln 1.05 = 0.0488 from m = 275 on: with t(274) = 1.969 it is 0.0487.
    """
    close = {"a": [1.0] * 20, "b": [0.6, 1.4] * 10}
    told = line_of(compared(close))
    assert told.outcome == "open"
    assert told.more_seeds == pytest.approx(275 - 20, abs=2)
    assert f"About {told.more_seeds} more seeds narrow the ratios to ±5 %" in answer(compared(close)).words[1]
    assert line_of(compared({scheme: times[:19] for scheme, times in close.items()})).more_seeds is None
    far = {"a": [1.0] * 20, "b": [0.7, 1.5] * 10}
    assert line_of(compared(far)).more_seeds == pytest.approx(255 / 1.1**2, abs=5), "the scatter counts"


@pytest.mark.slow
@pytest.mark.parametrize("shape", ["normal", "log-normal", "Pareto"])
def test_the_number_of_seeds_is_off_by_a_factor_of_three_in_one_draw_of_ten_at_most(shape: str) -> None:
    """Draws of 20 out of 200 seeds of two equal schemes, whose standard deviation is 0.2 of their mean."""
    dice = np.random.default_rng(7)
    values = {
        "normal": dice.normal(size=(2, 200)),
        "log-normal": np.exp(dice.normal(size=(2, 200))),
        "Pareto": dice.pareto(2.5, size=(2, 200)),
    }[shape]
    values = np.maximum(1 + 0.2 * (values - values.mean()) / values.std(), 0.02)
    ours, theirs = values
    ratio = ours.mean() / theirs.mean()
    deviation = np.std((ours / ratio - theirs) / theirs.mean(), ddof=1)
    wanted = next(n for n in range(2, 1000) if student(n) * deviation / np.sqrt(n) <= np.log(1.05))
    totals = []
    for _ in range(200):
        drawn = dice.integers(200, size=20)
        told = line_of(compared({"a": ours[drawn].tolist(), "b": theirs[drawn].tolist()}))
        totals += [20 + told.more_seeds] if told.more_seeds else []
    wrong = [total for total in totals if not wanted / 3 <= total <= 3 * wanted]
    assert len(totals) > 100
    assert len(wrong) <= 0.1 * len(totals)


@pytest.mark.parametrize(("late", "outcome", "leaders"), [({"b": 3}, "winner", ["c"]), ({"c": 1}, "open", ["b", "c"])])
def test_a_lower_bound_beyond_an_exact_time_is_worse_and_below_it_open(
    late: dict[str, int], outcome: str, leaders: list[str]
) -> None:
    found = compared({"b": [9.0, 9.4] * 3, "c": [2.0, 2.01] * 3}, late=late)
    assert (line_of(found).outcome, line_of(found).leaders) == (outcome, leaders)
    ((scheme, count),) = late.items()
    words = f"Unfinished flows: {scheme} {6 * count} of 600. They count with their age at the end of the run, so their"
    assert [each for each in answer(found).words if each.startswith(words)]


def test_a_starved_scheme_is_worse() -> None:
    """The scheme's goodput is zero in every seed, so no factor can be relative to it."""
    found = line_of(compared({"a": [4.0, 4.1] * 3, "b": [4.0, 4.1] * 3}, a=8.0, b=0.0), RATE)
    assert (found.outcome, found.leaders) == ("winner", ["a"])


def test_a_leading_baseline_says_what_the_others_lose() -> None:
    points = [
        replace(run, at={"load": load})
        for load in ("0.3", "0.6")
        for run in compared({"tcp": [2.0, 2.1, 1.9, 2.0, 2.0], "l2dct": [4.0, 4.2, 3.8, 4.0, 4.0]}).runs
    ]
    told = answer(replace(compared({}), done=points, keys=["load"])).words
    assert told[1] == "tcp has the lowest mean FCT of flows up to 100 KB at load 0.3 to 0.6 (l2dct has 2 times tcp's)."
    assert not [each for each in told if each.startswith("load 0")], "the sentences name the points"
    assert "load has no effect on these runs." in told
    alike = {scheme: [2.0, 2.1] * 3 for scheme in ("tcp", "dctcp", "l2dct")}
    runs = compared(alike, tcp=4.0, dctcp=8.0, l2dct=2.0).runs
    other = [replace(run, at={"load": load}) for load in ("0.3", "0.6") for run in runs]
    told = answer(replace(compared({}), done=other, keys=["load"]), Criteria([RATE])).words
    assert told[0] == "dctcp has the highest goodput per flow above 1 MB at load 0.3 to 0.6 (2 times tcp's)."


def test_lower_bounds_have_no_order_among_themselves() -> None:
    assert line_of(compared({"b": [9.0, 9.4], "c": [2.0, 2.1]}, late={"b": 3, "c": 9})).outcome == "open"


def test_one_seed_names_no_winner_and_few_flows_are_said() -> None:
    told = answer(compared({"dctcp": [4.0], "l2dct": [2.0]}, flows=999)).words
    assert told[0] == (
        "The lowest p99 slowdown of flows up to 100 KB is open between l2dct and dctcp: l2dct has 6, 0.500 of dctcp's."
    )
    assert "One seed has no interval: run at least 5 seeds." in told
    assert (
        "The p99 slowdown of flows up to 100 KB is computed from 999 finished flows, so a single flow can change it. "
        "Simulate longer, until there are at least 1,000 flows." in told
    )
    assert not [
        each for each in answer(compared({"dctcp": [4.0, 4.1]}, flows=1000)).words if "is computed from" in each
    ]
    told = answer(compared({"b": [9.0, 9.4], "c": [2.0, 2.1]}, late={"b": 3}, flows=80)).words
    assert (
        "The p99 slowdown of flows up to 100 KB is computed from 80 finished flows in each seed, and from unfinished "
        "flows by their age (3 of all sizes in each seed), so a single flow can change it. Simulate longer, until "
        "there are at least 1,000 flows in each seed." in told
    )


def test_no_winner_is_named_from_fewer_than_five_seeds() -> None:
    times = {"a": [4.0, 4.1, 4.2, 4.0], "b": [1.0, 1.1, 1.2, 1.0], "c": [1.0, 1.1, 1.2, 1.0]}
    advice = "No winner is named from fewer than 5 seeds: run at least 5 seeds."
    for seeds in (2, 3, 4):
        few = compared({scheme: values[:seeds] for scheme, values in times.items()})
        assert (line_of(few).outcome, line_of(few).leaders) == ("open", ["b", "c", "a"])
        (told,) = [each for each in answer(few).words if "at least" in each]
        assert told == advice
    enough = compared({scheme: [*values, 1.1] for scheme, values in times.items() if scheme != "a"} | {"a": [4.0] * 5})
    assert (line_of(enough).outcome, line_of(enough).leaders) == ("tie", ["b", "c"])
    assert advice not in answer(enough).words


@pytest.mark.parametrize(
    ("metric", "value", "alone", "open_"),
    [
        (
            "drops",
            0.0,
            "the dropped packets in the measured time are 0",
            "The fewest dropped packets in the measured time are open between a and b: ",
        ),
        ("timeouts", 3.0, "the timeouts are 3", "The fewest timeouts are open"),
        (
            "timed_out_short",
            0.5,
            "the short flows with a timeout are 50 %",
            "The fewest short flows with a timeout are",
        ),
        ("queue_mean_pkt", 2.0, "the mean queue is 2 pkt", "The lowest mean queue is open"),
        (
            "unfinished_share_short",
            0.5,
            "the unfinished share of short flows is 50 %",
            "The lowest unfinished share of",
        ),
    ],
)
def test_a_verb_agrees_with_the_metric(metric: str, value: float, alone: str, open_: str) -> None:
    values = {"a": value, "b": value + 0.1}
    runs = [make_run(scheme, 1, scheme, make_rows(**{metric: each}), wall_s=0.1) for scheme, each in values.items()]
    found = [answer(make_results("made", "Made", {}, of), Criteria([metric])).over_points[0] for of in (runs[:1], runs)]
    assert found[0] == f"Under a, {alone}."
    assert found[1].startswith(open_)


def test_the_answer_uses_seeds_that_all_schemes_have() -> None:
    """Over its own six seeds, the mean of a is near that of b. Over the five common seeds, it is a third higher."""
    found = compared({"a": [4.0, 4.1, 4.0, 4.1, 4.0, 0.1], "b": [3.0, 3.1, 3.0, 3.1, 3.0]})
    assert (line_of(found).outcome, line_of(found).leaders) == ("winner", ["b"])
    assert any(each.startswith("Schemes have different seeds") for each in answer(found).words)


def test_of_equal_schemes_a_winner_is_named_in_five_draws_of_a_hundred_at_most() -> None:
    """Six schemes have the same distribution, paired by seed. A scheme that is four times better is found."""
    dice = np.random.default_rng(1)

    def winners(first: float, draws: int) -> float:
        named = 0
        for _ in range(draws):
            values = np.exp(0.3 * dice.normal(size=5) + 0.2 * dice.normal(size=(6, 5)))
            values[0] *= first
            found = line_of(compared({f"s{i}": row.tolist() for i, row in enumerate(values)}))
            named += found.outcome == "winner" and (first == 1 or found.leaders == ["s0"])
        return named / draws

    assert winners(1.0, 1000) <= 0.05
    assert winners(0.25, 100) >= 0.8


def test_the_words_are_those_that_polars_computes_from_raw_flows(shortflow: Command, tmp_path: Path) -> None:
    """The numbers are computed without code of the package: nearest ranks, means over seeds and their ratios."""
    shortflow(
        *("compare", "l2dct-benchmark", "--schemes", "dctcp,l2dct", "--seeds", "5", "--no-ideal"),
        *("--set", "duration=500ms", "--set", "warmup=100ms", "--out", "kept"),
    )
    told = shortflow("report", "kept", "--json").document["studies"][0]["answer"]
    runs = []
    for file in tmp_path.glob("kept/runs/*/flows.parquet"):
        _, scheme, seed = file.parent.name.rsplit("-", 1)[0].removeprefix("l2dct-").rsplit("-", 2)
        flows = pl.read_parquet(file).filter(pl.col("size_bytes") <= 100_000, pl.col("start_s") >= 0.1)
        ordered = flows["slowdown"].sort()
        tail, mean_ms = ordered[-(-99 * len(ordered) // 100) - 1], 1e3 * sum(flows["fct_s"]) / flows.height
        runs.append({"scheme": scheme, "seed": seed, TAIL: tail, MEAN: mean_ms})
    means = pl.DataFrame(runs).group_by("scheme").agg(pl.col(TAIL, MEAN).mean()).sort(TAIL)
    assert means["scheme"].to_list() == ["l2dct", "dctcp"]
    for number, (metric, start) in enumerate([(TAIL, "p99 slowdown"), (MEAN, "mean FCT")]):
        best, factor = means[metric][0], means[metric][0] / means[metric][1]
        words = told["words"][number]
        assert words.startswith(f"l2dct has the lowest {start} of flows up to 100 KB: {best:.2f} ")
        assert words.endswith(f", {factor:.3f} of dctcp's.")
        assert told["lines"][number]["schemes"]["l2dct"]["factor"] == pytest.approx(factor)


def test_no_time_that_is_no_bound_changes_when_the_same_run_gets_a_long_drain() -> None:
    settings: Settings = {"duration": "50ms", "warmup": "5ms", "load": 0.4}
    cut, whole = (
        sf.compare("websearch-star", "dctcp", 2, settings={**settings, "drain": drain}, ideal=False, progress=False)
        for drain in ("0s", "2s")
    )
    exact = 0
    for before, after in zip(cut.results, whole.results, strict=True):
        assert before.metrics["unfinished_share"] > 0.05
        assert after.metrics["unfinished_share"] == 0
        times = {name for name in before.metrics if re.match(r"(slowdown|afct|p\d+)_", name)}
        for name in times - before.lower_bounds:
            assert before.metrics[name] == after.metrics[name], name
            exact += 1
        assert all(before.metrics[name] <= after.metrics[name] for name in times & before.lower_bounds)
        assert {TAIL, MEAN} <= times
    assert exact > 20


def test_equal_numbers_have_their_reason(small: Tables) -> None:
    def words(changes: Settings, *schemes: str) -> list[str]:
        found = sf.compare(sf.load(small).with_(changes), schemes, 2, ideal=False, progress=False)
        return [text for text in answer(found).words if "marked or lost" in text or "although there were" in text]

    held: Settings = {"tcp.receive_window": "2pkt", "load": 0.1}
    unasked = "tcp and dctcp have equal numbers: no packet was marked or lost, so their laws had nothing to decide."
    assert words(held, "tcp", "dctcp") == [unasked]
    (alike,) = words({}, "dctcp", "dctcp+g=0.0625")
    assert re.fullmatch(r"dctcp and .* although there were [\d,]+ marks and 0 drops: the laws decided alike\.", alike)
    (tie,) = words({"tcp.receive_window": "4pkt"}, "tcp", "dctcp")
    assert re.fullmatch(
        r"In \d+ of \d+ flows, no packet was marked or lost under tcp and dctcp, so .* nothing to decide\.", tie
    )
    assert not words({}, "tcp", "dctcp")
