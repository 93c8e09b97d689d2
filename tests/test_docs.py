"""Every shell command that the documentation shows as runnable runs, in the order in which it is shown."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import shortflow
from shortflow import _core, reference
from shortflow.metrics.catalogue import STATISTICS
from shortflow.store.columns import TABLES

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
# Blocks marked `sh` or `python` are run, one marked `python file=NAME` is saved for those behind it;
# a `text` block right behind one is what it prints; `console` is only shown.
BLOCK = re.compile(
    r"^```(?P<language>sh|python)(?: file=(?P<file>\S+))?\n(?P<commands>.*?)^```(?:\n+```text\n(?P<output>.*?)^```)?",
    re.MULTILINE | re.DOTALL,
)

INTERPRETER = {"sh": ["bash", "-euo", "pipefail", "-c"], "python": [sys.executable, "-c"]}


def blocks(page: Path) -> list[re.Match[str]]:
    return list(BLOCK.finditer(page.read_text(encoding="utf-8")))


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)], ids=lambda page: page.name)
def test_commands_run_and_print_what_is_shown(page: Path, tmp_path: Path) -> None:
    search = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    for block in blocks(page):
        if block["file"]:
            (tmp_path / block["file"]).write_text(block["commands"], encoding="utf-8")
            continue
        done = subprocess.run(
            [*INTERPRETER[block["language"]], block["commands"]],
            cwd=tmp_path,
            env={**os.environ, "PATH": search},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, f"{block['commands']}\n{done.stderr}"
        if block["output"]:
            printed = "\n".join(line.rstrip() for line in done.stdout.splitlines())
            assert block["output"].strip() in printed, f"{page.name} shows something else than:\n{printed}"


# `rust file=PATH` is a new file, `rust after="LINE" in=PATH` goes behind that line, and so does `toml`.
RUST_FILE = re.compile(r"^```rust file=(?P<path>\S+)\n(?P<text>.*?)^```", re.MULTILINE | re.DOTALL)
RUST_LINE = re.compile(
    r'^```(?:rust|toml) after="(?P<line>.*?)" in=(?P<path>\S+)\n(?P<text>.*?)^```', re.MULTILINE | re.DOTALL
)


# In place of the simulator's own tests. One flow under marks: the toy law keeps as much of its window at a cut as told.
# A burst into a link ten times slower: the toy queue drops what would wait longer than told. A ring has two ways.
SHORT_RUN = r"""
mod common;

#[test]
fn the_new_scheme_runs_and_obeys_its_parameter() {
    let text = common::star(3, "[faults]\nmark = 0.05\n") + common::TRACE;
    let scenario = common::scenario(&text, &["0,h0,h2,300000"]);
    let time = |keep| {
        let outcome = common::run(&scenario, &common::scheme("gentle", &[("transport.keep", keep)]));
        assert!(outcome.flows[0].marks > 0);
        common::fct(&outcome, 0)
    };
    assert!(time("1.0") < time("0.2"));
}

#[test]
fn the_new_queue_runs_and_obeys_its_parameter() {
    let slow = "kind = \"dumbbell\"\npairs = 1\nbottleneck = \"100Mbps\"\nrate = \"1Gbps\"";
    let text = common::star(2, "[tcp]\ninitial_window = 20\n") + common::TRACE;
    let text = text.replace("kind = \"star\"\nhosts = 2\nrate = \"1Gbps\"", slow);
    let scenario = common::scenario(&text, &["0,h0,h1,29200"]);
    let drops = |key, limit| {
        let scheme = common::scheme("sack over stale", &[(key, limit), ("host.queue", "stale")]);
        common::run(&scenario, &scheme).counters.packets_dropped
    };
    assert!(drops("queue.limit", "500us") > 5);
    assert_eq!(drops("queue.limit", "5ms"), 0);
    assert!(drops("host_queue.limit", "50us") > 5);
}

