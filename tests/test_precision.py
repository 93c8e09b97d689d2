"""Seeds until an interval is narrow enough."""

import math
from dataclasses import replace

import pytest

from conftest import Command
from made import make_results, make_rows, make_run
from shortflow.asks import rounds
from shortflow.errors import ConfigError, ExitCode
from shortflow.precision import Precision, more_seeds, widths
from shortflow.results import Results


def compared(*values: float, scheme: str = "dctcp") -> Results:
    runs = [
        make_run(scheme, seed, f"d{seed}", make_rows(afct_short_s=value, drops=value * 1000), 0.0)
        for seed, value in enumerate(values, 1)
    ]
    return make_results("made", "made", {}, runs)


def test_the_width_is_half_the_interval_over_the_mean() -> None:
    # Of 9, 10, 11 the standard error is 1/sqrt(3), and Student's quantile with 2 degrees of freedom 4.3027.
    (found,) = widths(compared(9.0, 10.0, 11.0), "drops")
    assert found.share == pytest.approx(4.3027 / math.sqrt(3) / 10, rel=1e-4)


def test_the_seeds_that_a_width_takes_are_those_after_which_it_is_reached() -> None:
    (found,) = widths(compared(9.0, 10.0, 11.0), "drops")
    # With standard deviation 1 and mean 10, ± 2 % of the mean is t / sqrt(n) <= 0.2: n = 99 has t = 1.9845 and gives
    # 0.19945, n = 98 gives 0.20049.
    assert more_seeds([found], 0.02) == 99 - 3
    assert more_seeds([found], 0.5) == 0
    assert more_seeds([found], 0.02) > more_seeds([found], 0.05) > more_seeds([found], 0.1) > 0


def test_the_looks_are_after_every_five_seeds_and_at_the_most() -> None:
    def looks(most: int, first: int = 5) -> list[list[int]]:
        return [list(new) for new in rounds(range(1, first + 1), Precision(0.1, most=most))]

    assert looks(12) == [[1, 2, 3, 4, 5], [6, 7, 8, 9, 10], [11, 12]]
    assert looks(9, first=8) == [[1, 2, 3, 4, 5, 6, 7, 8], [9]]
    assert looks(5) == [[1, 2, 3, 4, 5]]
    with pytest.raises(ConfigError, match="--seeds 10: is above --max-seeds 6"):
        looks(6, first=10)


def test_what_is_zero_with_every_seed_is_known() -> None:
    nothing = compared(0.0, 0.0, 0.0)
    assert widths(nothing, "drops")[0].share == 0
    assert Precision(0.05, "drops").is_met(nothing)
    assert not Precision(0.05, "drops").is_met(compared(0.0, 0.0, 1.0))


@pytest.mark.usefixtures("scenario")
def test_seeds_are_added_until_the_interval_is_narrow(shortflow: Command, small: dict[str, object]) -> None:
    command = ("compare", "small.toml", "--schemes", "tcp,dctcp", "--no-ideal", "--json")
    narrow = shortflow(*command, "--until-ci", "afct_short_s=25%", "--max-seeds", "60")
    seeds = narrow.document["seeds"]
    assert len(seeds) in range(5, 60, 5)
    for table in narrow.document["schemes"].values():
        mean = table["metrics"]["afct_short_s"]
        low, high = mean["ci95"]
        assert (high - low) / 2 <= 0.25 * mean["mean"]
    assert "makes intervals slightly too narrow" in narrow.stderr
    assert "from 5 seeds; ±5 % needs about" in shortflow(*command, "--seeds", "5").stderr


@pytest.mark.usefixtures("scenario")
def test_each_point_of_a_sweep_has_the_seeds_that_it_needs(shortflow: Command, small: dict[str, object]) -> None:
    answer = shortflow(
        *("sweep", "small.toml", "--schemes", "dctcp", "--grid", "load=0.3,0.7", "--until-ci", "afct_short_s=25%"),
        *("--max-seeds", "30", "--out", "store", "--json"),
    )
    assert answer.code == ExitCode.FINE
    few, many = answer.document["points"]
    assert few["until_ci_met"]
    assert len(few["seeds"]) < len(many["seeds"])
    assert "--until-ci: " in answer.stderr


def test_no_lower_bound_is_ever_narrow_enough() -> None:
    exact = compared(1.0, 1.0, 1.0)
    last = exact.done[2]
    bounded = replace(last, record={**last.record, "lower_bounds": [*last.metrics]})
    bound = replace(exact, done=[*exact.done[:2], bounded])
    assert Precision(0.05).is_met(exact)
    assert not Precision(0.05).is_met(bound)
    assert widths(bound)[0].share == math.inf
