"""Size distributions in the forms that other tools write. Each has the mean and median of the same flows."""

import codecs
import random
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import Command
from shortflow.errors import ConfigError, ExitCode
from shortflow.imports.own import described

ROWS = [(0, 0.0), (10_000, 0.15), (20_000, 0.2), (200_000, 0.6), (30_000_000, 1.0)]
LINES = (0.15 * 5_000 + 0.05 * 15_000 + 0.4 * 110_000 + 0.4 * 15_100_000, 155_000.0)
"""Mean and median of these rows if sizes are uniform between rows."""
SUMS = 0.25 * 1_000 + 0.25 * 1_500 + 0.5 * 2_500
"""Mean size if a quarter of the flows has at most 1,000 bytes, half of them 2,000, and all of them 3,000."""
CUMULATIVE_COUNTS = (
    *("cumulative count", "cumulative_count", "count (cumulative)", "running count", "cum. count"),
    *("Anzahl kumuliert", "kumulierte Anzahl", "nombre cumulé", "fréquence cumulée", "frecuencia acumulada"),
)
STEPS = (0.15 * 10_000 + 0.05 * 20_000 + 0.4 * 200_000 + 0.4 * 30_000_000, 200_000.0)


def rows(form: str = "{size} {share}", scale: float = 1, unit: float = 1) -> str:
    return "".join(form.format(size=f"{size / unit:g}", share=f"{share * scale:g}") + "\n" for size, share in ROWS)


FORMS: dict[str, str | bytes] = {
    "HPCC: bytes and per cent": rows(scale=100),
    "DCTCP: columns filled with blanks": rows("{size:<12}{share}"),
    "tabs": rows("{size}\t{share}"),
    "semicolons and decimal commas": rows("{size};{share}").replace(".", ","),
    "blanks and decimal commas": rows().replace(".", ","),
    "thousands with points": "0;0,0\n10.000;0,15\n20.000;0,2\n200.000;0,6\n30.000.000;1,0\n",
    "points and three decimals": "0;0,000\n10.000;0,150\n20.000;0,200\n200.000;0,600\n30.000.000;1,000\n",
    "thousands with commas": "0;0\n10,000;0.15\n20,000;0.2\n200,000;0.6\n30,000,000;1\n",
    "thousands with commas and per cent": "0;0\n10,000;15\n20,000;20\n200,000;60\n30,000,000;100\n",
    "thousands in quotes": 'bytes,cdf\n0,0\n"10,000",0.15\n"20,000",0.2\n"200,000",0.6\n"30,000,000",1\n',
    "both points and decimal commas": "0;0\n10.000,0;0,15\n20.000,0;0,2\n200.000,0;0,6\n30.000.000,0;1\n",
    "decimal commas in quotes": 'bytes,cdf\n0,0\n10000,"0,15"\n20000,"0,2"\n200000,"0,6"\n30000000,"1,0"\n',
    "thousands with blanks": "0;0\n10 000;0,15\n20\u00a0000;0,2\n200\u202f000;0,6\n30 000 000;1,0\n",
    "thousands with apostrophes": "0;0\n10'000;0.15\n20'000;0.2\n200'000;0.6\n30'000'000;1\n",
    "a header in another language": "Größe;Anteil\n" + rows("{size};{share}"),
    "remarks below the rows": rows() + "\nFirst column: bytes\nsecond: shares\n",
    "a header and a mark of the byte order": codecs.BOM_UTF8 + f"Size;CDF\r\n{rows('{size};{share}')}".encode(),
    "UTF-16": rows().encode("utf-16"),
    "signs of per cent": rows("{size},{share}%", 100),
    "the share first": "cdf,bytes\n" + rows("{share},{size}"),
    "the share first, without a header": rows("{share} {size}"),
    "falling rows": "\n".join(reversed(rows().splitlines())),
    "a row twice": rows().replace("10000 0.15\n", "10000 0.15\n10000 0.15\n"),
    "comments": "# web search\n// of 2010\n" + rows("{size} {share}  # measured"),
    "shares of larger flows": "".join(f"{size} {1 - share:g}\n" for size, share in ROWS),
    "kilobytes by the header": "size_KB,cdf\n" + rows("{size},{share}", unit=1000),
    "units in the fields": rows("{size}B {share}"),
    "units after a blank": rows("{size} KB {share}", unit=1000),
    "a list of a program": "[" + rows("[{size}, {share}],").strip() + "]",
    "one line": "[" + rows("[{size}, {share}],").replace("\n", " ").strip() + "]",
    "an index of pandas": ",size,cdf\n" + "".join(f"{i},{size},{share}\n" for i, (size, share) in enumerate(ROWS)),
    "the number of rows first": f"{len(ROWS)}\n{rows()}",
}


