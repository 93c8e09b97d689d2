"""`explain` and `why`: accounts compared with numbers worked out by hand, and comparisons of two runs."""

import json
import re
from itertools import pairwise, takewhile
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shortflow as sf
from conftest import Command, Tables
from shortflow.accounts.account import Accounts, TimePart, accounted
from shortflow.accounts.carried import Carried
from shortflow.accounts.shown import time
from shortflow.runs import plan

SER, ACK, RTT = 12.0, 0.32, 300.0
"""Times in us: 1500 bytes and 40 bytes at 1 Gbit/s, and propagation to and fro over two links of 75 us."""
LONE = 2 * SER + 2 * ACK + RTT
"""Time in us of a packet and its ACK in an empty network."""

STAR = """
title = "test"
duration = "1s"
drain = "100s"
host.model = "fifo"
[topology]
kind = "star"
hosts = 4
rate = "1Gbps"
rtt = "300us"
[switch]
buffer = "250pkt"
mark_above = "20pkt"
[tcp]
initial_window = {window}
rto_min = "10ms"
[[traffic]]
kind = "trace"
file = "flows.csv"
{more}
"""


def scenario(place: Path, *rows: str, window: int = 2, more: str = "") -> sf.Scenario:
    (place / "flows.csv").write_text("\n".join(["start,source,destination,bytes", *rows]), encoding="utf-8")
    (place / "own.toml").write_text(STAR.format(window=window, more=more), encoding="utf-8")
    return sf.load(place / "own.toml")


def explained(of: sf.Scenario, flow: int, scheme: str = "tcp", settings: dict[str, Any] | None = None) -> Accounts:
    (run,) = plan(of, [scheme], [1], settings)
    return accounted(run, flow)


def micros(found: Accounts, flow: int) -> dict[str, float]:
    return {part.label: round(ps / 1e6, 6) for part, ps in found.of_flow(flow).items()}


def test_a_lone_packet_is_transmitted_and_propagates(tmp_path: Path) -> None:
    found = explained(scenario(tmp_path, "0s,h0,h2,1460"), 0)
    assert micros(found, 0) == {"propagation": RTT, "serialisation": 2 * SER + 2 * ACK}
    where = ["h0->s0", "h0->s0", "s0->h2", "s0->h2", "h2->s0", "h2->s0", "s0->h0", "s0->h0"]
    assert [step.port for step in found.steps] == where
    assert [step.packet for step in found.steps] == [("data", 0)] * 4 + [("ack", 1460)] * 4
    assert found.steps[0].from_ps == 0
    assert found.steps[-1].until_ps == LONE * 1e6


def test_a_window_of_two_holds_six_packets_for_a_round_trip(tmp_path: Path) -> None:
    """The first ACK allows the third packet. The sixth packet leaves the switch after the third, fourth and fifth."""
    found = explained(scenario(tmp_path, "0s,h0,h2,8760"), 0)
    assert micros(found, 0) == {
        "propagation": RTT,
        "wait for window: propagation": RTT,
        "serialisation": 5 * SER + 2 * ACK,
        "wait for window: serialisation": 2 * SER + 2 * ACK,
    }


def test_lost_first_packets_cost_a_timeout(tmp_path: Path) -> None:
    """Both packets are lost. The first is retransmitted after 10 ms, and its ACK allows the second."""
    of = scenario(tmp_path, "0s,h0,h2,2920", more="[faults]\ndrop_data = [1, 2]")
    found = explained(of, 0, settings={"tcp.initial_rto": "10ms"})
    assert micros(found, 0) == {
        "timeout": 10_000.0,
        "propagation": RTT,
        "wait for window: propagation": RTT,
        "serialisation": 2 * SER + 2 * ACK,
        "wait for window: serialisation": 2 * SER + 2 * ACK,
    }
    assert found.result.flows["timeouts"].to_list() == [1]


def test_a_flow_behind_two_long_ones_names_them(tmp_path: Path) -> None:
    """Each long flow has three packets at the switch when the packet of the third flow arrives, at 117 us.

    These six packets leave from 87 us on, and the last one at 159 us. At 117 us, half of the third packet has left.
    """
    of = scenario(tmp_path, "0s,h0,h2,23360", "0s,h3,h2,23360", "30us,h1,h2,1460", window=16)
    found = explained(of, 2)
    assert micros(found, 2) == {
        "propagation": RTT,
        "queueing at tier 1 to hosts": 42.0,
        "serialisation": 2 * SER + 2 * ACK,
    }
    (step,) = [step for step in found.steps if step.part.cause.startswith("queueing")]
    assert step.port == "s0->h2"
    assert {each.flow for each in step.in_front} == {0, 1}
    assert [(each.packets, each.takes_ps) for each in step.in_front] == [(2, 24_000_000), (2, 18_000_000)]


