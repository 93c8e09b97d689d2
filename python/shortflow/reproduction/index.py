"""Summary of each paper on the front page, stored below `--out` so that later calls keep other papers."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NotRequired, TypedDict

from shortflow.papers import PAPERS
from shortflow.reproduction.engine import Counts, Judged, Reproduced, Reproduction
from shortflow.reproduction.summary import verdict_text
from shortflow.runs import build_id
from shortflow.store.files import Kind, read_json, write_text

EMPTILY = "emptily"
"""Colour class of a verdict that the baseline reaches too."""


class Cell(TypedDict):
    """A figure in the matrix."""

    id: str
    ref: str
    claims: dict[str, int]
    """Number of claims by colour class."""


class Open(TypedDict):
    """A claim that does not agree."""

    id: str
    says: str
    kind: str
    verdict: str
    reason: str


class Entry(TypedDict):
    """A paper."""

    state: str
    """Scale, runs and choices."""
    made: NotRequired[str]
    """Build and scale."""
    counts: Counts
    figures: list[Cell]
    open: list[Open]


def kind(judged: Judged) -> str:
    """Colour class of a verdict."""
    return EMPTILY if judged.agrees_emptily else judged.finding.verdict.value


def update(done: Reproduction, file: Path) -> dict[str, Entry]:
    """Summaries of all known papers, in order, updated with the new ones."""
    found = {**_load(file), **{paper: _entry(done, paper) for paper in done.summary}}
    known = {paper: found[paper] for paper in PAPERS if paper in found}
    write_text(file, json.dumps(known, indent=1) + "\n", Kind.CHECKED)
    return known


def total(counts: Iterable[Counts]) -> Counts:
    """Sum of the counts of some papers."""
    every = list(counts)
    equations, numbers = Counter[str](), Counter[str]()
    for each in every:
        equations.update(each["equations"])
        numbers.update(each.get("numbers", {}))
    return {
        "agrees": sum(each["agrees"] for each in every),
        "direction": sum(each["direction"] for each in every),
        "differs": sum(each["differs"] for each in every),
        "undecided": sum(each["undecided"] for each in every),
        "untested": sum(each["untested"] for each in every),
        "baseline_passes": sum(each["baseline_passes"] for each in every),
        "equations": dict(equations),
        "numbers": dict(numbers),
    }


def counts_of(known: Mapping[str, Entry]) -> dict[str, Counts]:
    """Counts of each paper, and their sum if one build made all at one scale."""
    counts = {paper: entry["counts"] for paper, entry in known.items()}
    return {**counts, "all": total(counts.values())} if _is_of_one_kind(known) else counts


def states(known: Mapping[str, Entry]) -> list[str]:
    """Runs of each paper, and the builds if they differ."""
    if _is_of_one_kind(known):
        return [f"{paper}: {entry['state']}" for paper, entry in known.items()]
    each = [
        f"{paper}: {entry['state']} Made by {entry.get('made', 'an earlier build')}." for paper, entry in known.items()
    ]
    return [*each, "No sum of all: more than one build, or scale, made these; make all of them with one."]


def _is_of_one_kind(known: Mapping[str, Entry]) -> bool:
    return len({entry.get("made") for entry in known.values()}) == 1


def _load(file: Path) -> Mapping[str, Entry]:
    return read_json(file, dict[str, Entry], "reproduce its papers again") if file.exists() else {}


def _entry(done: Reproduction, paper: str) -> Entry:
    figures = done.of_paper(paper)
    left = [each for figure in figures for each in figure.claims if not each.finding.holds or each.agrees_emptily]
    return {
        "state": done.conditions(paper),
        "made": f"{build_id()} at the {done.scale.value} scale",
        "counts": done.summary[paper],
        "figures": [_cell(each) for each in figures],
        "open": [_open(each) for each in left],
    }


def _cell(done: Reproduced) -> Cell:
    return {"id": done.figure.id, "ref": done.figure.ref, "claims": dict(Counter(kind(each) for each in done.claims))}


def _open(judged: Judged) -> Open:
    return {
        "id": judged.claim.id,
        "says": judged.claim.says,
        "kind": kind(judged),
        "verdict": verdict_text(judged),
        "reason": judged.reason,
    }
