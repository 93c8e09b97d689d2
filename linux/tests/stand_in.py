"""Stand-in for the program `shortflow-linux`, which returns a simulation's tables."""

import json
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import shortflow
from conftest import Patch
from shortflow.metrics.columns import KINDS, TABLES
from shortflow.scenario import Settings
from shortflow_linux import kernels

SCENARIO = "testbed-two-long"
SHORT: Settings = {"duration": "300ms", "warmup": "100ms"}
NAMES: dict[Any, str] = {kind: name for name, kind in KINDS.items()}


@dataclass
class StandIn:
    """Replaces the kernel: answers runs, and records the arguments of all calls."""

    answer: str = ""
    of_scheme: dict[str, str] = field(default_factory=dict)
    queue: list[str] = field(default_factory=list)
    """Answers to the next runs."""
    code: int = 0
    errors: str = ""
    fails: BaseException | None = None
    calls: list[list[str]] = field(default_factory=list)

    @property
    def settings(self) -> list[str]:
        return [text for call in self.calls for text in call if "=" in text]

    def run(self, scenario: Path, arguments: Sequence[str]) -> "subprocess.CompletedProcess[str]":
        self.calls.append([scenario.name, *arguments])
        if "--check" in arguments:
            return subprocess.CompletedProcess([], 0, "", "")
        if self.fails:
            raise self.fails
        out = self.queue.pop(0) if self.queue else self.of_scheme.get(arguments[1], self.answer)
        return subprocess.CompletedProcess([], self.code, out, self.errors)


def stand_in(monkeypatch: Patch) -> StandIn:
    """Replaces this computer's kernel for a test."""
    found = StandIn()
    monkeypatch.setattr(kernels.ThisKernel, "run", found.run)
    monkeypatch.setattr(kernels.ThisKernel, "identity", "f00d")
    return found


def document(
    verdict: str = "trustworthy", scenario: str = SCENARIO, scheme: str = "dctcp", settings: Settings = SHORT
) -> str:
    """Output of the program, with a simulation's tables."""
    result = shortflow.run(shortflow.load(scenario), scheme, settings=settings)
    tables = {
        name: [
            [column.name, NAMES[column.dtype], column.to_list()]
            for column in getattr(result, name).drop("scheme", "seed", "run")
        ]
        for name in TABLES
    }
    account: dict[str, object] = {
        "congestion": "sf_dctcp",
        "verdict": verdict,
        "timing_error_s": {"p50": 2e-5, "p99": 1e-4, "max": 2e-3},
        "stalls": {"count": 1, "measured": 0, "longest_s": 2e-3, "p99_s": 1e-5, "per_s": 0.2, "limit_s": 4.8e-4},
        "host_stalls": {"count": 0, "measured": 0, "longest_s": 0.0, "p99_s": 0.0, "per_s": 0.0, "limit_s": 4.8e-4},
    }
    account |= {"start_error_s": 0.0, "lost": 0, "busy": 0.5, "real_time": True}
    return json.dumps({"tables": tables, "meta": result.meta, "testbed": account})
