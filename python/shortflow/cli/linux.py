"""`shortflow linux`: the schemes on real Linux. What needs no simulator is handed to the program `shortflow-linux`."""

import os
import sys
from collections.abc import Callable

import typer

from shortflow.cli import fig14, testbed
from shortflow.testbed import PROGRAM, program

HANDED_OVER = {
    "check": "List what this host supports and what is missing.",
    "load": "Register eBPF congestion controls with the kernel.",
    "unload": "Remove them again.",
    "status": "Say what is loaded, and how its connections fare.",
    "class": "Say which ports carry short flows, and which carry long ones.",
    "stamp": "Give packets that leave a device their priority.",
    "laws": "Compare the fixed-point laws with the simulator's.",
    "cleanup": "Remove what a killed command has left behind.",
}

app = typer.Typer(name="linux", help="The schemes on real Linux.", no_args_is_help=True)
app.command("testbed")(testbed.run_on_testbed)
app.command("compare-sim")(testbed.compare_sim)
app.command("fig14")(fig14.fig14)


def _hand_over(command: str) -> Callable[[typer.Context], None]:
    def run(context: typer.Context) -> None:
        path = program()
        sys.stdout.flush()
        os.execv(path, [PROGRAM, command, *context.args])

    return run


for _command, _summary in HANDED_OVER.items():
    app.command(
        _command,
        help=_summary,
        add_help_option=False,
        context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
    )(_hand_over(_command))
