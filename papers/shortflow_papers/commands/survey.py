"""`survey`: the schemes on the papers' workloads, and the winners."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

from shortflow.api.commands import Answer, Arg, Opt, command, note_report, reporting
from shortflow.api.commands import options as given
from shortflow.api.pages import Block, Words
from shortflow.api.runs import Runner, Store
from shortflow_papers.lab.study import Scale
from shortflow_papers.survey import WORKLOADS, Survey, ask_survey, choose, words
from shortflow_papers.survey.engine import SEEDS
from shortflow_papers.survey.pages import check_survey_page, survey_table, write_survey_page
from shortflow_papers.survey.tables import matrix, wins_section, workload_section


@command
def survey(
    workloads: Annotated[
        Sequence[str] | None, Arg(f"Workloads: {', '.join(WORKLOADS)} (default: all).", "WORKLOAD", many=True)
    ] = None,
    *,
    scale: Annotated[Scale, Opt("Scale of the runs: quick takes minutes, full takes hours.")] = Scale.QUICK,
    settings: given.Settings = None,
    seeds: Annotated[
        int, given.whole("Number of seeds of each comparison. More seeds show smaller differences.")
    ] = SEEDS,
    jobs: given.Jobs = None,
    dask: given.Dask = None,
    out: given.KeptIn = Path("results/survey"),
    progress: given.Progress = None,
) -> Answer:
    """Compare the schemes on the papers' workloads and on published flow sizes.

    If you name workloads, the command also prints all their numbers. Each run is stored when it ends; after an
    interruption, the same command resumes.
    """
    chosen, where, out = choose(workloads or []), given.executor(jobs, dask), Path(out)
    check_survey_page(out)
    with reporting(f"survey, {scale.value}", progress) as bar:
        found = Runner(where, Store(out), bar).answer(ask_survey(chosen, scale, settings or {}, seeds))
    note_report(write_survey_page(found, out), found.runs, found.reused, found.seconds)
    return Answer(lambda: survey_table(found), _blocks(found, [each.name for each in chosen] if workloads else []))


def _blocks(found: Survey, workloads: Sequence[str]) -> Iterator[Block]:
    for view in found.views:
        yield Words("\n".join([f"With initial {view.label}:", *words.conclusions(view)]))
    if effects := words.alpha_effects(found):
        yield Words("\n".join(["Effects of the initial alpha:", *effects]))
    yield from (matrix(view, narrow=True) for view in found.views)
    yield wins_section(found)
    yield from (workload_section(view, workload) for workload in workloads for view in found.views)