def test_a_small_queue_lets_the_hosts_other_flow_go_first(tmp_path: Path) -> None:
    """Two flows of ten packets leave a host in turns of two packets. The first flow ends before the second."""
    of = scenario(tmp_path, "0s,h0,h1,14600", "0s,h0,h2,14600", window=20)
    fair = explained(of, 1, settings={"host.small_queue": "2"})
    account = micros(fair, 1)
    assert account["queueing at the host"] == 2 * SER
    assert account["small queue"] == 8 * SER
    fifo = micros(explained(of, 1), 1)
    assert "small queue" not in fifo
    assert fifo["queueing at the host"] == 10 * SER
    assert sum(fifo.values()) == pytest.approx(sum(account.values()))


def test_no_picosecond_is_left_in_a_shipped_scenario(shortflow: Command) -> None:
    found = shortflow("explain", "incast", "--worst", "all", "--json", code=0).document
    flow = found["flow"]
    steps, fct = flow["steps"], flow["finish_ps"] - flow["start_ps"]
    assert sum(part["ps"] for part in flow["parts"]) == fct == steps[-1]["until_ps"] - steps[0]["from_ps"]
    assert all(one["until_ps"] == next_one["from_ps"] for one, next_one in pairwise(steps))
    for step in steps:
        taken = sum(each["takes_ps"] for each in step["in_front"])
        if step["cause"].startswith("queueing"):
            assert taken == step["until_ps"] - step["from_ps"]
    for of_class in found["classes"]:
        assert of_class["flows"] > 0
        assert sum(part["mean_ps"] for part in of_class["parts"]) > 0
    assert json.dumps(found)


def test_the_command_explains_in_tables(shortflow: Command) -> None:
    shown = shortflow("explain", "incast", "--median", "all", code=0).stdout
    for heading in ("Where the time went", "Time-line", "shares of the completion time"):
        assert heading in shown
    assert max(map(len, shown.splitlines())) <= 100
    assert "choose" in shortflow("explain", "incast", "--flow", "1", "--worst", "all", code=2).stderr
    assert "rows 0 to" in shortflow("explain", "incast", "--flow", "999999", code=2).stderr


def test_a_result_explains_a_flow() -> None:
    result = sf.run(sf.load("incast").with_(servers=10), "dctcp")
    found = result.explain(3)
    assert "Flow 3" in str(found)
    assert sum(found.explained.of_flow(3).values()) == round(result.flows["fct_s"][3] * 1e12)
    assert found.explained.result.digest == result.digest
    assert found.explained.parts
    assert found.explained.table.schema["flow"] == pl.UInt32
    assert TimePart("last", "propagation") in found.explained.parts.values()


def test_why_tells_equal_runs_from_different_ones(shortflow: Command) -> None:
    quiet = ["--set", "servers=3"]
    shortflow("compare", "incast", "--schemes", "tcp,dctcp,l2dct", "--seeds", "1", *quiet, "--out", "store", code=0)
    found = shortflow("why", "store", "tcp", "dctcp", "--json", code=0).document
    assert found["runs_done_again"]
    assert (found["equal"], found["parting"] is None) == (True, True)
    assert "search" not in found
    trials = shortflow("why", "store", "tcp", "dctcp", "--search", "--json", code=0).document["search"]
    by_axis = {axis: [each for each in trials if each["axis"] == axis] for axis in ("flows at once", "sizes")}
    assert by_axis["flows at once"][0]["settings"] == {"servers": "6"}
    for of_axis in by_axis.values():
        assert not any(each["parts"] for each in of_axis[:-1])
    at = by_axis["flows at once"][-1]["settings"]
    raised = [f"{key}={value}" for key, value in at.items()]
    shortflow(
        "compare", "incast", "--schemes", "tcp,dctcp", "--seeds", "1", "--set", *raised, "--out", "raised", code=0
    )
    assert not shortflow("why", "raised", "tcp", "dctcp", "--json", code=0).document["equal"]
    busy = ["--set", "servers=60"]
    shortflow("compare", "incast", "--schemes", "tcp,dctcp", "--seeds", "1", *busy, "--out", "busy", code=0)
    found = shortflow("why", "busy", "tcp", "dctcp", "--flow", "0", "--json", code=0).document
    assert not found["equal"]
    assert found["parting"]["first"] != found["parting"]["second"]
    for each in found["classes"]:
        for place in (0, 1):
            assert sum(part["mean_ps"][place] for part in each["parts"]) == pytest.approx(1e12 * each["mean_s"][place])
    shown = shortflow("why", "busy", "tcp", "dctcp", code=0).stdout
    assert "Shortflow repeated both runs" in shown
    assert "The first events that differ:" in shown
    assert "unknown scheme of the store" in shortflow("why", "busy", "tcp", "fast", code=2).stderr


