"""Tables of sizes and flows: headings and stated units decide, options must agree with them, omissions are named."""

import gzip
import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shortflow as sf
from conftest import Command
from made import star
from shortflow.errors import ConfigError, ExitCode
from shortflow.imports.own import described
from test_imports import ZEEK

TRACE = "start,src,dst,bytes\n"


def import_text(tmp_path: Path, text: str, **options: Any) -> sf.Imported:
    (tmp_path / "x").write_bytes(text.encode())
    return sf.import_files(tmp_path / "x", out=tmp_path / "made", **options)


def sizes_of(made: Path) -> list[tuple[float, float]]:
    return pl.read_csv(made / "sizes.csv", comment_prefix="#").rows()


UNFIT = {
    "time,src_port,bytes\n0.1,80,1000\n0.5,81,2000\n1,82,5000\n": "a column source, such as src and a column destin",
    "time,src,bytes\n0.1,a,1000\n0.5,b,2000\n1,c,5000\n": 'header: "time,src,bytes"; expected a column destination',
    "time,bytes\n0.1,1000\n1,5000\n": "To import the sizes alone, give --format size-samples",
    "time,src,dst\n0.1,a,b\n1,b,a\n": 'x:1: header: "time,src,dst"; expected a column bytes, such as size',
    "fct,cdf\n100,0.1\n500,0.5\n1000,1\n": 'x:1: header: "fct,cdf"; expected one column of sizes',
    "FCT (ms) CDF\n100 0.5\n200 1\n": "expected one column of sizes",
    "# fct cdf\n100 0.5\n200 1\n": 'x:1: header: "fct cdf"; expected one column of sizes',
    "queue_bytes,cdf\n100,0.1\n500,0.5\n1000,1\n": "expected one column of sizes",
    "rate;cdf\n100;0,1\n500;0,5\n1000;1\n": "expected one column of sizes",
    "bytes,share of bytes\n1000,0.1\n2000,1\n": "expected one column of shares or counts of flows",
    "latenz,anteil\n100,0.1\n500,0.5\n1000,1\n": "expected one column of sizes",
    "duration,rate\n100,0.1\n500,0.5\n1000,1\n": 'x:1: header: "duration,rate"; expected columns of known names',
    "foo,bar\n100,0.1\n500,0.5\n1000,1\n": "expected columns of known names: start,source,destination,bytes",
    "fct\n" + "100\n200\n" * 6: 'x:1: header: "fct"; expected columns of known names',
    "bytes,cdf,bytes\n1000,0.5,3\n2000,1,4\n": "one column of sizes, such as bytes; these may be: bytes, bytes",
    "flow_size,message_size,cdf\n1000,3,0.5\n2000,4,1\n": "these may be: flow_size, message_size",
    "bytes,cdf\n1000,0.5,7\n2000,1,7\n": 'x:2: row: "1000,0.5,7"; expected 2 fields, as in the header',
    "bytes,frequency\n1000,0.25\n2000,0.5\n3000,1\n": 'x:4: frequency: "1"; expected shares of each size',
    "bytes,count\n1000,0.25\n2000,0.75\n": 'x:2: count: "0.25"; expected a whole number of flows',
    "bytes,pdf\n1000,0.25\n2000,0.5\n3000,1\n": 'pdf: "1.75 together"; expected 1 together, as the header says',
    "bytes,cdf\n1000,0.5\n2000,0.3\n3000,0.2\n": 'x:3: cdf: "0.3"; expected no less than in the row before',
    "bytes,percent\n1000,0.5\n2000,1\n": 'x:3: last percent: "1"; expected 100',
    "10 20\n50 60\n100 100\n": 'x:1: row: "10 20"; expected one column that ends at 1 or 100, and both do',
    "0.1 1 2 3000\n0.2 2 3 4000\n": "expected a first line with the names of the 4 columns",
    "0 1 2 100 1000 2.0\n1 2 3 100 1000 2.1\n": "HPCC's flow.txt begins with its number of flows",
    "1 2000 0.5\n2 3000 1\n": "expected a first line with the names of the 3 columns",
    "1000\n2000\n90000\n": 'x:1: row: "1000"; expected ten rows or more',
    "bytes,cdf\n": 'x:1: header: "bytes,cdf"; expected rows below it',
    "bytes\n1000\n\n2000\nTotal: 2\n": 'x:5: row: "Total: 2"; expected 1 field, as in the other rows',
    "min_bytes,max_bytes,count\n0,1000,5\n1000,2000,5\n": "expected one column of sizes, such as bytes",
    "bytes,ccdf\n1000,0.1\n2000,1\n": 'x:3: ccdf: "1"; expected no more than in the row before',
    "bytes,cdf\n1000,1\n2000,0.5\n5000,0.2\n": 'x:4: last cdf: "0.2"; expected 0: the rest of the flows',
    TRACE: "expected rows below the header",
}


