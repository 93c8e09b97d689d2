"""Kinds of names that packages add to `shortflow list`."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Entry = Mapping[str, Any]
"""A name: `name` or `id`, and `summary`; maybe `unit`, `source`, `paper`, or `values` with the one `taken`."""


@dataclass(frozen=True)
class Listed:
    """A kind of names. A package adds one by an entry point of the group `shortflow.names`."""

    entries: Callable[[], Sequence[Entry]]
    """All names of this kind."""
    details: Callable[[Entry], Iterator[str]] | None = None
    """Lines shown below a name, for `list KIND NAME` and `--long`."""
    worked_out: Callable[[Entry], Entry] | None = None
    """Adds to an entry what takes seconds, before its details are shown."""
    working: str = ""
    """Label of the progress display meanwhile."""
