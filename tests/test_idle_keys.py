"""Keys that were set but have no effect are named once, with the schemes that ignore them."""

import json
from pathlib import Path

import pytest
import tomli_w

import shortflow as sf
from conftest import Command
from made import star

LONG = {"kind": "long-lived", "from": 0, "to": 2, "class": "a"}
SHORT = ("--set", "servers=2")


def notes(stderr: str) -> list[str]:
    """Warnings about keys and parts of schemes that have no effect."""
    lines = [line.removeprefix("warning: ") for line in stderr.splitlines()]
    return [line for line in lines if "no effect" in line or ": it does only if" in line]


@pytest.mark.parametrize(
    ("scheme", "setting", "condition"),
    [
        ("dctcp", "tcp.ack_delay=1ms", "tcp.ack_every is above 1"),
        ("dctcp", "tcp.tlp_slack=1ms", "a transport recovers losses with RACK"),
        ("dctcp", "tcp.quick_acks=9", "tcp.ack_every is above 1"),
        ("dctcp", "switch.memory_alpha=2", "switch.memory is not static"),
        ("dctcp", "host.stall_min=1ms", "host.stalls is above 0"),
        ("dctcp", "routing.kind=spray", "two hosts have several shortest paths between them"),
        ("tcp", "switch.mark_above=9pkt", "the queue discipline reads mark_above"),
        ("dctcp", "host.mark_above=9pkt", "the queue discipline reads mark_above"),
        ("dcqcn", "tcp.handshake=true", "a transport runs on TCP hosts"),
    ],
)
def test_one_note_names_key_scheme_and_condition(scheme: str, setting: str, condition: str, shortflow: Command) -> None:
    stderr = shortflow("run", "incast", "--scheme", scheme, *SHORT, "--set", setting).stderr
    key = setting.partition("=")[0]
    assert [note for note in notes(stderr) if note.startswith(key)] == [
        f"{key} has no effect under {scheme}: it acts only if {condition}"
    ]


def test_a_comparison_names_the_schemes_that_ignore_a_key(shortflow: Command) -> None:
    schemes = "dctcp,dctcp+recovery=rack,cubic"
    given = ("--schemes", schemes, "--seeds", "1", "--no-ideal", *SHORT, "--set", "tcp.tlp_slack=1ms")
    stderr = shortflow("compare", "incast", *given, "--set", "transport.g=0.1").stderr
    assert notes(stderr) == [
        "tcp.tlp_slack has no effect under dctcp, cubic: it acts only if a transport recovers losses with RACK"
    ]


def test_a_sweep_over_an_idle_key_says_so_once_and_keeps_the_note(shortflow: Command, tmp_path: Path) -> None:
    out = str(tmp_path / "out")
    given = ("--schemes", "dctcp", "--seeds", "1", "--grid", "tcp.ack_delay=1ms,2ms", *SHORT, "--out", out)
    expected = "tcp.ack_delay has no effect under dctcp: it acts only if tcp.ack_every is above 1"
    assert notes(shortflow("sweep", "incast", *given).stderr) == [expected]
    ran = shortflow("run", "incast", "--scheme", "dctcp", *SHORT, "--set", "tcp.ack_delay=1ms", "--json")
    assert f"warning: {expected}" in json.loads(ran.stdout)["notes"]


def test_a_search_names_the_end_of_its_range_at_which_a_key_cannot_act(shortflow: Command) -> None:
    search = ("search", "incast", "--scheme", "dctcp", "--seeds", "1", "--condition", "timeouts>=0", *SHORT)
    given = ("--key", "tcp.ack_every=1:2", "--set", "tcp.ack_delay=1ms")
    condition = "tcp.ack_delay has no effect under dctcp: it acts only if tcp.ack_every is above 1"
    assert notes(shortflow(*search, *given).stderr) == [f"at tcp.ack_every=1: {condition}"]
    given = ("--key", "servers=1:2", "--set", "tcp.ack_delay=1ms")
    assert notes(shortflow(*search[:-2], *given).stderr) == [condition]


def test_an_unlimited_threshold_makes_red_drop_tail(shortflow: Command) -> None:
    stderr = shortflow("run", "incast", "--scheme", "red", *SHORT, "--set", "switch.mark_above=unlimited").stderr
    condition = "queue.curves is not none or queue.min is not auto or mark_above of a port is limited"
    assert f"the red queue neither marks nor drops early under red: it does only if {condition}" in notes(stderr)


