"""`run`: one scenario, one scheme, one seed."""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from shortflow import bursts, front, report, store
from shortflow._core import Capture
from shortflow.capture import TRACE, Captured, FlowChoice, PerfettoChoice, port_of, recording
from shortflow.errors import ConfigError
from shortflow.front import console, notes
from shortflow.front import options as given
from shortflow.front.command import Answer, Opt, showing
from shortflow.front.progress import reporting
from shortflow.results import Results
from shortflow.runner import run_one
from shortflow.runs import plan
from shortflow.scenario import Scenario, Settings, as_pairs
from shortflow.shown import Result
from shortflow.simulate import cores_for


def _answer(found: Result, values: Mapping[str, Any]) -> Answer:
    alone = _alone(found, values["settings"])
    return Answer(lambda: report.document.results_table(alone), _blocks(alone))


def _blocks(alone: Results) -> "Iterator[report.blocks.Block]":
    yield from report.tables.run_blocks(alone, " (all metrics: --json)")
    if omitted := report.notes.omitted_flows(alone):
        yield report.blocks.Words("\n".join(f"{text}." for text in omitted))


def _alone(found: Result, settings: Settings | None) -> Results:
    return Results.of_point([found], dict(as_pairs(settings)))


@showing(_answer)
def run(
    scenario: given.ScenarioName,
    scheme: given.SchemeName = "dctcp",
    seed: given.Seed = 1,
    *,
    settings: given.Settings = None,
    out: given.OutDirectory = None,
    csv: Annotated[bool, Opt("Also write the flow table as a CSV file. Needs --out.")] = False,
    trace: Annotated[
        str | None,
        Opt(
            "Write each packet event of some flows as Parquet to FILE (default: trace.parquet in the --out directory). "
            "FLOWS is rows of the flow table such as 0,5-9, classes, or all.",
            "FLOWS[=FILE]",
        ),
    ] = None,
    pcap: Annotated[
        Sequence[str] | None,
        Opt(
            "Write the packets that leave a port, such as 's0->h22', as pcapng to FILE (default: a file in the --out "
            "directory). Repeat the option for more ports.",
            "PORT[=FILE]",
            many=True,
        ),
    ] = None,
    perfetto: Annotated[
        str | Path | None,
        Opt(
            "Write flows, queues, rates, windows, marks and losses over time to FILE. Open FILE in ui.perfetto.dev.",
            "FILE",
        ),
    ] = None,
    perfetto_only: Annotated[
        Sequence[str] | None,
        Opt(
            "Limit --perfetto to some flows (flows=0,5-9 or flows=CLASS), ports (ports=s0->h22) or a time "
            "(time=10ms:20ms). Repeat the option to limit several.",
            "TERM",
            many=True,
        ),
    ] = None,
    cores: Annotated[
        int,
        given.whole(
            "Maximum number of cores for this run. Several cores need a large network and do not change the result. To "
            "run many simulations at once, use compare --jobs."
        ),
    ] = 1,
    watch: Annotated[
        bool, Opt("Draw the measured queue and the congestion windows in the terminal during the run.")
    ] = False,
    json: Annotated[bool, Opt("Print one JSON document instead of tables.")] = False,
    progress: given.Progress = None,
) -> Result:
    """Simulate a scenario once, with one scheme and one seed, and print its metrics.

    Example: shortflow run incast --scheme dctcp --set servers=20 --out result

    In Python, a scheme is a name of `shortflow list schemes`, a name with its own settings (`"xdctcp+g=0.09"`, or
    typed: `schemes.Xdctcp(g=0.09)`), `"TRANSPORT over QUEUE"`, `"FILE.toml:NAME"`, `"FILE.py:CLASS"`, or a subclass of
    `CongestionControl`. `settings` may change the scenario and the scheme. Equal scenario, scheme and seed give equal
    `digest`s everywhere, on any number of cores. If fewer than `cores` can be used, `provenance` has the reason as
    `fewer_cores`. `progress` is a bar in notebooks and terminals, `False`, or a function that takes the progress.
    Raises `ConfigError` for invalid arguments; a `SimulationError` is a fault of the simulator.
    """
    if isinstance(cores, bool) or not isinstance(cores, int) or cores < 1:
        raise ConfigError(f"cores: {cores!r} is not a whole number from 1 on")
    if csv and not out:
        raise ConfigError("--csv: needs --out DIR, the directory to write to")
    if isinstance(scheme, str) and "," in scheme:
        raise ConfigError(
            f"--scheme {scheme}: expected one scheme, with settings as NAME+KEY=VALUE; `shortflow compare` runs several"
        )
    if watch and (json or trace or pcap or perfetto):
        raise ConfigError("--watch: cannot be combined with --json, --trace, --pcap or --perfetto; leave these out")
    place = Path(out) if out else None
    if place:
        store.directories.check_target(place)
    (planned,) = plan(given.scenario_with(scenario, settings), [scheme], given.seed_list([seed]), settings)
    work = replace(planned, cores=cores)
    if place:
        store.directories.check_same_run(place, work.key)
    notes.note_warnings(work.scenario, [work.scheme])
    taken, why = cores_for(work, is_captured=watch or bool(trace or pcap or perfetto))
    if why:
        console.note(f"cores: using {taken} of {cores}: {why}")
    label = f"{work.scenario.name}, {work.scheme.name}"
    drawn = _perfetto(work.scenario, perfetto, perfetto_only or [], trace)
    with _recording(work.scenario, trace, pcap or [], drawn, place) as (capture, captured):
        unwatched = contextlib.nullcontext((capture, progress))
        watching = front.terminal.watching(work.scenario, label) if watch else unwatched
        with watching as (taken_by, shown), reporting(label, shown) as bar:
            result = Result.showing(run_one(work, bar, taken_by))
        if captured and captured.perfetto and drawn:
            captured.perfetto.finish(result, drawn[0].flows.expression)
        if place:
            store.directories.write_run(result, place, csv=csv)
    if place:
        with reporting(f"{work.scenario.name}, its largest burst", progress) as bar:
            bursts.keep_bursts([replace(store.directories.in_directory(place), run=work)], progress=bar)
        console.note(f"result: {place}")
    _note_captured(captured, trace, _missing(result, captured, trace, drawn))
    notes.note_faults(result.meta["drops"])
    alone = _alone(result, settings)
    notes.note_about([*report.notes.notes_on_results(alone), *filter(None, [report.caveats.unfinished(alone)])])
    return result


