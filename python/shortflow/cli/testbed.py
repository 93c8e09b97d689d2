"""`shortflow linux testbed` and `compare-sim`: scenarios on the kernel's TCP."""

from collections.abc import Sequence
from typing import Annotated

import typer

from shortflow._core import Scheme
from shortflow.cli.console import note_faults, note_unfinished, print_json, print_note, print_result, progress_bar
from shortflow.cli.options import Json, ScenarioName, Seeds, SetValues, parse_settings, whole_number
from shortflow.comparison import Comparison
from shortflow.records import Account
from shortflow.runner import summary
from shortflow.scenario import load_scenario
from shortflow.tables import comparison_tables
from shortflow.testbed import compare_with_simulation, known_differences, measure_on_testbed

HEADLINES = ("afct_", "p95_", "goodput_", "throughput_")
NETWORK = ("queue_mean_pkt", "utilisation", "marks", "drops", "retransmits", "timeouts")

FLOOR = "transport.cwnd_floor"
"""The least window, in segments: the one parameter with another default in the kernel."""

Congestion = Annotated[
    str | None, typer.Option(metavar="NAME", help="The kernel's congestion control, in place of the scheme's own.")
]
SchemeName = Annotated[str, typer.Option(help="Queues and congestion control (`shortflow list schemes`).")]


def run_on_testbed(
    scenario: ScenarioName,
    scheme: SchemeName = "dctcp",
    seed: Annotated[int, typer.Option(metavar="NUMBER", parser=whole_number(0), help="Seed of all random draws.")] = 1,
    congestion: Congestion = None,
    set_values: SetValues = None,
    json: Json = False,
) -> None:
    """Run a scenario once on the kernel's TCP, in network namespaces. Needs root."""
    settings = parse_settings(set_values)
    loaded = load_scenario(scenario)
    with progress_bar(f"{loaded.name}, {scheme}, on the testbed") as progress:
        progress(0.0, 0, 1)
        measured = measure_on_testbed(scenario, scheme, seed, settings, congestion)
    comparison = Comparison(loaded.name, loaded.title, settings, [summary(measured.result)])
    if FLOOR not in settings and not congestion and Scheme.accepts(scheme, FLOOR):
        print_note(f"{FLOOR}=1, as in simulations; `load` and `compare-sim` have 2 (--set {FLOOR}=2)")
    note_faults(measured.result.meta["drops"])
    note_unfinished(comparison)
    if json:
        print_json({**comparison.document(), "testbed": measured.account})
    else:
        print_result(comparison_tables(comparison))
        print_result(_account(measured.account))


def compare_sim(
    scenario: ScenarioName,
    scheme: SchemeName = "dctcp",
    seeds: Seeds = 3,
    congestion: Congestion = None,
    set_values: SetValues = None,
    json: Json = False,
) -> None:
    """Run a scenario simulated and on the kernel's TCP, with the same flows, side by side. Needs root."""
    settings = parse_settings(set_values)
    every = range(1, seeds + 1)
    with progress_bar(f"{load_scenario(scenario).name}, {scheme}, on both") as progress:
        comparison, accounts = compare_with_simulation(scenario, scheme, every, settings, congestion, progress)
    reasons = known_differences(comparison, scheme)
    note_unfinished(comparison)
    if json:
        print_json({**comparison.document(), "testbed": accounts, "known_differences": reasons})
        return
    print_result(comparison_tables(comparison, _headlines(comparison)))
    if reasons:
        print_result("\n".join(f"Known difference: {reason}." for reason in reasons) + "\n")
    for seed, account in zip(comparison.seeds, accounts, strict=True):
        print_note(f"seed {seed}: {_account(account)}")


def _headlines(comparison: Comparison) -> Sequence[str]:
    """Completion and throughput of every class, then the network; without sizes bin by bin."""
    names = comparison.metric_names
    of_classes = [name for start in HEADLINES for name in names if name.startswith(start) and "kb_" not in name]
    return [*of_classes, *(name for name in NETWORK if name in names)]


def _account(account: Account) -> str:
    of_frames = account["lateness_s"]
    late = {"p50": of_frames["p50"], "p99": of_frames["p99"], "max": of_frames["max"]}
    micros = {name: f"{seconds * 1e6:,.0f} µs" for name, seconds in late.items()}
    return (
        f"Testbed with {account['congestion']}: {account['verdict']}; frames late by {micros['p50']} (median),"
        f" {micros['p99']} (p99), {micros['max']} (max); switch busy {account['busy']:.0%}"
    )
