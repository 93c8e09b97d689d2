"""Recipes, verdicts and the `reproduce` command."""

import collections
import functools
import inspect
import itertools
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from conftest import Command
from made import answered, make_flows, make_meta, make_results, make_run, sure, with_tables
from shortflow import _core
from shortflow.errors import ConfigError, DamagedResult
from shortflow.judge.verdicts import Verdict
from shortflow.result import Result
from shortflow.runner import Runner, Wanted, once
from shortflow.runs import Run, check_metric, plan
from shortflow.scenario import load_scenario
from shortflow.simulate import simulate_run
from shortflow.store.runs import Store
from shortflow_papers import papers
from shortflow_papers.lab import Claim, ClaimCondition, Curves, Data, Figure, all_hold, computed, decided, within
from shortflow_papers.lab.finding import fact
from shortflow_papers.lab.study import Scale, Study, Value
from shortflow_papers.papers.atcp.setup import SMALL, in_time, median
from shortflow_papers.papers.common import ns_study
from shortflow_papers.papers.pecn.bursts import overtakers
from shortflow_papers.papers.pecn.sec4 import rank_by
from shortflow_papers.papers.pecn.setup import fct_over
from shortflow_papers.papers.unspecified import drawn, near
from shortflow_papers.reproduction.charts import figure_charts
from shortflow_papers.reproduction.engine import Chosen, Reproduction, ask_reproduction, followed_choices, select
from shortflow_papers.reproduction.fit import SetUp, fit
from shortflow_papers.reproduction.judged import Judged
from shortflow_papers.reproduction.sensitivity import (
    Other,
    Shift,
    alternatives,
    combinations_of,
    outcomes,
    shifts,
    with_ranges,
)
from shortflow_papers.reproduction.summary import reason_section, shift_section
from shortflow_papers.reproduction.tried import Outcome, Tried

ROOT = Path(__file__).parents[2]


def test_every_claim_of_a_paper_is_decided_once_by_a_figure_of_its_paper() -> None:
    decided = [(claim.id, figure.paper) for figure in papers.figures().values() for claim in figure.claims]
    assert len(decided) == len(papers.claims())
    assert all(name.startswith(f"{paper}/") for name, paper in decided)
    counts = collections.Counter(paper for _, paper in decided)
    assert counts == {"l2dct": 59, "xdctcp": 14, "pecn": 32, "atcp": 62, "fast": 36, "dctcp": 6, "known": 26}


@pytest.mark.parametrize("figure", papers.figures().values(), ids=lambda figure: figure.id)
def test_a_recipe_uses_studies_that_it_has_and_both_scales_can_be_planned(figure: Figure) -> None:
    for claim in figure.claims:
        assert figure.looked_at(claim) <= set(figure.studies), claim.id
    for draws in figure.draws:
        names = {draws.study} - {""} if isinstance(draws, Curves) else set(inspect.signature(draws).parameters)
        assert names <= set(figure.studies), draws
    for study in figure.studies.values():
        for scale in Scale:
            assert all(study.runs(scale, position, {}) for position in study.positions(scale))
        assert len(list(study.seed_range(Scale.FULL))) >= len(list(study.seed_range(Scale.QUICK)))


def test_a_claim_about_a_scheme_runs_it_as_it_is_listed() -> None:
    listed = {entry["name"] for entry in _core.registry()["schemes"]}
    for figure in papers.figures().values():
        for study in figure.studies.values():
            others = {name for name in study.schemes if name not in listed and not name.startswith("ideal-")}
            assert not others, f"{figure.id} runs another law: {others}"


@pytest.mark.parametrize("figure", papers.figures().values(), ids=lambda figure: figure.id)
@pytest.mark.filterwarnings("ignore:Mean of empty slice", "ignore:invalid value encountered")
def test_a_recipe_survives_runs_in_which_nothing_happened(figure: Figure, tmp_path: Path) -> None:
    data = {name: _nothing(study, tmp_path) for name, study in figure.studies.items()}
    for claim in figure.claims:
        finding = claim.judge(data)
        assert not figure.looked_at(claim) or finding.verdict is not Verdict.AGREES, claim.id
        assert not any(np.isnan(np.asarray(v)).any() for v in finding.measured.values() if not isinstance(v, str))
    figure_charts(figure, data)


