"""`linux testbed` and `linux compare-sim`: scenarios on the kernel's TCP."""

from collections.abc import Iterator
from typing import Annotated

from rich.console import RenderableType

from shortflow._core import Scheme
from shortflow.errors import ExitCode
from shortflow.front import options as given
from shortflow.front.command import Answer, Opt, command
from shortflow.front.console import note, note_about, note_faults
from shortflow.front.progress import told
from shortflow.linux import testbed
from shortflow.linux.kernels import Kernel
from shortflow.linux.virtual import VirtualKernel
from shortflow.metrics import catalogue
from shortflow.records import Account
from shortflow.report.tables import comparison_tables, metrics_of
from shortflow.results import Results
from shortflow.scenario import as_pairs, load_scenario

HEADLINES = (
    *(catalogue.MEAN_FCT, catalogue.FCT[95], catalogue.TASK_TIMES[95], catalogue.GOODPUT, catalogue.THROUGHPUT),
    *(
        catalogue.QUEUE_MEAN,
        catalogue.UTILISATION,
        catalogue.MARKS,
        catalogue.DROPS,
        catalogue.RETRANSMITS,
        catalogue.TIMEOUTS,
    ),
)
"""Completion and throughput of every class, then the network; without sizes bin by bin."""

FLOOR = "transport.cwnd_floor"
"""The least window, in segments: the one parameter with another default in the kernel."""

OF_COMPUTER = "close other programs, or use --virtual"
OF_MACHINE = "the virtual machine is too slow for it: lower the rates, and start fewer flows at once"
"""What to do where it did not keep time."""

SchemeName = Annotated[str, given.SCHEME]
Congestion = Annotated[str | None, Opt("The kernel's congestion control, in place of the scheme's own.", "NAME")]
Card = Annotated[str | None, Opt("The kernel's queue in the hosts' cards, in place of a FIFO: fq or fq_codel.", "NAME")]
Attempts = Annotated[int, given.whole("Try a run at most this often, until the testbed keeps time.")]
AllowLate = Annotated[bool, Opt("Exit with 0 also where the testbed did not keep time in the end.")]
Virtual = Annotated[
    bool,
    Opt(
        "Use the kernel of a virtual machine (`make machine`), whose clock waits for it: slow, but always on time,"
        " and without root."
    ),
]


@command
def on_testbed(
    scenario: given.NamedScenario,
    scheme: SchemeName = "dctcp",
    seed: given.Seed = 1,
    *,
    congestion: Congestion = None,
    card: Card = None,
    settings: given.Settings = None,
    attempts: Attempts = testbed.ATTEMPTS,
    allow_late: AllowLate = False,
    virtual: Virtual = False,
    progress: given.Progress = None,
) -> Answer:
    """Run a scenario on the kernel's TCP, in network namespaces. Needs root, or --virtual.

    The round trip is drawn by the seed, up to 5 % from the scenario's, unless it is set. The exit code is 1 if the
    testbed did not keep time.
    """
    drawn = testbed.with_drawn_rtt(scenario, seed, dict(as_pairs(settings)))
    loaded = load_scenario(scenario)
    with told(f"{loaded.name}, {scheme}, on the testbed", progress) as bar:
        if bar:
            bar(0.0, 0, 1)
        measured = testbed.measure_on_testbed(
            scenario, scheme, seed, drawn, testbed.Choice(congestion, card), attempts=attempts, kernel=chosen(virtual)
        )
    account = measured.meta["testbed"]
    comparison = Results([measured], loaded.name, loaded.title, drawn)
    if FLOOR not in drawn and not congestion and Scheme.accepts(scheme, FLOOR):
        note(f"{FLOOR}=1, as in simulations; `load` and `compare-sim` have 2 (--set {FLOOR}=2)")
    note_faults(measured.meta["drops"])
    note_about(comparison)
    _note_late(account, "")
    code = exit_code(testbed.is_trustworthy(account), allow_late, virtual)
    return Answer(
        lambda: {**comparison.document(), "testbed": account},
        (each for each in (comparison_tables(comparison), _account(account))),
        code,
    )


@command
def compare_sim(
    scenario: given.NamedScenario,
    scheme: SchemeName = "dctcp",
    seeds: given.Seeds = 3,
    *,
    congestion: Congestion = None,
    card: Card = None,
    settings: given.Settings = None,
    attempts: Attempts = testbed.ATTEMPTS,
    allow_late: AllowLate = False,
    virtual: Virtual = False,
    progress: given.Progress = None,
) -> Answer:
    """Run a scenario simulated and on the kernel's TCP, with the same flows, side by side. Needs root, or --virtual.

    Runs in which the testbed did not keep time are repeated, and enter no average; the exit code is 1 if that did not
    help. The round trip of each seed is drawn, up to 5 % from the scenario's, unless it is set.
    """
    every = range(1, seeds + 1)
    with told(f"{load_scenario(scenario).name}, {scheme}, on both", progress) as bar:
        both = testbed.compare_with_simulation(
            scenario,
            scheme,
            every,
            settings or {},
            testbed.Choice(congestion, card),
            bar,
            attempts=attempts,
            kernel=chosen(virtual),
        )
    comparison = both.comparison
    reasons = testbed.known_differences(comparison, scheme)
    note_about(comparison)
    of_testbed = {"kept_time": both.kept, "testbed": both.accounts, "known_differences": reasons}
    code = exit_code(both.kept == seeds, allow_late, virtual)
    return Answer(lambda: {**comparison.document(), **of_testbed}, _side_by_side(both, reasons), code)


def _side_by_side(both: testbed.SideBySide, reasons: list[str]) -> Iterator[RenderableType]:
    if both.comparison.runs:
        yield comparison_tables(both.comparison, metrics_of(both.comparison, *HEADLINES))
    yield f"The testbed: {both.kept_time}.\n"
    if reasons:
        yield "\n".join(f"Known difference: {reason}." for reason in reasons) + "\n"
    for account in both.accounts:
        _note_late(account, f"seed {account['seed']}, ")
        note(f"seed {account['seed']}, attempt {account['attempts']}: {_account(account)}")


def chosen(virtual: bool) -> Kernel:
    """The kernel that an option asks for."""
    return VirtualKernel() if virtual else testbed.THIS_KERNEL


def exit_code(is_on_time: bool, allow_late: bool, virtual: bool) -> ExitCode:
    """1 where the testbed did not keep time, unless that is allowed; then says what helps."""
    if is_on_time:
        return ExitCode.FINE
    note(f"the testbed did not keep time: {OF_MACHINE if virtual else OF_COMPUTER}")
    return ExitCode.FINE if allow_late else ExitCode.CLAIM_FAILED


def _note_late(account: Account, seed: str) -> None:
    """Why attempts before the last did not keep time."""
    for attempt, verdict in enumerate(account["late"][: account["attempts"] - 1], 1):
        note(f"{seed}attempt {attempt}: {verdict}")


def _micros(seconds: float) -> str:
    return f"{seconds * 1e6:,.{0 if seconds >= 1e-5 else 2}f} µs"


def _account(account: Account) -> str:
    of_frames, stalls, of_hosts = account["timing_error_s"], account["stalls"], account["host_stalls"]
    return (
        f"Testbed with {account['congestion']}: {account['verdict']}; frames late by"
        f" {_micros(of_frames['p50'])} (median), {_micros(of_frames['p99'])} (p99), {_micros(of_frames['max'])} (max);"
        f" more than {_micros(stalls['limit_s'])} late: the switch {stalls['count']} times, the hosts' thread"
        f" {of_hosts['count']} times; switch busy {account['busy']:.0%}"
    )
