"""`new-paper`: its package works, and errors name the remedy. test_docs.py runs docs/your-own-paper.md."""

import functools
import logging
import sys
from collections.abc import Iterator
from dataclasses import replace
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import NoReturn

import pytest

from conftest import Command, Patch, ran
from made import answered
from shortflow import ConfigError
from shortflow.api.runs import plan
from shortflow.api.scenarios import Settings, load_scenario
from shortflow.errors import ExitCode
from shortflow_papers import lab, papers
from shortflow_papers.lab.finding import fact
from shortflow_papers.lab.quantity import ClaimCondition
from shortflow_papers.lab.study import Scale
from shortflow_papers.papers.common import NS_DEFAULTS
from shortflow_papers.reproduction.engine import ask_reproduction, select


@pytest.fixture
def mine(shortflow: Command, tmp_path: Path, monkeypatch: Patch) -> Iterator[Path]:
    """A new paper `mine`, installed. Caches of figures are renewed for the test, and restored after it."""
    shortflow("new-paper", "mine", code=0)
    for each in (papers.every_paper, papers._read):
        monkeypatch.setattr(f"shortflow_papers.papers.{each.__name__}", functools.cache(each.__wrapped__))
    monkeypatch.syspath_prepend(tmp_path / "mine")
    offer(monkeypatch, ("mine", "paper_mine"))
    yield tmp_path / "mine/paper_mine"
    for name in [name for name in sys.modules if name.partition(".")[0] == "paper_mine"]:
        del sys.modules[name]


def offer(monkeypatch: Patch, *added: tuple[str, str]) -> None:
    """Makes these papers, each with the name of its package, the only ones that entry points add."""
    every = entry_points
    points = [EntryPoint(paper, package, papers.GROUP) for paper, package in added]
    monkeypatch.setattr(
        "shortflow.installed.entry_points", lambda group: points if group == papers.GROUP else every(group=group)
    )


def edit(file: Path, changes: dict[str, str]) -> None:
    """Replaces texts of a file, each of which the file must have."""
    text = file.read_text("utf-8")
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    file.write_text(text, "utf-8")


def test_what_is_written_is_as_this_project_writes(shortflow: Command, tmp_path: Path) -> None:
    for out, place in (("a b", "'./a b'"), (str(tmp_path / "c"), tmp_path / "c")):
        told = " ".join(shortflow("new-paper", "my-law", "--out", out, code=0).stdout.split())
        assert told.endswith(f"Next: pip install {place}, and then shortflow reproduce my-law")
    answer = shortflow("new-paper", "my-law", "--out", "mine", "--json", code=0)
    files = [tmp_path / name for name in answer.document["files"]]
    assert [str(path.relative_to(tmp_path / "mine")) for path in files] == [
        *("pyproject.toml", "README.md", "paper_my_law/__init__.py", "paper_my_law/fig1.py", "tests/test_claims.py")
    ]
    for path in files:
        text = path.read_text("utf-8")
        assert not [word for word in ("NAME", "MODULE", "VERSION") if word in text]
    ruff = [sys.executable, "-m", "ruff"]
    for arguments in (["check", "--ignore", "D103"], ["format", "--check"]):
        done = ran([*ruff, *arguments, "--config", Path(__file__).parents[2] / "pyproject.toml", tmp_path / "mine"])
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["Swift"], "NAME: 'Swift' is not lower-case letters, digits and single hyphens, such as my-law"),
        (["my_law"], "NAME: 'my_law' is not"),
        (["l2dct"], "NAME: there is a paper 'l2dct' already; `shortflow list figures l2dct` shows it"),
        (["mine", "--out", "."], ".: exists already; name another place with --out"),
    ],
)
def test_wrong_names_are_refused(shortflow: Command, arguments: list[str], message: str) -> None:
    assert message in shortflow("new-paper", *arguments, code=2).stderr


