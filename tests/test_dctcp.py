"""DCTCP's own experiments (SIGCOMM 2010) as shipped scenarios, beside what the paper prints."""

import pytest

from shortflow import load, run


def test_flows_share_as_they_come_and_go() -> None:
    """Fig. 16: a Jain index of 0.99. Flow i sends from i to 5 + i seconds."""
    result = run(load("dctcp-convergence"), "dctcp")
    assert result.metrics["jain_sampled_long"] == pytest.approx(0.99, abs=0.01)
    assert result.flows["finish_s"].to_list()[:4] == pytest.approx([5.0, 6.0, 7.0, 8.0], abs=0.01)


def test_two_bottlenecks_are_shared_with_windows_of_two_segments() -> None:
    """Fig. 17: 46 Mbps for a sender of S1, 54 of S3, 475 of S2; S1 has less where windows fall to one segment."""
    short = load("dctcp-multi-hop", {"duration": "1s"})
    of_linux, of_one = (run(short, scheme).metrics for scheme in ("dctcp@linux", "dctcp"))
    found = [of_linux[f"flow_goodput_{group}_bps"] / 1e6 for group in ("s1", "s3", "s2")]
    assert found == pytest.approx([46, 54, 475], rel=0.15)
    assert of_one["flow_goodput_s1_bps"] < 0.85 * of_linux["flow_goodput_s1_bps"]


@pytest.mark.parametrize(("scheme", "few", "many"), [("dctcp", 35, 60), ("dctcp@linux", 35, 60), ("tcp", 10, 35)])
def test_more_servers_answer_without_timeouts_than_under_tcp(scheme: str, few: int, many: int) -> None:
    """Fig. 18: none up to 35 servers under DCTCP, and up to 10 under TCP."""
    shares = [
        run(load("dctcp-incast", {"servers": servers, "traffic.1.repeat": 20}), scheme).metrics["query_timed_out"]
        for servers in (few, many)
    ]
    assert shares[0] == 0
    assert shares[1] > 0.1
