"""HPCC's `fct.txt`: one finished flow per row, with times in nanoseconds, for HPCC's `fct_analysis.py`.

Source: `qp_finish` in HPCC's `simulation/scratch/third.cc`.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from shortflow.exports.export import Export, stem
from shortflow.lazy import pl
from shortflow.quantities import counted
from shortflow.results import Results

_FIRST_PORT, _PORT = 10_000, 100
"""Source port of the first flow of a pair of hosts, and destination port of all flows, which HPCC's script expects."""


def address(host: int) -> str:
    """HPCC's address of a node: 11.a.b.1 in hexadecimal."""
    return f"{0x0B000001 + (host // 256) * 0x10000 + (host % 256) * 0x100:08x}"


def host_numbers(names: Sequence[str]) -> Mapping[str, int]:
    """Numbers of hosts: from names such as `h3` or `3` if all are distinct, else from the order of names."""
    found = [re.fullmatch(r"[A-Za-z]*(\d+)", name) for name in names]
    if all(found) and len({each[1] for each in found if each}) == len(names):
        return {name: int(each[1]) for name, each in zip(names, found, strict=True) if each}
    return {name: place for place, name in enumerate(sorted(names))}


def lines(flows: "pl.DataFrame") -> "pl.Series":
    """Rows of finished flows in the order of their finish.

    Each row has addresses, ports, bytes, start, FCT, and FCT in the empty network.
    """
    done = flows.filter(pl.col("fct_s").is_not_null()).sort("finish_s", "id")
    hosts = host_numbers(pl.concat([flows["source"], flows["destination"].alias("source")]).unique().to_list())
    table = {name: address(number) for name, number in hosts.items()}
    ends = [pl.col(end).replace_strict(table, return_dtype=pl.String) for end in ("source", "destination")]
    pair = (pl.col("id").rank("ordinal").over("source", "destination") + _FIRST_PORT - 1).cast(pl.String)
    times = [
        (pl.col(name) * 1e9).round().cast(pl.Int64).cast(pl.String) for name in ("start_s", "fct_s", "ideal_fct_s")
    ]
    port = pl.lit(str(_PORT))
    return done.select(pl.concat_str([*ends, pair, port, pl.col("size_bytes").cast(pl.String), *times], separator=" "))[
        "source"
    ]


def _write(results: Results, directory: Path) -> list[str]:
    notes = []
    for run in results.runs:
        rows = lines(run.flows)
        (directory / f"fct_{stem(run)}.txt").write_text("\n".join([*rows, ""]), "ascii")
        if lacking := run.flows.height - rows.len():
            notes.append(
                f"{run.scheme}, seed {run.seed}: HPCC's format leaves out {counted(lacking, 'flow')}, unfinished or "
                "backlogged."
            )
    return notes


EXPORT = Export(
    "fct.txt",
    "HPCC's fct.txt for each run, with all finished flows: addresses, ports, bytes, start, FCT and ideal FCT in ns",
    write_runs=_write,
)
