"""What a paper leaves unsaid, and what we chose: named, so that another choice can be tried on the whole paper."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from shortflow.errors import ConfigError, unknown_name
from shortflow.scenario import Settings


@dataclass(frozen=True)
class Choice:
    """One thing a paper does not say."""

    about: str
    """What it is, in one line."""
    taken: str
    """The name of the value that all recipes of the paper use."""
    others: Mapping[str, Settings]
    """Other values by name, and the settings that make them."""


def settings_of(choices: Mapping[str, Choice], chosen: Mapping[str, str]) -> dict[str, str]:
    """The settings of those chosen values that differ from the values taken."""
    settings: dict[str, str] = {}
    for name, value in chosen.items():
        if name in choices and value != choices[name].taken:
            settings |= {key: str(new) for key, new in choices[name].others[value].items()}
    return settings


def parse_choices(values: Iterable[str], known: Mapping[str, Choice]) -> dict[str, str]:
    """The `--choice` options as a mapping; unknown names and values are errors that suggest the nearest."""
    chosen = {}
    for text in values:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not equals or not value:
            raise ConfigError(f"--choice {text}: expected NAME=VALUE, such as initial-alpha=1")
        if name not in known:
            raise unknown_name("choice", name, sorted(known))
        if value not in (known[name].taken, *known[name].others):
            raise unknown_name(f"value of {name}", value, [known[name].taken, *known[name].others])
        chosen[name] = value
    return chosen
