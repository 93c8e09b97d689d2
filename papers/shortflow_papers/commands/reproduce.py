"""`reproduce`: figures of the papers, with a verdict for every claim."""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

from shortflow import ConfigError
from shortflow.api.commands import Answer, Arg, ExitCode, Lines, Opt, command, note, note_report, progress_bar
from shortflow.api.commands import options as given
from shortflow.api.files import Kind, write_text
from shortflow.api.pages import Block, Words
from shortflow.api.runs import Runner, Store, concluding
from shortflow_papers import papers
from shortflow_papers.lab.figure import Figure
from shortflow_papers.lab.study import Scale, parse_choices
from shortflow_papers.reproduction.engine import Chosen, Reproduction, ask_reproduction, select
from shortflow_papers.reproduction.fit import fit as ranked
from shortflow_papers.reproduction.fit import in_rows
from shortflow_papers.reproduction.judged import count
from shortflow_papers.reproduction.pages import check_pages, write_pages
from shortflow_papers.reproduction.sensitivity import (
    Again,
    Other,
    Shift,
    alternatives,
    combinations_of,
    outcomes,
    planned,
    shifts,
    untried,
    with_ranges,
)
from shortflow_papers.reproduction.summary import (
    claim_section,
    count_section,
    fit_section,
    flips_text,
    reason_section,
    shift_section,
)
from shortflow_papers.reproduction.tried import Tried, at, load_tried, save_tried


@command
def reproduce(
    patterns: Annotated[
        Sequence[str] | None,
        Arg(
            "Papers, figures or claims to reproduce, such as fast, l2dct/fig4a or 'pecn/fig1*' (default: all).",
            "PATTERN",
            many=True,
            complete=lambda: list(papers.figures()),
        ),
    ] = None,
    *,
    scale: Annotated[Scale, Opt("Scale of the runs: quick takes minutes, full has the papers' scale.")] = Scale.QUICK,
    choice: Annotated[
        Sequence[str] | None,
        Opt(
            "Use another value for a detail that a paper leaves open. `shortflow list choices` prints all choices.",
            "NAME=VALUE",
            many=True,
        ),
    ] = None,
    sensitivity: Annotated[
        bool,
        Opt(
            "Also try every other choice, then pairs and triples of the choices that move a claim, and report the "
            "verdicts that change."
        ),
    ] = False,
    minutes: Annotated[
        float | None,
        Opt(
            "Stop --sensitivity after this many minutes. Choices whose outcome is stored are skipped.",
            "NUMBER",
            kind=float,
            more={"min": 0},
        ),
    ] = None,
    fit: Annotated[
        bool,
        Opt(
            "Decide no claims. Rank the combinations of choices by how close they come to the printed numbers of the "
            "paper's baselines, and write OUT/fit.csv."
        ),
    ] = False,
    jobs: given.Jobs = None,
    dask: given.Dask = None,
    out: given.KeptIn = Path("results/reproduction"),
) -> Answer:
    """Reproduce figures of the papers and decide their claims.

    Each claim gets a verdict: agrees, direction (the sign or order is right, the size is not), differs, undecided or
    untested. Each run is stored when it ends; after an interruption, the same command resumes. The exit code is 1 if a
    claim differs or is untested.

    Example: shortflow reproduce l2dct/fig4a
    """
    if minutes is not None and not sensitivity:
        raise ConfigError("--minutes: needs --sensitivity")
    chosen_figures = select(patterns or [])
    chosen = parse_choices(choice or [], _values(chosen_figures))
    out = Path(out)
    check_pages({figure.paper for figure in chosen_figures}, out)
    store = Store(out)
    runner = Runner(given.executor(jobs, dask), store)
    end = None if minutes is None else time.monotonic() + 60 * minutes

    lines, reproductions = Lines(), list[Reproduction]()
    if fit:
        with concluding(store), progress_bar("fit", lines) as runner.progress:
            found = runner.answer(ranked(chosen_figures, scale, note), conclude=False)
        write_text(out / "fit.csv", in_rows(found), Kind.SET_UPS)
        ranking = [{"choices": dict(each.values), "off": each.off, "measured": dict(each.ours)} for each in found]
        return Answer(lambda: {"fit": ranking}, [fit_section(found)])

    def reproduce_with(values: Chosen, figures: Sequence[Figure]) -> Reproduction:
        label = ", ".join(f"{name}={value}" for name, value in values.items()) or scale.value
        with progress_bar(label, lines) as runner.progress:
            found = runner.answer(ask_reproduction(figures, scale, values), conclude=False)
        reproductions.append(found)
        return found

    with concluding(store):
        done = reproduce_with(chosen, chosen_figures)
        moved = _sensitivity(done, reproduce_with, out / "tried.json", end, lines) if sensitivity else []
        done = with_ranges(done, reproduce_with)
    runs = frozenset[str]().union(*(each.runs for each in reproductions))
    # A run that one reproduction simulates and a later one reuses counts as simulated.
    simulated = frozenset[str]().union(*(each.runs - each.reused for each in reproductions))
    done = replace(done, runs=runs, reused=runs - simulated, seconds=sum(each.seconds for each in reproductions))
    note_report(write_pages(done, out), len(done.runs), len(done.reused), done.seconds)
    for change, places in done.not_reached.items():
        note(f"{change} is not followed by {', '.join(places)}")
    fails = any(judged.fails for judged in done.claims)
    has_errors = any(figure.has_errors for figure in done.figures) or len(done.figures) < len(chosen_figures)
    code = ExitCode.CLAIM_FAILED if fails or has_errors else ExitCode.FINE
    rows = {"sensitivity": [_row(shift) for shift in moved]} if moved else {}
    return Answer(lambda: {**done.document(), **rows}, _blocks(done, moved), code)


