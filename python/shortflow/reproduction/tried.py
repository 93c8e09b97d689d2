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

    deciding: str
    """The name of the number that is followed: the one that decides with the choices taken."""
    taken: Outcome
    others: dict[str, Outcome]
    """By choice and value, such as `handshake=on`, or by two, such as `handshake=on+recovery=sack`."""


STORED = Path(papers.__file__).with_name("tried.json")
"""Results of `reproduce --sensitivity`."""


def load(file: Path) -> dict[str, dict[str, Tried]]:
    """What was tried, by claim and scale; empty without such a file."""
    again = "run `reproduce --sensitivity` again"
    return read_json(file, dict[str, dict[str, Tried]], again) if file.exists() else {}


def at(scale: Scale, every: Mapping[str, Mapping[str, Tried]]) -> dict[str, Tried]:
    """What was tried at a scale, by claim."""
    return {name: of_scale[scale] for name, of_scale in every.items() if scale in of_scale}


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
def stored() -> Mapping[str, Mapping[str, Tried]]:
    """What was tried, as it comes with the package."""
    return load(STORED)


def save(found: Mapping[str, Tried], scale: Scale, file: Path) -> None:
    """Keep what was tried beside what is known: of other claims and scales and, while a claim stands, other values."""
    every = load(file)
    for name, tried in found.items():
        of_claim = every.setdefault(name, {})
        before = of_claim.get(scale)
        others = before["others"] if before and stands(before, tried) else {}
        of_claim[scale] = {**tried, "others": {**others, **tried["others"]}}
    lines = [f"{json.dumps(name)}: {json.dumps(every[name])}" for name in sorted(every)]
    write_text(file, "{\n" + ",\n".join(lines) + "\n}\n")


def stands(before: Tried, now: Tried) -> bool:
    """Whether a claim is, with the choices taken, what it was when others were tried."""
    return (before["deciding"], before["taken"]) == (now["deciding"], now["taken"])


def sentence(tried: Tried) -> str:
    """Which choices make a claim agree, what single others give or leave as it is, and how many pairs do not help."""
    others = tried["others"]
    agree = [_numbered(name, each) for name, each in others.items() if each["verdict"] == "agrees"]
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
    return f"other choices: {'; '.join(parts)}" if parts else ""


def elsewhere(tried: Tried, scale: str) -> str:
    """The same for a page of another scale than the one at which it was tried."""
    taken, others = tried["taken"], tried["others"]
    if taken["verdict"] != "agrees":
        said, of = sentence(tried), f", {tried['deciding'].replace('_', ' ')}" * (tried["deciding"] != "value")
        return said and f"at the {scale} scale ({taken['verdict']}{of}), {said}"
    lost = [_numbered(name, each) for name, each in others.items() if each["verdict"] != "agrees" and single(name)]
    return f"at the {scale} scale it {_numbered('agrees', taken)}" + f", but not with {', '.join(lost)}" * bool(lost)


def _numbered(text: str, outcome: Outcome) -> str:
    return f"{text} ({outcome['number']})" if outcome["number"] else text


def _turned(each: Outcome, taken: Outcome) -> bool:
    """Whether the verdict is another, which the number does not say."""
    return bool(each["number"]) and each["verdict"] != taken["verdict"]