MISFITS = {
    "a syntax error": ("fig1.py", "fig1.draw(", "fig1.draw((", "SyntaxError: '(' was never closed (fig1.py, line 19)"),
    "a name that is missing": ("fig1.py", "lab.Curves(", "lab.Curve(", "AttributeError: module 'shortflow_papers.lab'"),
    "an error at import": (
        "__init__.py",
        "CHOICES = {",
        "1 / 0\nCHOICES = {",
        "by zero (__init__.py, line 5)",
    ),
    "a figure of another": ("fig1.py", '"mine/fig1"', '"other/fig1"', "other/fig1: figures and claims of this package"),
    "a claim of another": ("fig1.py", "mine/fig1-", "other/fig1-", "must be named mine/…"),
    "no figure": (
        "fig1.py",
        "fig1.draw(",
        "fig1 = [fig1]\nfig1[0].draw(",
        "no module of paper_mine has a lab.Figure",
    ),
    "figures of one name": (
        "fig1.py",
        "fig1.draw",
        "from copy import copy\ntwin = copy(fig1)\nfig1.draw",
        "mine/fig1: two figures have this name",
    ),
    "claims of one name": (
        "fig1.py",
        "fig1.draw",
        "fig1.claims *= 2\nfig1.draw",
        "two claims have this name",
    ),
    "a text for a list": (
        "fig1.py",
        '["tcp", "dctcp"]',
        '"dctcp"',
        """schemes: 'dctcp' is not a list of schemes, such as ["dctcp", "swift"] (fig1.py, line 5)""",
    ),
    "a value for a grid": ("fig1.py", "[20, 40]", "20", "servers in over: 20 is not a list of values"),
    "studies without names": ("fig1.py", '{"burst": BURST}', "[BURST]", "is not studies by name, such as"),
    "a study for studies": ("fig1.py", '{"burst": BURST}', "BURST", "is not studies by name, such as"),
    "keys in a mapping": (
        "fig1.py",
        '.over("servers")',
        '.at({"servers": 20})',
        "at({'servers': 20}): name keys as arguments, such as at(load=0.2, transport__g=",
    ),
    "a condition that is not called": (
        "fig1.py",
        ".below()",
        ".below",
        "mine/fig1-shorter-queue: condition 1: Quantity.below is not a condition; end a quantity with one",
    ),
    "a quantity for a condition": ("fig1.py", ".below()", "", "condition 1: Quantity("),
    "a claim without condition": (
        "fig1.py",
        "fig1.draw(",
        "fig1.claim('mine/idle')\nfig1.draw(",
        "mine/idle: has no condition; give says(…) a statement and a condition",
    ),
    "an unknown study": (
        "fig1.py",
        '"queue_p99_pkt")',
        '"queue_p99_pkt", "bursts")',
        'mine/fig1-shorter-queue: "bursts": unknown study of the figure; did you mean "burst"?',
    ),
    "an unknown study of a drawing": (
        "fig1.py",
        "fig1.draw(",
        "fig1.draw(lambda bursts: [])\nfig1.draw(",
        'mine/fig1: draw: "bursts": unknown study of the figure; did you mean "burst"?',
    ),
    "an unknown key of curves": (
        "fig1.py",
        'lab.Curves("servers"',
        'lab.Curves("server"',
        'curves \'99th percentile of the queue\': "server": unknown key of the grid; did you mean "servers"?',
    ),
    "curves at no point": (
        "fig1.py",
        "[20, 40]}",
        '[20, 40], "tcp.rto_min": ["5ms", "10ms"]}',
        "tcp.rto_min is neither x nor fixed; give a value, as in fixed={'tcp.rto_min': '5ms'}",
    ),
    "no curves": ("fig1.py", "lab.Curves(", "print(", "mine/fig1: draw: None is not lab.Curves or a function"),
    "choices without names": ("__init__.py", "CHOICES = {", "CHOICES = [0]\n_ = {", "CHOICES: [0] is not a mapping"),
    "a choice that is none": ("__init__.py", "CHOICES = {", 'CHOICES = {"x": 2,', "CHOICES: x: 2 is not a lab.Choice"),
    "values without settings": (
        "__init__.py",
        '{"tcp.initial_window": 10}',
        "10",
        "value 10 of a choice: 10 is not settings, such as",
    ),
    "a stand-in of another scheme": (
        "__init__.py",
        '{"dctcp": "tcp"}',
        '{"dctpc": "tcp"}',
        'STAND_INS: "dctpc": unknown scheme of the studies; did you mean "dctcp"?',
    ),
    "an unknown stand-in": ("__init__.py", ': "tcp"}', ': "tpc"}', '"tpc": unknown scheme; did you mean "tcp"?'),
}


