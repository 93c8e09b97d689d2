"""The testbed: a scenario on the kernel's own TCP, with the tables of a simulation.

The program `shortflow-linux` makes a network namespace for each host and runs the scenario's network between them by
the clock.
"""

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from shortflow._core import Scheme
from shortflow.errors import ConfigError, ExitCode, MissingRequirement
from shortflow.linux.kernels import HOW_TO_GET, PROGRAM, Kernel, ThisKernel
from shortflow.quantities import parse
from shortflow.records import Account, Meta
from shortflow.result import Result
from shortflow.results import Results
from shortflow.runner import Progress, run_one
from shortflow.runs import KEY_LENGTH, plan
from shortflow.scenario import Settings, load_scenario, path_of
from shortflow.scheme import load_schemes
from shortflow.store.columns import TABLES, check_columns
from shortflow.store.runs import Store

LINUX_TCP: dict[str, str] = {
    "tcp.mss": "1448B",
    "tcp.header": "52B",
    "tcp.initial_window": "10",
    "tcp.rto_min": "200ms",
    "tcp.ack_every": "2",
    "tcp.ack_delay": "40ms",
}
"""Linux's TCP, as both sides can be told: timestamps, ten segments to begin with, delayed ACKs."""
LINUX_RECOVERY = "rack"
LINUX_SCHEME: dict[str, str] = {"transport.recovery": LINUX_RECOVERY, "transport.cwnd_floor": "2"}
"""The same of a scheme's transport: RACK-TLP (RFC 8985), and two segments as the least window."""
OF_IPV6 = ("60B", "72B")
"""The values of `tcp.header` with which the testbed runs over IPv6."""
OF_SIX_BITS = ("none", "size-dscp", "size-class", "levels")
"""The values of `priority.by` whose numbers a DSCP has room for."""
LIKE_TESTBED: dict[str, str] = {
    "tcp.ack_message_end": "true",
    "tcp.quick_acks": "254",
    "tcp.ack_ecn_changes": "true",
    "tcp.grow_by_segments": "true",
    "tcp.tlp_ack_delay": "200ms",
    "tcp.tlp_slack": "4ms",
    "host.jitter": "50us",
}
"""What the simulator is told besides, unless scenario or user say otherwise. The testbed's receivers answer the
end of a flow at once; the rest is what Linux does by itself. With the hosts' receive buffers, of 4 MB, 254 segments is
what 6.18 acknowledges one by one before it delays any. Hosts are never as punctual as simulated ones."""
BOTH = SIMULATED, REAL = "simulated", "kernel"
ATTEMPTS = 3
"""How often a run is tried until the testbed keeps time, unless told otherwise."""
RTT = "topology.rtt"
RTT_SPREAD = 0.05
"""By how much the round trip of a seed may differ from the scenario's, relatively: agreement at a single one may be
chance, for phases between flows come and go with it."""

THIS_KERNEL = ThisKernel()


@dataclass(frozen=True)
class Choice:
    """The kernel's part in the place of the scheme's own."""

    congestion: str | None = None
    """Congestion control."""
    card: str | None = None
    """Queue in the hosts' cards: `fq` or `fq_codel`."""

    @property
    def options(self) -> list[str]:
        """Arguments of the program."""
        given = {"--congestion": self.congestion, "--card": self.card}
        return [text for option, value in given.items() if value for text in (option, value)]


OWN = Choice()
"""Nothing of the kernel's: the scheme's congestion control, and a FIFO in the card."""

_TYPES = {"text": pl.String, "real": pl.Float64, "count": pl.UInt64, "small": pl.UInt32, "flag": pl.Boolean}


@dataclass(frozen=True)
class SideBySide:
    """A scenario simulated and on the testbed, over the seeds with which the testbed kept time."""

    comparison: Results
    accounts: Sequence[Account]
    """Of every seed."""

    @property
    def kept(self) -> int:
        """With how many seeds it did."""
        return sum(map(is_trustworthy, self.accounts))

    @property
    def tried(self) -> int:
        """How many runs were made on the testbed."""
        return sum(account["attempts"] for account in self.accounts)

    @property
    def kept_time(self) -> str:
        """The same, for people."""
        return f"{self.kept} of {len(self.accounts)} kept time"


def is_trustworthy(account: Account) -> bool:
    """Whether the testbed kept time."""
    return account["verdict"] == "trustworthy"


