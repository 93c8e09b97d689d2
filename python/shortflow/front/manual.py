"""The manual page shortflow(1), from the commands' own help: `python -m shortflow.front.manual >shortflow.1`."""

import inspect
import re
from collections.abc import Iterator
from typing import Any

from typer.main import get_command

from shortflow._core import version
from shortflow.front.shell import COMMANDS, app

INTRODUCTION = (
    "Shortflow simulates data-centre transports packet by packet, on your flow sizes and your topology, and compares "
    "them on the same flows, over several seeds, with confidence intervals. Results go to standard output, everything "
    "else to standard error."
)
EXAMPLES = (
    ("A first comparison", "shortflow compare l2dct-benchmark --schemes tcp,dctcp,l2dct --seeds 10"),
    ("What a scenario amounts to", "shortflow show l2dct-benchmark"),
    ("Results that are kept, and a page about them", "shortflow compare incast --schemes tcp,dctcp --out results"),
    ("", "shortflow report results"),
)


def manual_page() -> str:
    """The manual page in roff."""
    root = get_command(app)
    context = root.make_context("shortflow", [], resilient_parsing=True)
    lines = [
        f'.TH SHORTFLOW 1 "" "Shortflow {version()}" "User Commands"',
        *(".SH NAME", rf"shortflow \- {_text(str(root.help)).rstrip('.')}"),
        *(".SH SYNOPSIS", ".B shortflow", r".I COMMAND\fR [\fIARGUMENT\fR]... [\fIOPTION\fR]..."),
        *(".SH DESCRIPTION", _text(INTRODUCTION)),
        *(".SH OPTIONS", *_parameters(root, context)),
        ".SH COMMANDS",
    ]
    for name in COMMANDS:
        lines += _command(root.get_command(context, name), name, context)  # type: ignore[attr-defined]
    lines.append(".SH EXIT STATUS")
    for code in str(root.epilog).removeprefix("Exit codes: ").rstrip(".").split(", "):
        number, _, meaning = code.partition(" ")
        lines += [".TP", f".B {number}", _text(meaning)]
    lines.append(".SH EXAMPLES")
    for what, example in EXAMPLES:
        lines += [*([".PP", _text(f"{what}:")] if what else []), ".EX", _text(example), ".EE"]
    return "\n".join([*lines, ".SH SEE ALSO", ".BR shortflow\\-linux (1)", ""])


def _command(command: Any, name: str, parent: Any) -> Iterator[str]:
    """Section of a command, then the sections of its subcommands."""
    context = command.make_context(name, [], parent=parent, resilient_parsing=True)
    usage = " ".join(command.collect_usage_pieces(context))
    yield f'.SS "{_text(f"{context.command_path} {usage}")}"'
    for paragraph in inspect.cleandoc(command.help or "").split("\n\n"):
        yield from (_text(paragraph.replace("\n", " ")), ".PP")
    yield from _parameters(command, context)
    for each in getattr(command, "commands", {}):
        yield from _command(command.commands[each], each, context)


def _parameters(command: Any, context: Any) -> Iterator[str]:
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if record and parameter.name != "help":
            words = record[0] if parameter.param_type_name == "option" else record[0].partition(" <")[0]
            yield from (".TP", f".B {_text(words)}", _text(record[1]))


def _text(words: str) -> str:
    """Text escaped for roff: hyphens, quotes and leading dots."""
    escaped = re.sub(r"\s+", " ", words).strip().replace("\\", r"\e").replace("-", r"\-").replace('"', r"\(dq")
    return rf"\&{escaped}" if escaped.startswith((".", "'")) else escaped


if __name__ == "__main__":
    print(manual_page(), end="")
