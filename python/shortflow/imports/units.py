"""Units of flow sizes: bytes and bits with their multiples, and packets."""

import re
from dataclasses import dataclass

from shortflow.errors import ConfigError
from shortflow.quantities import parse

SEGMENT = 1460
"""Payload in bytes of a packet of 1,500 bytes, as in ns-2's scripts."""
_PACKETS = re.compile(r"packets?|pkts?\b|segments?|segmentos?|pakete|paquets?|paquetes?", re.IGNORECASE)
_LETTERS = "kmgt"
"""Prefixes in increasing order of the power of 1000, or of 1024 with an i."""
_DATA = r"(kilo|mega|giga|tera|kibi|mebi|gibi|tebi|[KMGT]i?)?[ -]?(bytes?|octets?|octetos?|bits?|b|o)"
_UNIT = re.compile(_DATA, re.IGNORECASE)
_IN_TEXT = re.compile(rf"(?<![a-z\d])(?<!\d[ -])(?:{_DATA})(?![a-z]|/s)", re.IGNORECASE)
"""A unit in a header or comment, but neither an amount such as `1 MB` nor a rate such as `Mb/s`."""
_WORD = re.compile(r"(byte|octet)|(bits?\b)", re.IGNORECASE)
"""Bytes or bits as part of a name, such as `totbytes`."""
_RATE = re.compile(rf"(?i)\b{_DATA}\s*(?:/\s*|per )s(?:ec(?:onds?)?)?\b")
_AMOUNT = re.compile(r"(?i)\d[ -]?(?:bits?|packets?|pkts?|segments?|pakete|paquets?|paquetes?)\b")
_WORDS = re.compile(r"\b(b|bit|[kmg]o)\b(?![)\]])")


@dataclass(frozen=True)
class Unit:
    """A unit of sizes, as written in a text."""

    name: str
    size: float | None
    """Bytes of one unit. None if the unit may mean bits or bytes, such as `Kb` and `kb`."""

    @property
    def readings(self) -> tuple[float, float]:
        """Bytes of one ambiguous unit: read as bits, and read as bytes."""
        bytes_ = of_text(f"{self.name[:-1]}B")
        assert bytes_
        assert bytes_.size
        return bytes_.size / 8, bytes_.size

    @property
    def instead(self) -> str:
        """Unambiguous units that replace an ambiguous one, in words."""
        prefix = self.name[:-1]
        bytes_ = f"{prefix[:1].upper()}{prefix[1:]}B"
        return f"{bytes_} for bytes or {prefix}bit for bits, as {self.name} may be either"


def of_text(text: str) -> Unit | None:
    """The unit that a whole text names, such as `KB`, `kbit`, `MiB` or `Ko`. None for another text."""
    found = _UNIT.fullmatch(text.strip())
    return _unit(found) if found else None


def _unit(found: re.Match[str]) -> Unit:
    prefix, kind = (found[1] or ""), found[2]
    power = _LETTERS.index(prefix[0].lower()) + 1 if prefix else 0
    is_binary = prefix.lower().endswith(("i", "bi"))
    scale = float(1024**power if is_binary else 1000**power)
    if kind == "b":
        return Unit(found[0].replace(" ", ""), None)
    is_bits = kind.lower().startswith("bit")
    letter = f"{prefix[0].upper()}{'i' if is_binary else ''}" if prefix else ""
    name = (f"{letter}bit" if is_bits else f"{letter}B") if prefix else "bits" if is_bits else "bytes"
    return Unit(name, scale / 8 if is_bits else scale)


def of_name(text: str) -> Unit | None:
    """The unit that a header or comment names. None if the text names no unit, or several."""
    said = _said(text)
    words = {"bits" if each[2] else "bytes" for each in _WORD.finditer(text)}
    packets = _PACKETS.search(text)
    if packets:
        return None if said or words else Unit(f"packets of {SEGMENT} B", SEGMENT)
    if len(words) > 1:
        return None
    units = [_unit(each) for each in said]
    units = [each for each in units if each.name not in ("bits", "bytes")] or units
    if units and units[0].size is None and words:  # `bytes (kb)`
        clear = of_text(f"{units[0].name[:-1]}{'B' if 'bytes' in words else 'bit'}")
        return clear if units[0].name[:-1] else of_text(next(iter(words)))
    if units:
        return units[0]
    return of_text(next(iter(words))) if words else None


def _said(text: str) -> list[re.Match[str]]:
    return [each for each in _IN_TEXT.finditer(text) if each[2].lower() != "o" or _is_octet(text, each)]


def _is_octet(text: str, found: re.Match[str]) -> bool:
    """True for the French `Ko` in the place of a unit: in brackets, or at the end of a name."""
    before, after = text[: found.start()][-1:], text[found.end() :][:1]
    return bool(found[1]) and found[1][0].lower() != "t" and before in tuple(" _([") and after in ("", ")", "]")


def data_amount(text: str) -> tuple[float, Unit] | None:
    """A number with a unit of data, such as `3 KB`. None for another text."""
    found = parse(text)
    unit = of_text(found.unit) if found and found.unit else None
    return (found.number, unit) if found and unit else None


def bytes_per_unit(unit: str) -> float:
    """Bytes in a unit such as `B`, `KB`, `kbit`, `packets` or `1000B`. Raises `ConfigError` for another text."""
    if _PACKETS.fullmatch(unit):
        return SEGMENT
    found = data_amount(unit if unit[:1].isdigit() else f"1{unit}")
    if found and found[1].size is None:
        raise ConfigError(f"--unit {unit}: expected {found[1].instead}")
    if found is None or not found[1].size or found[0] <= 0:
        raise ConfigError(f"--unit {unit}: expected B, KB, MB, kbit, packets, or the bytes of a packet such as 1000B")
    return found[0] * found[1].size


def seconds_per_unit(unit: str) -> float:
    """Seconds in a unit such as `us`. Raises `ConfigError` for another text."""
    found = parse(f"1{unit}")
    if found is None or found.base != "s":
        raise ConfigError(f"--time {unit}: expected ps, ns, us, ms or s")
    return found.factor


def of_remark(text: str) -> list[Unit]:
    """The units that a clause of a comment names. `KB in the paper and bytes here` names several.

    Rates and amounts such as `65 packets` are ignored. The letter b, the word bit and the French `go` are ignored too,
    because they occur in sentences.
    """
    plain = _WORDS.sub("", _AMOUNT.sub("", _RATE.sub("", text)))
    several = {unit.size: unit for unit in map(_unit, _said(plain)) if unit.size}
    if len(several) > 1 and not _PACKETS.search(plain):
        return list(several.values())
    only = of_name(plain)
    return [only] if only else []
