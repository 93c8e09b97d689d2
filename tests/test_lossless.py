"""Lossless fabrics from command line and public API: pauses, marks at departure, captures, a switch vendor's tests."""

import itertools
import shutil
import struct
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import polars as pl
import pytest

import shortflow as sf
from conftest import Command

BY_DEPARTURE = "dcqcn+queue.min=auto+queue.mark=departure"
BY_ARRIVAL = "dcqcn+queue.min=auto"
PACKET = 1024


def _marked(trace: pl.DataFrame) -> list[bool]:
    """For each data packet that left the paused port, in order: true if the packet is marked."""
    left = (pl.col("event") == "departed") & (pl.col("port") == "s0->h1") & (pl.col("kind") == "data")
    return trace.filter(left).sort("seq")["ce"].to_list()


def _traced(scenario: str, scheme: str, seed: int, shortflow: Command) -> list[bool]:
    target = f"{seed}.parquet"
    done = shortflow("run", scenario, "--scheme", scheme, "--seed", str(seed), "--trace", f"all={target}")
    assert done.code == 0, done.stderr
    return _marked(pl.read_parquet(target))


@pytest.mark.parametrize(("scheme", "marked"), [(BY_DEPARTURE, [*range(51)]), (BY_ARRIVAL, [*range(50, 101)])])
def test_sonic_dequeue_ecn(scheme: str, marked: list[int], shortflow: Command) -> None:
    """51,000 bytes are 49.8 packets. A packet is marked at departure if it leaves 50 packets in the queue.

    With marks on arrival, a packet is marked if it finds 50 packets. No number of packets has 50,000 to 51,000 bytes.
    """
    found = [place for place, is_marked in enumerate(_traced("sonic-dequeue-ecn", scheme, 1, shortflow)) if is_marked]
    assert found == marked


def test_sonic_red_accuracy(shortflow: Command) -> None:
    """No packets are marked below 500 KB, all from 2 MB on, and in between a share that rises to 5 %."""
    seeds = 20
    runs = [_traced("sonic-red-accuracy", BY_DEPARTURE, seed, shortflow) for seed in range(1, seeds + 1)]
    shares = [sum(of_packet) / seeds for of_packet in zip(*runs, strict=True)]
    behind = [PACKET * (len(shares) - 1 - place) for place in range(len(shares))]
    assert all(share == 1 for share, left in zip(shares, behind, strict=True) if left >= 2_000_000)
    assert all(share == 0 for share, left in zip(shares, behind, strict=True) if left < 500_000)
    for low in range(500_000, 2_000_000, 250_000):
        inside = [
            (share, left)
            for share, left in zip(shares, behind, strict=True)
            if low <= left < min(low + 250_000, 2_000_000)
        ]
        expected = sum(0.05 * (left - 500_000) / 1_500_000 for _, left in inside) / len(inside)
        spread = 4 * (expected * (1 - expected) / (seeds * len(inside))) ** 0.5
        assert sum(share for share, _ in inside) / len(inside) == pytest.approx(expected, abs=spread)


@pytest.mark.parametrize(("scenario", "line"), [("sonic-roce-bursts", "100Gbps"), ("sonic-roce-storage", "55Gbps")])
def test_sonic_rocev2_congestion_control(scenario: str, line: str) -> None:
    """Two ports send 110 % of a third port's rate. Without DCQCN they are paused, with DCQCN they are not.

    In both cases every message completes without loss or retransmission, and the third port's rate is not exceeded.
    """
    for scheme, is_paused in [(BY_ARRIVAL, False), (f"{BY_ARRIVAL}+min_rate={line}", True)]:
        run = sf.run(scenario, scheme)
        assert run.metrics["marks"] > 0
        assert (run.metrics["pauses"] > 100) if is_paused else (run.metrics["pauses"] == 0)
        wrong = {name: run.metrics[name] for name in ("drops_in_run", "retransmits", "timeouts", "unfinished")}
        assert not any(wrong.values()), wrong
        used = run.ports.filter(pl.col("port") == "s0->h3")["utilisation"].item()
        assert (0.99 < used <= 1) if is_paused else (0.5 < used <= 1)


@pytest.mark.parametrize(("senders", "at_once", "late"), [(1, 3, 6), (8, 105, 123)])
def test_a_slow_port_pauses_fast_senders_if_marks_wait_in_its_queue(senders: int, at_once: int, late: int) -> None:
    """A port of 25 Gbps pauses hosts of 100 Gbps if notifications are late, but not with marks at departure."""

    def pauses(scheme: str) -> float:
        run = sf.run("lossless-slow-port", scheme, settings={"senders": senders})
        assert run.metrics["drops_in_run"] == 0
        return run.metrics["pauses"]

    assert [pauses(f"{BY_ARRIVAL}+cnp_delay={delay}") for delay in ("0s", "55us")] == [at_once, late]
    assert [pauses(f"{BY_DEPARTURE}+cnp_delay={delay}") for delay in ("0s", "55us")] == [0, 0]


