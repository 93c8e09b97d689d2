"""Mutation tests: changes the code in one place at a time and lists the changes (mutants) that no test notices.

`tools/mutants.py AREA...` runs cargo-mutants on a copy of the sources below `target/mutants`. The result of each
mutant is kept there, so an interrupted run resumes where it stopped. A mutant that a test noticed is tested again only
when its file changes. A mutant that no test noticed (a survivor) is tested again in every run. The exit code is 1 if a
mutant was not tested, or if `tools/mutants-argued.txt` gives no reason for a survivor.
"""

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
WORK = ROOT / "target" / "mutants"
ARGUED = ROOT / "tools" / "mutants-argued.txt"
SOURCES = ("Cargo.toml", "Cargo.lock", "crates", "data", "linux", "python/shortflow/scenarios")

# Modules of crates/sim/tests that check TCP and take seconds.
TCP_TESTS = ("accounting", "analytic", "ecn_echo", "linux_tcp", "path", "rack", "recovery")


class Stage(NamedTuple):
    """A test program, and filters for its tests. Mutants that the program misses go to the next stage."""

    program: str
    filters: tuple[str, ...] = ()
    package: str = ""
    """Package of the program, if it is not the area's."""


class Area(NamedTuple):
    """Files to mutate, their package, the stages of tests, and the timeout of the tests in seconds."""

    package: str
    files: tuple[str, ...]
    stages: tuple[Stage, ...]
    timeout: int
    without: tuple[str, ...] = ()


UNIT_TESTS, C_LAWS = Stage("--lib"), Stage("--test=laws", ("--skip=errors::",), package="shortflow-deploy")
AREAS = {
    "cc": Area("shortflow-cc", ("crates/cc/src/**/*.rs",), (UNIT_TESTS, C_LAWS), 30),
    "tcp": Area(
        "shortflow-sim",
        ("crates/sim/src/tcp/*.rs",),
        (Stage("--lib", ("tcp::",)), Stage("--test=simulator", tuple(f"{module}::" for module in TCP_TESTS))),
        60,
    ),
    "sim": Area(
        "shortflow-sim",
        ("crates/sim/src/**/*.rs",),
        (UNIT_TESTS, Stage("--test=simulator", ("--skip=golden::",))),
        300,
        without=("crates/sim/src/tcp/*.rs",),
    ),
    "units": Area("shortflow-units", ("crates/units/src/**/*.rs",), (UNIT_TESTS,), 30),
}


def renew_copy(tree: Path) -> None:
    """Makes `tree` a copy of the tracked sources. Unchanged files keep their modification times."""
    listed = subprocess.run(["git", "ls-files", *SOURCES], cwd=ROOT, check=True, capture_output=True, text=True)
    wanted = {name for name in listed.stdout.splitlines() if (ROOT / name).is_file()}
    for old in [path for path in tree.rglob("*") if path.is_file()]:
        if str(old.relative_to(tree)) not in wanted:
            old.unlink()
    for name in wanted:
        source, copy = ROOT / name, tree / name
        if not copy.is_file() or copy.read_bytes() != source.read_bytes():
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, copy)


def forget_changed(work: Path, tree: Path) -> None:
    """Drops the outcomes of mutants in files whose code has changed since. Changes of unit tests do not count."""
    results, kept = collect(work), work / "sources.json"
    known: dict[str, str] = json.loads(kept.read_text()) if kept.is_file() else {}
    now = {
        str(path.relative_to(tree)): hashlib.sha256(
            path.read_bytes().partition(b"#[cfg(test)]\nmod tests {")[0]
        ).hexdigest()
        for path in tree.glob("crates/*/src/**/*.rs")
    }
    file_of = {mutant: mutant.partition(":")[0] for mutant in results}
    left = {each: results[each] for each, file in file_of.items() if known.get(file, now.get(file)) == now.get(file)}
    if len(left) < len(results):
        print(f"{len(results) - len(left)} mutants of files that have changed are tested anew", flush=True)
        shutil.rmtree(work / "mutants.out", ignore_errors=True)
        (work / "results.json").write_text(json.dumps(left, indent=1))
    kept.write_text(json.dumps(now, indent=1))


def cargo_mutants(area: Area, tree: Path) -> list[str]:
    """The common part of all cargo-mutants commands for an area."""
    files = [f"--file={glob}" for glob in area.files] + [f"--exclude={glob}" for glob in area.without]
    return ["cargo", "mutants", f"--dir={tree}", f"--package={area.package}", "--no-config", *files]


def collect(work: Path) -> dict[str, str]:
    """Outcome of each mutant so far, including those of the last run, even if it was killed."""
    results_file, last = work / "results.json", work / "mutants.out" / "outcomes.json"
    results: dict[str, str] = json.loads(results_file.read_text()) if results_file.is_file() else {}
    if last.is_file():
        try:
            outcomes = json.loads(last.read_text())["outcomes"]
        except json.JSONDecodeError:  # the run was killed while it wrote the file
            outcomes = []
        for outcome in outcomes:
            if outcome["scenario"] != "Baseline":
                results[outcome["scenario"]["Mutant"]["name"]] = outcome["summary"]
    work.mkdir(parents=True, exist_ok=True)
    part = work / "results.part"
    part.write_text(json.dumps(results, indent=1))
    part.replace(results_file)
    return results


