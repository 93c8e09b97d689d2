"""The testbed: a scenario on the kernel's own TCP, with the tables of a simulation.

The program `shortflow-linux` makes a network namespace for each host, and emulates the scenario's network between them
in real time.
"""

import json
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from shortflow import ConfigError, MissingRequirement
from shortflow.api.commands import ExitCode
from shortflow.api.metrics import KINDS, TABLES, check_columns
from shortflow.api.numbers import parse
from shortflow.api.runs import (
    KEY_LENGTH,
    Account,
    Executor,
    Meta,
    Outcomes,
    Plan,
    Progress,
    Result,
    Results,
    Run,
    Runner,
    Store,
    Wanted,
    Watch,
    once,
)
from shortflow.api.scenarios import (
    Scheme,
    Settings,
    as_pairs,
    is_default,
    load_scenario,
    load_schemes,
    path_of,
    registry,
)
from shortflow_linux.kernels import HOW_TO_GET, PROGRAM, Kernel, ThisKernel

_SET = next(each["parameters"] for each in registry()["parameter-sets"] if each["name"] == "linux")
_LINUX = {each["name"]: each["default"] for each in _SET}


def _linux(*keys: str) -> dict[str, str]:
    """Constants of the parameter set `linux`, which names their sources."""
    return {key: _LINUX[key] for key in keys}


LINUX_TCP: dict[str, str] = {
    "tcp.mss": "1448B",
    "tcp.header": "52B",
    "tcp.initial_window": "10",
    "tcp.rto_min": "200ms",
    **_linux("tcp.ack_every"),
    "tcp.ack_delay": "40ms",
}
"""Settings of Linux's TCP for testbed and simulator: timestamps, initial window of ten segments, delayed ACKs."""
LINUX_SCHEME = _linux("transport.recovery")
"""Settings of Linux's transport: RACK-TLP (RFC 8985). Other parameters of laws have Linux's values by default."""
OF_IPV6 = ("60B", "72B")
"""Values of `tcp.header` for IPv6."""
OF_SIX_BITS = ("none", "size-dscp", "size-class", "levels")
"""Values of `priority.by` that fit a DSCP."""
LIKE_TESTBED: dict[str, str] = {
    "tcp.ack_message_end": "true",
    **_linux("tcp.quick_acks", "tcp.ack_ecn_changes", "tcp.grow_by_segments"),
    "tcp.tlp_ack_delay": "200ms",
    "tcp.tlp_slack": "4ms",
    "host.jitter": "50us",
}
"""Settings of the simulator, unless scenario or user set them: Linux's ACKs and probes, and jitter as of real hosts."""
BOTH = SIMULATED, REAL = "simulated", "kernel"
ATTEMPTS = 3
"""Default maximum number of attempts of a run."""
ON_TIME = "trustworthy"
"""Verdict on a run in which the testbed kept time."""
RTT = "topology.rtt"
RTT_SPREAD = 0.05
"""Maximum relative difference of a seed's RTT from the scenario's.

Phases between flows depend on the RTT, so agreement at a single RTT may be chance.
"""

THIS_KERNEL = ThisKernel()


@dataclass(frozen=True)
class Replacements:
    """The kernel's replacements for parts of the scheme."""

    congestion: str | None = None
    """The kernel's congestion control."""
    card: str | None = None
    """Queue in the hosts' cards: `fq` or `fq_codel`."""

    @property
    def options(self) -> list[str]:
        """Arguments of the program for these replacements."""
        given = {"--congestion": self.congestion, "--card": self.card}
        return [text for option, value in given.items() if value for text in (option, value)]


OWN = Replacements()
"""No replacements: the scheme's own congestion control, and a FIFO in the card."""