def test_why_names_what_the_store_has(shortflow: Command) -> None:
    """The store has both schemes with 3 senders, and one scheme with 9 and 12. Errors name what is missing."""
    base = ("compare", "incast", "--seeds", "1", "--no-ideal", "--out", "store", "--set")
    shortflow(*base, "servers=3", "--schemes", "tcp,dctcp", code=0)
    shortflow(*base, "servers=9", "--schemes", "dctcp", code=0)
    for schemes, more, wanted in (
        (("tcp", "dctp"), (), 'did you mean "dctcp"?'),
        (("tcp", "dctcp"), ("--seed", "4"), "no run of tcp with this seed; it has 1"),
        (
            ("tcp", "dctcp"),
            ("--set", "servers=5"),
            "no run of tcp with these settings; choose one with --set; the store has servers=3",
        ),
        (
            ("tcp", "dctcp"),
            (),
            "several runs of this scheme with seed 1; choose one with --set; the store has servers=3, servers=9",
        ),
        (("tcp", "dctcp"), ("--set", "servers=3", "--flow", "60"), "flow 60: the flow table has rows 0 to 59"),
    ):
        assert wanted in shortflow("why", "store", *schemes, *more, code=2).stderr
    assert shortflow("why", "store", "tcp", "dctcp", "--set", "servers=3", "--json", code=0).document["equal"]
    shortflow(*base, "servers=12", "--schemes", "l2dct", code=0)
    apart = shortflow("why", "store", "tcp", "l2dct", code=2).stderr
    assert "the store has tcp with servers=3 and l2dct with servers=12; compare both with the same settings" in apart


def test_a_scenario_chooses_among_those_of_a_store(shortflow: Command) -> None:
    """The store has runs of two scenarios from files."""
    for name in ("one", "two"):
        scenario(Path(), "0s,h0,h2,1460", "0s,h1,h2,1460")
        Path("own.toml").rename(f"{name}.toml")
        made = ("compare", f"{name}.toml", "--schemes", "tcp,dctcp", "--seeds", "1", "--no-ideal", "--out", "store")
        shortflow(*made, code=0)
    pair = ("why", "store", "tcp", "dctcp")
    assert "choose a scenario with --scenario: one, two" in shortflow(*pair, code=2).stderr
    found = shortflow(*pair, "--scenario", "two.toml", "--json", code=0).document
    assert (found["scenario"], found["equal"]) == ("two", True)


def test_times_have_units_and_no_remainder() -> None:
    assert [time(ps) for ps in (0, -1e-7, 12, 123_456, 3.3e9)] == ["0 s", "0 s", "0.012 ns", "0.1235 µs", "3.3 ms"]


UNFINISHED = """
[[traffic]]
kind = "long-lived"
class = "endless"
flows = 1
from = 3
to = 2
"""