def test_pauses_are_metrics_and_columns() -> None:
    """Only ports that can be paused have a number of pauses."""
    paused = sf.run("lossless-incast", "dcqcn")
    assert paused.metrics["drops"] == 0
    assert paused.metrics["pauses"] > 24
    assert 0 < paused.metrics["paused_max_s"] < 0.003
    to_switch = paused.ports.filter(pl.col("port").str.ends_with("->s0"))
    assert to_switch["pauses"].sum() == paused.metrics["pauses"]
    lossy = sf.run("lossless-incast", "dcqcn", settings={"switch.xoff": "none"})
    assert lossy.metrics["drops"] > 1000
    assert "pauses" not in lossy.metrics
    assert lossy.ports["pauses"].null_count() == lossy.ports.height


@pytest.mark.parametrize(
    ("scenario", "scheme", "priorities"),
    [
        ("sonic-roce-two-queues", f"{BY_ARRIVAL}+min_rate=100Gbps", ["3", "4"]),
        ("lossless-incast", "dcqcn", ["all"]),
    ],
)
def test_the_page_has_pauses_by_port_and_priority(
    shortflow: Command, scenario: str, scheme: str, priorities: list[str]
) -> None:
    """The first row of each priority is the port that was paused longest, as the metric says."""
    kept = shortflow("compare", scenario, "--schemes", scheme, "--no-ideal", "--seeds", "1", "--out", "kept")
    assert kept.code == 0
    assert shortflow("report", "kept", "--out", "page.md").code == 0
    _, _, table = Path("page.md").read_text().partition("**Pauses by port and priority")
    lines = [line for line in table.partition("The table has the 5 ports")[0].splitlines() if "->" in line]
    rows = [[cell.strip() for cell in line.strip("| ").split("|")][1:] for line in lines]
    assert list(dict.fromkeys(priority for _, priority, *_ in rows)) == priorities
    run = sf.run(scenario, scheme)
    for priority in priorities:
        _, _, pauses, _, share = next(row for row in rows if row[1] == priority)
        most = run.metrics["paused_max_s" if priority == "all" else f"paused_max_priority_{priority}_s"]
        measured = run.meta["duration_s"] - run.meta["warmup_s"]
        assert float(share.rstrip("%")) / 100 == pytest.approx(most / measured, abs=0.0006)
        assert int(pauses) > 5


def _frames(data: bytes) -> Iterable[bytes]:
    """Frames in the enhanced packet blocks of a pcapng file."""
    at = 0
    while at < len(data):
        kind, length = struct.unpack_from("<II", data, at)
        if kind == 6:
            kept = struct.unpack_from("<I", data, at + 20)[0]
            yield data[at + 28 : at + 28 + kept]
        at += length


def test_a_capture_has_the_frames(shortflow: Command) -> None:
    """There are as many pause frames as the sender counts. Resume frames have a time of zero. All are for class 3."""
    files = ["--pcap", "s0->h0=frames.pcapng", "--trace", "all=trace.parquet", "--out", "kept"]
    assert shortflow("run", "lossless-incast", "--scheme", "dcqcn", *files).code == 0
    frames = [frame for frame in _frames(Path("frames.pcapng").read_bytes()) if frame[12:14] == b"\x88\x08"]
    times = [struct.unpack(">8H", frame[18:34]) for frame in frames]
    assert {frame[:6].hex() for frame in frames} == {"0180c2000001"}
    assert {frame[14:18].hex() for frame in frames} == {"01010008"}
    assert {time for each in times for place, time in enumerate(each) if place != 3} == {0}
    told = [each[3] > 0 for each in times]
    counted = pl.read_parquet("kept/ports.parquet").filter(pl.col("port") == "h0->s0")["pauses"].item()
    assert sum(told) == counted > 0
    assert all(before != after for before, after in itertools.pairwise(told))
    noted = pl.read_parquet("trace.parquet").filter(pl.col("port") == "s0->h0")
    assert noted.filter(pl.col("event") == "pause").height == counted
    if shutil.which("tshark"):
        command = ["tshark", "-r", "frames.pcapng", "-T", "fields", "-e", "macc.opcode", "-e", "macc.cbfc.enbv.c3"]
        lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
        assert len([line for line in lines if line.startswith("0x0101")]) == len(frames)


