"""`shortflow reproduce`: the figures of the papers, with a verdict for every claim."""

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from shortflow import papers
from shortflow.cli.console import Lines, note_report, print_json, print_note, progress_bar
from shortflow.cli.options import Dask, Jobs, Json, KeptIn, executor
from shortflow.cli.terminal import print_result
from shortflow.errors import ConfigError, ExitCode
from shortflow.lab.choices import parse_choices
from shortflow.lab.figure import Figure
from shortflow.lab.finding import Verdict
from shortflow.lab.study import Scale
from shortflow.reproduction.engine import Chosen, Reproduction, reproduce, select
from shortflow.reproduction.pages import check_pages, write_pages
from shortflow.reproduction.sensitivity import Again, Other, Shift, alternatives, outcomes, pairs, shifts, untried
from shortflow.reproduction.summary import claim_table, flips_text, reason_table, shift_table, summary_table
from shortflow.reproduction.tried import Tried, at, load, save
from shortflow.runner import Runner, concluding
from shortflow.store.runs import Store


def reproduce_figures(
    patterns: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="PATTERN",
            help="Papers, figures or claims, such as fast, l2dct/fig4a or 'pecn/fig1*' (default: all).",
            autocompletion=lambda: list(papers.figures()),
        ),
    ] = None,
    scale: Annotated[Scale, typer.Option(help="A coarse look in minutes, or the papers' own scale.")] = Scale.QUICK,
    choice: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help="Take another value for what a paper leaves unspecified (`shortflow list choices`).",
        ),
    ] = None,
    sensitivity: Annotated[
        bool,
        typer.Option(
            "--sensitivity",
            help="Try every other choice too, and pairs of those that move a claim; say which verdicts change.",
        ),
    ] = False,
    minutes: Annotated[
        float | None,
        typer.Option(
            metavar="NUMBER",
            min=0,
            help="Begin no other value after this many minutes of --sensitivity, and leave out what is known.",
        ),
    ] = None,
    jobs: Jobs = None,
    dask: Dask = None,
    out: KeptIn = Path("results/reproduction"),
    json: Json = False,
) -> int:
    """Reproduce figures of the papers and decide their claims: agrees, direction, differs, undecided or untested.

    Finished runs are kept, so that a second call is quick and an interrupted one goes on where it stopped. The exit
    code is 1 if a claim differs.
    """
    if minutes is not None and not sensitivity:
        raise ConfigError("--minutes: a limit for --sensitivity, which is not asked for")
    chosen_figures = select(patterns or [])
    chosen = parse_choices(choice or [], _values(chosen_figures))

    check_pages({figure.paper for figure in chosen_figures}, out)
    store = Store(out)
    runner = Runner(executor(jobs, dask), store)
    end = None if minutes is None else time.monotonic() + 60 * minutes

    lines, took = Lines(), []

    def again(chosen: Chosen, figures: Sequence[Figure]) -> Reproduction:
        label = ", ".join(f"{name}={value}" for name, value in chosen.items()) or scale.value
        with progress_bar(label, lines) as runner.progress:
            found = runner.answer(reproduce(figures, scale, chosen), conclude=False)
        took.append((found.runs, found.reused, found.seconds))
        return found

    with concluding(store):
        done = again(chosen, chosen_figures)
        moved = _sensitivity(done, again, out / "tried.json", end, lines) if sensitivity else []
    report = write_pages(done, out)
    runs, reused, seconds = map(sum, zip(*took, strict=True))
    note_report(report, runs, reused, seconds)
    for change, places in done.not_reached.items():
        print_note(f"{change} is not followed by {', '.join(places)}")
    if json:
        print_json({**done.document(), **({"sensitivity": [_row(shift) for shift in moved]} if moved else {})})
    else:
        _print_tables(done, moved)
    differs = any(judged.finding.verdict is Verdict.DIFFERS for judged in done.claims)
    return ExitCode.CLAIM_FAILED if differs else ExitCode.FINE


def _sensitivity(done: Reproduction, again: Again, tried: Path, end: float | None, lines: Lines) -> list[Shift]:
    """Try other values, then two at once; with an end those that are not known, until then."""
    moved: list[Shift] = []

    def known() -> Mapping[str, Tried]:
        return at(done.scale, load(tried)) if not done.chosen else outcomes(moved)

    def all_tried(what: str, others: Sequence[Other]) -> bool:
        others = untried(done, others, known()) if end else others
        for place, other in enumerate(others):
            if end and time.monotonic() > end:
                print_note(
                    f"{len(others) - place} of {len(others)} {what} are left: the same command goes on with them"
                )
                return False
            moved.extend(shifts(done, again, other))
            if not done.chosen:
                save(outcomes(moved), done.scale, tried)
            if lines.due():
                print_note(f"{place + 1} of {len(others)} {what} tried")
        return True

    if all_tried("values", alternatives([each.figure for each in done.figures], done.chosen)):
        all_tried("pairs of values", pairs(done, known()))
    return moved


def _print_tables(done: Reproduction, moved: Sequence[Shift]) -> None:
    print_result(claim_table(done.claims))
    if reasons := reason_table(done):
        print_result(reasons)
    if moved:
        print_result(shift_table(moved))
        print_result(flips_text(moved))
    print_result(summary_table(done))


def _values(figures: list[Figure]) -> dict[str, list[str]]:
    """The values that each choice has in one of the figures' papers."""
    values: dict[str, list[str]] = {}
    for paper in dict.fromkeys(figure.paper for figure in figures):
        for name, choice in papers.choices(paper).items():
            known = values.setdefault(name, [])
            known += [each for each in choice.values if each not in known]
    return values


def _row(shift: Shift) -> dict[str, object]:
    return {
        "choices": dict(shift.other),
        "claim": shift.before.claim.id,
        "reached": shift.reached,
        "before": {"verdict": shift.before.finding.verdict.value, "measured": shift.before.finding.document()},
        "after": {"verdict": shift.after.finding.verdict.value, "measured": shift.after.finding.document()},
    }
