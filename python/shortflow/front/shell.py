"""The `shortflow` command. Results go to stdout, progress to stderr. Every failure ends in one clean message."""

import ast
import errno
import os
import signal
import sys
import time
from collections.abc import Sequence
from importlib import import_module
from importlib.metadata import EntryPoint
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand
from typer.main import get_command

from shortflow import errors, installed
from shortflow._core import version
from shortflow.front.command import CommandGroup, built
from shortflow.front.console import notes_on_stderr, print_note

COMMANDS = (
    *("run", "compare", "expect", "explain", "why", "reproduce", "survey", "new-paper"),
    *("sweep", "search", "tune", "advise"),
    *("list", "show", "import", "export", "schema", "report", "bench", "linux"),
)
"""Commands, in the order of the help. The module with the command's name declares it, or another package does."""
NOT_NAMES = {"list": ("list", "list_"), "import": ("import_files", "import_files")}
"""Module and function of the commands whose name is a name of Python."""


class Commands(CommandGroup):
    """All commands. Each command is imported on demand, so that no command waits for the imports of another."""

    def list_commands(self, _: Any) -> list[str]:
        """Names of all commands, in the order of the help. Commands of other packages come last."""
        return _names()

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of this name, or None. For an unknown name, Typer then suggests similar names."""
        if cmd_name not in COMMANDS and cmd_name not in _names():
            self._name_all()
        elif cmd_name not in self.commands:
            self.add_command(_load(cmd_name), cmd_name)
        return super().get_command(ctx, cmd_name)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Help with the summary of each command, without imports. Notes the packages whose commands are left out."""
        for each in installed.left_out(installed.COMMANDS, COMMANDS):
            print_note(f"left out: {each}")
        points = installed.added(installed.COMMANDS)
        self.commands = {name: TyperCommand(name, help=_summary(name, points.get(name))) for name in _names()}
        super().format_help(ctx, formatter)

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        """Names of commands for completion, without imports."""
        self._name_all()
        return super().shell_complete(ctx, incomplete)

    def _name_all(self) -> None:
        self.commands = {name: TyperCommand(name) for name in _names()}


def _names() -> list[str]:
    """Names of all commands. A name with a dot is a subcommand, and is left out."""
    others = [name for name in installed.added(installed.COMMANDS) if "." not in name]
    return list(dict.fromkeys([*COMMANDS, *others]))


def _is_built_in(name: str) -> bool:
    return name in COMMANDS and name not in installed.PACKAGED[installed.COMMANDS]


def _home(name: str) -> tuple[str, str]:
    """Module and function that declare a command."""
    return NOT_NAMES.get(name, (name, name))


def _load(name: str) -> Any:
    if not _is_built_in(name):
        return installed.load_added(
            installed.COMMANDS,
            name,
            lambda found: get_command(found) if isinstance(found, typer.Typer) else built(name, found),
        )
    home, function = _home(name)
    return built(name, getattr(import_module(f"shortflow.commands.{home}"), function))


def _summary(name: str, point: EntryPoint | None) -> str:
    """First paragraph of a command's docstring, read from the source, because its module imports slow packages."""
    home, function = _home(name)
    file = Path(__file__).parents[1] / "commands" / f"{home}.py"
    if not _is_built_in(name):
        if point is None:
            return f"Needs the package {installed.PACKAGED[installed.COMMANDS][name]}."
        try:
            spec, function = find_spec(point.module), point.attr
            body = ast.parse(Path(spec.origin if spec and spec.origin else os.devnull).read_text("utf-8")).body
        except Exception:  # any error, because `find_spec` imports the package that holds the module
            return f"It cannot be loaded: `shortflow {name}` prints the reason."
    else:
        body = ast.parse(file.read_text("utf-8")).body
    functions = (each for each in body if isinstance(each, ast.FunctionDef))
    # A group's entry point is a `Typer`. The function with the command's name describes the group.
    found = next((ast.get_docstring(each) for each in functions if each.name in (function, name)), "")
    return " ".join((found or "").partition("\n\n")[0].split())


app = typer.Typer(
    name="shortflow",
    cls=Commands,
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

FULL = (errno.ENOSPC, errno.EDQUOT)
SAME_S = 0.5
"""Repeats of a signal within this time in seconds count once: `timeout` signals the process, then its group."""


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"shortflow {version()}")
        raise typer.Exit


VERSION = typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")


@app.callback()
def options(print_version: Annotated[bool, VERSION] = False) -> None:
    """Simulate and compare data-centre transports that finish short flows first."""


def run_and_exit() -> None:
    """Runs the command and exits with its code."""
    signal.signal(signal.SIGTERM, _leave)
    signal.signal(signal.SIGINT, _interrupt)
    sys.exit(run_command())


def _interrupt(number: int, _: object) -> None:
    """Ends the work in order, on SIGINT."""
    _end_at_next_signal(number)
    raise KeyboardInterrupt


def _leave(number: int, _: object) -> None:
    """Exits with the code that the shell expects after SIGTERM, after runs are stopped and the terminal is restored."""
    _end_at_next_signal(number)
    sys.exit(128 + number)


def _end_at_next_signal(first: int) -> None:
    """Makes a second signal exit at once, because a user's hook may never return."""
    came = time.monotonic()

    def leave_at_once(number: int, _: object) -> None:
        if number == first and time.monotonic() - came < SAME_S:
            return
        if sys.stderr.isatty():
            os.write(sys.stderr.fileno(), b"\x1b[?25h")  # show the cursor, which a progress bar hides
        os._exit(128 + number)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, leave_at_once)


def run_command(arguments: Sequence[str] | None = None) -> int:
    """Runs the command, and returns its exit code. A failure becomes a message on stderr."""
    try:
        with notes_on_stderr():
            code = app(args=arguments, prog_name="shortflow", standalone_mode=False)
        sys.stdout.flush()
        if code == errors.ExitCode.INTERRUPTED:  # Typer's exit code for Ctrl-C
            raise KeyboardInterrupt
        return int(code or errors.ExitCode.FINE)
    except BrokenPipeError:
        # The reader of stdout has gone. Nothing may write to stdout, not even the interpreter at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return errors.ExitCode.FINE
    except typer.TyperException as error:
        message = error.format_message().rstrip(".")  # empty if there were no arguments and the help was printed
        hint = "" if message.endswith("?") else "; see `--help`"
        return _fail(message + hint, errors.ExitCode.WRONG_INPUT) if message else errors.ExitCode.WRONG_INPUT
    except OSError as error:
        what, is_full = f"{error.filename or 'input or output'}: {error.strerror}", error.errno in FULL
        remedy = "; free some space there, or name another place" if is_full else ""
        return _fail(what + remedy, errors.ExitCode.MISSING_REQUIREMENT if is_full else errors.ExitCode.WRONG_INPUT)
    except tuple(FAILURES) as error:
        return _fail(str(error), FAILURES[type(error)])
    except BaseException as error:  # Polars turns Ctrl-C during its import into a panic
        if not isinstance(error, KeyboardInterrupt) and "KeyboardInterrupt" not in str(error):
            raise
        return _fail("interrupted", errors.ExitCode.INTERRUPTED)


def _fail(message: str, code: errors.ExitCode) -> int:
    print_note("\n".join(f"shortflow: {line}" for line in message.split("\n")))
    return code
