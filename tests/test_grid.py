"""Grids of settings: what is read, and in what order their points are run."""

import itertools

from hypothesis import given
from hypothesis import strategies as st

from shortflow import Grid


def test_every_combination_is_a_point_and_the_last_axis_varies_fastest() -> None:
    grid = Grid.parse(["load=0.2,0.4", "switch.mark_above=5pkt:15pkt:5pkt"])
    assert grid.keys == ["load", "switch.mark_above"]
    assert [tuple(point.values()) for point in grid.points] == [
        (load, above) for load in ("0.2", "0.4") for above in ("5pkt", "10pkt", "15pkt")
    ]


def test_values_are_ranges_and_lists_in_the_order_in_which_they_are_written() -> None:
    (axis,) = Grid.parse(["transport.g=0.05:0.07:0.01,0.0625,0.06"]).axes
    assert [value for (value,) in axis.values] == ["0.05", "0.06", "0.07", "0.0625"]
    (axis,) = Grid.parse(["topology.rtt=1ms,100us,900us"]).axes
    assert [value for (value,) in axis.values] == ["1ms", "100us", "900us"]
    (axis,) = Grid.parse(["topology.rtt=900us:1ms:50us"]).axes
    assert [value for (value,) in axis.values] == ["900us", "950us", "1000us"]
    (axis,) = Grid.parse(["load=.2,.1,1,.3"]).axes
    assert [value for (value,) in axis.values] == [".2", ".1", "1", ".3"]
    (axis,) = Grid.parse(["transport.g=1e-13:3e-13:1e-13"]).axes
    assert [value for (value,) in axis.values] == ["0.0000000000001", "0.0000000000002", "0.0000000000003"]
    (axis,) = Grid.parse(["topology.kind=star,pair,star"]).axes
    assert [value for (value,) in axis.values] == ["star", "pair"]


def test_a_link_gives_two_keys_one_value_and_a_zip_takes_values_in_step() -> None:
    linked = Grid.parse(["queue.low=5pkt,9pkt"], links=["queue.low=queue.high"])
    assert linked.points == [{"queue.low": low, "queue.high": low} for low in ("5pkt", "9pkt")]
    zipped = Grid.parse(["hosts=4,8", "load=0.1,0.2", "rate=1Gbps,10Gbps"], zips=["hosts,rate"])
    assert zipped.keys == ["hosts", "rate", "load"]
    assert [tuple(point.values()) for point in zipped.points] == [
        ("4", "1Gbps", "0.1"),
        ("4", "1Gbps", "0.2"),
        ("8", "10Gbps", "0.1"),
        ("8", "10Gbps", "0.2"),
    ]


VALUES = st.sampled_from(["0.1", "2", "10", "9", "100us", "1ms", "500KB", "1MB", "5pkt", "20pkt", "websearch", "tcp"])


@given(
    st.integers(1, 5).flatmap(
        lambda length: st.lists(st.lists(VALUES, min_size=length, max_size=length), min_size=2, max_size=3)
    )
)
def test_a_grid_has_what_was_written_as_it_was_written(written: list[list[str]]) -> None:
    keys = "abc"[: len(written)]
    grids = [f"{key}={','.join(values)}" for key, values in zip(keys, written, strict=True)]
    in_step = Grid.parse(grids, ["a=linked"], [",".join(keys)])
    assert [tuple(point.values()) for point in in_step.points] == [
        (*row, row[0]) for row in dict.fromkeys(zip(*written, strict=True))
    ]
    every = Grid.parse(grids)
    assert [tuple(point.values()) for point in every.points] == list(itertools.product(*map(dict.fromkeys, written)))
    for grid in (in_step, every):
        assert sorted(grid.coarse_first) == list(range(len(grid.points)))


def test_the_first_points_are_a_coarse_picture() -> None:
    line = Grid.parse(["n=0:8"])
    assert line.coarse_first == [0, 8, 4, 2, 6, 1, 3, 5, 7]
    mixed = Grid.parse(["n=2,8,5,6,0,1,3,4,7"])
    assert [mixed.points[place]["n"] for place in mixed.coarse_first][:5] == ["8", "0", "4", "2", "6"]
    square = Grid.parse(["a=1:3", "b=1:3"])
    corners = [square.points[place] for place in square.coarse_first[:4]]
    assert corners == [{"a": a, "b": b} for a in ("1", "3") for b in ("1", "3")]
    words = Grid.parse(["kind=x,y,z", "n=1,2,3"])
    first = [words.points[place] for place in words.coarse_first[:6]]
    assert first == [{"kind": kind, "n": n} for kind in "xyz" for n in "13"], "words have no middle"
    for grid in (line, square, words):
        assert sorted(grid.coarse_first) == list(range(len(grid.points)))
