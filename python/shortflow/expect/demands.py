"""Traffic in a form for arithmetic: flows by pair of hosts, flow sizes, and numbers of flows that start together."""

import csv
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from shortflow import _core
from shortflow.expect.network import Network, Pair, base_value, hosts_of
from shortflow.quantities import parse
from shortflow.scenario import ExpectedFlows, Scenario, load_scenario

_SAMPLES = 5000
"""Number of simulated flows that give the distribution of sizes."""
_RACK_PATTERNS = ("intra-rack", "inter-rack", "rack-locality")
CLOSED = ("queries", "aggregation", "mapreduce", "web", "ring")
"""Kinds of traffic whose flows wait for other flows, so that their rate depends on the network."""


@dataclass(frozen=True)
class Demand:
    """Flows of one class of one traffic entry."""

    kind: str
    flow_class: str
    pairs: Mapping[Pair, float]
    """Share of the flows, by source and destination."""
    sizes: Sequence[float] = ()
    """Sizes in bytes, drawn by the simulator and sorted. Empty for backlogged flows."""
    mean: float = 0.0
    """Exact mean size in bytes."""
    per_s: float = 0.0
    """Flows per second of measured time. 0 if the rate depends on the network."""
    backlogged: int = 0
    together: int = 1
    """Number of flows to one host that start at the same time."""
    steps: int = 1
    """Number of consecutive bursts in a task."""
    task: str = ""
    """Kind of the task that ends with the burst."""
    compute_s: float = 0.0
    """Seconds of a task in which no packet is sent."""
    bytes_by_pair: Mapping[Pair, float] | None = None
    """Share of the bytes, by source and destination, if it differs from the share of the flows."""

    @property
    def carried(self) -> Mapping[Pair, float]:
        """Share of the bytes by source and destination."""
        return self.pairs if self.bytes_by_pair is None else self.bytes_by_pair

    @property
    def is_closed(self) -> bool:
        """True if flows wait for other flows."""
        return self.kind in CLOSED


def demands(scenario: Scenario, network: Network) -> list[Demand]:
    """Demands of all traffic entries."""
    values = network.values
    found: list[Demand] = []
    seconds = base_value(values, "duration") - base_value(values, "warmup", 0.0)
    for place, expected in enumerate(scenario.expected_flows(), start=1):
        entry = _Entry(f"traffic.{place}", values, network, scenario, expected, seconds)
        found += entry.demands()
    return found


