"""Agreement of kernel and simulator: every testbed scenario with its schemes, side by side."""

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from shortflow import Estimate
from shortflow.api.commands import note
from shortflow.api.judge import Verdict, true_interval, verdict_of
from shortflow.api.metrics import FCT, GOODPUT, MARKS, MEAN_FCT, QUEUE_MEAN, TASK_TIMES, Metric, possible
from shortflow.api.numbers import counted
from shortflow.api.pages import Section, markdown, percent, phrase, results_table, text_section
from shortflow.api.runs import Plan, Results
from shortflow.api.scenarios import ALPHA, Settings, load_scenario
from shortflow_linux import testbed
from shortflow_linux.kernels import Kernel

ALPHA_ZERO: Settings = {ALPHA: "0"}
"""Initial alpha of the recorded runs."""
BOTH: dict[str, Settings] = {"dctcp": ALPHA_ZERO, "l2dct": ALPHA_ZERO}
CLASSES: dict[str, Settings] = {**BOTH, "xdctcp": ALPHA_ZERO}
WEIGHTS: dict[str, Settings] = {"atcp": {**ALPHA_ZERO, "transport.w_high": "2"}}
KERNELS: dict[str, Settings] = {"linux-dctcp": ALPHA_ZERO}
HOSTS: dict[str, Settings] = {**BOTH, **KERNELS, "cubic": {}}
LINUXS_OWN = {"linux-dctcp": "dctcp"}
"""Columns that compare the kernel's own congestion control with a scheme of the simulator: scheme by column."""


@dataclass(frozen=True)
class Setup:
    """Scenario, settings and card of a row of cells."""

    scenario: str
    settings: Settings = field(default_factory=dict)
    simulated: Settings = field(default_factory=dict)
    """Settings of the simulator alone."""
    card: str | None = None
    """Name of the kernel's queue in the hosts' cards; None for a FIFO."""


ONE_HOST: dict[str, Setup] = {
    "2 connections": Setup("testbed-one-host"),
    "8 connections": Setup("testbed-one-host", {"later": "7"}),
    "messages": Setup("testbed-one-host-messages"),
    "messages, fq": Setup("testbed-one-host-messages", {}, {"host.queue": "fair"}, "fq"),
    "messages, fq_codel": Setup("testbed-one-host-messages", {}, {"host.queue": "fair"}, "fq_codel"),
}
"""Rows in which connections share the measured card of their host. The simulator has DRR for fq and fq_codel."""
SHARES: dict[str, Setup] = {
    "stagger, 10 Mbps": Setup("testbed-stagger", {"topology.rate": "20Mbps", "topology.bottleneck": "10Mbps"}),
    "stagger, 30 Mbps": Setup("testbed-stagger"),
    "stagger, 80 Mbps": Setup("testbed-stagger", {"topology.rate": "160Mbps", "topology.bottleneck": "80Mbps"}),
    "same host": Setup("testbed-same-host"),
    "card": Setup("testbed-card"),
}
"""Rows in which connections of one host share a link, with the defaults of testbed and simulator."""
SETUPS = {**ONE_HOST, **SHARES}
CELLS: dict[str, Mapping[str, Settings]] = {
    "testbed-two-long": BOTH,
    "testbed-incast": BOTH,
    "testbed-short-long": CLASSES,
    "testbed-weights": {**CLASSES, **WEIGHTS},
    "testbed-three-long": BOTH,
    "testbed-narrow-incast": BOTH,
    "testbed-wide-incast": BOTH,
    "testbed-messages": {**CLASSES, **WEIGHTS},
    **{row: KERNELS if setup.card else HOSTS for row, setup in ONE_HOST.items()},
    **{row: {"dctcp": {}, "l2dct": {}, **({} if setup.settings else {"cubic": {}})} for row, setup in SHARES.items()},
}
"""Schemes of each row, with their settings. Rows with classes include xDCTCP; rows with two weights include ATCP."""
GROUPS = {"scenarios": [row for row in CELLS if row not in SETUPS], "one-host": [*ONE_HOST], "shares": [*SHARES]}
"""Rows of each table of docs/agreement.md."""
SLOWER: dict[str, Settings] = {
    name: {
        "topology.rate": "50Mbps",
        "topology.bottleneck": "25Mbps",
        "traffic.1.jitter": jitter,
        "traffic.1.every": every,
        "duration": duration,
    }
    for name, jitter, every, duration in (
        ("testbed-incast", "16ms", "400ms", "6s"),
        ("testbed-narrow-incast", "8ms", "800ms", "20s"),
        ("testbed-wide-incast", "40ms", "800ms", "20s"),
    )
}
"""Settings of incasts at a quarter of their rates, for kernels that take long to start many flows."""
TABLES = {
    "scenarios": ("dctcp", "l2dct", "xdctcp", "atcp"),
    "one-host": tuple(HOSTS),
    "shares": ("dctcp", "l2dct", "cubic"),
}
"""Columns of each table."""

