"""Verdicts that `reproduce` stores below `--out`. Later calls keep those of other papers in the report."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypedDict

from shortflow.api.files import Kind, read_json_file, write_text
from shortflow.api.judge import Verdict
from shortflow.api.runs import Provenance
from shortflow_papers.lab.finding import Finding, Number, finite
from shortflow_papers.lab.study import Scale
from shortflow_papers.papers import claims, every_paper
from shortflow_papers.reproduction.engine import Reproduction
from shortflow_papers.reproduction.judged import Baseline, Judged
from shortflow_papers.reproduction.tried import in_lines

_COMMIT = 12
"""Number of digits of a commit that are stored."""
_DIGITS = 5
"""Significant digits of a stored number. Tables show four."""


class KeptPaper(TypedDict):
    """Stored verdicts of a paper."""

    state: str
    """Sentences on the runs."""
    made: dict[str, dict[str, list[str]]]
    """Days on which the runs were made, by build (version and commit) and figure."""
    scale: str | None
    """Scale of the runs; None if choices were changed."""
    claims: dict[str, dict[str, Any]]
    """By claim: the fields of its finding that are not empty, `baseline` and `off`."""


def update(done: Reproduction, file: Path) -> dict[str, KeptPaper]:
    """Stores the papers of a reproduction in a file. Returns all stored papers, in the order of `every_paper`."""
    found = {**load_kept(file), **{paper: _entry(done, paper) for paper in done.summary}}
    known = {paper: found[paper] for paper in every_paper() if paper in found}
    write_text(file, in_lines(known, 3) + "\n", Kind.CHECKED)
    return known


def load_kept(file: Path) -> Mapping[str, KeptPaper]:
    """Stored papers of a file; empty if there is no file."""
    return read_json_file(file, dict[str, KeptPaper], "reproduce its papers again") if file.exists() else {}


def judged(entry: KeptPaper) -> list[Judged]:
    """Verdicts of a stored paper. Claims that the recipes no longer have are left out."""
    known, scale = claims(), Scale(entry["scale"]) if entry["scale"] else None
    return [
        Judged(known[name], _finding(kept), Baseline(kept["baseline"]), scale, _number(kept.get("off")))
        for name, kept in entry["claims"].items()
        if name in known
    ]


def made(entry: KeptPaper) -> str:
    """Sentence on the builds that made a paper's runs, and on which days.

    Of several builds, all but the one with the most figures are given with their figures.
    """
    texts: list[str] = []
    for build, figures in sorted(entry["made"].items(), key=lambda each: -len(each[1])):
        days = sorted(day for found in figures.values() for day in found)
        which = f" ({', '.join(sorted(figures))})" * bool(texts)
        texts.append(f"{build}, {' to '.join(dict.fromkeys((days[0], days[-1])))}{which}")
    return f"Build{'s' * (len(texts) > 1)} {'; '.join(texts)}." if texts else "No runs."


def code(run: Provenance) -> str:
    """Version and commit that made a run; for a wheel, its build."""
    commit, *changed = (run["revision"] or "").split("-")
    return "-".join([f"{run['version']} at {commit[:_COMMIT]}", *changed]) if commit else run["build"]


def _entry(done: Reproduction, paper: str) -> KeptPaper:
    of_paper = [each for figure in done.of_paper(paper) for each in figure.claims]
    builds: dict[str, dict[str, list[str]]] = {}
    for each in done.of_paper(paper):
        made = {(code(run), run["finished_at"][:10]) for of_study in each.origins.values() for run in of_study}
        for build, day in sorted(made):
            builds.setdefault(build, {}).setdefault(each.figure.id, []).append(day)
    return {
        "state": done.conditions(paper),
        "made": builds,
        "scale": None if done.chosen else done.scale.value,
        "claims": {each.claim.id: kept(each) for each in of_paper},
    }


def kept(each: Judged) -> dict[str, Any]:
    """A verdict as plain data for storage."""
    finding = each.finding
    fields = {
        "best": finding.best.value if finding.best is not finding.worst else "",
        "measured": {name: _rounded(value) for name, value in finding.measured.items()},
        "ci95": finding.ci95 and [_rounded(end) for end in finding.ci95],
        "note": finding.note,
        "open_by": list(finding.open_by),
        "deciding": finding.deciding,
        "units": dict(finding.units),
        "as_taken": finding.as_taken,
        "set_ups": dict(finding.set_ups),
    }
    off = {} if each.off is None else {"off": _rounded(each.off)}
    filled = {name: value for name, value in fields.items() if value}
    return {"worst": finding.worst.value, **filled, "baseline": each.baseline.value, **off}


def _rounded(value: Number) -> Number:
    """A number, rounded for storage, with ∞ as text, which JSON needs."""
    if isinstance(value, float):
        return finite(float(f"{value:.{_DIGITS}g}"))
    return value if isinstance(value, str | int) else [float(f"{each:.{_DIGITS}g}") for each in value]


def _number(kept: Any) -> Any:
    return float(kept) if kept in ("inf", "-inf") else kept


def _finding(kept: Mapping[str, Any]) -> Finding:
    worst, ci95 = Verdict(kept["worst"]), [_number(end) for end in kept.get("ci95", ())]
    measured = {name: _number(value) for name, value in kept.get("measured", {}).items()}
    names = ("note", "open_by", "deciding", "units", "as_taken", "set_ups")
    more = {name: kept[name] for name in names if name in kept}
    return Finding(worst, Verdict(kept.get("best", worst)), measured, (ci95[0], ci95[1]) if ci95 else None, **more)
