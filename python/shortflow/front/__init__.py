"""The command line: declarations of commands, and their output."""

from typing import TYPE_CHECKING

from shortflow.lazy import modules

if TYPE_CHECKING:
    from shortflow.front import terminal as terminal

__getattr__ = modules(__name__)
