"""The survey: who wins by which rule, that nothing is left out, and its page."""

import dataclasses
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from conftest import Command
from shortflow import _core
from shortflow.comparison import Comparison, RunSummary
from shortflow.reproduction.study import Scale
from shortflow.scenario import load_scenario
from shortflow.survey import WORKLOADS, Workload, engine, winners
from shortflow.survey.document import document
from shortflow.survey.pages import write_pages
from shortflow.survey.schemes import IN_SWITCHES, LEFT_OUT, SCHEMES, TOLD
from shortflow.survey.winners import AFCT, GOODPUT, MISSES, P99
from shortflow.survey.workloads import PUBLISHED

ROOT = Path(__file__).parents[1]


def compared(metric: str, values: Mapping[str, Sequence[float]], flows: Mapping[str, int] | None = None) -> Comparison:
    """A comparison of schemes by one metric, of which each has a value for seed 1, 2 and so on."""
    runs = [
        RunSummary(scheme, seed, "", {metric: value, "flows_short": float((flows or {}).get(scheme, 100))}, 0.0)
        for scheme, of_seeds in values.items()
        for seed, value in enumerate(of_seeds, start=1)
    ]
    return Comparison("made", "made", {}, runs)


def names(metric: str, values: Mapping[str, Sequence[float]], flows: Mapping[str, int] | None = None) -> Sequence[str]:
    criterion = {each.metric: each for each in (AFCT, P99, MISSES, GOODPUT)}[metric]
    found = winners(compared(metric, values, flows), criterion)
    assert found is not None
    return found.names


def test_a_scheme_that_is_slower_at_every_seed_by_a_like_ratio_does_not_tie() -> None:
    # The logarithms of the ratios are 0.095, 0.104 and 0.095: their mean less 4.303 standard errors is 0.085.
    assert names("afct_short_s", {"a": [1.0, 2.0, 4.0], "b": [1.1, 2.22, 4.4]}) == ["a"]


def test_a_scheme_whose_interval_includes_no_difference_ties_in_the_order_of_means() -> None:
    # c: logarithms 0.182, -0.105, 0.095, mean 0.057, and 4.303 standard errors are 0.367. d is slower at every seed.
    values = {"d": [1.3, 2.6, 5.2], "c": [1.2, 1.8, 4.4], "a": [1.0, 2.0, 4.0]}
    assert names("afct_short_s", values) == ["a", "c"]


def test_a_hundredfold_more_or_less_is_no_tie() -> None:
    # The differences are 29, 999 and 99, and their interval includes zero; the ratios say it all the same.
    assert names("p99_short_s", {"a": [1.0, 1.0, 1.0], "slow": [30.0, 1000.0, 100.0]}) == ["a"]


def test_equal_values_tie_and_the_only_seed_decides_otherwise() -> None:
    assert names("afct_short_s", {"a": [1.0, 2.0], "b": [1.0, 2.0], "c": [2.0, 4.0]}) == ["a", "b"]
    assert names("afct_short_s", {"a": [1.0], "b": [1.0], "c": [1.1]}) == ["a", "b"]


def test_shares_are_compared_by_difference_so_that_zero_can_win() -> None:
    values = {"a": [0.0, 0.0, 0.0], "rarely": [0.0, 0.01, 0.0], "often": [0.2, 0.3, 0.25]}
    assert names("deadline_miss_short", values) == ["a", "rarely"]


def test_more_goodput_is_better() -> None:
    assert names("flow_goodput_long_bps", {"a": [1e9, 2e9], "b": [3e9, 6e9]}) == ["b"]


def test_a_scheme_that_left_flows_unfinished_cannot_win() -> None:
    values = {"a": [1.0, 1.0], "b": [2.0, 2.0]}
    assert names("afct_short_s", values, flows={"a": 99}) == ["b"]
    assert names("afct_short_s", values) == ["a"]


def test_nothing_is_won_where_nobody_has_the_metric() -> None:
    assert winners(compared("afct_short_s", {"a": [1.0]}), GOODPUT) is None


def test_every_registered_scheme_takes_part_or_is_left_out_for_a_reason() -> None:
    registered = {entry["name"] for entry in _core.registry()["schemes"]}
    assert {*SCHEMES, *LEFT_OUT} == registered
    assert not set(SCHEMES) & set(LEFT_OUT)
    assert {*TOLD, *IN_SWITCHES} <= set(SCHEMES)


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
            assert "ideal-srpt" in scenario.core.ideal_schedulers()


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
    """Flows per second and mean bytes of each kind of traffic, as the scenario says them."""
    units = {"B": 1.0, "KB": 1e3, "MB": 1e6}
    said = [
        re.search(r"([\d.]+) flows/s of mean ([\d.]+)(\w+)", note) for note in load_scenario(tables).traffic_notes()
    ]
    found = [each for each in said if each]
    return [float(each[1]) for each in found], [float(each[2]) * units[each[3]] for each in found]


