"""Counts the instructions per packet-hop with Valgrind. The counts do not depend on the load of the machine.

Each case simulates a short and a longer duration. The result is the difference in instructions divided by the
difference in packet-hops, so it excludes Python, the reading of the scenario and the set-up of the network. The exit
code is 1 if a case exceeds its count in `tools/instructions.json` by more than 3 %. `--renew` writes this file.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

BASELINE = Path(__file__).with_suffix(".json")
PACKAGE = Path(__file__).resolve().parent.parent / "python"
MOST = 1.03
Case = tuple[str, str, str, dict[str, object]]
"""Scenario, a short and a longer duration, and other settings."""

CASES: dict[str, Case] = {
    "S1": ("bench-star", "100ms", "500ms", {}),
    "S2": ("bench-two-tier", "5ms", "20ms", {}),
    "S3": ("bench-leaf-spine", "500us", "1500us", {}),
    "k=8": ("bench-fat-tree", "500us", "1ms", {}),
    "k=16": ("bench-fat-tree", "200us", "350us", {"k": 16}),
}
SCHEMES = {"S1": ("dctcp", "tcp"), "S3": ("dctcp", "pecn", "pfabric")}

RUN = """
import json, sys
from shortflow import _core
from shortflow.scenario import load_scenario
from shortflow.scheme import laws_of_papers, load_schemes
name, scheme, settings = sys.argv[1:]
scenario = load_scenario(name, json.loads(settings)).core
[built] = load_schemes([scheme], laws_of_papers(scheme))
print(_core.run(scenario, built, 1, _core.Control()).meta()["counters"]["packet_hops"])
"""


def count(scenario: str, scheme: str, settings: dict[str, object]) -> tuple[int, int]:
    """Instructions of a process that does one run, and packet-hops of the run."""
    valgrind = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
    command = [*valgrind, sys.executable, "-P", "-c", RUN, scenario, scheme, json.dumps(settings)]
    environment = {**os.environ, "PYTHONHASHSEED": "0", "PYTHONPATH": str(PACKAGE)}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    found = re.search(r"Collected : (\d+)", done.stderr)
    assert found, done.stderr
    return int(found[1]), int(done.stdout)


def per_hop(case: Case, scheme: str) -> float:
    """Instructions per packet-hop."""
    scenario, *durations, settings = case
    (short, few), (long, many) = (count(scenario, scheme, {**settings, "duration": each}) for each in durations)
    return (long - short) / (many - few)


def main() -> int:
    """Counts instructions, and compares them with the baseline or writes a new baseline."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--renew", action="store_true", help="write the baseline instead of comparing with it")
    parser.add_argument("cases", nargs="*", default=list(CASES), help=", ".join(CASES))
    asked = parser.parse_args()
    if not shutil.which("valgrind"):
        print("missing: valgrind; on Debian: apt-get install valgrind", file=sys.stderr)
        return 3
    before = json.loads(BASELINE.read_text()) if BASELINE.exists() else {}
    now, grown = {}, False
    for case, scheme in ((name, each) for name in asked.cases for each in SCHEMES.get(name, ("dctcp",))):
        name = f"{case} {scheme}"
        now[name] = round(per_hop(CASES[case], scheme), 1)
        change = now[name] / before[name] if name in before else 1.0
        grown |= change > MOST
        print(f"{name:14} {now[name]:8.1f} instructions per packet-hop {(change - 1) * 100:+6.1f} %", flush=True)
    if asked.renew:
        BASELINE.write_text(json.dumps({**before, **now}, indent=2) + "\n")
        return 0
    if grown:
        print(f"grown by more than {MOST - 1:.0%} over {BASELINE.name}", file=sys.stderr)
    return int(grown)


if __name__ == "__main__":
    sys.exit(main())
