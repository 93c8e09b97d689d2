"""Wheel and source archive work outside the checkout, for a user who may write to only one directory."""

import json
import os
import re
import stat
import subprocess
import tarfile
import tempfile
import tomllib
import venv
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import tomli_w

from conftest import ran
from made import star
from shortflow.front import manual
from shortflow.front.shell import COMMANDS
from shortflow.scenario import shipped_scenarios

ROOT = Path(__file__).parents[1]
PACKAGES = {"linux": "shortflow_linux", "papers": "shortflow_papers"}
"""Packages other than the simulator's, by directory."""
VERSION = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]
NOBODY = 65534
LAW = """
from shortflow import CongestionControl

class Mine(CongestionControl):
    def on_congestion(self, window, cause, flow):
        window.ssthresh = max(window.cwnd / 3, 2.0)
        window.cwnd = window.ssthresh
"""
IN_PYTHON = "import shortflow; print(*shortflow.read_store({kept!r}).to_frame()['scheme'].unique().sort()[-2:])"
FLOWS = "start,source,destination,bytes\n0,0,2,100000\n1ms,1,2,50000\n"
SCENARIO = star([{"kind": "trace", "file": "flows.csv"}], 3, title="A user's own", duration="20ms")
FIGURE = """
from shortflow_papers import lab

QUICK = {"traffic.1.repeat": 5, "duration": "500ms"}
BURST = lab.Study("incast", ["dctcp", "swift"], {"servers": [10, 40]}, quick_seeds=3, quick=QUICK)

fig2 = lab.Figure("swift/fig2", "Abstract", "Bursts to one host", {"burst": BURST})
fig2.claim("swift/fig2-no-loss").says(
    "Swift has near-zero packet drops", lab.level("swift", "drops").over("servers").within(high=0.0)
)
fig2.claim("swift/fig2-short-queue").says(
    "packets wait in a shorter queue than under DCTCP",
    lab.change("swift", "dctcp", "queue_p99_pkt").over("servers").below(),
)
fig2.draw(lab.Curves("servers", "queue_p99_pkt", "servers", "99th percentile of the queue"))
"""
User = Callable[..., "subprocess.CompletedProcess[str]"]


def built(pattern: str) -> Path:
    """A package file below dist that matches a pattern. The test is skipped if there is none."""
    found = list((ROOT / "dist").glob(pattern))
    if not found:
        pytest.skip(f"no {pattern} in dist: make wheel, make sdist")
    return found[0]


