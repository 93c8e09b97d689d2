"""Bits and bytes, decimal points and commas, headings in other languages: only unambiguous input is read."""

import codecs
import re
from pathlib import Path

import polars as pl
import pytest

import shortflow as sf
from shortflow.errors import ConfigError
from shortflow.imports import rates, units
from shortflow.imports.files import File
from shortflow.imports.formats import read_all
from shortflow.imports.own import described
from shortflow.imports.parts import Options
from test_imports import TOPOLOGY

UNITS = {"B": 1, "KB": 1e3, "kB": 1e3, "KiB": 1024, "MB": 1e6, "MiB": 2**20, "GB": 1e9, "GiB": 2**30, "TB": 1e12}
UNITS |= {"bytes": 1, "kbytes": 1e3, "kilobytes": 1e3, "MByte": 1e6, "octets": 1, "Ko": 1e3, "Mo": 1e6, "Gio": 2**30}
UNITS |= {"bits": 1 / 8, "Kbit": 125, "kbits": 125, "kilobits": 125, "Mbit": 125e3, "Gbit": 125e6, "Kibit": 128}
UNCLEAR = ("b", "kb", "Kb", "Mb", "mb", "Gb", "gb", "Kib", "Mib")


def flows(text: str, tmp_path: Path, options: Options | None = None) -> list[tuple[object, ...]]:
    """Starts and sizes of a table of flows."""
    (tmp_path / "x").write_bytes(text.encode())
    ((_, form, part),) = read_all([File(tmp_path / "x")], None, options or Options())
    assert form.name == "flow-table"
    assert part.flows is not None
    return part.flows.table.select("start", "bytes").rows()


@pytest.mark.parametrize("unit", UNITS)
def test_a_unit_is_read_in_headers_values_and_options(tmp_path: Path, unit: str) -> None:
    size = 8 * UNITS[unit]
    for header in (f"size ({unit})", f"size_{unit}", f"Size [{unit}]", f"flow size {unit}"):
        assert units.of_name(header) == units.of_text(unit)
    assert flows(f"start,src,dst,size ({unit})\n1,a,b,8\n", tmp_path) == [(1, size)]
    assert flows(f"start,src,dst,size\n1,a,b,8{unit}\n2,b,a,8 {unit}\n", tmp_path) == [(1, size), (2, size)]
    assert flows("start,src,dst,size\n1,a,b,8\n", tmp_path, Options(unit=unit)) == [(1, size)]
    (tmp_path / "sizes").write_text(f"Size ({unit});CDF\n400;0.5\n800;1\n")
    assert described(tmp_path / "sizes", None)[1].mean == pytest.approx(500 * UNITS[unit], abs=1)
    (tmp_path / "sizes").write_text(f"400{unit} 0.5\n800{unit} 1\n")
    assert described(tmp_path / "sizes", None)[1].mean == pytest.approx(500 * UNITS[unit], abs=1)
    (tmp_path / "sizes").write_text(f"# sizes in {unit}\n400 0.5\n800 1\n")
    if unit not in ("Ko", "Mo", "Gio"):
        assert described(tmp_path / "sizes", None)[1].mean == pytest.approx(500 * UNITS[unit], abs=1)


@pytest.mark.parametrize("unit", UNCLEAR)
def test_a_unit_of_bits_or_bytes_is_refused_by_name(tmp_path: Path, unit: str) -> None:
    said = rf"B for bytes or {unit[:-1]}bit for bits, as {unit} may be either"
    for text in (f"start,src,dst,size ({unit})\n1,a,b,8\n", f"start,src,dst,size\n1,a,b,8{unit}\n"):
        with pytest.raises(ConfigError, match=rf"x:[12]: .*{said}"):
            flows(text, tmp_path)
    with pytest.raises(ConfigError, match=said):
        flows("start,src,dst,size\n1,a,b,8\n", tmp_path, Options(unit=unit))
    for text in (
        f"size_{unit},cdf\n800,0.5\n1600,1\n",
        f"800{unit} 0.5\n1600{unit} 1\n",
        f"size {unit}\n" + "900\n" * 12,
    ):
        (tmp_path / "sizes").write_text(text)
        with pytest.raises(ConfigError, match=said):
            described(tmp_path / "sizes", None)
    clear = f"bytes ({unit})"
    named = units.of_name(clear)
    assert named
    assert named.size == UNITS.get(f"{unit[:1].upper()}{unit[1:-1]}B", 1)


@pytest.mark.parametrize(
    "remark", ["# links of 10 Gb/s", "# 64-bit seeds", "# 1 MB buffers", "# a bit of web", "# first to go", "# a b"]
)
def test_a_remark_about_something_else_has_no_unit(tmp_path: Path, remark: str) -> None:
    (tmp_path / "sizes").write_text(f"{remark}\n800 0.5\n1600 1\n")
    assert described(tmp_path / "sizes", None)[1].mean == 1000


@pytest.mark.parametrize(
    ("text", "bps"),
    [
        ("100Gbps", 1e11),
        ("100Gb/s", 1e11),
        ("12.5GBps", 1e11),
        ("12.5GB/s", 1e11),
        ("100kBps", 8e5),
        ("100kbps", 1e5),
        ("1MiBps", 2**23),
        ("1e9", 1e9),
        ("100GBPS", None),
    ],
)
def test_rates_of_ns3_are_bits_or_bytes_by_their_letter(tmp_path: Path, text: str, bps: float | None) -> None:
    assert rates.of_data_rate(text) == bps
    (tmp_path / "topology.txt").write_text(TOPOLOGY.replace("0 4 100Gbps", f"0 4 {text}"))
    if bps is None:
        with pytest.raises(ConfigError, match=r'topology\.txt:3: rate: "100GBPS"'):
            sf.import_files(tmp_path / "topology.txt", out=tmp_path / "made")
        return
    ((_, _, part),) = read_all([File(tmp_path / "topology.txt")], None, Options())
    assert part.network
    assert part.network.links[0].rate == rates.written(bps)


