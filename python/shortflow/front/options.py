"""Parameters that several commands share, and their conversion."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, get_args

import typer

from shortflow import store
from shortflow.criteria import Criteria
from shortflow.declared import NamedScheme
from shortflow.errors import ConfigError, unknown_name
from shortflow.executors.cluster import Dask as Cluster
from shortflow.front import complete
from shortflow.front.command import Arg, Opt
from shortflow.front.progress import ShowProgress
from shortflow.metrics.data import USUAL_BINS, Bins
from shortflow.precision import MAX_SEEDS, Precision
from shortflow.runner import Jobs as Work
from shortflow.runs import MOST_SEEDS
from shortflow.scenario import Scenario, load_scenario
from shortflow.scenario import Settings as Changes
from shortflow.scheme import split_settings
from shortflow.terms import names, pairs, shares
from shortflow.transport import Transport

_DIGITS = 100
"""Maximum number of digits in a number, because Python refuses thousands of digits."""
AnyScenario = Scenario | str | Path | Mapping[str, object]
"""A scenario, or anything that `load` takes."""
AnySchemes = str | Transport | Sequence[str | Transport]
"""One scheme, a sequence of schemes, or names separated by commas."""


def whole(help_text: str, least: int = 1, most: int | None = None) -> Opt:
    """An option for whole numbers from `least` on, up to `most` if given."""
    wanted = f"from {least} on" if most is None else f"from {least} to {most}"

    def read(value: object) -> int:
        text = str(value)
        number = int(text) if text.isdecimal() and len(text) <= _DIGITS else -1
        if number < least or (most is not None and number > most):
            raise typer.BadParameter(f"{text} is not a whole number {wanted}")
        return number

    return Opt(help_text, "NUMBER", kind=int, more={"parser": read})


parse_settings = partial(pairs, option="--set", expected="KEY=VALUE, such as --set topology.rate=10Gbps")
SCHEME = Opt("Scheme to run; `shortflow list schemes` prints all.", "NAME", complete=complete.schemes)
_KEPT = "Store the runs and the report in this directory."

ScenarioName = Annotated[
    AnyScenario,
    Arg(
        "Name of a shipped scenario (`shortflow list scenarios`), or a TOML file.",
        "SCENARIO",
        complete=complete.scenarios,
    ),
]
NamedScenario = Annotated[str, get_args(ScenarioName)[1]]
SchemeName = Annotated[str | Transport, SCHEME]
SchemeNames = Annotated[
    AnySchemes,
    Opt(
        "Schemes to run, separated by commas. Each scheme is NAME, NAME+KEY=VALUE, TRANSPORT over QUEUE, "
        "FILE.toml:NAME or FILE.py:CLASS.",
        "NAMES",
        read=partial(names, option="--schemes"),
        complete=complete.schemes,
    ),
]
Settings = Annotated[
    Changes | None,
    Opt(
        "Set a key of the scenario or of the scheme, such as topology.rate=10Gbps. Repeat the option for more keys.",
        "KEY=VALUE",
        "--set",
        many=True,
        read=parse_settings,
        complete=complete.keys,
    ),
]
Seed = Annotated[int, whole("Seed of all random draws. With one seed, all schemes see the same flows.", 0)]
Seeds = Annotated[int, whole("Run seeds 1 to this number.", 1, MOST_SEEDS)]
AnySeeds = Annotated[int | Sequence[int], whole("Run seeds 1 to this number.", 1, MOST_SEEDS)]
Jobs = Annotated[Work, whole("Number of runs at the same time (default: one per core).")]
Dask = Annotated[
    str | None,
    Opt("Run on the Dask cluster whose scheduler has this address, such as tcp://10.0.0.1:8786.", "ADDRESS"),
]
UntilCi = Annotated[
    str | None,
    Opt(
        "Add seeds in steps of 5 until the 95 % interval of METRIC is within ± PERCENT of its mean, such as 2% or "
        "p99_short_s=5% (default METRIC: mean completion time).",
        "[METRIC=]PERCENT",
    ),
]
MaxSeeds = Annotated[
    int | None, whole(f"Maximum number of seeds for --until-ci (default: {MAX_SEEDS}).", 1, MOST_SEEDS)
]
Baseline = Annotated[
    str | None,
    Opt(
        "Scheme to which the answer states each ratio (default: of the compared schemes, the first in `shortflow list "
        "schemes`).",
        "NAME",
        complete=complete.schemes,
    ),
]
Ties = Annotated[
    str | tuple[float, float] | None,
    Opt(
        "Two schemes tie if their ratio is within the first SHARE of 1 and its 95 % interval within the second "
        "(default: 5%,10%).",
        "SHARE,SHARE",
    ),
]
BinEnds = Annotated[
    str | Sequence[str | int] | None,
    Opt(
        "Largest flow size of each size bin (default: 10KB,100KB,1MB). Short flows end at the last size but one; long "
        "flows begin at the last size.",
        "SIZES",
    ),
]
METRICS = Opt("Metrics to show, separated by commas (default: the main metrics).", "NAMES", complete=complete.metrics)
Metrics = Annotated[str | Sequence[str] | None, METRICS]
UNIT = Opt(
    "Unit of the sizes if their file names none: B, KB, MB, packets (of 1460 bytes), or a size such as 1000B.", "UNIT"
)
MEASURED = Opt(
    "Show your measured flows beside the schemes. FILE is CSV or Parquet with the columns start_s, size_bytes, fct_s "
    "and, if you like, class.",
    "FILE",
)
StoredScenario = Annotated[
    str | None, Opt("File of the stored scenario, if the scenario is not a shipped one.", "FILE")
]
KeptIn = Annotated[str | Path, Opt(_KEPT, "DIR", read=Path)]
KeptInIfAny = Annotated[str | Path | None, Opt(_KEPT, "DIR", read=Path, default=...)]
OutDirectory = Annotated[str | Path | None, Opt("Store the results in this directory.", "DIR", read=Path)]
Progress = ShowProgress
"""For Python only. The shell shows a bar if stderr is a terminal."""


def executor(jobs: Work, dask: str | None) -> Work:
    """The executor for the runs. Raises `ConfigError` if both `jobs` and `dask` are given."""
    if dask is None:
        return jobs
    if jobs is not None:
        raise ConfigError(
            "--jobs: applies to this machine only; the cluster of --dask sets its own number; leave out --jobs"
        )
    return Cluster(dask)


def precision(until_ci: str | None, max_seeds: int | None) -> Precision | None:
    """The wanted precision; None without `until_ci`. Raises `ConfigError` for `max_seeds` without `until_ci`."""
    if until_ci is None and max_seeds is not None:
        raise ConfigError(f"--max-seeds {max_seeds}: needs --until-ci; without it, --seeds sets the number")
    return None if until_ci is None else Precision.parse(until_ci, max_seeds or MAX_SEEDS)


def scenario_with(scenario: AnyScenario, changes: Changes | None) -> Scenario:
    """The scenario, loaded with the changes that set its own keys, because these may supply missing values.

    A loaded `Scenario` is returned unchanged.
    """
    if isinstance(scenario, Scenario):
        return scenario
    return load_scenario(scenario, split_settings(changes or {})[0])


def scheme_list(schemes: AnySchemes) -> Sequence[str | Transport]:
    """The schemes as a sequence."""
    if isinstance(schemes, str) and not isinstance(schemes, NamedScheme):
        return names(schemes, "--schemes")
    return [schemes] if isinstance(schemes, str | type) else schemes


def metric_names(metrics: str | Sequence[str] | None) -> Sequence[str]:
    """The names of metrics as a sequence."""
    return names(metrics, "--metrics") if isinstance(metrics, str) else metrics or ()


def criteria(
    metrics: Sequence[str],
    baseline: str | None,
    ties: str | tuple[float, float] | None,
    bins: str | Sequence[str | int] | None = None,
    schemes: Sequence[str | Transport] = (),
) -> Criteria:
    """The criteria of an answer. Raises `ConfigError` if `schemes` are given and the baseline is not one of them."""
    known = [getattr(each, "__name__", str(each)) for each in schemes]
    if known and baseline is not None and baseline not in known:
        raise unknown_name("baseline among the schemes", baseline, known)
    found = Criteria(metrics, baseline, bins=USUAL_BINS if bins is None else Bins.parse(bins))
    return found if ties is None else replace(found, ties=shares(ties))


def store_in(out: str | Path | None) -> "store.runs.Store | None":
    """The store for the runs; None without `out`."""
    return store.runs.Store(Path(out)) if out else None


def seed_list(seeds: int | Sequence[int]) -> Sequence[int]:
    """The seeds as a sequence; n stands for seeds 1 to n.

    Raises `ConfigError` for a repeated seed or another value.
    """
    if isinstance(seeds, int) and seeds >= 1:
        return range(1, seeds + 1)
    if isinstance(seeds, Sequence) and seeds and all(isinstance(seed, int) for seed in seeds):
        if len(set(seeds)) < len(seeds):
            raise ConfigError(f"seeds: {list(seeds)} names a seed twice")
        return seeds
    raise ConfigError(f"seeds: {seeds!r} is neither a number from 1 on nor a list of whole numbers")
