"""Stored outcomes of claims under other choices, and sentences on these outcomes."""

import functools
import itertools
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple, TypedDict

from shortflow.api.files import Kind, read_json_file, write_text
from shortflow.api.judge import Verdict
from shortflow.api.numbers import counted, parse
from shortflow_papers import papers
from shortflow_papers.lab.study import Scale

STORED = Path(papers.__file__).with_name("tried.json")
"""Stored results of `reproduce --sensitivity`."""
_SHORT = 3
_LETTERS = {verdict.value[:_SHORT]: verdict for verdict in Verdict}
"""Verdicts by their abbreviations in a file: `agr -0.39 %` is a claim that agrees, whose number is -0.39 %."""
_AS_TAKEN, _NO_CHANGE = "=", "-"
"""Marks in a file for an outcome that equals that of the choices as taken, and for values that changed no run."""


class Outcome(NamedTuple):
    """Outcome of a claim: its verdict and deciding number."""

    verdict: str
    number: str
    """Deciding number with unit; empty without a number."""
    part: str = ""
    """Name of the deciding number, if another number decides than with the choices as taken."""

    @classmethod
    def read(cls, said: str) -> "Outcome":
        """Reads an outcome from its text in a file, such as `dif -0.69 @at load 0.2`."""
        head, _, part = said.partition(" @")
        verdict, _, number = head.partition(" ")
        return cls(_LETTERS[verdict].value, number, part)

    @property
    def text(self) -> str:
        """The outcome as text for a file."""
        return f"{self.verdict[:_SHORT]} {self.number}".strip() + f" @{self.part}" * bool(self.part)

    @property
    def numbered(self) -> str:
        """The deciding number in brackets, with its name if another number decides."""
        part = f"{self.part.replace('_', ' ')}: " * bool(self.part)
        return f" ({part}{self.number})" * bool(self.number)


@dataclass
class Tried:
    """Outcomes of a claim with the choices as taken, and with other values that its runs follow."""

    deciding: str
    """Name of the deciding number with the choices as taken."""
    taken: Outcome
    others: dict[str, Outcome] = field(default_factory=dict)
    """Outcomes by values, such as `handshake=on`, or `handshake=on+recovery=sack` for several values at once."""
    unchanged: list[str] = field(default_factory=list)
    """Values that change no digest of the claim's runs, and therefore test nothing."""

    def stands(self, now: "Tried | None") -> bool:
        """True if the claim has the same outcome with the choices as taken in `now`, so that other outcomes hold."""
        return now is not None and (self.deciding, self.taken) == (now.deciding, now.taken)

    @property
    def singles(self) -> dict[str, Outcome]:
        """Outcomes of single values."""
        return {text: each for text, each in self.others.items() if "+" not in text}

    @property
    def movers(self) -> list[str]:
        """Single values of choices that change the claim's outcome."""
        return sorted(text for text, each in self.singles.items() if each != self.taken)

    def sentence(self, values: int) -> str:
        """Sentence on the outcomes of single values and of agreeing combinations, with the numbers of both tried.

        For a claim that agrees, the sentence lists only values under which it does not. `values` is the number of all
        other values of the paper's choices.
        """
        idle = [f"no run changed with {', '.join(self.unchanged)}"] if self.unchanged else []
        if not self.others:
            return "; ".join(["no other choice that was tried changes it", *idle])
        worth = {name: each for name, each in self.others.items() if "+" not in name or each.verdict == "agrees"}
        if self.taken.verdict == "agrees":
            worth = {name: each for name, each in worth.items() if each.verdict != "agrees"}
        moved = {name: each for name, each in worth.items() if each != self.taken}
        given = {v: [name + each.numbered for name, each in moved.items() if each.verdict == v] for v in Verdict}
        parts = [f"{verdict} with {', '.join(each)}" for verdict, each in given.items() if each]
        same = [name for name in worth if name not in moved]
        parts += [f"the same with {', '.join(same)}"] * bool(same)
        return f"other choices: {'; '.join([*(parts or ['every value agrees']), *idle, self._how_many(values)])}"

    def elsewhere(self, scale: str, values: int) -> str:
        """Sentence for a page of another scale than the outcomes' `scale`, which the sentence names."""
        part = f"{self.deciding.replace('_', ' ')}: " * (self.deciding != "value")
        number = f", {part}{self.taken.number}" * bool(self.taken.number)
        return f"at the {scale} scale ({self.taken.verdict}{number}), {self.sentence(values)}"

    @property
    def spread(self) -> str:
        """Range of the deciding number over single values, and number of values that agree; empty without values."""
        alone = self.singles.values()
        ends = number_span([self.taken, *alone])
        agree = sum(each.verdict == "agrees" for each in alone)
        said = f"{agree} of {counted(len(alone), 'other value')} agree"
        return ", ".join(filter(None, (ends, said))) if alone else ""

    def _how_many(self, values: int) -> str:
        at_once = [name.count("+") + 1 for name in self.others]
        singles, pairs, triples = map(at_once.count, (1, 2, 3))
        agree = sum(each.verdict == "agrees" for name, each in self.others.items() if name not in self.singles)
        of = len(combined(self.movers, 2))
        said = f" and {pairs} of {of} pairs" + f" and {triples} triples" * bool(triples) + " of those that move it"
        said += f", {agree} of which agree" * bool(pairs)
        return f"tried: {singles} of {values} values" + said * bool(of)


def number_span(outcomes: Sequence[Outcome]) -> str:
    """Text with the smallest and the largest number of the outcomes; empty without numbers.

    Outcomes that another number decides are left out.
    """
    numbers = sorted({each.number for each in outcomes if not each.part} - {""}, key=_size)
    return " to ".join(dict.fromkeys((numbers[0], numbers[-1]))) if numbers else ""


