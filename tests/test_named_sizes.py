"""Scenarios may name files of sizes in any format that can be imported."""

from pathlib import Path

import pytest

import shortflow as sf
from made import star
from test_import_sizes import LINES, STEPS, rows


def test_a_scenario_takes_any_form(tmp_path: Path) -> None:
    (tmp_path / "own.csv").write_text("bytes,cumulative\n" + rows("{size},{share}"))
    (tmp_path / "web.txt").write_text(rows(scale=100))
    (tmp_path / "homa.txt").write_text("12082500\n" + rows())

    def mean(file: str) -> tuple[sf.Scenario, float]:
        sizes = {"kind": "cdf", "file": file}
        poisson = {"kind": "poisson", "pattern": "all-to-all", "sizes": sizes, "load": 0.5}
        scenario = sf.load(star([poisson], 4), directory=tmp_path)
        rate = scenario.expected_flows()[0]["flows"]
        return scenario, rate

    own, known = mean("own.csv")
    web, found = mean("web.txt")
    assert found == known
    assert web.traffic_notes()[0].startswith(
        "web.txt: separated by blanks; cumulative, per cent; sizes in bytes; lines"
    )
    assert not own.read_so
    _, homa = mean("homa.txt")
    assert homa == pytest.approx(known * LINES[0] / STEPS[0], rel=1e-3)
    changed = own.with_({"traffic.1.sizes.file": "homa.txt"})
    assert changed.expected_flows()[0]["flows"] == homa
    assert sf.run(web, "dctcp").digest == sf.run(own, "dctcp").digest