@pytest.mark.parametrize("misfit", MISFITS)
def test_a_misfit_is_refused_alone(mine: Path, misfit: str) -> None:
    file, old, new, message = MISFITS[misfit]
    edit(mine / file, {old: new})
    refusal = str(papers.refused()["mine"])
    assert refusal.startswith("mine: the package paper_mine cannot be used: ")
    assert message in refusal
    assert papers.figures().keys() == {figure.id for figure in select(papers.OWN)}


def test_a_misfit_stops_only_commands_that_name_it(mine: Path, shortflow: Command) -> None:
    (mine / "fig1.py").write_text("fig1 =", "utf-8")
    found = shortflow("list", "figures", code=0)
    assert "dctcp/fig16" in found.stdout
    assert found.stderr.startswith("left out: mine: the package paper_mine cannot be used: SyntaxError")
    named = shortflow("reproduce", "mine/fig1", code=ExitCode.MISSING_REQUIREMENT)
    assert named.stderr == found.stderr.replace("left out", "shortflow")
    assert [figure.id for figure in select(["*/fig16"])] == ["dctcp/fig16"]


def test_a_figure_that_is_left_out_is_an_error(mine: Path, shortflow: Command) -> None:
    (mine / "fig2.py").write_text(
        "from shortflow_papers import lab\n\n"
        "fig2 = lab.Figure('mine/fig2', 'Fig. 2', 'Unknown', {'runs': lab.Study('no-such', ['tcp'])})\n"
        "fig2.claim('mine/fig2-idle').says('a claim', lab.level('tcp', 'drops').within(high=0))\n"
    )
    told = shortflow("reproduce", "mine", code=ExitCode.CLAIM_FAILED)
    assert 'left out: mine/fig2: ConfigError: "no-such": unknown scenario' in told.stderr
    assert "mine/fig1-shorter-queue" in told.stdout
    shortflow("reproduce", "mine/fig1", code=ExitCode.FINE)
    shortflow("reproduce", "mine/fig2", code=ExitCode.WRONG_INPUT)


def test_a_value_that_was_not_run_fails_with_its_reason(mine: Path, shortflow: Command) -> None:
    shorter = {
        "[20, 40]": "[2, 3]",
        "quick_seeds=3": "quick_seeds=1",
        '"traffic.1.repeat": 5, "duration": "500ms"': '"traffic.1.repeat": 1, "duration": "50ms"',
        '.over("servers")': ".at(servers=(2, 4))",
    }
    edit(mine / "fig1.py", shorter)
    told = " ".join(shortflow("reproduce", "mine", code=ExitCode.CLAIM_FAILED).stdout.split())
    assert (
        "untested because: the runs cannot decide the claim: no run has servers 4; the runs have servers 2, 3" in told
    )


def test_a_choice_that_no_study_follows_says_why(mine: Path, shortflow: Command) -> None:
    edit(mine / "__init__.py", {'"2": {"tcp.initial_window": 2}': '"4": {"tcp.initial_window": 4}'})
    told = " ".join(shortflow("list", "choices", "mine", code=0).stdout.split())
    reason = "at the quick scale reaches no figure; a study follows the choice only if it has tcp.initial_window=4"
    assert f"10: tcp.initial_window=10; {reason}" in told


def test_a_module_is_no_paper(mine: Path, monkeypatch: Patch) -> None:
    offer(monkeypatch, ("mine", "paper_mine.fig1"))
    assert "must name a package, a folder with an __init__.py" in str(papers.refused()["mine"])
    assert mine.exists()


