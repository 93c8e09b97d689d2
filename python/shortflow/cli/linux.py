"""`shortflow linux`: the schemes on real Linux. Most commands are those of the program `shortflow-linux`."""

import os
import sys

import typer

from shortflow.cli import agreement, fig14, testbed
from shortflow.cli.plain import Command, Group
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

app = typer.Typer(
    name="linux",
    cls=Group,
    add_completion=False,
    help="The schemes on real Linux.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("testbed", cls=Command)(testbed.run_on_testbed)
app.command("compare-sim", cls=Command)(testbed.compare_sim)
app.command("agreement", cls=Command)(agreement.agreement)
app.command("fig14", cls=Command)(fig14.fig14)


def _print_version(wanted: bool) -> None:
    if wanted:
        _become("--version")


@app.callback()
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
    app.command(_name, help=_help, context_settings=_open, add_help_option=False)(_hand_on)
