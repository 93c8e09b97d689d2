"""Effect of other choices on claims that do not agree: sentences from stored sensitivity results."""

import functools
import itertools
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NotRequired, TypedDict

from shortflow import papers
from shortflow.lab.finding import Verdict
from shortflow.lab.study import Scale
from shortflow.quantities import counted, parse
from shortflow.store.files import Kind, read_json, write_text


class Outcome(TypedDict):
    """Outcome of a claim."""

    verdict: str
    number: str
    """Deciding number with unit; empty if none."""
    part: NotRequired[str]
    """Name of the deciding number, if not the one with default choices."""


class Tried(TypedDict):
    """A claim with the default choices, and with other values that its runs follow."""

    deciding: str
    """Name of the deciding number with default choices."""
    taken: Outcome
    others: dict[str, Outcome]
    """Outcomes by choice and value, such as `handshake=on`, or by several, such as `handshake=on+recovery=sack`."""
    unchanged: NotRequired[list[str]]
    """Values that change no digest of the claim's runs, so they test nothing."""


STORED = Path(papers.__file__).with_name("tried.json")
"""Results of `reproduce --sensitivity`."""


_SHORT = 3
_LETTERS = {verdict.value[:_SHORT]: verdict.value for verdict in Verdict}
"""Verdicts in a file: `agr -0.39 %` is a claim that agrees with that number."""
_AS_TAKEN, _NO_CHANGE = "=", "-"
"""An outcome like that of the choices taken, and runs that did not change."""


class _Paper(TypedDict):
    """A paper in a file."""

    values: list[str]
    """The choices tried; outcomes name them by their places."""
    claims: dict[str, dict[str, list[Any]]]
    """By claim and scale: the deciding number's name, the outcome as taken, and the others as `_packed`."""


def load(file: Path) -> dict[str, dict[str, Tried]]:
    """Stored outcomes by claim and scale; empty without the file."""
    again = "run `reproduce --sensitivity` again"
    papers = read_json(file, dict[str, _Paper], again) if file.exists() else {}
    return {
        claim: {scale: _unpacked(rows, paper["values"]) for scale, rows in of_claim.items()}
        for paper in papers.values()
        for claim, of_claim in paper["claims"].items()
    }


def _packed(tried: Tried, values: list[str]) -> list[Any]:
    """A claim in a file. Choices with one outcome share a text: `3,7,2+5`, by the places of their values."""
    by_outcome: dict[str, list[str]] = {}
    for name, outcome in [*tried["others"].items(), *((each, None) for each in unchanged(tried))]:
        said = _NO_CHANGE if outcome is None else _AS_TAKEN if outcome == tried["taken"] else _outcome(outcome)
        places = [str(_place(each, values)) for each in name.split("+")]
        by_outcome.setdefault(said, []).append("+".join(places))
    return [tried["deciding"], _outcome(tried["taken"]), {said: ",".join(names) for said, names in by_outcome.items()}]


def _unpacked(rows: list[Any], values: list[str]) -> Tried:
    deciding, taken, by_outcome = rows
    found: Tried = {"deciding": deciding, "taken": _read(taken), "others": {}}
    for said, names in by_outcome.items():
        texts = ["+".join(values[int(place)] for place in name.split("+")) for name in names.split(",")]
        if said == _NO_CHANGE:
            found["unchanged"] = texts
        else:
            found["others"] |= {text: found["taken"] if said == _AS_TAKEN else _read(said) for text in texts}
    return found


def _place(value: str, values: list[str]) -> int:
    if value not in values:
        values.append(value)
    return values.index(value)


def _outcome(outcome: Outcome) -> str:
    part = f" @{outcome['part']}" if "part" in outcome else ""
    return f"{outcome['verdict'][:_SHORT]} {outcome['number']}".strip() + part


def _read(said: str) -> Outcome:
    head, _, part = said.partition(" @")
    verdict, _, number = head.partition(" ")
    outcome: Outcome = {"verdict": _LETTERS[verdict], "number": number}
    return {**outcome, "part": part} if part else outcome


def at(scale: Scale, every: Mapping[str, Mapping[str, Tried]]) -> dict[str, Tried]:
    """Outcomes at a scale, by claim."""
    return {name: of_scale[scale] for name, of_scale in every.items() if scale in of_scale}


def together(values: Mapping[str, str]) -> str:
    """Values of choices as text, for storage and display."""
    return "+".join(f"{name}={value}" for name, value in values.items())


def single(text: str) -> bool:
    """True for the value of a single choice."""
    return "+" not in text


def apart(text: str) -> tuple[str, str]:
    """Choice and value of a single one."""
    name, _, value = text.partition("=")
    return name, value


@functools.cache
def stored() -> Mapping[str, Mapping[str, Tried]]:
    """Outcomes shipped with the package."""
    return load(STORED)


def save(found: Mapping[str, Tried], scale: Scale, file: Path) -> None:
    """Merges outcomes into a file. Other claims, scales and, for an unchanged claim, values stay."""
    every = load(file)
    for name, tried in found.items():
        of_claim = every.setdefault(name, {})
        before = of_claim.get(scale)
        known = before if before and stands(before, tried) else tried
        others = {**known["others"], **tried["others"]}
        idle = [each for each in dict.fromkeys([*unchanged(known), *unchanged(tried)]) if each not in tried["others"]]
        of_claim[scale] = {**tried, "others": {name: each for name, each in others.items() if name not in idle}}
        if idle:
            of_claim[scale]["unchanged"] = idle
    write_text(file, _text(every) + "\n", Kind.CHECKED)


