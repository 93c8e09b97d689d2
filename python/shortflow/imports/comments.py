"""Comments of files: the units that they name, and headings in them."""

import itertools
import re
from collections.abc import Sequence

from shortflow.imports.headings import GENERIC, INDEX, OTHERS, SIZE, meaning, plain_heading

_TIMES = re.compile(
    r"(?i)(?<!completion )(?<!finish )(?<!end )\b(?:(?:start|arrival)[ _]times?|times?|timestamps?|starts?|arrivals?)\b"
    r"(?: (?:units?|are|is|given|of|flows?|starts?|the))*\s*[:=]?\s*(?:in\s+)?[(\[]?"
    r"(ps|ns|us|µs|ms|s|(?:nano|micro|milli)?seconds?)\b"
)
"""Starts with their unit in a comment, except completion times."""
_CLAUSES = re.compile(r"[;,.:](?=\s|$)|\b(?:and|und|et|y)\b")
_SETTINGS = re.compile(
    r"(^|_)(buffers?|memory|links?|speeds?|capacity|thresholds?|limits?|counters?|windows|queues|headers?|"
    r"(packet|pkt|segment)s?_sizes?)(_|$)"
)
"""Words of settings that comments may mention."""
_OTHER_SIZES = re.compile(r"(buffer|queue|window|packet|pkt|segment|memory|header|mss|mtu)s?_sizes?")
_SIZE_WORD = re.compile(r"size|groesse|grosse|taille|tamano|volum")
_STATISTIC = re.compile(r"(?i)\b(mean|average|avg|median|total|sum|largest|smallest|max(imum)?|min(imum)?)\b")
_JOINING = {"in", "of", "on", "and", "for", "with", "from", "is", "are"}
"""Words that neither begin nor end a heading."""
_SETTING = re.compile(r"=\s*\d|^[\d.]+[,;]?$")
"""A number in a comment. Headings have no such numbers."""


def unit_of_times_in(comment: str) -> str | None:
    """The unit of starts that a comment names, as in `times in us` or `unit of time: ms`. None for another comment."""
    found = _TIMES.search(comment)
    if not found:
        return None
    word = found[1].lower()
    prefixes = {"milli": "ms", "micro": "us", "nano": "ns", "µ": "us"}
    return next(
        (unit for prefix, unit in prefixes.items() if word.startswith(prefix)), word[:2] if len(word) == 2 else "s"
    )


def _is_clear(names: Sequence[str]) -> bool:
    """True if all headings have a known meaning, and at most one means sizes."""
    known = [meaning(name) for name in names]
    return not {"", GENERIC, INDEX}.intersection(known) and known.count(SIZE) < 2


def clauses_on_sizes(comment: str) -> list[str]:
    """The clauses of a comment, without clauses on other quantities such as `buffer size in KB` or `rates in Mbit`."""
    found = []
    for clause in _CLAUSES.split(comment):
        words = plain_heading(re.sub(r"\W+", " ", clause).strip())
        others = OTHERS.search(words) or _SETTINGS.search(words)
        # A clause on a buffer or a rate counts only if it has a size besides.
        if not others or _SIZE_WORD.search(_OTHER_SIZES.sub("", words)):
            found.append(clause)
    return found


def has_statistic(clause: str) -> bool:
    """True for a clause with a value of a mean, a sum or an extreme, whose unit may differ from the column's unit."""
    return bool(_STATISTIC.search(clause)) and any(each.isdigit() for each in clause)


def grouped(words: Sequence[str], width: int) -> Sequence[str]:
    """Headings of `width` columns from words between blanks, such as `flow size (KB) cdf`.

    Returns the words unchanged unless all divisions with clear meanings have the same meanings.
    """
    if not 1 < width < len(words) <= 2 * width + 4:
        return words
    found = []
    for ends in itertools.combinations(range(1, len(words)), width - 1):
        parts = [" ".join(words[a:b]) for a, b in itertools.pairwise((0, *ends, len(words)))]
        ends_well = not _JOINING.intersection(
            word.lower() for part in parts for word in (part.split()[0], part.split()[-1])
        )
        if ends_well and _is_clear(parts):
            found.append(parts)
    meanings = {tuple(map(meaning, parts)) for parts in found}
    return found[-1] if len(meanings) == 1 else words  # of `size KB cdf`, the last division keeps KB with the size


def commented(remarks: Sequence[tuple[int, str]], width: int, separator: str) -> tuple[int, Sequence[str]]:
    """Line and headings of `width` columns from the last comment with such headings, as `# fct cdf`.

    Line 0 without one.
    """
    for line, text in reversed(remarks):
        words = text.lstrip("#/%; ").split(separator or None)
        if any(_SETTING.search(word) for word in words):
            continue
        names = [name.strip() for name in words] if separator else grouped(words, width)
        if len(names) == width > 1 and _is_clear(names):
            return line, names
    return 0, []
