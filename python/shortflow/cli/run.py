"""`shortflow run`: one scenario, one scheme, one seed."""

import contextlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from shortflow._core import Capture
from shortflow.capture import TRACE, Captured, FlowChoice, port_of, recording
from shortflow.cli import console
from shortflow.cli.options import (
    Json,
    OutDirectory,
    ScenarioName,
    SchemeName,
    Seed,
    SetValues,
    parse_settings,
    scenario_with,
    whole_number,
)
from shortflow.errors import ConfigError
from shortflow.lazy import bursts, stored, tables, terminal
from shortflow.lazy import watch as watching
from shortflow.results import Results
from shortflow.runner import Progress, run_one
from shortflow.runs import plan
from shortflow.scenario import Scenario
from shortflow.simulate import cores_for


def run(
    scenario: ScenarioName,
    scheme: SchemeName = "dctcp",
    seed: Seed = 1,
    set_values: SetValues = None,
    out: OutDirectory = None,
    csv: Annotated[bool, typer.Option("--csv", help="Write the flow table as CSV too (with --out).")] = False,
    trace: Annotated[
        str | None,
        typer.Option(
            metavar="FLOWS[=FILE]",
            help="Write what happens to each packet of these flows as Parquet, into FILE or into the result directory: "
            "rows of the flow table such as 0,5-9, classes, or all.",
        ),
    ] = None,
    pcap: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PORT[=FILE]",
            help="Write the packets that leave a port, such as 's0->h22', as pcapng, into FILE or into the result "
            "directory.",
        ),
    ] = None,
    cores: Annotated[
        int,
        typer.Option(
            metavar="NUMBER",
            parser=whole_number(1),
            help="Simulate parts of a large network on so many cores at most, where that is worth it. Results are the "
            "same. Several runs are better done at once: compare --jobs.",
        ),
    ] = 1,
    watch: Annotated[
        bool, typer.Option("--watch", help="Draw the bottleneck's queue and the windows while the run goes on.")
    ] = False,
    json: Json = False,
) -> None:
    """Run a scenario once."""
    settings = parse_settings(set_values)
    if csv and not out:
        raise ConfigError("--csv: writes into the result directory, so it needs --out DIR")
    if "," in scheme:
        raise ConfigError(
            f"--scheme {scheme}: one scheme, whose settings begin with + each; `shortflow compare` runs several"
        )
    if watch and (json or trace or pcap):
        raise ConfigError("--watch: draws for people, of all flows; leave out --json, --trace and --pcap")
    if out:
        stored.check_target(out)
    (planned,) = plan(scenario_with(scenario, settings), [scheme], [seed], settings)
    work = replace(planned, cores=cores)
    if out:
        stored.check_same_run(out, work.key)
    console.note_warnings(work.scenario, [work.scheme])
    taken, why = cores_for(work, is_captured=watch or bool(trace or pcap))
    if why:
        console.print_note(f"cores: {taken} of {cores}, as {why}")
    with _recording(work.scenario, trace, pcap or [], out) as (capture, captured):
        with _progress(work.scenario, scheme, watch) as (of_watch, progress):
            result = run_one(work, progress, of_watch or capture)
        if out:
            stored.write_run(result, out, csv=csv)
    if out:
        with console.progress_bar(f"{work.scenario.name}, its largest burst") as progress:
            bursts.keep_bursts([(work, out)], progress=progress)
        console.print_note(f"result: {out}")
    _note_captured(captured, trace, len(result.flows) if trace else 0)
    comparison = Results.of_point([result], settings)
    console.note_faults(result.meta["drops"])
    console.note_about(comparison)
    if json:
        console.print_json(comparison.document())
        return
    terminal.print_result(tables.comparison_tables(comparison))


@contextlib.contextmanager
def _progress(scenario: Scenario, scheme: str, watch: bool) -> Iterator[tuple[Capture | None, Progress]]:
    """A bar, or a picture and what the run takes for it."""
    label = f"{scenario.name}, {scheme}"
    if watch:
        with watching.watching(scenario, label) as drawn:
            yield drawn
        return
    with console.progress_bar(label) as progress:
        yield None, progress


@contextlib.contextmanager
def _recording(
    scenario: Scenario, trace: str | None, pcaps: list[str], out: Path | None
) -> Iterator[tuple[Capture | None, Captured | None]]:
    """What the run takes to write a packet trace and captures; nothing where none is asked for."""
    if not trace and not pcaps:
        yield None, None
        return

    def target(option: str, file: str, usual: str) -> Path:
        if file:
            return Path(file)
        if out is None:
            raise ConfigError(f"{option}: into which file? Name it behind a `=`, or a result directory with --out DIR")
        return out / usual

    wanted = None
    if trace:
        flows, _, file = trace.partition("=")
        wanted = FlowChoice.parse(flows, scenario), target(f"--trace {trace}", file, TRACE)
    files: dict[str, Path] = {}
    for each in pcaps:
        name, _, file = each.partition("=")
        port = port_of(name, scenario)
        if port in files:
            raise ConfigError(f"--pcap {each}: {port} is captured already; name each port once")
        files[port] = target(f"--pcap {each}", file, f"{port.replace('->', '-')}.pcapng")
    paths = [path.resolve() for path in [*files.values(), *([wanted[1]] if wanted else [])]]
    if twice := next((path for path in paths if paths.count(path) > 1), None):
        raise ConfigError(f"{twice}: is named for two things; each needs a file of its own")
    with recording(scenario, trace=wanted, pcaps=files, result=out) as found:
        yield found


def _note_captured(captured: Captured | None, trace: str | None, flows: int) -> None:
    """Say what was captured, and how much it is."""
    if captured is None:
        return
    for path, size in captured.bytes.items():
        console.print_note(f"captured: {path} ({size / 1e6:,.3g} MB)")
    if trace:
        few = "" if captured.rows else f"; the flow table has the rows 0 to {flows - 1}"
        console.print_note(f"trace: {captured.rows:,} rows{few}")
