"""The traffic of a scenario: flows that files list, sizes with random starts, or assumed traffic."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from shortflow.errors import ConfigError, did_you_mean
from shortflow.imports.draft import Draft, host_rates
from shortflow.imports.parts import Flows, Plain, SizeTable, Value
from shortflow.imports.values import plain, seconds_text, time_text
from shortflow.lazy import pl
from shortflow.quantities import counted

_SIZES, _TRACE, _HOSTS = "sizes.csv", "flows.csv", "hosts.csv"
_LONGEST = 30_000.0
"""Maximum duration of a run in seconds."""
_HOST = re.compile(r"h?\d{1,5}")
_NUMBER = re.compile(r"^h(\d+)$")
"""Name of a host with a number. `h3` and `3` are the same host."""


def put_traffic(made: Draft) -> None:
    """Adds the traffic, with assumptions for missing data."""
    if made.flows is not None or made.endless:
        if made.sizes is not None:
            made.left_out.append(
                f"{made.sizes.origin}: the distribution of sizes. The listed flows have sizes of their own."
            )
        _put_flows(made)
        return
    made.values.setdefault("traffic.1.kind", Value("poisson", "assumed: no file lists flows", is_assumed=True))
    if made.sizes is not None:
        made.texts[_SIZES] = sizes_text(made.sizes)
        made.values.setdefault("traffic.1.sizes", Value({"kind": "cdf", "file": _SIZES}, made.sizes.origin))
    if made.values["traffic.1.kind"].value != "poisson":
        return
    made.assume("traffic.1.class", "imported", "the name of the flows in results")
    made.assume("traffic.1.pattern", "all-to-all", "no file says who sends to whom")
    made.assume("traffic.1.sizes", {"kind": "published", "name": "websearch"}, "no file gives sizes")
    made.assume("traffic.1.load", 0.5, "no file gives the load")
    made.assume("duration", "20ms", "no file gives a time")


def _put_flows(made: Draft) -> None:
    """Adds flows that files list. The first flow starts at 0."""
    starts = [start for start, _, _ in made.endless]
    table = None
    if made.flows is not None:
        table = made.flows.table
        if "after" not in table.columns:
            table = table.sort("start", maintain_order=True)
        known = table.filter(pl.col("after") == "") if "after" in table.columns else table
        starts += [float(known["start"][0]), float(known["start"][-1])]
    first, last = min(starts), max(starts)
    if last - first > _LONGEST:
        of = made.flows.origin if made.flows else "flows"
        raise ConfigError(
            f"{of}: starts from {seconds_text(first)} to {seconds_text(last)}: a run has at most {_LONGEST:,.0f} s. "
            "Import fewer rows, or give the unit of starts with --time"
        )
    if first > 0:
        made.notes.append(f"Starts count from the first: {seconds_text(first)} are subtracted from each.")
    digits = min(12, math.floor(-math.log10(2 * math.ulp(max(last, 1.0)))))  # as many digits as the difference can have
    if table is not None and made.flows is not None:
        waits = pl.col("after") != "" if "after" in table.columns else pl.lit(False)
        moved = pl.when(waits).then(pl.col("start")).otherwise(pl.col("start") - first)
        table = table.with_columns(moved.round(digits).alias("start"))
        made.flows = Flows(table, made.flows.origin, made.flows.path)
        _put_trace(made, made.flows)
    _put_endless(made, first)
    span = last - first
    busy, longest = (_busy(made.flows, made), _chain(made.flows, made)) if made.flows else (0.0, 0.0)
    time, why = max(span * 1.001, span + 1e-6, 1e-5), "the run ends just after the start of the last flow"
    if busy > time:
        time, why = busy, "the link of the busiest receiver needs this time for its bytes"
    if longest:
        time, why = max(time, 10 * longest), "dependent flows need a tenth of this time on empty links"
    if made.endless:
        time, why = max(time, 0.01), "no file gives a time for the backlogged flows"
    made.assume("duration", time_text(min(time, _LONGEST)), why)
    drain = min(max(0.2, 8 * busy), _LONGEST)
    made.assume("drain", time_text(drain), "leaves time for flows to finish; a run ends with its last flow")


def _put_trace(made: Draft, flows: Flows) -> None:
    table = flows.table
    made.values["traffic.1.kind"] = Value("trace", flows.origin)
    made.values["traffic.1.file"] = Value(_TRACE, flows.origin)
    optional = [name for name in ("deadline", "class", "after") if name in table.columns]
    written = table.select("start", "source", "destination", "bytes", *optional).write_csv()
    made.texts[_TRACE] = f"# {flows.origin}\n{written}"
    if "line" in table.columns:
        made.places[_TRACE] = lambda row: f"{flows.path}:{table['line'][row]}"


def _put_endless(made: Draft, first: float) -> None:
    """Adds flows without end: a traffic entry for each start and receiver."""
    groups: dict[tuple[float, str], list[str]] = {}
    for start, *ends in made.endless:
        source, destination = ends if made.network else (f"h{end.removeprefix('h')}" for end in ends)
        groups.setdefault((start, destination), []).append(source)
    for (start, destination), sources in groups.items():
        for several in _without_repeats(sources):
            number = 1 + len({key.split(".")[1] for key in made.values if key.startswith("traffic.")})
            entry: dict[str, Plain] = {"kind": "long-lived", "class": "endless", "from": several, "to": destination}
            if len(several) > 1:
                entry["flows"] = len(several)
            if start > first:
                entry["start"] = f"{(start - first) * 1e12:.0f}ps"
            for key, value in entry.items():
                made.values[f"traffic.{number}.{key}"] = Value(value, "flows of size 0 are endless")


def _without_repeats(names: Sequence[str]) -> list[list[str]]:
    """Distributes the names over lists, none of which has a name twice."""
    found: list[list[str]] = []
    for name in names:
        free = next((each for each in found if name not in each), None)
        if free is None:
            found.append(free := [])
        free.append(name)
    return found


def _chain(flows: Flows, made: Draft) -> float:
    """Seconds until the last dependent flow ends, if no flow shares a link. 0 without dependent flows."""
    table = flows.table
    if "after" not in table.columns:
        return 0.0
    rates = host_rates(made)
    slowest = min(rates.values())
    ends: list[float] = []
    columns = ("start", "source", "destination", "bytes", "after")
    for start, source, destination, size, after in table.select(columns).iter_rows():
        before = max((ends[int(row) - 1] for row in after.split()), default=0.0)
        rate = min(rates.get(source, slowest), rates.get(destination, slowest))
        ends.append(before + start + 8 * size / rate)
    return max(ends)


def sizes_text(sizes: SizeTable) -> str:
    """A distribution in the core's form."""
    rows = "".join(f"{plain(size)},{plain(share)}\n" for size, share in sizes.points)
    return f"# {sizes.origin}\nbytes,cumulative\n{rows}"