def test_a_paper_of_this_project_stays_its_own(shortflow: Command, monkeypatch: Patch) -> None:
    offer(monkeypatch, ("l2dct", "os"))
    told = shortflow("list", "figures", code=0)
    assert "left out: os adds l2dct, a name that shortflow has" in told.stderr
    assert "l2dct/fig3" in told.stdout


@pytest.mark.usefixtures("mine")
def test_two_packages_cannot_have_one_paper(monkeypatch: Patch) -> None:
    offer(monkeypatch, ("mine", "paper_mine"), ("mine", "other_mine"))
    assert str(papers.refused()["mine"]) == (
        "mine: several installed packages add this name: paper_mine, other_mine; uninstall all but one of them"
    )


def test_a_study_makes_the_runs_of_compare_unless_it_names_defaults() -> None:
    def run(settings: Settings, defaults: Settings) -> str:
        study = lab.Study("incast", ["dctcp"], settings=settings, defaults=defaults)
        return study.runs(Scale.FULL, (), {}, [1])[0].key

    (compared,) = plan(load_scenario("incast"), ["dctcp"], [1])
    stated: Settings = {"host.model": "fifo", "transport.initial_alpha": 0, "transport.cwnd_floor": 1}
    linux = {"host.model": "linux"}
    assert run({}, {}) == compared.key
    assert run({}, NS_DEFAULTS) == run(stated, {}) != compared.key
    assert run(linux, NS_DEFAULTS) == run({**stated, **linux}, {})


SHORT = {"traffic.1.repeat": 1, "duration": "50ms"}
"""Settings under which a run of `incast` takes a few milliseconds."""


def raises() -> NoReturn:
    """Claim or drawing of another package that raises an error."""
    raise KeyError("drops_per_flow")


