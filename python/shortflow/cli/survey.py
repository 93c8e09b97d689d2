"""`shortflow survey`: the schemes on the papers' workloads, and who wins where."""

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from shortflow.cli.console import note_report, print_json, progress_bar
from shortflow.cli.options import Dask, Jobs, Json, KeptIn, SetValues, executor, parse_settings, whole_number
from shortflow.cli.terminal import print_result
from shortflow.lab.study import Scale
from shortflow.report.tables import lay_out, stacked
from shortflow.runner import Runner
from shortflow.store.runs import Store
from shortflow.survey import WORKLOADS, choose, words
from shortflow.survey import survey as ask
from shortflow.survey.document import document
from shortflow.survey.engine import SEEDS
from shortflow.survey.pages import check_pages, write_pages
from shortflow.survey.tables import matrix, numbers, standings


def survey(
    workloads: Annotated[
        list[str] | None,
        typer.Argument(metavar="WORKLOAD", help=f"{', '.join(WORKLOADS)} (default: all)."),
    ] = None,
    scale: Annotated[
        Scale, typer.Option(help="A coarse look in minutes, or long runs with ten seeds, in hours.")
    ] = Scale.QUICK,
    set_values: SetValues = None,
    seeds: Annotated[
        int,
        typer.Option(
            metavar="NUMBER",
            parser=whole_number(1),
            help="Seeds of each comparison. More of them show smaller differences.",
        ),
    ] = SEEDS,
    jobs: Jobs = None,
    dask: Dask = None,
    out: KeptIn = Path("results/survey"),
    json: Json = False,
) -> None:
    """Compare the schemes on the papers' workloads and on published flow sizes: who wins where.

    Finished runs are kept, so that an interrupted call goes on where it stopped. With workloads named, all their
    numbers are printed too.
    """
    chosen, settings, where = choose(workloads or []), parse_settings(set_values), executor(jobs, dask)
    check_pages(out)
    with progress_bar(f"survey, {scale.value}") as progress:
        found = Runner(where, Store(out), progress).answer(ask(chosen, scale, settings, seeds))
    report = write_pages(found, out)
    note_report(report, found.runs, found.reused, found.seconds)
    if json:
        print_json(document(found))
        return
    for view in found.views:
        print_result(Text("\n".join([f"With initial {view.label}:", *words.conclusions(view), ""])))
    if effects := words.alpha_effects(found):
        print_result(Text("\n".join(["What the initial alpha changes:", *effects, ""])))
    sections = [*(matrix(view, narrow=True) for view in found.views), standings(found)]
    sections += [numbers(view, workload.name) for workload in chosen if workloads for view in found.views]
    print_result(stacked(*(table for section in sections for table in lay_out(section))))
