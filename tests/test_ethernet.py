"""Ethernet's framing: preamble and gap take time on links, header and checksum also buffer; short frames are padded."""

import re
from pathlib import Path
from typing import Any

import pytest

from conftest import Command

SCENARIO = """
title = "one sender per port, as iperf over Ethernet"
duration = "60ms"
warmup = "20ms"
[topology]
kind = "star"
hosts = 3
rate = "1Gbps"
rtt = "100us"
[switch]
buffer = "15180B"
mark_above = "7590B"
[tcp]
mss = "1448B"
header = "52B"
wire = "ethernet"
[[traffic]]
"""
LONG = 'kind = "long-lived"\nfrom = {}\nto = 2\n'


@pytest.fixture
def metrics(shortflow: Command, tmp_path: Path) -> Any:
    def run(scheme: str, traffic: str, *settings: str) -> Any:
        file = tmp_path / "ethernet.toml"
        file.write_text(SCENARIO + traffic)
        sets = [argument for setting in settings for argument in ("--set", setting)]
        found = shortflow("run", str(file), "--scheme", scheme, "--json", *sets, code=0).document["schemes"][scheme]
        return {name: metric["mean"] for name, metric in found["metrics"].items()}

    return run


@pytest.mark.parametrize("scheme", ["tcp", "dctcp", "swift", "fast", "dcqcn", "pfabric-minimal"])
@pytest.mark.parametrize(("rate", "expected"), [("1Gbps", 941.48e6), ("10Gbps", 9.4148e9)])
def test_one_flow_has_the_goodput_of_iperf(metrics: Any, scheme: str, rate: str, expected: float) -> None:
    """1448 of 1538 bytes are payload, so iperf shows 941 Mbps and 9.41 Gbps."""
    found = metrics(scheme, LONG.format(0), f"topology.rate={rate}", "switch.buffer=unlimited")
    assert found["goodput_long_bps"] == pytest.approx(expected, rel=5e-4)
    assert found["utilisation"] == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize(
    ("wire", "buffer", "packets"),
    [("ethernet", "15180B", 10), ("ethernet", "15179B", 9), ("none", "15180B", 10), ("none", "14999B", 9)],
)
def test_a_buffer_holds_frames_without_preamble_and_gap(metrics: Any, wire: str, buffer: str, packets: int) -> None:
    """A frame takes 1518 bytes of the buffer, and a packet without Ethernet 1500 bytes."""
    found = metrics("tcp", LONG.format("[0, 1]"), f"tcp.wire={wire}", f"switch.buffer={buffer}")
    assert found["queue_max_pkt"] == packets


def test_k_counts_frames_without_preamble_and_gap(metrics: Any) -> None:
    """Ten segments arrive at 2 Gbps at a link of 1 Gbps. With K = 7590 bytes, 5 frames, none is marked.

    With K one byte smaller, the sixth segment is marked.
    """
    burst = (
        'kind = "incast"\nflows = 2\nfrom = [0, 1]\nto = 2\nat = "30ms"\nsizes = { kind = "fixed", value = "7240B" }\n'
    )
    window = "tcp.initial_window=5"
    marks = [metrics("dctcp", burst, window, f"switch.mark_above={k}B")["marks"] for k in (7590, 7589)]
    assert marks[1] == marks[0] + 1


def test_a_lone_ack_takes_84_bytes(metrics: Any) -> None:
    """Each segment of 1538 bytes in one direction has an ACK of 84 bytes in the other direction."""
    found = metrics("tcp", LONG.format(0), 'measure.ports=["s0->h0"]', "switch.buffer=unlimited", "tcp.header=40B")
    assert found["utilisation"] == pytest.approx(84 / (1448 + 40 + 38), rel=2e-3)
    assert found["queue_max_bytes"] == 64


def test_a_load_with_headers_counts_the_framing(shortflow: Command, tmp_path: Path) -> None:
    """With headers of 52 bytes, a flow of 14,480 bytes takes 10 × 1,538 bytes, so 0.5 Gbps are 4,063.7 flows/s.

    A flow of 100 bytes takes 190 bytes, and one of 14,580 bytes the sum of both. With headers of 40 bytes, a flow of
    one byte is padded to 64 bytes, and takes 84.
    """
    cases = [("14480B", 52, 4063.7), ("100B", 52, 328947.4), ("14580B", 52, 4014.1), ("1B", 40, 744047.6)]
    for size, header, rate in cases:
        sizes = f'sizes = {{ kind = "fixed", value = "{size}" }}\n'
        file = tmp_path / "load.toml"
        file.write_text(f'{SCENARIO}kind = "poisson"\nload = 0.5\nload_with_headers = true\n{sizes}')
        shown = shortflow("show", str(file), "--set", f"tcp.header={header}B", code=0).stdout
        found = re.search(r"([0-9.]+) flows/s", shown)
        assert found, shown
        assert float(found[1]) == pytest.approx(rate, rel=2e-4), size


def test_a_scheme_cannot_change_the_links(shortflow: Command, tmp_path: Path) -> None:
    file = tmp_path / "ethernet.toml"
    file.write_text(SCENARIO + LONG.format(0))
    assert "tcp.wire" in shortflow("run", str(file), "--scheme", "tcp+tcp.wire=none", code=2).stderr
    wrong = shortflow("run", str(file), "--scheme", "tcp", "--set", "tcp.wire=ethrnet", code=2).stderr
    assert 'did you mean "ethernet"?' in wrong