@pytest.fixture
def notes(mine: Path, caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    """Notes of Shortflow while the new paper `mine` is installed."""
    assert mine.exists()
    caplog.set_level(logging.INFO, "shortflow")
    return caplog


def test_a_claim_that_raises_is_untested_and_the_others_go_on(tmp_path: Path, notes: pytest.LogCaptureFixture) -> None:
    careless = lab.Figure("mine/fig1", "Fig. 1", "Careless")
    careless.claim("mine/raises").says("a claim", ClaimCondition("it does not raise", lambda _: raises()))
    careless.claim("mine/holds").says("a claim", ClaimCondition("1 is 1", lambda _: {"": fact(holds=True, one=1)}))
    careless.draw(raises)
    unknown = lab.Figure("mine/fig2", "Fig. 2", "Unknown", {"runs": lab.Study("no-such-scenario", ["dctcp"])})
    unknown.claim("mine/never").says("a claim", ClaimCondition("it does not raise", lambda _: raises()))
    done = answered(tmp_path, ask_reproduction([careless, unknown], Scale.QUICK))
    careless_claim, holds = done.claims
    assert done.figures[0].has_errors
    assert (careless_claim.finding.verdict.value, holds.finding.verdict.value) == ("untested", "agrees")
    assert careless_claim.reason == "deciding the claim raises KeyError: 'drops_per_flow'"
    assert "left out: mine/fig2: ConfigError: " in notes.text
    assert "mine/fig1: drawing raises KeyError: 'drops_per_flow'; the page has no chart of it" in notes.text
    with pytest.raises(ConfigError, match=r"mine/fig2: ConfigError: .*no-such-scenario"):
        answered(tmp_path, ask_reproduction([unknown], Scale.QUICK))


@pytest.mark.usefixtures("mine")
def test_a_claim_of_another_package_says_nothing_of_choices_whose_outcomes_nobody_stores(tmp_path: Path) -> None:
    figure = lab.Figure("mine/fig1", "Fig. 1", "Wrong")
    figure.claim("mine/never").says("a claim", ClaimCondition("1 is 2", lambda _: {"": fact(holds=False, one=1)}))
    (judged,) = answered(tmp_path, ask_reproduction([figure], Scale.QUICK)).claims
    assert (judged.finding.verdict.value, judged.reason) == ("differs", "")


def test_an_unknown_name_leaves_its_claim_untested_and_the_chart_is_drawn(
    tmp_path: Path, notes: pytest.LogCaptureFixture
) -> None:
    burst = lab.Study("incast", ["tcp", "dctcp"], {"servers": [2, 3]}, quick_seeds=1, quick=SHORT)
    figure = lab.Figure("mine/fig1", "Fig. 1", "Names", {"burst": burst})
    for name, quantity in {
        "metric": lab.change("dctcp", "tcp", "queue_p98_pkt").over("servers"),
        "class": lab.level("dctcp", "p99_rpc_s").over("servers"),
        "scheme": lab.level("dctpc", "drops").over("servers"),
        "key": lab.level("dctcp", "drops").over("server"),
        "point": lab.level("dctcp", "drops"),
    }.items():
        figure.claim(f"mine/{name}").says("a claim", quantity.near(1.0))
    figure.draw(lab.Curves("servers", "drops", "servers", "Drops"))
    done = answered(tmp_path, ask_reproduction([figure], Scale.QUICK))
    assert [each.reason.removeprefix("deciding the claim raises ConfigError: ") for each in done.claims] == [
        '"queue_p98_pkt": unknown metric; did you mean "queue_p95_pkt"?',
        '"p99_rpc_s": unknown metric; did you mean "p99_1mb_s"?',
        '"dctpc": unknown scheme of the study; did you mean "dctcp"?',
        '"server": unknown key of the grid; did you mean "servers"?',
        'servers: the grid has 2, 3; name one, such as servers=2 in at(…), or take every value with over("servers")',
    ]
    assert [len(each.charts) for each in done.figures] == [1]
    assert "drawing" not in notes.text
    for curves, error in (
        (lab.Curves("servers", "drop", "servers", "Drops"), '"drop": unknown metric; did you mean "drops"?'),
        (lab.Curves("servers", "drops", "", "Drops", schemes=["tpc"]), '"tpc": unknown scheme of the study; did you'),
    ):
        drawn = replace(figure, claims=[], draws=[curves])
        assert answered(tmp_path, ask_reproduction([drawn], Scale.QUICK)).figures[0].has_errors
        assert f"mine/fig1: drawing raises ConfigError: {error}" in notes.text


def test_a_law_that_raises_leaves_its_claims_untested(tmp_path: Path, notes: pytest.LogCaptureFixture) -> None:
    (tmp_path / "law.py").write_text(
        "from shortflow import CongestionControl\n\n\nclass Bad(CongestionControl):\n"
        "    def on_ack(self, window, ack):\n        raise KeyError('gain')\n"
    )
    bad = lab.Study("incast", ["tcp", f"{tmp_path / 'law.py'}:Bad"], {"servers": [2]}, quick_seeds=1, quick=SHORT)
    good = lab.Study("incast", ["tcp", "dctcp"], {"servers": [2]}, quick_seeds=1, quick=SHORT)
    figure = lab.Figure("mine/fig1", "Fig. 1", "Two studies", {"bad": bad, "good": good})
    figure.claim("mine/never").says("a claim", lab.change("Bad", "tcp", "queue_p99_pkt").below())
    figure.claim("mine/decided").says("a claim", lab.change("dctcp", "tcp", "queue_p99_pkt", "good").alike(2))
    done = answered(tmp_path, ask_reproduction([figure], Scale.QUICK))
    never, decided = done.claims
    assert done.figures[0].has_errors
    assert never.reason == "a run failed: Bad: KeyError: 'gain' (law.py:6)"
    assert (never.finding.verdict.value, decided.finding.verdict.value) == ("untested", "agrees")
    assert "mine/fig1: a run of the study bad failed; claims that read the study are untested: " in notes.text
    with pytest.raises(ConfigError, match="gain"):
        answered(tmp_path, ask_reproduction([replace(figure, id="l2dct/fig1")], Scale.QUICK))
