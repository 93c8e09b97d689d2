"""Schemes that users compose on the command line and in files, and their settings in a report."""

import re
from pathlib import Path
from typing import Any

import pytest

import shortflow
from conftest import Command
from shortflow.runs import plan
from shortflow.scheme import LAWS, laws_of_papers, load_schemes

ENTRY = """
[[scheme]]
name = "{name}"
transport = "newreno"
queue = "red"
set = {{ "transport.ecn" = "classic", "queue.max_p" = {max_p} }}
"""


def written(folder: Path, *entries: tuple[str, float]) -> str:
    file = folder / "mine.toml"
    file.write_text("".join(ENTRY.format(name=name, max_p=max_p) for name, max_p in entries), encoding="utf-8")
    return str(file)


def test_a_scheme_of_a_file_is_the_one_that_is_composed_so(tmp_path: Path) -> None:
    file = written(tmp_path, ("gentle", 0.2))
    composed = "newreno over red+ecn=classic+queue.max_p=0.2"
    incast = shortflow.load("incast")
    runs = [shortflow.run(incast, name, settings={"servers": 4}) for name in (f"{file}:gentle", composed)]
    assert runs[0].provenance["digest"] == runs[1].provenance["digest"]
    (scheme,) = load_schemes([f"{file}:gentle"])
    assert scheme.name == "gentle"
    assert ("queue.max_p", "0.2") in [(key, value) for key, value, _ in scheme.resolved()]


def test_a_scheme_has_its_own_network_and_meets_the_same_flows() -> None:
    small = "pfabric+switch.buffer=36KB"
    set_small: dict[str, str | int | float] = {"servers": 12, "switch.buffer": "36KB"}
    incast = shortflow.load("incast")
    own = shortflow.compare(incast, ["pfabric", small], seeds=2, settings={"servers": 12}, ideal=False)
    both = shortflow.compare(incast, ["pfabric"], seeds=2, settings=set_small, ideal=False)
    assert [run.digest for run in own.runs if run.scheme == small] == [run.digest for run in both.runs]
    assert len({run.digest for run in own.runs}) == 4
    assert own.difference(small, "pfabric", "afct_short_s") is not None
    with pytest.raises(shortflow.ConfigError, match=r"switch.bufer: unknown key; did you mean \"switch.buffer\"\?"):
        shortflow.run(incast, "pfabric+switch.bufer=36KB")
    for key in ("traffic.1.flows", "duration", "tcp.mss", "parameters.servers"):
        with pytest.raises(shortflow.ConfigError, match=rf"{re.escape(key)} belongs to the scenario"):
            shortflow.run(incast, f"pfabric+{key}=3")
    late: dict[str, str | int | float] = {"servers": 12, "switch.mark_above": "65pkt"}
    assert shortflow.run(incast, small, settings=late).digest == both.runs[0].digest, "its queue reads no K"
    with pytest.raises(
        shortflow.ConfigError, match=r"^dctcp\+switch.buffer=36KB: switch.mark_above: 65pkt is not below"
    ):
        shortflow.run(incast, "dctcp+switch.buffer=36KB", settings=late)


SMALL = 'name = "small"\ntransport = "dctcp"\nqueue = "step-ecn"\nset = { "switch.buffer" = "36KB" }'
FIFO = "host.model=fifo"
DECIDES = (
    (("dctcp",), "host.small_queue", "2", "default: host.model (default)"),
    (("dctcp", FIFO), "host.small_queue", "0", "default: host.model (--set)"),
    (("dctcp", FIFO, "tcp.growth=cwnd-limited"), "tcp.growth", "cwnd-limited", "--set"),
    (("dctcp+host.model=linux", FIFO), "tcp.growth", "unless-held", "default: host.model (scheme+key=)"),
    (("dctcp+host.small_queue=auto", "host.small_queue=3"), "host.small_queue", "2", "default: host.model (default)"),
    (("dctcp+host.jitter=3us",), "drain", "60ms", "default"),
    (("pias",), "host.queue", "pias", "scheme"),
    (("pias", "host.queue=fair"), "host.queue", "fair", "--set"),
    (("pias+host.queue=fair", "host.queue=droptail"), "host.queue", "fair", "scheme+key="),
    (("mine.toml:small",), "switch.buffer", "36KB", "scheme"),
    (("mine.toml:small", "switch.buffer=90KB"), "switch.buffer", "90KB", "--set"),
    (("mine.toml:small@ns-2",), "transport.cwnd_floor", "1", "scheme"),
    (("mine.toml:small@ns-2", "transport.cwnd_floor=3"), "transport.cwnd_floor", "3", "--set"),
    (("mine.toml:small+switch.buffer=50KB", "switch.buffer=90KB"), "switch.buffer", "50KB", "scheme+key="),
)


