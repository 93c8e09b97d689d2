"""DCTCP's own experiments (SIGCOMM 2010) as shipped scenarios, compared with the printed numbers."""

from pathlib import Path

import pytest

from made import answered
from shortflow import load, run
from shortflow_papers.lab.study import Scale
from shortflow_papers.reproduction.engine import ask_reproduction, select


def test_flows_share_as_they_come_and_go_and_over_two_bottlenecks(tmp_path: Path) -> None:
    """Figs. 16 and 17 agree. If windows may fall to one segment, S1 gets less than in Fig. 17."""
    for floor, s1 in (("2", "agrees"), ("1", "differs")):
        figures = select(["dctcp/fig16", "dctcp/fig17"])
        judged = answered(tmp_path, ask_reproduction(figures, Scale.QUICK, {"cwnd-floor": floor})).claims
        found = {each.claim.id.partition("/")[2]: each.finding.verdict for each in judged}
        assert (found["fig16-fair"], found["fig17-shares"]) == ("agrees", s1)


@pytest.mark.parametrize(("scheme", "few", "many"), [("dctcp", 35, 60), ("dctcp@linux", 35, 60), ("tcp", 10, 35)])
def test_more_servers_answer_without_timeouts_than_under_tcp(scheme: str, few: int, many: int) -> None:
    """Fig. 18: there are no timeouts for up to 35 servers under DCTCP, and for up to 10 under TCP."""
    shares = [
        run(load("dctcp-incast", {"servers": servers, "traffic.1.repeat": 20}), scheme).metrics["query_timed_out"]
        for servers in (few, many)
    ]
    assert shares[0] == 0
    assert shares[1] > 0.1
