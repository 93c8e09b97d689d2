"""Likely causes of a measured number outside the expected range.

Each suspect is one possible difference between the scenario and the measured system. The suspects are simulated with
typical values. The suspect whose number is closest to the measured number comes first.
"""

import math
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from shortflow.errors import ConfigError, did_you_mean
from shortflow.expect.network import UNLIMITED, base_value
from shortflow.expect.numbers import Arithmetic, name_of
from shortflow.expect.simulated import MOST_HOPS
from shortflow.lazy import pl
from shortflow.metrics.absence import check_name, missing
from shortflow.metrics.catalogue import possible
from shortflow.quantities import parse
from shortflow.result import Result
from shortflow.runner import Ask, Wanted
from shortflow.runs import Plan, Run
from shortflow.terms import Bound

SEEDS = range(1, 6)
"""Seeds that give the expected range."""
_STUDENT = 4.604
"""Student's t for a 99 % prediction interval of one new value from 5 seeds (4 degrees of freedom)."""
_NEAR = {"bps": 0.01, "share": 0.01}
_NEAR_TIMES = 0.1
"""Relative difference that always counts as inside: 1 % for rates, 10 % for times."""
_CLOSE = 0.15
"""Suspects keep the order of the list if their unexplained shares differ by at most this much."""
_USELESS = 0.9
"""A suspect that leaves a larger share of the deviation unexplained is not named."""
_JUMBO = 8960
"""Payload in bytes of a segment in a packet of 9,000 bytes."""
_SCALED = ("s", "B", "bps")
"""Units of numbers that are usually written in a multiple of the unit, so a number without its unit is refused."""
SHORT_NAMES = ("mean", "p50", "p95", "p99", "goodput", "bandwidth")


@dataclass(frozen=True)
class Measured:
    """A measured number."""

    name: str
    """The name as written by the user."""
    metric: str
    """Metric of a run. For a bandwidth, the utilisation of the link with the highest expected utilisation."""
    value: float
    unit: str
    port: str = ""
    """The link of a bandwidth; empty for metrics."""
    rate_bps: float = 0.0
    """Rate of the link."""

    def of(self, result: Result) -> float | None:
        """The corresponding number of a run; None if the run has no such number."""
        if not self.port:
            return result.metrics.get(self.metric)
        row = result.ports.filter(pl.col("port") == self.port)["utilisation"]
        return float(row[0]) * self.rate_bps if len(row) else None


class Comparison(NamedTuple):
    """A measured number and its expected range."""

    measured: Measured
    expected: float
    low: float
    high: float

    @property
    def inside(self) -> bool:
        """True if the measured number lies in the expected range."""
        return self.low <= self.measured.value <= self.high


@dataclass(frozen=True)
class Suspect:
    """A possible cause, with the settings that imitate the cause."""

    cause: str
    test: str
    """Test in the measured system that would confirm the cause."""
    settings: Sequence[Mapping[str, str]]
    """Typical values. If `continuous`, in order of their distance from the scenario's value."""
    continuous: bool = False
    """True if values between the typical ones are equally likely. Their numbers are interpolated."""


class Accused(NamedTuple):
    """A suspect with the settings that explain most."""

    suspect: Suspect
    settings: Mapping[str, str]
    numbers: Sequence[float]
    """Predicted numbers, one for each measured number."""
    unexplained: float
    """Share of the deviation that the suspect leaves unexplained. 0 if the predicted and measured numbers are equal."""


class Inquiry(NamedTuple):
    """Comparisons of measured numbers, and suspects in order."""

    verdicts: Sequence[Comparison]
    accused: Sequence[Accused]
    tried: int
    """Number of simulated settings of suspects."""