def measure_on_testbed(
    scenario: str | Path,
    scheme: str,
    seed: int = 1,
    settings: Settings | None = None,
    choice: Choice = OWN,
    store: Store | None = None,
    attempts: int = 1,
    kernel: Kernel = THIS_KERNEL,
) -> Result:
    """Run a scenario, by its shipped name or path, on the testbed, or take the run from the store.

    It is repeated until the testbed keeps time, at most until there are so many `attempts`. A stored run in which the
    testbed did not keep time is run again, and the new one takes its place. The store is that of this `choice`.
    """
    (work,) = plan(load_scenario(scenario), [scheme], [seed], settings)
    found = store.find(work) if store else None
    if found and is_trustworthy(found.meta["testbed"]):
        return found
    arguments = _arguments(scheme, seed, settings, choice)
    before = found.meta["testbed"] if found else None
    tried, late = (before["attempts"], [*before["late"]]) if before else (0, [])
    for _ in range(attempts):
        tried, document = tried + 1, json.loads(_run(kernel, scenario, arguments))
        if is_trustworthy(document["testbed"]):
            break
        late.append(document["testbed"]["verdict"])
    tables = {name: _table(columns) for name, columns in document["tables"].items()}
    _check(tables)
    meta: Meta = document["meta"]
    meta["testbed"] = account = document["testbed"]
    account["attempts"], account["late"] = tried, late
    origin = work.provenance(meta["digest"], float(meta["end_s"]))
    origin["build"] += f" on {kernel.name}"  # so that it never passes for a simulated run
    result = Result.of(origin, tables, meta, work)
    if store:
        store.keep(result)
    return result


def is_kept(store: Store, scenario: str | Path, scheme: str, seed: int, settings: Settings | None = None) -> bool:
    """Whether the store has such a run in which the testbed kept time."""
    (work,) = plan(load_scenario(scenario), [scheme], [seed], settings)
    found = store.find(work)
    return found is not None and is_trustworthy(found.meta["testbed"])


def check_testbed(
    scenario: str | Path,
    scheme: str,
    settings: Settings | None = None,
    kernel: Kernel = THIS_KERNEL,
    choice: Choice = OWN,
) -> None:
    """Fail if such a run could not begin, for example because another testbed runs with its congestion control."""
    _run(kernel, scenario, [*_arguments(scheme, 1, settings, choice), "--check"])


def measured_runs(directory: Path, kernel: Kernel = THIS_KERNEL, choice: Choice = OWN) -> Store:
    """The runs of this choice on this kernel by this program that are kept in a directory."""
    chosen = [text for text in (choice.congestion, choice.card) if text]
    return Store(directory / "-".join(["kernel", kernel.identity[:KEY_LENGTH], *chosen]))


def _arguments(scheme: str, seed: int, settings: Settings | None, choice: Choice) -> list[str]:
    """The program's, for a run, without its scenario."""
    arguments = ["--scheme", scheme, "--seed", str(seed)]
    for key, value in (settings or {}).items():
        arguments += ["--set", f"{key}={value}"]
    return arguments + choice.options


def linux_settings(scenario: str | Path, scheme: str, settings: Settings) -> dict[str, str]:
    """Linux's TCP where the scenario leaves its own open, and its transport; what is set stays."""
    of_scheme = {key: value for key, value in LINUX_SCHEME.items() if Scheme.accepts(scheme, key)}
    chosen = {key: str(value) for key, value in settings.items()}
    return {**_left_open(scenario, LINUX_TCP), **of_scheme, **chosen}


def _left_open(scenario: str | Path, settings: Mapping[str, str]) -> dict[str, str]:
    """The settings of which the scenario says nothing."""
    said = {setting["key"] for setting in load_scenario(scenario).resolved() if setting["source"] != "default"}
    return {key: value for key, value in settings.items() if key not in said}


def drawn_rtt(scenario: str | Path, seed: int) -> str | None:
    """The round trip of a seed, of up to `RTT_SPREAD` more or less than the scenario's; none where it has none."""
    values = {setting["key"]: setting["value"] for setting in load_scenario(scenario).resolved()}
    nominal = parse(values.get(RTT, ""))
    if not nominal:
        return None
    nominal_ns = nominal.number * nominal.factor * 1e9
    share = random.Random(f"testbed round trip {seed}").uniform(-RTT_SPREAD, RTT_SPREAD)
    return f"{round(nominal_ns * (1 + share))}ns"


def with_drawn_rtt(scenario: str | Path, seed: int, settings: dict[str, str]) -> dict[str, str]:
    """The settings, with the round trip of the seed unless they have one."""
    rtt = None if RTT in settings else drawn_rtt(scenario, seed)
    return {RTT: rtt, **settings} if rtt else settings


