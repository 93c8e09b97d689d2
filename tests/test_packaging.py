"""The wheel works on its own, outside the checkout, with its scenarios and data inside."""

import os
import re
import subprocess
import sys
import venv
from pathlib import Path

import pytest

import shortflow

ROOT = Path(__file__).parents[1]

SCENARIO = """
title = "A user's own"
duration = "20ms"
[topology]
kind = "star"
hosts = 3
rate = "1Gbps"
rtt = "100us"
[switch]
buffer = "100pkt"
mark_above = "20pkt"
[[traffic]]
kind = "trace"
file = "flows.csv"
"""


def run(*command: str | Path, cwd: Path) -> str:
    environment = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "VIRTUAL_ENV")}
    words = [str(word) for word in command]
    done = subprocess.run(words, cwd=cwd, env=environment, capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_public_name_is_there_when_it_is_asked_for() -> None:
    names = set(shortflow.__all__) - {"__version__"}
    assert {getattr(shortflow, name).__name__ for name in names} == names
    assert re.fullmatch(r"\d+\.\d+\.\d+.*", shortflow.__version__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = shortflow.nothing


@pytest.mark.slow
def test_an_installed_wheel_needs_no_checkout(tmp_path: Path) -> None:
    dist = tmp_path / "dist"
    run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", dist, ROOT, cwd=tmp_path)
    (wheel,) = dist.glob("shortflow-*.whl")
    venv.create(tmp_path / "venv", with_pip=True)
    python = tmp_path / "venv" / "bin" / "python"
    run(python, "-m", "pip", "install", "--quiet", "--constraint", ROOT / "requirements.lock", wheel, cwd=tmp_path)
    command = tmp_path / "venv" / "bin" / "shortflow"
    place = run(python, "-c", "import shortflow; print(shortflow.__file__)", cwd=tmp_path)
    assert str(tmp_path) in place
    (tmp_path / "mine.toml").write_text(SCENARIO)
    (tmp_path / "flows.csv").write_text("start,source,destination,bytes\n0,0,2,100000\n1ms,1,2,50000\n")
    assert "l2dct-benchmark" in run(command, "list", "scenarios", cwd=tmp_path)
    assert "dctcp" in run(command, "compare", "mine.toml", "--schemes", "tcp,dctcp", "--seeds", "1", cwd=tmp_path)
    short = ("--set", "duration=20ms", "--set", "warmup=2ms")
    run(command, "run", "websearch-star", *short, "--out", "kept", cwd=tmp_path)
    run(command, "report", "kept", cwd=tmp_path)
    assert (tmp_path / "kept" / "report.html").stat().st_size > 1_000_000
