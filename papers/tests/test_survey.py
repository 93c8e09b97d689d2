"""The survey: rules for winners, completeness, and its page."""

import dataclasses
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from browser import Browser
from conftest import Command
from made import answered, make_results, make_rows, make_run
from shortflow import _core
from shortflow.criteria import Criteria
from shortflow.metrics.catalogue import UNFINISHED_SHARE, possible
from shortflow.metrics.statistic import Metric, MetricValue
from shortflow.report.answer import answer
from shortflow.report.library import library
from shortflow.report.wording import NOTHING
from shortflow.results import Results
from shortflow.scenario import load_scenario
from shortflow.scheme import load_schemes
from shortflow.store.runs import load_run
from shortflow_papers.lab.study import Scale
from shortflow_papers.survey import WORKLOADS, Cell, Survey, Workload, engine, judge_cells, words
from shortflow_papers.survey.pages import survey_evidence, survey_table, write_survey_page
from shortflow_papers.survey.schemes import IN_SWITCHES, LEFT_OUT, NEEDS, SCHEMES, initial_alphas
from shortflow_papers.survey.tables import DAGGER
from shortflow_papers.survey.winners import AFCT, CRITERIA, SEVERAL, SOLE, TIE, UNDECIDED
from shortflow_papers.survey.workloads import PUBLISHED

ROOT = Path(__file__).parents[2]


def compared(metric: str, values: Mapping[str, Sequence[float]], unfinished: Sequence[str] = ()) -> Results:
    """A comparison of schemes by one metric, with each scheme's values for seeds 1, 2 and so on."""
    about = possible(("short", "long"))[metric]
    share = Metric(UNFINISHED_SHARE, about.flow_class)
    runs = [
        make_run(
            scheme,
            seed,
            "",
            [
                MetricValue(about, value, lower_bound=scheme in unfinished),
                MetricValue(share, 0.01 * (scheme in unfinished)),
            ],
        )
        for scheme, of_seeds in values.items()
        for seed, value in enumerate(of_seeds, start=1)
    ]
    return make_results("made", "made", {}, runs)


def cell(metric: str, values: Mapping[str, Sequence[float]], unfinished: Sequence[str] = ()) -> Cell:
    """The only cell of a survey of one comparison."""
    (cells,) = judge_cells([compared(metric, values, unfinished)])
    return cells[next(each for each in CRITERIA if each.metric == metric)]


def test_a_cell_is_decided_like_the_answer() -> None:
    draws = np.random.default_rng(7).lognormal(0.0, 0.1, (20, 4, 6)) * [[1.0], [1.02], [1.3], [1.4]]
    outcomes = set()
    for table in draws:
        found = compared("afct_short_s", {name: list(row) for name, row in zip("abcd", table, strict=True)})
        (told,) = answer(found, Criteria([AFCT.metric])).lines
        ((decided,),) = (cells.values() for cells in judge_cells([found]))
        assert (decided.line.outcome, decided.best) == (told.outcome, told.leaders)
        outcomes.add(told.outcome)
    assert outcomes == {"winner", "open"}


def test_a_winner_of_one_cell_among_many_without_is_no_discovery() -> None:
    # Residuals are ±0.083, ±0.167 and 0: the logarithm of the ratio, 0.182, has the error 0.059, so t is 3.1 and p is
    # 3.6 %.
    winning = compared("afct_short_s", {"a": [1.0] * 5, "b": [1.1, 1.3, 1.001, 1.399, 1.2]})
    equal = compared("afct_short_s", {"a": [1.0, 2.0, 4.0, 2.0, 1.0], "b": [1.3, 1.5, 4.9, 1.6, 1.3]})
    (alone,) = judge_cells([winning])
    assert alone[AFCT].outcome == SOLE
    among, *others = judge_cells([winning, *[equal] * 20])
    assert among[AFCT].best == ["a"]
    assert among[AFCT].outcome == UNDECIDED
    assert not among[AFCT].wins("a")
    assert all(each[AFCT].outcome == UNDECIDED for each in others)
    # Among many cells with equally clear winners, the winner is confirmed.
    assert all(each[AFCT].outcome == SOLE for each in judge_cells([winning] * 20))


