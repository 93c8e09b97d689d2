"""The testbed: a scenario on the kernel's own TCP, with the tables of a simulation.

The program `shortflow-linux` makes a network namespace for each host, and emulates the scenario's network between them
in real time.
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
"""Linux's TCP in terms of both sides: timestamps, initial window of ten segments, delayed ACKs."""
LINUX_RECOVERY = "rack"
LINUX_SCHEME: dict[str, str] = {"transport.recovery": LINUX_RECOVERY, "transport.cwnd_floor": "2"}
"""Linux's transport: RACK-TLP (RFC 8985), and a smallest window of two segments."""
OF_IPV6 = ("60B", "72B")
"""Values of `tcp.header` for IPv6."""
OF_SIX_BITS = ("none", "size-dscp", "size-class", "levels")
"""Values of `priority.by` that fit a DSCP."""
LIKE_TESTBED: dict[str, str] = {
    "tcp.ack_message_end": "true",
    "tcp.quick_acks": "254",
    "tcp.ack_ecn_changes": "true",
    "tcp.grow_by_segments": "true",
    "tcp.tlp_ack_delay": "200ms",
    "tcp.tlp_slack": "4ms",
    "host.jitter": "50us",
}
"""Further settings of the simulator, unless scenario or user have them. The testbed's receivers ACK the end of a flow
at once; the rest is Linux's default. With 4 MB receive buffers, Linux 6.18 ACKs the first 254 segments one by one.
Jitter represents the timing of real hosts."""
BOTH = SIMULATED, REAL = "simulated", "kernel"
ATTEMPTS = 3
"""Default for the most attempts of a run."""
RTT = "topology.rtt"
RTT_SPREAD = 0.05
"""Largest relative change of a seed's RTT from the scenario's. Phases between flows depend on the RTT, so agreement at
a single one may be chance."""

THIS_KERNEL = ThisKernel()


@dataclass(frozen=True)
class Choice:
    """The kernel's replacements for parts of the scheme."""

    congestion: str | None = None
    """The kernel's congestion control."""
    card: str | None = None
    """Queue in the hosts' cards: `fq` or `fq_codel`."""

    @property
    def options(self) -> list[str]:
        """Arguments of the program."""
        given = {"--congestion": self.congestion, "--card": self.card}
        return [text for option, value in given.items() if value for text in (option, value)]


OWN = Choice()
"""No replacements: the scheme's congestion control, and a FIFO in the card."""

_TYPES = {"text": pl.String, "real": pl.Float64, "count": pl.UInt64, "small": pl.UInt32, "flag": pl.Boolean}


@dataclass(frozen=True)
class SideBySide:
    """A scenario simulated and on the testbed, over the seeds with which the testbed kept time."""

    comparison: Results
    accounts: Sequence[Account]
    """Timing of every seed."""

    @property
    def kept(self) -> int:
        """Number of seeds with which the testbed kept time."""
        return sum(map(is_trustworthy, self.accounts))

    @property
    def tried(self) -> int:
        """Number of runs on the testbed, repeated ones included."""
        return sum(account["attempts"] for account in self.accounts)

    @property
    def kept_time(self) -> str:
        """Number of seeds that kept time, as text."""
        return f"{self.kept} of {len(self.accounts)} kept time"


def is_trustworthy(account: Account) -> bool:
    """True if the testbed kept time."""
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
    """Runs a scenario (shipped name or path) on the testbed, or takes the run from the store.

    Repeats the run until the testbed keeps time, up to `attempts` in total. A stored run that did not keep time is run
    again and replaced. The store must be that of this `choice`.
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
    origin["build"] += f" on {kernel.name}"  # marks the run as not simulated
    result = Result.of(origin, tables, meta, work)
    if store:
        store.keep(result)
    return result


def is_kept(store: Store, scenario: str | Path, scheme: str, seed: int, settings: Settings | None = None) -> bool:
    """True if the store has this run and the testbed kept time."""
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
    """Raises an error if the run could not start, for example if another testbed uses its congestion control."""
    _run(kernel, scenario, [*_arguments(scheme, 1, settings, choice), "--check"])


def measured_runs(directory: Path, kernel: Kernel = THIS_KERNEL, choice: Choice = OWN) -> Store:
    """Store for this choice, kernel and program, in a directory."""
    chosen = [text for text in (choice.congestion, choice.card) if text]
    return Store(directory / "-".join(["kernel", kernel.identity[:KEY_LENGTH], *chosen]))


def _arguments(scheme: str, seed: int, settings: Settings | None, choice: Choice) -> list[str]:
    """Arguments of the program for a run, without the scenario."""
    arguments = ["--scheme", scheme, "--seed", str(seed)]
    for key, value in (settings or {}).items():
        arguments += ["--set", f"{key}={value}"]
    return arguments + choice.options


def linux_settings(scenario: str | Path, scheme: str, settings: Settings) -> dict[str, str]:
    """Settings of Linux's TCP and transport, unless scenario or settings have them."""
    of_scheme = {key: value for key, value in LINUX_SCHEME.items() if Scheme.accepts(scheme, key)}
    chosen = {key: str(value) for key, value in settings.items()}
    return {**_left_open(scenario, LINUX_TCP), **of_scheme, **chosen}


def _left_open(scenario: str | Path, settings: Mapping[str, str]) -> dict[str, str]:
    """The settings that the scenario does not have."""
    said = {setting["key"] for setting in load_scenario(scenario).resolved() if setting["source"] != "default"}
    return {key: value for key, value in settings.items() if key not in said}


def drawn_rtt(scenario: str | Path, seed: int) -> str | None:
    """RTT of a seed, within `RTT_SPREAD` of the scenario's; None if the scenario has none."""
    values = {setting["key"]: setting["value"] for setting in load_scenario(scenario).resolved()}
    nominal = parse(values.get(RTT, ""))
    if not nominal:
        return None
    nominal_ns = nominal.number * nominal.factor * 1e9
    share = random.Random(f"testbed round trip {seed}").uniform(-RTT_SPREAD, RTT_SPREAD)
    return f"{round(nominal_ns * (1 + share))}ns"


def with_drawn_rtt(scenario: str | Path, seed: int, settings: dict[str, str]) -> dict[str, str]:
    """The settings, with the seed's RTT unless they have one."""
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
    """Runs a scenario in simulation and on the testbed, with equal flows and an RTT drawn for each seed.

    Only the simulator gets the settings `simulated`. Runs that did not keep time are repeated, and left out if
    repetition does not help.
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
    """Relevant parts of the kernel's TCP that the simulator lacks."""
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
    """Checks the program's columns: another version of the program has others."""
    try:
        for name in TABLES:
            check_columns(name, tables[name])
    except ValueError as error:
        raise MissingRequirement(f"{PROGRAM} is of another version: its tables are {error}; {HOW_TO_GET}") from error


def _table(columns: Sequence[tuple[str, str, list[object]]]) -> pl.DataFrame:
    return pl.DataFrame({name: pl.Series(values, dtype=_TYPES[kind]) for name, kind, values in columns})


def _run(kernel: Kernel, scenario: str | Path, arguments: Sequence[str]) -> str:
    """Output of the program. Code 1, a run that did not keep time, is accepted; others raise."""
    done = kernel.run(path_of(str(scenario)), arguments)
    if done.returncode == ExitCode.FINE or (done.returncode == ExitCode.CLAIM_FAILED and done.stdout):
        return done.stdout
    message = done.stderr.strip() or f"{PROGRAM}: ended with code {done.returncode}"
    raise ConfigError(message) if done.returncode == 2 else MissingRequirement(message)
