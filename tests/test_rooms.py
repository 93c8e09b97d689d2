"""Rules for the rooms of `shortflow`, `shortflow_papers` and `shortflow_linux`.

`python tests/test_rooms.py` prints the tables of rooms for docs/architecture.md, and the number of public functions and
classes of each room. import-linter checks the order of the rooms (pyproject.toml).
"""

import ast
import re
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
PLACES = {"shortflow": "python", "shortflow_papers": "papers", "shortflow_linux": "linux"}
PACKAGES = {name: ROOT / place / name for name, place in PLACES.items()}
TREES = {
    Path(name, path.relative_to(package)): ast.parse(path.read_text("utf-8"))
    for name, package in PACKAGES.items()
    for path in sorted(package.rglob("*.py"))
}
"""Syntax tree of each module, by path from the package on."""
LONGEST = 60
"""Maximum number of lines of a function."""
SHARED = {
    **dict.fromkeys(("Result", "Results", "Search", "Tuning"), "the class that a user gets, on top of the plain one"),
    **dict.fromkeys(("Baseline", "Dask", "Jobs", "Progress", "Settings"), "an option of commands, and what it gives"),
    "Network": "a network as one file says, and as arithmetic sees it",
    "Value": "a value of a key: of a study's grid, and of another tool's file, with its place",
    "number": "a number in words, and a field's of another tool's text",
    "Row": "a row of a chart's data, and of a table of sizes",
    "Grid": "values of keys, and fields of another tool's text",
}
"""Public names that several modules define, each with the reason."""
MOST_SHARED = 14
"""Maximum number of such names."""
SUMMARIES = {
    "Order": "the order of several contenders, each with its verdict",
    "ClaimGroup": "a group of claims in a count; that of open claims has the undecided ones",
}
"""Enumerations beside `Verdict` with a member for what is open, each with the reason."""
EQUAL = {
    "ALL": "every class of flows, and every metric",
    "_LEAST": "a share that explanations leave out, and a difference that the survey's charts do",
    "_ROWS": "rows of a part of a table: of accounts, and of captures",
    "_ROUNDING": "relative errors: of times, and of shares of sizes",
    "__version__": "the version of each package",
}
"""Constants with equal names and values, but different meanings."""
WRITTEN_OUT = 16
"""Minimum length, in characters, from which on equal constants count as one constant that is written twice."""


def floors(package: str) -> list[str]:
    """Rooms of a package from the highest floor to the lowest."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    (layers,) = (each["layers"] for each in contracts if each.get("containers") == [package])
    return [room for floor in layers for room in floor.split(" | ")]


def statements() -> Iterator[tuple[Path, ast.stmt]]:
    """Statements at the top level of modules, without recipes of papers, each of which is a room of its own."""
    for path, tree in TREES.items():
        if path.parts[:2] != ("shortflow_papers", "papers") or len(path.parts) == 3:
            yield from ((path, node) for node in tree.body)


def public() -> Iterator[tuple[Path, str]]:
    """Public functions and classes with their modules."""
    for path, node in statements():
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
            yield path, node.name


def constants() -> Iterator[tuple[Path, str, str]]:
    """Constants and aliases of types: module, name and value as written."""
    for path, node in statements():
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            value = ast.unparse(node.value)
            if not re.match(r"(TypeVar|ParamSpec|modules|logging\.getLogger)\(", value):
                yield from ((path, each.id, value) for each in targets if isinstance(each, ast.Name))


def test_a_public_name_means_one_thing() -> None:
    homes = defaultdict(set)
    aliases = ((path, name) for path, name, _ in constants() if re.match("[A-Z][a-z]", name))
    for path, name in (*public(), *aliases):
        homes[name].add(path)
    assert {name for name, paths in homes.items() if len(paths) > 1} == SHARED.keys()
    assert len(SHARED) <= MOST_SHARED


def test_a_constant_is_written_once() -> None:
    """No two modules have a constant with equal names and values, or with equal long values."""
    named, valued = defaultdict(set), defaultdict(set)
    for path, name, value in constants():
        if (name.isupper() or name.islower()) and name != "__all__" and "__file__" not in value:
            named[name, value].add(path)
            valued[value if len(value) >= WRITTEN_OUT else (name, value)].add(path)
    assert {name for (name, _), paths in named.items() if len(paths) > 1} == EQUAL.keys()
    assert not [value for value, paths in valued.items() if len(paths) > 1 and isinstance(value, str)]


def test_there_is_one_type_of_verdicts() -> None:
    """No other enumeration or literal has a member `undecided`."""
    kinds = set()
    for path, tree in TREES.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef) and any("Enum" in ast.unparse(base) for base in node.bases):
                kinds |= {node.name for each in node.body if re.match("(UNDECIDED|OPEN) = ", ast.unparse(each))}
            if isinstance(node, ast.Subscript) and re.match("Literal.*'(undecided|open)'", ast.unparse(node)):
                kinds.add(str(path))
    assert kinds == {"Verdict", *SUMMARIES}


def test_nothing_is_imported_behind_the_linter() -> None:
    assert "shortflow" not in re.sub('"""[^"]*"""', "", (PACKAGES["shortflow"] / "lazy.pyi").read_text())
    inside = {
        str(path)
        for path, tree in TREES.items()
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef)
        for node in ast.walk(function)
        if isinstance(node, ast.Import | ast.ImportFrom)
    }
    assert inside == {"shortflow/__main__.py"}, "imports are at the top of a module, but for what waits for Ctrl-C"


