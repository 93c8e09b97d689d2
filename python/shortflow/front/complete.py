"""Shell completion of registered names, and of the keys of scenario and schemes on the command line.

These functions run at each press of Tab. They must not fail, print or be slow, so they import no table library.
"""

from collections.abc import Iterable

import typer

from shortflow._core import Scheme, registry
from shortflow.errors import ConfigError
from shortflow.metrics.catalogue import possible
from shortflow.scenario import Scenario, load_scenario, shipped_scenarios


def scenarios(incomplete: str) -> list[str]:
    """Names of shipped scenarios. If none matches, shells offer files."""
    return [name for name in shipped_scenarios() if name.startswith(incomplete)]


def schemes(incomplete: str) -> list[str]:
    """Names of registered schemes, also after a comma."""
    return _last_of_list((entry["name"] for entry in registry()["schemes"]), incomplete)


def metrics(context: typer.Context, incomplete: str) -> list[str]:
    """Names of the scenario's metrics, also after a comma."""
    scenario = _scenario(context)
    return _last_of_list(possible(scenario.classes), incomplete) if scenario else []


def keys(context: typer.Context, incomplete: str) -> list[str]:
    """Keys of the scenario and of the schemes given earlier, each with a trailing `=`."""
    scenario = _scenario(context)
    found = [*scenario.source.parameters, *(setting["key"] for setting in scenario.resolved())] if scenario else []
    for name in str(context.params.get("schemes") or context.params.get("scheme") or "").split(","):
        try:
            found += [key for key, _, _ in Scheme.parse(name, ()).resolved()]
        except ConfigError:
            continue
    return [f"{key}=" for key in dict.fromkeys(found) if key.startswith(incomplete)]


def _last_of_list(names: Iterable[str], incomplete: str) -> list[str]:
    before, comma, last = incomplete.rpartition(",")
    taken = before.split(",")
    return [f"{before}{comma}{name}" for name in names if name.startswith(last) and name not in taken]


def _scenario(context: typer.Context) -> Scenario | None:
    # Typer leaves arguments unparsed while the last option lacks its value.
    named = context.params.get("scenario") or next(iter(context.args), "")
    try:
        return load_scenario(named)
    except (ConfigError, OSError):
        return None
