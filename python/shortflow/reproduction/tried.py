"""What other choices make of claims that do not agree: sentences from the stored results of the sensitivity study."""

import functools
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TypedDict

from shortflow import papers
from shortflow.store.files import read_json, write_text


class Outcome(TypedDict):
    """What came of a claim."""

    verdict: str
    number: str
    """The number that decides with the choices taken, to four digits; empty where there is none."""


class Tried(TypedDict):
    """A claim with the choices taken, and with every other value of one that its runs follow."""

    taken: Outcome
    others: dict[str, Outcome]
    """By choice and value, such as `handshake=on`."""


STORED = Path(papers.__file__).with_name("tried.json")
"""Results of `reproduce --sensitivity` at the quick scale."""


def load(file: Path) -> dict[str, Tried]:
    """What was tried, by claim; empty without such a file."""
    return read_json(file, dict[str, Tried], "run `reproduce --sensitivity` again") if file.exists() else {}


@functools.cache
def stored() -> Mapping[str, Tried]:
    """What was tried, as it comes with the package."""
    return load(STORED)


def save(found: Mapping[str, Tried], file: Path) -> None:
    """Keep what was tried, beside what is known of other claims, and of other values for as long as a claim stands."""
    every = load(file)
    for name, tried in found.items():
        before = every.get(name)
        others = before["others"] if before and before["taken"] == tried["taken"] else {}
        every[name] = {"taken": tried["taken"], "others": {**others, **tried["others"]}}
    lines = [f"{json.dumps(name)}: {json.dumps(every[name])}" for name in sorted(every)]
    write_text(file, "{\n" + ",\n".join(lines) + "\n}\n")


def sentence(tried: Tried) -> str:
    """Which other choices make a claim agree, what the others give, and which change nothing."""
    others = tried["others"]
    agree = [f"{name} ({each['number']})" for name, each in others.items() if each["verdict"] == "agrees"]
    rest = {name: each for name, each in others.items() if each["verdict"] != "agrees"}
    same = [name for name, each in rest.items() if each == tried["taken"]]
    moved = [
        f"{each['number'] or each['verdict']} with {name}" + f" ({each['verdict']})" * _turned(each, tried["taken"])
        for name, each in rest.items()
        if name not in same
    ]
    parts = [f"agrees with {', '.join(agree)}"] * bool(agree)
    parts += [f"{tried['taken']['number'] or tried['taken']['verdict']} becomes {', '.join(moved)}"] * bool(moved)
    parts += [f"the same with {', '.join(same)}"] * bool(same)
    return f"other choices: {'; '.join(parts)}" if parts else ""


def _turned(each: Outcome, taken: Outcome) -> bool:
    """Whether the verdict is another, which the number does not say."""
    return bool(each["number"]) and each["verdict"] != taken["verdict"]