def _claim(*agrees: ClaimCondition, name: str = "l2dct/one", because: str = "") -> Claim:
    return Claim(name).says("", *agrees, because=because)


class Nothing(Data):
    """Data with two runs at every point, without flows, tasks and samples."""

    def runs_of(self, scheme: str, **where: Value) -> list[Run]:
        self._position(where)
        return [run for run in _two() if run.seed in self.seeds]

    def check_metric(self, metric: str, where: Mapping[str, Value], *schemes: str) -> None:
        (run, *_) = self.study.runs(Scale.FULL, self._position(where), {}, [1])
        check_metric(metric, run.scenario)

    def _read(self, run: Result) -> Result:
        return _empty()


@functools.cache
def _two() -> list[Run]:
    return plan(load_scenario("incast"), ["dctcp"], [1, 2], {"duration": "1ms", "traffic.1.repeat": "1"})


@functools.cache
def _empty() -> Result:
    full = simulate_run(_two()[0], _core.Control())
    flows, tasks, samples, ports = (table.clear() for table in (full.flows, full.tasks, full.samples, full.ports))
    return with_tables(full, flows=flows, tasks=tasks, samples=samples, ports=ports)


def _nothing(study: Study, directory: Path) -> Data:
    seeds = study.seed_range(Scale.QUICK)[:2]
    runs = [make_run(scheme, seed, "", [], 0.0) for scheme in study.schemes for seed in seeds]
    points = {position: make_results("empty", "", {}, runs) for position in study.positions(Scale.QUICK)}
    return Nothing(study, list(study.grid(Scale.QUICK)), points)


UNFOLLOWED = {
    "l2dct initial-alpha=1": "eq3.burst fig1.three fig1.many",
    **dict.fromkeys((f"l2dct initial-window={size}" for size in (3, 4, 10)), "sec3b.ramp"),
    "l2dct handshake=off": "fig1.three fig1.many",
    **dict.fromkeys(
        (f"l2dct {value}" for value in ("rto-clock=continuous", "host-queue=1000pkt", "host-queue=unlimited")),
        "fig1.three fig1.many fig14a.testbed fig14b.testbed",
    ),
    "l2dct packet=1000B": "fig1.three",
    "l2dct round-trip=286us": "sec2c.bdp50 sec2c.bdp100 sec2c.bdp200 eq5-12.unit eq5-12.smallest fig3.unit fig3.half "
    "fig1.three",
    "l2dct bytes=bytes": "eq13.underflow sec2c.bdp50 sec2c.bdp100 sec2c.bdp200 eq3.burst fig14a.testbed fig14b.testbed",
    **dict.fromkeys((f"xdctcp start-offsets={value}" for value in ("0", "a period")), "sec5.fixed"),
    "pecn initial-alpha=1": "fig11.drained",
    **dict.fromkeys((f"pecn initial-window={size}" for size in (3, 4, 10)), "query.runs"),
    "pecn jitter=0": "fig2.runs fig3.runs fig4.runs growth.pairs",
    "pecn jitter=1ms": "fig2.runs fig3.runs fig4.runs growth.pairs",
    **dict.fromkeys((f"atcp buffer={size}" for size in ("30pkt", "100pkt", "250pkt")), "fig10.answers fig11.shuffles"),
    "fast initial-alpha=0": "fig3.ping",
    "fast handshake=on": "fig3.ping",
    "fast delayed-acks=ns-3-ce": "fig3.ping",
    "fast delayed-acks=nobody": "fig3.ping sec4.nagle",
}
"""Studies that do not follow a choice: they vary or set its keys, cannot take other values, or lack its scheme."""
OF_FAST = ("cut", "probing", "regrowth", "loss-floor")
OF_TRAFFIC = ("others", "large-flows", "web-flows", "background", "receivers", "tree-buffer")
OF_SOME = ("priority", "pmark", "d2tcp-clip", *OF_TRAFFIC, *OF_FAST)
"""Choices that concern one scheme or few figures."""


