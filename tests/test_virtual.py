"""The virtual machine's side of Python. A stand-in for QEMU unpacks what it is given and answers."""

import shutil
import sys
from pathlib import Path

import pytest

from shortflow.errors import MissingRequirement
from shortflow.linux import testbed, virtual
from shortflow.linux.testbed import is_trustworthy, linux_settings
from shortflow.linux.virtual import VirtualKernel
from shortflow.runs import Plan
from shortflow.scenario import Settings, as_pairs, load_scenario, path_of

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


def machine(monkeypatch: pytest.MonkeyPatch, folder: Path, answer: str) -> VirtualKernel:
    for name in ("vmlinuz", "initramfs"):
        (folder / name).write_text(name)
    (folder / "release").write_text("6.12\n")
    for name in ("setpriv", "qemu-system-x86_64"):
        (folder / name).write_text(f"#!{sys.executable}\n{answer}")
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))
    return VirtualKernel(folder)


def test_a_machine_is_given_arguments_and_files_and_its_answer_is_that_of_the_program(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
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


def test_a_machine_that_ends_early_is_told_by_the_end_of_its_console(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    panics = machine(monkeypatch, tmp_path, 'import sys; print("booting\\nKernel panic", file=sys.stderr)')
    with pytest.raises(MissingRequirement, match=r"ended early: booting / Kernel panic"):
        panics.run(path_of("incast"), [])


def test_a_program_that_the_machine_needs_is_named_with_its_package(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
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


def test_another_program_or_kernel_is_another_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    virtual = machine(monkeypatch, tmp_path, "")
    before = virtual.identity
    assert virtual.identity == before
    (tmp_path / "initramfs").write_text("another program")
    assert virtual.identity != before


@pytest.mark.slow
@pytest.mark.skipif(
    not (virtual.MACHINE / "initramfs").is_file() or not shutil.which("qemu-system-x86_64"),
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