@pytest.mark.parametrize("text", UNFIT)
def test_columns_that_make_neither_sizes_nor_flows_are_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(ConfigError) as error:
        import_text(tmp_path, text)
    assert UNFIT[text] in str(error.value)
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize(
    ("text", "expected", "left_out"),
    [
        ("fct,bytes\n0.1,1000\n0.5,2000\n1,5000\n", [1000, 2000, 5000], "Column fct."),
        ("Flow ID\tBytes\n1\t3000\n2\t4000\n", [3000, 4000], "Column Flow ID."),
        ("packets,bytes\n1,3000\n2,4000\n", [3000, 4000], "Column packets."),
        ("bytes,cdf,note\n1000,0,web (small)\n2000,1,x\n", [1000, 2000], "Column note."),
        ("bytes,pdf,cdf\n1000,0.5,0.5\n2000,0.5,1\n", [1000, 2000], "Column pdf."),
        ("time;bytes;count\n1;1000;5\n2;2000;5\n", [1000, 2000], "Column time."),
        ("Web search\nbytes cdf\n1000 0\n2000 1\n", [1000, 2000], "1 line above the header."),
    ],
)
def test_columns_that_are_not_read_are_named(tmp_path: Path, text: str, expected: list[int], left_out: str) -> None:
    found = import_text(tmp_path, text)
    assert sorted({size for size, _ in sizes_of(tmp_path / "made")}) == expected
    assert any(left_out in each for each in found.summary["left_out"])


def test_shares_of_larger_flows_are_known_by_their_name(tmp_path: Path) -> None:
    import_text(tmp_path, "bytes,ccdf\n1000,0.9\n2000,0\n")
    assert sizes_of(tmp_path / "made") == [(1000, 0.1), (2000, 1)]


@pytest.mark.parametrize("text", ["0,a,b,300\n,,,\n5,b,a,400\n,,,\n", "0,a,b,300,\n5,b,a,400,\n"])
def test_rows_of_empty_cells_are_no_rows(tmp_path: Path, text: str) -> None:
    """Starts in microseconds are written with no more digits than in the file."""
    import_text(tmp_path, f"start_us,sender,receiver,bytes\n{text}")
    rows = (tmp_path / "made" / "flows.csv").read_text().splitlines()[2:]
    assert rows == ["0.0,h0,h1,300", "5e-6,h1,h0,400"]
    (tmp_path / "y").write_text("bytes,cdf\n1000,0.5\n,\n2000,1\n,\n")
    assert [size for size, _ in described(tmp_path / "y", None)[1].rows] == [1000, 2000]


def test_a_heading_is_named_as_it_is_written(tmp_path: Path) -> None:
    found = import_text(tmp_path, '"Flow Size (Bytes)","Cumulative Probability"\n"1,000","10%"\n"20,000","100%"\n')
    assert (
        "sizes are column Flow Size (Bytes), and shares are column Cumulative Probability" in found.summary["notes"][0]
    )


def test_sizes_of_an_incomplete_trace_are_taken_on_demand(tmp_path: Path) -> None:
    found = import_text(tmp_path, "time,src,bytes\n0.1,a,1000\n0.5,b,3000\n", format_="size-samples")
    assert sizes_of(tmp_path / "made") == [(1000, 0), (1000, 0.5), (3000, 0.5), (3000, 1)]
    assert any("Columns time, src." in each for each in found.summary["left_out"])


