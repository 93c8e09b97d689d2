"""Logs and tables as collectors write them: two directions, clocks and epochs, and files that are no such table."""

import re
from pathlib import Path

import polars as pl
import pytest

import shortflow as sf
from shortflow.errors import ConfigError
from test_foreign_texts import TOPO

NFDUMP = "ts,te,td,sa,da,sp,dp,pr,flg,ipkt,ibyt,opkt,obyt\n"
ROW = "2026-01-31 12:00:0{at},x,1,10.0.0.{a},10.0.0.{b},1,2,TCP,A,3,{there},1,{back}\n"
ARGUS = "StartTime,Flgs,Proto,SrcAddr,Sport,Dir,DstAddr,Dport,"


def flows_of(text: str, tmp_path: Path) -> tuple[list[tuple[object, ...]], str]:
    """Rows of the trace that the import of a text writes, and the notes of the import."""
    (tmp_path / "x").write_text(text)
    found = sf.import_files(tmp_path / "x", out=tmp_path / "made")
    rows = pl.read_csv(tmp_path / "made" / "flows.csv", comment_prefix="#").rows()
    return rows, "\n".join(found.summary["notes"])


def test_both_directions_of_a_flow_are_flows(tmp_path: Path) -> None:
    text = NFDUMP + ROW.format(at=0, a=1, b=2, there=4000, back=60) + ROW.format(at=1, a=2, b=1, there=500, back=0)
    rows, notes = flows_of(text, tmp_path)
    assert rows == [
        (0, "h0", "h1", 4000, "request"),
        (0, "h1", "h0", 60, "response"),
        (1, "h1", "h0", 500, "request"),
    ]
    assert "Bytes of column obyt go back" in notes


@pytest.mark.parametrize(
    ("header", "first", "second"),
    [
        ("srcbytes;dstbytes", "12.000;1.000", "1.200.000;2.000"),
        ("srcbytes (KB);dstbytes (KB)", "12;1", "1200;2"),
        ("srcbytes;dstbytes (KB)", "12000;1,0", "1200000;2,0"),
        ("SrcBytes KB;DstBytes", "12;1000", "1200;2 KB"),
        ("bytes;in_bytes;out_bytes [kB]", "1;12000;1", "1;1200000;2"),
    ],
)
def test_the_other_direction_has_numbers_and_units_of_its_own(
    tmp_path: Path, header: str, first: str, second: str
) -> None:
    """Both columns have thousands separators, and each column has the unit of its heading."""
    text = f"start;source;destination;{header}\n0,5;h0;h1;{first}\n0,75;h1;h2;{second}\n"
    rows, notes = flows_of(text, tmp_path)
    assert [row[3] for row in rows] == [12_000, 1_000, 1_200_000, 2_000]
    assert ("go back (sizes in KB, as the header says)" in notes) == header.endswith(("B)", "B]"))


def test_classes_and_deadlines_of_two_directions(tmp_path: Path) -> None:
    """Classes and deadlines of the file are kept. A deadline is that of the forward flow, in its heading's unit."""
    text = (
        "start;source;destination;srcbytes;dstbytes;class;deadline (ms)\n"
        "0,5;h0;h1;12000;1000;Long;7,5\n0,75;h1;h2;1200000;2000;;\n1,0;h1;h2;3000;0;short;2s\n"
    )
    rows, notes = flows_of(text, tmp_path)
    assert [row[3:] for row in rows] == [
        (12_000, "7.5ms", "long"),
        (1_000, None, "long-response"),
        (1_200_000, None, "short"),
        (2_000, None, "short-response"),
        (3_000, "2s", "short"),
    ]
    assert "their class is that of the row with -response behind it. A deadline is that of the flow there" in notes
    sf.load(tmp_path / "made" / "scenario.toml")


