"""Traces for Perfetto, read back by the classes of the package `perfetto`, and compared with the run's tables."""

import shutil
import subprocess
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as messages

import shortflow as sf
from conftest import Command
from shortflow.perfetto import packets
from shortflow.perfetto.trace import Trace
from shortflow.perfetto.tracks import Within

INCAST = [
    *("incast", "--set", "servers=30", "--set", "switch.buffer=100pkt", "--set", "traffic.1.repeat=2"),
    *("--set", "duration=200ms", "--set", "warmup=0s"),
]
FAN_IN = "s0->h40"


@dataclass
class Read:
    """A trace, decoded by the classes of the package `perfetto`."""

    tracks: dict[int, Any] = field(default_factory=dict)
    """Description of each track, by number."""
    events: list[tuple[int, Any, str]] = field(default_factory=list)
    """Time in ns, event and name of each event."""

    def named(self, name: str) -> "list[tuple[int, Any]]":
        return [(at, event) for at, event, found in self.events if found == name]

    def counter(self, name: str) -> list[tuple[int, float]]:
        """Times in ns and values of a counter."""
        (track,) = (uuid for uuid, described in self.tracks.items() if described.name == name)
        return [(at, event.double_counter_value) for at, event, _ in self.events if event.track_uuid == track]

    def place(self, event: Any) -> tuple[str, str]:
        """Process and name of an event's track."""
        track = self.tracks[event.track_uuid]
        return self.tracks[track.parent_uuid].process.process_name, track.name


def read(path: Path | str) -> Read:
    """Reads a trace. Checks that tracks and names are described once, before their events, and the order of time."""
    trace, found, names = messages.Trace(), Read(), {}
    data = Path(path).read_bytes()
    assert trace.ParseFromString(data) == len(data)
    last: dict[int, int] = defaultdict(int)
    for packet in trace.packet:
        assert packet.trusted_packet_sequence_id == 1
        for each in packet.interned_data.event_names:
            assert each.iid not in names
            names[each.iid] = each.name
        if packet.HasField("track_descriptor"):
            described = packet.track_descriptor
            assert described.uuid not in found.tracks
            assert described.parent_uuid in {0, *found.tracks}
            found.tracks[described.uuid] = described
        if packet.HasField("track_event"):
            event = packet.track_event
            described = found.tracks[event.track_uuid]
            kinds = messages.TrackEvent.Type
            is_slice = event.type in (kinds.TYPE_SLICE_BEGIN, kinds.TYPE_SLICE_END)
            assert described.HasField("counter") == (event.type == kinds.TYPE_COUNTER)
            assert is_slice or packet.timestamp >= last[event.track_uuid]
            if not is_slice:
                last[event.track_uuid] = packet.timestamp
            found.events.append((packet.timestamp, event, event.name or names.get(event.name_iid, "")))
    return found


