"""Runs the known results at full scale and renews their table and picture in the documentation: `make known`."""

import re
from pathlib import Path
from typing import Any

from shortflow.front.progress import Lines, progress_bar
from shortflow.report.chart import Chart, mark, numeric, tips, view, words
from shortflow.runner import Runner, concluding
from shortflow.store.runs import Store
from shortflow_papers.lab.quantity import amount
from shortflow_papers.lab.study import Scale
from shortflow_papers.papers.known import VALUES
from shortflow_papers.reproduction.engine import Reproduction, ask_reproduction, select
from shortflow_papers.reproduction.judged import Judged

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
KEPT = ROOT / "results" / "known"
"""Store of the runs, from which an interrupted call resumes."""
PAGE = DOCS / "known-results.md"
PICTURE = DOCS / "pictures" / "known.svg"
TABLE = re.compile(r"(?<=<!-- known results: begin -->\n).*?(?=<!-- known results: end -->)", re.DOTALL)
ROW = 22
"""Height of a row of the picture, in pixels."""


def measured() -> Reproduction:
    """Reproduction of all known results at full scale."""
    store = Store(KEPT)
    runner = Runner(store=store)
    with concluding(store), progress_bar("known results", Lines()) as runner.progress:
        return runner.answer(ask_reproduction(select(["known"]), Scale.FULL, {}), conclude=False)


def table(done: Reproduction) -> str:
    """Table in Markdown with a row for each result.

    A row has the known value, our number with its 95 % interval, the allowed distance and the verdict.
    """
    lines = ["| result | known | measured | allowed | verdict | scenario |", "|---|---:|---:|---:|---|---|"]
    for figure in done.figures:
        scenarios = [str(study.scenario) for study in figure.figure.studies.values()]
        link = ", ".join(f"[{name}](../python/shortflow/scenarios/{name}.toml)" for name in scenarios)
        for judged in figure.claims:
            value, unit, ci95 = deciding(judged)
            known = VALUES[judged.claim.id]
            distance = judged.claim.conditions[0].text.rpartition(": within ")[2].partition(" of ")[0]
            cells = (
                judged.claim.statement[:1].upper() + judged.claim.statement[1:],
                " to ".join(amount(end, unit) for end in known) if isinstance(known, tuple) else amount(known, unit),
                amount(value, unit, ci95),
                "this range" if isinstance(known, tuple) else f"± {distance}",
                judged.finding.verdict.value,
                link,
            )
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def deciding(judged: Judged) -> tuple[float, str, tuple[float, float] | None]:
    """Deciding number, its unit, and its 95 % interval. The interval is None if its width is below 0.01 %."""
    finding = judged.finding
    value = finding.measured[finding.deciding]
    assert isinstance(value, float), judged.claim.id
    exact = finding.ci95 is None or finding.ci95[1] - finding.ci95[0] < 1e-4 * abs(value)
    return value, finding.units.get(finding.deciding, ""), None if exact else finding.ci95


def picture(done: Reproduction) -> Chart:
    """Chart of measured numbers over known ones, with 95 % intervals. Results with a known range are left out."""
    rows: list[dict[str, Any]] = []
    for judged in done.claims:
        value, _, ci95 = deciding(judged)
        known = VALUES[judged.claim.id]
        if isinstance(known, tuple):
            continue
        low, high = (end / known for end in ci95 or (value, value))
        verdict = "agrees" if judged.finding.holds else judged.finding.verdict.value
        name = judged.claim.id.partition("/")[2]
        rows.append({"name": name, "ratio": value / known, "low": low, "high": high, "verdict": verdict})
    ends = [row[key] for row in rows for key in ("low", "high", "ratio")] + [1.0]
    x = numeric("ratio", "measured over known", ends, log=True)
    y = words("name", None, [row["name"] for row in rows])
    kinds = list(dict.fromkeys(row["verdict"] for row in rows))
    colour = words(
        "verdict", "", kinds, scale={"domain": kinds, "range": [f"var(--c{at})" for at in range(len(kinds))]}
    )
    tip = tips(name="", ratio="measured over known", low="from", high="to", verdict="verdict")
    layers = [
        mark("rule", {"y": y, "x": {**x, "field": "low"}, "x2": {"field": "high"}, "color": colour}, strokeWidth=2),
        mark("point", {"y": y, "x": x, "color": colour, "tooltip": tip}, filled=True, size=50, opacity=1),
    ]
    panel = view("", "Measured numbers over the known ones", layers, height=ROW * len(rows))
    caption = "1 is the known value. Lines: 95 % intervals over the seeds."
    return Chart("known", "Measured over known", caption, rows, [{**panel, "transform": []}])


def main() -> None:
    """Writes table and picture."""
    done = measured()
    PAGE.write_text(TABLE.sub(lambda _: table(done), PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    PICTURE.write_text(picture(done).svg, encoding="utf-8")


if __name__ == "__main__":
    main()