@pytest.mark.parametrize("paper", papers.PAPERS)
def test_every_other_choice_is_followed_but_where_a_study_has_its_own(paper: str) -> None:
    known = papers.choices(paper)
    for name, value in [(name, value) for name, choice in known.items() for value in choice.others]:
        moved = {
            f"{figure.id}.{study}": bool(chosen)
            for figure in _figures_of(paper)
            for study, chosen in followed_choices(figure, Scale.QUICK, {name: value}).items()
        }
        unmoved = [study for study, follows in moved.items() if not follows]
        if name in OF_SOME:
            assert 0 < len(unmoved) < len(moved)
        else:
            assert unmoved == [f"{paper}/{each}" for each in UNFOLLOWED.get(f"{paper} {name}={value}", "").split()]


def _figures_of(paper: str) -> list[Figure]:
    return [figure for figure in papers.figures().values() if figure.paper == paper]


def test_a_run_that_is_gone_from_the_store_is_not_left_out(tmp_path: Path) -> None:
    study = Study("one-long-flow", ("dctcp",), quick_seeds=2, quick={"duration": "5ms", "warmup": "1ms"})
    runs = study.runs(Scale.QUICK, (), {})
    store = Store(tmp_path)
    done = Runner(1, store).answer(once(Wanted(runs)))
    data = Data(study, [], {(): make_results("one", "", {}, done)})
    shutil.rmtree(next(store.runs.glob("*-seed2-*")))
    with pytest.raises(DamagedResult, match=r"seed2-.*flows\.parquet: missing"):
        data.by_seed("dctcp", lambda result: float(result.flows.height))


def test_a_table_that_is_damaged_inside_is_named_and_decides_nothing(tmp_path: Path) -> None:
    study = Study("one-long-flow", ("dctcp",), quick_seeds=1, quick={"duration": "5ms", "warmup": "1ms"})
    runs = study.runs(Scale.QUICK, (), {})
    store = Store(tmp_path)
    data = Data(study, [], {(): make_results("one", "", {}, Runner(1, store).answer(once(Wanted(runs))))})
    (table,) = store.runs.glob("*/flows.parquet")
    table.write_bytes(b"PAR1 damaged PAR1")
    claim = _claim(computed("results", lambda data: float(data.results("dctcp")[0].flows.height)).within(0, 9))
    with pytest.raises(DamagedResult, match=r"flows\.parquet: damaged: .*; remove .*-seed1-.*, and repeat the command"):
        claim.judge({"data": data})


def test_a_flow_that_never_ended_is_late() -> None:
    columns = {"class": "answer", "start_s": 30.0, "size_bytes": 20_000, "fct_s": [0.01, 0.02, 0.5, None]}
    result = with_tables(_empty(), flows=pl.DataFrame(columns))
    assert in_time(SMALL, 0.03)(result) == 0.5
    assert median(SMALL, percent=75)(result) == 0.5
    assert median(SMALL, percent=80)(result) == float("inf")


