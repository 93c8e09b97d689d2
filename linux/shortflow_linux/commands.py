"""`linux`: the schemes on real Linux: measurements, and the commands of the program `shortflow-linux`."""

import json as formats
import os
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from shortflow import ConfigError, MissingRequirement
from shortflow.api.commands import (
    COMMANDS,
    Answer,
    Arg,
    Command,
    CommandGroup,
    Opt,
    built,
    command,
    load_added,
    note,
    note_about,
    note_faults,
    reporting,
    shell_command,
)
from shortflow.api.commands import options as given
from shortflow.api.errors import did_you_mean
from shortflow.api.files import Kind, write_text
from shortflow.api.judge import Verdict
from shortflow.api.metrics import (
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
from shortflow.api.numbers import counted
from shortflow.api.pages import Block, Words, comparison_blocks, metrics_of, notes_on_results, results_table, unfinished
from shortflow.api.runs import Account, Plan, Results
from shortflow.api.scenarios import as_pairs, load_scenario
from shortflow_linux import agreement as study
from shortflow_linux import testbed
from shortflow_linux.given import AllowLate, Attempts, Virtual, chosen, exit_code
from shortflow_linux.kernels import PROGRAM, program
from shortflow_linux.testbed import ATTEMPTS, Replacements, Testbed

HEADLINES = (
    *(MEAN_FCT, FCT[95], TASK_TIMES[95], GOODPUT, THROUGHPUT),
    *(QUEUE_MEAN["pkt"], UTILISATION, MARKS),
    *(DROPS, RETRANSMITS, TIMEOUTS),
)
"""Metrics of a testbed run: completion and throughput of each class, then the network, without size bins."""

_SchemeName = Annotated[str, given.SCHEME]
Congestion = Annotated[str | None, Opt("Congestion control of the kernel to use instead of the scheme's.", "NAME")]
Card = Annotated[str | None, Opt("Queue in the hosts' network cards instead of a FIFO: fq or fq_codel.", "NAME")]


@command
def on_testbed(
    scenario: given.NamedScenario,
    scheme: _SchemeName = "dctcp",
    seed: given.Seed = 1,
    *,
    congestion: Congestion = None,
    card: Card = None,
    settings: given.Settings = None,
    attempts: Attempts = ATTEMPTS,
    allow_late: AllowLate = False,
    virtual: Virtual = False,
    progress: given.Progress = None,
) -> Answer:
    """Run a scenario on the kernel's TCP, in network namespaces. Needs root, or --virtual.

    The seed draws the round-trip time, within 5 % of the scenario's, unless --set gives it. The exit code is 1 if the
    testbed did not keep time.
    """
    drawn = testbed.with_drawn_rtt(scenario, seed, dict(as_pairs(settings)))
    loaded, bed = load_scenario(scenario), Testbed(scenario, Replacements(congestion, card), attempts, chosen(virtual))
    with reporting(f"{loaded.name}, {scheme}, on the testbed", progress) as bar:
        (measured,) = bed.answer(Plan(loaded, [scheme]).runs([seed], drawn), progress=bar)
    account = measured.meta["testbed"]
    comparison = Results([measured], loaded.name, loaded.title, drawn)
    note_faults(measured.meta["drops"])
    note_about([*notes_on_results(comparison), *filter(None, [unfinished(comparison)])])
    _note_late(account, "")
    code = exit_code(testbed.is_trustworthy(measured), allow_late, virtual)
    return Answer(
        lambda: {**results_table(comparison), "testbed": account},
        [*comparison_blocks(comparison), Words(_account(account))],
        code,
    )


@command
def compare_sim(
    scenario: given.NamedScenario,
    scheme: _SchemeName = "dctcp",
    seeds: given.Seeds = 3,
    *,
    congestion: Congestion = None,
    card: Card = None,
    settings: given.Settings = None,
    attempts: Attempts = ATTEMPTS,
    allow_late: AllowLate = False,
    virtual: Virtual = False,
    progress: given.Progress = None,
) -> Answer:
    """Compare a simulation with the kernel's TCP, on the same flows. Needs root, or --virtual.

    Runs that did not keep time are repeated and enter no average. If they fail --attempts times, the exit code is 1.
    Each seed draws its round-trip time, within 5 % of the scenario's, unless --set gives it.
    """
    bed = Testbed(scenario, Replacements(congestion, card), attempts, chosen(virtual))
    with reporting(f"{load_scenario(scenario).name}, {scheme}, on both", progress) as bar:
        both = testbed.side_by_side(bed, scheme, range(1, seeds + 1), settings or {}, progress=bar)
    reasons = testbed.known_differences(both, scheme)
    note_about([*notes_on_results(both), *filter(None, [unfinished(both)])])
    kept, accounts = len(both.seeds), testbed.accounts(both)
    code = exit_code(kept == seeds, allow_late, virtual)

    def document() -> dict[str, Any]:
        found = results_table(both)
        found.pop("answer", None)  # a winner between kernel and simulator would mean nothing
        agreed = {"agreement": _agreement(both)} if both.runs else {}
        return {**found, **agreed, "kept_time": kept, "testbed": accounts, "known_differences": reasons}

    return Answer(document, _side_by_side(both, reasons), code)


def _agreement(both: Results) -> dict[str, Any]:
    """Relative differences of the simulator from the kernel by metric, with aims, intervals and verdicts."""
    compared = [metric for metric in metrics_of(both, *HEADLINES) if not study.says_nothing(both, metric)]
    found = {metric: both.relation(testbed.SIMULATED, testbed.REAL, metric.name) for metric in compared}
    differences = {metric: difference for metric, difference in found.items() if difference}
    standing = {metric.name: study.standing(metric, difference) for metric, difference in differences.items()}
    named = {verdict: [name for name, each in standing.items() if each is verdict] for verdict in study.STANDINGS}
    return {
        "tolerance": {metric.name: study.aim_of(metric) for metric in differences},
        "difference": {metric.name: difference.value for metric, difference in differences.items()},
        "interval": {metric.name: difference.ci95 for metric, difference in differences.items()},
        "standing": {name: study.STANDINGS[verdict] for name, verdict in standing.items()},
        **{study.STANDINGS[verdict]: names for verdict, names in named.items()},
    }


def _in_words(both: Results) -> str:
    """Sentences on the agreement of simulation and kernel."""
    found = _agreement(both)
    differences = found["difference"]
    if not differences:
        return "Simulation and kernel have no metric in common."
    labels = {
        metric.name: " ".join(filter(None, (metric.label, metric.flow_class)))
        for metric in metrics_of(both, *HEADLINES)
    }

    def listed(names: list[str]) -> str:
        return "; ".join(f"{labels[name]} {_difference(differences[name], found['interval'][name])}" for name in names)

    aim = f"within {study.AIM:.0%} (marks: {study.AIM_OF_MARKS:.0%})".replace("%", " %")
    sentences = [
        f"The simulation agrees with the kernel {aim} in {len(found['within'])} of {len(differences)} metrics: "
        "there the whole 95 % interval of the relative difference is within."
    ]
    if found["outside"]:
        sentences.append(f"Outside: {listed(found['outside'])}.")
    if found["undecided"]:
        few = f" A verdict takes at least {study.LEAST_SEEDS} seeds." if len(both.seeds) < study.LEAST_SEEDS else ""
        sentences.append(f"Undecided: {listed(found['undecided'])}. More seeds narrow the intervals.{few}")
    return " ".join(sentences)


def _difference(value: float, interval: tuple[float, float] | None) -> str:
    shown = f"{value:+.1%}"
    if interval:
        shown += f" [{interval[0]:+.1%}, {interval[1]:+.1%}]"
    return shown.replace("%", " %")


def _side_by_side(both: Results, reasons: list[str]) -> Iterator[Block]:
    if both.runs:
        yield Words(_in_words(both))
        yield from comparison_blocks(both, metrics_of(both, *HEADLINES))
    yield Words(f"The testbed kept time in {testbed.kept_time(testbed.real_runs(both))} seeds.")
    if reasons:
        yield Words("\n".join(f"Known difference: {reason}." for reason in reasons))
    for account in testbed.accounts(both):
        _note_late(account, f"seed {account['seed']}, ")
        note(f"seed {account['seed']}, attempt {account['attempts']}: {_account(account)}")


def _note_late(account: Account, seed: str) -> None:
    """Prints the reason why each earlier attempt did not keep time."""
    for attempt, verdict in enumerate(account["late"][: account["attempts"] - 1], 1):
        note(f"{seed}attempt {attempt}: {verdict}")


def _micros(seconds: float) -> str:
    return f"{seconds * 1e6:,.{0 if seconds >= 1e-5 else 2}f} µs"


def _account(account: Account) -> str:
    of_frames, stalls, of_hosts = account["timing_error_s"], account["stalls"], account["host_stalls"]
    return (
        f"Testbed with {account['congestion']}: {account['verdict']}. Frames were late by {_micros(of_frames['p50'])} "
        f"(median), {_micros(of_frames['p99'])} (p99) and {_micros(of_frames['max'])} (maximum). More than "
        f"{_micros(stalls['limit_s'])} late were the switch {counted(int(stalls['count']), 'time')} and the hosts' "
        f"thread {counted(int(of_hosts['count']), 'time')}. The switch was busy for {100 * account['busy']:.0f} % of "
        "the time."
    )


@command
def agreement(
    rows: Annotated[
        Sequence[str] | None,
        Arg(
            "Rows of the tables to measure, such as 'messages, fq', or one-host for the second table (default: all).",
            "ROW",
            many=True,
        ),
    ] = None,
    *,
    seeds: given.Seeds = 10,
    out: given.KeptIn = Path("results/agreement"),
    attempts: Attempts = ATTEMPTS,
    allow_late: AllowLate = False,
    virtual: Virtual = False,
) -> Answer:
    """Compare simulator and kernel on all testbed scenarios, or on named rows.

    The measurement needs root and takes almost an hour. With --virtual it needs no root and takes hours.

    The command writes agreement.md (the table) and agreement.json (everything). Each run is stored when it ends; the
    same command resumes. The aim: the whole 95 % interval of a difference is within 5 % for completion times, goodput
    and queue, and within 10 % for marks. The command names the numbers outside the aim and the undecided numbers. The
    exit code is 1 if a run did not keep time.
    """
    out = Path(out)
    found = study.measure_agreement(_chosen_rows(rows), range(1, seeds + 1), out, attempts, chosen(virtual))
    document = found.document()
    table = study.agreement_tables(document)
    write_text(out / "agreement.md", table, Kind.TABLE)
    write_text(out / "agreement.json", formats.dumps(document, indent=1) + "\n", Kind.AGREEMENT)
    for verdict, said in ((Verdict.DIFFERS, "outside the aim"), (Verdict.UNDECIDED, "undecided")):
        for each in found.named(verdict):
            note(f"{said}: {each}")
    kept_time = not any(cell.superseded for cell in found.cells.values())
    return Answer(lambda: document, [Words(table)], exit_code(kept_time, allow_late, virtual))


def _chosen_rows(names: Sequence[str] | None) -> list[str]:
    """Rows with these names or of these groups (default: all). Raises an error for an unknown name."""
    rows = [row for name in names or () for row in study.GROUPS.get(name, [name])]
    for row in rows:
        if row not in study.CELLS:
            known = [*study.GROUPS, *study.CELLS]
            meant = did_you_mean(row, known)
            raise ConfigError(f"ROW: unknown row {row!r}; expected one of {', '.join(map(repr, known))}{meant}")
    return rows or list(study.CELLS)


HANDED_ON = {
    "check": "List the features that this host supports and lacks.",
    "load": "Register the congestion controls with the kernel.",
    "unload": "Remove the congestion controls from the kernel.",
    "status": "Show the loaded congestion controls and their connections.",
    "class": "Assign TCP ports to short and long flows.",
    "dscp": "Set the priority (DSCP or flow label) of packets that leave a network device.",
    "cleanup": "Remove what killed commands left behind.",
    "completions": "Print a completion script of shortflow-linux for a shell.",
}
"""Commands of the program `shortflow-linux`, which have their own options and help."""

FROM_PACKAGES = ("fig14",)
"""Commands that other packages add."""
ANY_ARGUMENTS = {"allow_extra_args": True, "ignore_unknown_options": True}


class LinuxCommands(CommandGroup):
    """Group of the commands of this package, of other packages, and of the program."""

    def list_commands(self, _: Any) -> list[str]:
        """Names of all commands in the order of the help: measurements, commands of packages, program's commands."""
        ours = [name for name in self.commands if name not in HANDED_ON]
        return [*ours, *FROM_PACKAGES, *HANDED_ON]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of this name, or None. If the command's package is missing, the command's error names it."""
        if cmd_name not in FROM_PACKAGES:
            return super().get_command(ctx, cmd_name)
        try:
            return built(cmd_name, load_added(COMMANDS, f"linux.{cmd_name}"))
        except MissingRequirement as error:
            return TyperCommand(
                cmd_name, callback=partial(_refuse, error), help=f"{error}.", context_settings=ANY_ARGUMENTS
            )


def _refuse(error: MissingRequirement) -> None:
    raise error


group = typer.Typer(
    name="linux",
    cls=LinuxCommands,
    add_completion=False,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for _command in (on_testbed, compare_sim, agreement):
    _name = _command.__name__.removeprefix("on_").replace("_", "-")
    group.command(_name, cls=Command)(shell_command(_command))


def _become(*arguments: str) -> None:
    """Replaces this process by the program `shortflow-linux`."""
    sys.stdout.flush()
    os.execv(program(), [PROGRAM, *arguments])


def _print_version(wanted: bool) -> None:
    if wanted:
        _become("--version")


VERSION = typer.Option(
    "--version", callback=_print_version, is_eager=True, help="Print the version of shortflow-linux."
)


@group.callback()
def linux(print_version: Annotated[bool, VERSION] = False) -> None:
    """Run and measure the schemes on real Linux."""


def _hand_on(context: typer.Context) -> None:
    _become(str(context.info_name), *context.args)


for _name, _help in HANDED_ON.items():
    group.command(_name, help=_help, context_settings=ANY_ARGUMENTS, add_help_option=False)(_hand_on)
