"""Every shell command that the documentation shows as runnable runs, in the order in which it is shown."""

import ast
import doctest
import os
import re
import shutil
import sys
from importlib import import_module
from pathlib import Path

import pytest

import shortflow
from conftest import Patch, Tables, ran
from shortflow import _core
from shortflow.front import reference
from shortflow.front.shell import COMMANDS, NOT_NAMES
from shortflow.metrics.catalogue import STATISTICS
from shortflow.metrics.columns import TABLES
from shortflow_papers import papers

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
WITH_EXAMPLES = ("", ".asks", ".executors", ".grid", ".result", ".results", ".scenario", ".store.runs")
EXAMPLES = [
    example
    for name in WITH_EXAMPLES
    for example in doctest.DocTestFinder().find(import_module(f"shortflow{name}"), extraglobs={"sf": shortflow})
    if example.examples
]
# Blocks marked `sh` or `python` are run. A block marked `python file=NAME` is saved for later blocks. A `text` block
# immediately after a block has its output. Blocks marked `console` are only shown.
BLOCK = re.compile(
    r"^```(?P<language>sh|python)(?: file=(?P<file>\S+))?\n(?P<commands>.*?)^```(?:\n+```text\n(?P<output>.*?)^```)?",
    re.MULTILINE | re.DOTALL,
)

# Name of a file in prose, such as `results/runs.parquet`. NAME and * stand for any name.
NAMED = re.compile(r"`([\w./*-]+\.(?:json|jsonl|parquet|csv|html|toml|pcapng))`")

INTERPRETER = {"sh": ["bash", "-euo", "pipefail", "-c"], "python": [sys.executable, "-c"]}


def _name(page: Path) -> str:
    return str(page.relative_to(ROOT))


def named_after(block: re.Match[str]) -> list[str]:
    """Files that the text after a block names, up to the next block or heading."""
    text = re.split(r"^(?:#+ |```(?:sh|python)\b)", block.string[block.end() :], maxsplit=1, flags=re.MULTILINE)[0]
    return [re.sub("[A-Z]{2,}", "*", name) for name in NAMED.findall(text)]


def blocks(page: Path) -> list[re.Match[str]]:
    return list(BLOCK.finditer(page.read_text(encoding="utf-8")))


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)], ids=_name)
def test_commands_run_and_print_what_is_shown(page: Path, tmp_path: Path) -> None:
    search = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    # `pip install` of a page installs into a directory of its own, and uses the installed packages as dependencies.
    pip = {"PIP_TARGET": str(tmp_path / "installed"), "PIP_NO_DEPS": "1", "PIP_NO_BUILD_ISOLATION": "0"}
    pip |= {"PYTHONPATH": str(tmp_path / "installed"), "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    for block in blocks(page):
        if block["file"]:
            (tmp_path / block["file"]).write_text(block["commands"], encoding="utf-8")
            continue
        command = [*INTERPRETER[block["language"]], block["commands"]]
        done = ran(command, cwd=tmp_path, env={**os.environ, "PATH": search, **pip})
        assert done.returncode == 0, f"{block['commands']}\n{done.stderr}"
        if block["output"]:
            printed = "\n".join(line.rstrip() for line in done.stdout.splitlines())
            assert block["output"].strip() in printed, f"{page.name} shows something else than:\n{printed}"
        unknown = [name for name in named_after(block) if not any([*tmp_path.rglob(name), *ROOT.glob(name)])]
        assert unknown == [], f"{page.name} names files that its commands do not write"


# A block `rust file=PATH` is a new file. `rust after="LINE" in=PATH` and `toml` blocks are inserted after a line.
RUST_FILE = re.compile(r"^```rust file=(?P<path>\S+)\n(?P<text>.*?)^```", re.MULTILINE | re.DOTALL)
RUST_LINE = re.compile(
    r'^```(?:rust|toml) after="(?P<line>.*?)" in=(?P<path>\S+)\n(?P<text>.*?)^```', re.MULTILINE | re.DOTALL
)


# This test replaces the simulator's own tests. At a mark, the example's law keeps a configured share of its window. In
# a burst into a link that is ten times slower, the example's queue drops packets that would wait longer than the
# configured time. A ring has two directions.
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
    """Makes the folder contain only these files. Unchanged files are not written, so that cargo keeps its build."""
    for path in folder.rglob("*"):
        if path.is_file() and str(path.relative_to(folder)) not in files:
            path.unlink()
    for name, content in files.items():
        path = folder / name
        if not path.is_file() or path.read_bytes() != content:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)