def test_flows_without_a_completion_time_are_named(shortflow: Command, tmp_path: Path) -> None:
    """A flow of 30 MB does not end within 10 ms, and a backlogged flow never ends."""
    scenario(tmp_path, "0s,h0,h2,30MB", "1ms,h1,h0,1460", more=UNFINISHED)
    text = (tmp_path / "own.toml").read_text(encoding="utf-8").replace('"100s"', '"9ms"').replace('"1s"', '"10ms"')
    (tmp_path / "own.toml").write_text(text.replace("[[traffic]]", '[[traffic]]\nclass = "finite"', 1), "utf-8")
    shown = shortflow("explain", "own.toml", code=0).stdout
    assert "1 of 2 flows did not finish and has no account" in shown
    assert "of the slowest flow" in shown
    (of_class,) = shortflow("explain", "own.toml", "--json", code=0).document["classes"]
    assert (of_class["flows"], of_class["unfinished"], of_class["slowest_flows"]) == (1, 1, 1)
    for choice, wanted in {
        ("--worst", "endless"): 'no flow of class "endless" has an end',
        ("--flow", "1"): "flow 1: the flow is backlogged",
        ("--worst", "finit"): 'did you mean "finite"?',
        ("--flow", "0"): "did not finish under dctcp",
    }.items():
        assert wanted in shortflow("explain", "own.toml", *choice, code=2).stderr
    late = ("explain", "own.toml", "--set", "warmup=5ms", "--set", "traffic.1.unmeasured=true", "--worst", "all")
    assert "no finite flow started in the measured time" in shortflow(*late, code=2).stderr
    (tmp_path / "flows.csv").write_text("start,source,destination,bytes\n0s,h0,h2,30MB\n", "utf-8")
    shown = shortflow("explain", "own.toml", code=0).stdout
    assert "1 of 1 flow did not finish" in shown
    assert "The account follows" not in shown
    assert "no measured flow finished" in shortflow("explain", "own.toml", "--median", "all", code=2).stderr
    shortflow("compare", "own.toml", "--schemes", "tcp,dctcp", "--seeds", "1", "--out", "store", code=0)
    assert "give its file with --scenario FILE" in shortflow("why", "store", "tcp", "dctcp", code=2).stderr
    own = ("--scenario", "own.toml")
    assert "no completion times to compare" in shortflow("why", "store", "tcp", "dctcp", *own, code=0).stdout
    assert "under tcp" in shortflow("why", "store", "tcp", "dctcp", *own, "--flow", "0", code=2).stderr
    assert "name two schemes" in shortflow("why", "store", "tcp", "tcp", *own, code=2).stderr
    other = shortflow("why", "store", "tcp", "dctcp", "--scenario", "incast", code=2).stderr
    assert "the file is of incast, and the store has runs of own" in other


def rows_of(shown: str, heading: str) -> list[list[str]]:
    """Cells of a printed table, which two or more spaces separate."""
    lines = shown.split(heading, 1)[1].splitlines()[3:]
    table = list(takewhile(lambda line: not line.startswith(("The account", "Class", "Flow", "Each share")), lines))
    return [re.split(r"\s{2,}", line.strip()) for line in table if line.strip()]


def test_the_rows_of_a_difference_add_up(shortflow: Command) -> None:
    shortflow("compare", "incast", "--schemes", "tcp,dctcp", "--seeds", "1", "--out", "store", code=0)
    rows = rows_of(shortflow("why", "store", "tcp", "dctcp", code=0).stdout, "Class short: mean completion time")
    shares = [float(row[-1].removesuffix(" %")) for row in rows]
    assert sum(map(abs, shares[:-1])) == pytest.approx(100, abs=0.05 * len(rows)), "no share exceeds 100 %"
    assert sum(shares[:-1]) == pytest.approx(shares[-1], abs=0.05 * len(rows))


def test_a_pause_is_a_cause_of_its_own(tmp_path: Path) -> None:
    """Two senders fill one link, and the switch pauses both senders after a few packets."""
    of = scenario(tmp_path, "0s,h0,h2,146000", "0s,h1,h2,146000", window=100)
    text = (tmp_path / "own.toml").read_text(encoding="utf-8").replace('"20pkt"', '"20pkt"\nxoff = "10KB"')
    (tmp_path / "own.toml").write_text(text.replace('"250pkt"', '"250KB"'), "utf-8")
    found = explained(sf.load(tmp_path / "own.toml"), 0)
    account = micros(found, 0)
    assert account["pause"] > 10 * SER
    assert sum(account.values()) == pytest.approx(1e6 * found.result.flows["fct_s"][0])
    free = micros(explained(of, 0), 0)
    assert "pause" not in free
    assert account["pause"] < sum(free.values())


def test_a_page_shows_where_the_time_went_and_the_network(shortflow: Command, tmp_path: Path) -> None:
    """Under both schemes, the parts add up to the mean FCT. Each link is drawn once in each direction."""
    scenario(tmp_path, *(f"0s,h{sender},h2,29200" for sender in (0, 1, 3)), window=20)
    shortflow("compare", "own.toml", "--schemes", "tcp,dctcp", "--seeds", "1", "--no-ideal", "--out", "store", code=0)
    assert "give its file with --scenario FILE" in shortflow("report", "store", "--explain", code=2).stderr
    own = ("report", "store", "--explain", "--scenario", "own.toml")
    (study,) = shortflow(*own, "--json", code=0).document["studies"]
    plots = {plot["name"]: plot["spec"] for plot in study["plots"]}
    drawn = [row for row in plots["network"]["data"]["values"] if row["kind"] == "link"]
    assert len(drawn) == 2 * 8
    hottest = max((row for row in drawn if row["scheme"] == "dctcp"), key=lambda row: row["use"])
    assert hottest["link"] == "s0->h2"
    rows = plots["went-short"]["data"]["values"]
    for scheme in ("tcp", "dctcp"):
        (at,) = (each["comparison"] for each in study["points"])
        mean = at["schemes"][scheme]["metrics"]["afct_short_s"]["mean"]
        parts = [row["value"] for row in rows if (row["scheme"], row["panel"]) == (scheme, "mean")]
        assert sum(parts) == pytest.approx(1e3 * mean)
    shortflow(*own, code=0)
    page = (tmp_path / "store" / "report.html").read_text(encoding="utf-8")
    assert "Where the time went: class short" in page
    assert "The network by link use" in page
    assert "payload of short" in page
    assert "87.6 KB" in page, "three flows of 29,200 bytes"