def test_stage(area: Area, work: Path, command: list[str], stage: Stage, skip: set[str]) -> None:
    """Tests all mutants, except those in `skip`, with one test program."""
    out = work / "mutants.out"
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir()
    (out / "caught.txt").write_text("".join(f"{mutant}\n" for mutant in sorted(skip)))
    environment = os.environ | {
        "CARGO_TARGET_DIR": str(work / "build"),
        "CARGO_PROFILE_DEV_DEBUG": "0",
        "CARGO_PROFILE_TEST_DEBUG": "0",
        "PROPTEST_RNG_SEED": "1",
    }
    options = ["--iterate", "--in-place", f"--timeout={area.timeout}", f"--output={work}", "--colors=never"]
    # The mutated package is built for each mutant, so it is built without optimisation. Its dependencies are optimised.
    quickly = f"--config=profile.dev.package.{area.package}.opt-level=0"
    tests = [f"--test-package={stage.package or area.package}", f"--cargo-arg={stage.program}"]
    options += [*tests, f"--cargo-arg={quickly}", "--", "--", *stage.filters]
    try:
        done = subprocess.run([*command, *options], env=environment, check=False)
    finally:
        collect(work)
    if done.returncode not in (0, 2, 3):  # 0: all caught, 2: some missed, 3: some timed out
        sys.exit(f"cargo-mutants stopped with {done.returncode}; see {out / 'log'}")


def mutants_of(command: list[str]) -> list[str]:
    """Names of all mutants, in the order of their positions in the sources."""
    listed = subprocess.run([*command, "--list", "--json"], check=True, capture_output=True, text=True)
    return [mutant["name"] for mutant in json.loads(listed.stdout)]


def run(name: str, shard: tuple[int, int]) -> list[str]:
    """Tests the untested mutants of a shard of an area. Returns all mutants of the shard, tested or not."""
    area, work = AREAS[name], WORK / name
    tree = work / "tree"
    tree.mkdir(parents=True, exist_ok=True)
    renew_copy(tree)
    forget_changed(work, tree)
    command = cargo_mutants(area, tree)
    mutants = mutants_of(command)
    chosen = mutants[shard[0] :: shard[1]]
    for stage in area.stages:
        results = collect(work)
        left = {mutant for mutant in chosen if results.get(mutant, "MissedMutant") == "MissedMutant"}
        print(f"{name}: {len(left)} of {len(chosen)} mutants for {stage.program}", flush=True)
        if left:
            test_stage(area, work, command, stage, set(mutants) - left)
    return chosen


def without_place(mutant: str) -> str:
    """The name of a mutant without its line and column: its file and its change."""
    return re.sub(r"^([^:]+):\d+:\d+: ", r"\1: ", mutant)


def argued() -> Counter[str]:
    """Mutants that no test can catch, with their numbers of occurrences in the list. Reasons follow ` # ` there."""
    lines = ARGUED.read_text().splitlines() if ARGUED.is_file() else []
    return Counter(line.partition(" # ")[0].strip() for line in lines if line and not line.startswith("#"))


def summarize(name: str, chosen: list[str]) -> bool:
    """Prints the counts, and the survivors without a reason. Returns True if there are no such survivors."""
    results, reasons = collect(WORK / name), argued()
    count = Counter(results.get(mutant, "untested") for mutant in chosen)
    survivors = []
    for mutant in chosen:
        if results.get(mutant) == "MissedMutant":
            short = without_place(mutant)
            if reasons[short]:
                reasons[short] -= 1
            else:
                survivors.append(mutant)
    print(
        f"{name}: {len(chosen)} mutants: {count['CaughtMutant']} caught, {count['Timeout']} caught by hanging, "
        f"{count['Unviable']} do not compile, {count['MissedMutant']} survived "
        f"({count['MissedMutant'] - len(survivors)} with a reason), {count['untested']} not tested"
    )
    for mutant in survivors:
        print(f"  survived: {mutant}")
    return not survivors and not count["untested"]


def shard_of(text: str) -> tuple[int, int]:
    """Reads a shard `K/N`: every Nth mutant from number K on, counted from 0."""
    match = re.fullmatch(r"(\d+)/(\d+)", text)
    if match is None or int(match[1]) >= int(match[2]):
        raise argparse.ArgumentTypeError(f"{text!r} is not K/N with K below N, such as 0/20")
    return int(match[1]), int(match[2])


def main() -> int:
    """Runs the areas that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("areas", nargs="+", choices=sorted(AREAS), metavar="AREA", help=", ".join(AREAS))
    parser.add_argument(
        "--shard", type=shard_of, default=(0, 1), metavar="K/N", help="test every Nth mutant, from the Kth on"
    )
    parser.add_argument("--summary", action="store_true", help="print the known results without testing")
    options = parser.parse_args()
    if shutil.which("cargo-mutants") is None:
        print("missing: cargo-mutants; `make mutants` installs it below target/tools", file=sys.stderr)
        return 3
    covered = True
    for name in options.areas:
        if options.summary:
            first, every = options.shard
            chosen = mutants_of(cargo_mutants(AREAS[name], ROOT))[first::every]
        else:
            chosen = run(name, options.shard)
        covered &= summarize(name, chosen)
    return 0 if covered else 1


if __name__ == "__main__":
    sys.exit(main())
