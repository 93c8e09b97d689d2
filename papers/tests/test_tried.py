"""Tried alternatives of choices: stored data, and texts of reports."""

from pathlib import Path

import pytest

from made import answered
from shortflow.errors import DamagedResult
from shortflow_papers import papers
from shortflow_papers.lab import Claim, Figure, all_hold, within
from shortflow_papers.lab.study import Scale
from shortflow_papers.reproduction.engine import ask_reproduction, select
from shortflow_papers.reproduction.judged import Judged
from shortflow_papers.reproduction.sensitivity import Other, Shift, outcomes, untouched
from shortflow_papers.reproduction.tried import STORED, Outcome, Tried, at, combined, load_tried, save_tried, stored


def tried(taken: Outcome, others: dict[str, Outcome], deciding: str = "value") -> Tried:
    return Tried(deciding, taken, others)


OTHERS = {
    "handshake=on": Outcome("agrees", "-0.39"),
    "initial-alpha=1": Outcome("differs", "-0.69", "at_load 0.2"),
    "marked-acks=yes": Outcome("direction", "-0.56"),
    "rto-clock=10ms": Outcome("differs", "-0.6"),
    "initial-alpha=1+marked-acks=yes": Outcome("agrees", "-0.41"),
    "marked-acks=yes+rto-clock=10ms": Outcome("differs", "-0.7"),
}


def test_what_was_tried_is_kept_while_a_claim_stands(tmp_path: Path) -> None:
    file, differs = tmp_path / "tried.json", Outcome("differs", "")

    def kept(found: Tried, scale: Scale = Scale.QUICK) -> dict[str, Outcome]:
        save_tried({"l2dct/two": found}, scale, file)
        return load_tried(file)["l2dct/two"][scale].others

    more = {"recovery=sack": Outcome("differs", "-0.7")}
    save_tried({"l2dct/one": tried(differs, OTHERS)}, Scale.QUICK, file)
    assert kept(tried(differs, more)) == more
    assert kept(tried(differs, OTHERS)) == {**more, **OTHERS}, "a piece at a time"
    assert kept(tried(differs, more), Scale.FULL) == more, "scales apart"
    assert kept(tried(differs, {})) == {**more, **OTHERS}
    assert kept(tried(differs, more, "load 0.1")) == more, "another number decides"
    assert kept(tried(Outcome("differs", "1"), OTHERS, "load 0.1")) == OTHERS, "it comes out another way"
    idle = Tried("load 0.1", Outcome("differs", "1"), unchanged=["rto-clock=10ms"])
    assert "rto-clock=10ms" not in kept(idle), "no run changed with it"
    assert load_tried(file)["l2dct/two"][Scale.QUICK].unchanged == ["rto-clock=10ms"]
    assert at(Scale.FULL, load_tried(file)) == {"l2dct/two": tried(differs, more)}
    assert at(Scale.QUICK, load_tried(file))["l2dct/one"].others == OTHERS
    file.write_text("{")
    with pytest.raises(DamagedResult, match="reproduce --sensitivity"):
        load_tried(file)


def test_what_is_kept_of_another_choice_is_the_number_that_decides_there() -> None:
    one = Claim("l2dct/one").says("")
    high, low = within(3.0, 0, 1), within(-2.0, 0, 1)
    before, other, agreeing, same = (
        Judged(one, all_hold(each))
        for each in (
            {"high": high, "low": within(0.5, 0, 1)},
            {"high": within(0.5, 0, 1), "low": low},
            {"low": within(0.1, 0, 1), "high": within(0.2, 0, 1)},
            {"high": within(2.5, 0, 1), "low": within(0.5, 0, 1)},
        )
    )
    moved = [Shift(Other({"a": str(n)}), before, after, True) for n, after in enumerate((other, agreeing, same))]
    idle = Shift(Other({"a": "8"}), before, before, reached=True, changed=False)
    (found,) = outcomes([*moved, idle, Shift(Other({"a": "9"}), before, before, False)]).values()
    others = {"a=0": Outcome("differs", "-2", "low"), "a=1": Outcome("agrees", "0.2"), "a=2": Outcome("differs", "2.5")}
    assert found == Tried("high", Outcome("differs", "3"), others, ["a=8"])


def test_every_pair_that_is_kept_is_of_values_that_move_the_claim() -> None:
    for name, of_scale in stored().items():
        for each in of_scale.values():
            possible = {"+".join(texts) for count in (2, 3) for texts in combined(each.movers, count)}
            assert each.others.keys() - each.singles <= possible, name


