"""Fig. 14 of L2DCT on Linux, with a stand-in for the program."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

import shortflow
from conftest import Command, Patch
from shortflow.api.judge import Verdict
from shortflow.api.runs import Results
from shortflow_linux import kernels
from shortflow_papers import fig14_on_linux as fig14
from shortflow_papers.lab.finding import Finding
from stand_in import StandIn, document, stand_in


@pytest.fixture
def kernel(monkeypatch: Patch) -> StandIn:
    return stand_in(monkeypatch)


def test_fig14_resumes_and_decides_its_claims(monkeypatch: Patch, kernel: StandIn, shortflow: Any) -> None:
    on_time = {
        scheme: document("trustworthy", fig14.SCENARIO, scheme, fig14._settings(scheme, 1, fig14.SCALED_MB))
        for scheme in fig14.SCHEMES
    }
    late = {scheme: answer.replace("trustworthy", "too late") for scheme, answer in on_time.items()}

    def calls(*options: str) -> tuple[int, list[str], str]:
        kernel.calls.clear()
        command = ("linux", "fig14", "--flows", "1", "--repeat", "2", "--out", "out", "--attempts", "1", *options)
        answer = shortflow(*command)
        made = [f"{'check' if '--check' in call else 'run'} {call[2]}" for call in kernel.calls]
        return answer.code, made, answer.stdout

    kernel.of_scheme, kernel.code = {**on_time, "tcp": late["tcp"], "dctcp": ""}, 1
    code, made, _ = calls()
    assert (code, made[4:]) == (3, ["run tcp", "run tcp-ecn", "run dctcp"])
    assert made[:4] == [f"check {scheme}" for scheme in fig14.SCHEMES], "conflicts show before anything runs"
    kernel.of_scheme["dctcp"] = on_time["dctcp"]
    code, made, _ = calls()
    assert (code, made[4:7]) == (1, ["run tcp", "run dctcp", "run l2dct"])
    assert made[7:] == [f"run {scheme}" for scheme in fig14.SCHEMES]
    code, made, text = calls()
    assert (code, made) == (1, ["check tcp", "run tcp", "run tcp"]), "those that did not keep time, and no others"
    assert "6 of 8" in text
    assert "0 of 2" in text
    kernel.of_scheme["tcp"] = on_time["tcp"]
    _, made, text = calls()
    assert len(made) == 3
    assert "8 of 8" in text
    code, made, text = calls("--json")
    assert (code, made) == (1, []), "one that kept time takes the other's place; one of the claims differs"
    verdicts = {claim["id"].removeprefix("l2dct/fig14"): claim["verdict"] for claim in json.loads(text)["claims"]}
    assert verdicts["a-testbed-vs-dctcp"] == verdicts["a-testbed-vs-tcp"] == "untested", "one flow is not every number"
    (gaps,) = (each["measured"] for each in json.loads(text)["claims"] if each["id"].endswith("finish-gap"))
    # Flows of 5 MB take 0.457 and 0.973 s here. Flows of the paper's size take 20 times as long.
    later = next(value for what, value in gaps.items() if "with dctcp later than with l2dct" in what)
    assert later == pytest.approx(10.31, rel=0.01)
    assert verdicts["b-testbed-split"] == verdicts["b-testbed-fair-baselines"] == "agrees"
    monkeypatch.setattr(kernels.ThisKernel, "identity", "another build")
    kernel.of_scheme |= {"dctcp": late["dctcp"], "tcp-ecn": late["tcp-ecn"]}
    _, made, text = calls("--json")
    assert made.count("run l2dct") == 2, "runs of another program are not taken for those of this one"
    claims = {claim["id"].removeprefix("l2dct/fig14"): claim for claim in json.loads(text)["claims"]}
    assert claims["b-testbed-split"]["verdict"] == "agrees", "all of its runs did"
    assert claims["b-testbed-fair-baselines"]["verdict"] == claims["b-testbed-finish-gap"]["verdict"] == "untested"
    assert "kept time in 0 of the 4 runs" in claims["b-testbed-fair-baselines"]["reason"]
    assert "kept time in 2 of the 6 runs" in claims["b-testbed-finish-gap"]["reason"]


@pytest.mark.parametrize(
    ("worst", "best", "kept", "options", "code"),
    [
        (Verdict.AGREES, Verdict.AGREES, "trustworthy", (), 0),
        (Verdict.DIFFERS, Verdict.AGREES, "trustworthy", (), 0),
        (Verdict.DIFFERS, Verdict.DIFFERS, "trustworthy", ("--allow-late",), 1),
        (Verdict.UNTESTED, Verdict.UNTESTED, "trustworthy", ("--allow-late",), 1),
        (Verdict.UNTESTED, Verdict.UNTESTED, "too late", (), 1),
        (Verdict.UNTESTED, Verdict.UNTESTED, "too late", ("--allow-late",), 0),
    ],
)
def test_the_exit_code_is_that_of_reproduce_but_for_late_runs(
    monkeypatch: Patch,
    kernel: StandIn,
    shortflow: Command,
    worst: Verdict,
    best: Verdict,
    kept: str,
    options: Sequence[str],
    code: int,
) -> None:
    settings = fig14._settings("tcp", 1, fig14.SCALED_MB)
    kernel.of_scheme = dict.fromkeys(fig14.SCHEMES, document(kept, fig14.SCENARIO, "tcp", settings))
    (claim, *_) = fig14.fig14_claims({1: Results([], fig14.SCENARIO, "", {})})
    monkeypatch.setattr(fig14, "fig14_claims", lambda _: [replace(claim, finding=Finding(worst, best))])
    run = ("linux", "fig14", "--flows", "1", "--repeat", "1", "--attempts", "1", *options)
    assert "in a simulation" not in shortflow(*run, code=code).stdout, "the kernel was measured"


@pytest.mark.parametrize("size_mb", [fig14.SCALED_MB, fig14.FULL_MB])
def test_fig14s_long_flow_has_the_smallest_weight_when_the_others_start(size_mb: int) -> None:
    settings = fig14._settings("l2dct", 1, size_mb)
    result = shortflow.run(shortflow.load(fig14.SCENARIO), "l2dct", settings=settings)
    share = size_mb * 8 / result.metrics["afct_short_s"] / 96.5
    assert share > 0.8, "with equal weights it is a half"


def test_ctrl_c_is_answered_with_where_the_runs_are(kernel: StandIn, shortflow: Command) -> None:
    kernel.fails = KeyboardInterrupt()
    answer = shortflow("linux", "fig14", "--out", "kept", code=130)
    assert "shortflow: interrupted" in answer.stderr
    assert "are stored in kept" in answer.stderr