@pytest.fixture(scope="module", params=["tcp", "dctcp", "pfabric"])
def both(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> "tuple[Read, sf.Result, Path]":
    """A trace for Perfetto, its run, and the directory, which also has the packet events."""
    place, settings = tmp_path_factory.mktemp("both"), dict(each.split("=") for each in INCAST[2::2])
    result = sf.run("incast", request.param, settings=settings, perfetto=place / "x.pftrace", progress=False)
    again = sf.run("incast", request.param, settings=settings, trace=f"all={place / 'x.parquet'}", progress=False)
    assert again.digest == result.digest
    return read(place / "x.pftrace"), result, place


def test_a_trace_has_the_flows_of_the_run(both: "tuple[Read, sf.Result, Path]") -> None:
    trace, result, _ = both
    begins = {event.track_uuid: (at, event) for at, event, _ in trace.events if event.type == 1}
    ends = {event.track_uuid: at for at, event, _ in trace.events if event.type == 2}
    assert len(begins) == result.flows.height == 60
    by_name = {event.name: (at, event) for at, event in begins.values()}
    for row in result.flows.iter_rows(named=True):
        at, event = by_name[f"flow {row['id']}"]
        assert at == round(row["start_s"] * 1e9)
        assert ends[event.track_uuid] == round(row["finish_s"] * 1e9)
        assert trace.place(event)[0] == row["source"]
        facts = {
            each.name: each.string_value or each.double_value or each.int_value for each in event.debug_annotations
        }
        assert facts["size_bytes"] == row["size_bytes"]
        assert facts["timeouts"] == row["timeouts"]
        assert facts["slowdown"] == row["slowdown"]


def test_sums_are_those_of_the_run(both: "tuple[Read, sf.Result, Path]") -> None:
    trace, result, _ = both
    counts = Counter(name for _, event, name in trace.events if event.type == 3)
    drops = sum(count for name, count in counts.items() if name.startswith("drop: "))
    assert drops == result.metrics["drops_in_run"]
    assert counts["mark"] == result.metrics["marks_in_run"]
    for name, column in (("retransmission", "retransmits"), ("timeout", "timeouts"), ("mark arrives", "marks")):
        of_flows = Counter(trace.place(event)[1] for _, event in trace.named(name))
        expected = result.flows.filter(pl.col(column) > 0).select("id", column)
        assert of_flows == {f"flow {flow}": count for flow, count in expected.iter_rows()}, name
    at_ports = Counter(trace.place(event)[1] for _, event, name in trace.events if name.startswith("drop: "))
    assert at_ports == dict(result.ports.filter(pl.col("drops") > 0).select("port", "drops").iter_rows())


def test_counters_are_those_of_the_run(both: "tuple[Read, sf.Result, Path]") -> None:
    trace, result, place = both
    queue = trace.counter(f"{FAN_IN} queue")
    (of_port,) = result.ports.filter(pl.col("port") == FAN_IN).iter_rows(named=True)
    assert max(value for _, value in queue) == of_port["queue_max_pkt"]
    assert min(value for _, value in queue) == 0 == queue[-1][1]
    area = sum(value * (later - at) for (at, value), (later, _) in pairwise(queue))
    end = 200e6
    assert area / end == pytest.approx(of_port["queue_mean_pkt"], rel=1e-3)
    events = pl.read_parquet(place / "x.parquet")
    rate = trace.counter(f"{FAN_IN} rate")
    every = 200_000
    departed = events.filter((pl.col("event") == "departed") & (pl.col("port") == FAN_IN))
    assert sum(value for _, value in rate) * every / 8e9 == pytest.approx(departed["length"].sum())
    windows = events.filter(pl.col("cwnd_seg").is_not_null() & (pl.col("flow") == 3))
    expected = windows.select((pl.col("time_s") * 1e9).round().cast(pl.Int64), "cwnd_seg").rows()
    assert (trace.counter("flow 3 window") if expected else []) == expected


def of_tracks(trace: Read) -> "dict[str, list[Any]]":
    """Events by the name of their track."""
    found: dict[str, list[Any]] = defaultdict(list)
    for at, event, name in trace.events:
        value = (at, event.type, name, event.double_counter_value, tuple(event.flow_ids))
        found[trace.tracks[event.track_uuid].name].append(value)
    return {track: sorted(events) for track, events in found.items()}


@pytest.mark.parametrize("both", ["tcp"], indirect=True)
def test_small_blocks_give_the_trace_of_one_block(both: "tuple[Read, sf.Result, Path]", tmp_path: Path) -> None:
    """Packet events are taken all at once, or 100 at a time. In both traces, rates of ports that stop end with 0."""
    trace, result, place = both
    events: Any = pl.read_parquet(place / "x.parquet")
    found = []
    for rows in (events.height, 100):
        with (tmp_path / str(rows)).open("wb") as file:
            drawn = Trace(result.ports["port"].to_list(), 0.2, file.write, Within())
            for first in range(0, events.height, rows):
                drawn.take(events.slice(first, rows))
            drawn.take(events.clear())
            drawn.finish(result, pl.lit(True))
        found.append(of_tracks(read(tmp_path / str(rows))))
    one, many = found
    assert many == one == of_tracks(trace)
    rates = {track: counted for track, counted in one.items() if track.endswith(" rate")}
    assert len(rates) > 30
    assert all(counted[-1][3] == 0 for counted in rates.values())


def test_tracks_of_ports_end_at_the_duration_because_flows_of_the_drain_are_not_followed(tmp_path: Path) -> None:
    """Poisson arrivals continue in the drain. Until `duration`, queues, marks and bytes are those of the run."""
    settings, end = {"duration": "2ms", "warmup": "0s"}, 2_000_000
    result = sf.run("facebook-hadoop-star", "dctcp", settings=settings, perfetto=tmp_path / "x", progress=False)
    assert result.meta["counters"]["drain_flows"] > result.flows.height
    trace = read(tmp_path / "x")
    by_name = of_tracks(trace)
    assert all(at < end for track, events in by_name.items() if "->" in track for at, *_ in events)
    assert max(at for at, *_ in trace.events) > end, "flows go on"
    ports = result.ports.filter(pl.col("queue_max_pkt") > 0)
    assert ports.height == sum(track.endswith(" queue") for track in by_name)
    for port, largest, mean in ports.select("port", "queue_max_pkt", "queue_mean_pkt").iter_rows():
        queue = [(at, value) for at, _, _, value, _ in by_name[f"{port} queue"]]
        assert max(value for _, value in queue) == largest
        counter = trace.counter(f"{port} queue")
        area = sum(value * (later - at) for (at, value), (later, _) in pairwise([*counter, (end, 0.0)]))
        assert area / end == pytest.approx(mean, rel=1e-3)
    marks = Counter(trace.place(event)[1] for _, event in trace.named("mark"))
    assert marks == dict(ports.filter(pl.col("marks") > 0).select("port", "marks").iter_rows())
    assert 0 < marks.total() < result.metrics["marks_in_run"]
    retransmissions = Counter(trace.place(event)[1] for _, event in trace.named("retransmission"))
    assert retransmissions.total() == result.flows["retransmits"].sum()


def test_arrows_lead_from_drops_to_retransmissions_and_from_marks_to_arrivals(
    both: "tuple[Read, sf.Result, Path]",
) -> None:
    trace, result, place = both
    chains: dict[int, list[str]] = defaultdict(list)
    for _, event, name in sorted(trace.events, key=lambda each: each[0]):
        for arrow in event.flow_ids:
            chains[arrow].append(name.partition(":")[0])
    steps = Counter(pair for chain in chains.values() for pair in pairwise(chain))
    events = pl.read_parquet(place / "x.parquet").filter(pl.col("kind") == "data")
    dropped = events.filter(pl.col("event") == "dropped").height
    assert steps["drop", "retransmission"] == dropped, "all flows finished, so every lost segment was sent again"
    marked = events.filter(pl.col("event") == "marked").height
    assert steps["mark", "mark arrives"] + steps["mark", "drop"] == marked
    assert (dropped + marked > 0) == (result.scheme != "pfabric"), "its small windows fill no buffer"


def test_flows_time_and_ports_can_be_chosen(shortflow: Command) -> None:
    only = ["--perfetto-only", "flows=3,7-9", "--perfetto-only", f"ports={FAN_IN}", "--perfetto-only", "time=0ms:5ms"]
    said = shortflow("run", *INCAST, "--scheme", "tcp", "--perfetto", "few", *only, code=0).stderr
    few = read("few")
    assert {event.name for _, event, _ in few.events if event.type == 1} == {f"flow {row}" for row in (3, 7, 8, 9)}
    named = [each.name for each in few.tracks.values()]
    assert {name for name in named if "->" in name} == {f"{FAN_IN}{end}" for end in ("", " queue", " rate")}
    assert all(at < 5e6 for at, event, _ in few.events if event.type != 2)
    counted = sum(event.type != 2 for _, event, _ in few.events)
    assert f"perfetto: {counted:,} events, written in " in said
    assert f"captured: few ({Path('few').stat().st_size / 1e6:,.3g} MB)" in said


def test_flows_that_do_not_exist_are_named(shortflow: Command) -> None:
    only = ["--perfetto-only", "flows=99999"]
    said = shortflow("run", *INCAST, "--scheme", "tcp", "--perfetto", "none", *only, code=0).stderr
    assert "; the flow table has rows 0 to 59" in said
    assert "Warning" not in said
    assert {event.type for _, event, _ in read("none").events} <= {4}, "samples of the whole run alone"
    late = ["--perfetto-only", "time=100s:200s"]
    said = shortflow("run", *INCAST, "--scheme", "tcp", "--perfetto", "late", *late, code=0).stderr
    assert "perfetto: 0 events, written in " in said
    assert "; no event of the chosen flows lies in the chosen time" in said
    said = shortflow("run", *INCAST, "--scheme", "tcp", "--trace", "99999=none.parquet", code=0).stderr
    assert "trace: 0 rows; the flow table has rows 0 to 59" in said


def test_a_flow_that_did_not_finish_has_no_end(shortflow: Command) -> None:
    short = ["--set", "duration=105ms", "--set", "drain=0s"]
    shortflow("run", *INCAST, *short, "--scheme", "tcp", "--perfetto", "cut", "--json", code=0)
    kinds = Counter(event.type for _, event, _ in read("cut").events)
    assert kinds[1] > kinds[2]


def test_samples_of_endless_flows_are_counters(shortflow: Command) -> None:
    settings = {"duration": "20ms", "warmup": "1ms", "measure.sample_every": "1ms"}
    result = sf.run("two-long-flows", "dctcp", settings=settings, perfetto="x", progress=False)
    alpha = result.samples.filter((pl.col("kind") == "alpha") & (pl.col("subject") == "1"))
    expected = alpha.select((pl.col("time_s") * 1e9).round().cast(pl.Int64), "value").rows()
    assert read("x").counter("alpha of flow 1") == expected


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--perfetto-only", "flows=1"], "--perfetto-only flows=1: needs --perfetto FILE"),
        (["--perfetto", "x", "--trace", "all=y"], "--perfetto: cannot be combined with --trace"),
        (["--perfetto", "x", "--perfetto-only", "flow=1"], 'unknown term; did you mean "flows"?'),
        (["--perfetto", "x", "--perfetto-only", "time=5ms:1ms"], "ends before it begins"),
        (["--perfetto", "x", "--perfetto-only", "time=5"], "expected FROM:UNTIL, such as time=10ms:20ms"),
        (["--perfetto", "x", "--perfetto-only", "ports=s0->h99"], 'ports: "s0->h99": unknown port'),
        (
            ["--perfetto", "x", "--perfetto-only", "flows=blue"],
            '--perfetto-only flows: blue: "blue": unknown class (known: short, all)',
        ),
        (["--perfetto", "x", "--scheme", "ideal-ps"], "an ideal scheduler has no packets to record"),
    ],
)
def test_wrong_choices_are_refused(arguments: Sequence[str], said: str, shortflow: Command) -> None:
    assert said in shortflow("run", *INCAST, *arguments, code=2).stderr
    assert not list(Path().iterdir())