@dataclass(frozen=True)
class _Entry:
    """One traffic entry."""

    key: str
    values: Mapping[str, str]
    network: Network
    scenario: Scenario
    expected: ExpectedFlows
    seconds: float

    def text(self, key: str, default: str = "") -> str:
        return self.values.get(f"{self.key}.{key}", default)

    def number(self, key: str, default: float = 0.0) -> float:
        return base_value(self.values, f"{self.key}.{key}", default)

    def hosts(self, key: str, default: str = "all") -> list[str]:
        return hosts_of(self.text(key, default), self.network)

    def demands(self) -> Iterable[Demand]:
        kind = self.text("kind")
        special: dict[str, Callable[[], Iterable[Demand]]] = {
            "long-lived": self._long_lived,
            "trace": self._trace,
            "queries": self._queries,
            "aggregation": self._aggregation,
            "mapreduce": self._shuffle,
            "web": self._web,
            "ring": self._ring,
        }
        return special.get(kind, self._open)()

    def _open(self) -> Iterator[Demand]:
        """Flows that wait for no other flow. They start at random times, at fixed intervals, or in bursts."""
        kind = self.text("kind")
        pairs = self._pattern() if kind in ("poisson", "arrivals") else even(self.hosts("from"), self._receivers())
        together = {"incast": self.number("flows", 1), "arrivals": self.number("interarrival.flows", 1)}.get(kind, 1)
        yield self._sized(kind, pairs, per_s=self.expected["flows"] / self.seconds, together=int(together))

    def _receivers(self) -> list[str]:
        return self.hosts("to") if self.text("to") else [self.network.hosts[-1]]

    def _sized(self, kind: str, pairs: Mapping[Pair, float], part: str = "", **more: Any) -> Demand:
        prefix = f"{self.key}.{part}sizes"
        sizes, mean = sampled_sizes(self.values, prefix, self.scenario)
        return Demand(kind, self.text(f"{part}class"), pairs, sizes, mean, **more)

    def _long_lived(self) -> Iterator[Demand]:
        count, sources = self.expected["backlogged"], self.hosts("from")
        if self.text("permutation") == "true":
            receivers = self.hosts("to") if self.text("to") else sources
            yield Demand("permutation", self.text("class"), even(sources, receivers), backlogged=count)
            return
        receivers = self._receivers()
        if receivers == [receivers[0]]:
            sources = [each for each in sources if each != receivers[0]]
        pairs: dict[Pair, float] = defaultdict(float)
        for flow in range(count):
            pairs[sources[flow % len(sources)], receivers[flow % len(receivers)]] += 1 / count
        yield Demand("long-lived", self.text("class"), pairs, backlogged=count)

    def _pattern(self) -> dict[Pair, float]:
        """Share of the flows by pair, as the pattern draws pairs."""
        pattern, sources = self.text("pattern"), self.hosts("from")
        if pattern == "many-to-one":
            return even(sources, self._receivers())
        receivers = self.hosts("to")
        if pattern == "hot-spot":
            share, hot = self.number("hot"), self.hosts("hot_hosts")
            return mixed([(share, even(sources, hot)), (1 - share, even(sources, receivers))])
        if pattern in _RACK_PATTERNS:
            local = {"intra-rack": 1.0, "inter-rack": 0.0}.get(pattern, self.number("local"))
            racks = {host: self.network.rack(host) for host in self.network.hosts}
            parts = []
            for source in sources:
                for share, near in ((local, True), (1 - local, False)):
                    others = [each for each in receivers if (racks[each] == racks[source]) == near]
                    parts.append((share / len(sources), even([source], others)))
            return mixed(parts)
        return even(sources, receivers)

    def _trace(self) -> Iterator[Demand]:
        """Rows that start in the measured time.

        A row with `after` starts when its predecessors finish. Each predecessor is assumed to take its completion time
        in an empty network.
        """
        text = _core.read_file(str(self.scenario.directory / self.text("file"))).decode()
        rows = list(csv.DictReader(line for line in text.splitlines() if line and not line.startswith("#")))
        by_class: dict[str, list[tuple[Pair, float]]] = defaultdict(list)
        warmup, duration = (base_value(self.values, key, 0.0) for key in ("warmup", "duration"))
        awaited = {int(each) for row in rows for each in (row.get("after") or "").split()}
        received: dict[int, float] = {}
        for number, row in enumerate(rows, start=1):
            ends, size = (self._host(row["source"]), self._host(row["destination"])), _base(row["bytes"])
            above = [received[int(each)] for each in (row.get("after") or "").split()]
            start = max(above, default=0.0) + _base(row["start"])
            if number in awaited:
                received[number] = start + self.network.ideal_s(size, self.network.path(*ends))
            if warmup <= start < duration:
                by_class[row.get("class") or self.text("class")].append((ends, size))
        for name, flows in by_class.items():
            pairs: dict[Pair, float] = defaultdict(float)
            carried: dict[Pair, float] = defaultdict(float)
            sizes = sorted(size for _, size in flows)
            total = sum(sizes)
            for ends, size in flows:
                pairs[ends] += 1 / len(flows)
                carried[ends] += size / total
            per_s = len(flows) / self.seconds
            yield Demand("trace", name, pairs, sizes, total / len(sizes), per_s, bytes_by_pair=carried)

    def _host(self, text: str) -> str:
        return text if self.network.is_host(text) else f"h{text}"

    def _queries(self) -> Iterator[Demand]:
        roots, workers = self._receivers(), int(self.number("workers"))
        sources = [each for each in self.hosts("from") if each not in roots]
        compute = self.number("compute") + self.number("jitter") / 2
        pairs = even(sources, roots)
        yield self._sized("queries", pairs, together=workers, task="query", compute_s=compute)

    def _aggregation(self) -> Iterator[Demand]:
        aggregators, workers = self.hosts("aggregators"), self.hosts("from")
        root = hosts_of(self.text("root"), self.network)
        each = int(self.number("workers")) // len(aggregators)
        yield self._sized("aggregation", even(workers, aggregators), "worker.", together=each)
        yield self._sized("aggregation", even(aggregators, root), "aggregator.", together=len(aggregators))

    def _shuffle(self) -> Iterator[Demand]:
        mappers, reducers = self.hosts("mappers"), self.hosts("reducers")
        yield self._sized("mapreduce", even(mappers, reducers), together=len(mappers), task="shuffle")

    def _web(self) -> Iterator[Demand]:
        clients, servers, databases = (self.hosts(key) for key in ("clients", "servers", "databases"))
        yield self._sized("web", even(servers, clients))
        yield self._sized("web", even(databases, servers), "answer.")

    def _ring(self) -> Iterator[Demand]:
        ranks = self.hosts("ranks")
        chunk, steps = self.number("size") / len(ranks), len(ranks) - 1
        if self.text("operation") == "all-reduce":
            steps *= 2
        following = [*ranks[1:], ranks[0]]
        pairs = {pair: 1 / len(ranks) for pair in zip(ranks, following, strict=True)}
        yield Demand("ring", self.text("class"), pairs, [chunk], chunk, steps=steps, task="collective")