#[test]
fn the_new_topology_takes_the_shorter_way_round() {
    let ring = "kind = \"ring\"\nswitches = 5\nhosts_per_switch = 1\nrate = \"1Gbps\"";
    let text = common::star(2, "") + common::TRACE;
    let text = text.replace("kind = \"star\"\nhosts = 2\nrate = \"1Gbps\"", ring);
    let scenario = common::scenario(&text, &["0,h0,h1,1460", "0.01,h0,h4,1460", "0.02,h0,h2,1460"]);
    let outcome = common::run(&scenario, &common::scheme("tcp", &[]));
    let [right, left, farther] = [0, 1, 2].map(|flow| common::fct(&outcome, flow));
    assert_eq!(right, left);
    assert!(farther > right);
}
"""


def renew(folder: Path, files: dict[str, bytes]) -> None:
    """Make the folder hold these files alone. What is as it should be is not touched: cargo keeps its build."""
    for path in folder.rglob("*"):
        if path.is_file() and str(path.relative_to(folder)) not in files:
            path.unlink()
    for name, content in files.items():
        path = folder / name
        if not path.is_file() or path.read_bytes() != content:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)


@pytest.mark.skipif(shutil.which("cargo") is None, reason="needs cargo")
def test_the_walk_throughs_of_what_is_added_in_rust_work_as_written() -> None:
    kinds = ("transport", "queue", "topology")
    pages = [(ROOT / "docs" / f"adding-a-{what}.md").read_text(encoding="utf-8") for what in kinds]
    build = ROOT / "target" / "walk-through"
    copy = build / "checkout"  # always the same, or cargo would keep every one's build
    found = [ROOT / "Cargo.toml", ROOT / "Cargo.lock", *(ROOT / "crates").rglob("*"), *(ROOT / "data").rglob("*")]
    files = {str(path.relative_to(ROOT)): path.read_bytes() for path in found if path.is_file()}
    for block in RUST_FILE.finditer("\n".join(pages)):
        files[block["path"]] = block["text"].encode()
    assert [len(RUST_LINE.findall(page)) for page in pages] == [3, 2, 2]
    steps = [block for page in pages for block in RUST_LINE.finditer(page)]
    for block in steps:
        line, text = f"{block['line']}\n".encode(), files[block["path"]]
        assert text.count(line) == 1, block["line"]
        files[block["path"]] = text.replace(line, line + block["text"].encode())
    files["crates/sim/tests/main.rs"] = SHORT_RUN.encode()
    renew(copy, files)
    registry = ["--package", "shortflow-cc", "--lib", "registry"]
    short_run = ["--package", "shortflow-sim", "--test", "simulator"]
    # What runs for milliseconds need not be fast, and nobody debugs it.
    quick = {"CARGO_PROFILE_DEV_OPT_LEVEL": "0", "CARGO_PROFILE_DEV_DEBUG": "0", "CARGO_PROFILE_TEST_DEBUG": "0"}
    for selection in (registry, short_run):
        done = subprocess.run(
            ["cargo", "test", "--quiet", *selection],
            cwd=copy,
            env={**os.environ, **quick, "CARGO_TARGET_DIR": str(build)},
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        assert done.returncode == 0, done.stderr + done.stdout


def test_the_readme_shows_what_its_first_comparison_prints() -> None:
    assert any(block["output"] for block in blocks(ROOT / "README.md"))


def test_the_tutorial_is_run() -> None:
    assert len(blocks(ROOT / "docs" / "tutorial.md")) > 3


def test_the_page_of_names_has_every_name_with_its_parameters() -> None:
    page = reference.page()
    for kind, entries in _core.registry().items():
        (section,) = re.findall(rf"^## {kind.capitalize()}$(.*?)(?=^## )", page, re.MULTILINE | re.DOTALL)
        assert re.findall(r"^### `(.+)`$", section, re.MULTILINE) == [entry["name"] for entry in entries]
        rows = [f"| `{parameter['name']}` |" for entry in entries for parameter in entry["parameters"]]
        assert not [row for row in rows if row not in section]
    assert all(f"| `{name}` |" in page for name in STATISTICS)


def test_the_reference_has_every_key_with_its_default() -> None:
    text = (ROOT / "docs" / "scenario-reference.md").read_text(encoding="utf-8")
    for name in shortflow.shipped_scenarios():
        for setting in shortflow.load(name).resolved():
            table, _, key = setting["key"].rpartition(".")
            row = rf"^\| `(?:{table}\.)?{key}` \| "
            if table in ("", "switch", "host", "tcp", "measure", "faults"):
                assert re.search(row, text, re.MULTILINE), setting["key"]
            derived = table.startswith(("traffic", "topology", "routing")) or key in ("ports", "drain")
            if setting["source"] == "default" and not derived:
                assert re.search(rf"{row}`{re.escape(setting['value'])}` \|", text, re.MULTILINE), setting


def section(name: str) -> str:
    """A section of the scenario reference, without its examples."""
    text = (ROOT / "docs" / "scenario-reference.md").read_text(encoding="utf-8")
    (found,) = re.findall(rf"^## {re.escape(name)}$(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    return re.sub(r"```.*?```", "", found, flags=re.DOTALL)


def table_rows(text: str) -> dict[str, str]:
    """The last cell of each row that begins with a key or a kind."""
    return dict(re.findall(r"^\| `([\w.-]+)` \|(?:.*\|)? (.*) \|$", text, re.MULTILINE))


@pytest.mark.parametrize(
    ("kinds", "name"),
    [
        ("topologies", "`[topology]`"),
        ("routing", "`[routing]`"),
        ("traffic", "`[[traffic]]`"),
        ("sizes", "`[[traffic]]`"),
    ],
)
def test_the_reference_has_the_keys_of_every_kind_and_no_other(kinds: str, name: str) -> None:
    rows = table_rows(section(name))
    for kind in _core.registry()[kinds]:
        known = {parameter["name"] for parameter in kind["parameters"]}
        missing = {key for key in known if f"`{key}`" not in section(name)}
        assert not missing, kind["name"]
        listed = re.sub(r"\([^)]*\)|;.*| and the keys of .*", "", rows[kind["name"]])
        assert set(re.findall(r"`(\w+)`", listed)) <= known, kind["name"]


def test_the_reference_has_no_key_that_is_not_there(small: dict[str, object]) -> None:
    tables = {"Top level": "", "`[switch]` and `[host]`": "", "`[tcp]`": "tcp.", "`[measure]`": "measure."}
    keys = [table + key for name, table in tables.items() for key in table_rows(section(name))]
    keys += [f"faults.{key}" for key in table_rows(section("`[faults]` or `[[faults]]`"))]
    assert len(keys) > 35
    assert "unknown" in complaint(small, "tcp.mss_")
    assert [key for key in keys if "unknown" in complaint(small, key)] == []


def complaint(scenario: dict[str, object], key: str) -> str:
    """What is said about a key with a value that hardly any has."""
    try:
        shortflow.load(scenario, {key: "-"})
    except shortflow.ConfigError as error:
        return str(error)
    return ""


def test_the_page_of_results_has_every_column_of_every_table(small: dict[str, object]) -> None:
    text = (ROOT / "docs" / "results.md").read_text(encoding="utf-8")
    result = shortflow.run(shortflow.load(small))
    common = ["scheme", "seed", "run"]
    for name in TABLES:
        columns = getattr(result, name).columns
        assert columns[-3:] == common
        assert TABLES[name] == dict(list(getattr(result, name).schema.items())[:-3])
        (section,) = re.findall(rf"^## `{name}\.parquet`.*?(?=^## )", text, re.MULTILINE | re.DOTALL)
        rows = [row.split("|")[1] for row in section.splitlines() if row.startswith("| `")]
        assert sorted(re.findall("`(.+?)`", "".join(rows))) == sorted(columns[:-3])
        assert all(f"`{column}`" in text for column in common)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_within_the_repository_lead_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\((?!https?:|#|mailto:)([^)#]+)", page.read_text(encoding="utf-8"))
    missing = [target for target in targets if not (page.parent / target).exists()]
    assert not missing
