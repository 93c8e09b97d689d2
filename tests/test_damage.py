"""Damaged stores: reading gives an error that names the file, or a result, and nothing else.

`make fuzz` tries more examples. FUZZ_EXAMPLES is their number per test.
"""

import contextlib
import hashlib
import json
import math
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conftest import Command
from made import make_result
from shortflow import read_store
from shortflow.errors import ConfigError, DamagedResult
from shortflow.metrics.columns import TABLES
from shortflow.store.directories import write_run
from shortflow.store.runs import load_run

EXAMPLES = settings(
    max_examples=int(os.environ.get("FUZZ_EXAMPLES", "60")),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
FILES = ["result.json", *(f"{name}.parquet" for name in TABLES)]
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.sampled_from([0, -1, 2**63, 2**64, -0.0, 1e308, math.nan, math.inf, "", "../..", "\0", "\ud800", "é" * 300]),
    st.text(max_size=8),
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
)


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with one run."""
    store = tmp_path_factory.mktemp("good")
    write_run(make_result(), store / "runs" / "run")
    return store


@contextlib.contextmanager
def copied(good: Path) -> Iterator[Path]:
    """The directory of the run in a copy of the store."""
    store = good.with_name("copy")
    shutil.copytree(good, store)
    try:
        yield store / "runs" / "run"
    finally:
        shutil.rmtree(store)


def read_by_every_door(place: Path) -> None:
    """Reads a damaged store by all public calls. An error for users is allowed; any other error fails the test."""
    store = place.parents[1]
    for door in (lambda: load_run(place), lambda: read_store(store).flows, lambda: read_store(store).to_frame()):
        with contextlib.suppress(DamagedResult, ConfigError):
            door()


@EXAMPLES
@given(name=st.sampled_from(FILES), place=st.floats(0, 1), cut=st.integers(0, 40), put=st.binary(max_size=20))
def test_other_bytes(good: Path, name: str, place: float, cut: int, put: bytes) -> None:
    with copied(good) as run:
        data = (run / name).read_bytes()
        at = round(place * len(data))
        (run / name).write_bytes(data[:at] + put + data[at + cut :])
        read_by_every_door(run)


@EXAMPLES
@given(place=st.floats(0, 1), bit=st.integers(0, 7))
def test_a_flipped_bit_of_the_record_changes_nothing_unseen(good: Path, place: float, bit: int) -> None:
    with copied(good) as run:
        before = load_run(run)
        data = bytearray((run / "result.json").read_bytes())
        data[round(place * (len(data) - 1))] ^= 1 << bit
        (run / "result.json").write_bytes(data)
        with contextlib.suppress(DamagedResult):
            after = load_run(run)
            assert (after.meta, after.provenance) == (before.meta, before.provenance)
            assert read_store(run.parents[1]).to_frame()["afct_short_s"].to_list() == [before.metrics["afct_short_s"]]


@pytest.mark.parametrize("name", TABLES)
def test_a_flipped_byte_of_any_table_is_named(good: Path, name: str) -> None:
    with copied(good) as run:
        flipped(run / f"{name}.parquet")
        with pytest.raises(DamagedResult, match=rf"{name}\.parquet: damaged: its checksum"):
            load_run(run)


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Paths of all values in a document, including tables and lists."""
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield from leaves(inner, (*path, key))


def put(document: Any, path: Sequence[Any], value: Any) -> Any:
    """The document with another value at a path."""
    if not path:
        return value
    inner = document
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = value
    return document


@EXAMPLES
@given(data=st.data(), value=VALUES, measured_anew=st.booleans())
def test_other_values_in_the_record(good: Path, data: st.DataObject, value: Any, measured_anew: bool) -> None:
    with copied(good) as run:
        record = json.loads((run / "result.json").read_text())
        if measured_anew:
            record["measured_by"] = "other code"
        path = data.draw(st.sampled_from(list(leaves(record))))
        (run / "result.json").write_text(json.dumps(put(record, path, value)))
        read_by_every_door(run)


