"""A reproduction as tables for the terminal."""

from collections.abc import Sequence

from rich import box
from rich.table import Table

from shortflow.reproduction.engine import Reproduction
from shortflow.reproduction.finding import Finding, Verdict
from shortflow.reproduction.sensitivity import Shift


def measured_text(finding: Finding) -> str:
    """The measured numbers in one line, with the interval of the deciding one."""
    parts = [f"{name} {_value(value)}" for name, value in finding.measured.items()]
    if finding.ci95:
        parts.append(f"[{finding.ci95[0]:.4g}, {finding.ci95[1]:.4g}]")
    return ", ".join(parts)


def paper_text(expected: object) -> str:
    """The paper's values in one line."""
    if isinstance(expected, dict):
        return ", ".join(f"{name} {_value(value)}" for name, value in expected.items())
    return _value(expected)


def claim_table(done: Reproduction) -> Table:
    """Every claim with its verdict."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, title_justify="left")
    table.add_column("claim", overflow="fold", ratio=3)
    table.add_column("verdict", no_wrap=True)
    table.add_column("paper", overflow="fold", ratio=2)
    table.add_column("measured", overflow="fold", ratio=3)
    for judged in done.claims:
        finding = judged.finding
        table.add_row(
            judged.claim.id,
            finding.verdict.value,
            paper_text(judged.entry["expected"]),
            measured_text(finding) or judged.reason,
        )
    return table


def shift_table(moved: Sequence[Shift]) -> Table:
    """What every other choice does to every claim."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False)
    for header in ("choice", "claim", "verdict", "as taken", "changed"):
        table.add_column(header, overflow="fold")
    for shift in moved:
        before, after = shift.before.finding, shift.after.finding
        verdict = f"{before.verdict.value} → {after.verdict.value}" if shift.flips else before.verdict.value
        table.add_row(
            f"{shift.choice}={shift.value}", shift.before.claim.id, verdict, measured_text(before), measured_text(after)
        )
    return table


def summary_table(done: Reproduction) -> Table:
    """How many claims of each paper agree, differ and are untested."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False)
    table.add_column("paper")
    for verdict in Verdict:
        table.add_column(verdict.value, justify="right")
    for paper, counts in done.summary.items():
        table.add_row(paper, *(str(counts[verdict.value]) for verdict in Verdict))
    return table


def _value(value: object) -> str:
    if isinstance(value, bool | str):
        return str(value)
    if isinstance(value, int | float):
        return f"{value:.4g}"
    if isinstance(value, Sequence):
        return "[" + ", ".join(_value(each) for each in value) + "]"
    if isinstance(value, dict):
        return paper_text(value)
    return str(value)