def compare_with_simulation(
    scenario: str | Path,
    scheme: str,
    seeds: Sequence[int],
    settings: Settings,
    choice: Choice = OWN,
    progress: Progress | None = None,
    *,
    simulated: Settings | None = None,
    attempts: int = ATTEMPTS,
    store: Store | None = None,
    kernel: Kernel = THIS_KERNEL,
) -> SideBySide:
    """A scenario simulated and on the testbed, with the same flows, and with the same round trip drawn for each seed.

    The simulator alone gets the settings `simulated`. Runs in which the testbed did not keep time are repeated, and
    left out where that does not help.
    """
    common = linux_settings(scenario, scheme, settings)
    told = {**_left_open(scenario, LIKE_TESTBED), **(simulated or {})}
    runs: list[Result] = []
    accounts: list[Account] = []
    loaded = load_scenario(scenario)
    for seed in seeds:
        if progress:
            progress(len(accounts) / len(seeds), 2 * len(accounts), 2 * len(seeds))
        drawn = with_drawn_rtt(scenario, seed, common)
        (work,) = plan(loaded, [scheme], [seed], {**told, **drawn})
        measured = measure_on_testbed(scenario, scheme, seed, drawn, choice, store, attempts, kernel)
        accounts.append({"seed": seed, "rtt": drawn.get(RTT), **measured.meta["testbed"]})
        if is_trustworthy(measured.meta["testbed"]):
            runs += [run_one(work).alone().named(SIMULATED), measured.alone().named(REAL)]
    changed = {"scheme": scheme} | {key: str(value) for key, value in settings.items()}
    return SideBySide(Results(runs, loaded.name, loaded.title, changed), accounts)


def known_differences(comparison: Results, scheme: str) -> list[str]:
    """What the simulator leaves out of the kernel's TCP, as far as it matters here."""
    reasons = []
    names = ("drops", "retransmits")
    if any(comparison.values(side, name).get(seed) for side in BOTH for name in names for seed in comparison.seeds):
        reasons.append(
            "the kernel undoes reductions that were in vain, and the simulator does not"
            if comparison.settings.get("transport.recovery", LINUX_RECOVERY) == LINUX_RECOVERY
            else "the kernel finds losses by time and by probes, which it sends without losses too (RFC 8985), and"
            " reduces the window proportionally (RFC 6937); the simulator only where transport.recovery=rack"
        )
    (loaded,) = load_schemes([scheme])
    default = {key: value for key, value, _ in loaded.resolved()}.get("priority.by", "none")
    number = comparison.settings.get("priority.by", default)
    if number not in OF_SIX_BITS and comparison.settings.get("tcp.header") not in OF_IPV6:
        reasons.append(
            "over IPv4, packets carry their priority in six bits, four values per doubling, and the simulator's number"
            " is exact; priority.by=size-dscp gives it the same six bits, tcp.header=72B the packets twenty (IPv6)"
        )
    if scheme == "tcp-ecn":
        reasons.append(
            "the kernel's Reno takes a round trip to halve after a mark (RFC 6937); where that keeps the queue above"
            " K, it halves again"
        )
    if scheme == "cubic":
        reasons.append(
            "the kernel's CUBIC leaves slow start by HyStart, which the virtual machine turns off; the simulator's"
            " waits for a loss"
        )
    return reasons


def _check(tables: Mapping[str, pl.DataFrame]) -> None:
    """A program of another version measures other columns."""
    try:
        for name in TABLES:
            check_columns(name, tables[name])
    except ValueError as error:
        raise MissingRequirement(f"{PROGRAM} is of another version: its tables are {error}; {HOW_TO_GET}") from error


def _table(columns: Sequence[tuple[str, str, list[object]]]) -> pl.DataFrame:
    return pl.DataFrame({name: pl.Series(values, dtype=_TYPES[kind]) for name, kind, values in columns})


def _run(kernel: Kernel, scenario: str | Path, arguments: Sequence[str]) -> str:
    """Output of the program, whose code is 1 for a run that did not keep time; its other failures are ours."""
    done = kernel.run(path_of(str(scenario)), arguments)
    if done.returncode == ExitCode.FINE or (done.returncode == ExitCode.CLAIM_FAILED and done.stdout):
        return done.stdout
    message = done.stderr.strip() or f"{PROGRAM}: ended with code {done.returncode}"
    raise ConfigError(message) if done.returncode == 2 else MissingRequirement(message)
