"""Accounts as tables and plain data."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from shortflow.accounts.account import ROUNDS, Accounts, InFront, Shares, Step, TimePart
from shortflow.quantities import counted, scale_for
from shortflow.report.blocks import Block, Column, Section, Words

PS = 1e12
"""Picoseconds per second."""
_LEAST_US = 100_000
"""Shortest time in picoseconds that is shown in microseconds or a longer unit. Shorter times are in nanoseconds."""
_ROWS = 24
"""Maximum number of rows of a time-line in a terminal."""
_LEAST = 0.0005
"""Smallest share of a completion time that has a row."""
_AT_PORT = ("serialisation", "queueing", "small queue", "pause")
"""Causes for which a packet stays in a port or on its link."""


def time(ps: float) -> str:
    """A time with four digits and a unit.

    The time is first rounded to picoseconds, so a remainder from floating-point sums is 0.
    """
    ps = round(ps)
    if 0 < abs(ps) < _LEAST_US:
        return f"{ps / 1000:.4g} ns"
    scale = scale_for("s", [ps / PS])
    return f"{ps / PS / scale.divisor:.4g}{scale.suffix}"


def share(ps: float, whole: float) -> str:
    """Share of a part in the whole time, in percent. Empty if the whole is 0."""
    return f"{round(100 * ps / whole, 1) + 0.0:.1f} %" if whole else ""


def account_blocks(found: Accounts, flow: int | None) -> Iterator[Block]:
    """The account of a flow with its time-line and the flows in front, then the shares of each class."""
    of = found.result.provenance
    yield Words(f"{of['title']}\n{of['scenario']}, {of['scheme']}, seed {of['seed']}")
    if flow is not None:
        account = found.of_flow(flow)
        yield Words(_said(found, flow, account), "answer")
        yield _account(account)
        yield from _time_line(found.steps, _unnamed(found))
    shares = found.shares()
    if not shares:
        yield Words("No finite flow started in the measured time, so there is no completion time to explain.", "note")
        return
    for each in shares:
        if each.unfinished:
            whole, have = each.flows + each.unfinished, "has" if each.unfinished == 1 else "have"
            text = f"{each.unfinished:,} of {counted(whole, 'flow')} did not finish and {have} no account."
            yield Words(f"Class {each.flow_class}: {text}", "note")
        if each.flows:
            yield _shares(each)
    if not any(each.flows for each in shares):
        return
    yield Words(
        "The account follows the packet that completes a flow, and packets of the same flow in front of it at a port. "
        "A wait for window or credit is an earlier round trip: its ACK or grant allowed the next data."
    )


def _said(found: Accounts, flow: int, account: Mapping[TimePart, int]) -> str:
    row = found.result.flows.row(flow, named=True)
    whole = sum(account.values())
    most, part = max((ps, part) for part, ps in account.items())
    return (
        f"Flow {flow} ({row['class']}, {row['size_bytes']:,} bytes, {row['source']} to {row['destination']}) took "
        f"{time(whole)}, {row['slowdown']:.3g} times its ideal time. The largest part ({part.label}) is {time(most)}, "
        f"{share(most, whole)} of the whole."
    )


def _account(account: Mapping[TimePart, int]) -> Section:
    whole = sum(account.values())
    rows = [*account.items()]
    return Section(
        "Where the time went",
        [Column("part", [*(part.label for part, _ in rows), "completion time"], text=True)],
        [
            Column("time", [*(time(ps) for _, ps in rows), time(whole)]),
            Column("share", [*(share(ps, whole) for _, ps in rows), "100.0 %"]),
        ],
        apart=1,
    )


def stays(steps: Sequence[Step]) -> list[list[Step]]:
    """Steps grouped by stay: consecutive steps of one round in one port or on its link."""
    found: list[list[Step]] = []
    for step in steps:
        last = found[-1][-1] if found else None
        at_port = step.part.cause.startswith(_AT_PORT)
        joins = last and last.port == step.port and last.part.round == step.part.round
        if last and joins and at_port and last.part.cause.startswith(_AT_PORT):
            found[-1].append(step)
        else:
            found.append([step])
    return found


def front(steps: Sequence[Step]) -> list[InFront]:
    """Packets in front during these steps, summed by flow, the longest time first."""
    found: dict[tuple[int | None, int], tuple[int, int]] = {}
    for each in (each for step in steps for each in step.in_front):
        packets, takes = found.get((each.flow, each.connection), (0, 0))
        found[each.flow, each.connection] = packets + each.packets, takes + each.takes_ps
    total = [InFront(flow, connection, *each) for (flow, connection), each in found.items()]
    return sorted(total, key=lambda each: (-each.takes_ps, each.connection))


def flow_name(each: InFront, unnamed: str) -> str:
    """Name of a flow in front: its row, or its connection if the flow has no account.

    `unnamed` is the kind of such flows.
    """
    return f"flow {each.flow}" if each.flow is not None else f"{unnamed} of connection {each.connection}"


def _unnamed(found: Accounts) -> str:
    """Kind of the flows without an account: flows without a size, or flows that start in the drain."""
    is_backlogged = found.result.flows["size_bytes"].null_count() > 0
    in_drain = found.result.meta["counters"]["drain_flows"] > 0
    return (
        "backlogged or later flow"
        if is_backlogged and in_drain
        else "backlogged flow"
        if is_backlogged
        else "later flow"
    )


def _time_line(steps: Sequence[Step], unnamed: str) -> Iterator[Section]:
    if not steps:
        return
    start, rows = steps[0].from_ps, stays(steps)
    longest = sorted(rows, key=lambda row: row[0].from_ps - row[-1].until_ps)[:_ROWS]
    shown = [row for row in rows if any(row is each for each in longest)]
    heading = "Time-line"
    if len(shown) < len(rows):
        heading += f": the {len(shown)} longest of {len(rows)} stays, in order of time; --json has all"
    yield Section(
        heading,
        [Column("from", [time(row[0].from_ps - start) for row in shown])],
        [
            Column("takes", [time(row[-1].until_ps - row[0].from_ps) for row in shown]),
            Column("where", [row[0].port or "" for row in shown], text=True),
            Column("what", [_what(row, unnamed) for row in shown], text=True),
        ],
    )
    in_front = front(steps)
    if in_front:
        yield Section(
            "Flows whose packets went first",
            [Column("flow", [flow_name(each, unnamed) for each in in_front[:_ROWS]], text=True)],
            [
                Column("packets", [f"{each.packets:,}" for each in in_front[:_ROWS]]),
                Column("time", [time(each.takes_ps) for each in in_front[:_ROWS]]),
            ],
        )


def _what(steps: Sequence[Step], unnamed: str) -> str:
    first = steps[0]
    before = ROUNDS[first.part.round]
    if not first.part.cause.startswith(_AT_PORT):
        return f"{before}{first.part.cause}"
    packets = [step for step in steps if step.part.cause == "serialisation"]
    kinds = {step.packet[0] for step in packets if step.packet}
    said = [f"{before}sends {counted(len(packets), 'packet')} ({', '.join(sorted(kinds))})"] if packets else [before]
    for cause in dict.fromkeys(step.part.cause for step in steps if step.part.cause != "serialisation"):
        said.append(f"{cause} {time(sum(step.until_ps - step.from_ps for step in steps if step.part.cause == cause))}")
    if others := front(steps):
        names = ", ".join(flow_name(each, unnamed) for each in others[:3])
        said.append(f"behind {names}{', …' if len(others) > 3 else ''}")
    return "; ".join(each for each in said if each)


def slowest_name(shares: Shares) -> str:
    """Name of a class's slowest flows: one flow, or 1 % of the flows."""
    return "slowest flow" if shares.slowest_flows == 1 else "slowest 1 %"


