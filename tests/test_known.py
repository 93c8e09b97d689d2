"""Results known from arithmetic, queueing theory, RFCs and measurements: the page, and all of its runs."""

import known
import pytest

from shortflow.papers.known import VALUES
from shortflow.reproduction.engine import select


def test_every_known_result_has_a_value_and_stands_on_the_page() -> None:
    claims = [claim for figure in select(["known"]) for claim in figure.claims]
    assert {claim.id for claim in claims} == set(VALUES)
    page = known.PAGE.read_text(encoding="utf-8")
    for claim in claims:
        assert f"| {claim.statement[:1].upper()}{claim.statement[1:]} |" in page, "run `make known`"


@pytest.mark.slow
def test_the_page_has_the_numbers_of_today() -> None:
    """All digests are equal everywhere, and so is the table."""
    shown = known.TABLE.search(known.PAGE.read_text(encoding="utf-8"))
    assert shown
    assert known.table(known.measured()) == shown[0], "run `make known`, and read what moved"
