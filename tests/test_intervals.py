"""Coverage of intervals if timeouts or few flows decide a metric, from draws of a few seeds out of many."""

import dataclasses
import random
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import tomli_w

import shortflow
from conftest import Command
from made import make_results, make_rows, make_run, star, sure
from shortflow.criteria import Criteria
from shortflow.errors import ExitCode
from shortflow.metrics.catalogue import possible
from shortflow.precision import Precision, more_seeds, widths
from shortflow.report.answer import answer
from shortflow.result import Record, Result

SIZES = {"uniform": {"kind": "uniform", "min": "2KB", "max": "98KB"}}
SIZES["web search"] = {"kind": "published", "name": "websearch", "max": "2MB"}


def scenario_of(duration: str, *, buffer: str = "50pkt", hosts: int = 6, **traffic: Any) -> dict[str, Any]:
    """A star of 1 Gbps whose hosts send short flows to one host or to all hosts."""
    flows = {"kind": "poisson", "class": "short", "load": 0.5, "sizes": SIZES["uniform"], **traffic}
    return star([flows], hosts, duration=duration, warmup="1ms", drain="800ms", buffer=buffer)


SHORT = scenario_of("12ms")
TAILS = scenario_of("26ms", load=0.6, sizes=SIZES["web search"])
RARE = {**scenario_of("31ms"), "tcp": {"rto_min": "50ms"}}
WIDE_SIZES = {"kind": "log-uniform", "min": "1KB", "max": "1MB"}
WIDE = scenario_of("21ms", hosts=8, load=0.7, buffer="80pkt", sizes=WIDE_SIZES)
MANY = scenario_of("61ms", buffer="1000pkt", hosts=10, load=0.4, pattern="all-to-all")


class Pool:
    """Runs of two schemes with many seeds, from which a few seeds are drawn repeatedly."""

    def __init__(self, scenario: dict[str, Any], schemes: str, seeds: int = 200) -> None:
        """Does all runs."""
        self.whole = shortflow.compare(scenario, schemes, seeds=seeds, ideal=False)
        self.scheme, self.baseline = self.whole.schemes
        self._by_seed = {(run.scheme, run.seed): run for run in self.whole.runs}

    def draw(self, dice: random.Random, n: int, metric: str) -> shortflow.Results:
        """A comparison over n seeds, drawn with replacement from those in which both schemes have the metric."""
        both = self.whole.values(self.scheme, metric).keys() & self.whole.values(self.baseline, metric).keys()
        return self.of(dice.choices(sorted(both), k=n))

    def of(self, seeds: Sequence[int]) -> shortflow.Results:
        """A comparison over these seeds, of which each may occur several times."""
        runs = [
            with_seed(self._by_seed[scheme, seed], number)
            for scheme in self.whole.schemes
            for number, seed in enumerate(seeds, 1)
        ]
        return dataclasses.replace(self.whole, done=runs)

    def equal(self, dice: random.Random, n: int, schemes: int) -> shortflow.Results:
        """A comparison of equal schemes. Each has n runs of the first scheme, drawn separately."""
        names = [f"scheme{number}" for number in range(schemes)]
        runs = [
            with_seed(self._by_seed[self.scheme, dice.choice(self.whole.seeds)].named(name), number)
            for name in names
            for number in range(1, n + 1)
        ]
        return dataclasses.replace(self.whole, done=runs)