@EXAMPLES
@given(data=st.data(), name=st.sampled_from(sorted(TABLES)))
def test_other_values_in_a_table_that_is_as_it_was_written(good: Path, data: st.DataObject, name: str) -> None:
    with copied(good) as run:
        path = run / f"{name}.parquet"
        table = pl.read_parquet(path)
        column = data.draw(st.sampled_from(table.columns))
        values = data.draw(st.lists(SCALARS, min_size=table.height, max_size=table.height))
        with contextlib.suppress(UnicodeEncodeError):
            kept = [value.encode() and value if isinstance(value, str) else value for value in values]
            made = pl.Series(column, kept, dtype=table.schema[column], strict=False)
            changed = data.draw(st.sampled_from([table.with_columns(made), table.drop(column), table.head(0)]))
            changed.write_parquet(path)
        renew_checksum(run, name)
        read_by_every_door(run)


def renew_checksum(run: Path, name: str) -> None:
    """Renews the checksum of a table in the record, and marks the metrics as measured by other code."""
    data = (run / f"{name}.parquet").read_bytes()
    record = json.loads((run / "result.json").read_text())
    record["tables"][name] = {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)}
    record["measured_by"] = "other code"
    (run / "result.json").write_text(json.dumps(record))


# Found by the commands.


def flipped(table: Path) -> None:
    data = bytearray(table.read_bytes())
    data[len(data) // 2] ^= 1
    table.write_bytes(data)


def file_instead(place: Path) -> None:
    shutil.rmtree(place)
    place.write_text("")


def directory(name: str) -> Callable[[Path], None]:
    """Damage that replaces a file by a directory."""

    def damage(place: Path) -> None:
        (place / name).unlink()
        (place / name).mkdir()

    return damage


DAMAGES: dict[str, tuple[str, Callable[[Path], object], str]] = {
    "cut": ("flows.parquet", lambda place: (place / "flows.parquet").write_text("PAR1 and so on"), "damaged"),
    "gone": ("flows.parquet", lambda place: (place / "flows.parquet").unlink(), "missing"),
    "a directory": ("flows.parquet", directory("flows.parquet"), "damaged: Is a directory"),
    "replaced": (
        "ports.parquet",
        lambda place: shutil.copy(place / "flows.parquet", place / "ports.parquet"),
        "damaged: has ",
    ),
    "all a file": ("flows.parquet", file_instead, "damaged: Not a directory"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_run_is_named_and_run_again(shortflow: Command, scenario: str, tmp_path: Path, damage: str) -> None:
    file, do_damage, wanted = DAMAGES[damage]
    arguments = ("compare", scenario, "--schemes", "tcp,dctcp", "--no-ideal", "--seeds", "1", "--json", "--out", "kept")
    first = shortflow(*arguments)
    (victim,) = (tmp_path / "kept" / "runs").glob("*-dctcp-*")
    do_damage(victim)
    report, numbers = shortflow("report", "kept"), shortflow("report", "kept", "--json")
    assert report.code == numbers.code == 1
    assert f"left out: kept/runs/{victim.name}/{file}: " in report.stderr
    assert f"; remove kept/runs/{victim.name}, and repeat the command that made it" in report.stderr
    assert report.stderr.startswith("1 run\n"), "the other one is shown"
    assert f"{victim.name}/{file}: " in (tmp_path / "kept" / "report.html").read_text(encoding="utf-8")
    assert [victim.name in text for text in numbers.document["damaged"]] == [True]
    (study,) = numbers.document["studies"]
    assert list(study["points"][0]["comparison"]["schemes"]) == ["tcp"]
    again = shortflow(*arguments, code=0)
    assert f"{victim.name}/{file}: {wanted}" in again.stderr
    assert "it is run again" in again.stderr
    assert "2 runs, 1 reused" in again.stderr
    assert again.document == first.document
    third = shortflow(*arguments)
    assert "2 runs, 2 reused" in third.stderr
    assert "again" not in third.stderr
    assert shortflow("report", "kept").code == 0


def test_a_damaged_result_of_one_run_is_not_overwritten(shortflow: Command, scenario: str, tmp_path: Path) -> None:
    arguments = ("run", scenario, "--out", "kept/one")
    assert shortflow(*arguments).code == 0
    (tmp_path / "kept" / "one" / "result.json").write_text("{")
    answer = shortflow(*arguments, code=2)
    assert "kept/one/result.json: damaged" in answer.stderr
    assert "; remove kept/one, and repeat the command that made it" in answer.stderr
    (tmp_path / "kept" / "one" / "result.json").unlink()
    assert "remove it, or name another directory" in shortflow(*arguments, code=2).stderr
