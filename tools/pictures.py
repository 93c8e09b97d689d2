"""Draws the pictures of README and the tutorial from the specifications of charts: `make pictures`."""

import hashlib
import json
from pathlib import Path
from typing import Any

import shortflow as sf
from shortflow.report.chart import Chart, finite

PLACE = Path(__file__).parents[1] / "docs" / "pictures"


def charts() -> dict[str, Chart]:
    """Charts of one sweep by the name of their picture."""
    grid: dict[str, Any] = {"load": [0.2, 0.4, 0.6, 0.8]}
    runs = sf.sweep("l2dct-benchmark", "tcp,dctcp,l2dct", grid, 3, settings={"duration": "1s"}, progress=False)
    return {"answer": runs.plot.headlines(), "ranking": runs.plot.ranked(), "trade-off": runs.plot.trade_off()}


def mark(chart: Chart) -> str:
    """The line of a picture that names its specification."""
    text = json.dumps(_rounded(finite(chart.spec)), sort_keys=True)
    return f"<!-- specification {hashlib.sha256(text.encode()).hexdigest()} -->\n"


def _rounded(value: Any) -> Any:
    """Plain data with numbers of six digits."""
    if isinstance(value, dict):
        return {name: _rounded(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_rounded(each) for each in value]
    return float(f"{value:.6g}") if isinstance(value, float) else value


def main() -> None:
    """Writes all pictures."""
    PLACE.mkdir(exist_ok=True)
    for name, chart in charts().items():
        (PLACE / f"{name}.svg").write_text(chart.svg + mark(chart), encoding="utf-8")


if __name__ == "__main__":
    main()