@dataclass
class Testbed(Executor):
    """Executor that does runs of a scenario on the kernel's TCP, one at a time.

    A run in which the testbed does not keep time is repeated, at most `attempts` times.
    """

    scenario: str | Path
    """Name of a shipped scenario, or path of a scenario file."""
    choice: Replacements = OWN
    attempts: int = ATTEMPTS
    kernel: Kernel = THIS_KERNEL
    on_result: Callable[[Result], object] = bool
    """Called with the result of each run when the run has ended."""
    _stored: dict[str, Account] = field(default_factory=dict)
    """Accounts of stored runs by run key."""

    def fits(self, stored: Result) -> bool:
        """True if the testbed kept time in a stored run. Otherwise, the run is repeated, and the new run counts."""
        self._stored[stored.key] = stored.meta["testbed"]
        return is_trustworthy(stored)

    def outcomes(self, runs: Iterable[Run], *, tables: bool = False, watch: Watch | None = None) -> Outcomes:
        """Does all runs, one after the other."""
        for run in runs:
            try:
                result = self._measured(run)
                self.on_result(result)
            except Exception as error:
                result = Result.failed(run, error)
            yield run, result
            if watch:
                watch(())

    def check(self, run: Run) -> None:
        """Raises an error if the run could not start on this computer's kernel.

        One reason is that another testbed runs with the same congestion control.
        """
        if self.kernel is THIS_KERNEL:  # each run in a virtual machine has the machine to itself
            _run(self.kernel, self.scenario, [*self._arguments(run), "--check"])

    def store_in(self, directory: Path) -> Store:
        """Store for runs with these replacements, kernel and program, below a directory."""
        chosen = [text for text in (self.choice.congestion, self.choice.card) if text]
        return Store(directory / "-".join(["kernel", self.kernel.identity[:KEY_LENGTH], *chosen]))

    def answer(self, runs: Sequence[Run], store: Store | None = None, progress: Progress | None = None) -> list[Result]:
        """Results of runs. Runs in the store in which the testbed kept time are reused; all others are done."""
        return Runner(self, store, progress, holds=True).answer(once(Wanted(runs, fits=self.fits)))

    def _measured(self, run: Run) -> Result:
        arguments, before = self._arguments(run), self._stored.get(run.key)
        tried, late = (before["attempts"], [*before["late"]]) if before else (0, [])
        for _ in range(self.attempts):
            tried, document = tried + 1, json.loads(_run(self.kernel, self.scenario, arguments))
            if document["testbed"]["verdict"] == ON_TIME:
                break
            late.append(document["testbed"]["verdict"])
        tables = {
            name: pl.DataFrame({column: pl.Series(values, dtype=KINDS[kind]) for column, kind, values in columns})
            for name, columns in document["tables"].items()
        }
        try:
            for name in TABLES:
                check_columns(name, tables[name])
        except ValueError as error:  # the columns of another version of the program
            raise MissingRequirement(f"{PROGRAM} is of another version ({error}); {HOW_TO_GET}") from error
        meta: Meta = document["meta"]
        meta["testbed"] = account = document["testbed"]
        account["attempts"], account["late"] = tried, late
        origin = run.provenance(meta["digest"], float(meta["end_s"]))
        origin["build"] += f" on {self.kernel.name}"  # no reader takes the run for a simulated one
        return Result.of(origin, tables, meta, run)

    def _arguments(self, run: Run) -> list[str]:
        """Arguments of the program for a run, without the scenario."""
        arguments = ["--scheme", run.scheme.name, "--seed", str(run.seed)]
        for key, value in run.at.items():
            arguments += ["--set", f"{key}={value}"]
        return arguments + self.choice.options


def is_trustworthy(result: Result) -> bool:
    """True if the testbed kept time."""
    return result.meta["testbed"]["verdict"] == ON_TIME


def real_runs(found: Results, scheme: str | None = None) -> list[Result]:
    """All runs on the testbed in the order of their seeds; with `scheme`, only runs of this scheme.

    Runs in which the testbed did not keep time are included. A comparison has them as superseded runs.
    """
    runs = [run for run in (*found.done, *found.superseded) if "testbed" in run.meta and scheme in (None, run.scheme)]
    return sorted(runs, key=lambda run: run.seed)


def accounts(found: Results) -> list[Account]:
    """Account of each run on the testbed, with the run's seed and RTT."""
    return [{"seed": run.seed, "rtt": run.at.get(RTT), **run.meta["testbed"]} for run in real_runs(found)]


def kept_time(runs: Sequence[Result]) -> str:
    """Text with the number of runs in which the testbed kept time, such as `9 of 10`."""
    return f"{sum(map(is_trustworthy, runs))} of {len(runs)}"


def linux_settings(scenario: str | Path, scheme: str, settings: Settings) -> dict[str, str]:
    """The settings, and those of Linux's TCP and transport that neither the scenario nor the settings have."""
    of_scheme = {key: value for key, value in LINUX_SCHEME.items() if Scheme.accepts(scheme, key)}
    chosen = {key: str(value) for key, value in settings.items()}
    return {**_left_open(scenario, LINUX_TCP), **of_scheme, **chosen}


def _left_open(scenario: str | Path, settings: Mapping[str, str]) -> dict[str, str]:
    """The settings whose keys the scenario leaves at their defaults."""
    said = {setting["key"] for setting in load_scenario(scenario).resolved() if not is_default(setting)}
    return {key: value for key, value in settings.items() if key not in said}


