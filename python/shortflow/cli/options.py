"""Arguments and options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

from shortflow.errors import ConfigError

ScenarioName = Annotated[
    str, typer.Argument(metavar="SCENARIO", help="A shipped scenario (`shortflow list scenarios`) or a TOML file.")
]
SetValues = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Change a value: a parameter, `topology.rate`, `transport.g`, …"),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of tables.")]
OutDirectory = Annotated[Path | None, typer.Option("--out", metavar="DIR", help="Keep the results in this directory.")]


def parse_settings(values: list[str] | None) -> dict[str, str]:
    """The `--set` options as a mapping; the last one of a key counts."""
    settings = {}
    for value in values or []:
        key, equals, new = (part.strip() for part in value.partition("="))
        if not key or not equals or not new:
            raise ConfigError(f"--set {value}: expected KEY=VALUE, such as --set topology.rate=10Gbps")
        settings[key] = new
    return settings


def parse_names(value: str, option: str) -> list[str]:
    """A list of names separated by commas."""
    names = [name.strip() for name in value.split(",")]
    if not all(names):
        raise ConfigError(f"{option} {value}: expected names separated by commas")
    return names
