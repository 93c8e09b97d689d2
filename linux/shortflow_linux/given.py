"""Options of commands that measure on the testbed, and their exit code."""

from typing import Annotated

from shortflow.api.commands import ExitCode, Opt, note
from shortflow.api.commands import options as given
from shortflow_linux import testbed
from shortflow_linux.kernels import Kernel, VirtualKernel

OF_COMPUTER = "close other programs, or use --virtual"
OF_MACHINE = "the virtual machine is too slow: lower the rates, or start fewer flows at once"
"""Remedies if the testbed did not keep time: on this computer, and in the virtual machine."""

Attempts = Annotated[int, given.whole("Maximum number of attempts until the testbed keeps time.")]
"""Option `--attempts`."""
AllowLate = Annotated[bool, Opt("Exit with code 0 even if the testbed did not keep time.")]
"""Option `--allow-late`."""
Virtual = Annotated[
    bool,
    Opt(
        "Use a virtual machine (`make machine`), whose clock counts executed instructions. It is slow, always keeps"
        " time and needs no root."
    ),
]
"""Option `--virtual`."""


def chosen(virtual: bool) -> Kernel:
    """The kernel selected by the option."""
    return VirtualKernel() if virtual else testbed.THIS_KERNEL


def exit_code(is_on_time: bool, allow_late: bool, virtual: bool) -> ExitCode:
    """Exit code of a measurement: 1 if the testbed did not keep time, unless this is allowed. Prints the remedy."""
    if is_on_time:
        return ExitCode.FINE
    note(f"the testbed did not keep time; {OF_MACHINE if virtual else OF_COMPUTER}")
    return ExitCode.FINE if allow_late else ExitCode.CLAIM_FAILED