@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        ("size KB cdf\n1 0.5\n2 1\n", [1000, 2000]),
        ("cdf flow size (KB)\n0.5 1\n1 2\n", [1000, 2000]),
        ("# bytes cdf\n1 0.5\n2 1\n", [1, 2]),
        ("size_KB,cdf\n3KB,0.5\n4,1\n", [3000, 4000]),
        ("x,y\n1000,0.5\n2000,1\n", [1000, 2000]),
        (";size;cdf\n0;1000;0,5\n1;2000;1\n", [1000, 2000]),
        ("bytes;cdf;\r\n1000;0,5;\r\n2000;1;\r\n", [1000, 2000]),
        ("bytes,aandeel\n1000,0.5\n2000,1\n", [1000, 2000]),
        ("2000 1\n1000 0.5\n", [1000, 2000]),
        ("3000 1\n1000 0.5\n2000 0.7\n", [1000, 2000, 3000]),
    ],
)
def test_headings_and_units_are_honoured(tmp_path: Path, text: str, sizes: list[int]) -> None:
    import_text(tmp_path, text)
    assert [size for size, _ in sizes_of(tmp_path / "made")] == sizes


FLOW = "a,b,3000\n"
CONTRADICTIONS = [
    (
        "size_KB,cdf\n100,0.5\n200,1\n",
        {"unit": "MB"},
        'x:1: unit of sizes: "size_KB"; expected MB, as --unit says: this',
    ),
    (
        "size_kb,cdf\n100,0.5\n200,1\n",
        {"unit": "MB"},
        "expected KB for bytes or kbit for bits, as kb may be either, and",
    ),
    (
        "# web\n# bytes\n1000 0.5\n2000 1\n",
        {"unit": "KB"},
        'x:2: unit of sizes: "# bytes"; expected KB, as --unit says',
    ),
    ("bytes\n" + "1000\n" * 12, {"unit": "KB"}, "this says bytes. Leave --unit out"),
    ("ts,sa,da,ibyt\n1,a,b,3000\n", {"unit": "KB"}, 'x:1: unit of sizes: "ibyt"; expected KB'),
    ("start,src,dst,size_KB\n1,a,b,3\n", {"unit": "MB"}, 'x:1: unit of sizes: "size_KB"; expected MB'),
    (
        "start,src,dst,size\n1,a,b,3KB\n",
        {"unit": "MB"},
        'x:2: size: "3KB"; expected sizes without a unit for --unit MB',
    ),
    ("1000B 0.5\n2000B 1\n", {"unit": "KB"}, 'x:1: size: "1000B"; expected sizes without a unit'),
    (
        f"start_ms,src,dst,bytes\n1,{FLOW}",
        {"time": "us"},
        'x:1: unit of starts: "start_ms"; expected us, as --time says',
    ),
    (f"{TRACE}1ms,{FLOW}", {"time": "us"}, 'x:2: start: "1ms"; expected numbers without a unit for --time us'),
    (f"{TRACE}2026-01-31 12:00:00,{FLOW}", {"time": "ms"}, "these are dates. Leave --time out"),
    (f"{TRACE}12:00:00,{FLOW}", {"time": "ms"}, "these are times of the day. Leave --time out"),
    ("bytes cdf\n1000 0.5\n2000 1\n", {"time": "ms"}, "--time: no file of sizes takes it; leave it out"),
    (ZEEK + "1.5\tC\ta\t5\tb\t80\ttcp\t1.0\t300\t20\n", {"unit": "KB"}, "--unit: no file of zeek-conn takes it"),
    (ZEEK + "1.5\tC\ta\t5\tb\t80\ttcp\t1.0\t300\t20\n", {"time": "ms"}, "--time: no file of zeek-conn takes it"),
]


@pytest.mark.parametrize(("text", "options", "message"), CONTRADICTIONS)
def test_an_option_against_the_file_is_refused(
    tmp_path: Path, text: str, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConfigError) as error:
        import_text(tmp_path, text, **options)
    assert message in str(error.value)


def test_an_option_that_agrees_with_the_file_is_taken(tmp_path: Path) -> None:
    import_text(tmp_path, "start_ms,src,dst,size_kb\n1,a,b,3\n3,b,a,4\n", unit="KB", time="ms")
    flows = pl.read_csv(tmp_path / "made" / "flows.csv", comment_prefix="#")
    assert flows["start"].to_list() == pytest.approx([0, 0.002])
    assert flows["bytes"].to_list() == [3000, 4000]


