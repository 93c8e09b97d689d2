"""Python code for real Linux: hints to sockets, and the virtual machine, with a stand-in for QEMU."""

import configparser
import shutil
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import shortflow_linux as linux
from conftest import Patch
from shortflow.errors import MissingRequirement
from shortflow.runs import Plan
from shortflow.scenario import Settings, as_pairs, load_scenario, path_of
from shortflow_linux import testbed
from shortflow_linux.kernels import MACHINE, VirtualKernel
from shortflow_linux.testbed import is_trustworthy, linux_settings

DEBIAN = Path(__file__).parents[1] / "deploy" / "debian"


def unit(name: str) -> dict[str, dict[str, str]]:
    """Sections and keys of a systemd unit."""
    parser = configparser.ConfigParser(interpolation=None)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read(DEBIAN / f"shortflow-linux.{name}.service")
    return {section: dict(parser[section]) for section in parser.sections()}


def test_the_unit_for_routes_starts_after_the_network() -> None:
    """`load --route` copies a route of the host, which does not exist before the network."""
    before, after = unit("shortflow"), unit("shortflow-routes")
    assert before["Unit"]["Before"] == "network-pre.target"
    assert (after["Unit"]["Wants"], after["Unit"]["After"]) == ("network-online.target", "network-online.target")
    assert "Before" not in after["Unit"]
    assert after["Unit"]["Conflicts"] == "shortflow.service", "the stop of one would unload what the other loaded"
    assert after["Service"] == before["Service"]


WRONG: list[tuple[Callable[..., None], str, list[Any]]] = [
    (linux.set_size, "size", [-1, 32e3, "a", 2**64]),
    (linux.set_deadline, "seconds", [0, -1, 1e10]),
    (linux.set_class, "class", ["urgent"]),
]


@pytest.mark.parametrize(("say", "key", "value"), [(say, key, value) for say, key, values in WRONG for value in values])
def test_a_wrong_value_is_named_with_what_is_expected(say: Callable[..., None], key: str, value: object) -> None:
    with socket.socket() as sock, pytest.raises(ValueError, match=rf"^{key} = .*: expected ") as error:
        say(sock, value)
    assert str(value) in str(error.value)


def test_where_nobody_listens_the_way_out_is_named() -> None:
    way_out = r"not a TCP socket, or .*load --cgroup"
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        with pytest.raises(OSError, match=way_out):
            linux.set_size(sock, 1)
        with pytest.raises(OSError, match=way_out):
            linux.get_size(sock)


SCENARIO = f"""
{path_of("incast").read_text(encoding="utf-8")}
[[traffic]]
kind = "poisson"
load = 0.2
sizes = {{ kind = "cdf", file = "sizes/own.csv" }}
"""
ANSWER = """
import io, sys, tarfile
path = next(each for each in sys.argv if each.startswith("name=opt/shortflow,file=")).split("file=")[1]
answer = next(each for each in sys.argv if each.startswith("file,id=taken,path=")).split("path=")[1]
with tarfile.open(path) as given:
    texts = {entry.name: given.extractfile(entry).read().decode() for entry in given}
taken = {"code": "3", "out": repr(texts), "err": "no such scheme"}
with tarfile.open(answer, mode="w") as archive:
    for name, text in taken.items():
        entry = tarfile.TarInfo("./" + name)
        entry.size = len(text)
        archive.addfile(entry, io.BytesIO(text.encode()))
"""


def machine(monkeypatch: Patch, folder: Path, answer: str) -> VirtualKernel:
    for name in ("vmlinuz", "initramfs"):
        (folder / name).write_text(name)
    (folder / "release").write_text("6.12\n")
    for name in ("setpriv", "qemu-system-x86_64"):
        (folder / name).write_text(f"#!{sys.executable}\n{answer}")
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))
    return VirtualKernel(folder)


def test_a_machine_is_given_arguments_and_files_and_answers_as_the_program(monkeypatch: Patch, tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text(SCENARIO)
    (tmp_path / "sizes").mkdir()
    (tmp_path / "sizes" / "set.csv").write_text("1000,0.5\n2000,1\n")
    arguments = [
        *("--seed", "2", "--set", "traffic.2.sizes.file=sizes/set.csv", "--set", "title=b c"),
        *("--set", "queue.k=8"),
    ]
    done = machine(monkeypatch, tmp_path, ANSWER).run(tmp_path / "own.toml", arguments)
    assert (done.returncode, done.stderr) == (3, "no such scheme")
    assert done.stdout == repr(
        {
            "own.toml": SCENARIO,
            "sizes/set.csv": "1000,0.5\n2000,1\n",
            "arguments": "\n".join(["testbed", "own.toml", *arguments, ""]),
        }
    )


def test_a_machine_that_ends_early_is_told_by_the_end_of_its_console(monkeypatch: Patch, tmp_path: Path) -> None:
    panics = machine(monkeypatch, tmp_path, 'import sys; print("booting\\nKernel panic", file=sys.stderr)')
    with pytest.raises(MissingRequirement, match=r"ended early: booting / Kernel panic"):
        panics.run(path_of("incast"), [])


def test_a_program_that_the_machine_needs_is_named_with_its_package(monkeypatch: Patch, tmp_path: Path) -> None:
    for name in ("vmlinuz", "initramfs", "release"):
        (tmp_path / name).touch()
    monkeypatch.setenv("PATH", str(tmp_path))
    for program, package in (("setpriv", "util-linux"), ("qemu-system-x86_64", "qemu-system-x86")):
        with pytest.raises(
            MissingRequirement, match=rf"^{program} is not there; on Debian: apt-get install {package}$"
        ):
            VirtualKernel(tmp_path).run(path_of("incast"), [])
        (tmp_path / program).touch(0o755)
    with pytest.raises(MissingRequirement, match="`make machine` builds the virtual machine"):
        VirtualKernel(tmp_path / "elsewhere").run(path_of("incast"), [])


def test_another_program_or_kernel_is_another_machine(monkeypatch: Patch, tmp_path: Path) -> None:
    virtual = machine(monkeypatch, tmp_path, "")
    before = virtual.identity
    assert virtual.identity == before
    (tmp_path / "initramfs").write_text("another program")
    assert virtual.identity != before


@pytest.mark.slow
@pytest.mark.skipif(
    not (MACHINE / "initramfs").is_file() or not shutil.which("qemu-system-x86_64"),
    reason="needs `make machine` and QEMU",
)
def test_a_run_in_the_machine_that_was_built_keeps_time() -> None:
    settings: Settings = {"duration": "300ms", "warmup": "100ms", **linux_settings("testbed-two-long", "dctcp", {})}
    plan = Plan(load_scenario("testbed-two-long"), ["dctcp"])
    (measured,) = testbed.Testbed("testbed-two-long", kernel=VirtualKernel()).answer(
        plan.runs([1], dict(as_pairs(settings)))
    )
    assert is_trustworthy(measured), measured.meta["testbed"]
    assert measured.meta["testbed"]["congestion"] == "sf_dctcp"
    assert 90e6 < measured.metrics["goodput_long_bps"] < 97e6