def test_the_page_has_every_workload_at_every_level(tmp_path: Path) -> None:
    metrics = {"afct_short_s": 1e-3, "p99_short_s": 2e-3, "deadline_miss_short": 0.1, "distance_short": 3.0}
    places = {
        engine.Place(workload, level): Comparison(
            workload.name,
            workload.title,
            {},
            [RunSummary(scheme, 1, "", {**metrics, "flow_goodput_long_bps": 1e9}, 0.0) for scheme in SCHEMES],
        )
        for workload in WORKLOADS.values()
        for level in workload.levels
    }
    page = write_pages(
        engine.Survey(Scale.QUICK, {"transport.initial_alpha": "1"}, places, 0, 0, 0.0), tmp_path
    ).read_text(encoding="utf-8")
    markdown = (tmp_path / "beyond.md").read_text(encoding="utf-8")
    for place in places:
        row = f"{place.workload.name} {place.label}"
        assert row in markdown
        assert row in page
    for scheme in (*SCHEMES, *LEFT_OUT):
        assert scheme in markdown
    assert page.count('id="map-') == 4
    assert "Changed: transport.initial_alpha=1." in markdown


def test_equal_numbers_of_a_heat_map_have_equal_colours_and_its_caption_says_what_bold_means(tmp_path: Path) -> None:
    slower = dict(zip(SCHEMES, (1.0, 1.001, 1.012, 1.013, 1.04, 34.96, 35.04, *(2.0,) * len(SCHEMES)), strict=False))
    workload = WORKLOADS["fast"]
    runs = [
        RunSummary(scheme, 1, "", {"p99_short_s": 1e-3 * slower[scheme], "distance_short": 3.0}, 0.0)
        for scheme in SCHEMES
    ]
    places = {engine.Place(workload, level): Comparison("fast", "", {}, runs) for level in workload.levels}
    page = write_pages(engine.Survey(Scale.QUICK, {}, places, 0, 0, 0.0), tmp_path).read_text(encoding="utf-8")
    found = re.search(r'newPlot\(\s*"map-p99_short_s",\s*(\[.*?\]),\s*\{"template"', page, re.DOTALL)
    assert found
    (heat,) = json.loads(found[1])
    shown = [re.sub("<.*?>", "", row[0]) for row in heat["text"]]
    assert shown[:7] == ["1", "1", "1.01", "1.01", "1.04", "35", "35"]
    assert len({row[0] for row in heat["z"]}) == len(set(shown)) == 5
    assert page.count("95 % intervals that are not adjusted for the number of schemes") == page.count('id="map-')


def test_the_committed_page_has_every_workload_and_scheme() -> None:
    page = (ROOT / "docs" / "reproduction" / "beyond.md").read_text(encoding="utf-8")
    for workload in WORKLOADS.values():
        assert all(f"| {workload.name} {workload.label(level)} |" in page for level in workload.levels)
        assert f"`{workload.name}`: {workload.about}." in page
    assert all(f"| {scheme} |" in page for scheme in SCHEMES)


def test_the_command_answers_with_one_document(shortflow: Command, tmp_path: Path) -> None:
    call = ("survey", "fast", "--set", "traffic.1.repeat=1", "--set", "duration=20ms")
    answer = shortflow(*call, "--json", "--jobs", "2", "--out", "here").document
    assert [place["level"] for place in answer["places"]] == [20, 50, 100]
    for place in answer["places"]:
        assert set(place["schemes"]) == set(SCHEMES)
        assert "flow_goodput_long_bps" not in place["winners"]
        best = place["winners"]["afct_short_s"][0]
        means = {scheme: table["afct_short_s"]["mean"] for scheme, table in place["schemes"].items()}
        assert means[best] == min(means.values())
        assert place["schemes"][best]["distance_short"]["mean"] >= 1
    assert (tmp_path / "here" / "beyond.md").is_file()


def test_a_setting_reaches_workload_and_schemes_and_nothing_runs_twice(tmp_path: Path) -> None:
    few = dataclasses.replace(WORKLOADS["fast"], levels=(20,))
    settings = {"transport.initial_alpha": 1, "traffic.1.repeat": 2}
    first, second = (engine.survey([few], scale=Scale.QUICK, out=tmp_path, settings=settings) for _ in range(2))
    assert first.settings == {"transport.initial_alpha": "1", "traffic.1.repeat": "2"}
    assert (first.reused, second.reused) == (0, first.runs)
    assert document(first)["places"] == document(second)["places"]
    (comparison,) = first.places.values()
    assert set(comparison.values("tcp", "flows_short").values()) == {40.0}
    record = json.loads(next(tmp_path.glob("runs/scenario-dctcp-seed1-*/result.json")).read_text(encoding="utf-8"))
    values = {each["key"]: each["value"] for each in record["provenance"]["scheme_settings"]}
    assert values["transport.initial_alpha"] == "1"


def test_an_unknown_workload_is_named_with_the_nearest(shortflow: Command) -> None:
    answer = shortflow("survey", "websaerch")
    assert answer.code == 2
    assert 'did you mean "websearch"' in answer.stderr