def test_numbers_beside_fields_with_units_have_the_unit_of_the_heading(tmp_path: Path) -> None:
    import_text(tmp_path, "start_ms,src,dst,size_KB\n1,a,b,3\n1s,b,a,4B\n2000,a,b,5MB\n")
    flows = pl.read_csv(tmp_path / "made" / "flows.csv", comment_prefix="#")
    assert flows["start"].to_list() == pytest.approx([0, 0.999, 1.999])
    assert flows["bytes"].to_list() == [3000, 4, 5_000_000]


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("0.1 0.5\n1.5 0.7\n30 1\n", "x:1: size"),
        ("10 0.5\n1000.5 0.7\n3000 1\n", "x:2: size"),
        ("size,cdf\n0.1,0.5\n30,1\n", "x:2: size"),
        ("0.1\n0.2\n1.5\n" * 4, "x:1: size"),
        ("start,src,dst,size\n1,a,b,1.5\n2,b,a,4\n", "x:2: size"),
    ],
)
def test_sizes_that_are_not_whole_need_a_unit(tmp_path: Path, text: str, field: str) -> None:
    with pytest.raises(ConfigError, match=rf"{field}: .*expected whole bytes or packets. Give their unit by --unit KB"):
        import_text(tmp_path, text)
    assert import_text(tmp_path, text, unit="KB").path.exists()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("bytes,cdf\n1000.5,0.5\n3000,1\n", 'x:2: bytes: "1000.5"; expected whole bytes, as the header says'),
        ("# sizes in bytes\n1000.5 0.5\n3000 1\n", "expected whole bytes, as the comment says"),
        ("size_KB,cdf\n0.0001,0.5\n3,1\n", 'x:2: size_KB: "0.0001"; expected a byte or more, or 0'),
        ("ts,src,dst,size\n0,a,b,3\n1,b,a,5\n", "sizes from 3 to 5: bytes or packets?"),
        ("1000 0.5\n2000 1.2\n", 'x:2: share: "1.2"; expected a share up to 1, or per cent up to 100'),
        ("bytes,cdf\n1000,20\n2000,120\n", 'x:3: cdf: "120"; expected a share up to 1, or per cent up to 100'),
        ("1000 0.2\n2000 0.4\n500 0.5\n4000 1\n", 'x:3: size: "500"; expected no less than in the row before'),
        ("bytes,cdf\n1000,15%\n2000,0.2\n5000,1\n", 'x:3: cdf: "0.2"; expected a sign of per cent at all shares'),
        ("bytes,cdf\n1000,NaN\n2000,1\n", 'x:2: cdf: "NaN"; expected a number from 0 on'),
        ("bytes,cdf\n1000,\n2000,1\n", 'x:2: cdf: ""; expected a number from 0 on'),
        ("bytes,cdf\n1000,0.5KB\n2000,1\n", 'x:2: cdf: "0.5KB"; expected a number from 0 on'),
        ("bytes,cdf\n-1000,0.5\n2000,1\n", 'x:2: bytes: "-1000"; expected a number of bytes'),
        ("start;src;dst;bytes\n0;a;b;300\n;b;a;300\n1;b;a;400\n", 'x:3: start: ""; expected a time from 0 on'),
        (f"{TRACE}0,a,b\n", 'x:2: bytes: ""; expected a number of bytes'),
        (f"{TRACE}0,a,b,nan\n", 'x:2: bytes: "nan"; expected a number of bytes'),
        (
            "start_ms,src,dst,bytes,deadline\n0,a,b,3000,5\n",
            'x:2: deadline: "5"; expected a unit, as in 5ms or a heading deadline_ms: start_ms has one',
        ),
    ],
)
def test_a_wrong_number_is_named_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ConfigError) as error:
        import_text(tmp_path, text)
    assert message in str(error.value)