def parse_measured(text: str, arithmetic: Arithmetic) -> Measured:
    """Parses `NAME=NUMBER` such as `p99=3.1ms`.

    NAME is a metric, or a short name if only one class has such a metric.

    Raises `ConfigError` for an unknown name, for a number without the right unit, and for a short name that fits
    several classes or none.
    """
    name, _, value = (part.strip() for part in text.partition("="))
    found = Bound.number(value)
    if found is None or not math.isfinite(found[0]):
        raise ConfigError(f"--measured {text}: expected NAME=NUMBER with a unit, such as p99=3.1ms or goodput=940Mbps")
    metric = _metric(name, text, arithmetic)
    unit = "bps" if name == "bandwidth" else possible(arithmetic.scenario.classes)[metric].unit
    Bound(name, "=", *found).check_unit(f"--measured {text}", unit)
    if not found[1] and unit in _SCALED:
        raise ConfigError(f"--measured {text}: the number has no unit; expected a number in {unit}")
    number = Measured(name, metric, found[0], unit)
    if name != "bandwidth":
        return number
    if not arithmetic.use:
        lacking = "every flow waits for another, so no link has an expected use"
        raise ConfigError(f"--measured {text}: {lacking}; give a completion time or another metric")
    port = max(arithmetic.use, key=lambda port: arithmetic.use[port])
    return replace(number, port=name_of(port), rate_bps=arithmetic.network.links[port].rate_bps)


def _metric(name: str, text: str, arithmetic: Arithmetic) -> str:
    finite = sorted({each.flow_class for each in arithmetic.demands if each.sizes})
    endless = sorted({each.flow_class for each in arithmetic.demands if each.backlogged})
    if name == "bandwidth":
        return "utilisation"
    if name not in SHORT_NAMES:
        of_scenario = arithmetic.scenario.classes
        names = [*SHORT_NAMES, *possible(of_scenario)]
        if name not in names:
            expected = f"expected {', '.join(SHORT_NAMES)}, or a metric of `shortflow list metrics`"
            raise ConfigError(f'--measured {text}: "{name}": unknown metric{did_you_mean(name, names)}; {expected}')
        check_name(name, of_scenario, "`expect` runs no ideal scheduler with the scheme")
        return name
    classes, pattern = (endless, "goodput_{}_bps") if name == "goodput" else (finite, f"{name}_{{}}_s")
    pattern = pattern.replace("mean_", "afct_")
    if len(classes) != 1:
        known = ", ".join(pattern.format(each) for each in classes)
        kind = "backlogged" if name == "goodput" else "finite"
        lacking = f"{name} is a number of {kind} flows, and the scenario has no such flows"
        raise ConfigError(f"--measured {text}: {f'name the class: {known}' if known else lacking}")
    return pattern.format(classes[0])


def suspects(arithmetic: Arithmetic) -> Iterator[Suspect]:
    """Suspects that are possible in the scenario, the most usual first."""
    values = arithmetic.network.values
    yield from _of_hosts(values, marks=arithmetic.marks)
    if arithmetic.has_equal_paths and not _has_faults(values):
        fewer = [_fewer_paths(arithmetic, share) for share in (0.5, 0.0)]
        yield Suspect(
            "hashes are polarised: few of the equal paths are used",
            "compare the bytes of the uplinks, and the hash seeds of the switches",
            [each for each in fewer if each],
            continuous=True,
        )
    yield Suspect(
        "the window is limited by the receiver",
        "read rwnd_limited in `ss -ti`, and net.ipv4.tcp_rmem",
        [{"tcp.receive_window": f"{packets}pkt"} for packets in (44, 11, 4)],
        continuous=True,
    )
    yield from _of_network(values, marks=arithmetic.marks)
    if any(each.sizes for each in arithmetic.demands):
        yield from _of_traffic(values)
    yield from _of_processors(values, closed=any(each.is_closed for each in arithmetic.demands))