AIM, AIM_OF_MARKS = 0.05, 0.10
"""Maximum relative difference of the kernel from the simulator: of most metrics, and of marks."""
COMPARED = (MEAN_FCT, FCT[95], TASK_TIMES[95], GOODPUT, QUEUE_MEAN["pkt"], MARKS)
"""Statistics that are compared."""
FLOW_CLASSES = ("short", "long", "small", "large", "first", "later")
"""Flow classes of all testbed scenarios."""
LEAST_SEEDS = 3
"""Minimum number of seeds for a verdict."""


STANDINGS = {Verdict.AGREES: "within", Verdict.DIFFERS: "outside", Verdict.UNDECIDED: "undecided"}
"""Text of each verdict: the 95 % interval lies within the aim or outside. Otherwise, or from few seeds: undecided."""


@dataclass(frozen=True)
class Agreement:
    """Comparisons of kernel and simulator, called cells, by scenario and scheme."""

    cells: Mapping[tuple[str, str], Results]
    slower: Container[str] = ()
    """Scenarios that ran at a quarter of their rates."""

    def named(self, verdict: Verdict) -> list[str]:
        """Texts `scenario scheme metric` for each metric with this verdict.

        A cell without data is undecided, with the text `no data` in place of a metric.
        """
        names = []
        for (scenario, scheme), cell in self.cells.items():
            found = {metric.name: each for metric, each in standings(cell).items()} or {"no data": Verdict.UNDECIDED}
            names += [f"{scenario} {scheme} {name}" for name, each in found.items() if each is verdict]
        return names

    def document(self) -> list[dict[str, Any]]:
        """All cells as plain data."""
        return [
            {
                "scenario": scenario,
                "scheme": scheme,
                "quarter_rates": scenario in self.slower,
                "host_queue": _host_queue(cell) if scenario in ONE_HOST else None,
                "comparison": results_table(cell),
                "standing": {metric.name: STANDINGS[found] for metric, found in standings(cell).items()},
                "kept_time": len(cell.seeds),
                "builds": builds(cell),
                "testbed": testbed.accounts(cell),
            }
            for (scenario, scheme), cell in self.cells.items()
        ]


def agreement_tables(cells: Sequence[dict[str, Any]]) -> str:
    """Tables of docs/agreement.md in Markdown, from an agreement's document.

    They have the kernel's relative difference from the simulator. Differences outside the aim are bold, and undecided
    differences have a question mark.
    """
    group_of = {row: group for group, rows in GROUPS.items() for row in rows}
    parts = {name: [cell for cell in cells if group_of.get(cell["scenario"], "scenarios") == name] for name in TABLES}
    return markdown(_section(part, TABLES[name]) for name, part in parts.items() if part)


def _section(part: Sequence[dict[str, Any]], schemes: Sequence[str]) -> Section:
    cells = {(cell["scenario"], cell["scheme"]): cell for cell in part}
    lines: list[Sequence[str]] = []
    titles = {name: phrase(metric) for name, metric in possible(FLOW_CLASSES).items()}
    for scenario in dict.fromkeys(scenario for scenario, _ in cells):
        found = [cells.get((scenario, scheme)) for scheme in schemes]
        metrics = dict.fromkeys(metric for cell in found if cell for metric in cell["standing"])
        rows = {titles[metric]: [_shown(cell, metric) if cell else "" for cell in found] for metric in metrics}
        if any(cell and cell.get("host_queue") for cell in found):
            rows["queue, packets on the kernel; simulated"] = [cell["host_queue"] if cell else "" for cell in found]
        rows["kept time"] = [_kept(cell) if cell else "" for cell in found]
        rates = ", at a quarter of its rates" if any(cell and cell["quarter_rates"] for cell in found) else ""
        for number, (metric, values) in enumerate(rows.items()):
            lines.append(("" if number else f"`{scenario}`{rates}", metric, *values))
    return text_section("", ("scenario", "metric", *(f"`{scheme}`" for scheme in schemes)), lines)


def standings(comparison: Results) -> dict[Metric, Verdict]:
    """Verdict on each metric that is compared: completion times, goodput, queue and marks."""
    compared = [metric for metric in comparison.metrics.values() if metric.statistic in COMPARED]
    return {
        metric: standing(metric, comparison.relation(testbed.REAL, testbed.SIMULATED, metric.name))
        for metric in compared
        if not says_nothing(comparison, metric)
    }


def builds(comparison: Results) -> dict[str, list[str]]:
    """Builds of each side's runs; the kernel's side also names the kernel."""
    real = testbed.real_runs(comparison)
    sides = {testbed.SIMULATED: [run for run in comparison.done if run not in real], testbed.REAL: real}
    return {
        side: sorted({run.record["provenance"].get("build", "unknown") for run in runs}) for side, runs in sides.items()
    }


