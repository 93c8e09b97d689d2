"""Binary encoding of the packets of a Perfetto trace.

A trace is a sequence of `TracePacket` messages (Protocol Buffers), each written as field 1 with its length. Field
numbers are from `protos/perfetto/trace` in Perfetto's sources. Variable-length numbers are padded with groups of zeros
to a fixed width, so that packets of one form have equal lengths and are encoded many at a time with array operations.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from shortflow.lazy import np, npt

CATEGORY = "shortflow"
_SEQUENCE = 1
"""Id of the one packet sequence of the trace. Names are interned once per sequence."""
_TIME, _EVENT, _SEQUENCE_ID, _INTERNED, _FLAGS, _DESCRIPTOR = 8, 11, 10, 12, 13, 60
_TIME_BYTES, _TRACK_BYTES = 8, 6
_BEGIN, _END, _INSTANT, _COUNTER = 1, 2, 3, 4


def _varint(number: int, width: int = 1) -> bytes:
    """A variable-length number, padded to at least `width` bytes."""
    groups = [number & 0x7F]
    while (number := number >> 7) or len(groups) < width:
        groups.append(number & 0x7F)
    return bytes([*(group | 0x80 for group in groups[:-1]), groups[-1]])


def _field(number: int, value: int | float | str | bytes, width: int = 1) -> bytes:
    """A field of a message: an `int` as variable-length number, a `float` as `double`, other values with length."""
    if isinstance(value, float):
        return _varint(number << 3 | 1) + np.float64(value).tobytes()
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value, width)
    data = value.encode() if isinstance(value, str) else value
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def _packet(*fields: bytes) -> bytes:
    return _field(1, b"".join([*fields, _field(_SEQUENCE_ID, _SEQUENCE)]))


def first() -> bytes:
    """First packet of the trace. It starts the sequence and interns the category of all events."""
    category = _field(1, 1) + _field(2, CATEGORY)
    return _packet(_field(_INTERNED, _field(1, category)), _field(_FLAGS, 1))


def interned(number: int, name: str) -> bytes:
    """Packet that interns a name of events under a number from 1 to 127, which fits into one byte."""
    return _packet(_field(_INTERNED, _field(2, _field(1, number) + _field(2, name))), _field(_FLAGS, 2))


def track(uuid: int, name: str, parent: int = 0, process: int = 0, unit: str | None = None) -> bytes:
    """Packet that describes a track.

    A track with a number `process` is a process, a track with a `unit` is a counter, and other tracks hold slices.
    """
    fields = [_field(1, uuid)]
    if process:
        fields.append(_field(3, _field(1, process) + _field(6, name)))
    else:
        fields += [_field(2, name), *([_field(5, parent)] if parent else [])]
    if unit is not None:
        fields.append(_field(8, _field(6, unit)))
    return _packet(_field(_DESCRIPTOR, b"".join(fields)))


def flow_slice(
    uuid: int, name: str, category: str, times_ns: tuple[int, int | None], facts: dict[str, int | float | str]
) -> bytes:
    """Packets of a slice with annotations `facts`, from begin to end in ns. An unfinished flow has no end."""
    kinds = {int: 4, float: 5, str: 6}
    notes = [_field(4, _field(10, name) + _field(kinds[type(value)], value)) for name, value in facts.items()]
    begin, end = times_ns
    event = b"".join([_field(9, _BEGIN), _field(11, uuid), _field(22, category), _field(23, name), *notes])
    found = _packet(_field(_TIME, begin), _field(_EVENT, event))
    if end is not None:
        found += _packet(_field(_TIME, end), _field(_EVENT, _field(9, _END) + _field(11, uuid)))
    return found


@dataclass(frozen=True)
class _Form:
    """Template of packets of equal length, and the offsets in bytes of their numbers; -1 for an absent number."""

    data: bytes
    time: int
    track: int
    name: int
    last: int


def _form(kind: int, *, is_named: bool, last: int) -> _Form:
    """Template of events with a time, a track, optionally a name, and optionally a field `last` of eight bytes."""
    head = _field(_TIME, 0, _TIME_BYTES) + _field(_SEQUENCE_ID, _SEQUENCE)
    head += _field(_FLAGS, 2) if is_named else b""
    event = _field(9, kind) + _field(11, 0, _TRACK_BYTES)
    name_at = 0
    if is_named:
        event += _field(3, 1) + _field(10, 0)
        name_at = len(event) - 1
    if last:
        event += _varint(last << 3 | 1) + bytes(8)
    body = head + _field(_EVENT, event)
    data = _field(1, body)
    before = len(data) - len(event)
    return _Form(
        data,
        len(data) - len(body) + 1,
        before + len(_field(9, kind)) + 1,
        before + name_at if is_named else -1,
        len(data) - 8 if last else -1,
    )


FORMS = (
    _form(_COUNTER, is_named=False, last=44),
    _form(_INSTANT, is_named=True, last=47),
    _form(_INSTANT, is_named=True, last=0),
)
COUNTER, ARROW, INSTANT = range(3)
"""Indices in `FORMS`: a value of a counter; an instant with an arrow from or to it; an instant without an arrow."""


@dataclass(frozen=True)
class Events:
    """Events of one form. All arrays have one element per event.

    `times` are in ns, `names` are numbers of interned names, and `last` has values of counters or ids of arrows.
    """

    form: int
    times: "npt.NDArray[np.int64]"
    tracks: "npt.NDArray[np.int64]"
    names: "npt.NDArray[np.uint8] | None" = None
    last: "npt.NDArray[np.uint64] | None" = None


def _padded(numbers: "npt.NDArray[np.int64]", width: int) -> "npt.NDArray[np.uint8]":
    groups = (numbers[:, None] >> (7 * np.arange(width))) & 0x7F
    groups[:, :-1] |= 0x80
    return groups.astype(np.uint8)


def encoded(found: Sequence[Events]) -> bytes:
    """Packets of all events `found`, in order of time."""
    times = np.concatenate([each.times for each in found])
    lengths = np.concatenate([np.full(len(each.times), len(FORMS[each.form].data)) for each in found])
    order = np.argsort(times, kind="stable")
    begins = np.empty(len(times), np.int64)
    begins[order] = np.cumsum(lengths[order]) - lengths[order]
    data = np.empty(int(lengths.sum()), np.uint8)
    first_row = 0
    for each in found:
        form, count = FORMS[each.form], len(each.times)
        rows = np.tile(np.frombuffer(form.data, np.uint8), (count, 1))
        rows[:, form.time : form.time + _TIME_BYTES] = _padded(each.times, _TIME_BYTES)
        rows[:, form.track : form.track + _TRACK_BYTES] = _padded(each.tracks, _TRACK_BYTES)
        if each.names is not None:
            rows[:, form.name] = each.names
        if each.last is not None:
            rows[:, form.last : form.last + 8] = each.last.astype("<u8").view(np.uint8).reshape(count, 8)
        data[begins[first_row : first_row + count, None] + np.arange(len(form.data))] = rows
        first_row += count
    return data.tobytes()
