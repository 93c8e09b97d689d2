"""What a paper leaves unspecified, and what we chose: named, so that another choice can be tried on the whole paper."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from shortflow.errors import unknown_name
from shortflow.scenario import Settings
from shortflow.terms import pair


@dataclass(frozen=True)
class Choice:
    """One thing a paper does not say."""

    about: str
    """What it is, in one line."""
    values: Mapping[str, Settings]
    """The settings that make each value, by its name. The first is the one that recipes take."""

    @property
    def taken(self) -> str:
        """The name of the value that recipes take."""
        return next(iter(self.values))

    @property
    def others(self) -> list[str]:
        """The names of the other values."""
        return list(self.values)[1:]


@dataclass(frozen=True)
class Change:
    """Another value in place of the one that recipes take."""

    name: str
    value: str
    before: Settings
    after: Settings

    @property
    def text(self) -> str:
        """As it stands on the command line."""
        return f"{self.name}={self.value}"


def changes(choices: Mapping[str, Choice], chosen: Mapping[str, str]) -> list[Change]:
    """Those of the chosen values that these choices have and that differ from the values taken."""
    known = {name: (choices[name], value) for name, value in chosen.items() if name in choices}
    return [
        Change(name, value, choice.values[choice.taken], choice.values[value])
        for name, (choice, value) in known.items()
        if value in choice.others
    ]


def parse_choices(values: Iterable[str], known: Mapping[str, Collection[str]]) -> dict[str, str]:
    """The `--choice` options as a mapping; `known` has the values of each choice.

    Unknown names and values are errors that suggest the nearest.
    """
    chosen = {}
    for text in values:
        name, value = pair(text, "--choice", "NAME=VALUE, such as initial-alpha=1")
        if name not in known:
            raise unknown_name("choice", name, sorted(known))
        if value not in known[name]:
            raise unknown_name(f"value of {name}", value, known[name])
        chosen[name] = value
    return chosen
