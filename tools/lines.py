"""Lines, modules and statements of the Python side, by folder: `make lines`.

Fails where a folder has more lines than tools/lines.json allows. `--renew` lowers that table to today's count. Only a
commit of its own raises a number there, and says why.
"""

import ast
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
TABLE = ROOT / "tools" / "lines.json"
COUNTED = (".py", ".pyi", ".html", ".js", ".css")


def folder(file: str) -> str:
    """The folder that a file counts for: each package of shortflow, the tests, and the tools."""
    top, *below = Path(file).parts
    return "/".join([top, *below[:-1][:2]]) if top == "python" else top


def statements(text: str) -> int:
    """The statements of a module, docstrings left out."""
    nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.stmt)]
    return sum(not (isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant)) for each in nodes)


def counts() -> dict[str, Counter[str]]:
    """Modules, statements and lines of each folder."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "python", "tests", "tools"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    found: dict[str, Counter[str]] = {}
    for name in sorted(name for name in listed if name.endswith(COUNTED) and (ROOT / name).exists()):
        text = (ROOT / name).read_text(encoding="utf-8")
        of_folder = found.setdefault(folder(name), Counter())
        of_folder["lines"] += text.count("\n")
        if name.endswith((".py", ".pyi")):
            of_folder["modules"] += 1
            of_folder["statements"] += statements(text)
    return found


def main() -> None:
    """Print the table, or renew it; the exit code is 1 where a folder has more lines than allowed."""
    found = counts()
    allowed: dict[str, int] = json.loads(TABLE.read_text()) if TABLE.exists() else {}
    if "--renew" in sys.argv:
        allowed = {name: min(of["lines"], allowed.get(name, of["lines"])) for name, of in found.items()}
        TABLE.write_text(json.dumps(allowed, indent=1) + "\n")
    front = sum((of for name, of in found.items() if name.startswith("python")), Counter[str]())
    print(f"{'':32}{'modules':>8}{'statements':>12}{'lines':>8}{'allowed':>9}")
    for name, of in {**found, "python": front}.items():
        most = f"{allowed.get(name, 0):9,}" if name in found else ""
        print(f"{name:32}{of['modules']:8,}{of['statements']:12,}{of['lines']:8,}{most}")
    if over := [name for name, of in found.items() if of["lines"] > allowed.get(name, 0)]:
        sys.exit(
            f"{', '.join(over)}: more lines than tools/lines.json allows. Shorten, or raise them in a commit of its own"
        )


if __name__ == "__main__":
    main()
