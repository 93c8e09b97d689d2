"""`export`: results or a scenario as files of other tools."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from shortflow.errors import ConfigError, unknown_name
from shortflow.expect.network import Network
from shortflow.exports.export import Base
from shortflow.exports.kinds import KINDS
from shortflow.exports.switches import LinkedSwitch, Neighbour, Switches
from shortflow.front import options as given
from shortflow.front.command import Answer, Arg, Opt, showing
from shortflow.report.blocks import Words
from shortflow.results import Results
from shortflow.runs import plan
from shortflow.scenario import Scenario, load_scenario
from shortflow.store.directories import RECORD
from shortflow.store.files import new_directory
from shortflow.store.runs import load_run, load_store
from shortflow.tuning.record import is_tuning, load_tuning
from shortflow.tuning.verdict import sentence


def _answer(found: Sequence[str], values: Mapping[str, Any]) -> Answer:
    place = Path(values["out"])
    files = sorted(path.name for path in place.iterdir())
    said = [*(str(place / name) for name in files), *found]
    return Answer(lambda: {"files": files, "left_out": list(found)}, [Words("\n".join(said))])


@showing(_answer)
def export(
    source: Annotated[
        str | Path | Scenario | Results, Arg("Directory of stored results, or a scenario.", "STORE|SCENARIO")
    ],
    as_: Annotated[str, Opt(f"Kind of files: {', '.join(KINDS)}.", "KIND", "--as", complete=lambda: list(KINDS))],
    out: Annotated[str | Path, Opt("New directory to write the files to.", "DIR", read=Path)],
    *,
    scheme: Annotated[
        str, replace(given.SCHEME, help="Scheme whose marking thresholds are exported from a scenario, for sonic.")
    ] = "dctcp",
    base: Annotated[
        str | Path | None,
        Opt("Write what differs from this config_db.json alone, for sonic.", "FILE", read=Path),
    ] = None,
    queue: Annotated[int | None, given.whole("Queue of the ports in --base whose profile changes.", 0, 63)] = None,
) -> Sequence[str]:
    """Write results or a scenario as files that other tools read.

    `fct.txt` writes HPCC's file of flow completion times for each run, which HPCC's plotting scripts read. `csv` writes
    every table. `sonic` writes WRED and buffer profiles for `config load`, from a scenario or from a tuning's choice.

    In Python the source may be `Results` too. Returns sentences on contents that the files cannot have.
    """
    if as_ not in KINDS:
        raise unknown_name("kind of files", as_, KINDS)
    kind, place = KINDS[as_], Path(out)
    if place.exists() or place.is_symlink():
        raise ConfigError(f"--out: {place} exists; name a new directory")
    if kind.write_settings:
        settings, switches = _settings(source, scheme)
        with new_directory(place) as directory:
            return kind.write_settings(settings, Base(Path(base), queue) if base else None, switches, directory)
    what = _found(source)
    write = kind.write_runs if isinstance(what, Results) else kind.write_scenario
    if write is None:
        needed = "a scenario" if isinstance(what, Results) else "stored results, such as those of compare --out DIR"
        raise ConfigError(f"--as {as_}: needs {needed}, not {source}")
    with new_directory(place) as directory:
        return write(what, directory)  # type: ignore[arg-type]


def _found(source: str | Path | Scenario | Results) -> Results | Scenario:
    """Stored results with tables, or a scenario."""
    if isinstance(source, Results | Scenario):
        return source
    path = Path(source)
    if (path / RECORD).exists():
        return Results.of_point([load_run(path)], {})
    return load_store(path).with_tables if path.is_dir() else load_scenario(str(source))


def _settings(source: str | Path | Scenario | Results, scheme: str) -> tuple[Mapping[str, str], Switches]:
    """Settings and switches of a scenario under a scheme, or the settings of a tuning's chosen trial without switches.

    Raises `ConfigError` for results, or for a tuning without a chosen trial.
    """
    if isinstance(source, Results):
        raise ConfigError("--as sonic: needs a scenario or a tuning, not results")
    if not isinstance(source, Scenario) and is_tuning(Path(source)):
        tuning = load_tuning(source)
        if tuning.chosen is None:
            raise ConfigError(f"{source}: {sentence(tuning)}")
        return tuning.chosen.settings, {}
    loaded = source if isinstance(source, Scenario) else load_scenario(str(source))
    (work,) = plan(loaded, [scheme], [1], {})
    settings = {key: value for key, value, _ in [*work.scenario.core.resolved(), *work.scheme.resolved()]}
    return settings, _switches(loaded)


def _switches(scenario: Scenario) -> Switches:
    """Switches with the headroom in bytes that the simulator requires for each of their links."""
    network = Network.of(scenario)
    headroom = {(end, switch): needed for end, switch, needed in scenario.core.headrooms()}
    found: dict[str, list[Neighbour]] = {}
    for (node, switch), wire in network.links.items():
        if switch not in network.hosts:
            found.setdefault(switch, []).append(Neighbour(node, headroom[node, switch], wire.rate_bps))
    return {name: LinkedSwitch(network.tier(name), ends) for name, ends in found.items()}
