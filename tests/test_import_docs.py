"""The commands of the two pages on other tools' files work on files of these tools' formats."""

import json
import re
import shlex
from pathlib import Path

import pytest

from conftest import Command
from test_foreign_texts import RING, TEXTS, TOPO
from test_imported_networks import ZOO, as_containerlab, as_lldp, as_netbox, fabric
from test_imported_pfc import DCQCN
from test_imports import CONFIG, FLOWS, SIMAI, TOPOLOGY
from test_sonic import CONFIG as SONIC

DOCS = Path(__file__).parent.parent / "docs"
PAGES = ("coming-from-simulators.md", "coming-from-switches.md")


def commands() -> list[str]:
    """All `shortflow import` commands of the pages, in blocks and in tables."""
    texts = [(DOCS / page).read_text("utf-8") for page in PAGES]
    found = [each for text in texts for each in re.findall(r"shortflow import [^`\n|]+", text)]
    return list(dict.fromkeys(each.strip() for each in found))


def write_files(folder: Path) -> None:
    (folder / "mix").mkdir()
    texts = {
        "topology.txt": TOPOLOGY,
        "flow.txt": FLOWS,
        "packets.txt": DCQCN,
        "config.txt": CONFIG,
        "mix/topology.txt": TOPOLOGY,
        "mix/flow.txt": FLOWS,
        "mix/config.txt": CONFIG,
        "topology": SIMAI,
        "incast.cm": RING,
        "leaf_spine.topo": TOPO,
        "conn.log": TEXTS["zeek-conn"],
        "links.txt": "a,b,rate,delay\n" + "".join(f"h{host},rack1,10Gbps,2us\n" for host in range(4)),
        "hosts.csv": "address,host\n10.0.0.1,h0\n10.0.0.2,h1\na,h2\nb,h3\n",
        "flows.csv": TEXTS["flow-table"],
        "web.txt": TEXTS["sizes"],
        "Abilene.graphml": ZOO,
        "fabric.clab.yml": next(iter(as_containerlab(fabric(2, 2, 2)).values())),
        "config_db.json": json.dumps(SONIC),
        **as_netbox(fabric(2, 2, 2)),
    }
    seen = as_lldp(fabric(2, 1, 2))
    names = {"leaf1.json": "leaf0.json", "leaf2.json": "leaf1.json", "spine1.json": "spine0.json"}
    texts |= {name: seen[of] for name, of in names.items()}
    for name, text in texts.items():
        (folder / name).write_text(text, "utf-8")


@pytest.mark.parametrize("command", commands())
def test_an_import_of_the_pages_works(shortflow: Command, tmp_path: Path, command: str) -> None:
    write_files(tmp_path)
    words = shlex.split(command)[1:]
    said = shortflow(*words, code=0)
    assert "Run it: shortflow compare" in said.stdout


def test_the_pages_have_commands() -> None:
    assert len(commands()) >= 12
