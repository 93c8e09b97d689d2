"""The lab's numbers equal those that Polars alone computes from the same runs."""

from pathlib import Path

import pytest
import recomputed

from shortflow.runner import Runner
from shortflow_papers import papers
from shortflow_papers.lab.study import Scale
from shortflow_papers.reproduction.engine import ask_reproduction, select


@pytest.fixture(scope="module")
def runner(tmp_path_factory: pytest.TempPathFactory) -> Runner:
    return recomputed.use(Scale.QUICK, Path(tmp_path_factory.mktemp("recomputed")))


@pytest.mark.slow
@pytest.mark.parametrize("claim", recomputed.CLAIMS)
def test_a_claim_has_the_numbers_that_raw_tables_give(claim: str, runner: Runner) -> None:
    done = runner.answer(ask_reproduction(select([claim]), Scale.QUICK), conclude=False)
    (judged,) = (each for each in done.claims if each.claim.id == claim)
    assert recomputed.differing(claim, judged.finding.measured) == {}


def test_a_number_that_differs_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(recomputed.CLAIMS, "one", lambda: {"a": 1.0, "b": 2.0, "c": 3.0})
    assert recomputed.differing("one", {"a": 1.0, "b": 2.001}) == {"b": (2.001, 2.0)}
    with pytest.raises(AssertionError, match="none of"):
        recomputed.differing("one", {"d": 1.0})


def test_a_quarter_of_the_claims_with_runs_are_recomputed() -> None:
    recomputed_papers = {name.partition("/")[0] for name in recomputed.CLAIMS}
    with_runs = [
        claim for figure in select(papers.PAPERS) for claim in figure.claims if claim.studies and figure.studies
    ]
    assert len(recomputed.CLAIMS) >= len(with_runs) / 4
    assert set(papers.PAPERS) <= recomputed_papers
