#!/usr/bin/env python3
"""Put what `shortflow linux agreement` has measured on the page of the testbed.

    python tools/agreement.py results/agreement/agreement.json

keeps what the table is made of in docs/testbed/agreement.json, and writes the table anew into docs/testbed.md.
"""

import json
import re
import sys
from pathlib import Path
from typing import Any

from shortflow.linux.agreement import markdown
from shortflow.linux.testbed import REAL, SIMULATED

DOCS = Path(__file__).parents[1] / "docs"
TABLE = re.compile(r"^\| scenario \| metric \|.*\n(?:\|.*\n)+", re.MULTILINE)


def essence(cell: dict[str, Any]) -> dict[str, Any]:
    """Of a cell what the table shows."""
    paired = cell["comparison"].get("paired", {REAL: {SIMULATED: {}}})[REAL][SIMULATED]
    shown = {name: paired[name] for name in cell["standing"]}
    return {
        **{key: cell[key] for key in ("scenario", "scheme", "quarter_rates", "standing", "kept_time")},
        "testbed": [{"attempts": account["attempts"]} for account in cell["testbed"]],
        "comparison": {"paired": {REAL: {SIMULATED: shown}}},
    }


def main() -> None:
    """Renew file and page."""
    cells = [essence(cell) for cell in json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))]
    lines = ",\n".join(json.dumps(cell) for cell in cells)
    (DOCS / "testbed" / "agreement.json").write_text(f"[\n{lines}\n]\n", encoding="utf-8")
    page = DOCS / "testbed.md"
    text, replaced = TABLE.subn(lambda _: markdown(cells), page.read_text(encoding="utf-8"))
    if replaced != 1:
        sys.exit(f"{page}: {replaced} tables of scenario and metric, expected one")
    page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