SAME = "all flows have the transport of the scheme."
LOG = ZEEK + "".join(
    f"{at}\tC\ta\t5\tb\t80\t{protocol}\t1.0\t{sent}\t{answered}\n"
    for at, protocol, sent, answered in (
        (1, "tcp", 300, 20),
        (2, "udp", 0, 0),
        (3, "udp", 50, 0),
        (4, "icmp", "-", "-"),
        (5, "tcp", "-", 7),
        (6, "tcp", 0, 9),
        (7, "tcp", 0, "-"),
    )
)


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        (
            LOG,
            [
                "x: 1 connection without a number of bytes.",
                "x: 2 connections of 0 bytes.",
                "x: The request of 2 connections, of which orig_bytes has 0 bytes or no number.",
                "x: The response of 1 connection, of which resp_bytes has 0 bytes or no number.",
                f"x: The protocol of each row (proto: tcp 4, udp 2, icmp 1): {SAME}",
                "x: Fields uid, id.orig_p, id.resp_p, duration. A trace has only starts, hosts and sizes.",
            ],
        ),
        (
            '{"ts":1,"id.orig_h":"a","id.resp_h":"b","orig_bytes":5,"resp_bytes":6,"proto":"udp","service":"dns"}\n',
            [
                f"x: The protocol of each row (proto: udp 1): {SAME}",
                "x: Fields service. A trace has only starts, hosts and sizes.",
            ],
        ),
        (
            "Report\nstart,src,dst,bytes,Protocol,end\n0,a,b,300,UDP,3\n1,b,a,300,6,4\n2,a,b,0,17,5\n",
            [
                "x: 1 line above the header.",
                "x: Column end. A trace has only starts, hosts and sizes.",
                f"x: The protocol of each row (Protocol: udp 2, tcp 1): {SAME}",
                "x: 1 row of 0 bytes.",
            ],
        ),
        (
            "start,src,dst,srcbytes,dstbytes\n0,a,b,300,0\n1,b,a,300,7\n",
            ["x: The flow back of 1 row, of which dstbytes has 0 bytes."],
        ),
    ],
)
def test_what_a_trace_does_not_carry_is_counted_and_named(tmp_path: Path, text: str, sentences: list[str]) -> None:
    assert import_text(tmp_path, text).summary["left_out"] == sentences


def test_classes_and_deadlines_that_are_filled_are_named(tmp_path: Path) -> None:
    found = import_text(tmp_path, "start,src,dst,bytes,class,deadline\n0,a,b,300,Web,5\n1,b,a,300,,\n")
    notes = "\n".join(found.summary["notes"])
    for said in (
        "1 row without a class became class short.",
        "Classes are in lower case.",
        "deadlines without a unit are in s",
    ):
        assert said in notes


@pytest.mark.parametrize(
    ("start", "said"),
    [("0.00001", "10 us"), ("9.999999999999999e-06", "10 us"), ("0.0025", "2.5 ms"), ("3", "3 s"), ("2e-10", "200 ps")],
)
def test_times_are_printed_with_their_unit(tmp_path: Path, start: str, said: str) -> None:
    found = import_text(tmp_path, f"{TRACE}{start},a,b,3000\n5,b,a,3000\n")
    assert f"Starts count from the first: {said} are subtracted from each." in found.summary["notes"]


def test_small_loads_are_printed_without_exponents(shortflow: Command, tmp_path: Path) -> None:
    (tmp_path / "x").write_text(f"{TRACE}0,a,b,3000\n1,b,a,3000\n")
    said = shortflow("import", "x", "--out", "made").stdout
    assert "0.0000024 of receivers' links on average, 0.0000024 at h0 (the highest)" in said


def test_one_bad_file_of_two_is_named(shortflow: Command, tmp_path: Path) -> None:
    (tmp_path / "good.gz").write_bytes(gzip.compress(b"\xef\xbb\xbfsize_KB;cdf\r\n1;0,5\r\n2;1\r\n"))
    (tmp_path / "bad").write_text("time,src,bytes\n1,a,3\n")
    said = shortflow("import", "good.gz", "bad", "--out", "made", code=ExitCode.WRONG_INPUT).stderr
    assert 'bad:1: header: "time,src,bytes"' in said
    assert not (tmp_path / "made").exists()
    shortflow("import", "good.gz", "--out", "made")
    assert sizes_of(tmp_path / "made") == [(1000, 0.5), (2000, 1)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "time,src_port,bytes\n0.1,80,1000\n0.5,81,2000\n",
            'x:1: header: "time,src_port,bytes"; expected a column source',
        ),
        ("fct,cdf\n100,0.1\n1000,1\n", 'x:1: header: "fct,cdf"; expected one column of sizes'),
        ("0.1,0.3\n1.5,0.5\n30,1\n", 'x:1: size: "0.1"; expected whole bytes or packets'),
        ("size_kb,cdf\n100,0.5\n200,1\n", "expected KB for bytes or kbit for bits"),
        ("6,0\n6,0.5\n20,1\n", "bytes or packets?"),
        ("1000,0.5\n2000,1.2\n", 'x:2: share: "1.2"; expected a share up to 1'),
        ("a,b\n1000,0.5\n2000,1\n", 'x:1: header: "a,b"; expected columns of known names'),
        ("a,b,rate\nh0,s0,10Gbps\n", "x: has the format edge-list; expected a size and a share in each line"),
    ],
)
def test_scenarios_and_lists_refuse_the_same_files(shortflow: Command, tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "x").write_text(text)
    poisson = {"kind": "poisson", "pattern": "all-to-all", "sizes": {"kind": "cdf", "file": "x"}, "load": 0.5}
    with pytest.raises(ConfigError, match=re.escape(message)):
        sf.load(star([poisson], 4), directory=tmp_path)
    assert message in shortflow("list", "sizes", "x", code=ExitCode.WRONG_INPUT).stderr