def says_nothing(comparison: Results, metric: Metric) -> bool:
    """True if the metric is zero on both sides, or a p95 equals the mean on both, as for a single flow."""
    values = [comparison.values(side, metric.name) for side in (testbed.SIMULATED, testbed.REAL)]
    if metric.statistic is FCT[95]:
        mean = replace(metric, statistic=MEAN_FCT).name
        return values == [comparison.values(side, mean) for side in (testbed.SIMULATED, testbed.REAL)]
    return not any(value for side in values for value in side.values())


def aim_of(metric: Metric) -> float:
    """Maximum relative difference of the kernel from the simulator within the aim."""
    return AIM_OF_MARKS if metric.statistic is MARKS else AIM


def standing(metric: Metric, difference: Estimate | None) -> Verdict:
    """Verdict on a relative difference: does its true value lie within the aim?

    If unfinished flows make the difference a bound, the true value may lie anywhere beyond it.
    """
    if difference is None or difference.n < LEAST_SEEDS:
        return Verdict.UNDECIDED
    aim = aim_of(metric)
    return verdict_of(true_interval(difference), (-aim, aim))


def measure_agreement(
    rows: Sequence[str],
    seeds: Sequence[int],
    out: Path,
    attempts: int = testbed.ATTEMPTS,
    kernel: Kernel = testbed.THIS_KERNEL,
) -> Agreement:
    """Compares kernel and simulator in every cell of these rows over these seeds. Stores testbed runs below `out`.

    Before the first run, each cell is checked, and an error is raised if this computer's kernel could not run it. The
    same call resumes from the stored runs, and repeats runs in which the testbed did not keep time.
    """
    slower = {} if kernel is testbed.THIS_KERNEL else SLOWER
    setups = {row: SETUPS.get(row, Setup(row, slower.get(row, {}))) for row in rows}
    places = {(row, column): cell_of(setups[row], column, CELLS[row][column]) for row in rows for column in CELLS[row]}
    beds = {at: testbed.Testbed(scenario, choice, attempts, kernel) for at, (scenario, *_, choice) in places.items()}
    for at, (scenario, scheme, settings, _) in places.items():
        common = testbed.linux_settings(scenario, scheme, settings)
        beds[at].check(*Plan(load_scenario(scenario), [scheme]).runs([1], common))
    cells: dict[tuple[str, str], Results] = {}
    for at, (_, scheme, settings, _) in places.items():
        simulated, store = setups[at[0]].simulated, beds[at].store_in(out)
        cells[at] = testbed.side_by_side(beds[at], scheme, seeds, settings, simulated=simulated, store=store)
        tried = counted(sum(each["attempts"] for each in testbed.accounts(cells[at])), "run")
        note(f"{len(cells)}: {', '.join(at)}: {testbed.kept_time(testbed.real_runs(cells[at]))} kept time, in {tried}")
    return Agreement(cells, slower)


def cell_of(setup: Setup, column: str, settings: Settings) -> tuple[str, str, Settings, testbed.Replacements]:
    """Scenario, scheme and settings of both sides of a cell, and the kernel's replacements."""
    own = LINUXS_OWN.get(column)
    return setup.scenario, own or column, {**settings, **setup.settings}, testbed.Replacements(own, setup.card)


def _host_queue(comparison: Results) -> str:
    means = [comparison.estimate(side, "queue_mean_pkt") for side in (testbed.REAL, testbed.SIMULATED)]
    return "; ".join(f"{mean.value:.2f}" if mean else "–" for mean in means)


def _kept(cell: Mapping[str, Any]) -> str:
    tried = sum(account["attempts"] for account in cell["testbed"])
    return f"{cell['kept_time']} of {len(cell['testbed'])} seeds in {counted(tried, 'run')}"


def _shown(cell: Mapping[str, Any], metric: str) -> str:
    found = cell["standing"]
    if found and metric not in found:
        return ""
    difference = cell["comparison"]["paired"][testbed.REAL][testbed.SIMULATED].get(metric, {}) if found else {}
    text = percent(_estimate(difference, cell["kept_time"]), "%")
    marked = {"within": text, "outside": f"**{text}**", "undecided": f"{text} ?"}
    return marked[found.get(metric, "undecided")]


def _estimate(table: Mapping[str, Any], seeds: int) -> Estimate | None:
    """A paired difference read from a comparison's document; None if its sign is open."""
    if table.get("relative") is None:
        return None
    low, high = table["ci95"] or (None, None)
    bounds = {name: table.get(name, False) for name in ("lower_bound", "upper_bound")}
    interval = None if low is None or high is None else (low, high)
    return Estimate(table["relative"], interval, table["n"], **bounds, lacking=seeds - table["n"])