def with_seed(run: Result, seed: int) -> Result:
    record: Record = {**run.record, "provenance": {**run.provenance, "seed": seed, "digest": f"{run.scheme} of {seed}"}}
    return dataclasses.replace(run, record=record)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("scenario", "schemes", "metrics", "decide"),
    [
        pytest.param(SHORT, "dctcp,pfabric", ["afct_short_s"], "few", id="short flows"),
        pytest.param(TAILS, "dctcp,l2dct", ["afct_short_s"], "few", id="heavy tails"),
        pytest.param(SHORT, "tcp,dctcp", ["p99_short_s", "slowdown_short"], "few", id="p99"),
        pytest.param(RARE, "dctcp,tcp", ["afct_short_s"], "few", id="rare timeouts"),
        pytest.param(RARE, "dctcp,tcp", ["drops", "timeouts_short"], "few", id="counts"),
        pytest.param(WIDE, "dctcp,cubic", ["slowdown_short"], "few", id="many sizes"),
        pytest.param(WIDE, "dctcp,cubic", ["flow_goodput_short_bps"], "some", id="goodput"),
        pytest.param(MANY, "dctcp,l2dct", ["afct_short_s", "p99_short_s", "slowdown_short"], "many", id="many flows"),
    ],
)
def test_intervals_cover_as_often_as_they_say(
    scenario: dict[str, Any], schemes: str, metrics: Sequence[str], decide: str
) -> None:
    pool = Pool(scenario, schemes)
    for metric in metrics:
        truth = sure(pool.whole.relation(pool.scheme, pool.baseline, metric))
        for n in (3, 5, 10, 20):
            dice = random.Random(n)
            drawn = [pool.draw(dice, n, metric).relation(pool.scheme, pool.baseline, metric) for _ in range(500)]
            told = [each for each in drawn if each and each.ci95]  # a draw whose baseline is zero has no difference
            covers = [each.ci95[0] - 1e-12 <= truth.value <= each.ci95[1] + 1e-12 for each in told if each.ci95]
            assert sum(covers) / len(covers) >= 0.93, (metric, n)
            warned = [each.few_events is not None for each in told]
            silent = [cover for cover, warn in zip(covers, warned, strict=True) if not warn]
            assert len(silent) < 20 or sum(silent) / len(silent) >= 0.90, (metric, n)
            if decide == "few" and n in (5, 10):
                assert sum(warned) / len(warned) >= 0.90, (metric, n)
            if decide == "many" and metric != "p99_short_s":  # only six flows decide the p99
                assert sum(warned) / len(warned) <= 0.10, (metric, n)


AFCT = "afct_short_s"


def named(found: shortflow.Results) -> str | None:
    """The winner by mean completion time; None without a winner."""
    (line,) = answer(found, Criteria([AFCT])).lines
    return line.leaders[0] if line.outcome == "winner" else None


@pytest.mark.slow
@pytest.mark.parametrize("scenario", [SHORT, TAILS, RARE, WIDE, MANY], ids=("short", "tails", "rare", "wide", "many"))
def test_few_seeds_name_a_worse_scheme_in_five_draws_of_a_hundred_at_most(scenario: dict[str, Any]) -> None:
    """A named winner is right if it is the best scheme over all seeds, or within 1 % of the best.

    Two nearly equal schemes are paired by seed. Six equal schemes are drawn separately, so any named winner is wrong.
    """
    pool = Pool(scenario, "dctcp,dctcp+g=0.08")
    means = {scheme: sure(pool.whole.mean(scheme, AFCT)).value for scheme in pool.whole.schemes}
    for n in (2, 3, 4, 5, 8):
        dice = random.Random(n)
        pairs = [named(pool.draw(dice, n, AFCT)) for _ in range(300)]
        assert sum(means.get(each or "", 0) > 1.01 * min(means.values()) for each in pairs) <= 0.05 * len(pairs), n
        equal = [named(pool.equal(dice, n, 6)) for _ in range(300)]
        assert sum(each is not None for each in equal) <= 0.05 * len(equal), n


@pytest.mark.slow
def test_seeds_that_are_added_until_intervals_are_narrow_leave_them_right() -> None:
    pool, dice, rule, covers = Pool(SHORT, "dctcp,pfabric"), random.Random(1), Precision(0.2), []
    truth = sure(pool.whole.relation(pool.scheme, pool.baseline, "afct_short_s"))
    for _ in range(100):
        seeds = dice.choices(pool.whole.seeds, k=100)
        ends = (n for n in range(5, 101, 5) if n == 100 or rule.is_met(pool.of(seeds[:n])))
        found = sure(pool.of(seeds[: next(ends)]).relation(pool.scheme, pool.baseline, "afct_short_s"))
        low, high = sure(found.ci95)
        covers.append(low <= truth.value <= high)
    assert sum(covers) >= 93


