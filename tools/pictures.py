"""Draws the pictures of README and the tutorial, and runs the notebooks: `make pictures`."""

import re
import tempfile
import tomllib
from pathlib import Path
from typing import Any

import nbclient
import nbformat

import shortflow as sf
from shortflow.report.chart import Chart
from shortflow.report.figures import ranked

DOCS = Path(__file__).parents[1] / "docs"
PLACE = DOCS / "pictures"
NOTEBOOKS = sorted((DOCS / "notebooks").glob("*.ipynb"))
SPECIFICATION = re.compile(r"<!-- specification [0-9a-f]{64} -->")


def charts() -> dict[str, Chart]:
    """Charts of one sweep, by the names of their pictures."""
    grid: dict[str, Any] = {"load": [0.2, 0.4, 0.6, 0.8]}
    runs = sf.sweep("l2dct-benchmark", "tcp,dctcp,l2dct", grid, 3, settings={"duration": "1s"}, progress=False)
    return {"answer": runs.plot.headlines(), "ranking": runs.plot.ranked(), "trade-off": runs.plot.trade_off()}


def distribution() -> Chart:
    """Chart for the page on Python."""
    scenario = sf.load("l2dct-benchmark").with_(duration="300ms")
    return sf.compare(scenario, "tcp,dctcp,l2dct", 3, progress=False).plot.fct_cdf()


def delays() -> Chart:
    """Chart of long flows for the page on schemes."""
    page = (DOCS / "schemes.md").read_text(encoding="utf-8")
    long = tomllib.loads(page.partition("cat > long.toml <<'EOF'\n")[2].partition("EOF\n")[0])
    names = ["dctcp", "dctcp over tcn", *(f"swift+queueing={each}us+fs_range=0s" for each in (100, 200)), "swift"]
    runs = sf.compare(long, names, 1, ideal=False, progress=False)
    return ranked(runs, [runs.require(name) for name in ("queueing_long_s", "goodput_long_bps")])


def front() -> Chart:
    """Chart of a search with two objectives, for the page on tuning."""
    asked: dict[str, Any] = {"minimize": "afct_short_s", "maximize": "goodput_long_bps", "check_on": "none"}
    asked |= {"trials": 16, "seeds": 2, "check_seeds": 3, "settings": {"duration": "300ms"}}
    ranges = {"transport.w_max": "1:5", "transport.w_min": "0.05:2:log"}
    with tempfile.TemporaryDirectory() as out:
        return sf.tune("l2dct-benchmark", "l2dct", ranges, out=out, progress=False, **asked).plot.all()[0]


OF_PAGES = {"distribution": distribution, "delays": delays, "front": front}
"""Charts that the build of the site draws in place of `<!-- picture: NAME -->`."""


def executed(path: Path) -> Any:
    """A notebook with its outputs, after a run in an empty directory."""
    notebook = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    with tempfile.TemporaryDirectory() as place:
        resources = {"metadata": {"path": place}}
        nbclient.NotebookClient(notebook, timeout=600, record_timing=False, resources=resources).execute()
    return notebook


def main() -> None:
    """Writes all pictures, and all notebooks with their outputs. Outputs of progress bars are left out."""
    PLACE.mkdir(exist_ok=True)
    for name, chart in charts().items():
        (PLACE / f"{name}.svg").write_text(chart.svg, encoding="utf-8")
    for path in NOTEBOOKS:
        notebook = executed(path)
        for cell in notebook.cells:
            if cell.cell_type == "code":
                cell.outputs = [each for each in cell.outputs if each.get("data", {}).get("text/html") != ""]
        notebook.metadata.language_info = {"name": "python"}
        nbformat.write(notebook, path)  # type: ignore[no-untyped-call]


if __name__ == "__main__":
    main()
