"""Mutation tests of Python: changes a room's code in one place at a time and lists the changes that no test notices.

`tools/mutants_python.py ROOM...` runs mutmut on a copy below `target/mutants/python`. The result of each change (a
mutant) is kept there, so an interrupted run resumes where it stopped. A mutant that a test noticed is tested again only
when its function changes. A mutant that no test noticed (a survivor) is tested again in every run. The exit code is 1
if a mutant was not tested, or if `tools/mutants-python-argued.txt` gives no reason for a survivor.
"""

import argparse
import json
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WORK = ROOT / "target" / "mutants" / "python"
ARGUED = ROOT / "tools" / "mutants-python-argued.txt"
ROOMS = {"judge": ("tests/test_judge.py",)}
"""Tests that a room's mutants must fail."""
CAUGHT = {1, 3}
"""Exit codes of tests that failed; 0 if all passed, and others for tests that were stopped."""
CONFIGURATION = """\
[tool.mutmut]
source_paths = ["shortflow"]
only_mutate = ["shortflow/{room}/*.py"]
also_copy = ["shortflow", "conftest.py"]
pytest_add_cli_args = ["-q", "-p", "no:cacheprovider"]
pytest_add_cli_args_test_selection = {tests}
process_isolation = "forkserver"
use_git_change_detection = false
track_dependencies = false

[tool.pytest.ini_options]
pythonpath = ["tests"]
"""
CONFTEST = """\
import hypothesis

# A failed example is not made smaller: one is enough.
phases = [hypothesis.Phase.explicit, hypothesis.Phase.generate]
hypothesis.settings.register_profile("mutants", deadline=None, derandomize=True, database=None, phases=phases)
hypothesis.settings.load_profile("mutants")
"""


def renew_copy(room: str) -> Path:
    """Renews a folder with the package, its tests and mutmut's settings. Unchanged files keep modification times."""
    place = WORK / room
    wanted = {f"shortflow/{path.relative_to(ROOT / 'python' / 'shortflow')}": path for path in _sources()}
    wanted |= {f"tests/{path.name}": path for path in (ROOT / "tests").glob("*.py")}
    for name, source in wanted.items():
        copy = place / name
        if not copy.is_file() or copy.read_bytes() != source.read_bytes():
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, copy)
    (place / "pyproject.toml").write_text(CONFIGURATION.format(room=room, tests=json.dumps(ROOMS[room])))
    (place / "conftest.py").write_text(CONFTEST)
    return place


def _sources() -> list[Path]:
    found = (ROOT / "python" / "shortflow").rglob("*")
    return [path for path in found if path.is_file() and path.parent.name != "__pycache__"]


def outcomes(place: Path) -> dict[str, int | None]:
    """Exit code of the tests with each mutant; None if not tested."""
    found: dict[str, int | None] = {}
    for file in sorted((place / "mutants").rglob("*.meta")):
        found |= json.loads(file.read_text())["exit_code_by_key"]
    return found


def mutmut(place: Path, *arguments: str, shown: bool = True) -> str:
    """Runs mutmut in the copy, and returns its output unless the output is `shown`."""
    to = None if shown else subprocess.PIPE
    done = subprocess.run([sys.executable, "-m", "mutmut", *arguments], cwd=place, check=False, text=True, stdout=to)
    return done.stdout or ""


def change(place: Path, mutant: str) -> str:
    """Name of a mutant without its number: file, function, original line, and mutated line."""
    text = mutmut(place, "show", mutant, shown=False)
    lines = re.findall(r"^[-+](?![-+]{2} ).*$", text, re.MULTILINE)
    module, _, function = mutant.partition("__mutmut_")[0].rpartition(".")
    sides = (" ".join(line[1:].strip() for line in lines if line[0] == sign) for sign in "-+")
    return f"{module.replace('.', '/')}.py: {re.sub('^x_?ǁ?', '', function).replace('ǁ', '.')}: {' => '.join(sides)}"


def argued() -> Counter[str]:
    """Mutants that no test can catch, with their numbers of occurrences in the list. Reasons follow ` # ` there."""
    lines = ARGUED.read_text("utf-8").splitlines()
    return Counter(line.rpartition(" # ")[0].strip() for line in lines if line and not line.startswith("#"))


def summarize(room: str, place: Path) -> bool:
    """Prints the counts, and the survivors without a reason. Returns True if there are no such survivors."""
    found, reasons, survivors = outcomes(place), argued(), []
    survived = [mutant for mutant, code in found.items() if code == 0]
    for mutant in survived:
        text = change(place, mutant)
        if reasons[text]:
            reasons[text] -= 1
        else:
            survivors.append(text)
    untested = sum(code is None for code in found.values())
    caught = sum(code in CAUGHT for code in found.values())
    print(
        f"{room}: {len(found)} mutants: {caught} caught, {len(found) - caught - len(survived) - untested} caught by "
        f"hanging, {len(survived)} survived ({len(survived) - len(survivors)} with a reason), {untested} not tested"
    )
    for text in survivors:
        print(f"  survived: {text}")
    return not survivors and not untested


def main() -> int:
    """Runs the rooms that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rooms", nargs="+", choices=sorted(ROOMS), metavar="ROOM", help=", ".join(ROOMS))
    parser.add_argument("--summary", action="store_true", help="print the known results without testing")
    options = parser.parse_args()
    covered = True
    for room in options.rooms:
        place = WORK / room
        if not options.summary:
            place = renew_copy(room)
            survived = [mutant for mutant, code in outcomes(place).items() if code == 0]
            mutmut(place, "run", "--max-children", "1")
            if survived:
                mutmut(place, "run", "--max-children", "1", *survived)
        covered &= summarize(room, place)
    return 0 if covered else 1


if __name__ == "__main__":
    sys.exit(main())
