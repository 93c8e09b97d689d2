"""`schema`: JSON Schema of scenario files, for editors and other programs."""

import sys
from pathlib import Path
from typing import Annotated

from shortflow import _core
from shortflow.front.command import Answer, Opt, command
from shortflow.store.files import Kind, write_text


@command
def schema(
    *,
    out: Annotated[
        str | Path | None, Opt("Write the schema to this file instead of stdout.", "FILE", read=Path)
    ] = None,
    json: Annotated[bool, Opt(default=False)] = False,
) -> Answer:
    """Print the JSON Schema (draft 2020-12) of a scenario file."""
    document = _core.schema() + "\n"
    if out:
        write_text(Path(out), document, Kind.SCHEMA)
    else:
        sys.stdout.write(document)
    return Answer(lambda: None, [])
