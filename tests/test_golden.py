"""Transcripts of commands: `pytest tests/test_golden.py --renew` writes anew what the commands of each print.

A line of `tests/golden/*.txt` that begins with `$` is a command, with its exit code in brackets unless that is 0. Below
stand its stdout, and its stderr behind `!`. A JSON document is a line for each key, with a hash for a large value.
"""

import hashlib
import json
import re
import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest

from conftest import Command, Patch
from shortflow._core import version

FILES = sorted((Path(__file__).parent / "golden").glob("*.txt"))
VARYING = {"build", "code", "finished_at", "key", "platform", "reused", "revision", "seconds", "version", "wall_s"}
"""Keys whose values depend on the machine, the build or the time."""
HIDDEN = re.compile(r"(?<=reused, )\d+(?= s\))|(?<=\()[\d.]+(?= MB\))")
"""Seconds, and sizes of compressed files."""
BOX = re.compile(r"[│╭╮╰╯─]+ *|\s{2,}")
"""Frames and spacing of help."""
LARGE = 300
"""Characters of a JSON value from which on a hash stands for it."""


def settled(value: Any) -> Any:
    """A JSON value without what varies, its numbers to nine digits."""
    if isinstance(value, dict):
        return {key: settled(each) for key, each in value.items() if key not in VARYING}
    if isinstance(value, list):
        return [settled(each) for each in value]
    return float(f"{value:.9g}") if isinstance(value, float) else value


def outline(text: str) -> str:
    document = settled(json.loads(text))
    parts = document if isinstance(document, dict) else {str(len(document)): document}
    texts = {key: json.dumps(value, ensure_ascii=False) for key, value in parts.items()}
    lines = (text if len(text) < LARGE else hashlib.sha256(text.encode()).hexdigest()[:16] for text in texts.values())
    return "\n".join(f"{key}: {line}" for key, line in zip(texts, lines, strict=True))


def transcript(shortflow: Command, command: str) -> str:
    """A command as its file shows it, with what it prints."""
    arguments = shlex.split(command)[1:]
    said = shortflow(*arguments)
    is_json = said.stdout.startswith(("{", "[")) and ("--json" in arguments or "schema" in arguments)
    stdout = outline(said.stdout) if is_json else said.stdout
    code = f" [{said.code}]" if said.code else ""
    lines = [f"$ {command}{code}", *stdout.splitlines(), *(f"! {line}" for line in said.stderr.splitlines())]
    lines = [BOX.sub(" ", line).strip() if line.startswith(("│", "╭", "╰")) else line.rstrip() for line in lines]
    text = "\n".join(line for line in lines if line or "--help" not in arguments)
    return HIDDEN.sub("N", text.replace(version(), "VERSION").replace(str(Path.cwd()), "HERE"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
@pytest.mark.usefixtures("scenario")
def test_commands_print_what_they_printed(
    file: Path, shortflow: Command, monkeypatch: Patch, request: pytest.FixtureRequest
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    shutil.copytree(FILES[0].parent / "files", ".", dirs_exist_ok=True)
    commands = re.findall(r"^\$ (.+?)(?: \[\d+\])?$", file.read_text(encoding="utf-8"), re.MULTILINE)
    found = "\n".join(transcript(shortflow, command) for command in commands) + "\n"
    if request.config.getoption("--renew"):
        file.write_text(found, encoding="utf-8")
    assert found == file.read_text(encoding="utf-8")
