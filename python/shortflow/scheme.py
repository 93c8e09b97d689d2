"""Schemes: a transport with the queue discipline that it needs, and which settings belong to which scheme."""

from collections.abc import Sequence

from shortflow._core import Scheme
from shortflow.errors import ConfigError, did_you_mean
from shortflow.scenario import Settings, as_pairs
from shortflow.transport import Transport, accepts, as_scheme, load_transport

SCHEME_PREFIXES = ("transport.", "queue.", "priority.")


def split_settings(settings: Settings) -> tuple[Settings, Settings]:
    """The settings of the scenario, and those of schemes (`transport.…`, `queue.…` and `priority.…`)."""
    of_schemes = {key: value for key, value in settings.items() if key.startswith(SCHEME_PREFIXES)}
    of_scenario = {key: value for key, value in settings.items() if key not in of_schemes}
    return of_scenario, of_schemes


def load_schemes(schemes: Sequence[str | Transport], settings: Settings | None = None) -> list[Scheme]:
    """The schemes, each with those of the settings that it has a parameter for.

    A scheme is a registered name, `FILE.py:CLASS`, or a subclass of `CongestionControl`. A setting that none of them
    accepts is an error.
    """
    settings = settings or {}
    chosen = [load_transport(scheme) if isinstance(scheme, str) and ":" in scheme else scheme for scheme in schemes]
    names = [scheme if isinstance(scheme, str) else scheme.__name__ for scheme in chosen]
    repeated = next((name for i, name in enumerate(names) if name in names[:i]), None)
    if not names or repeated:
        raise ConfigError(f"schemes: {repeated!r} is named twice" if repeated else "schemes: name at least one scheme")
    plain = [_scheme(scheme, {}) for scheme in chosen]
    for key in settings:
        if not any(_accepts(scheme, key) for scheme in chosen):
            raise _unaccepted(key, plain)
    return [
        _scheme(scheme, {key: value for key, value in settings.items() if _accepts(scheme, key)}) for scheme in chosen
    ]


def _scheme(scheme: str | Transport, settings: Settings) -> Scheme:
    pairs = as_pairs(settings)
    return Scheme.parse(scheme, pairs) if isinstance(scheme, str) else as_scheme(scheme, dict(pairs))


def _accepts(scheme: str | Transport, key: str) -> bool:
    return Scheme.accepts(scheme, key) if isinstance(scheme, str) else accepts(scheme, key)


def _unaccepted(key: str, schemes: Sequence[Scheme]) -> ConfigError:
    known = list(dict.fromkeys(parameter for scheme in schemes for parameter, _, _ in scheme.resolved()))
    names = ", ".join(scheme.name for scheme in schemes)
    has = f"known: {', '.join(known)}" if known else "there are none"
    return ConfigError(f"{key}: no parameter of {names}{did_you_mean(key, known)} ({has})")
