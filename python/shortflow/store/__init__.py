"""Results on disk: the runs of a store, the choice of current ones, and tables of them."""

from typing import TYPE_CHECKING

from shortflow.lazy import modules

if TYPE_CHECKING:
    from shortflow.store import directories as directories
    from shortflow.store import frames as frames
    from shortflow.store import runs as runs

__getattr__ = modules(__name__)