def _of_hosts(values: Mapping[str, str], *, marks: bool) -> Iterator[Suspect]:
    """Suspects in hosts: timers, ECN, ACKs and headers."""
    least = base_value(values, "tcp.rto_min", 0.0)
    longer = [{"tcp.rto_min": f"{each * 1e3:g}ms"} for each in (0.2, 1.0) if each > 1.5 * least]
    shorter = [{"tcp.rto_min": f"{each * 1e3:g}ms"} for each in (0.01, 0.001) if each < least / 1.5]
    yield Suspect(
        "RTO_min differs: Linux has 200 ms, RFC 6298 has 1 s",
        "read rto_min in `ip route show`, rto in `ss -ti`, and TcpExtTCPTimeouts in `nstat`",
        [*longer, *shorter, *({**each, **_smaller_buffers(values, 0.25)} for each in longer[:1])],
    )
    if marks and _is_limited(values, "mark_above"):
        yield Suspect(
            "ECN is not negotiated, or no switch marks",
            "read ecn and ecnseen in `ss -ti`; TcpExtTCPDeliveredCE in `nstat` is 0 if nothing is marked",
            [_every(values, "mark_above", lambda _: "unlimited")],
        )
    if values["tcp.ack_every"] == "1":
        yield Suspect(
            "ACKs are delayed",
            "measure the time from the last data packet to its ACK in `tcpdump`; read quickack in `ip route`",
            [{"tcp.ack_every": "2", "tcp.ack_delay": delay} for delay in ("40ms", "200ms")],
        )
    stamped = {"tcp.wire": "ethernet", "tcp.mss": "1448B", "tcp.header": "52B"}
    framed = [] if values["tcp.wire"] == "ethernet" else [{"tcp.wire": "ethernet"}, stamped]
    yield Suspect(
        "headers take a larger share: timestamps, Ethernet framing, or small segments",
        "read mss in `ss -ti`; divide the payload by the interface's bytes in `ip -s link`",
        [*framed, {"tcp.mss": "536B"}],
    )
    if base_value(values, "tcp.mss") < _JUMBO:
        yield Suspect(
            "segments are larger: jumbo frames",
            "read mss in `ss -ti`, and mtu in `ip link` on all hosts and switches",
            [{"tcp.mss": f"{_JUMBO}B"}],
        )


def _of_network(values: Mapping[str, str], *, marks: bool) -> Iterator[Suspect]:
    """Suspects in the network: buffers, thresholds, rates, round-trip times and losses."""
    if _is_limited(values, "buffer"):
        yield Suspect(
            "the buffer of the ports is smaller, below one bandwidth-delay product",
            "read the port's drops in `ethtool -S` and in the switch's counters, and the switch's buffer profile",
            [_smaller_buffers(values, factor) for factor in (0.5, 0.25, 0.1, 0.04)],
            continuous=True,
        )
    if "topology.rtt" in values:
        yield Suspect(
            "the round trip is longer",
            "`ping` in an idle network; read interrupt coalescing in `ethtool -c`",
            [_changed(values, "topology.rtt", factor) for factor in (2.0, 4.0, 10.0)],
            continuous=True,
        )
    inner = ("oversubscription", "bottleneck", "trunk_rate", "uplink_rate", "second_bottleneck")
    core = [f"topology.{key}" for key in inner if f"topology.{key}" in values]
    if core:
        slower = (2.0, 4.0) if core[0].endswith("oversubscription") else (0.4, 0.25, 0.1)
        yield Suspect(
            "the core is slower than the scenario says",
            "read the uplinks' negotiated rate in `ethtool`; run `iperf3` between racks",
            [_changed(values, core[0], factor) for factor in slower],
            continuous=True,
        )
    if "topology.rate" in values:
        yield Suspect(
            "links of hosts are slower",
            "read the negotiated rate in `ethtool`; run `iperf3` to a neighbour",
            [_changed(values, "topology.rate", factor) for factor in (0.4, 0.1)],
            continuous=True,
        )
    if marks and _is_limited(values, "mark_above"):
        # A switch that reads a number of packets as bytes has a threshold of at most one packet.
        for change, factors in (("lower", (0.25, 0.1, 0.001)), ("higher", (2.0, 4.0))):
            yield Suspect(
                f"the marking threshold K is {change}",
                "read the switch's ECN profile; its unit may be bytes, cells or packets",
                [_every(values, "mark_above", _times(factor)) for factor in factors],
                continuous=True,
            )
    if _is_limited(values, "buffer"):
        yield Suspect(
            "the buffer of the ports is larger",
            "compare `ping` under load and in an idle network",
            [_every(values, "buffer", _times(factor)) for factor in (4.0, 16.0)],
            continuous=True,
        )
    if not _has_faults(values):
        yield Suspect(
            "a link loses packets",
            "read the links' error counters in `ethtool -S`; look for retransmissions without drops",
            [{"faults.loss": "0.001"}, {"faults.loss": "0.01"}],
            continuous=True,
        )


