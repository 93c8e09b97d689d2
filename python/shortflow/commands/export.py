"""`export`: results or a scenario as files of other tools."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from shortflow.errors import ConfigError, unknown_name
from shortflow.exports.kinds import KINDS
from shortflow.front.command import Answer, Arg, Opt, showing
from shortflow.report.blocks import Words
from shortflow.results import Results
from shortflow.scenario import Scenario, load_scenario
from shortflow.store.directories import RECORD
from shortflow.store.files import new_directory
from shortflow.store.runs import load_run, load_store


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
    out: Annotated[str | Path, Opt("Write the files into this new directory.", "DIR", read=Path)],
) -> Sequence[str]:
    """Write results or a scenario as files that other tools read.

    `fct.txt`: HPCC's file of flow completion times, one for each run, for its plotting scripts. `csv`: every table.

    In Python the source may be `Results` too. Returns sentences on contents that the files cannot have.
    """
    if as_ not in KINDS:
        raise unknown_name("kind of files", as_, KINDS)
    kind, place = KINDS[as_], Path(out)
    if place.exists() or place.is_symlink():
        raise ConfigError(f"--out: {place} exists; name a new directory")
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
