"""Packet traces, captures and time-lines of runs, from the command to the file."""

import shutil
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shortflow as sf
from conftest import Command, Patch
from made import star, sure
from shortflow import capture
from shortflow.bursts import find_burst
from shortflow.front.shell import run_command
from shortflow.report.timeline import timeline

INCAST = [
    *("incast", "--set", "servers=30", "--set", "switch.buffer=100pkt", "--set", "traffic.1.repeat=2"),
    *("--set", "duration=200ms"),
]
SMALL = ["incast", "--set", "servers=8", "--set", "duration=60ms", "--set", "warmup=0s", "--set", "traffic.1.repeat=1"]
FAN_IN = "s0->h40"


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Directory of a run of an incast that overflows a buffer, with all kinds of captures."""
    directory = tmp_path_factory.mktemp("captured") / "run"
    files = ["--trace", "all", "--pcap", FAN_IN, "--pcap", f"h0->s0={directory.parent / 'h0.pcapng'}"]
    assert run_command(["run", *INCAST, "--scheme", "tcp", "--out", str(directory), *files]) == 0
    return directory


def test_a_trace_agrees_with_the_flow_table(kept: Path) -> None:
    trace, flows = pl.read_parquet(kept / "trace.parquet"), pl.read_parquet(kept / "flows.parquet")
    assert trace["time_s"].is_sorted()
    data = trace.filter(pl.col("kind") == "data")
    count = Counter(data["event"])
    in_order = data.filter(pl.col("event") == "delivered")
    assert count["sent"] == count["delivered"] + count["dropped"]
    assert count["dropped"] > 0
    assert dict(in_order.group_by("flow").len().rows()) | {} == {
        row["id"]: row["packets"] for row in _packets(trace).iter_rows(named=True)
    }
    timeouts = trace.filter(pl.col("event") == "timeout").group_by("flow").len()
    assert sorted(timeouts.rows()) == sorted(flows.filter(pl.col("timeouts") > 0).select("id", "timeouts").rows())
    acks = trace.filter(pl.col("event") == "ack").join(flows, left_on="flow", right_on="id")
    assert acks.filter(pl.col("time_s") == pl.col("finish_s"))["flow"].n_unique() == len(flows)
    sent = data.filter(pl.col("event") == "sent")
    so_far = (pl.col("seq") + pl.col("length")).cum_max().shift(1).over("flow")
    again = sent.filter(pl.col("seq") < so_far).group_by("flow").len()
    assert sorted(again.rows()) == sorted(flows.filter(pl.col("retransmits") > 0).select("id", "retransmits").rows())


def _packets(trace: pl.DataFrame) -> pl.DataFrame:
    """Number of segments of each flow that left the port to the aggregator. All arrive: no later link loses packets."""
    left = trace.filter((pl.col("event") == "departed") & (pl.col("port") == FAN_IN) & (pl.col("kind") == "data"))
    return left.group_by(pl.col("flow").alias("id")).agg(packets=pl.len())


def test_some_flows_alone(shortflow: Command) -> None:
    shortflow("run", *INCAST, "--trace", "3,7-9=few.parquet", code=0)
    assert set(pl.read_parquet("few.parquet")["flow"]) == {3, 7, 8, 9}


@pytest.mark.parametrize("scheme", ["dctcp", "pfabric", "dcqcn", "swift", "pfabric-minimal"])
def test_a_run_with_captures_is_the_same_run(scheme: str, shortflow: Command) -> None:
    plain = shortflow("run", *INCAST, "--scheme", scheme, "--json").document
    seen = shortflow("run", *INCAST, "--scheme", scheme, "--json", "--trace", "all=t", "--pcap", f"{FAN_IN}=p").document
    assert plain == seen


def tshark(file: Path | str, *arguments: str) -> list[str]:
    if not shutil.which("tshark"):
        pytest.skip("needs tshark")
    checks = ["-o", "ip.check_checksum:TRUE", "-o", "tcp.check_checksum:TRUE", "-o", "udp.check_checksum:TRUE"]
    absolute = ["-o", "tcp.relative_sequence_numbers:FALSE"]  # SACK blocks have no fields with raw numbers
    command = ["tshark", "-r", str(file), *checks, *absolute, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


CHECKS = ["_ws.malformed", "_ws.expert.severity", "ip.checksum.status", "tcp.checksum.status", "udp.checksum.status"]
ERROR, WRONG, GOOD, CUT = 0x800000, "0", "1", "2"
"""Severity of errors in tshark, and tshark's values for wrong, right and unverifiable checksums."""


def fields(file: Path | str, *names: str) -> list[list[str]]:
    """The named fields of all packets. Checks that no packet is malformed or has a wrong checksum."""
    lines = tshark(file, "-T", "fields", *(part for name in (*CHECKS, *names) for part in ("-e", name)))
    found = [line.split("\t") for line in lines]
    for malformed, severity, *checksums in (line[: len(CHECKS)] for line in found):
        assert not malformed
        assert all(int(each) < ERROR for each in severity.split(",") if each)
        assert WRONG not in checksums
        assert checksums[0] == GOOD
        assert {GOOD, CUT} & set(checksums[1:])
    assert found
    return [line[len(CHECKS) :] for line in found]


