"""Charts of the accounts of several schemes: the completion time of each class, by part."""

from collections.abc import Iterator, Mapping, Sequence

from shortflow.accounts.account import Accounts, Shares, TimePart
from shortflow.accounts.shown import PS, share, slowest_name, time
from shortflow.quantities import counted, scale_for
from shortflow.report.blocks import Block, Column, Section, Words
from shortflow.report.chart import Chart, Row, Spec, by_scheme, has_value, mark, markers, numeric, tips, view, words

_PARTS = 10
"""Maximum number of parts in a panel. The smaller parts share one row."""
_REST = "all other parts"
_CLASSES = 4


def went_blocks(found: Sequence[Accounts]) -> Iterator[Block]:
    """A chart and a table for each class: mean and slowest completion times by part, under each scheme."""
    seeds = sorted({each.result.seed for each in found})
    named = f"seed {seeds[0]}" if len(seeds) == 1 else "the first seed of each scheme"
    yield Words(
        f"A store has no packets, so Shortflow repeated the runs of {named} to account for completion times.", "note"
    )
    shares = {each.result.scheme: {of.flow_class: of for of in each.shares()} for each in found}
    classes = list(dict.fromkeys(name for each in shares.values() for name in each))
    if not classes:
        yield Words("No finite flow started in the measured time, so there is no completion time to explain.", "note")
    for name in classes[:_CLASSES]:
        of_class = {scheme: each[name] for scheme, each in shares.items() if name in each}
        unfinished = [f"{scheme} {each.unfinished:,}" for scheme, each in of_class.items() if each.unfinished]
        if unfinished:
            yield Words(f"Unfinished flows of class {name}, which have no account: {', '.join(unfinished)}.")
        finished = {scheme: each for scheme, each in of_class.items() if each.flows}
        if finished:
            yield _chart(name, finished)
            yield _table(name, finished)
    if len(classes) > _CLASSES:
        yield Words(f"Not shown here: classes {', '.join(classes[_CLASSES:])}. `shortflow explain` shows them.", "note")


def _groups(of_class: Mapping[str, Shares]) -> list[tuple[str, list[TimePart]]]:
    """Label and parts of each row, the largest part first. Parts beyond the first `_PARTS` share one row."""
    every = dict.fromkeys(part for each in of_class.values() for part in each.mean)
    size = {part: max(_both(each, part) for each in of_class.values()) for part in every}
    order = sorted(every, key=lambda part: -size[part])
    shown = [(part.label, [part]) for part in order[:_PARTS]]
    return [*shown, (_REST, order[_PARTS:])] if order[_PARTS:] else shown


def _both(shares: Shares, part: TimePart) -> float:
    """Share of a part: the larger of its share of the mean and its share of the slowest flows."""
    sides = (shares.mean, shares.slowest)
    return max(side.get(part, 0.0) / sum(side.values()) for side in sides)


def _chart(name: str, of_class: Mapping[str, Shares]) -> Chart:
    groups = _groups(of_class)
    rows: list[Row] = []
    scale = scale_for(
        "s", [max(sum(side.values()) for each in of_class.values() for side in (each.mean, each.slowest)) / PS]
    )
    # The panel is common to all schemes, also if one scheme has a single slowest flow and another has several.
    slowest = {slowest_name(each) for each in of_class.values()}
    sides = {"mean": "mean", "slowest": slowest.pop() if len(slowest) == 1 else "slowest 1 %"}
    for scheme, shares in of_class.items():
        for side, panel in sides.items():
            times: Mapping[TimePart, float] = getattr(shares, side)
            for label, of in groups:
                ps = sum(times.get(part, 0.0) for part in of)
                said = f"{time(ps)}, {share(ps, sum(times.values()))}"
                rows.append(
                    {"scheme": scheme, "panel": panel, "part": label, "value": ps / PS / scale.divisor, "said": said}
                )
    order = [label for label, _ in groups]
    panels = [_panel(rows, panel, order, list(of_class), scale.unit) for panel in sides.values()]
    caption = (
        "Parts of the completion time, along the path of the packet that completes a flow. The parts of a scheme add "
        "up to its completion time. A wait for the window is an earlier round trip whose ACK allowed the next data."
    )
    return Chart(f"went-{name}", f"Where the time went: class {name}", caption, rows, panels, list(of_class))


def _panel(rows: Sequence[Row], panel: str, order: Sequence[str], schemes: Sequence[str], unit: str) -> Spec:
    """A panel with a row for each part and a mark for each scheme."""
    look = by_scheme(schemes)
    own = [row for row in rows if row["panel"] == panel]
    axis = {"labelExpr": "split(datum.label, ': ')", "labelLimit": 190, "grid": True, "labelLineHeight": 12}
    y = words("part", None, order, axis=axis)
    x = numeric("value", f"time ({unit})", [0, *(row["value"] for row in own)], log=False, zero=True, tickCount=4)
    tip = tips(scheme="scheme", part="part", said="time and share of the completion time")
    place = {"y": y, "yOffset": {"field": "scheme", "type": "nominal"}, "x": x}
    layer = mark("point", {**place, **markers(look), "tooltip": tip}, size=60, strokeWidth=2, opacity=1)
    said = f"parts of the {panel} completion time, with a mark for each scheme"
    return view(f"of the {panel}", said, [layer], where=[has_value("panel", panel)], height=32 * len(order))


def _table(name: str, of_class: Mapping[str, Shares]) -> Section:
    """The numbers of the chart."""
    groups = _groups(of_class)
    columns = []
    for scheme, shares in of_class.items():
        for head, times in ((f"{scheme}, mean", shares.mean), (f"{scheme}, {slowest_name(shares)}", shares.slowest)):
            whole = sum(times.values())
            cells = [share(sum(times.get(part, 0.0) for part in of), whole) for _, of in groups]
            columns.append(Column(head, [*cells, time(whole)]))
    flows = ", ".join(f"{scheme} {counted(each.flows, 'flow')}" for scheme, each in of_class.items())
    lead = Column("part", [*(label for label, _ in groups), "completion time"], text=True)
    return Section(f"Shares of the completion time: class {name} ({flows})", [lead], columns, apart=1)