def test_a_hundredfold_more_or_less_is_told_apart() -> None:
    found = cell("p99_short_s", {"a": [1.0] * 5, "slow": [30.0, 1000.0, 100.0, 300.0, 100.0]})
    assert found.outcome == SOLE


def test_equal_values_tie_and_few_seeds_decide_nothing() -> None:
    values = {"a": [1.0, 2.0, 1.5, 1.0, 2.0], "b": [1.0, 2.0, 1.5, 1.0, 2.0], "c": [2.0, 4.0, 3.0, 2.0, 4.0]}
    found = cell("afct_short_s", values)
    assert (found.best, found.outcome, found.wins("a"), found.wins("c")) == (["a", "b"], TIE, True, False)
    every = cell("afct_short_s", {"a": values["a"], "b": values["b"]})
    assert (every.outcome, every.wins("a")) == (TIE, False)
    assert cell("afct_short_s", {"a": [1.0] * 4, "b": [2.0] * 4}).outcome == UNDECIDED
    assert cell("afct_short_s", {"a": [1.0], "b": [1.1]}).outcome == UNDECIDED


def test_no_missed_deadline_can_win() -> None:
    values = {"a": [0.0] * 5, "rarely": [0.0, 0.01, 0.0, 0.0, 0.0], "often": [0.2, 0.3, 0.25, 0.2, 0.3]}
    found = cell("deadline_miss_short", values)
    assert (found.best, found.outcome) == (["a", "rarely"], SEVERAL)


def test_more_goodput_is_better() -> None:
    found = cell("flow_goodput_long_bps", {"a": [1e9, 1.1e9, 0.9e9, 1e9, 1e9], "b": [3e9, 3.3e9, 2.7e9, 3e9, 3e9]})
    assert (found.best, found.outcome) == (["b"], SOLE)


def test_a_scheme_that_left_flows_unfinished_has_a_lower_bound_alone() -> None:
    values = {"a": [1.0] * 5, "b": [2.0] * 5, "c": [2.0] * 5, "d": [3.0] * 5}
    found = cell("afct_short_s", values, unfinished=["a"])
    assert (found.best, found.unfinished, found.outcome) == (["b", "c", "a"], ["a"], SEVERAL)
    assert cell("afct_short_s", values).best == ["a"]
    late = cell("afct_short_s", {**values, "a": [9.0] * 5}, unfinished=["a"])
    assert (late.best, late.unfinished, late.outcome) == (["b", "c"], ["a"], TIE)


def test_there_is_no_cell_where_nobody_has_the_metric() -> None:
    (cells,) = judge_cells([compared("afct_short_s", {"a": [1.0]})])
    assert list(cells) == [AFCT]


def test_every_registered_scheme_takes_part_or_is_left_out_for_a_reason() -> None:
    registered = {entry["name"] for entry in _core.registry()["schemes"]}
    assert {*SCHEMES, *LEFT_OUT} == registered
    assert not set(SCHEMES) & set(LEFT_OUT)
    assert {*NEEDS, *IN_SWITCHES} <= set(SCHEMES)


@pytest.mark.parametrize("workload", WORKLOADS.values(), ids=lambda workload: workload.name)
def test_a_workload_has_three_levels_of_short_flows_with_deadlines_and_an_ideal(workload: Workload) -> None:
    assert len(workload.levels) == 3
    for scale in Scale:
        for level in workload.levels:
            scenario = workload.scenario(level, scale)
            values = {setting["key"]: setting["value"] for setting in scenario.resolved()}
            short = [key.removesuffix("class") for key in values if re.fullmatch(r"traffic\.\d+\.class", key)]
            short = [prefix for prefix in short if values[f"{prefix}class"] == "short"]
            assert short
            assert all(f"{prefix}deadline.kind" in values for prefix in short)
            assert "ideal-srpt" in scenario.core.ideal_schedulers()[0]