def test_a_name_precedes_set_and_that_scheme_and_scenario(shortflow: Command, scenario: str, tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(f"[[scheme]]\n{SMALL}\n", encoding="utf-8")

    def answer(command: str, scheme: str, *settings: str) -> Any:
        options = [word for each in settings for word in ("--set", each)]
        return shortflow(command, scenario, "--scheme", scheme, *options, "--json").document

    def digest(*given: str) -> str:
        return str(answer("run", *given)["runs_digest"])

    for given, key, value, source in DECIDES:
        found = answer("show", *given)
        both = {each["key"]: each for each in (*found["settings"], *found["scheme"]["settings"])}
        assert (both[key]["value"], both[key]["source"]) == (value, source), given
    assert digest("dctcp+host.model=fifo", "host.model=linux") == digest("dctcp", FIFO) != digest("dctcp")
    assert digest("dctcp", FIFO, "host.small_queue=2", "tcp.growth=unless-held") == digest("dctcp")
    assert digest("pias+host.queue=fair", "host.queue=droptail") == digest("pias", "host.queue=fair") != digest("pias")


def test_a_scheme_has_the_drain_of_its_scenario_whatever_its_timeouts() -> None:
    incast = shortflow.load("incast", {"servers": 3})
    (work,) = plan(incast, ["tcp+tcp.rto_min=900ms"], [1])
    resolved = [{key: value for key, value, _ in incast.core.resolved(each)} for each in (None, work.scheme)]
    assert resolved[0]["drain"] == resolved[1]["drain"]
    assert [each["tcp.rto_min"] for each in resolved] == ["10ms", "900ms"]


def test_a_comparison_says_which_shared_constants_differ() -> None:
    compared = shortflow.compare(
        "incast", ["dctcp", "dctcp@linux", "pias"], seeds=1, settings={"servers": 4}, ideal=False
    )
    notes = "\n".join(compared.notes)
    assert (
        "dctcp@linux differs by its parameter set linux: transport.recovery=rack, tcp.ack_ecn_changes=true, "
        "tcp.ack_every=2, tcp.clock_granularity=4ms, tcp.grow_by_segments=true, tcp.quick_acks=254; --set KEY=VALUE "
        "makes a key equal everywhere"
    ) in compared.notes
    assert (
        "host.queue differs between the schemes: droptail (dctcp, dctcp@linux), pias (pias); --set host.queue" in notes
    )
    assert "transport.g " not in notes
    assert "ack_every differs" not in notes
    compared = shortflow.compare("incast", ["dctcp", "dctcp+g=0.5"], seeds=1, settings={"servers": 4}, ideal=False)
    assert "transport.g differs between the schemes: 0.0625 (dctcp), 0.5 (dctcp+g=0.5)" in compared.notes
    roce = shortflow.compare(
        "incast", ["dcqcn", "dcqcn@hpcc-authors"], 1, settings={"servers": 2, "topology.rate": "25Gbps"}, ideal=False
    )
    assert (
        "dcqcn@hpcc-authors differs by its parameter set hpcc-authors: queue.curves (5 entries), "
        "queue.drop_not_ect=false, queue.mark=departure; --set KEY=VALUE makes a key equal everywhere; `shortflow list "
        "parameter-sets hpcc-authors` has the entries"
    ) in roce.notes


@pytest.mark.parametrize(
    ("entries", "name", "wrong"),
    [
        ([("gentle", 0.2), ("gentle", 0.3)], "gentle", ": 'gentle' is named twice"),
        ([("dctcp", 0.2)], "dctcp", ": 'dctcp' is a scheme of Shortflow's; yours needs another name"),
        ([("gentle", 0.2)], "gentel", ": there is no scheme 'gentel'; did you mean \"gentle\"? (known: gentle)"),
        ([], "gentle", ": there is no scheme 'gentle' (it has none)"),
        ([("gentle", 2)], "gentle", ":6: scheme.1.set: queue.max_p: 2 is not a number from 0 to 1"),
    ],
)
def test_a_wrong_file_is_named(tmp_path: Path, entries: list[tuple[str, float]], name: str, wrong: str) -> None:
    file = written(tmp_path, *entries)
    with pytest.raises(shortflow.ConfigError) as raised:
        load_schemes([f"{file}:{name}"])
    assert str(raised.value) == file + wrong


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("dctcp@linux@ns-2", "is not a scheme with one parameter set"),
        ("dcqcn@linux", "is not a scheme with TCP's hosts"),
        ("dctcp@paper", "is not a scheme with the transport hpcc or dcqcn"),
        ("dctcp@linx", '"linx": unknown parameter set; did you mean "linux"?'),
    ],
)
def test_a_parameter_set_that_a_scheme_cannot_have_is_refused(name: str, wrong: str) -> None:
    with pytest.raises(shortflow.ConfigError, match=re.escape(wrong)):
        load_schemes([name])