@pytest.mark.parametrize("name", FORMS)
def test_a_form_has_the_mean_of_its_flows(tmp_path: Path, name: str) -> None:
    path, text = tmp_path / "sizes.txt", FORMS[name]
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    _, sizes, notes = described(path, None)
    assert (sizes.mean, sizes.percentile(50)) == pytest.approx(LINES)
    assert "lines" in notes[0]


@pytest.mark.parametrize(
    ("text", "unit", "expected"),
    [
        ("6 1 0\n6 1 0.5\n20 1 1\n", None, (0.5 * 6 + 0.5 * 13) * 1460),
        ("# size in packets\n6 0\n6 0.5\n20 1\n", None, (0.5 * 6 + 0.5 * 13) * 1460),
        ("packets cumulative\n6 0\n6 0.5\n20 1\n", None, (0.5 * 6 + 0.5 * 13) * 1460),
        *((f"bytes;{name}\n1000;5\n2000;10\n3000;20\n", None, SUMS) for name in CUMULATIVE_COUNTS),
        ("bytes;cumulative frequency\n1000;0.25\n2000;0.5\n3000;1\n", None, SUMS),
        ("bytes;cumulative frequency (%)\n1000;25\n2000;50\n3000;100\n", None, SUMS),
        ("bytes,count,cumulative count\n1000,5,5\n2000,5,10\n3000,10,20\n", None, SUMS),
        ("6 0\n6 0.5\n20 1\n", "packets", (0.5 * 6 + 0.5 * 13) * 1460),
        ("6 0\n6 0.5\n20 1\n", "1000B", (0.5 * 6 + 0.5 * 13) * 1000),
        ("6 0\n6 0.5\n20 1\n", "B", 0.5 * 6 + 0.5 * 13),
        ("4567.8\n100 0.4\n2000 0.9\n90000 1\n", None, 0.4 * 100 + 0.5 * 2000 + 0.1 * 90_000),
        ("4567.8\n100 0.4\n2000 0.38\n3000 0.9\n90000 1\n", None, 0.4 * 100 + 0.5 * 3000 + 0.1 * 90_000),
        ("size prob\n100 0.5\n200 0.3\n4000 0.2\n", None, 910),
        ("100 0\n300 0.998\n", None, 200),
        ("\n".join(f"{each}" for each in range(100, 1200, 100)), None, 600),
        ("flow,size_bytes,fct\n1,100,2\n2,300,4\n", None, 200),
    ],
)
def test_units_steps_and_samples(tmp_path: Path, text: str, unit: str | None, expected: float) -> None:
    path = tmp_path / "sizes.txt"
    path.write_text(text)
    assert described(path, unit)[1].mean == pytest.approx(expected)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("6 0\n6 0.5\n20 1\n", "bytes or packets? Give --unit B"),
        ("185.0\n100 0.1\n150000 0.47\n", 'sizes.txt:3: last share: "0.47"; expected 1 or 100'),
        ("0 0\n1000 0.9\n2000 0.1\n90000 1\n", 'sizes.txt:3: share: "0.1"; expected no less'),
        ("0 0\n1000 half\n2000 0.7\n90000 1\n", 'sizes.txt:2: share: "half"; expected a number from 0 on'),
        ("0 0\n", "last share"),
        ("1K 0.2\n5K 0.6\n20K 1\n", 'sizes.txt:1: size: "1K"; expected a number of bytes, such as 3000 or 3KB'),
        ("1K\n" + "3000\n" * 10, 'sizes.txt:1: size: "1K"; expected a number of bytes, such as 3000 or 3KB'),
        ("1 K 0.2\n5 K 0.6\n20 K 1\n", "sizes.txt:1: is not a table of numbers; expected a size and a share in each"),
        ("# sizes\n1 K 0.2\n5 K 0.6\n", "sizes.txt:2: is not a table of numbers; expected a size and a share in each"),
        ("", "sizes.txt: is empty; expected a size and a share in each line, such as 3KB 0.2"),
        # The sizes of three columns are in bytes. In packets, the largest flow would have 44 GB.
        ("0 1 0\n10000 1 0.5\n30000000 1 1\n", "bytes or packets? Give --unit B"),
    ],
)
def test_what_a_file_does_not_say_is_asked(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "sizes.txt"
    path.write_text(text)
    with pytest.raises(ConfigError) as error:
        described(path, None)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("comment", "unit"),
    [
        ("flow sizes in MB", 1e6),
        ("sizes in MB; rates in bits per second", 1e6),
        ("sizes in MB of flows in a rack", 1e6),
        ("flow size in MB, and cdf", 1e6),
        ("link rate in bits per second", 1),
        ("rates in Mbits/s", 1),
        ("Gbits/sec", 1),
        ("throughput in megabytes per second", 1),
        ("64-bits counters", 1),
        ("buffer in KB", 1),
        ("buffer size (KB): 100", 1),
        ("queue_limit_KB=100", 1),
        ("load 0.5, K=65 packets", 1),
        ("Flow sizes in bytes (1 KB = 1000 B)", 1),
    ],
)
def test_a_comment_has_the_unit_of_sizes_where_it_speaks_of_sizes(tmp_path: Path, comment: str, unit: float) -> None:
    path = tmp_path / "sizes.txt"
    path.write_text(f"# {comment}\n{rows(unit=unit)}")
    assert described(path, None)[1].mean == pytest.approx(LINES[0])