@pytest.mark.parametrize("scale", Scale)
@pytest.mark.parametrize("published", PUBLISHED, ids=lambda published: published.name)
def test_short_and_long_flows_together_are_the_published_distribution(published: Any, scale: Scale) -> None:
    divided = WORKLOADS[published.name].tables(0.5, scale)
    whole = {key: value for key, value in divided["traffic"][0].items() if key not in ("class", "deadline")}
    whole |= {"load": 0.5, "sizes": {"kind": "published", "name": published.name}}
    if scale is Scale.QUICK:
        whole["sizes"]["max"] = published.QUICK_MAX
    rates, sizes = _rates({**divided, "title": "divided"})
    (rate,), (size,) = _rates({**divided, "title": "whole", "traffic": [whole]})
    assert sum(rates) == pytest.approx(rate, rel=2e-3)
    assert sum(r * s for r, s in zip(rates, sizes, strict=True)) / sum(rates) == pytest.approx(size, rel=2e-3)


def _rates(tables: dict[str, object]) -> tuple[list[float], list[float]]:
    """Flows per second and mean size in bytes of each traffic entry, from the scenario's notes."""
    units = {"B": 1.0, "KB": 1e3, "MB": 1e6}
    said = [
        re.search(r"([\d.]+) flows/s of mean ([\d.]+)(\w+)", note) for note in load_scenario(tables).traffic_notes()
    ]
    found = [each for each in said if each]
    return [float(each[1]) for each in found], [float(each[2]) * units[each[3]] for each in found]


METRICS = {"afct_short_s": 1e-3, "p99_short_s": 2e-3, "deadline_miss_short": 0.1, "distance_short": 3.0}


def made_survey(
    of_alpha: Mapping[str, Mapping[str, float]],
    workloads: Sequence[Workload],
    settings: Mapping[str, str] | None = None,
) -> Survey:
    """A survey in which all schemes have equal values, except for the given mean times by initial alpha."""
    places = [engine.SurveyPlace(workload, level) for workload in workloads for level in workload.levels]
    made = {}
    for alpha, means in of_alpha.items():
        runs = [
            make_run(s, seed, "", make_rows(**METRICS | {"afct_short_s": means.get(s, 1.0) * (1 + seed / 100)}), 0.0)
            for s in SCHEMES
            for seed in range(1, 6)
        ]
        made[alpha] = {place: make_results(place.workload.name, place.workload.title, {}, runs) for place in places}
    return Survey(Scale.QUICK, settings or {}, engine.views(made), 5, 0, 0, 0.0)


def test_the_page_has_every_workload_at_every_level(tmp_path: Path) -> None:
    found = made_survey({"0": {}, "1": {}}, list(WORKLOADS.values()), {"tcp.initial_window": "4"})
    page = write_survey_page(found, tmp_path).read_text(encoding="utf-8")
    on_the_site = survey_evidence(json.loads((tmp_path / "beyond.json").read_text(encoding="utf-8")))
    for text in (page, on_the_site):
        for place in found.views[0].places:
            assert f">{place.name}</th>" in text
        for scheme in (*SCHEMES, *LEFT_OUT):
            assert scheme in text
        assert "Changed: tcp.initial_window=4." in text
    # Three criteria have a map. The fourth has none, because no flow here has a goodput.
    assert page.count("<figure") == 2 * 3


@pytest.mark.parametrize(("width", "dark"), [(320, True), (1280, False)])
def test_a_browser_finds_no_fault_with_the_page(browser: Browser, tmp_path: Path, width: int, dark: bool) -> None:
    page = write_survey_page(made_survey({"0": {}, "1": {"fast": 0.5}}, [WORKLOADS["fast"]]), tmp_path)
    assert browser.see(page, width=width, dark=dark).faults == []


