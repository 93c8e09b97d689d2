"""Mutation tests of Python: changes a room's code in one place at a time and lists the changes that no test notices.

`tools/mutants_python.py ROOM...` makes changes (mutants) with the operators of mutmut. One process collects the room's
tests. For each mutant, it forks, replaces the code of one function in the fork, and runs the tests that call this
function until one fails. So a mutant takes as long as its tests, without a start of Python. Results are kept below
`target/mutants/python`, so an interrupted run resumes where it stopped. A mutant that a test noticed is tested again
only when its function changes. A mutant that no test noticed (a survivor) is tested again in every run. The exit code
is 1 if a mutant was not tested, or if `tools/mutants-python-argued.txt` gives no reason for a survivor.

Some changes are left out: of texts (string literals with a space), of annotations, of `strict` in `zip` and of types in
`cast`, which check the program itself, of `encoding`, which matters where the default is not UTF-8, of functions that
run only while modules load, and of functions that only tests of more than 8 s call. Tests that need a browser are not
run.
"""

import argparse
import contextlib
import functools
import gc
import hashlib
import importlib
import json
import math
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any, NamedTuple

import libcst as cst
import pytest
from _pytest.runner import runtestprotocol
from libcst.metadata import MetadataWrapper, PositionProvider
from mutmut.mutation.mutators import mutation_operators

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "python" / "shortflow"
WORK = ROOT / "target" / "mutants" / "python"
ARGUED = ROOT / "tools" / "mutants-python-argued.txt"
INTERVALS, DAMAGE = "test_intervals.py::test_", "test_damage.py::test_"
GOLDEN = "test_golden.py::test_commands_print_what_they_printed"
ROOMS = {
    "asks": (
        "asks.py",
        ["test_asks.py", "test_sweep.py", *(f"{GOLDEN}[{each}]" for each in ("compare", "compare-until", "search"))],
    ),
    "judge": ("judge/*.py", ["test_judge.py"]),
    "metrics": (
        "metrics/*.py",
        [
            *("test_metrics.py", "test_stats.py", "test_bins.py", "test_receipt.py", "test_named_sizes.py"),
            *("test_collection.py", "test_store.py::test_right_columns_of_wrong_types_are_damaged"),
            *(
                "test_golden.py",
                "test_tables.py",
                "test_cli_results.py",
                f"{INTERVALS}a_stake_is_what_one_late_flow_does",
            ),
            f"{INTERVALS}a_metric_that_a_run_lacks_has_no_stake_in_it",
            f"{INTERVALS}a_task_has_a_timeout_in_it_if_it_is_as_long_and_any_class_had_one",
            f"{INTERVALS}the_risk_of_a_scheme_is_that_of_its_own_buffer",
        ],
    ),
    "store": (
        "store/*.py",
        [
            *("test_store.py", "test_selection.py", "test_sweep.py", f"{DAMAGE}a_flipped_byte_of_any_table_is_named"),
            f"{DAMAGE}a_damaged_result_of_one_run_is_not_overwritten",
        ],
    ),
    "tuning": ("tuning/*.py", ["test_tuning.py", "test_tuning_verdict.py", f"{GOLDEN}[tune]"]),
}
"""Each room's files, and the tests that its mutants must fail."""
NEVER = ("len", "isinstance", "cast")
"""Calls whose arguments stay."""
KEPT = ("strict", "encoding")
"""Keyword arguments that stay."""
SURVIVED, CAUGHT, FAILED = "survived", "caught", "failed"
HUNG, UNREACHED, LOADING, SLOW = "hung", "unreached", "loading", "slow"
QUICK_S = 8.0
"""CPU time after which a test is stopped while its calls are noted. Mutants are not tested with such slow tests."""
OUTCOMES = (SURVIVED, CAUGHT, FAILED)
"""Outcome by the exit code of a fork. A fork fails if the code cannot be replaced."""
LIBRARIES = ("msgspec", "numpy", "optuna", "polars", "scipy.special", "scipy.stats")
"""Libraries that the package loads on first use, which no test should have to do."""
LIMIT_BYTES = 4 << 30