def _of_traffic(values: Mapping[str, str]) -> Iterator[Suspect]:
    """Suspects in traffic: load, handshakes and initial windows."""
    yield Suspect(
        "the load is higher", "read the interfaces' bytes over time in `sar -n DEV`", _loads(values), continuous=True
    )
    if values["tcp.handshake"] == "false":
        yield Suspect("each flow opens a connection", "look for SYN packets in `tcpdump`", [{"tcp.handshake": "true"}])
    others = [str(each) for each in (1, 2, 10, 30) if str(each) != values.get("tcp.initial_window")]
    windows = [{"tcp.initial_window": each} for each in others]
    yield Suspect("the initial window differs", "read initcwnd in `ip route`", windows)


def _of_processors(values: Mapping[str, str], *, closed: bool) -> Iterator[Suspect]:
    """Suspects in processors: hosts that pause, and applications that answer late."""
    if values["host.stalls"] == "0":
        yield Suspect(
            "hosts stall: their processors do other work, or sleep",
            "look for gaps within a window in the sender's `tcpdump`; run `perf sched latency`, `cpupower idle-info`",
            [{"host.stalls": per_s} for per_s in ("10", "100", "300")],
            continuous=True,
        )
    if closed:
        yield Suspect(
            "applications take longer to answer",
            "measure the time from the last packet of a request to the first packet of its answer in `tcpdump`",
            [{"host.reaction": f"{milliseconds}ms"} for milliseconds in (1, 10)],
            continuous=True,
        )


def _every(values: Mapping[str, str], key: str, change: Callable[[str], str]) -> dict[str, str]:
    """Settings that change a key of the ports of all switches."""
    return {name: change(value) for name, value in values.items() if _is_of_ports(name, key)}


def _is_limited(values: Mapping[str, str], key: str) -> bool:
    return any(base_value(values, name) != UNLIMITED for name in values if _is_of_ports(name, key))


def _changed(values: Mapping[str, str], key: str, factor: float) -> dict[str, str]:
    return {key: _times(factor)(values[key])}


def _has_faults(values: Mapping[str, str]) -> bool:
    return any(key.startswith("faults") for key in values)


def _fewer_paths(arithmetic: Arithmetic, share: float) -> dict[str, str]:
    """Failed uplinks, so that each switch keeps this share of its equal uplinks, and at least one."""
    failed = [f'"{switch}-{above}"' for switch, above in arithmetic.network.uplinks_beyond(share)]
    return {"faults.links": f"[{', '.join(failed)}]", "faults.down_at": "0s"} if failed else {}


def _smaller_buffers(values: Mapping[str, str], factor: float) -> dict[str, str]:
    """Settings of buffers times a factor. A threshold that is no longer below its buffer becomes unlimited."""
    changed = {key: _times(factor)(value) for key, value in values.items() if _is_of_ports(key, "buffer")}
    least = min((base_value(changed, key) for key in changed), default=UNLIMITED)
    for key, value in values.items():
        found = parse(value)
        if _is_of_ports(key, "mark_above") and found:
            changed |= {key: "unlimited"} if base_value(values, key) >= least or found.unit != "pkt" else {}
    return changed


def _is_of_ports(key: str, name: str) -> bool:
    return key.startswith("switch.") and key.endswith(f".{name}")


def _loads(values: Mapping[str, str]) -> list[dict[str, str]]:
    keys = [key for key in values if key.startswith("traffic.") and key.endswith((".load", ".rate_per_s"))]
    found = []
    for factor in (1.5, 2.5):
        changed = {key: _times(factor)(values[key]) for key in keys}
        if changed and all(base_value(changed, key) < 1 or key.endswith("per_s") for key in changed):
            found.append(changed)
    return found


def _times(factor: float) -> Callable[[str], str]:
    def change(text: str) -> str:
        found = parse(text)
        if found is None:
            return text
        value = found.number * factor
        whole = max(round(value), 1) if found.unit == "pkt" else value
        return f"{whole:.9g}{found.unit}"

    return change