def test_one_version_is_stated_everywhere() -> None:
    citation = (ROOT / "CITATION.cff").read_text()
    released = re.search(rf"^## \[{re.escape(VERSION)}\] - (\S+)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert released
    for place, name in PACKAGES.items():
        assert f'__version__ = "{VERSION}"' in (ROOT / place / name / "__init__.py").read_text()
        project = tomllib.loads((ROOT / place / "pyproject.toml").read_text())["project"]
        needed = [*project["dependencies"], *project.get("optional-dependencies", {}).get("linux", [])]
        ours = [each.partition(" ~= ")[2] for each in needed if each.startswith("shortflow")]
        assert set(ours) == {VERSION.rpartition(".")[0] + ".0"}
    assert f"version: {VERSION}\ndate-released: {released[1]}\n" in citation


def test_the_manual_page_has_every_command_and_is_sound_roff() -> None:
    page = manual.manual_page()
    for name in COMMANDS:
        assert f'.SS "shortflow {name} '.replace("-", r"\-") in page
    assert r".B \-\-schemes NAMES" in page
    assert '.SS "shortflow linux compare\\-sim ' in page
    requests = {line.split()[0] for line in page.splitlines() if line.startswith((".", "'"))}
    assert requests <= {".TH", ".SH", ".SS", ".PP", ".TP", ".B", ".I", ".BR", ".EX", ".EE"}
    assert [line for line in page.splitlines() if re.match(r"\.(130|[0-3])\b", line)] == []


def test_the_wheel_holds_what_it_should() -> None:
    wheel = built(f"shortflow-{VERSION}-cp311-abi3-manylinux_2_28_*.whl")
    with zipfile.ZipFile(wheel) as held:
        names = held.namelist()
    assert {f"shortflow/scenarios/{name}.toml" for name in shipped_scenarios()} <= set(names)
    assert {f"shortflow-{VERSION}.data/data/share/man/man1/shortflow.1", "shortflow/spec.pyi"} <= set(names)
    assert f"shortflow-{VERSION}.dist-info/sboms/shortflow-py.cyclonedx.json" in names
    assert [name for name in names if name.endswith(".so")] == ["shortflow/_core.abi3.so"]


@pytest.mark.parametrize(
    ("place", "point"),
    [
        ("papers", "reproduce=shortflow_papers.commands.reproduce:reproduce"),
        ("linux", "linux=shortflow_linux.commands:group"),
    ],
)
def test_the_other_wheels_hold_their_data_and_entry_points(place: str, point: str) -> None:
    name = PACKAGES[place]
    with zipfile.ZipFile(built(f"{name}-{VERSION}-py3-none-any.whl")) as held:
        names = set(held.namelist())
        points = held.read(f"{name}-{VERSION}.dist-info/entry_points.txt").decode()
    files = (ROOT / place / name).rglob("*")
    assert {str(path.relative_to(ROOT / place)) for path in files if path.suffix not in ("", ".pyc")} <= names
    assert point in points


def test_the_source_archive_holds_what_it_is_built_from() -> None:
    with tarfile.open(built(f"shortflow-{VERSION}.tar.gz")) as held:
        names = {name.partition("/")[2] for name in held.getnames()}
    assert {"Cargo.lock", "data/flow-sizes.toml", "crates/py/src/lib.rs", "python/shortflow/py.typed"} <= names
    assert {"crates/py/wheel/data/share/man/man1/shortflow.1", "python/shortflow/spec.pyi"} <= names
    others = ("linux", "papers", "target", ".")
    assert not [name for name in names if name.startswith(others) or name.endswith(".so")]


@pytest.fixture(scope="module")
def place() -> Iterator[Path]:
    """A directory that other users may read. Only one user may read the directories of pytest."""
    with tempfile.TemporaryDirectory(prefix="shortflow-package-") as name:
        (place := Path(name)).chmod(0o755)
        yield place


def install(place: Path, *packages: Path) -> Path:
    """Installs packages in a new environment, and returns the path of its command `shortflow`."""
    venv.create(place, with_pip=True)
    pip = [
        *(str(place / "bin/python"), "-m", "pip", "install", "--quiet"),
        *("--constraint", str(ROOT / "requirements.lock")),
    ]
    kept = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "VIRTUAL_ENV")}
    done = ran([*pip, *map(str, packages)], env=kept, cwd=place, timeout=3000)
    assert done.returncode == 0, done.stderr
    return place / "bin/shortflow"


@pytest.fixture(scope="module")
def command(place: Path) -> Path:
    """The command `shortflow`, installed from the wheels."""
    others = [built(f"{name}-{VERSION}-py3-none-any.whl") for name in PACKAGES.values()]
    return install(place / "wheel", built(f"shortflow-{VERSION}-cp311-abi3-manylinux_*.whl"), *others)


@pytest.fixture
def own(place: Path) -> Iterator[Path]:
    """The only directory to which an ordinary user may write."""
    with tempfile.TemporaryDirectory(dir=place) as name:
        os.chown(name, *([NOBODY, NOBODY] if os.getuid() == 0 else [os.getuid(), os.getgid()]))
        yield Path(name)


@pytest.fixture
def user(place: Path) -> User:
    """Runs a command as an ordinary user, without home, in a directory that this user cannot write to."""
    (stands := place / "read-only").mkdir(exist_ok=True)
    stands.chmod(stat.S_IRUSR | stat.S_IXUSR | stat.S_IRGRP | stat.S_IXGRP | stat.S_IROTH | stat.S_IXOTH)

    def run(*words: str | Path) -> "subprocess.CompletedProcess[str]":
        rights = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.getuid() == 0 else {}
        surroundings = {"PATH": str(Path(words[0]).parent), "HOME": "/nonexistent", "LANG": "C.UTF-8"}
        return ran([*map(str, words)], cwd=stands, env=surroundings, timeout=600, **rights)

    return run