ZOO = """<graphml><key id="s" for="edge" attr.name="LinkSpeed"/>
<key id="u" for="edge" attr.name="LinkSpeedUnits"/><graph>
<node id="a"/><node id="b"/><edge source="a" target="b"><data key="s">1</data><data key="u">GB/s</data></edge>
</graph></graphml>
"""


def test_a_speed_in_bytes_is_refused(tmp_path: Path) -> None:
    (tmp_path / "zoo.graphml").write_text(ZOO)
    with pytest.raises(ConfigError, match=r'LinkSpeedUnits: "GB/s"; expected bits per second, such as G or Gbps'):
        sf.import_files(tmp_path / "zoo.graphml", out=tmp_path / "made", hosts_at=["2x1Gbps"])


HEAD = "start;src;dst;bytes\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"{HEAD}1.000,5;a;b;3.000\n2.000;b;a;12\n", [(1000.5, 3000), (2000, 12)]),
        (f"{HEAD}0,5;a;b;3.000\n1,000;b;a;1.234.567\n", [(0.5, 3000), (1, 1_234_567)]),
        (f"{HEAD}0.5;a;b;3,000\n1,000.25;b;a;12\n", [(0.5, 3000), (1000.25, 12)]),
        (f"{HEAD}0.5;a;b;1 234\n1;b;a;3'000\n2;b;a;1\u202f000\n", [(0.5, 1234), (1, 3000), (2, 1000)]),
        ("start,src,dst,bytes\n1.000,a,b,3000\n2.500,b,a,10\n", [(1, 3000), (2.5, 10)]),
        ("start src dst bytes\n1.250 a b 3000\n", [(1.25, 3000)]),
        (f"{HEAD}1,5;a;b;1,5 KB\n", [(1.5, 1500)]),
        ("Beginn;Quelle;Ziel;Größe (KB)\n0,5;a;b;1,5\n1.000,25;b;a;3\n", [(0.5, 1500), (1000.25, 3000)]),
        ("Début;Adresse source;Adresse destination;Octets\n0,5;a;b;3 000\n", [(0.5, 3000)]),
        ("Heure de début (ms);Source;Destination;Taille (Ko)\n500;a;b;1,5\n", [(0.5, 1500)]),
        ("Inicio;Origen;Destino;Tamaño\n0,5;a;b;3.000\n", [(0.5, 3000)]),
        ("Zeit;Quell-IP;Ziel-IP;Datenmenge (Mbit)\n0,5;a;b;0,08\n", [(0.5, 10_000)]),
    ],
)
def test_numbers_and_headings_of_other_countries(tmp_path: Path, text: str, expected: list[tuple[float, int]]) -> None:
    assert flows(text, tmp_path) == expected
    assert flows(codecs.BOM_UTF8.decode() + text.replace("\n", "\r\n"), tmp_path) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"{HEAD}1.000;a;b;3000\n2.000;b;a;10\n", 'x:2: start: "1.000"; expected 1000 or 1.0000'),
        (f"{HEAD}1;a;b;10\n2;b;a;3.000\n", 'x:3: bytes: "3.000"; expected 3000 or 3.0000'),
        (f"{HEAD}1;a;b;3,000\n", 'x:2: bytes: "3,000"; expected 3000 or 3.0000'),
        (f"{HEAD}0,5;a;b;3,000\n", 'x:2: bytes: "3,000"; expected 3000 or 3.0000'),
        ('start,src,dst,bytes\n1,a,b,"3,000"\n', 'x:2: bytes: "3,000"; expected 3000 or 3.0000'),
        (f"{HEAD}0.5;a;b;3\n1,5;b;a;3\n2.5;b;a;3\n", 'x:3: start: "1,5"; expected decimal points in the whole column'),
        (f"{HEAD}1.00,5;a;b;3\n", 'x:2: start: "1.00,5"; expected a time from 0 on'),
        ("Beginn;Quelle;Ziel;Größe\n1;a;b;1.500\n", 'x:2: Größe: "1.500"; expected 1500 or 1.5000'),
    ],
)
def test_a_number_of_two_readings_is_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(message)):
        flows(text, tmp_path)


def test_samples_of_two_readings_are_refused(tmp_path: Path) -> None:
    (tmp_path / "samples").write_text("15.000\n20.000\n" * 6)
    with pytest.raises(ConfigError, match=re.escape('samples:1: size: "15.000"; expected 15000 or 15.0000')):
        described(tmp_path / "samples", None)
    (tmp_path / "samples").write_text("15.000\n20.000\n" * 6 + "1.000.000\n")
    assert described(tmp_path / "samples", None)[1].percentile(40) == 15_000


@pytest.mark.parametrize(
    "starts", [("31.01.2026 12:00:00,5", "31.01.2026 12:00:02"), ("2026-01-31 12:00:00,500", "2026-01-31 12:00:02,000")]
)
def test_dates_of_other_countries(tmp_path: Path, starts: tuple[str, str]) -> None:
    (first, _), (second, _) = flows(f"{HEAD}{starts[0]};a;b;1\n{starts[1]};b;a;2\n", tmp_path)
    assert float(str(second)) - float(str(first)) == 1.5
    assert pl.Series([first]).dtype == pl.Float64
