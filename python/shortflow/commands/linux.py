"""`linux`: the schemes on real Linux. Most commands are those of the program `shortflow-linux`."""

import os
import sys
from collections.abc import Callable

import typer

from shortflow.commands.agreement import agreement
from shortflow.commands.fig14 import fig14
from shortflow.commands.testbed import compare_sim, on_testbed
from shortflow.front.command import Answer, Command, Group, shell_command
from shortflow.linux.kernels import PROGRAM, program

HANDED_ON = {
    "check": "List what this host supports and what is missing.",
    "load": "Register congestion controls with the kernel.",
    "unload": "Remove them again.",
    "status": "Show what is loaded, and its connections.",
    "class": "Say which ports carry short flows, and which long ones.",
    "dscp": "Give packets that leave a device their priority.",
    "laws": "Compare the fixed-point laws with the simulator's.",
    "cleanup": "Remove what killed commands have left behind.",
    "completions": "Print a completion script of shortflow-linux for a shell.",
}
"""The commands of the program, which has their options and its own help."""

linux = typer.Typer(
    name="linux",
    cls=Group,
    add_completion=False,
    help="The schemes on real Linux.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
MEASURING: dict[str, Callable[..., Answer]] = {
    "testbed": on_testbed,
    "compare-sim": compare_sim,
    "agreement": agreement,
    "fig14": fig14,
}
for _name, _command in MEASURING.items():
    linux.command(_name, cls=Command)(shell_command(_command))


def _print_version(wanted: bool) -> None:
    if wanted:
        _become("--version")


@linux.callback()
def options(
    print_version: bool = typer.Option(
        False, "--version", callback=_print_version, is_eager=True, help="Print the version of shortflow-linux."
    ),
) -> None:
    """The schemes on real Linux."""


def _become(*arguments: str) -> None:
    """Leave the rest to the program."""
    sys.stdout.flush()
    os.execv(program(), [PROGRAM, *arguments])


def _hand_on(context: typer.Context) -> None:
    _become(str(context.info_name), *context.args)


for _name, _help in HANDED_ON.items():
    _open = {"allow_extra_args": True, "ignore_unknown_options": True}
    linux.command(_name, help=_help, context_settings=_open, add_help_option=False)(_hand_on)
