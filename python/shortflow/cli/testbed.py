"""`shortflow linux testbed` and `compare-sim`: scenarios on the kernel's TCP."""

from typing import Annotated

import typer

from shortflow._core import Scheme
from shortflow.cli.console import note_about, note_faults, print_json, print_note, progress_bar
from shortflow.cli.options import Json, ScenarioName, SchemeName, Seed, Seeds, SetValues, parse_settings, whole_number
from shortflow.cli.terminal import print_result
from shortflow.errors import ExitCode
from shortflow.linux.kernels import Kernel
from shortflow.linux.testbed import (
    ATTEMPTS,
    THIS_KERNEL,
    Choice,
    compare_with_simulation,
    is_trustworthy,
    known_differences,
    measure_on_testbed,
    with_drawn_rtt,
)
from shortflow.linux.virtual import VirtualKernel
from shortflow.metrics.catalogue import (
    DROPS,
    FCT,
    GOODPUT,
    MARKS,
    MEAN_FCT,
    QUEUE_MEAN,
    RETRANSMITS,
    TASK_TIMES,
    THROUGHPUT,
    TIMEOUTS,
    UTILISATION,
)
from shortflow.records import Account
from shortflow.report.tables import comparison_tables, metrics_of
from shortflow.results import Results
from shortflow.scenario import load_scenario

HEADLINES = (
    *(MEAN_FCT, FCT[95], TASK_TIMES[95], GOODPUT, THROUGHPUT),
    *(QUEUE_MEAN, UTILISATION, MARKS, DROPS, RETRANSMITS, TIMEOUTS),
)
"""Completion and throughput of every class, then the network; without sizes bin by bin."""

FLOOR = "transport.cwnd_floor"
"""The least window, in segments: the one parameter with another default in the kernel."""

OF_COMPUTER = "close other programs, or use --virtual"
OF_MACHINE = "the virtual machine is too slow for it: lower the rates, and start fewer flows at once"
"""What to do where it did not keep time."""

Congestion = Annotated[
    str | None, typer.Option(metavar="NAME", help="The kernel's congestion control, in place of the scheme's own.")
]
Card = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="The kernel's queue in the hosts' cards, in place of a FIFO: fq or fq_codel."),
]
Attempts = Annotated[
    int,
    typer.Option(
        metavar="NUMBER", parser=whole_number(1), help="Try a run at most this often, until the testbed keeps time."
    ),
]
AllowLate = Annotated[
    bool, typer.Option("--allow-late", help="Exit with 0 also where the testbed did not keep time in the end.")
]
Virtual = Annotated[
    bool,
    typer.Option(
        "--virtual",
        help="Use the kernel of a virtual machine (`make machine`), whose clock waits for it: slow, but always on time,"
        " and without root.",
    ),
]


def run_on_testbed(
    scenario: ScenarioName,
    scheme: SchemeName = "dctcp",
    seed: Seed = 1,
    congestion: Congestion = None,
    card: Card = None,
    set_values: SetValues = None,
    attempts: Attempts = ATTEMPTS,
    allow_late: AllowLate = False,
    virtual: Virtual = False,
    json: Json = False,
) -> int:
    """Run a scenario on the kernel's TCP, in network namespaces. Needs root, or --virtual.

    The round trip is drawn by the seed, up to 5 % from the scenario's, unless it is set. The exit code is 1 if the
    testbed did not keep time.
    """
    settings = with_drawn_rtt(scenario, seed, parse_settings(set_values))
    loaded = load_scenario(scenario)
    with progress_bar(f"{loaded.name}, {scheme}, on the testbed") as progress:
        progress(0.0, 0, 1)
        measured = measure_on_testbed(
            scenario, scheme, seed, settings, Choice(congestion, card), attempts=attempts, kernel=chosen(virtual)
        )
    comparison = Results([measured.result], loaded.name, loaded.title, settings)
    if FLOOR not in settings and not congestion and Scheme.accepts(scheme, FLOOR):
        print_note(f"{FLOOR}=1, as in simulations; `load` and `compare-sim` have 2 (--set {FLOOR}=2)")
    note_faults(measured.result.meta["drops"])
    note_about(comparison)
    _note_late(measured.account, "")
    if json:
        print_json({**comparison.document(), "testbed": measured.account})
    else:
        print_result(comparison_tables(comparison))
        print_result(_account(measured.account))
    return exit_code(is_trustworthy(measured.account), allow_late, virtual)


def compare_sim(
    scenario: ScenarioName,
    scheme: SchemeName = "dctcp",
    seeds: Seeds = 3,
    congestion: Congestion = None,
    card: Card = None,
    set_values: SetValues = None,
    attempts: Attempts = ATTEMPTS,
    allow_late: AllowLate = False,
    virtual: Virtual = False,
    json: Json = False,
) -> int:
    """Run a scenario simulated and on the kernel's TCP, with the same flows, side by side. Needs root, or --virtual.

    Runs in which the testbed did not keep time are repeated, and enter no average; the exit code is 1 if that did not
    help. The round trip of each seed is drawn, up to 5 % from the scenario's, unless it is set.
    """
    settings = parse_settings(set_values)
    every = range(1, seeds + 1)
    with progress_bar(f"{load_scenario(scenario).name}, {scheme}, on both") as progress:
        both = compare_with_simulation(
            scenario,
            scheme,
            every,
            settings,
            Choice(congestion, card),
            progress,
            attempts=attempts,
            kernel=chosen(virtual),
        )
    comparison = both.comparison
    reasons = known_differences(comparison, scheme)
    note_about(comparison)
    if json:
        document = {**comparison.document(), "kept_time": both.kept, "testbed": both.accounts}
        print_json({**document, "known_differences": reasons})
        return exit_code(both.kept == seeds, allow_late, virtual)
    if comparison.runs:
        print_result(comparison_tables(comparison, metrics_of(comparison, *HEADLINES)))
    print_result(f"The testbed: {both.kept_time}.\n")
    if reasons:
        print_result("\n".join(f"Known difference: {reason}." for reason in reasons) + "\n")
    for account in both.accounts:
        _note_late(account, f"seed {account['seed']}, ")
        print_note(f"seed {account['seed']}, attempt {account['attempts']}: {_account(account)}")
    return exit_code(both.kept == seeds, allow_late, virtual)


def chosen(virtual: bool) -> Kernel:
    """The kernel that an option asks for."""
    return VirtualKernel() if virtual else THIS_KERNEL


def exit_code(is_on_time: bool, allow_late: bool, virtual: bool) -> ExitCode:
    """1 where the testbed did not keep time, unless that is allowed; then says what helps."""
    if is_on_time:
        return ExitCode.FINE
    print_note(f"the testbed did not keep time: {OF_MACHINE if virtual else OF_COMPUTER}")
    return ExitCode.FINE if allow_late else ExitCode.CLAIM_FAILED


def _note_late(account: Account, seed: str) -> None:
    """Why attempts before the last did not keep time."""
    for attempt, verdict in enumerate(account["late"][: account["attempts"] - 1], 1):
        print_note(f"{seed}attempt {attempt}: {verdict}")


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
