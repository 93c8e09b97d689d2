"""Details that a paper leaves open, with the value taken and its alternatives."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from shortflow.errors import unknown_name
from shortflow.scenario import Settings
from shortflow.terms import pair


@dataclass(frozen=True)
class Choice:
    """An unspecified detail of a paper."""

    about: str
    """Description in one line."""
    values: Mapping[str, Settings]
    """Settings of each value by name. Recipes take the first."""
    undecided: bool = False
    """The paper's own numbers do not tell the values apart: verdicts are the range over all."""

    @property
    def taken(self) -> str:
        """Name of the value that recipes take."""
        return next(iter(self.values))

    @property
    def others(self) -> list[str]:
        """Names of the alternatives."""
        return list(self.values)[1:]


@dataclass(frozen=True)
class Change:
    """An alternative in place of the value that recipes take."""

    name: str
    value: str
    before: Settings
    after: Settings

    @property
    def text(self) -> str:
        """The change as a command-line option."""
        return f"{self.name}={self.value}"


def changes(choices: Mapping[str, Choice], chosen: Mapping[str, str]) -> list[Change]:
    """Chosen alternatives that differ from the values taken."""
    known = {name: (choices[name], value) for name, value in chosen.items() if name in choices}
    return [
        Change(name, value, choice.values[choice.taken], choice.values[value])
        for name, (choice, value) in known.items()
        if value in choice.others
    ]


def parse_choices(values: Iterable[str], known: Mapping[str, Collection[str]]) -> dict[str, str]:
    """`--choice` options as a mapping; `known` has the values of each choice.

    Raises an error with the nearest name for unknown names and values.
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