def test_the_metric_that_is_added_works_as_written(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "adding-a-metric.md").read_text(encoding="utf-8")
    block = re.search(r'^```py before="(?P<line>.*?)" in=python/(?P<path>\S+)\n(?P<text>.*?)^```', page, re.M | re.S)
    assert block
    shutil.copytree(ROOT / "python" / "shortflow", tmp_path / "shortflow")
    catalogue = tmp_path / block["path"]
    text = catalogue.read_text(encoding="utf-8")
    assert text.count(block["line"]) == 1
    catalogue.write_text(text.replace(block["line"], block["text"] + "\n" + block["line"]), encoding="utf-8")
    few = [
        *("compare", "incast", "--schemes", "tcp,dctcp", "--seeds", "1", "--no-ideal", "--set", "servers=5"),
        *("--metrics", "tail_short"),
    ]
    listed = ("list", "metrics", "tail_<class>")
    for command, said in ((listed, "percentile 99 over the median"), (few, "p99 over median FCT")):
        surroundings = os.environ | {"PYTHONPATH": str(tmp_path), "COLUMNS": "200"}
        done = ran([sys.executable, "-P", "-m", "shortflow", *command], env=surroundings)
        assert done.returncode == 0, done.stderr
        assert said in done.stdout


@pytest.mark.skipif(shutil.which("cargo") is None, reason="needs cargo")
def test_the_walk_throughs_of_what_is_added_in_rust_work_as_written() -> None:
    kinds = ("transport", "queue", "topology")
    pages = [(ROOT / "docs" / f"adding-a-{what}.md").read_text(encoding="utf-8") for what in kinds]
    build = ROOT / "target" / "walk-through"
    copy = build / "checkout"  # always the same path: cargo would keep a build for each path
    found = [ROOT / "Cargo.toml", ROOT / "Cargo.lock"]
    found += [path for each in ("crates", "data", "linux") for path in (ROOT / each).rglob("*")]
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
    # The tests run for milliseconds, so building without optimisation and debug information is faster in total.
    quick = {"CARGO_PROFILE_DEV_OPT_LEVEL": "0", "CARGO_PROFILE_DEV_DEBUG": "0", "CARGO_PROFILE_TEST_DEBUG": "0"}
    surroundings = {**os.environ, **quick, "CARGO_TARGET_DIR": str(build)}
    for selection in (registry, short_run):
        done = ran(["cargo", "test", "--quiet", *selection], cwd=copy, env=surroundings, timeout=600)
        assert done.returncode == 0, done.stderr + done.stdout


def test_the_readme_shows_what_its_first_comparison_prints_and_the_tutorial_is_run() -> None:
    assert any(block["output"] for block in blocks(ROOT / "README.md"))
    assert len(blocks(ROOT / "docs" / "tutorial.md")) > 3


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_an_example_of_a_docstring_prints_that(example: doctest.DocTest, tmp_path: Path, monkeypatch: Patch) -> None:
    monkeypatch.chdir(tmp_path)
    assert doctest.DocTestRunner().run(example).failed == 0


GENERATED = re.compile(r"^<!-- generated: (.+) -->$", re.MULTILINE)


def generated() -> dict[str, str]:
    """All generated parts of pages, by name."""
    names = [name for page in PAGES for name in GENERATED.findall(page.read_text(encoding="utf-8"))]
    assert len(names) == len(set(names))
    return {name: reference.part_page(name) for name in names}


def test_the_reference_has_every_name_with_its_parameters() -> None:
    parts = generated()
    for kind, entries in _core.registry().items():
        table = {"topologies": "topology"}.get(kind, kind)
        part = parts.get(f"names {kind}") or parts[f"table {table}"]
        assert [entry["name"] for entry in entries] == re.findall(r"^### `(.+)`$", part, re.MULTILINE)
        rows = [f"| `{parameter['name']}` |" for entry in entries for parameter in entry["parameters"]]
        assert not [row for row in rows if row not in part]
    assert all(f"| `{name}` |" in parts["metrics"] for name in STATISTICS)


def test_the_reference_has_every_key_with_its_default() -> None:
    parts = generated()
    for name in shortflow.shipped_scenarios():
        for setting in shortflow.load(name).resolved():
            table, _, key = setting["key"].rpartition(".")
            if table not in ("", "switch", "host", "tcp", "measure", "faults"):
                continue
            (row,) = re.findall(rf"^\| `{key}` \| (.*?) \|", parts[f"table {table or 'scenario'}"], re.MULTILINE)
            if setting["source"] == "default" and key not in ("ports", "drain"):
                assert row in (f"`{setting['value']}`", "`auto`"), setting


