"""Comparison of two runs as tables and plain data: why they are equal, or where they differ."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from shortflow.accounts.account import TimePart
from shortflow.accounts.parting import Change, Why, in_order
from shortflow.accounts.search import Raised
from shortflow.accounts.shown import PS, share, time
from shortflow.quantities import counted
from shortflow.report.blocks import Block, Column, Section, Words

_LEAST = 0.001
"""Parts with at most this share of the largest difference are shown as one row."""


def reason_blocks(found: Why, flow: int | None, trials: Sequence[Raised] | None = None) -> Iterator[Block]:
    """The answer, the first different events, and the difference by part."""
    first, second = found.first.result, found.second.result
    of = first.provenance
    yield Words(f"{of['title']}\n{of['scenario']}, {first.scheme} and {second.scheme}, seed {of['seed']}")
    yield Words(
        f"A store has no packets, so Shortflow repeated both runs. All numbers are of seed {first.seed} alone, without "
        "intervals. `shortflow compare` shows all seeds.",
        "note",
    )
    yield Words(_answer(found), "answer")
    if found.parting:
        yield Words(
            "The first events that differ:\n"
            f"{first.scheme}: {_event(found.parting.first)}\n{second.scheme}: {_event(found.parting.second)}"
        )
    yield _asked(found)
    if any(each.unfinished for each in found.asked):
        yield Words("Only finished flows have known waits.", "note")
    if trials is not None:
        yield from _search(trials)
    if found.equal:
        return
    names = first.scheme, second.scheme
    if not found.changes:
        yield Words("No flow finished in both runs, so there are no completion times to compare.", "note")
    for change in found.changes:
        heading = f"Class {change.flow_class}: mean completion time of {counted(change.flows, 'flow')}"
        yield _change(heading, names, change)
    if found.changes:
        yield Words("Each share is relative to the sum of all increases and decreases, so no share exceeds 100 %.")
    if flow is not None:
        mine, theirs = (dict(each.of_flow(flow)) for each in (found.first, found.second))
        change = Change("", 1, {p: float(ps) for p, ps in mine.items()}, {p: float(ps) for p, ps in theirs.items()})
        yield _change(f"Flow {flow}: completion time", names, change)


def _answer(found: Why) -> str:
    names = f"{found.first.result.scheme} and {found.second.result.scheme}"
    asked, flows = max(each.any for each in found.asked), found.asked[0].flows
    if not found.equal and found.parting is None:
        return f"{names} send, drop and mark the same packets. Only samples, such as windows, differ."
    if not found.equal:
        return f"{names} differ."
    if not asked:
        return (
            f"{names} are equal because their laws had nothing to decide: none of {counted(flows, 'flow')} had a "
            "packet marked or lost, or waited for its window. More load, larger flows or more senders would change "
            "that."
        )
    return (
        f"{names} are equal although marks, losses or a full window gave their laws something to decide in {asked} of "
        f"{counted(flows, 'flow')}: both laws decided alike each time."
    )


def _search(trials: Sequence[Raised]) -> Iterator[Block]:
    """A table of the raised settings, with the answer if no raised setting parts the schemes."""
    if not trials:
        yield Words("The traffic has no load, number of flows or size to raise.", "note")
        return
    said = {True: "differ", False: "are equal", None: "refused"}
    yield Section(
        f"One setting raised at a time, in {counted(2 * sum(each.parts is not None for each in trials), 'run')}",
        [
            Column("raised", [each.axis for each in trials], text=True),
            Column(
                "with", [" ".join(f"--set {key}={v}" for key, v in each.settings.items()) for each in trials], text=True
            ),
        ],
        [Column("the schemes", [said[each.parts] for each in trials])],
    )
    for each in trials:
        if each.refused:
            yield Words(f"{each.axis}: {each.refused}", "note")
    if not any(each.parts for each in trials):
        yield Words("The schemes stay equal under each of these settings.", "answer")


def _event(event: "Mapping[str, Any] | None") -> str:
    if event is None:
        return "no further event"
    reason = f" ({event['reason']})" if event["reason"] else ""
    place = f" at {event['port']}" if event["port"] else ""
    packet = f", {event['kind']} {event['seq']}, {event['length']} bytes" if event["kind"] else ""
    return f"{event['time_s'] * 1e6:,.6f} µs: {event['event']}{reason}{place}, flow {event['flow']}{packet}"


def _asked(found: Why) -> Section:
    rows = [
        ("marks", [each.marked for each in found.asked]),
        ("losses", [each.lossy for each in found.asked]),
        ("a wait for window, pacer or credit", [each.waiting for each in found.asked]),
        ("any of these", [each.any for each in found.asked]),
    ]
    schemes = found.first.result.scheme, found.second.result.scheme
    return Section(
        f"Flows whose law had something to decide, of {counted(found.asked[0].flows, 'flow')} with a size",
        [Column("because of", [name for name, _ in rows], text=True)],
        [Column(scheme, [f"{values[place]:,}" for _, values in rows]) for place, scheme in enumerate(schemes)],
    )


def _change(heading: str, names: tuple[str, str], change: Change) -> Block:
    """Difference of two runs by part. Rows add up: parts with small differences share one row."""
    whole = sum(change.first.values()), sum(change.second.values())
    order = in_order(change)
    most = max(abs(_difference(change, part)) for part in order)
    if not round(most):
        return Words(f"{heading} is {time(whole[0])} in both runs, part by part.")
    kept = [part for part in order if abs(_difference(change, part)) > _LEAST * most]
    if len(kept) == len(order) - 1:  # a single remaining part keeps its own row
        kept = order
    labels = [part.label for part in kept]
    sides = [[times.get(part, 0.0) for part in kept] for times in (change.first, change.second)]
    if len(kept) < len(order):
        labels.append("all other parts")
        sides = [[*side, total - sum(side)] for side, total in zip(sides, whole, strict=True)]
    sides = [[*side, total] for side, total in zip(sides, whole, strict=True)]
    differences = [theirs - mine for mine, theirs in zip(*sides, strict=True)]
    every = sum(map(abs, differences[:-1]))
    return Section(
        heading,
        [Column("part", [*labels, "completion time"], text=True)],
        [
            *(Column(name, [*map(time, side)]) for name, side in zip(names, sides, strict=True)),
            Column("difference", [*map(_signed, differences)]),
            Column("share", [share(each, every) for each in differences]),
        ],
        apart=1,
    )


def _difference(change: Change, part: TimePart) -> float:
    return change.second.get(part, 0.0) - change.first.get(part, 0.0)


def _signed(ps: float) -> str:
    sign = "-" if round(ps) < 0 else "+" if round(ps) else ""
    return f"{sign}{time(abs(ps))}"


def reason_document(found: Why, flow: int | None, trials: Sequence[Raised] | None = None) -> dict[str, Any]:
    """The comparison as plain data, for --json. Times are in picoseconds, except `mean_s` and `time_s`."""
    first, second = found.first.result, found.second.result
    answer: dict[str, Any] = {
        "scenario": first.provenance["scenario"],
        "seed": first.seed,
        "runs_done_again": True,
        "schemes": [
            {"scheme": each.scheme, "digest": each.digest, "asked": asked._asdict()}
            for each, asked in zip((first, second), found.asked, strict=True)
        ],
        "equal": found.equal,
        "answer": _answer(found),
        "parting": found.parting._asdict() if found.parting else None,
        "classes": [_change_document(each) for each in found.changes],
    }
    if trials is not None:
        answer["search"] = [each._asdict() for each in trials]
    if flow is not None:
        mine, theirs = found.first.of_flow(flow), found.second.of_flow(flow)
        parts = dict.fromkeys([*mine, *theirs])
        answer["flow"] = {
            "flow": flow,
            "parts": [{**part._asdict(), "ps": [mine.get(part, 0), theirs.get(part, 0)]} for part in parts],
        }
    return answer


def _change_document(change: Change) -> dict[str, Any]:
    return {
        "class": change.flow_class,
        "flows": change.flows,
        "mean_s": [sum(times.values()) / PS for times in (change.first, change.second)],
        "parts": [
            {**part._asdict(), "mean_ps": [change.first.get(part, 0.0), change.second.get(part, 0.0)]}
            for part in in_order(change)
        ],
    }