def _shares(shares: Shares) -> Section:
    mean, slowest = sum(shares.mean.values()), sum(shares.slowest.values())
    kept = [
        part
        for part in sorted(shares.mean, key=lambda part: -shares.mean[part])
        if shares.mean[part] > _LEAST * mean or shares.slowest[part] > _LEAST * slowest
    ]
    return Section(
        f"Class {shares.flow_class}: shares of the completion time of {counted(shares.flows, 'flow')}",
        [Column("part", [*(part.label for part in kept), "completion time"], text=True)],
        [
            Column("of the mean", [*(share(shares.mean[part], mean) for part in kept), time(mean)]),
            Column(
                f"of the {slowest_name(shares)}",
                [*(share(shares.slowest[part], slowest) for part in kept), time(slowest)],
            ),
        ],
        apart=1,
    )


def account_document(found: Accounts, flow: int | None) -> dict[str, Any]:
    """The accounts as plain data, for --json. Times are in picoseconds."""
    of = found.result.provenance
    answer: dict[str, Any] = {
        "scenario": of["scenario"],
        "scheme": of["scheme"],
        "seed": of["seed"],
        "digest": found.result.digest,
        "classes": [_class_document(each) for each in found.shares()],
    }
    if flow is not None:
        row = found.table.filter(found.table["flow"] == flow).row(0, named=True)
        answer["flow"] = {
            "flow": flow,
            "start_ps": row["start_ps"],
            "finish_ps": row["finish_ps"],
            "parts": [{**part._asdict(), "ps": ps} for part, ps in found.of_flow(flow).items()],
            "steps": [_step(step) for step in found.steps],
        }
    return answer


def _class_document(shares: Shares) -> dict[str, Any]:
    return {
        "class": shares.flow_class,
        "flows": shares.flows,
        "unfinished": shares.unfinished,
        "slowest_flows": shares.slowest_flows,
        "parts": [
            {**part._asdict(), "mean_ps": shares.mean[part], "slowest_mean_ps": shares.slowest[part]}
            for part in shares.mean
        ],
    }


def _step(step: Step) -> dict[str, Any]:
    kind, seq = step.packet or (None, None)
    return {
        "from_ps": step.from_ps,
        "until_ps": step.until_ps,
        **step.part._asdict(),
        "port": step.port,
        "packet": kind,
        "seq": seq,
        "in_front": [each._asdict() for each in step.in_front],
    }
