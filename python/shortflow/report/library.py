"""Library that draws charts: Vega, Vega-Lite and Vega-Embed in one script.

`make setup` calls `python -m shortflow.report.library`, which writes the script next to this file. This needs
vl-convert.
"""

import functools
import hashlib
from importlib import import_module
from pathlib import Path

from shortflow.errors import MissingRequirement

FILE = Path(__file__).with_name("vega.js")
VERSIONS = {"vega": "6.2.0", "vega-lite": "6.4", "vega-embed": "7.0.2"}
SHA256 = "3425bd951a44d478d0505c6b5d1e8d57656b6e9a4da7bfe88a718ce61d76e572"


@functools.cache
def library() -> str:
    """Text of the script. Raises `MissingRequirement` if it was not built."""
    try:
        return FILE.read_text("utf-8")
    except FileNotFoundError:
        raise MissingRequirement(
            f"{FILE}: not built, so that pages cannot draw charts; run `make setup`, or reinstall shortflow"
        ) from None


def build() -> None:
    """Writes the script. Raises `SystemExit` if its SHA-256 is not the expected one."""
    convert = import_module("vl_convert")
    script: str = convert.javascript_bundle(vl_version=VERSIONS["vega-lite"])
    found = hashlib.sha256(script.encode()).hexdigest()
    if found != SHA256:
        raise SystemExit(
            f"{FILE.name}: SHA-256 is {found}, expected {SHA256}; compare the version of vl-convert-python"
        )
    partial = FILE.with_suffix(".partial")
    partial.write_text(script, "utf-8")
    partial.replace(FILE)


if __name__ == "__main__":
    build()
