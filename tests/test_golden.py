"""Transcripts of commands. `pytest tests/test_golden.py --renew` updates the outputs in the transcripts.

A line of `tests/golden/*.txt` that begins with `$` is a command, with its exit code in brackets unless it is 0. The
command's stdout follows, and its stderr after `!`. A large JSON value is shown by its keys, counts and first member.
"""

import json
import math
import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from conftest import Command, Patch
from shortflow._core import version
from shortflow.metrics.catalogue import possible

FILES = sorted((Path(__file__).parent / "golden").glob("*.txt"))
VARYING = {"build", "code", "finished_at", "key", "platform", "reused", "revision", "seconds", "version", "wall_s"}
"""Keys whose values depend on the machine, the build or the time."""
HIDDEN = re.compile(r"(?<=reused, )\d+(?= s\))|(?<=\()[\d.]+(?= MB\))")
"""Seconds, and sizes of compressed files."""
BOX = re.compile(r"[│╭╮╰╯─]+ *|\s{2,}")
"""Frames and spacing of help."""
LARGE = 300
"""Minimum length, in characters, of a JSON value that is shown by its keys, counts and first member."""
DEEP = 4
"""Number of levels of a large value that are shown."""
METRICS = possible(("short", "long"))


def settled(value: Any) -> Any:
    """A JSON value without varying keys, with numbers rounded to nine digits."""
    if isinstance(value, dict):
        return {key: settled(each) for key, each in value.items() if key not in VARYING}
    if isinstance(value, list):
        return [settled(each) for each in value]
    return float(f"{value:.9g}") if isinstance(value, float) else value


def outline(text: str) -> str:
    document = settled(json.loads(text))
    parts = document if isinstance(document, dict) else {"list": document}
    return "\n".join(line for key, value in parts.items() for line in shape(key, value))


def shape(name: str, value: Any, level: int = 0) -> Iterator[str]:
    """Lines that describe a value. Of members that differ only in their metrics, only the first is shown."""
    text, lead = json.dumps(value, ensure_ascii=False), f"{'  ' * level}{name}"
    if len(text) < LARGE:
        yield f"{lead}: {text}"
        return
    named = value if isinstance(value, dict) else {str(at): each for at, each in enumerate(value)}
    are_metrics = named.keys() <= METRICS.keys()
    if isinstance(value, str) or level == DEEP:
        keys = "metrics" if are_metrics else ", ".join(named)
        yield f"{lead}: {keys}" if isinstance(value, dict) else f"{lead}: {len(value)} long"
        return
    kinds = [{*each} - METRICS.keys() if isinstance(each, dict) else type(each) for each in named.values()]
    if len(named) > 1 and (are_metrics or all(each == kinds[0] for each in kinds)):
        first = next(iter(named))
        count = f"{len(value)} members" if isinstance(value, list) else ", ".join(value)
        yield f"{lead}: {'metrics' if are_metrics else count}"
        named = {first: named[first]}
    else:
        yield f"{lead}:"
    for key, each in named.items():
        yield from shape(key, each, level + 1)


def transcript(shortflow: Command, command: str, code: int) -> str:
    """Transcript of a command with its output. The expected exit code is never updated."""
    arguments = shlex.split(command)[1:]
    said = shortflow(*arguments, code=code)
    is_json = said.stdout.startswith(("{", "[")) and ("--json" in arguments or "schema" in arguments)
    stdout = outline(said.stdout) if is_json else said.stdout
    lines = [
        f"$ {command}{f' [{code}]' if code else ''}",
        *stdout.splitlines(),
        *(f"! {line}" for line in said.stderr.splitlines()),
    ]
    lines = [BOX.sub(" ", line).strip() if line.startswith(("│", "╭", "╰")) else line.rstrip() for line in lines]
    text = "\n".join(line for line in lines if line or "--help" not in arguments)
    return HIDDEN.sub("N", text.replace(version(), "VERSION").replace(str(Path.cwd()), "HERE"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
@pytest.mark.usefixtures("scenario")
def test_commands_print_what_they_printed(
    file: Path, shortflow: Command, monkeypatch: Patch, request: pytest.FixtureRequest
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    # A slow machine would print lines of progress, which a fast one does not.
    monkeypatch.setattr("shortflow.front.progress.LATELY_S", math.inf)
    shutil.copytree(FILES[0].parent / "files", ".", dirs_exist_ok=True)
    commands = re.findall(r"^\$ (.+?)(?: \[(\d+)\])?$", file.read_text(encoding="utf-8"), re.MULTILINE)
    found = "\n".join(transcript(shortflow, command, int(code or 0)) for command, code in commands) + "\n"
    if request.config.getoption("--renew"):
        file.write_text(found, encoding="utf-8")
    assert found == file.read_text(encoding="utf-8")