def made(longest: float, *, queue: float = 1.0, **more: float) -> Result:
    """A run of 100 flows with FCTs of 0.25 (p5), 2 (mean) and 5 ms (p99), a slowdown of 4 and an RTO_min of 10 ms."""
    times = {"p5_short_s": 0.25e-3, "afct_short_s": 2e-3, "p99_short_s": 5e-3, "p100_short_s": longest}
    slowdowns = {"slowdown_short": 4.0, "slowdown_p100_short": 20.0}
    others = {"flows_short": 100, "flow_goodput_short_bps": 1e8, "queue_max_pkt": queue, "drops": 0.0, **more}
    settings = [
        {"key": key, "value": text, "source": ""} for key, text in (("switch.buffer", "50pkt"), ("tcp.rto_min", "10ms"))
    ]
    origin: Any = {"scenario_settings": settings, "scheme_settings": []}
    return make_run("dctcp", 1, "d", make_rows(**times, **slowdowns, **others), 0.0, origin=origin)


@pytest.mark.parametrize(
    ("run", "mean_ms", "p99_ms", "slowdown"),
    [
        # One more flow of 8 ms among 100. For p99, which two flows reach, the stake is 8 - 5 ms over 2 * (1 + ln 2).
        (made(8e-3), 0.06, 0.8859, 0.16),
        # One more timeout: 10 ms, which is a slowdown of 40 for the smallest flows.
        (made(8e-3, drops=1), 0.1, 2.9531, 0.4),
        (made(8e-3, queue=26), 0.1, 2.9531, 0.4),
        (made(8e-3, queue=25), 0.06, 0.8859, 0.16),
        # If the class had timeouts, the longest time includes one, unless it is shorter than a timeout.
        (made(11e-3, drops=1, timeouts_short=0.5), 0.09, 1.7718, 0.16),
        (made(8e-3, drops=1, timeouts_short=0.5), 0.1, 2.9531, 0.4),
        # Timeouts of another class do not count.
        (made(11e-3, drops=1, timeouts_long=0.5), 0.1, 2.9531, 0.4),
    ],
)
def test_a_stake_is_what_one_late_flow_does(run: Result, mean_ms: float, p99_ms: float, slowdown: float) -> None:
    metrics = {row.metric.name: row.metric for row in run.rows}
    found = {name: run.stake(metric) for name, metric in metrics.items()}
    assert found["afct_short_s"] == pytest.approx(mean_ms * 1e-3)
    assert found["p99_short_s"] == pytest.approx(p99_ms * 1e-3, rel=1e-4)
    assert found["slowdown_short"] == pytest.approx(slowdown)
    assert found["flow_goodput_short_bps"] == pytest.approx(1e8 * (1 - 2 / (2 + mean_ms)))
    assert found["drops"] == found["queue_max_pkt"] == 0


def test_a_metric_that_a_run_lacks_has_no_stake_in_it() -> None:
    run, known = made(8e-3, drops=1), possible(["short", "long"])
    lacking = [run.stake(known[name]) for name in ("flow_goodput_long_bps", "p99_long_s", "query_time_s")]
    times = {"afct_long_s": 1.0, "p100_long_s": 2.0, "flows_long": 1.0}
    assert [*lacking, made(8e-3, **times).stake(known["flow_goodput_long_bps"])] == [0, 0, 0, 0]


@pytest.mark.parametrize(("longest", "late"), [(8e-3, 10e-3), (11e-3, 9e-3)])
def test_a_task_has_a_timeout_in_it_if_it_is_as_long_and_any_class_had_one(longest: float, late: float) -> None:
    tasks = {"query_count": 5, "query_time_s": 2e-3, "p100_query_time_s": longest}
    run = made(1e-3, drops=1, timeouts_long=0.5, **tasks)
    found = {row.metric.name: run.stake(row.metric) for row in run.rows}
    assert found["query_time_s"] == pytest.approx(late / 5)


