"""Kernels for the testbed: their interface, this computer's kernel, and that of a virtual machine."""

import functools
import hashlib
import io
import itertools
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from shortflow import MissingRequirement
from shortflow.api.scenarios import load_scenario, split_settings

PROGRAM = "shortflow-linux"
CHECKOUT = Path(__file__).parents[2]
HOW_TO_GET = (
    f"in a checkout of Shortflow, `make deb` builds the Debian package {PROGRAM}, and `make linux` the program alone"
)

MACHINE = CHECKOUT / "target" / "machine"
"""Directory of the virtual machine from `make machine`."""
LONGEST_S = 3600
"""Timeout of a run in a virtual machine, in seconds of this computer."""

_QEMU = (
    # The kernel kills the machine when this process ends.
    *("setpriv", "--pdeathsig", "KILL", "qemu-system-x86_64"),
    *("-nodefaults", "-no-user-config", "-machine", "q35", "-display", "none", "-no-reboot", "-m", "1024"),
    *("-accel", "tcg", "-icount", "shift=0,sleep=off", "-rtc", "base=2026-01-01T00:00:00,clock=vm", "-seed", "1"),
    # With `erms`, the emulation clears pages with one instruction per byte. QEMU 7.2 restores wrong flags after
    # cmpxchg16b.
    *("-cpu", "max,-cx16,-erms,-fsrm,-rdrand,-rdseed"),
    *("-chardev", "file,id=console,path=/dev/stderr", "-serial", "chardev:console"),
    *("-device", "virtio-serial", "-device", "virtserialport,chardev=taken"),
)
# Clearing a huge page takes milliseconds, in which nothing else runs. Without full preemption, the kernel delays the
# switch by about 150 µs at a time (Reno in Fig. 14). The other options save instructions.
_COMMAND_LINE = (
    "console=ttyS0 quiet panic=-1 no_timer_check nokaslr transparent_hugepage=never preempt=full mitigations=off"
    " init_on_alloc=0 hardened_usercopy=off randomize_kstack_offset=off audit=0 lsm=capability"
)


class Kernel(Protocol):
    """A kernel that can run the testbed."""

    @property
    def name(self) -> str:
        """Name of the kernel for display."""

    @property
    def identity(self) -> str:
        """Hash of kernel and program. Runs of different identities are stored in different directories."""

    def run(self, scenario: Path, arguments: Sequence[str]) -> "subprocess.CompletedProcess[str]":
        """Runs `shortflow-linux testbed` on a scenario file. Raises `MissingRequirement` without program or machine."""


class ThisKernel:
    """The kernel of this computer. Runs need root."""

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
        # With --parent, the program ends together with this process, and removes its namespaces and registration.
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
    """The program's messages, except those about waiting, which are printed immediately."""
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


@dataclass(frozen=True)
class VirtualKernel:
    """The kernel of a virtual machine that `make machine` builds. Runs need no root.

    The machine's clock advances by 1 ns per executed instruction, and skips idle time. The testbed therefore always
    keeps time, regardless of this computer's load.
    """

    directory: Path = MACHINE

    @property
    def name(self) -> str:
        """Release of the kernel, marked as virtual."""
        return f"virtual Linux {self._file('release').read_text(encoding='utf-8').strip()}"

    @property
    def identity(self) -> str:
        """Hash of release, command line and boot files, which include the program."""
        return digest(f"{self.name} {_COMMAND_LINE}", self._file("vmlinuz"), self._file("initramfs"))

    def run(self, scenario: Path, arguments: Sequence[str]) -> "subprocess.CompletedProcess[str]":
        """Runs the program in a new virtual machine."""
        kernel, initramfs = self._file("vmlinuz"), self._file("initramfs")
        given = {name: path.read_bytes() for name, path in _files(scenario, arguments)}
        given["arguments"] = "\n".join(["testbed", scenario.name, *arguments, ""]).encode()
        # Files are used instead of pipes, because QEMU drops data for a full pipe when the machine ends.
        with _in_memory(_packed(given)) as into, _in_memory(b"") as out_of:
            command = [
                *_QEMU,
                *("-kernel", str(kernel), "-initrd", str(initramfs), "-append", _COMMAND_LINE),
                *("-fw_cfg", f"name=opt/shortflow,file={_path(into)}"),
                *("-chardev", f"file,id=taken,path={_path(out_of)}"),
            ]
            done = _started(command, [into.fileno(), out_of.fileno()])
            out_of.seek(0)
            packed = out_of.read()
        try:
            taken = _unpacked(packed)
            return subprocess.CompletedProcess(command, int(taken["code"]), taken["out"], taken["err"])
        except (tarfile.TarError, KeyError) as error:
            last = done.stderr.decode(errors="replace").strip().splitlines()[-5:]
            raise MissingRequirement(f"the virtual machine ended early: {' / '.join(last)}") from error

    def _file(self, name: str) -> Path:
        path = self.directory / name
        if not path.is_file():
            raise MissingRequirement(
                f"--virtual: {path} is not there; in a checkout of Shortflow, `make machine` builds the virtual machine"
            )
        return path


def _files(scenario: Path, arguments: Sequence[str]) -> Iterator[tuple[str, Path]]:
    """Name and path of the scenario file, and of each file that the scenario or a setting names."""
    yield scenario.name, scenario
    given = dict(value.split("=", 1) for option, value in itertools.pairwise(arguments) if option == "--set")
    of_scenario, _ = split_settings(given)
    loaded = load_scenario(scenario, of_scenario)
    named = loaded.files()
    yield from ((each["value"], scenario.parent / each["value"]) for each in loaded.resolved() if each["key"] in named)


def _packed(files: Mapping[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return packed.getvalue()


def _unpacked(packed: bytes) -> dict[str, str]:
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        files = {Path(entry.name).name: archive.extractfile(entry) for entry in archive if entry.isfile()}
        return {name: file.read().decode() for name, file in files.items() if file}


def _in_memory(content: bytes) -> io.BufferedRandom:
    """An anonymous file in memory with this content."""
    file = os.fdopen(os.memfd_create("shortflow"), "w+b")
    file.write(content)
    file.flush()
    return file


def _path(file: io.BufferedRandom) -> str:
    """Path of the file for a child process that inherits it."""
    return f"/proc/self/fd/{file.fileno()}"


def _started(command: Sequence[str], files: Sequence[int]) -> "subprocess.CompletedProcess[bytes]":
    for program, package in (("setpriv", "util-linux"), ("qemu-system-x86_64", "qemu-system-x86")):
        if program in command and not shutil.which(program):
            raise MissingRequirement(f"{program} is not there; on Debian: apt-get install {package}")
    try:
        return subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, check=False, pass_fds=files, timeout=LONGEST_S
        )
    except subprocess.TimeoutExpired as error:
        raise MissingRequirement(f"the virtual machine did not end within {LONGEST_S} s") from error
