"""`shortflow schema`: what a scenario file may say, for editors and other programs."""

from pathlib import Path
from typing import Annotated

import typer

from shortflow import _core
from shortflow.store.files import Kind, write_text


def schema(
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Write it to this file instead of stdout.")] = None,
) -> None:
    """Print the JSON Schema (draft 2020-12) of a scenario file."""
    document = _core.schema() + "\n"
    if out:
        write_text(out, document, Kind.SCHEMA)
    else:
        typer.echo(document, nl=False)