def test_the_sentence_about_other_choices_has_their_numbers() -> None:
    said = (
        "other choices: agrees with handshake=on (-0.39), initial-alpha=1+marked-acks=yes (-0.41); "
        "direction with marked-acks=yes (-0.56); differs with initial-alpha=1 (at load 0.2: -0.69); "
        "the same with rto-clock=10ms; "
        "tried: 4 of 9 values and 2 of 3 pairs of those that move it, 1 of which agree"
    )
    one = tried(Outcome("differs", "-0.6"), OTHERS, "at_load 0.1")
    assert one.sentence(9) == said
    assert one.spread == "-0.6 to -0.39, 1 of 4 other values agree"
    longer = tried(Outcome("differs", "1.1 ms"), {"jitter=0": Outcome("agrees", "950 µs")})
    assert longer.spread == "950 µs to 1.1 ms, 1 of 1 other value agree"
    assert one.elsewhere(Scale.QUICK, 9) == f"at the quick scale (differs, at load 0.1: -0.6), {said}"
    unnumbered = {"handshake=on": Outcome("agrees", ""), "jitter=0": Outcome("differs", "")}
    assert tried(Outcome("undecided", ""), {**unnumbered, "jitter=1ms": Outcome("undecided", "")}).sentence(3) == (
        "other choices: agrees with handshake=on; differs with jitter=0; the same with jitter=1ms; "
        "tried: 3 of 3 values and 0 of 1 pairs of those that move it"
    )
    nothing = tried(Outcome("differs", ""), {})
    assert (
        nothing.elsewhere(Scale.QUICK, 9) == "at the quick scale (differs), no other choice that was tried changes it"
    )
    idle = tried(Outcome("differs", "1"), {"jitter=0": Outcome("agrees", "2")})
    idle.unchanged = ["handshake=on"]
    assert idle.sentence(2) == (
        "other choices: agrees with jitter=0 (2); no run changed with handshake=on; tried: 1 of 2 values"
    )


def test_where_a_claim_agrees_at_another_scale_the_choices_that_break_it_are_told() -> None:
    agrees = tried(Outcome("agrees", "-0.4"), OTHERS)
    assert agrees.elsewhere(Scale.QUICK, 9) == (
        "at the quick scale (agrees, -0.4), other choices: direction with marked-acks=yes (-0.56); differs with "
        "initial-alpha=1 (at load 0.2: -0.69), rto-clock=10ms (-0.6); "
        "tried: 4 of 9 values and 2 of 6 pairs of those that move it, 1 of which agree"
    )
    everywhere = tried(Outcome("agrees", "1"), {"jitter=0": Outcome("agrees", "2")})
    assert everywhere.sentence(2) == "other choices: every value agrees; tried: 1 of 2 values"


def test_what_is_stored_was_tried_of_choices_that_the_papers_have() -> None:
    assert stored()
    for name, of_scale in stored().items():
        choices = papers.choices(name.partition("/")[0])
        known = {f"{choice}={value}" for choice, each in choices.items() for value in each.others}
        assert {one for each in of_scale.values() for text in each.others for one in text.split("+")} <= known, name


def test_the_stored_file_is_small() -> None:
    assert STORED.stat().st_size <= 60_000


def quick_runs(figure: Figure) -> int:
    plans = [(study, position) for study in figure.studies.values() for position in study.positions(Scale.QUICK)]
    return sum(len(study.runs(Scale.QUICK, position, {})) for study, position in plans)


@pytest.mark.parametrize("name", papers.PAPERS)
def test_what_was_tried_was_tried_of_claims_as_they_are(name: str, tmp_path: Path) -> None:
    """Repeats the cheapest figure with a claim that does not agree."""
    known = {claim: each for claim, each in at(Scale.QUICK, stored()).items() if claim.startswith(f"{name}/")}
    left = {claim for claim, each in known.items() if each.taken.verdict not in ("agrees", "untested")}
    if not known:
        pytest.skip("nothing was tried since the set-up changed: make sensitivity")
    cheapest = min((each for each in select([name]) if left & {claim.id for claim in each.claims}), key=quick_runs)
    judged = [
        each for each in answered(tmp_path, ask_reproduction([cheapest], Scale.QUICK)).claims if each.claim.id in left
    ]
    assert judged
    assert [each.claim.id for each in judged if not known[each.claim.id].stands(untouched(each))] == []