def test_packages_import_public_names_alone() -> None:
    """The linter forbids every room except `shortflow.api`. This test checks names that begin with `_`."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    (forbidden,) = (each["forbidden_modules"] for each in contracts if "alone" in each["name"])
    assert {f"shortflow.{room}" for room in floors("shortflow") if room != "api"} == set(forbidden)
    (forbidden,) = (each["forbidden_modules"] for each in contracts if "by shortflow_linux.api" in each["name"])
    assert {f"shortflow_linux.{room}" for room in floors("shortflow_linux") if room != "api"} == set(forbidden)
    lines = [
        f"{path}: {ast.unparse(node)}"
        for path, tree in TREES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        and re.match(r"shortflow(_linux)?(\.|$)", node.module or "")
        and path.parts[0] not in ("shortflow", (node.module or "").partition(".")[0])
    ]
    assert not [
        line
        for line in lines
        if not re.search(r": from (shortflow(\.api\.\w+)?|shortflow_linux\.api) import [^_]", line)
    ]


def test_functions_are_short() -> None:
    long = {
        (str(path), node.name)
        for path, tree in TREES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and (node.end_lineno or 0) - node.body[0].lineno >= LONGEST
    }
    assert not long


def test_transcripts_have_no_hashes_in_place_of_values() -> None:
    goldens = (ROOT / "tests" / "golden").glob("*.txt")
    assert not [path.name for path in goldens if re.search(r"^[\w$]+: [0-9a-f]{16}$", path.read_text(), re.MULTILINE)]


def test_every_room_has_a_sentence() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    for package in PACKAGES:
        assert rooms(package) in page, "python tests/test_rooms.py prints the tables"


def rooms(package: str) -> str:
    """Table of docs/architecture.md: rooms with the first sentence of each, from the highest floor to the lowest."""
    rows = []
    for room in floors(package):
        tree = TREES.get(Path(package, room, "__init__.py")) or TREES[Path(package, f"{room}.py")]
        first = (ast.get_docstring(tree) or "").partition("\n\n")[0].replace("\n", " ")
        rows.append(f"| `{room}` | {first.replace('|', chr(92) + '|')} |")
    return "\n".join(["| room | purpose |", "|---|---|", *rows])


if __name__ == "__main__":
    counts = Counter("/".join(path.parts[:2]).removesuffix(".py") for path, _ in public())
    print(*map(rooms, PACKAGES), *(f"{count:4} {room}" for room, count in counts.most_common()), sep="\n\n")
