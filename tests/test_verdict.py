"""The sentences that a report begins with, from numbers that can be checked in the head."""

from collections.abc import Mapping, Sequence

from made import make_results, make_rows, make_run
from shortflow.metrics.catalogue import Row
from shortflow.report.verdict import verdict
from shortflow.result import Result
from shortflow.results import Results

TIME, TAIL, RATE = "afct_short_s", "p99_short_s", "goodput_long_bps"


def summary(scheme: str, seed: int, *, late: int = 0, **values: float) -> Result:
    """A run of 100 flows, some of them late, whose times are then lower bounds."""
    rows = make_rows(flows_short=100 - late, unfinished=late, unfinished_share=late / 100, **values)
    rows = [Row(row.metric, row.value, bool(late) and row.metric.name in (TIME, TAIL)) for row in rows]
    return make_run(scheme, seed, f"{scheme}{seed}", rows, wall_s=0.1)


def compared(schemes: Mapping[str, Sequence[float]], late: Mapping[str, int] | None = None, **rates: float) -> Results:
    """Schemes by their mean completion times in ms of each seed; the 99th percentile is three times as long."""
    runs = [
        summary(
            scheme,
            seed,
            late=(late or {}).get(scheme, 0),
            **{TIME: ms * 1e-3, TAIL: 3e-3 * ms, RATE: rates.get(scheme, 8.0) * 1e8},
        )
        for scheme, times in schemes.items()
        for seed, ms in enumerate(times, 1)
    ]
    return make_results("made", "Made", {}, runs)


def test_the_best_is_named_with_what_it_costs() -> None:
    text = " ".join(verdict(compared({"dctcp": [4.0, 4.2, 3.8], "l2dct": [2.0, 2.1, 1.9]}, l2dct=4.8, dctcp=8.0)))
    assert text == (
        "l2dct finishes short flows 50 ± 0 % sooner than dctcp. Against dctcp, l2dct lowers the 99th percentile of "
        "short flows by 50 ± 0 % and costs the long flows 40 ± 0 % of their goodput. Every flow that counts finished."
    )


def test_an_interval_that_holds_zero_tells_nothing() -> None:
    told = verdict(compared({"tcp": [9.0, 9.0, 9.2], "a": [2.0, 2.4, 2.2], "b": [2.3, 2.0, 2.4]}))
    assert told[0].startswith("a finishes short flows 75.")
    assert "sooner than tcp." in told[0]
    assert "b" not in told[0].split()
    assert told[1].startswith("Whether a finishes them sooner than b (-1.5 %, from -")
    assert told[1].endswith("%), 3 seeds do not tell.")
    alone = verdict(compared({"a": [2.0, 2.4, 2.2], "b": [2.3, 2.0, 2.4]}))
    assert alone[0].startswith("Whether a, whose mean is least, finishes short flows sooner than b")


def test_flows_that_did_not_finish_are_bounds_and_counted() -> None:
    told = verdict(compared({"dctcp": [4.0, 4.2], "b": [9.0, 9.4], "c": [2.0, 2.1]}, late={"b": 3, "c": 1}))
    difference = compared({"dctcp": [4.0, 4.2], "b": [9.0, 9.4]}, late={"b": 3}).relation("dctcp", "b", TIME)
    assert difference
    assert difference.upper_bound
    assert difference.ci95
    assert told[0] == f"dctcp finishes short flows at least {-100 * difference.ci95[1]:.1f} % sooner than b."
    assert told[1] == "Whether dctcp finishes them sooner than c, where some flows did not finish, is open."
    assert told[-1] == (
        "6 of 200 flows under b and 2 of 200 flows under c did not finish, and count with their age at the end of the "
        "run."
    )


def test_where_no_scheme_finishes_all_the_order_is_open() -> None:
    (first, *_) = verdict(compared({"b": [9.0, 9.4], "c": [2.0, 2.1]}, late={"b": 3, "c": 100}))
    assert first == "Under every scheme some short flows did not finish: times are lower bounds, their order is open."


def test_one_seed_has_no_interval_and_says_so() -> None:
    told = verdict(compared({"dctcp": [4.0], "l2dct": [2.0]}))
    assert told[0] == "l2dct finishes short flows 50 % sooner than dctcp."
    assert told[-1] == "There is one seed, and so no interval: how far chance goes is not known."


def test_a_scheme_alone_is_told_by_its_levels() -> None:
    assert verdict(compared({"dctcp": [4.0, 4.2]}))[0].startswith("dctcp finishes short flows in 4.10 ")
    assert "99 % of them within 12.3 " in verdict(compared({"dctcp": [4.0, 4.2]}))[0]


def test_every_seed_alike_says_nothing_of_chance() -> None:
    runs = [make_run("dctcp", seed, "the same", make_rows(**{TIME: 1e-3}), wall_s=0.1) for seed in (1, 2)]
    assert verdict(make_results("made", "Made", {}, runs))[-1].startswith("Every seed gives the same run")


def test_schemes_with_other_seeds_are_not_ranked() -> None:
    """Over its three seeds a is sooner by a third; on the seed that both have it is later."""
    told = verdict(compared({"a": [4.0, 1.0, 1.0], "b": [3.0]}))
    assert told[0].startswith("The schemes have different seeds")
    assert not any("sooner than" in each for each in told)


def test_schemes_that_take_the_same_time_are_told_so() -> None:
    assert verdict(compared({"a": [2.0, 2.1], "b": [2.0, 2.1]}))[0] == "a and b take the same time for short flows."


def test_the_best_of_many_is_said_to_be_chosen() -> None:
    three = compared({"a": [2.0, 2.1, 1.9], "b": [4.0, 4.2, 3.9], "c": [6.0, 6.1, 6.2]})
    assert (
        "The intervals take no account of it that a was picked as the best of 3 schemes on these same seeds."
        in verdict(three)
    )


def test_what_is_the_same_in_every_seed_is_equal() -> None:
    """The goodput of all seeds is 800 Mbps under both."""
    told = verdict(compared({"a": [2.0, 2.1], "b": [4.0, 4.1]}))
    assert "a and b are equal in the goodput of long flows." in told
    assert not any("No difference" in each for each in told)


def test_a_class_with_enough_flows_leads_and_few_are_said_to_be_few() -> None:
    """One flow a seed of a class that comes first."""
    classes = {"flows_other": 1, "afct_other_s": 9e-3}
    many, few = ({**classes, "flows_short": flows, "afct_short_s": 2e-3} for flows in (10, 9))

    def told(metrics: Mapping[str, float]) -> list[str]:
        rows = make_rows(**metrics)
        return verdict(make_results("made", "Made", {}, [make_run("a", seed, f"{seed}", rows, 0.1) for seed in (1, 2)]))

    assert told(many)[0].startswith("a finishes short flows in 2 ")
    assert told(few)[:1] == ["Only 9 short flows finished in a seed: few to judge by."]
    assert told(few)[1].startswith("a finishes short flows in 2 ")