def test_payload_by_class_is_that_of_the_flows(small: Tables) -> None:
    """Each segment crosses one link to the receiver, where each byte arrives once, plus retransmissions."""
    named = sf.load(small)
    (run,) = plan(named, ["dctcp"], [1], {})
    carried = Carried(named)
    result = accounted(run, departed=carried.take).result
    assert result.digest == sf.run(named, "dctcp", progress=False).digest
    at_receiver = carried.by_class(result.flows)["s0->h4"]
    assert at_receiver.keys() == {"short", "long"}
    delivered = dict(result.flows.group_by("class").agg(pl.col("delivered_bytes").sum()).iter_rows())
    again = result.flows["measured_retransmits"].sum()
    for name, payload in at_receiver.items():
        assert payload == pytest.approx(delivered[name], abs=1460 * (again + 5)), name
    (whole,) = result.ports.filter(pl.col("port") == "s0->h4")["tx_bytes"]
    assert 0.95 * whole < sum(at_receiver.values()) < whole


def test_three_quiet_flows_tie_and_part_as_the_page_says(shortflow: Command) -> None:
    page = (Path(__file__).parents[1] / "docs" / "explain.md").read_text("utf-8")
    Path("quiet.toml").write_text(page.partition("<<'EOF'\n")[2].partition("EOF\n")[0], "utf-8")
    schemes = ("--schemes", "tcp,dctcp,l2dct", "--seeds", "1", "--no-ideal", "--out", "quiet")
    said = shortflow("compare", "quiet.toml", *schemes, code=0).stdout
    assert "no packet was marked or lost, so their laws had nothing to decide" in " ".join(said.split())
    for pair, parts in (
        (("tcp", "dctcp"), {"traffic.1.flows": "6", "traffic.1.sizes.value": "20KB"}),
        (("dctcp", "l2dct"), {"traffic.1.sizes.value": "80KB"}),
    ):
        found = shortflow("why", "quiet", *pair, "--search", "--scenario", "quiet.toml", "--json", code=0).document
        assert found["equal"]
        assert [each["asked"]["any"] for each in found["schemes"]] == [0, 0]
        differ = [each["settings"] for each in found["search"] if each["parts"]]
        assert {key: value for settings in differ for key, value in settings.items()} == parts
        equal = [each["settings"] for each in found["search"] if each["parts"] is False]
        assert ({"traffic.1.flows": "96"} in equal) == ("l2dct" in pair)


def test_a_page_explains_each_scenario_of_a_store(shortflow: Command, tmp_path: Path) -> None:
    scenario(tmp_path, "0s,h0,h2,29200")
    (tmp_path / "other.toml").write_text((tmp_path / "own.toml").read_text("utf-8"), "utf-8")
    for name in ("own", "other"):
        made = ("compare", f"{name}.toml", "--schemes", "tcp", "--seeds", "1", "--no-ideal", "--out", f"store/{name}")
        shortflow(*made, code=0)
    report = ("report", "store", "--explain", "--scenario", "own.toml")
    assert "other: the store has only the name of the scenario" in shortflow(*report, code=2).stderr
    wrong = shortflow(*report, "--scenario", "incast", code=2).stderr
    assert "--scenario incast: the file is of incast" in wrong
    studies = shortflow(*report, "--scenario", "other.toml", "--json", code=0).document["studies"]
    assert [{plot["name"] for plot in each["plots"]} >= {"network", "went-short"} for each in studies] == [True, True]


def test_a_backlogged_flow_in_front_is_called_so(shortflow: Command) -> None:
    said = shortflow("explain", "testbed-short-long", "--worst", "all", code=0).stdout
    assert "backlogged flow of connection " in said
    assert re.search(r"(?<!of )connection \d", said) is None
