"""What the modules of the package import: no circles, and nothing slow before it is needed."""

import ast
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from shortflow.lazy import HOMES
from test_structure import circle

ROOT = Path(__file__).parents[1] / "python"
SHOWN = {f"shortflow.{name}" for name in ("result", "results", "shown", "tuning.record")}
"""What these show and save of themselves comes from above, when they are asked."""


def module_name(file: Path, root: Path) -> str:
    parts = file.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported(statements: Sequence[ast.AST]) -> Iterator[str]:
    """The modules that are imported, or names in them, but for those that only types need."""
    for node in statements:
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module == "shortflow.lazy":
            yield from ("shortflow.lazy", *(HOMES[name.name] for name in node.names if name.name in HOMES))
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{name.name}" for name in node.names)
        yield from imported(list(ast.iter_child_nodes(node)))


def import_graph(root: Path) -> dict[str, set[str]]:
    """For each module those that it imports, at its top or within functions, and the packages that this initialises."""
    files = {module_name(file, root): file for file in root.rglob("*.py")}
    graph = {}
    for name, file in files.items():
        words = [found.split(".") for found in imported(ast.parse(file.read_text(encoding="utf-8")).body)]
        loaded = {".".join(parts[:length]) for parts in words for length in range(1, len(parts) + 1)}
        above = set(HOMES.values()) if name in SHOWN else set()
        graph[name] = {each for each in loaded & files.keys() - above if not f"{name}.".startswith(f"{each}.")}
    return graph


def test_no_modules_import_one_another_in_a_circle() -> None:
    graph = import_graph(ROOT)
    assert graph["shortflow.runner"] >= {"shortflow.result", "shortflow.store.runs"}
    assert not circle(graph)


def test_a_circle_is_found_and_named(tmp_path: Path) -> None:
    files = {
        "a.py": "from p import b",
        "p/__init__.py": "",
        "p/b.py": "def f():\n    import c",
        "c.py": "from a import x",
        "d.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import e",
        "e.py": "import d",
    }
    (tmp_path / "p").mkdir()
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    assert set(circle(import_graph(tmp_path)).split(" -> ")) == {"a", "p.b", "c"}


SLOW = {"jinja2", "msgspec", "numpy", "pandas", "plotly", "polars", "rich", "scipy"}


SHORT = ["two-long-flows", "--set", "duration=20ms", "--set", "warmup=1ms"]


@pytest.mark.parametrize(
    ("arguments", "needed"),
    [
        (["--version"], set()),
        (["run", *SHORT, "--json"], set()),
        (["compare", *SHORT, "--schemes", "tcp,dctcp", "--seeds", "1", "--json"], set()),
        (["run", *SHORT], {"rich"}),
        (["list", "schemes"], {"rich"}),
    ],
)
def test_a_command_imports_nothing_slow_that_it_does_not_need(arguments: list[str], needed: set[str]) -> None:
    code = (
        "import sys; from shortflow.front.shell import execute; code = execute(sys.argv[1:]); "
        "print(*sorted({name.partition('.')[0] for name in sys.modules}), file=sys.stderr); sys.exit(code)"
    )
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True)
    assert SLOW & set(done.stderr.split()) == needed