def test_the_risk_of_a_scheme_is_that_of_its_own_buffer() -> None:
    queries = {"kind": "queries", "class": "short", "workers": 9, "to": 0, "repeat": 5, "think": "1ms"}
    traffic = [{**queries, "sizes": {"kind": "fixed", "value": "10KB"}}]
    incast = {
        **scenario_of("20ms", buffer="1MB", hosts=10),
        "tcp": {"rto_min": "10ms", "initial_window": 2},
        "traffic": traffic,
    }
    smaller = "pfabric+switch.buffer=36KB"
    for run in shortflow.compare(incast, f"pfabric,{smaller}", seeds=1, ideal=False).runs:
        late = {row.metric.name: run.stake(row.metric) for row in run.rows}["query_time_s"]
        assert 18_000 < run.metrics["queue_max_bytes"] < 36_000
        assert run.metrics["drops"] == 0
        assert (late == pytest.approx(10e-3 / run.metrics["query_count"])) is (run.scheme == smaller)


def test_the_seeds_that_a_width_takes_allow_for_late_flows() -> None:
    runs = [with_seed(made(202e-3), seed) for seed in (1, 2, 3)]
    (found,) = widths(make_results("made", "made", {}, runs), ["afct_short_s"])
    # There is no scatter. An event adds 2 ms to a seed, 100 % of the mean: three events are 10 % of it with 30 seeds.
    assert found.share == pytest.approx((2 - 1 / 2) / 2)  # the interval is from 1/2 to 2 times the mean
    assert more_seeds([found], 0.1) == pytest.approx(30 - 3, abs=1)


WARNING = " between pfabric and dctcp allows for rare events, such as timeouts, that few or no seeds had."


def test_what_rests_on_few_events_is_said_wherever_it_is_shown(shortflow: Command) -> None:
    Path("few.toml").write_text(tomli_w.dumps(SHORT), encoding="utf-8")
    command = ("compare", "few.toml", "--schemes", "dctcp,pfabric", "--no-ideal", "--out", "kept")
    document = shortflow(*command, "--json").document
    told = document["paired"]["dctcp"]["pfabric"]["afct_short_s"]["few_events"]
    assert told["share"] == pytest.approx(1 - 0.05**0.2)
    assert 0 < told["move"] < 1
    assert told["seeds"] > 5
    for more in ((), ("--metrics", "afct_short_s")):
        said = " ".join(shortflow(*command, *more).stdout.split())
        assert re.search(f"flows( up to 100 KB)?{WARNING}", said)
    assert "rare events" not in shortflow(*command, "--metrics", "flows_short").stdout
    assert shortflow("report", "kept").code == ExitCode.FINE
    assert WARNING in (Path("kept") / "report.html").read_text(encoding="utf-8")
    swept = shortflow(
        "sweep", "few.toml", "--schemes", "dctcp,pfabric", "--grid", "traffic.1.load=0.4,0.5", "--out", "swept"
    )
    said = " ".join(swept.stdout.split())
    assert WARNING in said
    assert "Other points with such differences: 1." in said


def test_runs_without_chance_are_exact(shortflow: Command) -> None:
    """A lost last packet would cost a timeout, but all seeds give the same run, so there are no rare events."""
    flows = "\n".join(f"{ms}ms,{host},3,400KB" for ms in range(0, 20, 4) for host in range(3))
    Path("flows.csv").write_text(f"start,source,destination,bytes\n{flows}\n", encoding="utf-8")
    scenario = star([{"kind": "trace", "file": "flows.csv"}], 4, duration="50ms")
    Path("replay.toml").write_text(tomli_w.dumps(scenario), encoding="utf-8")
    command = ("compare", "replay.toml", "--schemes", "tcp,l2dct", "--seeds", "2", "--no-ideal", "--json")
    document = shortflow(*command).document
    assert {line["outcome"] for line in document["answer"]["lines"]} <= {"winner", "tie"}
    assert document["answer"]["words"][-1].startswith("Every seed gives the same run")
    changes = document["paired"]["l2dct"]["tcp"].values()
    assert all(each["ci95"] == pytest.approx([each["relative"]] * 2) for each in changes)