def test_sonic_rocev2_congestion_control_of_two_queues(shortflow: Command) -> None:
    """Without DCQCN both priorities are paused, with DCQCN neither. Captures and traces name the priority of frames."""
    with_dcqcn = sf.run("sonic-roce-two-queues", BY_ARRIVAL).metrics
    assert [with_dcqcn[f"pauses_priority_{priority}"] for priority in (3, 4)] == [0, 0]
    files = ["--pcap", "s0->h0=frames.pcapng", "--trace", "all=trace.parquet", "--out", "kept"]
    assert shortflow("run", "sonic-roce-two-queues", "--scheme", f"{BY_ARRIVAL}+min_rate=100Gbps", *files).code == 0
    run = sf.run("sonic-roce-two-queues", f"{BY_ARRIVAL}+min_rate=100Gbps")
    for metrics in (with_dcqcn, run.metrics):
        assert not any(metrics[name] for name in ("drops_in_run", "retransmits", "timeouts", "unfinished"))
    counted = {row["priority"]: row["pauses"] for row in run.meta["pauses"] if row["port"] == "h0->s0"}
    assert all(counts > 10 for counts in counted.values()), counted
    assert run.metrics["pauses"] == sum(run.metrics[f"pauses_priority_{priority}"] for priority in (3, 4))
    frames = [frame for frame in _frames(Path("frames.pcapng").read_bytes()) if frame[12:14] == b"\x88\x08"]
    noted = pl.read_parquet("trace.parquet").filter((pl.col("port") == "s0->h0") & (pl.col("event") == "pause"))
    for priority, pauses in counted.items():
        vector = struct.pack(">H", 1 << priority)
        times = [struct.unpack(">8H", frame[18:34]) for frame in frames if frame[16:18] == vector]
        assert {time for each in times for place, time in enumerate(each) if place != priority} == {0}
        told = [each[priority] > 0 for each in times]
        assert all(before != after for before, after in itertools.pairwise(told))
        during = noted.filter((pl.col("pfc_priority") == priority) & (pl.col("time_s") < 0.009999))
        assert abs(during.height - pauses) <= 1  # a frame near the end of the measured time may arrive after it


def test_a_pause_spares_other_priorities() -> None:
    """The second victim leaves the same host at the same time, in a priority that no switch pauses."""
    metrics = sf.run("lossless-two-victims", "dcqcn").metrics
    assert metrics["slowdown_victim"] > 5 * metrics["slowdown_other"]
    assert metrics["pauses_priority_3"] > 10
    assert metrics["paused_max_priority_3_s"] > 1e-4
    assert "pauses_priority_3" not in sf.run("lossless-victim", "dcqcn").metrics


def test_victims_wait_behind_paused_packets() -> None:
    """The victim's own link is idle. All senders begin at their link's rate; HPCC's queue is short after one RTT."""

    def slowdown(scheme: str, xoff: str) -> float:
        return sf.run("lossless-victim", scheme, settings={"switch.xoff": xoff}).metrics["slowdown_victim"]

    assert slowdown("hpcc", "none") < 1.2
    assert 2 < slowdown("hpcc", "100KB") < 4
    assert slowdown("dcqcn", "100KB") > 2 * slowdown("dcqcn", "none") > 10


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        (
            {"switch.xoff": "40KB"},
            "24 links x (40KB + 53.184KB of headroom) = 2.236416MB does not fit into its buffer of 2MB",
        ),
        ({"switch.buffer": "2000pkt"}, "counts packets, and switch.xoff counts bytes"),
        ({"switch.xon": "21KB"}, "switch.xon"),
        ({"switch.xoff": "1pkt"}, "switch.xoff"),
        ({"faults.pause_at": "1ms"}, "names no links to pause"),
        ({"faults.links": '["s0->h1"]', "faults.pause_at": "2ms", "faults.resume_at": "1ms"}, "is not after pause_at"),
    ],
)
def test_what_cannot_be_is_refused(keys: dict[str, str], said: str, shortflow: Command) -> None:
    settings = [part for key, value in keys.items() for part in ("--set", f"{key}={value}")]
    done = shortflow("run", "lossless-incast", "--scheme", "dcqcn", *settings, code=2)
    assert done.code == 2
    assert said in done.stderr


def test_keys_of_pauses_without_pauses_are_named(shortflow: Command) -> None:
    keys = ["--set", "switch.xoff=none", "--set", "switch.headroom=9KB"]
    done = shortflow("run", "lossless-incast", "--scheme", "dcqcn", *keys)
    assert "switch.headroom has no effect" in done.stderr


# The second run of the command may take at most 60 MB more memory than the first, which takes its scenario and tables.
LIMITED = """
import resource, sys
from shortflow.front.shell import run_command
run = ["run", "lossless-incast", "--scheme", sys.argv[1], "--set", "traffic.1.sizes.value=10GB", "--set", "drain=0s"]
run_command([*run, "--set", "duration=200us", "--json"])
taken = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (taken + 60_000_000, resource.RLIM_INFINITY))
sys.exit(run_command([*run, "--json"]))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits of address space are Linux's")
@pytest.mark.parametrize("scheme", ["dctcp", "dcqcn", "timely", "hpcc", "homa", "ndp"])
def test_cards_of_paused_hosts_hold_few_packets(scheme: str) -> None:
    """Within 3 ms, 24 cards that held all that their hosts may send at 100 Gbps would hold 900 MB."""
    done = subprocess.run([sys.executable, "-c", LIMITED, scheme], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