def _busy(flows: Flows, made: Draft) -> float:
    """Seconds that the busiest receiver's link needs for all its bytes."""
    rates = host_rates(made)
    by_host = flows.table.group_by("destination").agg(pl.col("bytes").cast(pl.Float64).sum())
    slowest = min(rates.values())
    return max(float(8 * size / rates.get(host, slowest)) for host, size in by_host.iter_rows())


def put_hosts(made: Draft, hosts: Mapping[str, str]) -> int:
    """Names hosts in flows: by the user's table, or by number if the files have addresses but no network.

    Flows within one host are left out first, so that a host without other flows is not in the scenario. Returns the
    number of hosts that flows name, counted from 0, or 0 without flows. Raises `ConfigError` for an address that the
    table lacks.
    """
    if not _ends(made):
        return 0
    dropped = _leave_out_within(made)
    ends = sorted(_ends(made))
    table = _table(made, ends, hosts)
    if table:
        made.endless = [(start, table[source], table[to]) for start, source, to in made.endless]
        if made.flows is not None:
            named = (pl.col(end).replace_strict(table, return_dtype=pl.String) for end in ("source", "destination"))
            made.flows = replace(made.flows, table=made.flows.table.with_columns(named))
        dropped += _leave_out_within(made)
        kept = _ends(made)
        rows = [(each, table[each]) for each in ends if table[each] in kept]
        made.texts[_HOSTS] = pl.DataFrame(rows, schema=["address", "host"], orient="row").write_csv()
    if dropped:
        made.left_out.append(f"{counted(dropped, 'flow')} from a host to itself.")
    numbers = [each.removeprefix("h") for each in _ends(made)]
    return max((int(each) for each in numbers if each.isdigit()), default=0) + 1


def _ends(made: Draft) -> set[str]:
    found = {end for _, source, to in made.endless for end in (source, to)}
    if made.flows is not None:
        for name in ("source", "destination"):
            found.update(made.flows.table[name].unique().to_list())
    return found


def _leave_out_within(made: Draft) -> int:
    """Leaves out flows from a host to itself, and returns their number.

    Raises `ConfigError` if no other flow is left.
    """
    endless = [flow for flow in made.endless if _number(flow[1]) != _number(flow[2])]
    dropped = len(made.endless) - len(endless)
    made.endless = endless
    if made.flows is not None:
        flows, table = made.flows, made.flows.table
        source, to = (pl.col(end).str.replace(_NUMBER.pattern, "$1") for end in ("source", "destination"))
        within = source == to
        lost = table.filter(within)
        if lost.height == table.height and not endless:
            raise ConfigError(f"{flows.origin}: every flow is from a host to itself; expected flows between hosts")
        if lost.height and "after" in table.columns:
            line = lost["line"][0]
            raise ConfigError(
                f"{flows.path}:{line}: a flow from a host to itself, for which other flows wait; expected two hosts"
            )
        dropped += lost.height
        left = table.filter(~within)
        made.flows = replace(flows, table=left) if left.height else None
    elif dropped and not endless:
        raise ConfigError("flows of size 0: every flow is from a host to itself; expected flows between hosts")
    return dropped


def _number(host: str) -> str:
    return _NUMBER.sub(r"\1", host)


def _table(made: Draft, ends: Sequence[str], hosts: Mapping[str, str]) -> Mapping[str, str]:
    """Hosts by address. Empty if the flows name hosts."""
    if hosts:
        missing = [each for each in ends if each not in hosts]
        if missing:
            raise ConfigError(
                f"{made.flows.origin if made.flows else 'flows'}: {missing[0]}: no such address in --hosts"
                f"{did_you_mean(missing[0], hosts)}; {len(missing)} of {len(ends)} addresses are missing"
            )
        return hosts
    if made.network is not None or "topology.kind" in made.values or all(map(_HOST.fullmatch, ends)):
        return {}
    made.notes.append(
        f"{len(ends)} addresses became hosts h0 to h{len(ends) - 1}, in order of address; {_HOSTS} has the table."
    )
    return {each: f"h{place}" for place, each in enumerate(ends)}