def inquiry(plan: Plan, arithmetic: Arithmetic, measured: Sequence[Measured]) -> Ask[Inquiry]:
    """Compares measured numbers with five seeds. If a number lies outside, simulates the suspects.

    Raises `ConfigError` if a run has too many packet-hops.
    """
    hops = arithmetic.packet_hops()
    if hops > MOST_HOPS:
        raise ConfigError(
            f"--measured: each run of a seed or of a likely cause would take {hops / 1e6:,.3g} million packet-hops; "
            f"shorten the scenario to at most {MOST_HOPS / 1e6:g} million, as with --set duration=…"
        )
    usual = yield Wanted(plan.runs(list(SEEDS)), tables=False)
    verdicts = [_verdict(each, usual) for each in measured]
    outside = [each for each in verdicts if not each.inside]
    if not outside:
        return Inquiry(verdicts, [], 0)
    wanted: list[tuple[Suspect, Mapping[str, str], Run]] = []
    for suspect in suspects(arithmetic):
        for settings in suspect.settings:
            try:
                (run,) = plan.runs([SEEDS[0]], settings)
            except ConfigError:  # the value is invalid in this scenario
                continue
            wanted.append((suspect, settings, run))
    done = yield Wanted([run for _, _, run in wanted], tables=False, keep_going=True)
    tried: dict[str, list[Accused]] = {}
    for (suspect, settings, _), result in zip(wanted, done, strict=True):
        numbers = None if result.error else _numbers(result, usual[0], verdicts)
        if numbers:
            found = Accused(suspect, settings, numbers, _unexplained(numbers, verdicts))
            tried.setdefault(suspect.cause, []).append(found)
    best = [min([*each, *_between(each, verdicts)], key=lambda accused: accused.unexplained) for each in tried.values()]
    useful = [each for each in best if each.unexplained <= _USELESS]
    return Inquiry(verdicts, _in_order(useful), len(wanted))


def _in_order(found: Sequence[Accused]) -> list[Accused]:
    """Suspects by the share that they leave unexplained.

    Suspects within `_CLOSE` of the best remaining one keep the order of the list.
    """
    order: list[Accused] = []
    left = list(found)
    while left:
        most = min(each.unexplained for each in left) + _CLOSE
        order += [each for each in left if each.unexplained <= most]
        left = [each for each in left if each.unexplained > most]
    return order


def _verdict(measured: Measured, usual: Sequence[Result]) -> Comparison:
    found = [value for result in usual if (value := measured.of(result)) is not None]
    if not found:
        raise missing(
            measured.metric, (row.metric for each in usual for row in each.rows), (each.meta for each in usual)
        )
    if len(found) < len(usual):
        raise ConfigError(
            f"--measured {measured.name}: only {len(found)} of {len(usual)} runs have the metric {measured.metric}; "
            "with a longer duration, more runs may have it"
        )
    mean, spread = statistics.mean(found), statistics.stdev(found)
    near = max(_STUDENT * spread * math.sqrt(1 + 1 / len(found)), _NEAR.get(measured.unit, _NEAR_TIMES) * abs(mean))
    return Comparison(measured, mean, mean - near, mean + near)


def _numbers(result: Result, usual: Result, verdicts: Sequence[Comparison]) -> list[float] | None:
    """Numbers under a suspect: the expected numbers times the relative change in the first seed.

    None if a number is missing or not positive.
    """
    numbers = []
    for verdict in verdicts:
        changed, before = verdict.measured.of(result), verdict.measured.of(usual)
        if changed is None or not before or changed <= 0 or verdict.measured.value <= 0:
            return None
        numbers.append(verdict.expected * changed / before)
    return numbers


def _unexplained(numbers: Sequence[float], verdicts: Sequence[Comparison]) -> float:
    """Distance of the predicted from the measured numbers, divided by that of the expected numbers, in logarithms."""
    given = list(zip(numbers, verdicts, strict=True))
    left = sum(abs(math.log(each / verdict.measured.value)) for each, verdict in given)
    return left / sum(abs(math.log(verdict.expected / verdict.measured.value)) for verdict in verdicts)


def _between(tried: Sequence[Accused], verdicts: Sequence[Comparison]) -> Iterator[Accused]:
    """A continuous suspect at values between the simulated ones, with numbers interpolated in logarithms."""
    suspect, last = tried[0].suspect, [verdict.expected for verdict in verdicts]
    before: Mapping[str, str] = {}
    for each in tried if suspect.continuous else []:
        settings = {
            key: f"between {before.get(key, 'the value of the scenario')} and {value}" if parse(value) else value
            for key, value in each.settings.items()
        }
        for share in (0.25, 0.5, 0.75):
            numbers = [low * (high / low) ** share for low, high in zip(last, each.numbers, strict=True)]
            yield Accused(suspect, settings, numbers, _unexplained(numbers, verdicts))
        last, before = list(each.numbers), each.settings