def test_constants_of_one_transport_leave_those_of_another(tmp_path: Path) -> None:
    """hpcc and dcqcn both have a parameter set `paper`, and only dcqcn's sets `cnp_every`."""
    entry = ENTRY.replace("newreno", "hpcc").replace('"transport.ecn" = "classic"', '"transport.cnp_every" = "9us"')
    file = tmp_path / "mine.toml"
    file.write_text(entry.format(name="mine", max_p=0.2), encoding="utf-8")
    (scheme,) = load_schemes([f"{file}:mine@paper"])
    values = {key: value for key, value, _ in scheme.resolved()}
    assert (values["transport.cnp_every"], values["transport.flows"]) == ("9us", "100")


def test_dcqcn_has_the_constants_of_its_paper_at_40_gbps() -> None:
    fast = {"topology.rate": "40Gbps"}
    digests = [shortflow.run("lossless-incast", name, settings=fast).digest for name in ("dcqcn", "dcqcn@paper")]
    assert digests[0] == digests[1]


def test_each_port_takes_the_curve_of_its_rate() -> None:
    """A host has 25 Gbps in a network of 100 Gbps. The marks at its port follow the curve of 25 Gbps."""
    settings = {"duration": "1ms", "warmup": "0s"}

    def run(curves: str) -> str:
        return shortflow.run("lossless-slow-port", f"dcqcn+queue.curves={curves}", settings=settings).digest

    plain = run("25Gbps 100KB 400KB 0.2; 100Gbps 400KB 1600KB 0.2")
    assert (
        plain
        == run("25Gbps 100KB 400KB 0.2; 100Gbps 800KB 900KB 1")
        != run("25Gbps 50KB 400KB 0.2; 100Gbps 400KB 1600KB 0.2")
    )
    with pytest.raises(
        shortflow.ConfigError, match=r"s0->h\d has a rate of 25Gbps, and the curves are for 100Gbps; add"
    ):
        run("100Gbps 400KB 1600KB 0.2")
    with pytest.raises(shortflow.ConfigError, match=re.escape('"25Gbps 100KB 50KB 0.2" is not "none" or curves')):
        run("25Gbps 100KB 50KB 0.2")


def test_all_parts_of_a_file_that_do_not_exist_are_named_at_once(tmp_path: Path) -> None:
    file = written(tmp_path, ("gentle", 0.2), ("wild", 0.3))
    text = Path(file).read_text().replace('"newreno"', '"newerno"').replace('"red"', '"rde"')
    Path(file).write_text(text)
    with pytest.raises(shortflow.ConfigError) as raised:
        load_schemes([f"{file}:gentle"])
    keys = [line.split(": ")[1] for line in str(raised.value).splitlines()]
    assert keys == ["scheme.1.transport", "scheme.2.transport", "scheme.1.queue", "scheme.2.queue"]


def test_the_papers_laws_go_to_the_transport_of_a_name_however_it_is_written() -> None:
    for name in ("fast", "fast+transport.probes=1", "fast+tcp.rto_min=1ms", "fast over step-ecn", "newreno"):
        assert laws_of_papers(name) == {}, name
    for name in ("dctcp", "dctcp+g=0.1", "dctcp over step-ecn", "pecn@linux"):
        assert laws_of_papers(name) == LAWS, name