def test_tshark_finds_what_the_trace_has(kept: Path) -> None:
    assert fields(kept.parent / "h0.pcapng")
    trace = pl.read_parquet(kept / "trace.parquet")
    left = trace.filter((pl.col("event") == "departed") & (pl.col("port") == FAN_IN))
    names = ["frame.time_epoch", "tcp.seq_raw", "tcp.len", "ip.src", "tcp.srcport", "frame.comment"]
    found = fields(kept / "s0-h40.pcapng", *names)
    expected = left.select("time_s", "seq", "length", "connection").rows()
    assert len(found) == len(expected)
    for (at, raw, size, source, port, _), (time, seq, length, connection) in zip(found, expected, strict=True):
        assert float(at) == pytest.approx(time, abs=2e-9)
        assert (int(raw), int(size), int(port)) == (seq + 1, length, 49152 + connection)
        assert source.startswith("10.0.0.")
    dropped = trace.filter((pl.col("event") == "dropped") & (pl.col("port") == FAN_IN))
    assert sum(line[-1].count("buffer full") for line in found) == len(dropped) > 0


SEEN = {
    "dctcp": {"ip.dsfield.ecn": "3", "tcp.flags.ece": "1", "tcp.flags.cwr": "1", "tcp.flags.syn": "1"},
    "pecn": {"ip.dsfield.ecn": "3", "ip.dsfield.dscp": "63"},
    "swift": {"tcp.options.timestamp.tsecr": "0", "tcp.flags.syn": "1"},
    "dcqcn": {"ip.proto": "17", "ip.dsfield.ecn": "3"},
    "pfabric-minimal": {"ip.proto": "17"},
    "tcp+recovery=rack": {"tcp.options.sack.count": "1", "tcp.flags.syn": "1"},
}
"""Expected packets at both ports under a few schemes."""


@pytest.mark.parametrize("scheme", SEEN)
def test_tshark_takes_every_kind_of_packet(scheme: str, shortflow: Command) -> None:
    settings = ["--set", "tcp.handshake=true", "--pcap", f"{FAN_IN}=to.pcapng", "--pcap", "s0->h0=acks.pcapng"]
    assert shortflow("run", *INCAST, "--scheme", scheme, *settings).code == 0
    seen = fields("to.pcapng", *SEEN[scheme]) + fields("acks.pcapng", *SEEN[scheme])
    for column, (name, value) in enumerate(SEEN[scheme].items()):
        assert value in {line[column] for line in seen}, name


def of_acks(connection: pl.DataFrame) -> list[list[tuple[int, int]]]:
    """For each ACK, the byte ranges above it that the receiver had when it sent the ACK."""
    had: list[tuple[int, int]] = []
    found = []
    for event, kind, seq, length in connection.select("event", "kind", "seq", "length").iter_rows():
        if (event, kind) == ("delivered", "data"):
            had = merged([*had, (seq, seq + length)])
        elif (event, kind) == ("sent", "ack"):
            found.append([each for each in had if each[0] > seq])
    return found