def _sensitivity(done: Reproduction, again: Again, tried: Path, end: float | None, lines: Lines) -> list[Shift]:
    """Tries other values, then pairs and triples; with an `end` time, only unknown ones, until then."""
    moved: list[Shift] = []

    def known() -> Mapping[str, Tried]:
        return at(done.scale, load_tried(tried)) if not done.chosen else outcomes(moved)

    def all_tried(what: str, others: Sequence[Other]) -> bool:
        others = untried(done, others, known()) if end else others
        runs = planned(done, others)
        note(f"{len(others)} {what}: at most {runs} runs, {runs * done.seconds / max(len(done.runs), 1) / 3600:.2g} h")
        for place, other in enumerate(others):
            if end and time.monotonic() > end:
                note(f"{len(others) - place} of {len(others)} {what} are left: the same command goes on with them")
                return False
            moved.extend(shifts(done, again, other))
            if not done.chosen:
                save_tried(outcomes(moved), done.scale, tried)
            if lines.due():
                note(f"{place + 1} of {len(others)} {what} tried")
        return True

    if all_tried("values", alternatives([each.figure for each in done.figures], done.chosen)) and all_tried(
        "pairs of values", combinations_of(done, known(), 2)
    ):
        all_tried("triples of values", combinations_of(done, known(), 3))
    return moved


def _blocks(done: Reproduction, moved: Sequence[Shift]) -> Iterator[Block]:
    yield claim_section(done.claims)
    if reasons := reason_section(done):
        yield reasons
    if moved:
        yield from (shift_section(moved), Words(flips_text(moved)))
    yield count_section({**done.summary, "all": count(done.claims)})


def _values(figures: list[Figure]) -> dict[str, list[str]]:
    """Values of each choice in the figures' papers."""
    values: dict[str, dict[str, None]] = {}
    for paper in dict.fromkeys(figure.paper for figure in figures):
        for name, choice in papers.choices(paper).items():
            values.setdefault(name, {}).update(dict.fromkeys(choice.values))
    return {name: [*known] for name, known in values.items()}


def _row(shift: Shift) -> dict[str, object]:
    found = {"before": shift.before.finding, "after": shift.after.finding}
    return {
        "choices": dict(shift.other.values),
        "claim": shift.before.claim.id,
        "reached": shift.reached,
        "changed": shift.reached and shift.changed,
        **{when: {"verdict": each.verdict.value, "measured": each.document()} for when, each in found.items()},
    }