Key = tuple[str, str, int]
"""File, name and first line of a function that no other function encloses."""


class Mutant(NamedTuple):
    """A change of the code."""

    function: Key
    text: str
    """File, function, original lines, and changed lines."""
    source: str
    """Changed source of the file."""
    digest: str
    """Digest of the original and the changed function, by which results are kept."""


class Changes:
    """All mutants of a file."""

    def __init__(self, path: Path) -> None:
        """Reads the file."""
        self.path, self.code = path, path.read_text("utf-8")
        starts = [0]
        for line in self.code.splitlines(keepends=True):
            starts.append(starts[-1] + len(line))
        self._starts = starts
        wrapper = MetadataWrapper(cst.parse_module(self.code), unsafe_skip_copy=True)
        self._module, self._positions = wrapper.module, wrapper.resolve(PositionProvider)

    def mutants(self) -> Iterator[Mutant]:
        """The mutants in the order of the code."""
        yield from self._below(self._module, None, ())

    def _below(self, node: cst.CSTNode, outer: cst.CSTNode | None, names: Sequence[str]) -> Iterator[Mutant]:
        if isinstance(node, cst.Annotation | cst.Decorator):
            return
        if isinstance(node, cst.FunctionDef | cst.ClassDef) and outer is None:
            names = (*names, node.name.value)
        if isinstance(node, cst.FunctionDef | cst.Lambda) and outer is None:
            outer = node
            yield from self._below(node.body, outer, names)
            return
        if outer is not None:
            yield from self._changed(node, outer, names)
        children: Sequence[cst.CSTNode] = node.children
        if isinstance(node, cst.Call):
            of = node.func.value if isinstance(node.func, cst.Name) else ""
            children = [node.func, *(arg.value for arg in node.args if not _is_kept(arg) and of not in NEVER)]
        for child in children:
            yield from self._below(child, outer, names)

    def _changed(self, node: cst.CSTNode, outer: cst.CSTNode, names: Sequence[str]) -> Iterator[Mutant]:
        """Mutants of one node. A change keeps the parentheses around the node."""
        if isinstance(node, cst.SimpleString) and (" " in node.value or node.value[-3:] == '"""'):
            return
        node_of: cst.CSTNode = node
        if isinstance(node, cst.Call):
            if isinstance(node.func, cst.Name) and node.func.value in NEVER:
                return
            node_of = node.with_changes(args=[arg for arg in node.args if not _is_kept(arg)])
        for kind, operator in mutation_operators:
            if isinstance(node_of, kind):
                for changed in operator(node_of):
                    yield self._mutant(node, changed, outer, names)

    def _mutant(self, node: cst.CSTNode, changed: cst.CSTNode, outer: cst.CSTNode, names: Sequence[str]) -> Mutant:
        begin, end = self._range(node)
        bare = changed.with_changes(lpar=[], rpar=[]) if hasattr(changed, "lpar") else changed
        new = self._module.code_for_node(bare).strip()
        old = self.code[begin:end]
        spaces = old[: len(old) - len(old.lstrip())]  # a comparison begins with the space before its operator
        source = f"{self.code[:begin]}{spaces}{new}{self.code[end:]}"
        at = self._positions[node]
        first, last = self._starts[at.start.line - 1], self._starts[at.end.line]
        before, after = self.code[first:last], source[first : last + len(source) - len(self.code)]
        file = self.path.relative_to(PACKAGE.parent)
        text = f"{file}: {'.'.join(names)}: {' '.join(before.split())} => {' '.join(after.split())}"
        top, bottom = self._range(outer)
        digest = hashlib.sha256(f"{self.code[top:bottom]}{begin - top} {end - top} {new}".encode()).hexdigest()[:16]
        decorators = getattr(outer, "decorators", ())
        line = self._positions[decorators[0] if decorators else outer].start.line
        name = outer.name.value if isinstance(outer, cst.FunctionDef) else "<lambda>"
        return Mutant((str(self.path), name, line), text, source, digest)

    def _range(self, node: cst.CSTNode) -> tuple[int, int]:
        at, starts = self._positions[node], self._starts
        return starts[at.start.line - 1] + at.start.column, starts[at.end.line - 1] + at.end.column


