"""Results known from arithmetic, queueing theory, RFCs and measurements: the page, and all of its runs."""

import known
import pytest

from shortflow.runs import Plan
from shortflow.scenario import load_scenario
from shortflow_papers.lab.study import Scale
from shortflow_papers.papers.known import VALUES, windows
from shortflow_papers.papers.known.windows import turns
from shortflow_papers.reproduction.engine import select


def test_every_known_result_has_a_value_and_stands_on_the_page() -> None:
    claims = [claim for figure in select(["known"]) for claim in figure.claims]
    assert {claim.id for claim in claims} == set(VALUES)
    page = known.PAGE.read_text(encoding="utf-8")
    for claim in claims:
        assert f"| {claim.statement[:1].upper()}{claim.statement[1:]} |" in page, "run `make known`"


@pytest.mark.slow
def test_the_page_has_the_numbers_of_today() -> None:
    """Digests are equal on all machines, and so is the table."""
    shown = known.TABLE.search(known.PAGE.read_text(encoding="utf-8"))
    assert shown
    assert known.table(known.measured()) == shown[0], "run `make known`, and read what moved"


def test_turns_of_a_sawtooth_leave_out_the_packets_between_its_cuts() -> None:
    """Three teeth rise from 10 to 30 packets. Half a step down follows each step up."""
    tooth = [value for step in range(10, 30, 2) for value in (step, step + 2, step + 1)] + [30]
    found = turns([*tooth, *tooth, *tooth], least=5)
    assert found == [30, 10, 30, 10]
    assert turns([7, 8, 7, 8], least=5) == []


def test_known_results_are_those_of_the_scenarios_as_they_ship() -> None:
    """`shortflow run` gives the value of a row, because the run has no settings of the five papers' hosts and laws."""
    study = windows.dctcp.studies["flows"]
    (run,) = study.runs(Scale.QUICK, (2,), {})
    assert run.key == Plan(load_scenario("known-dctcp-sawtooth"), ["dctcp"]).runs([1], {"flows": "2"})[0].key
