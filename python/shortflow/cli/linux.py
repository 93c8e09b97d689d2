"""`shortflow linux`: the schemes on real Linux. Most commands are those of the program `shortflow-linux`."""

import os
import sys

import typer

from shortflow.cli import fig14, testbed
from shortflow.testbed import PROGRAM, program

HANDED_ON = {
    "check": "List what this host supports and what is missing.",
    "load": "Register congestion controls with the kernel.",
    "unload": "Remove them again.",
    "status": "Say what is loaded and how its connections fare.",
    "class": "Say which ports carry short flows, and which long ones.",
    "stamp": "Give packets that leave a device their priority.",
    "laws": "Compare the fixed-point laws with the simulator's.",
    "cleanup": "Remove what killed commands have left behind.",
}
"""The commands of the program, which has their options and its own help."""

app = typer.Typer(name="linux", help="The schemes on real Linux.", no_args_is_help=True)
app.command("testbed")(testbed.run_on_testbed)
app.command("compare-sim")(testbed.compare_sim)
app.command("fig14")(fig14.fig14)


def _hand_on(context: typer.Context) -> None:
    sys.stdout.flush()
    os.execv(program(), [PROGRAM, str(context.info_name), *context.args])


for _name, _help in HANDED_ON.items():
    _open = {"allow_extra_args": True, "ignore_unknown_options": True}
    app.command(_name, help=_help, context_settings=_open, add_help_option=False)(_hand_on)