def _is_kept(arg: cst.Arg) -> bool:
    return arg.keyword is not None and arg.keyword.value in KEPT


def outermost(code: CodeType) -> Iterator[CodeType]:
    """Code of the functions in a module or class that no other function encloses."""
    for each in code.co_consts:
        if isinstance(each, CodeType):
            if each.co_flags & 1:  # CO_OPTIMIZED: a function, not the body of a class
                yield each
            else:
                yield from outermost(each)


class Room:
    """Plugin of pytest that tests mutants in place of the usual loop over the tests."""

    def __init__(self, name: str, count: int | None, seed: int, *, is_summary: bool) -> None:
        """`count` mutants are drawn by the `seed`, or all."""
        files, self.tests = ROOMS[name]
        self.name, self.files, self.is_summary = name, sorted(PACKAGE.glob(files)), is_summary
        self.kept = WORK / f"{name}.txt"
        self.found = [mutant for path in self.files for mutant in Changes(path).mutants()]

        def order(mutant: Mutant) -> bytes:
            return hashlib.sha256(f"{seed} {mutant.digest}".encode()).digest()

        self.chosen = sorted(self.found, key=order)[:count]
        self.loading: set[Key] = set()
        self.has_slow = False
        self.calls: dict[Key, list[tuple[float, int]]] = {}
        self.live: dict[Key, list[FunctionType]] = {}

    def pytest_configure(self) -> None:
        """Chooses few examples. A failed example is not made smaller: one is enough."""
        hypothesis = importlib.import_module("hypothesis")  # not before pytest, which rewrites its assertions
        phases = [hypothesis.Phase.explicit, hypothesis.Phase.generate]
        hypothesis.settings.register_profile(
            "mutants", deadline=None, derandomize=True, database=None, phases=phases, max_examples=5
        )
        hypothesis.settings.load_profile("mutants")
        with self.recorded() as self.loading:
            for path in self.files:
                importlib.import_module(".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts))
        for name in LIBRARIES:
            importlib.import_module(name)

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Leaves out tests that need a browser, which each fork would start."""
        items[:] = [item for item in items if "browser" not in getattr(item, "fixturenames", ())]

    @contextlib.contextmanager
    def recorded(self) -> Iterator[set[Key]]:
        """The functions of the room that run during the block."""
        names, found = {str(path) for path in self.files}, set()

        def note(frame: FrameType, event: str, _: Any) -> None:
            code = frame.f_code
            if event == "call" and code.co_filename in names:
                found.add((code.co_filename, code.co_name, code.co_firstlineno))

        threading.settrace(note)  # runs are measured in threads of their own
        sys.settrace(note)
        try:
            yield found
        finally:
            sys.settrace(None)
            threading.settrace(None)

    def results(self) -> dict[str, str]:
        """Kept results by the digest of the mutant."""
        lines = self.kept.read_text().split() if self.kept.exists() else []
        return dict(zip(lines[::2], lines[1::2], strict=True))

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Tests the mutants that have no result or survived."""
        done = self.results()
        todo = [each for each in self.chosen if done.get(each.digest) not in (CAUGHT, HUNG)]
        if not self.is_summary and todo:
            self.record_calls(session.items)
            paths = {str(path) for path in self.files}
            for each in gc.get_objects():
                if isinstance(each, FunctionType) and each.__code__.co_filename in paths:
                    code = each.__code__
                    self.live.setdefault((code.co_filename, code.co_name, code.co_firstlineno), []).append(each)
            gc.freeze()
            began = time.monotonic()
            for number, mutant in enumerate(todo, 1):
                outcome = self.outcome(mutant, session.items)
                with self.kept.open("a") as file:
                    file.write(f"{mutant.digest} {outcome}\n")
                seconds = (time.monotonic() - began) / number
                print(f"\r{self.name}: {number} of {len(todo)}, {seconds:.2f} s each", end="", file=sys.stderr)
        return True

    def record_calls(self, items: Sequence[pytest.Item]) -> None:
        """Runs every test in a fork, and notes its CPU time and the functions that it calls, also for later runs."""
        place, names = WORK / f"{self.name}-calls.json", [item.nodeid for item in items]

        def run() -> int:
            signal.signal(signal.SIGPROF, stop)
            rows: list[tuple[float | None, list[Key]]] = []
            for item, following in pairs(items):
                began = time.process_time()
                with self.recorded() as found:
                    signal.setitimer(signal.ITIMER_PROF, QUICK_S)
                    try:
                        has_failed = failed(item, following)
                    except TimeoutError:
                        has_failed = True
                    signal.setitimer(signal.ITIMER_PROF, 0)
                rows.append((None if has_failed else time.process_time() - began, sorted(found)))
            place.write_text(json.dumps({"tests": names, "calls": rows}))
            return 0

        changed = max(path.stat().st_mtime for path in (*self.files, *(item.path for item in items)))
        is_current = place.exists() and place.stat().st_mtime > changed
        if not (is_current and json.loads(place.read_text())["tests"] == names) and in_fork(run):
            raise SystemExit(f"{self.name}: the tests end without a result")
        notes = json.loads(place.read_text())
        for number, (seconds, found) in enumerate(notes["calls"]):
            if seconds is None:
                print(f"left out, because it is slow or fails in a fork: {names[number]}", file=sys.stderr)
                self.has_slow = True
                continue
            for path, name, line in found:
                self.calls.setdefault((path, name, line), []).append((seconds, number))

    def outcome(self, mutant: Mutant, items: Sequence[pytest.Item]) -> str:
        """Tests a mutant in a fork, with the tests of its function, shortest first."""
        calls = sorted(self.calls.get(mutant.function, ()))
        if not calls:
            return LOADING if mutant.function in self.loading else SLOW if self.has_slow else UNREACHED
        original = outermost(self.original(mutant.function[0]))
        tests, seconds = [items[number] for _, number in calls], [each for each, _ in calls]
        changed = outermost(compile(mutant.source, mutant.function[0], "exec"))

        def run() -> int:
            swap = {old: new for old, new in zip(original, changed, strict=True) if old != new}
            found = [each for each in self.live[mutant.function] if each.__code__ in swap]
            if not found:
                return OUTCOMES.index(FAILED)
            for function in found:
                function.__code__ = swap[function.__code__]
            for usual, (item, following) in zip(seconds, pairs(tests), strict=True):
                limit = math.ceil(time.process_time() + 2 + 5 * usual)
                resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.RLIM_INFINITY))
                signal.alarm(math.ceil(60 + 30 * usual))  # for a test that waits without using the CPU
                if failed(item, following):
                    return 1
            return 0

        status = in_fork(run)
        return HUNG if os.WIFSIGNALED(status) else OUTCOMES[os.WEXITSTATUS(status)]

    @staticmethod
    @functools.cache
    def original(path: str) -> CodeType:
        """Code of a file without a mutant."""
        return compile(Path(path).read_text("utf-8"), path, "exec")

    def summarize(self) -> bool:
        """Prints the counts, and the survivors without a reason. Returns True if there are no such survivors."""
        done, reasons = self.results(), argued()
        by_outcome: dict[str | None, list[str]] = {}
        for mutant in self.chosen:
            by_outcome.setdefault(done.get(mutant.digest), []).append(mutant.text)
        survivors = sorted(by_outcome.get(SURVIVED, []) + by_outcome.get(UNREACHED, []))
        unnoticed = []
        for text in survivors:
            if reasons[text]:
                reasons[text] -= 1
            else:
                unnoticed.append(text)
        untested = len([*by_outcome.get(None, ()), *by_outcome.get(FAILED, ())])
        slow, loading = (len(by_outcome.get(each, ())) for each in (SLOW, LOADING))
        print(
            f"\r{self.name}: {len(self.chosen)} of {len(self.found)} mutants drawn: {loading} in functions that run "
            f"only while modules load, {slow} in functions that no quick test calls; of the others "
            f"{len(by_outcome.get(CAUGHT, ()))} caught, {len(by_outcome.get(HUNG, ()))} caught by hanging, "
            f"{len(survivors) - len(unnoticed)} with a reason, {len(unnoticed)} unnoticed, {untested} not tested"
        )
        for title, texts in (("hung", by_outcome.get(HUNG, ())), ("unnoticed", unnoticed)):
            for text in texts:
                print(f"  {title}: {text}")
        return not unnoticed and not untested