def _text(every: Mapping[str, Mapping[str, Tried]]) -> str:
    papers: dict[str, _Paper] = {}
    for name in sorted(every):
        paper = papers.setdefault(name.partition("/")[0], {"values": [], "claims": {}})
        paper["claims"][name] = {scale: _packed(each, paper["values"]) for scale, each in every[name].items()}
    return in_lines(papers, 3)


def in_lines(value: object, depth: int) -> str:
    """JSON whose outer levels have a line for each item."""
    if not depth or not value or not isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, dict):
        return (
            "{\n" + ",\n".join(f"{json.dumps(key)}: {in_lines(each, depth - 1)}" for key, each in value.items()) + "\n}"
        )
    return "[\n" + ",\n".join(in_lines(each, depth - 1) for each in value) + "\n]"


def unchanged(tried: Tried) -> list[str]:
    """Choices that change no run of the claim."""
    return tried.get("unchanged", [])


def stands(before: Tried, now: Tried) -> bool:
    """True if the claim's default outcome is unchanged."""
    return (before["deciding"], before["taken"]) == (now["deciding"], now["taken"])


def movers(tried: Tried) -> list[str]:
    """Values of choices that each move the claim."""
    return sorted(text for text, each in tried["others"].items() if single(text) and each != tried["taken"])


def combined(values: Sequence[str], count: int) -> list[tuple[str, ...]]:
    """Combinations of so many values of different choices."""
    several = itertools.combinations(values, count)
    return [texts for texts in several if len({apart(text)[0] for text in texts}) == count]


def coverage(paper: str) -> str:
    """Sentence on how many pairs were tried, of those whose values each move the same claim."""
    known = [each for name, each in at(Scale.QUICK, stored()).items() if name.startswith(f"{paper}/")]
    pairs = {"+".join(texts) for each in known for texts in combined(movers(each), 2)}
    done = pairs.intersection(text for each in known for text in each["others"])
    return f"At the quick scale {len(done)} of {len(pairs)} pairs of values that move a claim were tried."


def sentence(tried: Tried | None, values: int) -> str:
    """Sentence on the outcomes of other choices and of agreeing combinations, with the number tried.

    For a claim that agrees, lists choices that do not. `values` is the number of other values.
    """
    if tried is None:
        return "no other choice was tried"
    others, taken = tried["others"], tried["taken"]
    idle = [f"no run changed with {', '.join(unchanged(tried))}"] if unchanged(tried) else []
    if not others:
        return "; ".join(["no other choice that was tried changes it", *idle])
    worth = {name: each for name, each in others.items() if single(name) or each["verdict"] == "agrees"}
    if taken["verdict"] == "agrees":
        worth = {name: each for name, each in worth.items() if each["verdict"] != "agrees"}
    moved = {name: each for name, each in worth.items() if each != taken}
    same = [name for name in worth if name not in moved]
    given = {v: [_numbered(name, each) for name, each in moved.items() if each["verdict"] == v] for v in Verdict}
    parts = [f"{verdict} with {', '.join(each)}" for verdict, each in given.items() if each]
    parts += [f"the same with {', '.join(same)}"] * bool(same)
    return f"other choices: {'; '.join([*(parts or ['every value agrees']), *idle, _how_many(tried, values)])}"


def elsewhere(tried: Tried, scale: str, values: int) -> str:
    """Like `sentence`, for a page of another scale than that of the outcomes."""
    taken = tried["taken"]
    part = f"{tried['deciding'].replace('_', ' ')}: " * (tried["deciding"] != "value")
    number = f", {part}{taken['number']}" * bool(taken["number"])
    return f"at the {scale} scale ({taken['verdict']}{number}), {sentence(tried, values)}"


def spread(tried: Tried) -> str:
    """Range of the deciding number over the values tried alone, and how many agree; empty if nothing was tried."""
    others = [each for name, each in tried["others"].items() if single(name)]
    numbers = sorted({each["number"] for each in (tried["taken"], *others) if "part" not in each} - {""}, key=_size)
    ends = f"{' to '.join(dict.fromkeys((numbers[0], numbers[-1])))}, " if numbers else ""
    agree = sum(each["verdict"] == "agrees" for each in others)
    return f"{ends}{agree} of {counted(len(others), 'other value')} agree" if others else ""


def _size(number: str) -> float:
    found = parse(number.replace("µ", "u").replace("kbps", "Kbps"))
    return found.number * found.factor if found else math.inf


def _how_many(tried: Tried, values: int) -> str:
    others = tried["others"]
    at_once = [name.count("+") + 1 for name in others]
    singles, pairs, triples = map(at_once.count, (1, 2, 3))
    agree = sum(each["verdict"] == "agrees" for name, each in others.items() if not single(name))
    of = len(combined(movers(tried), 2))
    said = f" and {pairs} of {of} pairs" + f" and {triples} triples" * bool(triples) + " of those that move it"
    said += f", {agree} of which agree" * bool(pairs)
    return f"tried: {singles} of {values} values" + said * bool(of)


def _numbered(name: str, outcome: Outcome) -> str:
    """A choice with its deciding number, named if another part decides."""
    part = f"{outcome['part'].replace('_', ' ')}: " if "part" in outcome else ""
    return f"{name} ({part}{outcome['number']})" if outcome["number"] else name
