"""Commands import nothing slow before it is needed. (Floors and circles are held by import-linter: pyproject.toml.)"""

import subprocess
import sys

import pytest

SLOW = {"jinja2", "msgspec", "numpy", "pandas", "polars", "rich", "scipy"}


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