def test_hostile_names_are_text_everywhere(tmp_path: Path) -> None:
    hostile = "</script><img src=x onerror=alert(1)>|`*[x](javascript:alert(1))"
    workload = dataclasses.replace(WORKLOADS["fast"], name=hostile, title=hostile, about=hostile)
    found = made_survey({"0": {}, hostile: {}}, [workload], {hostile: hostile})
    page = write_survey_page(found, tmp_path).read_text(encoding="utf-8")
    on_the_site = survey_evidence(json.loads((tmp_path / "beyond.json").read_text(encoding="utf-8")))
    for text in (page.replace(library(), ""), on_the_site):
        assert "&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;" in text
        assert "<img" not in text
    # The scripts are the configuration, the library, the drawing code, and the data of each map.
    assert page.count("</script>") == 3 + page.count("<figure")
    assert "</script>" not in on_the_site


def test_conclusions_are_the_counts_of_the_cells(tmp_path: Path) -> None:
    found = made_survey({"0": {"pecn-pmark": 0.5, "fast": 0.5}, "1": {"fast": 0.5}}, [WORKLOADS["fast"]])
    first, other = found.views
    assert words.conclusions(first)[0] == (
        "Mean FCT, short, on bursts to one host (3 cells). Sole winners: none. Tied for the best: 2 "
        "schemes in the median of 3 cells, most often with fast, pecn-pmark (3). Undecided: none."
    )
    assert words.conclusions(other)[0] == (
        "Mean FCT, short, on bursts to one host (3 cells). Sole winners: fast in 3 "
        "(fast 20 at once, fast 50 at once, "
        "fast 100 at once). Undecided: none."
    )
    effect = words.alpha_effects(found)[0]
    assert "plain tcp-ecn is among the best in 0 of 3 cells at alpha 0 and in 0 at alpha 1." in effect
    assert (
        "The others, alone, tied or not told apart from the best: pecn-pmark 3 → 0; as often at both: fast 3." in effect
    )
    assert "Cells with a sole winner: 0 at alpha 0, 3 at alpha 1." in effect
    page = write_survey_page(found, tmp_path).read_text(encoding="utf-8")
    assert all(sentence in page for sentence in (*words.conclusions(first), *words.alpha_effects(found)))


def heat_map(tmp_path: Path, **metrics: Mapping[str, float]) -> tuple[list[str], list[float | None]]:
    """Texts and values of the first map with these metrics of each scheme, at one level."""
    workload = WORKLOADS["fast"]
    runs = [
        make_run(scheme, 1, "", make_rows(**{name: of[scheme] for name, of in metrics.items()}), 0.0)
        for scheme in SCHEMES
    ]
    places = {engine.SurveyPlace(workload, level): make_results("fast", "", {}, runs) for level in workload.levels}
    found = Survey(Scale.QUICK, {}, engine.views({"0": places}), 1, 0, 0, 0.0)
    page = write_survey_page(found, tmp_path).read_text(encoding="utf-8")
    script, *_ = re.findall(r"<figure.*?<script type=.application/json.>(.*?)</script>", page, re.DOTALL)
    packed = json.loads(script)
    column = {
        name: values if isinstance(values, list) else [value for value, count in values["runs"] for _ in range(count)]
        for name, values in zip(packed["columns"], packed["values"], strict=True)
    }
    return column["said"][: len(SCHEMES)], column["value"][: len(SCHEMES)]


def test_equal_numbers_of_a_heat_map_have_equal_colours(tmp_path: Path) -> None:
    times = dict(zip(SCHEMES, (1.0, 1.001, 1.012, 1.013, 1.04, 34.96, 35.04, *(2.0,) * len(SCHEMES)), strict=False))
    distances = dict.fromkeys(SCHEMES, 3.0)
    shown, values = heat_map(
        tmp_path, p99_short_s={scheme: 1e-3 * of for scheme, of in times.items()}, distance_short=distances
    )
    assert shown[:7] == ["1", "1", "1.01", "1.01", "1.04", "35", "35"]
    assert len(set(values)) == len(set(shown)) == 5


