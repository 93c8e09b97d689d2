"""The notebooks run as they are, and are stored without what they print."""

import json
from pathlib import Path

import nbclient
import nbformat
import pytest

FOLDER = Path(__file__).parents[1] / "docs" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def test_there_are_notebooks() -> None:
    assert len(NOTEBOOKS) >= 5


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_is_stored_without_outputs(path: Path, tmp_path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    stored = json.loads(text)
    assert not [cell for cell in stored["cells"] if cell.get("outputs") or cell.get("execution_count")]
    notebook = nbformat.reads(text, as_version=4)  # type: ignore[no-untyped-call]
    nbclient.NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    shown = [kind for output in outputs for kind in output.get("data", {})]
    assert "text/html" in shown
    assert not [output for output in outputs if output.get("name") == "stderr"], "nothing is said beside the results"
    assert [output for output in outputs if output.get("data") == {"text/plain": "", "text/html": ""}], (
        "a bar was there"
    )
    assert not [output for output in outputs if "<progress" in str(output)], "and is gone when its work is done"
