"""The most used links of a run, and the one named as the bottleneck inside the network."""

from dataclasses import replace

import shortflow as sf
from conftest import Command, Tables
from made import make_result
from shortflow.report.links import link_blocks
from shortflow.report.used_links import inner_bottleneck, links

ONE = {"duration": "100ms", "warmup": "20ms"}


def test_links_are_those_of_the_table_of_ports_by_use() -> None:
    result = sf.run(sf.load("one-long-flow", ONE), "dctcp", progress=False)
    found = links(result)
    rows = {row["port"]: row for row in result.ports.iter_rows(named=True)}
    assert {link.port for link in found} == rows.keys()
    assert all(link.tx_bytes == rows[link.port]["tx_bytes"] for link in found)
    assert [link.utilisation for link in found] == sorted((link.utilisation for link in found), reverse=True)
    assert inner_bottleneck(found) == "The most used link is s0->s1 (100 %), not a link to a receiver (at most 10 %)."


def test_a_receiver_is_no_inner_bottleneck(small: Tables) -> None:
    found = links(sf.run(sf.load(small), "dctcp", progress=False))
    assert found[0].port == "s0->h4"
    assert inner_bottleneck(found) == ""


def test_ideal_schedulers_have_no_links(small: Tables) -> None:
    assert list(link_blocks(sf.run(sf.load(small), "ideal-ps", progress=False))) == []


def test_the_command_names_the_bottleneck(shortflow: Command) -> None:
    settings = [text for key, value in ONE.items() for text in ("--set", f"{key}={value}")]
    shown = shortflow("run", "one-long-flow", *settings, code=0).stdout
    assert "Most used links" in shown
    assert "s0->s1 (100 %), not a link to a receiver" in shown


def test_a_comparison_names_the_bottleneck_inside_the_network(shortflow: Command) -> None:
    settings = [text for key, value in ONE.items() for text in ("--set", f"{key}={value}")]
    schemes = ("--schemes", "tcp,dctcp", "--seeds", "1", "--no-ideal", "--out", "kept")
    shown = " ".join(shortflow("compare", "one-long-flow", *settings, *schemes, code=0).stdout.split())
    assert "tcp and dctcp, first seed: the most used link is s0->s1 (100 %), not a link to a receiver" in shown
    schemes = (*schemes[:-1], "other")
    assert "most used link is" not in shortflow("compare", "incast", *schemes, "--set", "servers=8", code=0).stdout


def test_results_of_versions_before_trimming_have_no_trims() -> None:
    result = make_result("dctcp", 1, fct_s=(1e-3,))
    before = replace(result, tables={**result.tables, "ports": result.ports.drop("trims")})
    assert [link.trims for link in links(before)] == [0, 0]
    assert [link.trims for link in links(result)] == [4, 2]
