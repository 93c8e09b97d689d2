"""The summary of an import: the network, the flows, the load, and data that was left out."""

from collections.abc import Mapping
from typing import TypedDict

from shortflow.imports.draft import Draft, host_rates
from shortflow.lazy import pl


class Summary(TypedDict):
    """Numbers and sentences on an import. A number is None if no file has the data."""

    files: Mapping[str, str]
    """Format of each file."""
    hosts: int | None
    switches: int | None
    links: int | None
    flows: int | None
    bytes: int | None
    span_s: float | None
    """Seconds from the first to the last start in a file. Flows that wait for other flows do not count."""
    load: float | None
    """Load of receiving hosts' links within the span, as the mean of these hosts."""
    busiest: str | None
    """Receiver with the highest load."""
    busiest_load: float | None
    schemes: list[str]
    assumed: list[str]
    notes: list[str]
    left_out: list[str]


def summary(made: Draft, files: Mapping[str, str]) -> Summary:
    """The summary of a scenario. `files` has the format of each file."""
    network, flows = made.network, made.flows
    found: Summary = {
        "files": dict(files),
        "hosts": len(network.hosts) if network else None,
        "switches": len(network.nodes) - len(network.hosts) if network else None,
        "links": len(network.links) if network else None,
        "flows": None,
        "bytes": None,
        "span_s": None,
        "load": None,
        "busiest": None,
        "busiest_load": None,
        "schemes": [str(each.value) for each in made.schemes],
        "assumed": made.assumed,
        "notes": made.notes,
        "left_out": made.left_out,
    }
    if flows is not None:
        table = flows.table
        starts = table.filter(pl.col("after") == "")["start"] if "after" in table.columns else table["start"]
        span = float(starts[-1] - starts[0])
        found |= {"flows": table.height, "bytes": int(table["bytes"].sum()), "span_s": span}
        if span > 0:
            loads = loads_by_host(made, span).sort("load", "host", descending=[True, False])
            found |= {"busiest": loads["host"][0], "busiest_load": loads["load"][0], "load": loads["load"].mean()}  # type: ignore[typeddict-item]
    return found


def loads_by_host(made: Draft, span: float) -> "pl.DataFrame":
    """Load of each receiving host: its bytes divided by the capacity of its link in `span` seconds."""
    assert made.flows
    rates = host_rates(made)
    slowest = min(rates.values())
    by_host = made.flows.table.group_by(pl.col("destination").alias("host")).agg(pl.col("bytes").sum())
    rate = pl.col("host").replace_strict(rates, default=slowest, return_dtype=pl.Float64)
    return by_host.with_columns(load=8 * pl.col("bytes") / rate / span)