def test_the_reference_has_every_command_with_its_options() -> None:
    text = reference.part_page("commands")
    assert set(COMMANDS) <= set(re.findall(r"^### `shortflow ([\w-]+)`$", text, re.MULTILINE))
    assert re.search(r"^### `shortflow compare`.*?^\| `--seeds NUMBER` \| .*5.* \|$", text, re.MULTILINE | re.DOTALL)
    assert "#### `shortflow linux agreement`" in text


def test_the_reference_has_all_that_python_can_import() -> None:
    described = re.findall(
        r"^\.\. auto(?:function|class):: shortflow\.(\w+)$", reference.part_page("python"), re.MULTILINE
    )
    left = set(shortflow.__all__) - set(described)
    assert {name for name in left if callable(getattr(shortflow, name))} == set()


def test_the_page_on_building_has_every_module_with_its_purpose() -> None:
    text = (ROOT / "docs/reference/building.md").read_text(encoding="utf-8")
    modules = [each for each in (ROOT / "python/shortflow/api").glob("*.py") if each.stem != "__init__"]
    purposes = {each.stem: ast.get_docstring(ast.parse(each.read_text("utf-8"))) for each in modules}
    assert dict(re.findall(r"^\| \[`(.+?)`\]\(.+\) \| (.+) \|$", text, re.MULTILINE)) == {
        name: (purpose or "").rstrip(".") for name, purpose in sorted(purposes.items())
    }


def test_every_column_of_every_table_is_described(small: Tables) -> None:
    result = shortflow.run(shortflow.load(small))
    parts = generated()
    for name, columns in TABLES.items():
        *own, scheme, seed, run = getattr(result, name).schema.items()
        assert [scheme[0], seed[0], run[0]] == ["scheme", "seed", "run"]
        assert columns == dict(own)
        shown = parts[f"columns {name.removeprefix('drain_')}"]
        assert re.findall(r"^\| `(.+?)` \|.*\| [^|]+ \|$", shown, re.MULTILINE) == list(columns)


def test_text_of_the_code_is_no_markdown() -> None:
    assert r"a switch tor\<i>" in reference.part_page("table topology")
    assert (
        re.findall(r"(?<!\\)<(?!str|int|list|quick|float)", re.sub(r"`.*?`", "", reference.part_page("commands"))) == []
    )


SOURCE = re.compile(r"^```\{source\} (\S+) (.+)$", re.MULTILINE)


def test_the_pages_of_the_papers_find_the_code_that_they_show() -> None:
    shown = [found for page in PAGES for found in SOURCE.findall(page.read_text(encoding="utf-8"))]
    assert len(shown) > 20
    assert [each for each in shown if (ROOT / each[0]).read_text(encoding="utf-8").count(each[1]) != 1] == []


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_links_within_the_repository_lead_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\((?!https?:|#|mailto:)([^)#]+)", page.read_text(encoding="utf-8"))
    missing = [target for target in targets if not (page.parent / target).exists()]
    assert not missing


@pytest.mark.parametrize("kind", ["transports", "queues", "routing", "topologies", "traffic"])
def test_a_name_is_in_the_file_that_the_page_on_the_architecture_gives(kind: str) -> None:
    page = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    row = re.search(rf"^\| `{kind}`.*? \| `(?P<file>\S+)/NAME.rs`", page, re.MULTILINE)
    assert row
    files = [ROOT / row["file"] / entry["name"].replace("-", "_") for entry in _core.registry()[kind]]
    assert not [file for file in files if not file.is_dir() and not file.with_suffix(".rs").exists()]


def test_a_figure_and_a_command_are_where_the_page_on_the_architecture_says() -> None:
    recipes = "".join(path.read_text("utf-8") for path in (ROOT / "papers/shortflow_papers/papers").rglob("*.py"))
    assert not [figure for figure in papers.figures() if f'"{figure}"' not in recipes]
    modules = {name: NOT_NAMES.get(name, (name, name))[0] for name in COMMANDS}
    files = {name: ROOT / "python/shortflow/commands" / f"{module}.py" for name, module in modules.items()}
    elsewhere = {name for name, file in files.items() if not file.exists()}
    assert elsewhere == {"reproduce", "survey", "new-paper", "linux"}
