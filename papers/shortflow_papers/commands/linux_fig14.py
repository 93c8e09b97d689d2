"""`linux fig14`: Fig. 14 of L2DCT on the kernel's TCP."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from shortflow import ConfigError
from shortflow.api.commands import Answer, ExitCode, Opt, command, note
from shortflow.api.commands import options as given
from shortflow.api.judge import Verdict
from shortflow.api.numbers import counted
from shortflow.api.pages import results_table
from shortflow.api.runs import Result, Results
from shortflow_linux.api import (
    ATTEMPTS,
    AllowLate,
    Attempts,
    Replacements,
    Testbed,
    Virtual,
    chosen,
    exit_code,
    real_runs,
)
from shortflow_papers import fig14_on_linux as figure
from shortflow_papers.reproduction.judged import Judged
from shortflow_papers.reproduction.summary import claim_section


@command
def fig14(
    *,
    repeat: Annotated[int, given.whole("Number of repetitions of each run (paper: 10).")] = 10,
    flows: Annotated[str, Opt("Numbers of simultaneous flows, each from 1 to 8.", "N,…")] = "1,2,4,8",
    full: Annotated[bool, Opt(f"Use flows of {figure.FULL_MB} MB. The measurement then takes hours.")] = False,
    out: given.KeptIn = Path("results/fig14"),
    attempts: Attempts = ATTEMPTS,
    allow_late: AllowLate = False,
    virtual: Virtual = False,
) -> Answer:
    """Measure Fig. 14 of L2DCT on the kernel's TCP, and decide its claims.

    The measurement needs root and takes some minutes. With --virtual it needs no root and takes hours.

    Each run is stored when it ends. After Ctrl-C or a failure, the same command resumes and repeats late runs, which
    did not keep time. Late runs enter no average. A claim is untested if most of its runs are late, or if --flows
    leaves out some of its runs. The exit code is 1 if a run stays late, or if a claim differs or is untested.
    """
    size_mb = figure.FULL_MB if full else figure.SCALED_MB
    out = Path(out)
    counts = list(dict.fromkeys(int(each) if each.strip().isdigit() else 0 for each in flows.split(",")))
    if not all(1 <= count <= 8 for count in counts):
        raise ConfigError(f"--flows {flows}: expected numbers from 1 to 8, separated by commas")
    bed = Testbed(figure.SCENARIO, Replacements(), attempts, chosen(virtual), _tell_fig14)
    store = bed.store_in(out)
    points = figure.measure_fig14(counts, repeat, size_mb, bed, store)
    note(f"runs: {store.runs}")
    claims = figure.fig14_claims(points)
    has_late = any(each.superseded for each in points.values())
    code = exit_code(not has_late, allow_late, virtual)
    # Late runs may leave claims untested, and `exit_code` has decided about late runs.
    if any(each.fails and not (has_late and each.finding.verdict is Verdict.UNTESTED) for each in claims):
        code = ExitCode.CLAIM_FAILED
    tables = [*figure.fig14_sections(points, size_mb), claim_section(claims)]
    return Answer(lambda: _fig14_document(size_mb, points, claims), tables, code)


def _fig14_document(size_mb: int, points: Mapping[int, Results], claims: Sequence[Judged]) -> dict[str, Any]:
    def accounts(point: Results) -> dict[str, Any]:
        return {name: [run.meta["testbed"] for run in real_runs(point, name)] for name in figure.SCHEMES}

    return {
        "size_mb": size_mb,
        "flows": {str(count): results_table(comparison) for count, comparison in points.items()},
        "claims": [judged.document() for judged in claims],
        "testbed": {str(count): accounts(each) for count, each in points.items()},
    }


def _tell_fig14(run: Result) -> None:
    flows, verdict = counted(int(run.at["flows"]), "flow"), run.meta["testbed"]["verdict"]
    note(f"{flows}, repetition {run.seed}, {run.scheme}: {verdict}")