def test_bytes_back_without_those_there_are_named(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("start,source,destination,bytes,dstbytes (KB)\n0.5,h0,h1,4000,1\n")
    found = sf.import_files(tmp_path / "x", out=tmp_path / "made")
    assert any("Column dstbytes (KB): the bytes of the other direction" in each for each in found.summary["left_out"])


@pytest.mark.parametrize("times", [("12:00:00.5", "12:00:02"), ("1700000000.5", "1700000002.0")])
def test_argus_divides_its_total(tmp_path: Path, times: tuple[str, str]) -> None:
    """In a file that also has totals, each byte counts once."""
    rows = "".join(
        f"{at}, e,tcp,10.0.0.{a},1,->,10.0.0.{b},80,1570,1500,70\n" for at, a, b in zip(times, "12", "21", strict=True)
    )
    found, _ = flows_of(f"{ARGUS}TotBytes,SrcBytes,DstBytes\n{rows}", tmp_path)
    assert [(row[0], row[3]) for row in found] == [(0, 1500), (0, 70), (1.5, 1500), (1.5, 70)]


def test_a_total_of_both_directions_is_named(tmp_path: Path) -> None:
    rows, notes = flows_of(f"{ARGUS}TotBytes\n0.5, e,tcp,a,1,->,b,80,1570\n", tmp_path)
    assert rows == [(0, "h0", "h1", 1570)]
    assert "Column TotBytes counts both directions" in notes


@pytest.mark.parametrize(
    ("unit", "starts"),
    [
        ("ns", (1_700_000_000_123_456_789, 1_700_000_000_123_456_889)),
        ("us", (1_700_000_000_123_456, 1_700_000_000_123_457)),
        ("ms", (1_700_000_000_123, 1_700_000_000_124)),
    ],
)
def test_epochs_keep_their_last_digit(tmp_path: Path, unit: str, starts: tuple[int, int]) -> None:
    """Two flows start 100 ns, 1 us or 1 ms apart, at a time in seconds that 64 bits cannot resolve so finely."""
    rows, _ = flows_of(f"ts_{unit};src;dst;bytes\n{starts[1]};a;b;10\n{starts[0]};b;a;20\n", tmp_path)
    assert [row[0] for row in rows] == pytest.approx([0, {"ns": 1e-7, "us": 1e-6, "ms": 1e-3}[unit]], rel=1e-6)
    (tmp_path / "y").write_text(f"ts,src,dst,bytes\n{starts[0]},a,b,10\n{starts[1]},b,a,20\n")
    found = sf.import_files(tmp_path / "y", out=tmp_path / "given", time=unit)
    assert found.summary["span_s"] == pytest.approx(rows[1][0], rel=1e-6)


@pytest.mark.parametrize(
    ("first", "second", "apart"),
    [
        ("1700000000.123456789", "1700000000.123456999", 210e-9),
        ("1700000000.123456789s", "1700000000.123456999s", 210e-9),
        ("1700000000123456.789us", "1700000000123456.999us", 210e-9),
        ("2026-01-31 12:00:00.123456789", "2026-01-31 12:00:00.123456999", 210e-9),
        ("2026-01-31T12:00:00.123456789Z", "2026-01-31T12:00:00.5Z", 0.376543211),
    ],
)
def test_times_of_the_calendar_keep_nanoseconds(tmp_path: Path, first: str, second: str, apart: float) -> None:
    """Starts count from the earliest one, in any order of the rows."""
    rows, notes = flows_of(f"ts,src,dst,bytes\n{second},a,b,10\n{first},b,a,20\n", tmp_path)
    assert [row[0] for row in rows] == [0, pytest.approx(apart, rel=1e-9)]
    assert f"count from the first, {first.rstrip('us')}" in notes


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("1700000000.123456789", "1700000000.123456999"),
        ('"2026-01-31T12:00:00.123456789Z"', '"2026-01-31T12:00:00.123456999Z"'),
    ],
)
def test_zeek_keeps_nanoseconds(tmp_path: Path, first: str, second: str) -> None:
    row = '{{"ts":{ts},"id.orig_h":"a","id.resp_h":"b","orig_bytes":100,"resp_bytes":0}}\n'
    rows, notes = flows_of(row.format(ts=first) + row.format(ts=second), tmp_path)
    assert [each[0] for each in rows] == [0, pytest.approx(210e-9, rel=1e-6)]
    assert "Starts count from the first" in notes


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            'No.,Time,Source,Destination,Protocol,Length,Info\n1,0.0,10.0.0.1,10.0.0.2,TCP,1514,"a, b"\n',
            "expected one flow a row, and these are packets: make flows of the capture with Zeek",
        ),
        ("auto swp1\niface swp1\n    link-speed 100000\n", "of no known format"),
        ("start,src,dst,bytes\n-0.5,a,b,3\n", 'x:2: start: "-0.5"; expected a time from 0 on'),
        (
            "StartTime,SrcAddr,DstAddr,TotBytes\n12:00:00,a,b,3\nlater,b,a,4\n",
            'x:3: StartTime: "later"; expected a time of the day',
        ),
        ("01/31/2026,a,b\n", "of no known format"),
    ],
)
def test_what_is_no_table_of_flows_is_refused(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "x").write_text(text)
    with pytest.raises(ConfigError, match=re.escape(message)):
        sf.import_files(tmp_path / "x", out=tmp_path / "made")


def test_keys_of_htsim_are_read_in_any_case(tmp_path: Path) -> None:
    """Otherwise, the switches' latency would be lost, and the rate would be htsim's default."""
    text = TOPO.replace("Radix_Down 2\nRadix_Up 2\nTier 1", "Switch_Latency_ns 300\nRadix_Down 2\nRadix_Up 2\nTier 1")
    for name, of in (("plain", text), ("lower", text.lower()), ("upper", text.upper())):
        (tmp_path / name).write_text(of)
        sf.import_files(tmp_path / name, out=tmp_path / f"made-{name}")
    lines = [
        (tmp_path / f"made-{name}" / "links.csv").read_text().split("\n", 1)[1] for name in ("plain", "lower", "upper")
    ]
    assert lines[0] == lines[1] == lines[2]
    assert "1150ns" in lines[0]