def pairs(tests: Sequence[pytest.Item]) -> Iterator[tuple[pytest.Item, pytest.Item | None]]:
    """Each test with the following one, for which fixtures of modules are kept."""
    return zip(tests, [*tests[1:], None], strict=True)


def failed(item: pytest.Item, following: pytest.Item | None) -> bool:
    """Runs a test, and returns True if it failed."""
    return any(report.failed for report in runtestprotocol(item, log=False, nextitem=following))


def stop(*_: object) -> None:
    """Stops a test."""
    raise TimeoutError


def in_fork(run: Callable[[], int]) -> int:
    """Wait status of a forked process that runs the function for at most an hour."""
    child = os.fork()
    if not child:
        status = OUTCOMES.index(FAILED)
        try:
            resource.setrlimit(resource.RLIMIT_DATA, (LIMIT_BYTES, LIMIT_BYTES))
            signal.alarm(3600)
            status = run()
        finally:
            os._exit(status)
    return os.waitpid(child, 0)[1]


def argued() -> Counter[str]:
    """Mutants that no test can catch, with their numbers of occurrences in the list. Reasons follow ` # ` there."""
    lines = ARGUED.read_text("utf-8").splitlines()
    return Counter(line.rpartition(" # ")[0].strip() for line in lines if line and not line.startswith("#"))


