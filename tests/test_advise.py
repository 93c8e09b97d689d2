"""`advise`, on a switch's thresholds: its three commands, its limits, and advice to keep or to change thresholds."""

import json
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import shortflow as sf
from conftest import Command
from shortflow.commands.advise import CHECK_SEEDS, MOST_RUNS, SEEDS, TRIALS, at_ends
from shortflow.imports import sonic
from shortflow.tuning.goal import Parameter
from test_sonic import CONFIG, WRED, changed, file

FEW = ("--trials", "8", "--seeds", "1", "--check-seeds", "4", "--jobs", "1")
SHORT = ("--set", "duration=1ms", "--set", "warmup=200us")


def rack(low: int, high: int, percent: int) -> dict[str, Any]:
    """Four ports at 25 Gbps with one profile."""
    curve = {"green_min_threshold": str(low), "green_max_threshold": str(high), "green_drop_probability": str(percent)}
    return changed("WRED_PROFILE", "SLOW", to={**WRED, **curve})


def test_it_is_three_commands(shortflow: Command, tmp_path: Path) -> None:
    file(tmp_path)
    said = shortflow("advise", "config_db.json", "--load", "0.4", "--out", "advice", "--show", "--json", code=0)
    steps: Mapping[str, list[str]] = json.loads(said.stdout)
    assert [words[0] for words in steps.values()] == ["import", "tune", "export"]
    assert not (tmp_path / "advice").exists()
    ranges = [word for word in steps["tune"] if word.startswith("switch.")]
    assert ranges == [
        "switch.mark_above=7500B:400000B:log",
        "switch.mark_all_above=7500B:1600000B:log",
        "switch.mark_probability=0.01:1:log",
    ]
    assert "topology.hosts=4" in steps["import"]  # the ports at 25 Gbps
    assert TRIALS * SEEDS + SEEDS + 2 * CHECK_SEEDS <= MOST_RUNS
    shown = shortflow("advise", "config_db.json", "--load", "0.4", "--out", "advice", "--show", code=0).stdout
    assert "shortflow tune \\\n" in shown
    # The three printed commands together replace `advise`, so each must be valid.
    shortflow(*steps["import"], *SHORT, code=0)
    few = list(steps["tune"])
    for option, number in (("--trials", "8"), ("--seeds", "1"), ("--check-seeds", "2")):
        few[few.index(option) + 1] = number
    assert shortflow(*few).code in (0, 1)


def test_thresholds_that_starve_the_links_are_to_be_changed(shortflow: Command, tmp_path: Path) -> None:
    """Marks from the second packet on make all flows of 200 KB a fifth longer, so few runs show the difference."""
    config = file(tmp_path, rack(1500, 1500, 100))
    (tmp_path / "sizes.csv").write_text("bytes,cumulative\n200000,0\n200001,1\n", "utf-8")
    goal = ("--load", "0.5", "--minimize", "slowdown_imported", "--set", "duration=3ms", "--set", "warmup=500us")
    said = shortflow(
        "advise",
        "config_db.json",
        "--traffic",
        "sizes.csv",
        *goal,
        "--out",
        "advice",
        *FEW,
        "--check-seeds",
        "8",
        code=0,
    )
    made = json.loads((tmp_path / "advice" / "patch" / "patch.json").read_text())
    assert "switch.mark_above is 1500B today, and the best value is " in said.stdout
    assert "Keep today's thresholds" not in said.stdout
    assert "The patch is advice/patch/patch.json." in said.stdout
    assert list(made["WRED_PROFILE"]) == ["SLOW"]
    assert int(made["WRED_PROFILE"]["SLOW"]["green_max_threshold"]) > 1500
    assert json.loads(config.text)["WRED_PROFILE"]["SLOW"]["green_max_threshold"] == "1500"  # the file stays as it was


def test_thresholds_that_nothing_reaches_are_kept(tmp_path: Path) -> None:
    file(tmp_path, rack(200_000, 400_000, 5))
    found = sf.advise(
        tmp_path / "config_db.json",
        out=tmp_path / "advice",
        load=0.05,
        settings={"duration": "20ms"},
        trials=8,
        seeds=1,
        check_seeds=2,
    )
    assert isinstance(found, sf.Advice)
    assert found.keep
    assert not found.patch
    assert not (tmp_path / "advice" / "patch" / "patch.json").exists()


def test_too_many_runs_and_ports_without_a_profile_are_refused(shortflow: Command, tmp_path: Path) -> None:
    file(tmp_path)
    said = shortflow("advise", "config_db.json", "--out", "advice", "--trials", "100", code=2).stderr
    assert "343 runs; expected at most 200" in said
    config = {key: value for key, value in CONFIG.items() if key != "QUEUE"}
    file(tmp_path, config)
    assert "no WRED profile" in shortflow("advise", "config_db.json", "--out", "advice", code=2).stderr
    (tmp_path / "advice").mkdir()
    assert "advice exists" in shortflow("advise", "config_db.json", "--out", "advice", code=2).stderr


def test_a_threshold_at_the_end_of_its_range_is_named(shortflow: Command, tmp_path: Path) -> None:
    ranges = ("mark_above=7500B:400000B:log", "mark_all_above=1500B:1600000B:log", "mark_probability=0.01:1:log")
    parameters = [Parameter.parse(f"switch.{each}") for each in ranges]
    keys = [each.key for each in parameters]
    assert at_ends(parameters, dict(zip(keys, (50_000, 50_000, 0.1), strict=True))) == []
    low = at_ends(parameters, dict(zip(keys, (7600, 1500, 0.0102), strict=True)))
    # No threshold is below a packet of 1,500 bytes.
    assert [each.partition("--param ")[2] for each in low] == [
        "switch.mark_above=1875B:400000B:log",
        "switch.mark_probability=0.0025:1:log",
    ]
    assert low[0].startswith("switch.mark_above = 7600B is at the low end of its range")
    (high,) = at_ends(parameters, dict(zip(keys, (399_000, 50_000, 1), strict=True)))
    assert high.endswith("--param switch.mark_above=7500B:1600000B:log"), "and no probability is above 1"
    file(tmp_path)
    wider = ("--param", "switch.mark_above=1875B:400000B:log")
    said = shortflow("advise", "config_db.json", "--out", "advice", *wider, "--show", "--json", code=0)
    assert wider[1] in json.loads(said.stdout)["tune"]


@pytest.mark.parametrize("scheme", sonic.SCHEMES)
def test_schemes_over_wred_are_valid(scheme: str) -> None:
    assert sf.run("incast", scheme, settings={"servers": 4, "switch.mark_above": "20KB"}).metrics
    assert shlex.split(scheme)
