"""Pauses of a study by port and priority."""

from collections import defaultdict
from collections.abc import Iterator

from shortflow.quantities import scale_for
from shortflow.report.blocks import Block, Column, Section, Words
from shortflow.report.study import point_shown_first
from shortflow.result import Result
from shortflow.results import Results

_LONGEST = 5
"""Number of ports of each scheme and priority in the table: those that were paused longest."""

_Rows = dict[tuple[str, int | None], tuple[float, float]]
"""Number of pauses and paused time in s, by port and priority. The priority is None if all data has the same one."""


def pause_blocks(study: Results) -> Iterator[Block]:
    """Table of the ports and priorities that were paused longest, for the point that charts show first.

    No blocks without pauses.
    """
    point = point_shown_first(study).with_tables
    rows = [
        (scheme, port, priority, pauses, seconds)
        for scheme in point.schemes
        for (port, priority), (pauses, seconds) in _longest(
            _means([run for run in point.results if run.scheme == scheme])
        )
    ]
    if not rows:
        return
    meta = point.results[0].meta
    measured = meta["duration_s"] - meta["warmup_s"]
    scale = scale_for("s", [seconds for *_, seconds in rows])
    yield Section(
        "Pauses by port and priority (means over the seeds)",
        [
            Column("scheme", [scheme for scheme, *_ in rows], text=True),
            Column("link", [port for _, port, *_ in rows], text=True),
            Column("priority", ["all" if of is None else str(of) for _, _, of, *_ in rows], text=True),
        ],
        [
            Column("pauses", [f"{pauses:,.0f}" for *_, pauses, _ in rows]),
            Column(f"paused ({scale.suffix.strip()})", [f"{seconds / scale.divisor:.3g}" for *_, seconds in rows]),
            Column("of the time", [f"{seconds / measured:.1%}" for *_, seconds in rows]),
        ],
    )
    yield Words(
        f"The table has the {_LONGEST} ports of each scheme and priority that were paused longest. A pause begins with "
        "a pause frame from the other end of the link and ends with a second frame.",
        "note",
    )


def _longest(means: _Rows) -> Iterator[tuple[tuple[str, int | None], tuple[float, float]]]:
    """Rows of the ports that were paused longest, by priority."""
    for priority in sorted({priority for _, priority in means}, key=lambda of: -1 if of is None else of):
        of_priority = [row for row in means.items() if row[0][1] == priority]
        yield from sorted(of_priority, key=lambda row: -row[1][1])[:_LONGEST]


def _means(runs: list[Result]) -> _Rows:
    """Means over these runs. Rows without pauses are left out."""
    sums: _Rows = defaultdict(lambda: (0.0, 0.0))
    for run in runs:
        rows: list[tuple[str, int | None, int, float]] = [
            (row["port"], row["priority"], row["pauses"], row["paused_s"]) for row in run.meta.get("pauses", ())
        ]
        if not rows:
            ports = run.ports.select("port", "pauses", "paused_s").drop_nulls()
            rows = [(port, None, pauses, seconds) for port, pauses, seconds in ports.iter_rows()]
        for port, priority, pauses, seconds in rows:
            before = sums[port, priority]
            sums[port, priority] = before[0] + pauses, before[1] + seconds
    return {key: (pauses / len(runs), seconds / len(runs)) for key, (pauses, seconds) in sums.items() if pauses}
