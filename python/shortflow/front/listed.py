"""Kinds of names that packages add to `shortflow list`."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Entry = Mapping[str, Any]
"""Attributes of a name: `name` or `id`, and `summary`. Optional are `unit`, `source`, `paper`, and `values` with
`taken`, the value in use.
"""


@dataclass(frozen=True)
class Listed:
    """A kind of names. A package adds a kind by an entry point in the group `shortflow.names`."""

    entries: Callable[[], Sequence[Entry]]
    """All names of this kind."""
    details: Callable[[Entry], Iterator[str]] | None = None
    """Lines below a name, for `list KIND NAME` and `--long`."""
    worked_out: Callable[[Entry], Entry] | None = None
    """Adds the attributes that take seconds to compute, before details are shown."""
    working: str = ""
    """Label of the progress display during `worked_out`."""
