"""The `shortflow` command. Progress goes to stderr, results to stdout, and every failure ends in one clean message."""

import errno
import os
import signal
import sys
from collections.abc import Sequence

import typer

from shortflow._core import version
from shortflow.cli import bench, compare, linux, listing, report, reproduce, run, search, show, survey
from shortflow.cli.console import print_error
from shortflow.errors import ConfigError, DamagedResult, ExitCode, Interrupted, MissingRequirement, SimulationError

app = typer.Typer(
    name="shortflow",
    help="Simulate and compare data-centre transports that finish short flows first.",
    epilog="Exit codes: 0 fine, 1 a check did not hold, 2 the input was wrong, 3 the environment lacks something, "
    "130 interrupted.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command("run")(run.run)
app.command("compare")(compare.compare)
app.command("reproduce")(reproduce.reproduce_figures)
app.command("survey")(survey.survey)
app.command("search")(search.search)
app.command("list")(listing.list_names)
app.command("show")(show.show)
app.command("report")(report.report)
app.command("bench")(bench.bench)
app.add_typer(linux.app)

FAILURES: dict[type[Exception], ExitCode] = {
    ConfigError: ExitCode.WRONG_INPUT,
    DamagedResult: ExitCode.WRONG_INPUT,
    MissingRequirement: ExitCode.MISSING_REQUIREMENT,
    SimulationError: ExitCode.CLAIM_FAILED,
    Interrupted: ExitCode.INTERRUPTED,
}

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


def _interrupt(_: int, __: object) -> None:
    """End in good order."""
    _end_at_next_signal()
    raise KeyboardInterrupt


def _leave(number: int, _: object) -> None:
    """End as the shell expects after a signal, but only when runs are stopped and the terminal is put in order."""
    _end_at_next_signal()
    sys.exit(128 + number)


def _end_at_next_signal() -> None:
    """Let a second signal not wait for the good order, as a hook of the user's may never return."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _leave_at_once)


def _leave_at_once(number: int, _: object) -> None:
    if sys.stderr.isatty():
        os.write(sys.stderr.fileno(), b"\x1b[?25h")  # the cursor, which a progress bar hides
    os._exit(128 + number)


def execute(arguments: Sequence[str] | None = None) -> int:
    """Run the command; every failure becomes a message on stderr and an exit code."""
    try:
        code = app(args=arguments, prog_name="shortflow", standalone_mode=False)
        sys.stdout.flush()
        if code == ExitCode.INTERRUPTED:  # what Typer makes of Ctrl-C
            raise KeyboardInterrupt
        return int(code or ExitCode.FINE)
    except KeyboardInterrupt:
        return print_error("interrupted", ExitCode.INTERRUPTED)
    except BrokenPipeError:
        # The reader of stdout has left; nothing more can be said there, not even by the interpreter at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ExitCode.FINE
    except typer.TyperException as error:
        # Without any argument the message is the help, which is printed already.
        message = error.format_message().rstrip(".")
        return print_error(f"{message}; see `--help`", ExitCode.WRONG_INPUT) if message else ExitCode.WRONG_INPUT
    except OSError as error:
        return _print_system_error(error)
    except tuple(FAILURES) as error:
        return print_error(str(error), FAILURES[type(error)])


def _print_system_error(error: OSError) -> int:
    what = f"{error.filename or 'input or output'}: {error.strerror}"
    if error.errno in FULL:
        return print_error(f"{what}; free some space there, or name another place", ExitCode.MISSING_REQUIREMENT)
    return print_error(what, ExitCode.WRONG_INPUT)