def test_flows_that_never_ended_come_last_in_orders_of_completion() -> None:
    rows = [
        {"id": 1, "start_s": 1.0, "size_bytes": 1_000},
        {"id": 2, "start_s": 1.0, "size_bytes": 2_000, "finish_s": 1.2, "fct_s": 0.2},
        {"id": 3, "start_s": 1.0, "size_bytes": 3_000, "finish_s": 1.3, "fct_s": 0.3},
        {"id": 4, "start_s": 1.0},
    ]
    flows = make_flows([{"ideal_fct_s": 0.1, **row} for row in rows])
    tables: Any = {**_empty().tables, "flows": flows}
    result = Result.of(_empty().provenance, tables, make_meta())
    assert overtakers(result) == 2
    assert rank_by(result, "size_bytes") == pytest.approx(-1 / 3)
    line = fct_over(result, "size_bytes", 1e-3, "dctcp")
    assert (line.x, line.lower_bound) == ([1, 2, 3], [True, False, False])
    assert line.y == pytest.approx([3000, 200, 300])


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory of results that several tests share, so that each run is done once."""
    return tmp_path_factory.mktemp("runs")


@pytest.fixture
def here(runs: Path, tmp_path: Path) -> Path:
    """The shared directory, called `here` for commands."""
    (tmp_path / "here").symlink_to(runs)
    return tmp_path / "here"


def test_a_stored_reason_is_given_only_where_it_was_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    known: dict[str, dict[str, Tried]] = {}
    monkeypatch.setattr("shortflow_papers.reproduction.judged.stored", lambda: known)
    claim = _claim(decided("", lambda: within(2.0, 0, 1)), name="l2dct/fig4a-afct-vs-tcp", because="too much")
    short = {"duration": "5ms", "warmup": "1ms", "switch.mark_above": "30pkt"}
    study = ns_study("one-long-flow", ("dctcp",), seeds=1, settings=short, quick_seeds=1)
    figure = Figure("l2dct/fig4a", "", "", {"runs": study}, claims=[claim])
    for scale, chosen, reason in (
        (Scale.QUICK, {}, "too much; no other choice was tried"),
        (Scale.QUICK, {"initial-window": "2"}, "too much; no other choice was tried"),
        (Scale.QUICK, {"initial-alpha": "0"}, "too much; no other choice was tried"),
        (Scale.QUICK, {"initial-alpha": "1"}, ""),
        (Scale.FULL, {}, "no other choice was tried"),
    ):
        done = answered(tmp_path, ask_reproduction([figure], scale, chosen))
        assert [judged.reason for judged in done.claims] == [reason]
        assert (reason_section(done) is None) == (not reason)
    values = sum(len(choice.others) for choice in papers.choices("l2dct").values())
    for verdict, reason in (
        ("differs", "too much; at the quick scale (differs, 3), other choices: agrees with jitter=0 (1)"),
        ("agrees", "at the quick scale (agrees, 3), other choices: every value agrees"),
    ):
        others = {"jitter=0": Outcome("agrees", "1")}
        known[claim.id] = {Scale.QUICK: Tried("value", Outcome(verdict, "3"), others)}
        (judged,) = answered(tmp_path, ask_reproduction([figure], Scale.FULL)).claims
        assert judged.reason == f"{reason}; tried: 1 of {values} values"


def _undocumented(names: list[str]) -> list[str]:
    text = (ROOT / "docs" / "results.md").read_text(encoding="utf-8")
    section = text.split("## `reproduce --json`")[1].split("\n## ")[0]
    return [name for name in names if f"`{name}`" not in section]


def test_reproduce_answers_with_one_document_and_writes_its_pages(shortflow: Command, here: Path) -> None:
    answer = shortflow("reproduce", "l2dct/fig4a", "--json", "--jobs", "2", "--out", "here")
    document = answer.document
    verdicts = {row["id"]: row["verdict"] for row in document["claims"]}
    assert "l2dct/fig4a-afct-vs-dctcp" in verdicts
    counts = document["summary"]["l2dct"]
    assert sum(sum(counts[group].values()) for group in ("scheme", "no_harm", "others", "open")) == len(verdicts)
    assert answer.code == (1 if "differs" in verdicts.values() else 0)
    assert not _undocumented([*document, *document["claims"][0]])
    assert "<svg" in (here / "l2dct.html").read_text(encoding="utf-8")
    assert "l2dct/fig4a-afct-vs-dctcp" in (here / "results.json").read_text(encoding="utf-8")


def test_terminal_report_and_json_show_what_decides_and_how_sure_it_is(shortflow: Command, here: Path) -> None:
    arguments = ("reproduce", "l2dct/fig4c", "--out", "here")
    rows = {row["id"]: row for row in shortflow(*arguments, "--json").document["claims"]}
    text = shortflow(*arguments).stdout
    assert max(len(line) for line in text.splitlines()) <= 100
    undecided = [name for name, row in rows.items() if row["could_be"]]
    assert undecided == [name for name, row in rows.items() if row["verdict"] == "undecided"]
    assert undecided == ["l2dct/fig4c-pareto-p99"]
    row = rows["l2dct/fig4c-pareto-p99"]
    name, value = next(iter(row["measured"].items()))
    low, high = row["ci95"]
    joined = " ".join(text.split())
    verdict = f"undecided ({' or '.join(row['could_be'])})"
    assert f"measured: {name}: {100 * value:.4g} % [{100 * low:.4g}, {100 * high:.4g}]" in joined
    assert verdict in joined
    assert joined.count("undecided (") == len(undecided) < len(rows)
    assert joined.count("agrees if: ") == len(rows)
    assert f'<b class="undecided">{verdict}</b>' in (here / "l2dct.html").read_text(encoding="utf-8")


def test_list_claims_names_every_claim_with_its_recipe(shortflow: Command) -> None:
    assert shortflow("list", "claims", "nosuch").stderr.endswith(
        "(known: l2dct/…, xdctcp/…, pecn/…, atcp/…, fast/…, dctcp/…, known/…)\n"
    )
    rows = shortflow("list", "claims", "--json").document
    assert [row["id"] for row in rows] == list(papers.claims())
    assert all(row["recipe"] in papers.figures() for row in rows)


def test_a_choice_replaces_a_setting_of_a_study_but_not_its_grid() -> None:
    study = Study("one-long-flow", ("dctcp",), {"transport.g": (0.5,)}, {"transport.initial_alpha": 1}, seeds=1)
    (run,) = study.runs(Scale.FULL, (0.5,), {"transport.initial_alpha": "0", "transport.g": "0.25"})
    found = {key: value for key, value, _ in run.scheme.resolved()}
    assert (found["transport.initial_alpha"], found["transport.g"]) == ("0", "0.5")


@pytest.mark.parametrize(
    ("study", "follows"),
    [
        (ns_study("one-long-flow", ("dctcp",)), True),
        (ns_study("one-long-flow", ("tcp", "dctcp"), settings={"transport.initial_alpha": 0}), True),
        (Study("one-long-flow", ("dctcp",)), False),
        (ns_study("one-long-flow", ("tcp",)), False),
        (ns_study("one-long-flow", ("dctcp",), settings={"transport.initial_alpha": 0.5}), False),
        (ns_study("one-long-flow", ("dctcp",), quick={"transport.initial_alpha": 0.5}), False),
        (ns_study("one-long-flow", ("dctcp",), over={"transport.initial_alpha": (0, 0.5)}), False),
        (ns_study("one-long-flow", ("dctcp+initial_alpha=0.5",)), False),
    ],
    ids=[
        "taken by default",
        "taken",
        "another by default",
        "has no such key",
        "its own",
        "its own when quick",
        "varied",
        "of its scheme",
    ],
)
def test_a_study_follows_a_choice_only_where_it_has_what_is_taken(study: Study, follows: bool) -> None:
    taken, other = ({"transport.initial_alpha": value} for value in (0, 1))
    assert study.follows(Scale.QUICK, taken, other) is follows


@pytest.mark.usefixtures("here")
def test_a_choice_leaves_what_a_study_sets_on_purpose_and_says_so(shortflow: Command) -> None:
    arguments = ("reproduce", "pecn/growth", "pecn/fig6", "--json", "--out", "here")
    plain = shortflow(*arguments).document
    moved = shortflow(*arguments, "--choice", "jitter=0")
    assert "jitter=0 is not followed by pecn/growth\n" in moved.stderr
    assert moved.document["not_reached"] == {"jitter=0": ["pecn/growth"]}
    assert plain["not_reached"] == {}
    before, after = ({row["id"]: row["measured"] for row in each["claims"]} for each in (plain, moved.document))
    assert before["pecn/sec43-priority-faster-growth"] == after["pecn/sec43-priority-faster-growth"]
    assert before["pecn/fig6-pecn-gain-80"] != after["pecn/fig6-pecn-gain-80"]


@pytest.mark.usefixtures("here")
def test_sensitivity_tries_what_is_not_chosen_and_says_what_decides(shortflow: Command) -> None:
    arguments = ("reproduce", "l2dct/eq3", "--sensitivity", "--choice", "initial-window=10", "--out", "here")
    rows = shortflow(*arguments, "--json").document["sensitivity"]
    assert not _undocumented(["sensitivity", *rows[0]])
    tried = [row["choices"] for row in rows]
    assert {"initial-window": "2"} in tried
    assert {"initial-window": "10"} not in tried
    assert {row["reached"] for row in rows if "initial-alpha" in row["choices"]} == {False}
    assert {row["changed"] for row in rows if "rto-clock" in row["choices"] and row["reached"]} == {False}
    assert "no run changed with" in shortflow(*arguments).stdout
    reached = {row["claim"].partition("/")[2]: row["reached"] for row in rows if "handshake" in row["choices"]}
    assert [name for name, moved in reached.items() if moved] == ["eq3-window-decrease"]
    assert {row["reached"] for row in rows if row["choices"] == {"initial-window": "2"}} == {True}
    table = shortflow(*arguments).stdout
    assert "not reached by" in table
    assert "initial-window=10" not in table


@pytest.mark.usefixtures("here")
def test_sensitivity_goes_on_where_its_time_ended(shortflow: Command) -> None:
    arguments = ("reproduce", "pecn/query", "--sensitivity", "--out", "here", "--json", "--minutes")
    nothing = shortflow(*arguments, "0")
    (left,) = re.findall(r"(\d+) of \1 values are left: the same command goes on", nothing.stderr)
    assert int(left) > 3
    assert "sensitivity" not in nothing.document
    rows = shortflow(*arguments, "60").document["sensitivity"]
    assert len({str(row["choices"]) for row in rows if row["reached"]}) == int(left)
    again = shortflow(*arguments, "60")
    assert "sensitivity" not in again.document, "all of it is known"
    wrong = shortflow("reproduce", "pecn/query", "--minutes", "1", "--out", "here")
    assert (wrong.code, "--minutes: needs --sensitivity" in wrong.stderr) == (2, True)
    assert "left" not in again.stderr


def test_two_values_are_tried_at_once_where_each_moves_a_claim_by_itself(tmp_path: Path) -> None:
    base = answered(tmp_path, ask_reproduction(select(["pecn/fig4"]), Scale.QUICK))
    known = outcomes([Shift(Other({}), each, each, reached=True) for each in base.claims])
    moving, still = known["pecn/fig4-finish-times"], known["pecn/fig4-cwnd-evolution"]
    moved = moving.taken._replace(number="1")
    both = ("marked-acks=no", "marked-acks=yes")
    moving.others = {"initial-window=10": moving.taken, "handshake=on": moved} | dict.fromkeys(both, moved)
    still.others = {"initial-window=10": moved, "handshake=on": still.taken}
    found = sorted(combinations_of(base, known, 2), key=lambda each: each.text)
    assert [each.text for each in found] == [f"handshake=on+{each}" for each in both]
    asked = []

    def again(chosen: Chosen, _: object) -> Reproduction:
        asked.append(chosen)
        return base

    (shift,) = shifts(base, again, found[0])
    assert asked == [{"handshake": "on", "marked-acks": "no"}]
    assert (shift.before.claim.id, shift.reached) == ("pecn/fig4-finish-times", True)
    moving.taken = moved
    assert combinations_of(base, known, 2) == [], "what was found for other runs says nothing"


def test_a_choice_that_a_paper_s_numbers_leave_undecided_makes_a_verdict_a_range(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = answered(tmp_path, ask_reproduction(select(["pecn/fig4"]), Scale.QUICK))
    window = papers.choices("pecn")["initial-window"]
    monkeypatch.setitem(papers.choices("pecn"), "initial-window", replace(window, undecided=True))
    asked = []

    def again(chosen: Chosen, figures: Sequence[Figure]) -> Reproduction:
        asked.append((dict(chosen), [each.id for each in figures]))
        (one,) = base.figures
        contrary = [replace(each, finding=fact(not each.finding.holds)) for each in one.claims]
        return replace(base, figures=[replace(one, claims=contrary, origins=dict.fromkeys(one.origins, ()))])

    for before, after in zip(base.claims, with_ranges(base, again).claims, strict=True):
        assert after.finding.could_be == [Verdict.DIFFERS, Verdict.AGREES]
        contrary = "differs" if before.finding.holds else "agrees"
        said = f"{before.finding.verdict} as taken, {contrary} with initial-window=3"
        assert after.finding.note.startswith(said)
        assert after.finding.measured == before.finding.measured
    assert asked == [({"initial-window": value}, ["pecn/fig4"]) for value in window.others]
    chosen = replace(base, chosen={"handshake": "on"})
    assert with_ranges(chosen, again).claims == base.claims, "of the choices as taken alone"


def test_set_ups_are_ranked_by_the_printed_numbers_of_baselines_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = {name: papers.choices("pecn")[name] for name in ("handshake", "d2tcp-clip", "pmark")}
    monkeypatch.setattr("shortflow_papers.papers.pecn.CHOICES", known)
    told: list[str] = []
    runner = Runner(None, Store(tmp_path))

    def found_with(far: float) -> list[SetUp]:
        monkeypatch.setattr("shortflow_papers.reproduction.fit.FAR", far)
        return runner.answer(fit(select(["pecn/fig4"]), Scale.QUICK, told.append), conclude=False)

    found = found_with(100.0)
    assert [each.off for each in found] == sorted(each.off for each in found)
    assert {each.text for each in found} == {
        f"handshake={one}+d2tcp-clip={other}" for one in ("off", "on") for other in ("0.5 to 2", "none")
    }, "pMark moves no number of the baselines"
    assert any(line.endswith("urgent flows with dctcp: moved by handshake") for line in told)
    assert any(line.endswith("urgent flows with d2tcp: moved by handshake, d2tcp-clip") for line in told)
    for each in found:
        printed = {name: 0.11 if "d2tcp" in name else 0.42 for name in each.ours}
        factors = [max(value / printed[name], printed[name] / value) for name, value in each.ours.items()]
        assert len(factors) == 2
        assert each.off == pytest.approx(max(factors))
    nearer = found_with(3.0)
    assert nearer == [each for each in found if each in nearer], "measured as without a limit"
    assert found_with(1.0) == [] != nearer
    for wrong in (["pecn/fig4", "fast/fig4"], ["pecn/fig6"]):
        with pytest.raises(ConfigError, match="one paper, with printed numbers of its baselines"):
            next(fit(select(wrong), Scale.QUICK, told.append))


def test_set_ups_near_the_baselines_are_taken_and_drawn(tmp_path: Path) -> None:
    file = tmp_path / "set-ups.csv"
    rows = [f"window={n}+clock=10ms,{1 + n / 100:g}" for n in range(40)]
    file.write_text("\n".join(["choices,largest factor", *rows]), encoding="utf-8")
    found = near(file)
    assert found == [{"window": str(n), "clock": "10ms"} for n in range(21)], "within 20 %"
    some = drawn(found)
    assert (len(some), some[0]) == (12, found[0])
    assert drawn(found) == some != drawn(found, seed=2)
    assert [found.index(each) for each in some] == sorted(found.index(each) for each in some)
    assert drawn(found[:3]) == found[:3]
    file.write_text("\n".join(["choices,largest factor", *(f"window={n},2" for n in range(9))]), encoding="utf-8")
    assert len(near(file)) == 5


def test_a_paper_with_set_ups_is_judged_over_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    base = answered(tmp_path, ask_reproduction(select(["pecn/fig4"]), Scale.QUICK))
    set_ups = [{"initial-window": "2", "handshake": "on"}, {"initial-window": "3", "rto-clock": "10ms"}]
    monkeypatch.setattr("shortflow_papers.papers.pecn.SET_UPS", set_ups, raising=False)
    asked = []

    def again(chosen: Chosen, figures: Sequence[Figure]) -> Reproduction:
        asked.append(dict(chosen))
        (one,) = base.figures
        contrary = [replace(each, finding=fact(not each.finding.holds)) for each in one.claims]
        return replace(base, figures=[replace(one, claims=contrary, origins=dict.fromkeys(one.origins, ()))])

    for before, after in zip(base.claims, with_ranges(base, again).claims, strict=True):
        assert after.finding.as_taken == before.finding.verdict
        assert after.finding.set_ups == {"differs" if before.finding.holds else "agrees": 2}
        assert after.finding.could_be == [Verdict.DIFFERS, Verdict.AGREES]
        assert after.finding.open_by[0] == "the set-up"
    assert asked == [{"handshake": "on"}, {"initial-window": "3"}], "values as taken change nothing"


@pytest.mark.usefixtures("here")
def test_papers_without_a_chosen_value_keep_theirs_and_are_named(shortflow: Command) -> None:
    arguments = ("reproduce", "l2dct/eq3", "fast/fig3", "--json", "--out", "here")
    moved = shortflow(*arguments, "--choice", "initial-window=2", "--choice", "initial-alpha=1").document
    assert moved["not_reached"] == {"initial-alpha=1": ["l2dct/eq3"]}
    nothing = shortflow(*arguments, "--choice", "delayed-acks=nobody")
    assert (nothing.code, "delayed-acks=nobody: changes no run of these figures" in nothing.stderr) == (2, True)
    rows = shortflow(*arguments, "--sensitivity").document["sensitivity"]
    reached = {row["claim"].partition("/")[0] for row in rows if "initial-window" in row["choices"] and row["reached"]}
    assert reached == {"l2dct", "fast"}
    tried = [row["choices"] for row in rows]
    assert all(each in tried for each in ({"initial-window": "2"}, {"initial-alpha": "0"}, {"initial-alpha": "1"}))


def test_a_row_of_the_sensitivity_names_what_decides_where_that_is_another() -> None:
    (figure,) = select(["l2dct/sec3b"])
    (claim,) = figure.claims
    ours = [
        {"high": within(3.0, 0, 1), "low": within(0.0, 0, 1)},
        {"high": within(0.5, 0, 1), "low": within(-2.0, 0, 1)},
    ]
    before, after = (Judged(claim, all_hold(each)) for each in ours)
    gone = Judged(claim, all_hold({"other": within(7.0, 0, 1)}))
    moved = [Shift(Other({"a": "1"}), before, after, True), Shift(Other({"b": "2"}), before, gone, True)]
    _, decides = shift_section([*moved, Shift(Other({"c": "3"}), before, before, False)]).columns
    assert list(decides.cells) == ["high: 3", "0.5; low: -2", "other: 7", "c=3"]


class Medians(Data):
    """Data with two runs of one small and one medium flow each, which ATCP shortens by 10 ± 1 % and 30 ± 1 %."""

    def results(self, scheme: str, **where: Value) -> list[Result]:
        small, medium = {"tcp": ([0.1, 0.1], [1.0, 1.0]), "atcp": ([0.09, 0.089], [0.71, 0.69])}[scheme]
        columns = {"class": "other", "start_s": 30.0, "size_bytes": [20_000, 2_000_000]}
        pairs = zip(small, medium, strict=True)
        return [with_tables(_empty(), flows=pl.DataFrame({**columns, "fct_s": list(pair)})) for pair in pairs]


def test_what_gains_more_is_shown_as_more(tmp_path: Path) -> None:
    (claim,) = (c for c in papers.figures()["atcp/fig7"].claims if c.id == "atcp/fig7-fig8-medium-gains-more")
    runs = Medians(Study("atcp-trace", ("tcp", "atcp")), [], {})
    found = claim.judge({"chain": runs})
    assert found.holds
    assert found.measured["value"] == pytest.approx(0.195)
    assert sure(found.ci95)[0] > 0


def test_sensitivity_tells_how_far_it_is_and_counts_all_runs(
    shortflow: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("time.monotonic", itertools.count(0.0, 40.0).__next__)
    told = shortflow("reproduce", "pecn/query", "--sensitivity", "--out", str(tmp_path), "--jobs", "1").stderr
    values = len(alternatives(select(["pecn/query"]), {}))
    assert f"1 of {values} values tried\n" in told
    assert f"{values} of {values} values tried\n" in told
    (runs,) = re.findall(r"index\.html \((\d+) runs", told)
    assert int(runs) > 2 * len(answered(tmp_path, ask_reproduction(select(["pecn/query"]), Scale.QUICK)).runs)
    assert f"Scale quick, {runs} runs." in (tmp_path / "pecn.html").read_text(encoding="utf-8")


def test_the_recipe_that_ranks_flows_by_their_size_sees_their_order(tmp_path: Path) -> None:
    (judged,) = answered(tmp_path, ask_reproduction(select(["pecn/sorting"]), Scale.QUICK)).claims
    of_size = judged.finding.measured["Kendall's tau of size and FCT with pecn"]
    assert isinstance(of_size, float)
    assert of_size > 0.95