def _perfetto(
    scenario: Scenario, file: str | Path | None, only: Sequence[str], trace: str | None
) -> tuple[PerfettoChoice, Path] | None:
    """Choice and file of the requested trace for Perfetto. None if no such trace is requested."""
    if file is None:
        if only:
            raise ConfigError(f"--perfetto-only {only[0]}: needs --perfetto FILE")
        return None
    if trace:
        raise ConfigError("--perfetto: cannot be combined with --trace; do two runs, which are equal")
    return PerfettoChoice.parse(only, scenario), Path(file)


@contextlib.contextmanager
def _recording(
    scenario: Scenario,
    trace: str | None,
    pcaps: Sequence[str],
    drawn: tuple[PerfettoChoice, Path] | None,
    out: Path | None,
) -> Iterator[tuple[Capture | None, Captured | None]]:
    """The capture for the requested traces and port captures. None if neither is requested."""
    if not trace and not pcaps and not drawn:
        yield None, None
        return

    def target(option: str, file: str, usual: str) -> Path:
        if file:
            return Path(file)
        if out is None:
            raise ConfigError(f"{option}: names no file; add =FILE, or --out DIR")
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
            raise ConfigError(f"--pcap {each}: {port} is captured twice; name each port once")
        files[port] = target(f"--pcap {each}", file, f"{port.replace('->', '-')}.pcapng")
    paths = [path.resolve() for path in [*files.values(), *(each[1] for each in (wanted, drawn) if each)]]
    if twice := next((path for path in paths if paths.count(path) > 1), None):
        raise ConfigError(f"{twice}: is named twice; name a file for each output")
    with recording(scenario, trace=wanted, pcaps=files, perfetto=drawn, result=out) as found:
        yield found


def _missing(
    result: Result, captured: Captured | None, trace: str | None, drawn: tuple[PerfettoChoice, Path] | None
) -> str:
    """End of a note if nothing was captured: the rows of the flow table, or that no event lies in the chosen limits."""
    nothing = bool(trace) and captured is not None and not captured.rows
    if drawn:
        nothing = result.flows.filter(drawn[0].flows.expression).is_empty()
    if not nothing:
        is_empty = captured is not None and captured.perfetto is not None and not captured.perfetto.events.total()
        return "; no event of the chosen flows lies in the chosen time and at the chosen ports" if is_empty else ""
    return f"; the flow table has rows 0 to {len(result.flows) - 1}" if len(result.flows) else "; there are no flows"


def _note_captured(captured: Captured | None, trace: str | None, missing: str) -> None:
    if captured is None:
        return
    for path, size in captured.bytes.items():
        console.note(f"captured: {path} ({size / 1e6:,.3g} MB)")
    if trace:
        console.note(f"trace: {captured.rows:,} rows{missing}")
    if drawn := captured.perfetto:
        console.note(f"perfetto: {drawn.events.total():,} events, written in {drawn.seconds:.1f} s{missing}")