def test_a_heat_map_has_no_numbers_where_every_scheme_left_flows_unfinished(tmp_path: Path) -> None:
    late = dict.fromkeys(SCHEMES, 0.1)
    shown, values = heat_map(tmp_path, p99_short_s=late, distance_short=late, unfinished_share_short=late)
    assert {*shown} == {f"{NOTHING} {DAGGER}"}
    assert {*values} == {None}


def test_the_command_answers_with_one_document(shortflow: Command, tmp_path: Path) -> None:
    call = ("survey", "fast", "--set", "traffic.1.repeat=1", "--set", "duration=20ms", "--seeds", "2")
    answer = shortflow(*call, "--json", "--jobs", "2", "--out", "here").document
    assert [view["initial_alpha"] for view in answer["views"]] == ["0", "1"]
    for view in answer["views"]:
        assert [place["level"] for place in view["places"]] == [20, 50, 100]
        for place in view["places"]:
            assert set(place["schemes"]) == set(SCHEMES)
            assert "flow_goodput_long_bps" not in place["cells"]
            found = place["cells"]["afct_short_s"]
            best, *others = found["best"]
            means = {scheme: table["afct_short_s"]["mean"] for scheme, table in place["schemes"].items()}
            assert [best, *others] == sorted(means, key=lambda scheme: means[scheme])
            assert {scheme: lead["relative"] for scheme, lead in found["lead"].items()} == pytest.approx(
                {scheme: means[best] / means[scheme] - 1 for scheme in others if means[scheme] != means[best]}, abs=1e-9
            )
            assert place["schemes"][best]["distance_short"]["mean"] >= 1
        wins = view["wins"]["afct_short_s"]
        verdicts = [place["cells"]["afct_short_s"]["verdict"] for place in view["places"]]
        assert sum(each["alone"] for each in wins.values()) == verdicts.count("alone")
    tcp, dctcp = ([view["places"][0]["schemes"][s] for view in answer["views"]] for s in ("tcp", "dctcp"))
    assert tcp[0] == tcp[1]
    assert dctcp[0] != dctcp[1]
    assert (tmp_path / "here" / "beyond.json").is_file()


def test_a_setting_reaches_workload_and_schemes_and_nothing_runs_twice(tmp_path: Path) -> None:
    few = dataclasses.replace(WORKLOADS["fast"], levels=(20,))
    settings = {"transport.initial_alpha": 1, "traffic.1.repeat": 2}
    first, second = (answered(tmp_path, engine.ask_survey([few], Scale.QUICK, settings, seeds=2)) for _ in range(2))
    assert first.settings == {"transport.initial_alpha": "1", "traffic.1.repeat": "2"}
    assert (first.reused, second.reused) == (0, first.runs)
    assert survey_table(first)["views"] == survey_table(second)["views"]
    (view,) = first.views
    assert view.alpha == "1"
    (comparison,) = view.places.values()
    assert set(comparison.values("tcp", "flows_short").values()) == {40.0}
    kept = load_run(next(tmp_path.glob("runs/scenario-dctcp-seed1-*")))
    values = {each["key"]: each["value"] for each in kept.provenance["scheme_settings"]}
    assert values["transport.initial_alpha"] == "1"


def test_each_view_has_its_initial_alpha() -> None:
    papers, linux = initial_alphas({}).values()
    assert linux == {scheme: scheme for scheme in SCHEMES}
    for names, alpha in ((papers, "0"), (linux, "1")):
        for scheme, name in names.items():
            (built,) = load_schemes([name])
            values = {key: value for key, value, _ in built.resolved()}
            assert values.get("transport.initial_alpha") in (None, "1" if scheme == "fast" else alpha)
    assert len(set(papers.values()) - set(SCHEMES)) > 5
