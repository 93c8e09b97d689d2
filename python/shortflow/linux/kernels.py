"""Kernels for the testbed: their interface, and this computer's kernel."""

import functools
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Protocol

from shortflow.errors import MissingRequirement

PROGRAM = "shortflow-linux"
CHECKOUT = Path(__file__).parents[3]
HOW_TO_GET = (
    f"in a checkout of Shortflow, `make deb` builds the Debian package {PROGRAM}, and `make linux` the program alone"
)


class Kernel(Protocol):
    """A kernel that can run the testbed."""

    @property
    def name(self) -> str:
        """Displayed name."""

    @property
    def identity(self) -> str:
        """Identity of kernel and program. Runs of different identities are stored apart."""

    def run(self, scenario: Path, arguments: Sequence[str]) -> "subprocess.CompletedProcess[str]":
        """Runs `shortflow-linux testbed` on a scenario. Raises `MissingRequirement` without the program or machine."""


class ThisKernel:
    """The kernel of this computer. Needs root."""

    @property
    def name(self) -> str:
        """Release of the kernel."""
        return f"Linux {os.uname().release}"

    @property
    def identity(self) -> str:
        """Hash of the release and the program."""
        return digest(os.uname().release, program())

    def run(self, scenario: Path, arguments: Sequence[str]) -> "subprocess.CompletedProcess[str]":
        """Runs the program as a child process."""
        # --parent: the program ends with this process, with its namespaces and registration.
        command = [str(program()), "testbed", str(scenario), *arguments, "--parent", str(os.getpid())]
        with (
            tempfile.TemporaryFile("w+") as out,
            subprocess.Popen(command, stdout=out, stderr=subprocess.PIPE, text=True) as process,
        ):
            try:
                errors = "".join(_but_for_waiting(process.stderr or ()))
                process.wait()
            except BaseException:
                process.kill()
                raise
            out.seek(0)
            return subprocess.CompletedProcess(command, process.returncode, out.read(), errors)


def _but_for_waiting(lines: Iterable[str]) -> Iterator[str]:
    """The program's messages. Messages about waiting are printed at once instead."""
    for line in lines:
        if line.startswith("waiting: "):
            print(line, end="", file=sys.stderr, flush=True)
        else:
            yield line


@functools.cache
def program() -> Path:
    """Path of the program, in this checkout or on PATH."""
    built = CHECKOUT / "target" / "release" / PROGRAM
    found = built if built.is_file() else shutil.which(PROGRAM)
    if not found:
        raise MissingRequirement(f"{PROGRAM} is not installed; {HOW_TO_GET}")
    return Path(found)


def digest(name: str, *files: Path) -> str:
    """Hash of a name and the contents of files."""
    found = hashlib.sha256(name.encode())
    for path in files:
        with path.open("rb") as file:
            found.update(hashlib.file_digest(file, "sha256").digest())
    return found.hexdigest()
