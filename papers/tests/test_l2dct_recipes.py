"""Computations in L2DCT's recipes."""

import polars as pl
import pytest

from made import with_tables
from shortflow import _core
from shortflow.result import Result
from shortflow.runs import plan
from shortflow.scenario import load_scenario
from shortflow.simulate import simulate_run
from shortflow_papers.papers.l2dct.eq_steady import sawtooth
from shortflow_papers.papers.l2dct.in_python import L2dctInPython
from shortflow_papers.papers.l2dct.setup import over_trend


def run(scheme: "str | type[L2dctInPython]", scenario: str = "incast", **settings: str) -> Result:
    changes = {key.replace("__", "."): value for key, value in settings.items()}
    (work,) = plan(load_scenario(scenario), [scheme], [1], changes)
    return simulate_run(work, _core.Control())


def fates(result: Result) -> pl.DataFrame:
    """The flow table without the columns that name the run."""
    return result.flows.drop("scheme", "run")


def test_the_law_in_python_is_the_built_in_one() -> None:
    settings = {"servers": "20", "traffic__1__repeat": "2", "duration": "300ms"}
    sizes = "{ kind = 'uniform', min = '100KB', max = '2MB' }"
    here = run(L2dctInPython, traffic__1__sizes=sizes, **settings)
    there = run("l2dct+initial_alpha=0+cwnd_floor=1", traffic__1__sizes=sizes, **settings)
    other = run("dctcp+initial_alpha=0+cwnd_floor=1", traffic__1__sizes=sizes, **settings)
    assert fates(here).equals(fates(there))
    assert not fates(here).equals(fates(other))


def test_values_over_the_line_through_the_first_points() -> None:
    assert over_trend([1, 2, 3, 4], [10, 20, 30, 80], fitted=3) == pytest.approx([1, 1, 1, 2])


def test_the_teeth_of_a_made_window() -> None:
    """The window rises from 40 to 50 segments in ten samples of 50 us, and the queue follows it."""
    result = run("l2dct", "one-long-flow", duration="10ms", warmup="0s")
    times = [50e-6 * step for step in range(110)]
    height = [40.0 + step % 11 for step in range(110)]
    kinds = {"cwnd_seg": height, "alpha": [0.25] * 110, "queue_pkt": [value - 30 for value in height]}
    rows = [
        {"time_s": time, "kind": kind, "subject": "0", "value": value}
        for kind, values in kinds.items()
        for time, value in zip(times, values, strict=True)
    ]
    made = with_tables(result, samples=pl.DataFrame(rows))
    found = sawtooth(made)
    assert (found.swing, found.mean_window, found.alpha) == pytest.approx((10.0, 45.0, 0.25))
    assert (found.queue_max, found.queue_min, found.queue_swing) == pytest.approx((20.0, 10.0, 10.0))
    assert found.period == pytest.approx(11 * 50e-6 / (45 * 12e-6))