def drawn_rtt(scenario: str | Path, seed: int) -> str | None:
    """RTT drawn by the seed, within `RTT_SPREAD` of the scenario's RTT; None if the scenario has no RTT."""
    values = {setting["key"]: setting["value"] for setting in load_scenario(scenario).resolved()}
    nominal = parse(values.get(RTT, ""))
    if not nominal:
        return None
    nominal_ns = nominal.number * nominal.factor * 1e9
    share = random.Random(f"testbed round trip {seed}").uniform(-RTT_SPREAD, RTT_SPREAD)
    return f"{round(nominal_ns * (1 + share))}ns"


def with_drawn_rtt(scenario: str | Path, seed: int, settings: dict[str, str]) -> dict[str, str]:
    """The settings, with the RTT drawn by the seed unless they have an RTT."""
    rtt = None if RTT in settings else drawn_rtt(scenario, seed)
    return {RTT: rtt, **settings} if rtt else settings


def side_by_side(
    bed: Testbed,
    scheme: str,
    seeds: Sequence[int],
    settings: Settings,
    *,
    simulated: Settings | None = None,
    store: Store | None = None,
    progress: Progress | None = None,
) -> Results:
    """Runs of a scenario in the simulator and on the testbed, with the same flows and, for each seed, the same RTT.

    The schemes of the result are `SIMULATED` and `REAL`. The settings `simulated` are for the simulator alone. Runs in
    which the testbed did not keep time are superseded, and have no simulated counterpart.
    """
    common = linux_settings(bed.scenario, scheme, settings)
    of_simulator = {**_left_open(bed.scenario, LIKE_TESTBED), **(simulated or {})}
    loaded = load_scenario(bed.scenario)
    plan = Plan(loaded, [scheme])
    drawn = {seed: with_drawn_rtt(bed.scenario, seed, common) for seed in seeds}
    found = bed.answer([run for seed in seeds for run in plan.runs([seed], drawn[seed])], store, progress)
    real = [result.alone().named(REAL) for result in found]
    kept = [result for result in real if is_trustworthy(result)]
    works = [
        run for each in kept for run in plan.runs([each.seed], dict(as_pairs({**of_simulator, **drawn[each.seed]})))
    ]
    other = Runner().do(Wanted(works, tables=False))
    done = [each for pair in zip(other, kept, strict=True) for each in (pair[0].named(SIMULATED), pair[1])]
    changed = {"scheme": scheme, **dict(as_pairs(settings))}
    late = [result for result in real if not is_trustworthy(result)]
    return Results(done, loaded.name, loaded.title, changed, superseded=late)


def known_differences(comparison: Results, scheme: str) -> list[str]:
    """Sentences on known differences between the kernel's TCP and the simulator that matter for a comparison."""
    reasons = []
    names = ("drops", "retransmits")
    if any(comparison.values(side, name).get(seed) for side in BOTH for name in names for seed in comparison.seeds):
        reasons.append(
            "the kernel undoes window reductions that prove needless, and the simulator does not"
            if comparison.settings.get("transport.recovery", LINUX_SCHEME["transport.recovery"]) == "rack"
            else "the kernel detects losses by time and by probes, which it also sends without losses (RFC 8985), and"
            " reduces the window proportionally (RFC 6937); the simulator does so only with transport.recovery=rack"
        )
    (loaded,) = load_schemes([scheme])
    default = {key: value for key, value, _ in loaded.resolved()}.get("priority.by", "none")
    number = comparison.settings.get("priority.by", default)
    if number not in OF_SIX_BITS and comparison.settings.get("tcp.header") not in OF_IPV6:
        reasons.append(
            "over IPv4, the kernel's packets carry their priority in six bits (four values per doubling), and the"
            " simulator's packets carry the exact number; priority.by=size-dscp gives the simulator the same six "
            "bits, and tcp.header=72B gives the kernel's packets twenty bits (IPv6)"
        )
    if scheme == "tcp-ecn":
        reasons.append(
            "the kernel's Reno takes a round trip to halve its window after a mark (RFC 6937); if the queue stays "
            "above K meanwhile, Reno halves again"
        )
    if scheme == "cubic":
        reasons.append(
            "the kernel's CUBIC leaves slow start by HyStart, which the virtual machine turns off; the simulator's "
            "CUBIC leaves slow start at a loss"
        )
    return reasons


def _run(kernel: Kernel, scenario: str | Path, arguments: Sequence[str]) -> str:
    """Output of the program. Exit code 1 means that the testbed did not keep time, and is no error.

    Raises `ConfigError` for exit code 2, and `MissingRequirement` for all others.
    """
    done = kernel.run(path_of(str(scenario)), arguments)
    if done.returncode == ExitCode.FINE or (done.returncode == ExitCode.CLAIM_FAILED and done.stdout):
        return done.stdout
    message = done.stderr.strip() or f"{PROGRAM}: ended with code {done.returncode}"
    raise ConfigError(message) if done.returncode == 2 else MissingRequirement(message)