def test_scenarios_and_lists_name_columns_that_are_left_out(shortflow: Command, tmp_path: Path) -> None:
    (tmp_path / "x").write_text("fct,bytes\n1,1000\n2,3000\n")
    poisson = {"kind": "poisson", "pattern": "all-to-all", "sizes": {"kind": "cdf", "file": "x"}, "load": 0.5}
    assert "Left out: Column fct." in sf.load(star([poisson], 4), directory=tmp_path).traffic_notes()[0]
    assert "Left out: Column fct." in shortflow("list", "sizes", "x").stdout


@pytest.mark.parametrize(
    ("comment", "seconds"),
    [
        ("times in us, sizes in bytes", 1e-6),
        ("unit of time: ms", 1e-3),
        ("start times are in nanoseconds", 1e-9),
        ("Timestamps in seconds since the epoch", 1),
        ("start (µs)", 1e-6),
        ("flow completion times in ms are elsewhere", 1),
        ("duration of the capture: 500 ms; bins of 1 us", 1),
    ],
)
def test_a_comment_has_the_unit_of_starts(tmp_path: Path, comment: str, seconds: float) -> None:
    made = import_text(tmp_path, f"# {comment}\n{TRACE}0,a,b,3000\n6,b,a,4000\n")
    assert made.summary["span_s"] == pytest.approx(6 * seconds)


@pytest.mark.parametrize(
    ("text", "time", "message"),
    [
        ("# times in us\n", "ms", "expected ms, as --time says: this says us. Leave --time out, or correct the file"),
        ("# times in us\n# start (ms)\n", None, "expected one unit: comments say us and ms. Choose one with --time"),
    ],
)
def test_comments_on_times_that_contradict_are_refused(
    tmp_path: Path, text: str, time: str | None, message: str
) -> None:
    with pytest.raises(ConfigError, match=re.escape(message)):
        import_text(tmp_path, f"{text}{TRACE}0,a,b,3000\n6,b,a,4000\n", time=time)


@pytest.mark.parametrize("comment", ["mean size in KB is 12755", "average size in MB = 1.7", "max size 5000 (KB)"])
def test_the_unit_of_one_value_in_a_comment_is_not_that_of_the_column(tmp_path: Path, comment: str) -> None:
    rows = f"# {comment}\n1000 0.5\n200000 1\n"
    with pytest.raises(ConfigError, match=r":1: unit of sizes: .*; expected the unit of the column by --unit"):
        import_text(tmp_path, rows)
    assert "sizes in B, as given" in str(import_text(tmp_path, rows, unit="B").summary)


def test_deadlines_beside_starts_with_a_unit_in_a_comment_are_asked(tmp_path: Path) -> None:
    rows = "start,src,dst,bytes,deadline\n0,a,b,3000,5\n6,b,a,4000,5\n"
    with pytest.raises(ConfigError, match="or a heading deadline_us: the comment has one"):
        import_text(tmp_path, f"# times in us\n{rows}")
    assert import_text(tmp_path, f"# times in us\n{rows}", time="us").summary["span_s"] == pytest.approx(6e-6)


@pytest.mark.parametrize(
    ("there", "back"),
    [("bytes_sent", "bytes_received"), ("sent_bytes", "received_bytes"), ("Bytes Sent", "Bytes Received")],
)
def test_bytes_sent_and_received_are_flows_of_both_directions(tmp_path: Path, there: str, back: str) -> None:
    made = import_text(tmp_path, f"start,src,dst,{there},{back}\n0,a,b,3000,70000\n")
    flows = pl.read_csv(made.path.parent / "flows.csv", comment_prefix="#")
    assert flows.select("source", "bytes", "class").sort("bytes").rows() == [
        ("h0", 3000, "request"),
        ("h1", 70000, "response"),
    ]
