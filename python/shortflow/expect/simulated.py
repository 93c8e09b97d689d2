"""Short simulations to compare with expected numbers: one seed of the scheme, and ideal schedulers."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from shortflow import _core
from shortflow.expect.expected import ALONE, IDEAL_PS, IDEAL_SRPT, UTILISATION, Expected, Reading
from shortflow.expect.numbers import Arithmetic
from shortflow.expect.topics import expected_numbers
from shortflow.lazy import pl
from shortflow.result import Result
from shortflow.runner import Ask, Wanted
from shortflow.runs import Plan, Run

MOST_HOPS = 5e6
"""Packet-hops of a simulation that takes about two seconds."""
_MOST_FLOWS = 30_000
"""Number of flows for which a run of an ideal scheduler takes about two seconds."""


@dataclass(frozen=True)
class Expectation:
    """Expected numbers of a scenario, with the simulated numbers if there was a simulation."""

    arithmetic: Arithmetic
    scheme: str
    numbers: Sequence[Expected]
    omitted: str = ""
    """Reason why the scheme was not simulated. Empty if it was."""


def marks_above_threshold(scheme: str) -> bool:
    """True if the scheme's switches mark packets that find a queue longer than K."""
    base, _, queue = scheme.partition("+")[0].partition(" over ")
    known = {each["name"]: each["queue"] for each in _core.registry()["schemes"]}
    return (queue or known.get(base, "")) == "step-ecn"


def expectation(plan: Plan, *, simulate: bool = True, seed: int = 1) -> Ask[Expectation]:
    """Computes the expected numbers. Simulates the scenario once if the run is short."""
    (run,) = plan.runs([seed])
    arithmetic = Arithmetic.of(run.scenario, marks=marks_above_threshold(run.scheme.name))
    found = Expectation(arithmetic, run.scheme.name, list(expected_numbers(arithmetic)))
    if not simulate:
        return replace(found, omitted="--no-simulate was given")
    runs, omitted = wanted_runs(plan, run, arithmetic, found.numbers)
    done = {result.scheme: result for result in ((yield Wanted(runs, tables=False)) if runs else [])}
    numbers = [_beside(each, done, run.scheme.name) for each in found.numbers]
    return replace(found, numbers=numbers, omitted=omitted)


def _beside(number: Expected, done: dict[str, Result], scheme: str) -> Expected:
    """An expected number with its simulated number."""
    reading, result = number.reading, done.get(number.reading.scheme or scheme) if number.reading else None
    is_least = bool(reading and result and reading.metric in result.lower_bounds)
    return replace(number, simulated=read(reading, done, scheme), is_least=is_least)


def wanted_runs(plan: Plan, run: Run, arithmetic: Arithmetic, numbers: Sequence[Expected]) -> tuple[list[Run], str]:
    """Runs that take at most about two seconds each, and the reason if the scheme's own run is not among them."""
    hops = arithmetic.packet_hops()
    is_short = hops <= MOST_HOPS
    runs = [run] if is_short else []
    known = sum(each["flows"] for each in arithmetic.from_start.scenario.expected_flows())
    if not run.scenario.core.ideal_schedulers()[1] and known <= _MOST_FLOWS:
        schedulers = {each.reading.scheme for each in numbers if each.reading} & {IDEAL_PS, IDEAL_SRPT}
        runs += Plan(run.scenario, sorted(schedulers)).runs([run.seed]) if schedulers else []
    too_long = f"a run has about {hops / 1e6:,.3g} million packet-hops, and the limit is {MOST_HOPS / 1e6:g} million"
    return runs, "" if is_short else f"{too_long} (about two seconds)"


def read(reading: Reading | None, done: dict[str, Result], scheme: str) -> float | None:
    """The simulated number for a reading; None if no run has the number."""
    result = done.get(reading.scheme or scheme) if reading else None
    if reading is None or result is None:
        return None
    if reading.metric == ALONE:
        alone = result.flows.filter(pl.col("class") == reading.flow_class)["ideal_fct_s"].mean()
        return None if alone is None else float(alone)  # type: ignore[arg-type]
    if reading.metric == UTILISATION:
        used = result.ports.filter(pl.col("port").is_in(list(reading.ports)))["utilisation"].mean()
        return None if used is None else float(used)  # type: ignore[arg-type]
    return result.metrics.get(reading.metric)