def says(done: "subprocess.CompletedProcess[str]", code: int = 0) -> str:
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout if code == 0 else done.stderr


@pytest.mark.slow
def test_the_first_ten_minutes(command: Path, user: User, own: Path) -> None:
    short = ("--set", "duration=20ms", "--set", "warmup=2ms", "--seeds", "1")
    assert says(user(command, "--version")) == f"shortflow {VERSION}\n"
    assert "incast" in says(user(command, "list", "scenarios"))
    assert "topology.rate" in says(user(command, "show", "websearch-star"))
    assert "l2dct vs dctcp" in says(user(command, "compare", "websearch-star", "--schemes", "dctcp,l2dct", *short))
    for name, text in {"mine.toml": tomli_w.dumps(SCENARIO), "flows.csv": FLOWS, "mine.py": LAW}.items():
        (own / name).write_text(text)
    assert "A user's own" in says(user(command, "compare", own / "mine.toml", "--schemes", "tcp,dctcp"))
    kept = own / "kept"
    found = says(
        user(command, "compare", "websearch-star", "--schemes", f"tcp,{own / 'mine.py'}:Mine", *short, "--out", kept)
    )
    assert "Mine" in found
    says(user(command, "report", kept))
    assert (kept / "report.html").stat().st_size > 900_000  # with the library of its charts
    assert user(command, "reproduce", "l2dct/fig3", "--out", own / "papers").returncode in (0, 1)  # 1: a claim differs
    assert (own / "papers" / "index.html").is_file()
    told = says(user(command.parent / "python", "-c", IN_PYTHON.format(kept=str(kept))))
    assert told == "ideal-srpt tcp\n"
    assert (command.parents[1] / "share/man/man1/shortflow.1").is_file()


@pytest.mark.slow
def test_a_paper_of_ones_own_beside_the_wheels(command: Path, user: User, own: Path) -> None:
    says(user(command, "new-paper", "swift", "--out", own / "swift"))
    (own / "swift/paper_swift/fig2.py").write_text(FIGURE)
    pip = [command.parent / "python", "-m", "pip", "--quiet", "--disable-pip-version-check"]
    says(user(*pip, "wheel", "--no-deps", "--no-cache-dir", "--wheel-dir", own / "dist", own / "swift"))
    (wheel,) = (own / "dist").iterdir()
    done = ran([*map(str, pip), "install", "--no-deps", str(wheel)], cwd=own, timeout=600)
    assert done.returncode == 0, done.stderr
    found = says(user(command, "reproduce", "swift/fig2", "--out", own / "kept", "--json"))
    assert [claim["verdict"] for claim in json.loads(found)["claims"]] == ["agrees", "agrees"]
    assert (own / "kept/swift.html").is_file()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "code", "reason"),
    [
        (["linux", "load", "sf_dctcp"], 3, "shortflow-linux is not installed; in a checkout of Shortflow, `make deb`"),
        (["linux", "testbed", "testbed-two-long"], 3, "shortflow-linux is not installed"),
        (["linux", "testbed", "testbed-two-long", "--virtual"], 3, "in a checkout of Shortflow, `make machine`"),
        (["reproduce", "l2dct/fig3"], 2, "results: Permission denied"),
        (["compare", "incast", "--schemes", "tcp", "--out", "kept"], 2, "kept: Permission denied"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_is_missing_is_said(command: Path, user: User, words: list[str], code: int, reason: str) -> None:
    assert reason in says(user(command, *words), code)


@pytest.mark.slow
def test_the_source_archive_installs(place: Path, user: User) -> None:
    command = install(place / "source", built(f"shortflow-{VERSION}.tar.gz"))
    assert says(user(command, "--version")) == f"shortflow {VERSION}\n"
    assert "pip install shortflow-papers" in says(user(command, "survey"), 3)
    assert "pip install shortflow-linux" in says(user(command, "linux", "check"), 3)
    assert "dctcp" in says(user(command, "run", "websearch-star", "--set", "duration=20ms", "--set", "warmup=2ms"))
