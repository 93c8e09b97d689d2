"""Schemes: a transport with the queue discipline that it needs, and which settings belong to which scheme."""

from collections.abc import Sequence

from shortflow._core import Scheme
from shortflow.errors import ConfigError, did_you_mean
from shortflow.scenario import Settings, as_pairs

SCHEME_PREFIXES = ("transport.", "queue.")


def split_settings(settings: Settings) -> tuple[Settings, Settings]:
    """The settings of the scenario, and those of schemes (`transport.…` and `queue.…`)."""
    of_schemes = {key: value for key, value in settings.items() if key.startswith(SCHEME_PREFIXES)}
    of_scenario = {key: value for key, value in settings.items() if key not in of_schemes}
    return of_scenario, of_schemes


def load_schemes(names: Sequence[str], settings: Settings | None = None) -> list[Scheme]:
    """The named schemes, each with those of the settings that it has a parameter for.

    A setting that none of them accepts is an error.
    """
    settings = settings or {}
    repeated = next((name for i, name in enumerate(names) if name in names[:i]), None)
    if not names or repeated:
        raise ConfigError(f"schemes: {repeated!r} is named twice" if repeated else "schemes: name at least one scheme")
    plain = [Scheme.parse(name, []) for name in names]
    for key in settings:
        if not any(Scheme.accepts(name, key) for name in names):
            raise _unaccepted(key, plain)
    return [
        Scheme.parse(name, as_pairs({key: value for key, value in settings.items() if Scheme.accepts(name, key)}))
        for name in names
    ]


def _unaccepted(key: str, schemes: Sequence[Scheme]) -> ConfigError:
    known = list(dict.fromkeys(parameter for scheme in schemes for parameter, _, _ in scheme.resolved()))
    names = ", ".join(scheme.name for scheme in schemes)
    has = f"known: {', '.join(known)}" if known else "there are none"
    return ConfigError(f"{key}: no parameter of {names}{did_you_mean(key, known)} ({has})")
