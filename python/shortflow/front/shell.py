"""The `shortflow` command. Progress goes to stderr, results to stdout, and every failure ends in one clean message."""

import errno
import os
import signal
import sys
import time
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand
from typer.main import get_command

from shortflow import errors
from shortflow._core import version
from shortflow.front.command import Group, built
from shortflow.front.console import notes_on_stderr, print_note

COMMANDS = (
    *("run", "compare", "reproduce", "survey", "sweep", "search", "tune"),
    *("list", "show", "schema", "report", "bench", "linux"),
)
"""The commands; each is declared in the module of its name."""


class Commands(Group):
    """The commands, each imported when it is first asked for, so that no command waits for what others need."""

    def list_commands(self, _: Any) -> list[str]:
        """All names, in the order of the help."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of this name, if there is one; every one is known to the search for the nearest name."""
        wanted = [cmd_name] if cmd_name in COMMANDS else list(COMMANDS)
        for name in wanted:
            if name not in self.commands:
                self.add_command(_load(name), name)
        return super().get_command(ctx, cmd_name)

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        """What the shell offers in place of a command: the names alone, as the imports of all take long."""
        self.commands = {name: TyperCommand(name) for name in COMMANDS}
        return super().shell_complete(ctx, incomplete)


def _load(name: str) -> Any:
    found = getattr(import_module(f"shortflow.commands.{name}"), "list_" if name == "list" else name)
    return get_command(found) if isinstance(found, typer.Typer) else built(name, found)


app = typer.Typer(
    name="shortflow",
    cls=Commands,
    help="Simulate and compare data-centre transports that finish short flows first.",
    epilog="Exit codes: 0 success, 1 a claim or check failed, 2 wrong input, 3 the environment lacks something, "
    "130 interrupted.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
FAILURES: dict[type[Exception], errors.ExitCode] = {
    errors.ConfigError: errors.ExitCode.WRONG_INPUT,
    errors.DamagedResult: errors.ExitCode.WRONG_INPUT,
    errors.MissingRequirement: errors.ExitCode.MISSING_REQUIREMENT,
    errors.LostRun: errors.ExitCode.MISSING_REQUIREMENT,
    errors.SimulationError: errors.ExitCode.CLAIM_FAILED,
    errors.Interrupted: errors.ExitCode.INTERRUPTED,
}

SAME_S = 0.5
"""So soon after a signal, the same one is no second wish: `timeout` sends it to the process, and then to its group."""
FULL = (errno.ENOSPC, errno.EDQUOT)
"""Errors of a file system that has no room."""


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"shortflow {version()}")
        raise typer.Exit


@app.callback()
def options(
    print_version: bool = typer.Option(
        False, "--version", callback=_print_version, is_eager=True, help="Print the version."
    ),
) -> None:
    """Simulate and compare data-centre transports that finish short flows first."""


def main() -> None:
    """Run the command and leave with its exit code."""
    signal.signal(signal.SIGTERM, _leave)
    signal.signal(signal.SIGINT, _interrupt)
    sys.exit(execute())


def _interrupt(number: int, _: object) -> None:
    """End in good order."""
    _end_at_next_signal(number)
    raise KeyboardInterrupt


def _leave(number: int, _: object) -> None:
    """End as the shell expects after a signal, but only when runs are stopped and the terminal is put in order."""
    _end_at_next_signal(number)
    sys.exit(128 + number)


def _end_at_next_signal(first: int) -> None:
    """Let a second signal not wait for the good order, as a hook of the user's may never return."""
    came = time.monotonic()

    def leave_at_once(number: int, _: object) -> None:
        if number == first and time.monotonic() - came < SAME_S:
            return
        if sys.stderr.isatty():
            os.write(sys.stderr.fileno(), b"\x1b[?25h")  # the cursor, which a progress bar hides
        os._exit(128 + number)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, leave_at_once)


def execute(arguments: Sequence[str] | None = None) -> int:
    """Run the command; every failure becomes a message on stderr and an exit code."""
    try:
        with notes_on_stderr():
            code = app(args=arguments, prog_name="shortflow", standalone_mode=False)
        sys.stdout.flush()
        if code == errors.ExitCode.INTERRUPTED:  # what Typer makes of Ctrl-C
            raise KeyboardInterrupt
        return int(code or errors.ExitCode.FINE)
    except KeyboardInterrupt:
        return _fail("interrupted", errors.ExitCode.INTERRUPTED)
    except BrokenPipeError:
        # The reader of stdout has left; nothing more can be said there, not even by the interpreter at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return errors.ExitCode.FINE
    except typer.TyperException as error:
        # Without any argument the message is the help, which is printed already.
        message = error.format_message().rstrip(".")
        hint = "" if message.endswith("?") else "; see `--help`"
        return _fail(message + hint, errors.ExitCode.WRONG_INPUT) if message else errors.ExitCode.WRONG_INPUT
    except OSError as error:
        return _print_system_error(error)
    except tuple(FAILURES) as error:
        return _fail(str(error), FAILURES[type(error)])


def _print_system_error(error: OSError) -> int:
    what = f"{error.filename or 'input or output'}: {error.strerror}"
    if error.errno in FULL:
        return _fail(f"{what}; free some space there, or name another place", errors.ExitCode.MISSING_REQUIREMENT)
    return _fail(what, errors.ExitCode.WRONG_INPUT)


def _fail(message: str, code: errors.ExitCode) -> int:
    """Say on stderr why the command fails, and hand back the exit code."""
    print_note(f"shortflow: {message}")
    return code