class _Paper(TypedDict):
    """A paper in a file."""

    values: list[str]
    """Values that were tried. Outcomes refer to a value by its index in this list."""
    claims: dict[str, dict[str, tuple[str, str, dict[str, str]]]]
    """By claim and scale: name of the deciding number, outcome with the choices as taken, and values by outcome.

    Values with the same outcome share one text of indices, such as `3,7,2+5`.
    """


def load_tried(file: Path) -> dict[str, dict[str, Tried]]:
    """Stored outcomes by claim and scale; empty if there is no file."""
    again = "run `reproduce --sensitivity` again"
    papers = read_json_file(file, dict[str, _Paper], again) if file.exists() else {}
    return {
        claim: {scale: _unpacked(*rows, paper["values"]) for scale, rows in of_claim.items()}
        for paper in papers.values()
        for claim, of_claim in paper["claims"].items()
    }


def _unpacked(deciding: str, taken: str, by_outcome: Mapping[str, str], values: Sequence[str]) -> Tried:
    """Outcomes of a claim from their form in a file, in which `3,2+5` stands for `values[3]`, and for 2 and 5 at once.

    `_Paper` describes the form.
    """
    found = Tried(deciding, Outcome.read(taken))
    for outcome, indices in by_outcome.items():
        texts = ["+".join(values[int(index)] for index in at_once.split("+")) for at_once in indices.split(",")]
        if outcome == _NO_CHANGE:
            found.unchanged = texts
        elif outcome == _AS_TAKEN:
            found.others |= dict.fromkeys(texts, found.taken)
        else:
            found.others |= dict.fromkeys(texts, Outcome.read(outcome))
    return found


def _packed(tried: Tried, values: dict[str, int]) -> list[Any]:
    """Outcomes of a claim in their form in a file. Adds values without an index to `values`."""
    outcomes = {text: _AS_TAKEN if each == tried.taken else each.text for text, each in tried.others.items()}
    outcomes |= dict.fromkeys(tried.unchanged, _NO_CHANGE)
    by_outcome: dict[str, list[str]] = {}
    for text, outcome in outcomes.items():
        indices = [str(values.setdefault(value, len(values))) for value in text.split("+")]
        by_outcome.setdefault(outcome, []).append("+".join(indices))
    return [tried.deciding, tried.taken.text, {outcome: ",".join(of) for outcome, of in by_outcome.items()}]


def at(scale: Scale, every: Mapping[str, Mapping[str, Tried]]) -> dict[str, Tried]:
    """Outcomes at a scale, by claim."""
    return {name: of_scale[scale] for name, of_scale in every.items() if scale in of_scale}


def together(values: Mapping[str, str]) -> str:
    """Values of choices as text, such as `handshake=on+recovery=sack`."""
    return "+".join(f"{name}={value}" for name, value in values.items())


@functools.cache
def stored() -> Mapping[str, Mapping[str, Tried]]:
    """Outcomes that are shipped with the package, by claim and scale."""
    return load_tried(STORED)


def save_tried(found: Mapping[str, Tried], scale: Scale, file: Path) -> None:
    """Merges outcomes at a scale into a file.

    Outcomes of other claims and scales stay. Outcomes of other values stay if the claim's outcome with the choices as
    taken is unchanged.
    """
    every = load_tried(file)
    for name, tried in found.items():
        of_claim = every.setdefault(name, {})
        known = of_claim[scale] if tried.stands(of_claim.get(scale)) else tried
        idle = dict.fromkeys([*known.unchanged, *tried.unchanged])
        unchanged = [each for each in idle if each not in tried.others]
        others = {name: each for name, each in {**known.others, **tried.others}.items() if name not in unchanged}
        of_claim[scale] = replace(tried, others=others, unchanged=unchanged)
    papers: dict[str, Any] = {}
    for name in sorted(every):
        values, claims = papers.setdefault(name.partition("/")[0], ({}, {}))
        claims[name] = {scale: _packed(each, values) for scale, each in every[name].items()}
    content = {name: {"values": [*values], "claims": claims} for name, (values, claims) in papers.items()}
    write_text(file, in_lines(content, 3) + "\n", Kind.CHECKED)


def in_lines(value: object, depth: int) -> str:
    """JSON with one line for each item of the outer `depth` levels."""
    if not depth or not value or not isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, dict):
        return (
            "{\n" + ",\n".join(f"{json.dumps(key)}: {in_lines(each, depth - 1)}" for key, each in value.items()) + "\n}"
        )
    return "[\n" + ",\n".join(in_lines(each, depth - 1) for each in value) + "\n]"


def combined(values: Sequence[str], count: int) -> list[tuple[str, ...]]:
    """Combinations of `count` values, each of another choice."""
    several = itertools.combinations(values, count)
    return [texts for texts in several if len({text.partition("=")[0] for text in texts}) == count]


def coverage(paper: str) -> str:
    """Sentence with the number of pairs tried, among the pairs of values that each move the same claim."""
    known = [each for name, each in at(Scale.QUICK, stored()).items() if name.startswith(f"{paper}/")]
    if not known:
        return "The option --sensitivity was not run since the set-up changed."
    pairs = {"+".join(texts) for each in known for texts in combined(each.movers, 2)}
    done = pairs.intersection(text for each in known for text in each.others)
    return (
        f"At the quick scale {len(done)} of {len(pairs)} pairs of values that move a claim were tried, drawn by a seed."
    )


def _size(number: str) -> float:
    found = parse(number.replace("µ", "u").replace("kbps", "Kbps"))
    return found.number * found.factor if found else math.inf
