"""Commands that packages add by entry points. Errors of a missing or unsuitable package name it and the remedy."""

from importlib.metadata import Distribution, EntryPoint, entry_points
from pathlib import Path

import pytest

from conftest import Command, Patch
from shortflow import installed
from shortflow.errors import ExitCode, MissingRequirement


@pytest.fixture
def alone(monkeypatch: Patch) -> None:
    """Makes the test see no other installed package."""
    monkeypatch.setattr("shortflow.installed.entry_points", lambda **_: ())


@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize(
    ("command", "package"),
    [
        *((each, "papers") for each in ("reproduce", "reproduce l2dct/fig3", "survey --help")),
        *((each, "papers") for each in ("list claims", "list figures")),
        *((each, "linux") for each in ("linux", "linux --help", "linux check", "linux fig14 --full")),
    ],
)
def test_a_missing_package_is_named(shortflow: Command, command: str, package: str) -> None:
    answer = shortflow(*command.split(), code=ExitCode.MISSING_REQUIREMENT)
    assert answer.stderr.endswith(f"needs the package shortflow-{package}; pip install shortflow-{package}\n")
    assert answer.stdout == ""


def test_a_command_of_linux_names_its_missing_package(shortflow: Command, monkeypatch: Patch) -> None:
    linux = [each for each in entry_points(group=installed.COMMANDS) if each.name == "linux"]
    monkeypatch.setattr("shortflow.installed.entry_points", lambda **_: linux)
    answer = shortflow("linux", "fig14", "--full", code=ExitCode.MISSING_REQUIREMENT)
    assert answer.stderr.endswith("needs the package shortflow-papers; pip install shortflow-papers\n")
    assert "shortflow-papers" in shortflow("linux", "--help", code=0).stdout


@pytest.mark.usefixtures("alone")
def test_the_help_has_every_command_without_its_package(shortflow: Command) -> None:
    text = shortflow("--help", code=0).stdout
    assert "Needs the package shortflow-papers." in text
    assert "Needs the package shortflow-linux." in text
    shortflow("list", "schemes", code=0)
    assert 'did you mean "survey"' in shortflow("surveys", code=2).stderr.replace("'", '"').lower()


def offered(folder: Path, requirement: str) -> EntryPoint:
    """Entry point of a command whose package has this requirement."""
    (info := folder / "theirs-2.1.dist-info").mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: theirs\nVersion: 2.1\nRequires-Dist: {requirement}\n")
    (info / "entry_points.txt").write_text("[shortflow.commands]\ntheirs = os:getcwd\n")
    (found,) = Distribution.at(info).entry_points
    return found


@pytest.mark.parametrize("requirement", ["shortflow ~=0.3.0", "shortflow~=0.3", "shortflow", "numpy ~=99.0"])
def test_a_package_for_this_version_is_loaded(tmp_path: Path, monkeypatch: Patch, requirement: str) -> None:
    monkeypatch.setattr("shortflow.installed.version", lambda: "0.3.4")
    monkeypatch.setattr("shortflow.installed.entry_points", lambda **_: [offered(tmp_path, requirement)])
    assert installed.load_added(installed.COMMANDS, "theirs") is __import__("os").getcwd


@pytest.mark.parametrize("wanted", ["0.2.0", "0.4.0", "0.3.5", "1.0", "1"])
def test_a_package_for_another_version_is_refused_by_name(tmp_path: Path, monkeypatch: Patch, wanted: str) -> None:
    monkeypatch.setattr("shortflow.installed.version", lambda: "0.3.4")
    monkeypatch.setattr("shortflow.installed.entry_points", lambda **_: [offered(tmp_path, f"shortflow ~={wanted}")])
    with pytest.raises(MissingRequirement) as caught:
        installed.load_added(installed.COMMANDS, "theirs")
    assert str(caught.value) == (
        f"theirs 2.1 needs shortflow ~= {wanted}, and this is shortflow 0.3.4; pip install --upgrade shortflow theirs"
    )


def test_a_command_that_cannot_be_loaded_is_refused_alone(
    shortflow: Command, tmp_path: Path, monkeypatch: Patch
) -> None:
    """The help and all other commands work. The error of the command names its package and the place of the fault."""
    (tmp_path / "broken_command").mkdir()
    (tmp_path / "broken_command/__init__.py").write_text("import no_such_module\n", "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    values = {
        "broken": "broken_command:main",
        "inner": "broken_command.main:main",
        "odd": "os:sep",
        "gone": "nowhere:a",
    }
    points = [EntryPoint(name, value, installed.COMMANDS) for name, value in values.items()]
    monkeypatch.setattr("shortflow.installed.entry_points", lambda **_: points)
    told = shortflow("--help", code=0).stdout
    assert "`shortflow inner` prints the reason" in " ".join(told.split())
    shortflow("list", "schemes", code=0)
    answer = shortflow("broken", code=ExitCode.MISSING_REQUIREMENT)
    assert answer.stderr == (
        "shortflow: broken: the package broken_command:main cannot be used: ModuleNotFoundError: No module named "
        "'no_such_module' (__init__.py, line 1); correct or uninstall it\n"
    )
    for name in ("odd", "gone"):
        assert "cannot be used" in shortflow(name, code=ExitCode.MISSING_REQUIREMENT).stderr


def test_two_packages_cannot_add_one_command(monkeypatch: Patch) -> None:
    points = [EntryPoint("theirs", value, installed.COMMANDS) for value in ("os:getcwd", "os:getpid")]
    monkeypatch.setattr("shortflow.installed.entry_points", lambda **_: points)
    with pytest.raises(MissingRequirement, match="theirs: several installed packages add this name: os:getcwd, os:get"):
        installed.load_added(installed.COMMANDS, "theirs")


def test_names_of_this_project_stay_its_own(shortflow: Command, monkeypatch: Patch) -> None:
    """If another package adds `run` or `reproduce`, the help names the package, and both commands stay unchanged."""
    ours = [*entry_points(group=installed.COMMANDS)]
    theirs = [EntryPoint(name, "os:getcwd", installed.COMMANDS) for name in ("run", "reproduce")]
    monkeypatch.setattr("shortflow.installed.entry_points", lambda **_: [*ours, *theirs])
    told = shortflow("--help", code=0)
    assert "left out: os:getcwd adds run, a name that shortflow has" in told.stderr.replace("\n", " ")
    assert "left out: os:getcwd adds reproduce, a name that shortflow-papers has" in told.stderr.replace("\n", " ")
    assert (
        installed.load_added(installed.COMMANDS, "reproduce") is next(p for p in ours if p.name == "reproduce").load()
    )
