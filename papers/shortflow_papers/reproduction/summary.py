"""Tables of a reproduction for the terminal."""

from collections.abc import Mapping, Sequence
from textwrap import fill

from shortflow.api.pages import Column, Section, text_section
from shortflow_papers.lab.finding import Finding, Number, shortened
from shortflow_papers.lab.quantity import amount
from shortflow_papers.reproduction.engine import Reproduction
from shortflow_papers.reproduction.fit import SetUp
from shortflow_papers.reproduction.judged import NEAR, Counts, Judged
from shortflow_papers.reproduction.sensitivity import Shift, deciding

_SHOWN = 20
"""Maximum number of set-ups of a fit in the terminal."""
_NUMBERS = 2
"""Maximum number of measured numbers in a row of the terminal's table. The report has all numbers."""


def measured_texts(finding: Finding) -> list[str]:
    """Texts of the measured numbers with their names. The deciding number is first, with its interval."""
    names = sorted(finding.measured, key=lambda name: name != finding.deciding)
    return [_named(name, _number(finding, name)) for name in names]


def claim_section(claims: Sequence[Judged]) -> Section:
    """Table of claims with verdict, statement, deciding numbers and tolerance."""
    rows = []
    for judged in claims:
        finding = judged.finding
        lines = {
            "paper": judged.claim.statement,
            "measured": shortened(measured_texts(finding), _NUMBERS),
            "over open choices": judged.over_choices,
            "because": "" if finding.holds else finding.note.removeprefix(f"{finding.verdict.value}: "),
            "agrees if": judged.claim.tolerance,
        }
        text = "\n".join(f"{name}: {line}" for name, line in lines.items() if line)
        rows.append((f"{judged.claim.id}\n  {verdict_text(judged)}", text))
    heads = ("claim and verdict", "paper's statement, ours with its 95 % interval, tolerance")
    return text_section("", heads, rows, spaced=True)


def verdict_text(judged: Judged) -> str:
    """Verdict as text, with the possible verdicts if undecided, and with agreement of the baseline."""
    spans = f" ({' or '.join(verdict.value for verdict in judged.finding.could_be)})" if judged.finding.could_be else ""
    return f"{judged.finding.verdict.value}{spans}{', as the baseline' if judged.agrees_emptily else ''}"


def fit_section(found: Sequence[SetUp]) -> Section:
    """Table of set-ups with the baselines' numbers, the nearest first."""
    shown = found[:_SHOWN]
    columns = [Column("largest factor", [f"{each.off:.3g}" for each in shown])]
    names = [*shown[0].ours] if shown else []
    columns += [Column(name, [f"{each.ours[name]:.4g}" for each in shown]) for name in names]
    return Section("", [Column("choices", [each.text for each in shown])], columns)


HEADERS = (
    *("paper", "scheme agrees", "direction", "differs", "no harm holds", "equations, others", "undecided", "untested"),
    f"numbers within {', '.join(map(str, NEAR))} %",
)


def summary_row(name: str, counts: Counts) -> list[str]:
    """Row of the summary: counts of claims about the scheme by verdict, then of the three other groups.

    The last cell has the number of claims whose numbers are all within 10, 20 and 30 % of the printed ones.
    """
    agreeing = [f"{each['agrees']} of {sum(each.values())}" for each in (counts["no_harm"], counts["others"])]
    numbers = counts["numbers"]
    near = f"{', '.join(str(numbers[f'within_{each}']) for each in NEAR)} of {numbers['all']}"
    return [name, *map(str, counts["scheme"].values()), *agreeing, *map(str, counts["open"].values()), near]


def reason_section(done: Reproduction) -> Section | None:
    """Table of known reasons for claims that do not agree; None without reasons."""
    reasons: dict[str, list[str]] = {}
    for judged in done.claims:
        if judged.known:
            reasons.setdefault(judged.known, []).append(judged.claim.id)
    if not reasons:
        return None
    rows = [("\n".join(claims), reason) for reason, claims in reasons.items()]
    return text_section("", ("does not agree", "because"), rows)


def shift_section(moved: Sequence[Shift]) -> Section:
    """Table with the effect of every other choice on the deciding number and verdict of each claim."""
    rows: list[tuple[str, str, str]] = []
    by_claim: dict[str, list[Shift]] = {}
    for shift in moved:
        by_claim.setdefault(shift.before.claim.id, []).append(shift)
    for claim, shifts in by_claim.items():
        base = shifts[0].before.finding
        decides = deciding(base)
        rows.append((claim, base.verdict.value, _named(decides, _number(base, decides))))
        for shift in shifts:
            after = shift.after.finding
            verdict = f"→ {after.verdict.value}" if shift.flips else after.verdict.value
            if shift.reached and shift.changed:
                rows.append((f"  {shift.other.text}", verdict, _decided_by(after, decides)))
        idle = [shift.other.text for shift in shifts if shift.reached and not shift.changed]
        unmoved = [shift.other.text for shift in shifts if not shift.reached]
        for said, texts in (("no run changed with", idle), ("not reached by", unmoved)):
            if texts:
                rows.append((f"  {said}", "", ", ".join(texts)))
    return text_section("", ("claim, and other choices", "verdict", "what decides"), rows)


def _decided_by(after: Finding, before: str) -> str:
    """Text with the number that decided before and, if another number decides now, this number with its name."""
    now = deciding(after)
    parts = [_number(after, before)] if before in after.measured else []
    if now in after.measured and now != before:
        parts.append(_named(now, _number(after, now)))
    return "; ".join(parts) or after.note


def flips_text(moved: Sequence[Shift]) -> str:
    """Text with the claims whose verdicts depend on choices."""
    flips: dict[str, list[str]] = {}
    for shift in moved:
        if shift.flips:
            flips.setdefault(shift.before.claim.id, []).append(shift.other.text)
    if not flips:
        return "no verdict depends on these choices"
    return "verdicts that change:\n" + "\n".join(f"  {claim}: {', '.join(found)}" for claim, found in flips.items())


def count_section(counts: Mapping[str, Counts]) -> Section:
    """Table with the number of claims with each verdict, by paper."""
    rows = [summary_row(name, each) for name, each in counts.items()]
    lead, *columns = (Column(fill(head, 12), [row[place] for row in rows]) for place, head in enumerate(HEADERS))
    return Section("", [lead], columns)


def _named(name: str, value: str) -> str:
    return value if name == "value" else f"{name.replace('_', ' ')}: {value}"


def _number(finding: Finding, name: str) -> str:
    """Text of a measured number, with its interval if the number decides."""
    if name not in finding.measured:
        return finding.note
    ci95 = finding.ci95 if name == finding.deciding else None
    return _value(finding.measured[name], finding.units.get(name, ""), ci95)


def _value(value: Number, unit: str = "", ci95: tuple[float, float] | None = None) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, int | float):
        return amount(value, unit, ci95)
    return "[" + ", ".join(amount(each, unit) for each in value) + "]"
