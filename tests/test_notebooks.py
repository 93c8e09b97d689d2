"""The notebooks run without changes, and are stored with their present outputs."""

import re
from pathlib import Path
from typing import Any

import nbformat
import pictures
import pytest

SVG = re.compile(r"<svg .*?</svg>", re.DOTALL)
"""Pattern of a picture. The hash of the picture's specification follows it."""
GONE = {"text/plain": "", "text/html": ""}
"""Output of a progress bar whose work is done."""


def outputs(notebook: Any) -> list[Any]:
    """Outputs by cell. A picture is replaced by the hash of its specification."""
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    every = [[each.get("data") or each for each in cell.outputs] for cell in cells]
    return [[{name: SVG.sub("", text) for name, text in each.items()} for each in cell] for cell in every]


@pytest.mark.parametrize("path", pictures.NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_stored_with_the_outputs_of_a_run(path: Path) -> None:
    found = outputs(pictures.executed(path))
    stored = outputs(nbformat.read(path, as_version=4))  # type: ignore[no-untyped-call]
    assert any(GONE in cell for cell in found), "a bar was there"
    assert stored == [[each for each in cell if each != GONE] for cell in found], "run `make pictures`"
    text = str(stored)
    assert "<progress" not in text
    assert "stderr" not in text
    assert pictures.SPECIFICATION.search(text)
    assert path.stat().st_size < 400_000


def test_there_are_notebooks() -> None:
    assert len(pictures.NOTEBOOKS) >= 5