def test_only_earlier_traces_are_replaced(shortflow: Command) -> None:
    small = [*INCAST, "--set", "servers=3", "--perfetto"]
    shortflow("run", *small, "x", code=0)
    shortflow("run", *small, "x", code=0)
    Path("mine").write_text("mine")
    assert "no earlier output of this kind" in shortflow("run", *small, "mine", code=2).stderr
    assert Path("mine").read_text() == "mine"


def test_numbers_are_written_as_protocol_buffers_write_them() -> None:
    """Examples are from https://protobuf.dev/programming-guides/encoding: 150 is 96 01, and field 2 may have text."""
    assert packets._field(1, 150) == bytes([0x08, 0x96, 0x01])
    assert packets._field(2, "testing") == bytes([0x12, 0x07]) + b"testing"
    assert packets._field(1, 1, width=3) == bytes([0x08, 0x81, 0x80, 0x00])


def test_queries_of_the_documentation_run(shortflow: Command) -> None:
    """Perfetto's program runs the queries of docs/perfetto.md."""
    program = shutil.which("trace_processor_shell") or shutil.which("trace_processor")
    if not program:
        pytest.skip("needs trace_processor_shell")
    shortflow("run", *INCAST, "--scheme", "tcp", "--perfetto", "x", code=0)
    page = (Path(__file__).parents[1] / "docs" / "perfetto.md").read_text("utf-8")
    queries = [part.partition("```")[0] for part in page.split("```sql\n")[1:]]
    assert len(queries) == 3
    for query in queries:
        Path("query.sql").write_text(query)
        found = subprocess.run([program, "-q", "query.sql", "x"], capture_output=True, text=True, check=True).stdout
        assert len(found.splitlines()) > 1, query