@pytest.mark.parametrize(
    "comment", ["The paper gives sizes in KB; here they are in bytes.", "sizes in KB\n# converted to bytes"]
)
def test_comments_with_two_units_are_asked(shortflow: Command, tmp_path: Path, comment: str) -> None:
    path = tmp_path / "sizes.txt"
    path.write_text(f"# {comment}\n{rows()}")
    said = shortflow("list", "sizes", "sizes.txt", code=ExitCode.WRONG_INPUT).stderr
    assert "expected one unit: comments say KB and bytes. Choose one with --unit" in " ".join(said.split())
    assert described(path, "B")[1].mean == pytest.approx(LINES[0])
    assert described(path, "KB")[1].mean == pytest.approx(LINES[0] * 1000)


@given(
    st.lists(st.tuples(st.integers(11, 10**9), st.integers(1, 1000)), min_size=2, max_size=30),
    st.sampled_from(" ;\t|,"),
)
def test_what_is_written_is_read(
    tmp_path_factory: pytest.TempPathFactory, counts: list[tuple[int, int]], sign: str
) -> None:
    sizes = sorted({size for size, _ in counts})
    if len(sizes) < 2:
        return
    shares = np.cumsum([count for _, count in counts[: len(sizes)]])
    points = [(float(size), float(share / shares[-1])) for size, share in zip(sizes, shares, strict=True)]
    path = tmp_path_factory.getbasetemp() / "written.txt"
    path.write_text("bytes" + sign + "cdf\n" + "".join(f"{size:.0f}{sign}{share!r}\n" for size, share in points))
    assert list(described(path, None)[1].rows) == points


def test_samples_keep_their_mean_however_many(tmp_path: Path) -> None:
    draws = random.Random(1)
    sizes = [round(draws.paretovariate(1.2) * 1e6) for _ in range(50_000)]
    path = tmp_path / "raw.txt"
    path.write_text("\n".join(map(str, sizes)))
    _, found, notes = described(path, None)
    assert len(found.rows) <= 10_000
    assert any("groups" in note for note in notes)
    assert found.mean == pytest.approx(np.mean(sizes), rel=1e-3)


def test_the_command_shows_a_file(shortflow: Command, tmp_path: Path) -> None:
    (tmp_path / "web.txt").write_text(rows(scale=100))
    (tmp_path / "few.txt").write_text("6 0\n6 0.5\n20 1\n")
    said = shortflow("list", "sizes", "web.txt")
    assert f"{LINES[0]:,.1f} B" in said.stdout
    assert "155,000 B" in said.stdout
    assert "█" in said.stdout
    document = shortflow("list", "sizes", "few.txt", "--unit", "packets", "--json").document[0]
    assert document["percentiles_bytes"]["p50"] == 6 * 1460
    assert "bytes or packets?" in shortflow("list", "sizes", "few.txt", code=ExitCode.WRONG_INPUT).stderr
    shortflow("import", "web.txt", "--out", "made")
    assert pl.read_csv(tmp_path / "made" / "sizes.csv", comment_prefix="#")["cumulative"].to_list()[-1] == 1