def merged(ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    whole: list[tuple[int, int]] = []
    for low, high in sorted(ranges):
        if whole and low <= whole[-1][1]:
            whole[-1] = (whole[-1][0], max(whole[-1][1], high))
        else:
            whole.append((low, high))
    return whole


def test_sack_blocks_are_what_the_receiver_has(shortflow: Command) -> None:
    captures = ["--trace", "all=t", "--pcap", "s0->h0=acks.pcapng"]
    assert shortflow("run", *INCAST, "--scheme", "tcp", *captures).code == 0
    trace = pl.read_parquet("t")
    left = trace.filter((pl.col("port") == "s0->h0") & (pl.col("event") == "departed"))
    had = {name: iter(of_acks(trace.filter(pl.col("connection") == name))) for name in left["connection"].unique()}
    found = fields("acks.pcapng", "tcp.ack_raw", "tcp.options.sack_le", "tcp.options.sack_re")
    blocks = 0
    for (ack, lows, highs), (connection, seq) in zip(found, left.select("connection", "seq").iter_rows(), strict=True):
        assert int(ack) == seq + 1
        told = [
            (int(low) - 1, int(high) - 1) for low, high in zip(lows.split(","), highs.split(","), strict=True) if low
        ]
        above = next(had[connection])
        assert set(told) <= set(above), "each block ends where the receiver misses something"
        assert len(told) == min(len(above), 3)
        blocks += len(told)
    assert blocks > 10


def test_timestamps_say_when_data_was_sent_and_acks_echo_them(shortflow: Command) -> None:
    captures = ["--trace", "all=t", "--pcap", f"{FAN_IN}=data.pcapng", "--pcap", "s0->h0=acks.pcapng"]
    assert shortflow("run", *INCAST, "--scheme", "swift", *captures).code == 0
    trace = pl.read_parquet("t")
    assert trace.filter(pl.col("event") == "dropped").is_empty(), "so that packets can be counted off"
    data = trace.filter((pl.col("event") == "sent") & (pl.col("kind") == "data"))
    for port, file, column in ((FAN_IN, "data.pcapng", 0), ("s0->h0", "acks.pcapng", 1)):
        sent = {name[0]: iter(of["time_s"]) for name, of in data.group_by("connection", maintain_order=True)}
        left = trace.filter((pl.col("port") == port) & (pl.col("event") == "departed"))
        found = fields(file, "tcp.options.timestamp.tsval", "tcp.options.timestamp.tsecr")
        for stamps, connection in zip(found, left["connection"], strict=True):
            at_us = round(next(sent[connection]) * 1e12) // 10**6
            assert (int(stamps[column]), int(stamps[1 - column])) == (at_us, 0)


def test_a_trace_that_grows_too_large_ends_the_run(shortflow: Command, monkeypatch: Patch) -> None:
    monkeypatch.setattr(capture, "MOST_ROWS", 1000)
    monkeypatch.setattr(capture, "_ROWS", 100)
    answer = shortflow("run", *INCAST, "--trace", "all=large.parquet", code=2)
    assert "--trace: more than 1,000 rows at 0." in answer.stderr
    assert list(Path().iterdir()) == []


def test_the_time_line_has_the_largest_burst(kept: Path) -> None:
    result = sf.read_run(kept)
    burst = sure(find_burst(result))
    assert (burst.host, burst.flows, len(burst.rows)) == ("h40", 30, 30)
    rows = timeline(result).rows

    def of(name: str) -> list[Any]:
        return [row for row in rows if name in (row.get("state"), row.get("event"))]

    events = pl.DataFrame(result.tables["burst"])
    lengths = [row["length"] for row in rows if "length" in row]
    assert max(lengths) == events.filter(pl.col("port") == FAN_IN)["queue_pkt"].max()
    assert len(of("sends")) == len(events.filter((pl.col("event") == "sent") & (pl.col("kind") == "data")))
    assert len(of("times out")) == len(events.filter(pl.col("event") == "timeout")) > 0
    # An RTO is at least 10 ms, and the flow is idle for most of this time.
    assert all(row["end"] - row["ms"] > 5 for row in of("waits for its timer"))
    assert {row["line"] for row in of("on its way")} == set(range(1, 31))


def test_reports_show_time_lines_where_there_are_bursts(shortflow: Command) -> None:
    assert shortflow("compare", *INCAST, "--schemes", "tcp,dctcp", "--seeds", "1", "--out", "c").code == 0
    assert shortflow("report", "c").code == 0
    page = Path("c/report.html").read_text()
    assert all(f"<h3>Time-line of one burst: {scheme}, seed 1</h3>" in page for scheme in ("tcp", "dctcp"))
    more = ["--set", "duration=300ms", "--schemes", "tcp", "--seeds", "1"]
    assert shortflow("compare", *INCAST, *more, "--out", "c").code == 0
    assert shortflow("report", "c").code == 0
    page = Path("c/report.html").read_text()
    assert "Time-line of one burst: tcp, seed 1, duration 300ms" in page
    assert "measured from" not in page, "of one point"
    quiet = ["two-long-flows", "--set", "duration=20ms", "--set", "warmup=1ms"]
    assert shortflow("compare", *quiet, "--schemes", "dctcp", "--seeds", "1", "--out", "q").code == 0
    assert not list(Path("q").rglob("burst.parquet"))


def test_a_burst_is_found_by_hand(tmp_path: Path) -> None:
    """Nine flows start within 10 µs, and ten more over 10 ms. The burst has the nine flows."""
    rows = [f"{1000 + i}us,h{i},h9,14600" for i in range(9)] + [f"{20 + i}ms,h{i % 9},h9,1460" for i in range(10)]
    (tmp_path / "flows.csv").write_text("\n".join(["start,source,destination,bytes", *rows]) + "\n")
    scenario = sf.load(star([{"kind": "trace", "file": "flows.csv"}], 10, duration="100ms"), directory=tmp_path)
    burst = sure(find_burst(sf.run(scenario, "dctcp")))
    assert (burst.rows, burst.flows) == (list(range(9)), 9)
    assert burst.begin_s == pytest.approx(1e-3)


def test_a_port_is_captured_into_one_file_wherever_that_is(shortflow: Command) -> None:
    shortflow("run", *SMALL, "--out", "o", "--pcap", "s0->h40=new/folder/x.pcapng", code=0)
    assert Path("new/folder/x.pcapng").stat().st_size > 10_000


def test_a_burst_that_is_damaged_is_traced_again(shortflow: Command) -> None:
    command = ["compare", *SMALL, "--schemes", "dctcp", "--seeds", "1", "--no-ideal", "--out", "kept"]
    assert shortflow(*command).code == 0
    (burst,) = Path("kept").rglob("burst.parquet")
    whole = burst.read_bytes()
    burst.write_bytes(whole[: len(whole) // 2])
    assert sf.read_store("kept").flows.height == 8, "the result is good without it"
    assert shortflow(*command).code == 0
    assert burst.read_bytes() == whole
    run = sf.read_run(burst.parent)
    run.save("copy")
    assert Path("copy/burst.parquet").read_bytes() == whole
