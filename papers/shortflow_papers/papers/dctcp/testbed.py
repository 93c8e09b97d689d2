"""Figs. 16 to 18: convergence, two bottlenecks and incast on the paper's testbed."""

from shortflow.api.scenarios import Settings
from shortflow_papers import lab
from shortflow_papers.lab.study import Value
from shortflow_papers.papers.common import ns_study

SCHEMES = ("dctcp", "tcp")
SETTINGS: Settings = {"host.model": "linux", "transport.cwnd_floor": 2}
JITTERED: Settings = {**SETTINGS, "host.jitter": "half-packet"}
"""Settings with jitter. Without it, ports drop packets of the same flows repeatedly, and all seeds of Fig. 17 agree."""
SERVERS: tuple[Value, ...] = (5, *range(8, 17), 20, 25, 30, *range(35, 47), 50, 60)
RARE = 0.01
"""Maximum share of queries with a timeout at which a number of servers counts as free of timeouts."""

CONVERGENCE = ns_study("dctcp-convergence", SCHEMES, settings=JITTERED, seeds=1)
MULTI_HOP = ns_study("dctcp-multi-hop", SCHEMES, settings=JITTERED, quick_seeds=2, quick={"duration": "1s"})
INCAST = ns_study(
    "dctcp-incast",
    SCHEMES,
    over={"servers": SERVERS},
    settings={**SETTINGS, "traffic.1.repeat": 1000, "duration": "30s"},
    seeds=3,
    quick_seeds=2,
    quick={"traffic.1.repeat": 100, "duration": "3s"},
)


def _limit(scheme: str) -> lab.Quantity:
    """Largest number of servers at which at most 1 % of the queries have a timeout; 0 if there is none.

    Under TCP, 1 to 2 % of the queries have a timeout even at 5 servers.
    """

    def most(incast: lab.Data) -> float:
        timed_out = {n: incast.mean(scheme, "query_timed_out", servers=n).value for n in incast.values("servers")}
        return max((float(n) for n, share in timed_out.items() if share <= RARE), default=0.0)

    return lab.computed(f"most servers without timeouts under {scheme}", most, "servers")


def _goodput(scheme: str, group: str) -> lab.Quantity:
    return lab.level(scheme, f"flow_goodput_{group}_bps").called(f"a sender of {group.upper()}")


fig16 = lab.Figure("dctcp/fig16", "Fig. 16", "Five flows start and stop in turn", {"convergence": CONVERGENCE})
fig16.claim("dctcp/fig16-fair").says(
    "flows quickly reach their fair share; tests with up to 90 flows have a Jain index of 0.99",
    lab.level("dctcp", "jain_sampled_long").called("Jain index").within(0.98, 1.0),
)
fig16.claim("dctcp/fig16-tcp-varies").says(
    "TCP's shares vary more", lab.change("dctcp", "tcp", "jain_sampled_long").above()
)
fig17 = lab.Figure("dctcp/fig17", "Fig. 17", "Two bottlenecks", {"hops": MULTI_HOP})
fig17.claim("dctcp/fig17-shares").says(
    "a sender of S1 gets 46 Mbps, one of S3 54 and one of S2 475",
    *(_goodput("dctcp", group).near(bps) for group, bps in (("s1", 46e6), ("s3", 54e6), ("s2", 475e6))),
)
fig17.claim("dctcp/fig17-tcp-timeouts").says(
    "TCP has timeouts there, and shares slightly worse",
    lab.level("tcp", "timeouts").within(low=1.0),
    lab.change("tcp", "dctcp", "flow_goodput_s1_bps").within(-0.3, 0.0),
)
fig18 = lab.Figure("dctcp/fig18", "Fig. 18", "Incast with 100 packets for each port", {"incast": INCAST})
fig18.claim("dctcp/fig18-dctcp-limit").says(
    "DCTCP has no timeouts up to 35 servers, and some beyond",
    lab.level("dctcp", "query_timed_out").at(servers=SERVERS[: SERVERS.index(35) + 1]).highest().within(high=RARE),
    _limit("dctcp").near(35.0),
    shows=[lab.level("dctcp", "query_timed_out").at(servers=60)],
)
fig18.claim("dctcp/fig18-tcp-limit").says("TCP has timeouts beyond 10 servers", _limit("tcp").near(10.0))