@pytest.mark.parametrize("scheme", ["pfabric-minimal", "dcqcn", "tcp"])
def test_values_of_a_shipped_file_are_not_the_users(scheme: str, shortflow: Command) -> None:
    stderr = shortflow("run", "incast", "--scheme", scheme, *SHORT).stderr
    assert not [note for note in notes(stderr) if "no effect" in note]


def test_values_of_the_users_own_file_are_his(shortflow: Command, tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    path.write_text(tomli_w.dumps({**star([LONG]), "tcp": {"initial_window": 2, "ack_delay": "1ms"}}))
    stderr = shortflow("run", str(path), "--scheme", "dctcp", "--set", "duration=20ms").stderr
    assert "tcp.ack_delay has no effect under dctcp: it acts only if tcp.ack_every is above 1" in notes(stderr)


ECN, FAULT = "flows send ECN-capable packets", "faults.loss is above 0"
DEADLINES = "it does only if flows have deadlines"


@pytest.mark.parametrize(
    ("scheme", "settings", "begins"),
    [
        ("tcp", ["faults.mark=0.1"], f"faults.mark has no effect under tcp: it acts only if {ECN}"),
        ("tcp", ["faults.mark_data=[3]"], f"faults.mark_data has no effect under tcp: it acts only if {ECN}"),
        ("dctcp", ["faults.hosts=2"], f"faults.hosts has no effect under dctcp: it acts only if {FAULT}"),
        ("d2tcp", [], f"the law never weighs a deadline under d2tcp: {DEADLINES}"),
        ("pecn-edf", [], f"the priority never orders by deadline under pecn-edf: {DEADLINES}"),
        ("sack over step-ecn", [], f"the step-ecn queue never marks under sack over step-ecn: it does only if {ECN}"),
        ("dctcp+host.queue=red", [], "the red queue of hosts neither marks nor drops early under"),
    ],
)
def test_faults_starts_deadlines_and_queues_that_cannot_act_are_named(
    scheme: str, settings: list[str], begins: str, shortflow: Command, tmp_path: Path
) -> None:
    path = tmp_path / "own.toml"
    path.write_text(tomli_w.dumps({**star([LONG]), "duration": "20ms"}))
    given = [part for setting in settings for part in ("--set", setting)]
    found = notes(shortflow("run", str(path), "--scheme", scheme, *given, code=0).stderr)
    assert [note for note in found if note.startswith(begins)], found


def test_defaults_of_a_network_file_that_states_all_are_idle(shortflow: Command, tmp_path: Path) -> None:
    (tmp_path / "net.csv").write_text("a,b,rate,delay\nh0,s0,1Gbps,5us\nh1,s0,1Gbps,\nh2,s0,1Gbps,5us\n")
    network = {"kind": "explicit", "file": "net.csv", "rate": "10Gbps", "delay": "5us"}
    path = tmp_path / "own.toml"
    path.write_text(tomli_w.dumps({**star([LONG]), "topology": network}))
    stderr = shortflow("run", str(path), "--scheme", "dctcp", "--set", "duration=20ms").stderr
    assert notes(stderr) == [
        "topology.rate has no effect under dctcp: it acts only if the file gives no rate for a link"
    ]


def test_a_class_keeps_the_name_that_the_user_gave(shortflow: Command, tmp_path: Path) -> None:
    path = tmp_path / "two.toml"
    path.write_text(tomli_w.dumps(star([LONG, {**LONG, "from": 1, "class": "b", "transport": "cubic"}])))
    given = ("--scheme", "dctcp", "--set", "duration=50ms", "--set", "traffic.2.transport=newreno", "--json")
    assert "goodput_b_bps" in shortflow("run", str(path), *given, code=0).stdout


@pytest.mark.parametrize("setting", ["tcp.mss=1448B", "topology.rate=2Gbps", "duration=3s", "traffic.1.jitter=1us"])
def test_the_advice_of_a_refused_setting_is_accepted(setting: str, shortflow: Command) -> None:
    refused = shortflow("run", "incast", "--scheme", f"dctcp+{setting}", code=2).stderr
    assert refused.rstrip().endswith(f"set it with --set {setting}")
    shortflow("run", "incast", "--scheme", "dctcp", *SHORT, "--set", setting, code=0)


def test_marks_leave_the_drain_of_flows_that_cannot_be_marked(tmp_path: Path) -> None:
    """Faults that lose or delay packets lengthen the default drain. Marks do not: tcp has the digest without faults."""
    poisson = {"kind": "poisson", "load": 0.9, "sizes": {"kind": "fixed", "value": "20KB"}, "to": 2}
    (tmp_path / "star.toml").write_text(tomli_w.dumps(star([poisson], hosts=3, buffer="3pkt", mark_above="unlimited")))
    digests = [sf.run(tmp_path / "star.toml", "tcp", settings={"faults.mark": mark}).digest for mark in ("0", "0.1")]
    assert digests[0] == digests[1]


@pytest.mark.parametrize(
    ("settings", "scheme", "setting", "said"),
    [
        ((), "ideal-ps", "tcp.rto_min=200us", False),
        (("drain=1s",), "ideal-ps", "tcp.rto_min=200us", True),
        ((), "ideal-ps", "faults.loss=0.1", False),
        ((), "ideal-ps", "faults.mark=0.1", True),
        (("transport.classify=role",), "xdctcp", "transport.threshold=1KB", True),
        (("transport.classify=bytes",), "xdctcp", "transport.threshold=1KB", False),
    ],
)
def test_a_key_is_idle_where_nothing_reads_it(
    settings: tuple[str, ...], scheme: str, setting: str, said: bool, shortflow: Command
) -> None:
    """The default drain, which depends on timeouts, ends ideal runs. The only class of `incast` is `short`."""
    given = [word for each in (*settings, setting) for word in ("--set", each)]
    found = notes(shortflow("run", "incast", "--scheme", scheme, *SHORT, *given).stderr)
    assert any(note.startswith(setting.partition("=")[0]) for note in found) == said


def test_timeouts_are_idle_under_senders_without_them_where_no_flow_ends(shortflow: Command) -> None:
    given = (
        "--scheme",
        "pfabric-minimal",
        "--set",
        "duration=5ms",
        "--set",
        "warmup=1ms",
        "--set",
        "tcp.clock_granularity=1ms",
    )
    (note,) = notes(shortflow("run", "two-long-flows", *given).stderr)
    assert note.startswith("tcp.clock_granularity has no effect")


@pytest.mark.parametrize("sender", [0, [0], "h0"])
def test_a_stagger_of_host_0_alone_is_named(sender: object, shortflow: Command, tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text(tomli_w.dumps(star([{**LONG, "from": sender, "stagger": "1ms"}])))
    stderr = shortflow("run", "own.toml", "--scheme", "dctcp").stderr
    assert "traffic.1.stagger: has no effect, because only host 0 sends and its delay is 0 x 1ms" in stderr.replace(
        "\n", " "
    )


def test_flows_of_one_host_with_a_stagger_have_one_warning(shortflow: Command, tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text(tomli_w.dumps(star([{**LONG, "from": 0, "flows": 2, "stagger": "1ms"}])))
    stderr = shortflow("run", "own.toml", "--scheme", "dctcp").stderr.replace("\n", " ")
    assert "traffic.1.stagger: 2 flows have fewer sending hosts (1)" in stderr
    assert stderr.count("traffic.1.stagger") == 1


def test_a_key_may_be_quoted_as_in_a_file(shortflow: Command) -> None:
    plain, quoted = (
        shortflow("run", "incast", "--scheme", "dctcp", "--set", "servers=5", "--set", f"switch.{port}.buffer=30pkt")
        for port in ("s0->h3", '"s0->h3"')
    )
    assert (plain.code, quoted.code) == (0, 0)
    assert plain.stdout == quoted.stdout


@pytest.mark.parametrize(
    ("scheme", "setting", "part"),
    [
        ("sack over pfabric", "switch.buffer=50pkt", "the pfabric queue never puts a packet before others"),
        ("dctcp+host.queue=pias", "switch.buffer=50pkt", "the pias queue of hosts never puts a packet before others"),
        ("pecn", "switch.mark_above=unlimited", "the priority-ecn queue never marks"),
        ("dctcp over fair", "switch.mark_above=unlimited", "the fair queue never marks"),
        ("pfabric", "switch.mark_above=unlimited", ""),
        ("dctcp", "host.queue=fair", ""),
    ],
)
def test_a_discipline_that_is_a_fifo_here_is_named(scheme: str, setting: str, part: str, shortflow: Command) -> None:
    found = notes(shortflow("run", "incast", "--scheme", scheme, *SHORT, "--set", setting).stderr)
    assert [note for note in found if "queue" in note.split(" under ")[0]][:1] == [
        f"{part} under {scheme}: it does only if "
        + ("priority.by is not none" if "before" in part else "mark_above of a port is limited")
    ] * bool(part)
