"""Packet events of a run as a Perfetto trace, written block by block.

Flows are slices; queues, rates and windows are counters; marks, drops, retransmissions and timeouts are instants.
Arrows follow a segment from its mark to its arrival, and from its drop to its retransmission. Memory grows with the
numbers of ports, flows and connections, not with that of events. Tracks of ports end at `duration`, because packets of
flows that start later have no events.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from shortflow import _core
from shortflow.lazy import np, npt, pl
from shortflow.perfetto import packets
from shortflow.perfetto.packets import ARROW, COUNTER, INSTANT, Events
from shortflow.perfetto.tracks import EVENTS, LIFE, QUEUE, RATE, WINDOW, Tracks, Within, grown
from shortflow.result import Result

_NS = 1e9
_BINS = 1000
"""Number of intervals of the duration. A port's rate is the mean over an interval."""
_CONNECTION = 2**40
"""Numbers reserved per connection for ids of arrows, one for each byte of its stream."""
_PORTION = 10_000
"""Number of flows in memory at a time."""
_UNITS = {"throughput_bps": "bit/s", "flow_throughput_bps": "bit/s", "rate_bps": "bit/s", "alpha": ""}
"""Kinds of samples that become counters, with their units. Counters of queues and windows come from packet events."""
_FACTS = ("class", "source", "destination", "size_bytes", "slowdown", "retransmits", "timeouts", "marks")


