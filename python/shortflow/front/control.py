"""Control characters in users' texts, of which a terminal would take orders."""

import re

CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
"""All but tabs and ends of lines."""


def plain(text: str) -> str:
    """The text without control characters."""
    return CONTROL.sub("", text)
