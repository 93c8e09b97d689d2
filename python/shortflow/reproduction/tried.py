"""What other choices make of claims that do not agree: sentences from the stored results of the sensitivity study."""

import functools
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TypedDict

from shortflow import papers
from shortflow.lab.study import Scale
from shortflow.store.files import read_json, write_text


class Outcome(TypedDict):
    """What came of a claim."""

    verdict: str
    number: str
    """The number that decides with the choices taken, to four digits; empty where there is none."""


class Tried(TypedDict):
    """A claim with the choices taken, and with every other value of one that its runs follow."""

    scale: str
    taken: Outcome
    others: dict[str, Outcome]
    """By choice and value, such as `handshake=on`, or by two, such as `handshake=on+recovery=sack`."""


STORED = Path(papers.__file__).with_name("tried.json")
"""Results of `reproduce --sensitivity`."""


def load(file: Path) -> dict[str, Tried]:
    """What was tried, by claim; empty without such a file."""
    return read_json(file, dict[str, Tried], "run `reproduce --sensitivity` again") if file.exists() else {}


def together(values: Mapping[str, str]) -> str:
    """Values of choices as they are stored and shown."""
    return "+".join(f"{name}={value}" for name, value in values.items())


def single(text: str) -> bool:
    """Whether it is the value of one choice."""
    return "+" not in text


def apart(text: str) -> tuple[str, str]:
    """The choice and the value of a single one."""
    name, _, value = text.partition("=")
    return name, value


@functools.cache
def stored() -> Mapping[str, Tried]:
    """What was tried, as it comes with the package."""
    return load(STORED)


def save(found: Mapping[str, Tried], file: Path) -> None:
    """Keep what was tried, beside what is known of other claims, and of other values for as long as a claim stands."""
    every = load(file)
    for name, tried in found.items():
        before = every.get(name)
        others = before["others"] if before and {**before, "others": {}} == {**tried, "others": {}} else {}
        every[name] = {**tried, "others": {**others, **tried["others"]}}
    lines = [f"{json.dumps(name)}: {json.dumps(every[name])}" for name in sorted(every)]
    write_text(file, "{\n" + ",\n".join(lines) + "\n}\n")


def sentence(tried: Tried, scale: Scale) -> str:
    """Which choices make a claim agree, what single others give or leave as it is, and how many pairs do not help.

    It says so where this was tried at another scale.
    """
    others = tried["others"]
    agree = [f"{name} ({each['number']})" for name, each in others.items() if each["verdict"] == "agrees"]
    rest = {name: each for name, each in others.items() if each["verdict"] != "agrees" and single(name)}
    pairs = len(others) - len(agree) - len(rest)
    same = [name for name, each in rest.items() if each == tried["taken"]]
    moved = [
        f"{each['number'] or each['verdict']} with {name}" + f" ({each['verdict']})" * _turned(each, tried["taken"])
        for name, each in rest.items()
        if name not in same
    ]
    parts = [f"agrees with {', '.join(agree)}"] * bool(agree)
    parts += [f"{tried['taken']['number'] or tried['taken']['verdict']} becomes {', '.join(moved)}"] * bool(moved)
    parts += [f"the same with {', '.join(same)}"] * bool(same)
    parts += [f"pairs of these that do not agree: {pairs}"] * bool(pairs)
    elsewhere = f" (at the {tried['scale']} scale, where the verdict is: {tried['taken']['verdict']})"
    return f"other choices{elsewhere * (tried['scale'] != scale)}: {'; '.join(parts)}" if parts else ""


def _turned(each: Outcome, taken: Outcome) -> bool:
    """Whether the verdict is another, which the number does not say."""
    return bool(each["number"]) and each["verdict"] != taken["verdict"]