class Trace:
    """Writer of a trace from the packet events of a run."""

    def __init__(
        self, ports: Sequence[str], duration_s: float, write: Callable[[bytes], object], choice: Within
    ) -> None:
        """`ports` are all ports of the scenario, `write` takes encoded packets, `choice` limits times and ports."""
        self._tracks, self._write, self._choice = Tracks(ports, write), write, choice
        self._ports = pl.Enum(self._tracks.ports)
        self._shown = np.array([True, *(not choice.ports or port in choice.ports for port in ports)])
        self._end_ns = round(duration_s * _NS)
        self._every_ns = max(1, round(duration_s * _NS / _BINS))
        self._queue = np.zeros(len(ports) + 1, np.int64)
        self._bins = pl.DataFrame(schema={"port": pl.Int64, "bin": pl.Int64, "length": pl.Int64})
        self._highest = np.zeros(0, np.int64)
        self._names: dict[str, int] = {}
        self._held = pl.DataFrame()
        self.events: Counter[str] = Counter()
        """Number of written events of each kind."""
        self.seconds = 0.0
        """Wall-clock time spent on reading and writing events, in seconds."""
        write(packets.first())

    def take(self, rows: "_core.Table") -> None:
        """Takes the next events of the run. Successive calls must be in order of time."""
        began, read = time.perf_counter(), self._read(pl.DataFrame(rows))
        if read.is_empty():
            return
        # The last instant waits for the next call, which may bring more of its events: a block sorts departures first,
        # because packets that arrive at that instant find the departed packet gone.
        frame = pl.concat([self._held, read], how="diagonal")
        last = frame["time_s"].max()
        self._held = frame.filter(pl.col("time_s") == last)
        self._block(frame.filter(pl.col("time_s") < last))
        self.seconds += time.perf_counter() - began

    def finish(self, result: Result, is_chosen: "pl.Expr") -> None:
        """Writes the remaining events, the flows that `is_chosen` selects, and the samples of the finished run."""
        began = time.perf_counter()
        if self._held.height:
            self._block(self._held)
        self._write(packets.encoded([self._rates(self._bins, None)]))
        flows = result.flows.filter(is_chosen)
        self._tracks.name_hosts(flows)
        for first in range(0, flows.height, _PORTION):
            self._write(b"".join(self._flows(flows.slice(first, _PORTION))))
        self._samples(result)
        self.seconds += time.perf_counter() - began

    def _read(self, frame: "pl.DataFrame") -> "pl.DataFrame":
        return frame.select(
            "time_s",
            (pl.col("time_s") * _NS).round().cast(pl.Int64).alias("ns"),
            pl.col("flow").cast(pl.Int64).fill_null(-1),
            pl.col("connection").cast(pl.Int64).fill_null(-1),
            "event",
            "reason",
            pl.col("port").cast(self._ports).to_physical().cast(pl.Int64),
            "kind",
            pl.col("seq", "length").cast(pl.Int64).fill_null(0),
            pl.col("queue_pkt").cast(pl.Int64),
            pl.col("ce").fill_null(False),
            "cwnd_seg",
        )

    def _block(self, frame: "pl.DataFrame") -> None:
        departed = pl.col("event") == "departed"
        frame = frame.sort("time_s", ~departed, maintain_order=True)
        data = frame.filter((pl.col("event") == "sent") & pl.col("kind").is_in(["data", "syn"]) & (pl.col("flow") >= 0))
        self._tracks.learn_hosts(data)
        again = self._retransmissions(data.filter(pl.col("kind") == "data"))
        carried = frame.filter(departed & (pl.col("ns") < self._end_ns))
        bins = carried.select("port", (pl.col("ns") // self._every_ns).alias("bin"), "length")
        bins = pl.concat([self._bins, bins])
        # The latest interval may not be complete.
        rates = self._rates(bins, int(bins["bin"].max() or 0))  # type: ignore[arg-type]
        found = [self._queues(frame), rates, self._windows(frame)]
        self._write(packets.encoded([*found, *self._instants(frame, again)]))

    def _events(
        self,
        kind: str,
        frame: "pl.DataFrame",
        tracks: "npt.NDArray[np.int64]",
        last: "npt.NDArray[np.uint64] | None" = None,
        names: "npt.NDArray[np.uint8] | None" = None,
    ) -> Events:
        """The events at the chosen times and ports. Describes and counts them.

        Arrays have one element per row of `frame`. Events of ports after the end of the duration are left out.
        """
        times, ports = frame["ns"].to_numpy(), frame["port"].to_numpy()
        wanted = (times >= self._choice.from_ns) & (times < self._choice.until_ns) & self._shown[ports]
        wanted &= (times < self._end_ns) | (tracks >= self._tracks.flow(0, 0))
        self._tracks.describe(tracks[wanted])
        self.events[kind] += int(wanted.sum())
        form = COUNTER if names is None else INSTANT if last is None else ARROW
        return Events(
            form,
            times[wanted],
            tracks[wanted],
            None if names is None else names[wanted],
            None if last is None else last[wanted],
        )

    def _queues(self, frame: "pl.DataFrame") -> Events:
        """Number of packets in each port after each arrival, drop and departure."""
        left, is_known = pl.col("event") == "departed", pl.col("queue_pkt").is_not_null()
        frame = frame.filter((pl.col("port") > 0) & (left | (is_known & (pl.col("event") != "marked"))))
        ports = frame["port"].to_numpy()
        frame = frame.with_columns(
            left.cast(pl.Int64).cum_sum().over("port").alias("left"), pl.Series("before", self._queue[ports])
        )
        known = (pl.col("queue_pkt") + pl.col("left")).forward_fill().over("port").fill_null(pl.col("before"))
        values = frame.select((known - pl.col("left")).alias("value"))["value"].to_numpy()
        self._queue[ports] = values  # of several values of a port, NumPy stores the last
        return self._events("queue", frame, self._tracks.port(ports, QUEUE), _bits(values))

    def _rates(self, bins: "pl.DataFrame", last: int | None) -> Events:
        """Rates of ports in the intervals before `last`, in bit/s; in all intervals if `last` is None.

        A rate of 0 is added after each interval with packets whose next interval has none. The bytes of interval
        `last` are kept for the next call.
        """
        zeros = bins.filter(pl.col("length") > 0).with_columns(pl.col("bin") + 1, pl.lit(0, pl.Int64).alias("length"))
        bins = pl.concat([bins, zeros]).group_by("port", "bin").agg(pl.col("length").sum()).sort("bin", "port")
        if last is not None:
            self._bins = bins.filter(pl.col("bin") == last)
            bins = bins.filter(pl.col("bin") < last)
        bins = bins.with_columns((pl.col("bin") * self._every_ns).alias("ns"))
        values = bins["length"].to_numpy() * 8 * _NS / self._every_ns
        return self._events("rate", bins, self._tracks.port(bins["port"].to_numpy(), RATE), _bits(values))

    def _windows(self, frame: "pl.DataFrame") -> Events:
        frame = frame.filter(pl.col("cwnd_seg").is_not_null() & (pl.col("flow") >= 0))
        tracks = self._tracks.flow(frame["flow"].to_numpy(), WINDOW)
        return self._events("window", frame, tracks, _bits(frame["cwnd_seg"].to_numpy()))

    def _retransmissions(self, data: "pl.DataFrame") -> "pl.DataFrame":
        """Data packets whose first byte the connection had sent before."""
        if data.is_empty():
            return data
        connections = data["connection"].to_numpy()
        self._highest = grown(self._highest, int(connections.max()) + 1)
        end = (pl.col("seq") + pl.col("length")).cum_max()
        data = data.with_columns(
            end.over("connection").alias("end"),
            end.shift(1).over("connection").fill_null(0).alias("before"),
            pl.Series("highest", self._highest[connections]),
        )
        np.maximum.at(self._highest, connections, data["end"].to_numpy())
        return data.filter(pl.col("seq") < pl.max_horizontal("before", "highest"))

    def _instants(self, frame: "pl.DataFrame", again: "pl.DataFrame") -> Iterator[Events]:
        """Marks, drops, trims and pauses at ports; retransmissions, timeouts and arrivals of marks at flows."""
        event = pl.col("event")
        arrived = (event == "delivered") & (pl.col("kind") == "data") & pl.col("ce")
        yield from self._instant(frame.filter(event == "marked"), "mark", EVENTS)
        dropped = frame.filter(event == "dropped")
        for (reason,), rows in dropped.group_by("reason", maintain_order=True):
            yield from self._instant(rows, f"drop: {reason}", EVENTS)
        yield from self._instant(frame.filter(event == "trimmed"), "trim", EVENTS)
        for kind in ("pause", "resume"):
            yield from self._instant(frame.filter(event == kind), kind, EVENTS)
        yield from self._instant(again, "retransmission", None)
        yield from self._instant(frame.filter(arrived), "mark arrives", None)
        yield from self._instant(frame.filter(event == "timeout"), "timeout", None)

    def _instant(self, frame: "pl.DataFrame", name: str, of_port: int | None) -> Iterator[Events]:
        """Events of one name: on track `of_port` of their ports, or if None, at their flows.

        Events of data packets have arrows.
        """
        if name not in self._names and frame.height:
            self._names[name] = len(self._names) + 1
            self._write(packets.interned(self._names[name], name))
        is_data = pl.col("kind") == "data"
        if of_port is None:
            frame = frame.with_columns(pl.lit(0, pl.Int64).alias("port"))  # no port: shown for every choice of ports
        for has_arrow, rows in ((True, frame.filter(is_data)), (False, frame.filter(~is_data))):
            if rows.is_empty():
                continue
            if of_port is None:
                tracks = self._tracks.flow(rows["flow"].to_numpy(), LIFE)
            else:
                tracks = self._tracks.port(rows["port"].to_numpy(), of_port)
            segments = rows.select(pl.col("connection") * _CONNECTION + pl.col("seq") + 1).to_series().to_numpy()
            names = np.full(rows.height, self._names[name], np.uint8)
            yield self._events(name, rows, tracks, segments.astype(np.uint64) if has_arrow else None, names)

    def _flows(self, flows: "pl.DataFrame") -> Iterator[bytes]:
        for row in flows.iter_rows(named=True):
            begin = round(row["start_s"] * _NS)
            end = None if row["finish_s"] is None else round(row["finish_s"] * _NS)
            if begin >= self._choice.until_ns or (end is not None and end < self._choice.from_ns):
                continue
            track = int(self._tracks.flow(row["id"], LIFE))
            self._tracks.describe(np.array([track]))
            facts = {name: row[name] for name in _FACTS if row[name] is not None}
            self.events["flow"] += 1
            yield packets.flow_slice(track, f"flow {row['id']}", row["class"], (begin, end), facts)

    def _samples(self, result: Result) -> None:
        """Writes the rates and congestion estimates that the run sampled."""
        tracks: dict[tuple[str, str], int] = {}
        for block in result.in_blocks("samples"):
            found = block.filter(pl.col("kind").is_in([*_UNITS]))
            for kind, subject in found.select("kind", "subject").unique(maintain_order=True).rows():
                if (kind, subject) not in tracks:
                    name = f"{kind} of {'class' if kind == 'throughput_bps' else 'flow'} {subject}"
                    tracks[kind, subject] = self._tracks.other(name, _UNITS[kind], result.flows.height)
            numbers = np.array([tracks[each] for each in found.select("kind", "subject").iter_rows()], np.int64)
            found = found.select((pl.col("time_s") * _NS).round().cast(pl.Int64).alias("ns"), "value").with_columns(
                pl.lit(0, pl.Int64).alias("port")
            )
            wanted = self._events("sample", found, numbers, _bits(found["value"].to_numpy()))
            self._write(packets.encoded([wanted]))


def _bits(values: "npt.NDArray[np.generic]") -> "npt.NDArray[np.uint64]":
    """Values as 64-bit floating-point numbers, reinterpreted as unsigned integers."""
    return values.astype(np.float64).view(np.uint64)