def main() -> int:
    """Runs the rooms that the command line names, each in a process of its own if there are several."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rooms", nargs="+", choices=sorted(ROOMS), metavar="ROOM", help=", ".join(ROOMS))
    parser.add_argument("--draw", type=int, metavar="N", help="test only N mutants; a larger N adds to a smaller one")
    parser.add_argument("--seed", type=int, default=1, help="seed of the draw (default: 1)")
    parser.add_argument("--summary", action="store_true", help="print the known results without testing")
    options = parser.parse_args()
    if len(options.rooms) > 1:
        others = [each for each in sys.argv[1:] if each not in options.rooms]
        commands = ([sys.executable, __file__, each, *others] for each in options.rooms)
        return max(subprocess.run(command, check=False).returncode for command in commands)
    WORK.mkdir(parents=True, exist_ok=True)
    room = Room(options.rooms[0], options.draw, options.seed, is_summary=options.summary)
    if not options.summary:
        files = [str(ROOT / "tests" / name) for name in room.tests]
        usual = ["-q", "--no-header", "--no-summary", "--assert=plain", "--tb=native", "-p", "no:cacheprovider"]
        pytest.main([*usual, f"--basetemp={WORK / 'tmp'}", f"--rootdir={ROOT}", *files], plugins=[room])
    return 0 if room.summarize() else 1


if __name__ == "__main__":
    sys.exit(main())