def even(sources: Sequence[str], receivers: Sequence[str]) -> dict[Pair, float]:
    """Share of each pair, if all sources are equally likely, and all receivers of a source except the source itself."""
    found: dict[Pair, float] = defaultdict(float)
    for source in sources:
        others = [each for each in receivers if each != source]
        for each in others:
            found[source, each] += 1 / len(others)
    total = sum(found.values())
    return {pair: share / total for pair, share in found.items()}


def mixed(parts: Sequence[tuple[float, Mapping[Pair, float]]]) -> dict[Pair, float]:
    """Mixture of distributions with the given weights."""
    found: dict[Pair, float] = defaultdict(float)
    for weight, pairs in parts:
        for pair, share in pairs.items():
            found[pair] += weight * share
    total = sum(found.values())
    return {pair: share / total for pair, share in found.items()}


def sampled_sizes(values: Mapping[str, str], prefix: str, scenario: Scenario) -> tuple[list[float], float]:
    """Sizes in bytes that the simulator draws, sorted, and their exact mean.

    The sizes come from a run of a network with two hosts and the same `sizes`. At a load of 1/2, the expected number of
    flows gives the mean.
    """
    sizes: dict[str, Any] = {}
    for key, value in values.items():
        if key.startswith(f"{prefix}."):
            _set(sizes, key.removeprefix(f"{prefix}.").split("."), value)
    if "parts" in sizes:
        sizes["parts"] = [sizes["parts"][place] for place in sorted(sizes["parts"], key=int)]
    rate, base = 1e9, {"kind": "star", "hosts": 2, "rate": "1Gbps", "rtt": "1us"}
    traffic = {"kind": "poisson", "load": 0.5, "from": 0, "to": 1, "sizes": sizes}
    tables = {"title": "sizes", "duration": "1s", "topology": base, "switch": _NO_LIMIT, "traffic": [traffic]}
    one = load_scenario(tables, directory=scenario.directory)
    per_s = one.expected_flows()[0]["flows"]
    drawn = load_scenario(
        {**tables, "duration": f"{_SAMPLES / per_s * 1e6:.0f}us", "drain": "0s"}, directory=scenario.directory
    )
    scheme = _core.Scheme.parse("ideal-fifo", [])
    table = _core.run(drawn.core, scheme, 1, _core.Control()).tables()["flows"]
    return sorted(map(float, table.get_column("size_bytes"))), 0.5 * rate / 8 / per_s


_NO_LIMIT = {"buffer": "unlimited", "mark_above": "unlimited"}


def _set(tables: dict[str, Any], path: Sequence[str], value: str) -> None:
    for part in path[:-1]:
        tables = tables.setdefault(part, {})
    try:
        tables[path[-1]] = float(value)
    except ValueError:
        tables[path[-1]] = value


def _base(text: str) -> float:
    """Bytes or seconds in a row of a trace, with or without a unit."""
    found = parse(text)
    return found.number * found.factor if found else 0.0
