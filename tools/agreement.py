#!/usr/bin/env python3
"""Updates docs/agreement.md with results of `shortflow linux agreement`.

    python tools/agreement.py results/agreement/agreement.json

The command stores the numbers of the tables in docs/testbed/agreement.json, and writes the tables to docs/agreement.md.
Cells that the results do not have stay.
"""

import json
import re
import sys
from pathlib import Path
from typing import Any

from shortflow_linux.agreement import CELLS, agreement_tables
from shortflow_linux.testbed import REAL, SIMULATED

DOCS = Path(__file__).parents[1] / "docs"
TABLE = re.compile(r"^\| scenario \| metric \|.*\n(?:\|.*\n)+", re.MULTILINE)


def essence(cell: dict[str, Any]) -> dict[str, Any]:
    """The fields of a cell that the tables show, and the kernel and the builds that they are of."""
    paired = cell["comparison"].get("paired", {REAL: {SIMULATED: {}}})[REAL][SIMULATED]
    shown = {name: paired[name] for name in cell["standing"]}
    return {
        **{
            key: cell.get(key)
            for key in ("scenario", "scheme", "quarter_rates", "host_queue", "standing", "kept_time", "builds")
        },
        "testbed": [{"attempts": account["attempts"]} for account in cell["testbed"]],
        "comparison": {"paired": {REAL: {SIMULATED: shown}}},
    }


def main() -> None:
    """Updates file and page."""
    kept = DOCS / "testbed" / "agreement.json"
    before = json.loads(kept.read_text(encoding="utf-8"))
    new = [essence(cell) for cell in json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))]
    by_place = {(cell["scenario"], cell["scheme"]): cell for cell in [*before, *new]}
    places = [(row, scheme) for row, schemes in CELLS.items() for scheme in schemes]
    cells = [by_place[place] for place in places if place in by_place]
    lines = ",\n".join(json.dumps(cell) for cell in cells)
    kept.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
    page = DOCS / "agreement.md"
    tables = TABLE.findall(agreement_tables(cells))
    each = iter(tables)
    text, replaced = TABLE.subn(lambda _: next(each, ""), page.read_text(encoding="utf-8"))
    if replaced != len(tables):
        sys.exit(f"{page}: {replaced} tables of scenario and metric, expected {len(tables)}")
    page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
