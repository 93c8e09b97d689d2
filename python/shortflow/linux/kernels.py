"""The kernels on which the testbed can run: what each has to offer, and this computer's."""

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
    """Where the testbed runs."""

    @property
    def name(self) -> str:
        """For people."""

    @property
    def identity(self) -> str:
        """Of kernel and program: runs of different ones are different."""

    def run(self, scenario: Path, arguments: Sequence[str]) -> "subprocess.CompletedProcess[str]":
        """Run `shortflow-linux testbed` on a scenario.

        Raises:
            MissingRequirement: there is no such program or machine here.
        """


class ThisKernel:
    """That of this computer. Needs root."""

    @property
    def name(self) -> str:
        """Its release."""
        return f"Linux {os.uname().release}"

    @property
    def identity(self) -> str:
        """Its release and the program's bytes."""
        return digest(os.uname().release, program())

    def run(self, scenario: Path, arguments: Sequence[str]) -> "subprocess.CompletedProcess[str]":
        """Run it as a process of its own."""
        # What ends us ends it too, with its namespaces and its registration.
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
    """What the program says, but for what it waits for: that is told at once."""
    for line in lines:
        if line.startswith("waiting: "):
            print(line, end="", file=sys.stderr, flush=True)
        else:
            yield line


@functools.cache
def program() -> Path:
    """The program: of this checkout, or on the path."""
    built = CHECKOUT / "target" / "release" / PROGRAM
    found = built if built.is_file() else shutil.which(PROGRAM)
    if not found:
        raise MissingRequirement(f"{PROGRAM} is not installed; {HOW_TO_GET}")
    return Path(found)


def digest(name: str, *files: Path) -> str:
    """What tells a name and the contents of files from others."""
    found = hashlib.sha256(name.encode())
    for path in files:
        with path.open("rb") as file:
            found.update(hashlib.file_digest(file, "sha256").digest())
    return found.hexdigest()
