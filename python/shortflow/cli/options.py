"""Arguments and options that several commands share."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from shortflow.cli import completion
from shortflow.errors import ConfigError
from shortflow.executors import Executor, Local
from shortflow.executors.cluster import Dask as Cluster
from shortflow.precision import MAX_SEEDS, Precision
from shortflow.runs import MOST_SEEDS
from shortflow.scenario import Scenario, load_scenario
from shortflow.scheme import split_settings
from shortflow.terms import pairs

_DIGITS = 100
"""No number that makes sense has more; Python refuses to read some thousands."""


def whole_number(least: int, most: int | None = None) -> Callable[[object], int]:
    """A reader of options that are whole numbers from `least` on, up to `most` if there is one."""
    wanted = f"from {least} on" if most is None else f"from {least} to {most}"

    def read(value: object) -> int:
        text = str(value)
        number = int(text) if text.isdecimal() and len(text) <= _DIGITS else -1
        if number < least or (most is not None and number > most):
            raise typer.BadParameter(f"{text} is not a whole number {wanted}")
        return number

    return read


ScenarioName = Annotated[
    str,
    typer.Argument(
        metavar="SCENARIO",
        help="A shipped scenario (`shortflow list scenarios`) or a TOML file.",
        autocompletion=completion.scenarios,
    ),
]
SchemeName = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="Transport and queue discipline (`shortflow list schemes`).",
        autocompletion=completion.schemes,
    ),
]
SchemeNames = Annotated[
    str,
    typer.Option(
        metavar="NAMES",
        help="Schemes, separated by commas: NAME, TRANSPORT over QUEUE, FILE.toml:NAME or FILE.py:CLASS; "
        "with settings of its own: `xdctcp+g=0.09`.",
        autocompletion=completion.schemes,
    ),
]
SetValues = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Change a value: a parameter, `topology.rate`, `transport.g`, …",
        autocompletion=completion.keys,
    ),
]
Seed = Annotated[int, typer.Option(metavar="NUMBER", parser=whole_number(0), help="Seed of all random draws.")]
Seeds = Annotated[
    int, typer.Option(metavar="NUMBER", parser=whole_number(1, MOST_SEEDS), help="Run seeds 1 to this number.")
]
Jobs = Annotated[
    int | None,
    typer.Option(metavar="NUMBER", parser=whole_number(1), help="Runs at a time (default: one per core)."),
]
Dask = Annotated[
    str | None,
    typer.Option(
        "--dask", metavar="ADDRESS", help="Run on the Dask cluster of this scheduler, such as tcp://10.0.0.1:8786."
    ),
]
UntilCi = Annotated[
    str | None,
    typer.Option(
        "--until-ci",
        metavar="[METRIC=]PERCENT",
        help="Add seeds, five at a time and five at least, until the 95 % interval is ± this share of the mean: 2%, "
        "p99_short_s=5%.",
    ),
]
MaxSeeds = Annotated[
    int | None,
    typer.Option(
        metavar="NUMBER",
        parser=whole_number(1, MOST_SEEDS),
        help=f"The most seeds for --until-ci (default: {MAX_SEEDS}).",
    ),
]
MeasuredFile = Annotated[
    Path | None,
    typer.Option(
        "--measured",
        metavar="FILE",
        help="Show measured flows beside the schemes: CSV or Parquet with start_s, size_bytes, fct_s, perhaps class.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of tables.")]
KeptIn = Annotated[Path, typer.Option("--out", metavar="DIR", help="Keep runs and report in this directory.")]
OutDirectory = Annotated[Path | None, typer.Option("--out", metavar="DIR", help="Keep the results in this directory.")]


def executor(jobs: int | None, dask: str | None) -> Executor:
    """Where runs are done."""
    if dask is None:
        return Local(jobs)
    if jobs is not None:
        raise ConfigError("--jobs: is about this machine; with --dask the cluster has as many runs at a time as it can")
    return Cluster(dask)


def precision(until_ci: str | None, max_seeds: int | None) -> Precision | None:
    """The interval that is wanted, if one is."""
    if until_ci is None:
        if max_seeds is not None:
            raise ConfigError(f"--max-seeds {max_seeds}: is for --until-ci; --seeds says how many there are without")
        return None
    return Precision.parse(until_ci, max_seeds or MAX_SEEDS)


def parse_settings(values: list[str] | None) -> dict[str, str]:
    """The `--set` options as a mapping; the last one of a key counts."""
    return pairs(values or [], "--set", "KEY=VALUE, such as --set topology.rate=10Gbps")


def scenario_with(name: str, settings: dict[str, str]) -> Scenario:
    """The scenario with the settings that are about it; they may supply what its file leaves out."""
    return load_scenario(name, split_settings(settings)[0])
