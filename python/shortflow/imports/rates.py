"""Rates in the notations of other tools: `2.5 Gbps`, `4x10G`, `OC-48`, `100GBASE-CR4`, and numbers in K, M, G or T."""

import re

_TO_BPS = {"": 1.0, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
_LABEL = re.compile(
    r"(?:(\d+)\s*[xX*×]\s*)?(\d+(?:\.\d+)?)\s*([kKmMgGtT])(?:ig|iga|ega)?\s*(?:b|bit|bits|bE|E)?\s*(?:ps|/s|/sec)?"
    r"(?:\s*[Ee]thernet)?"
)
"""One rate in bits. `1 GB/s` may mean bytes, so it does not match."""
_BYTES = re.compile(r"B(?:ytes?)?(?:ps|/s|/sec)?$|[Bb]yte|[Oo]ctet")
_DATA_RATE = re.compile(r"(\d+(?:\.\d*)?(?:[eE][-+]?\d+)?)(?:([kKmMgGtT])(i)?)?(?:([bB])(?:ps|/s))?")
_CARRIER = re.compile(r"(?:(\d+)\s*[x*×]\s*)?(OC|STM|STS)-?(\d+)c?", re.IGNORECASE)
_OC = 51.84e6
_FIXED = {"E1": 2.048e6, "T1": 1.544e6, "DS1": 1.544e6, "E3": 34.368e6, "T3": 44.736e6, "DS3": 44.736e6}
_NAMED = {"fe": 1e8, "fast ethernet": 1e8, "ge": 1e9, "gige": 1e9, "gigabit ethernet": 1e9}
_ETHERNET = re.compile(r"(?:(\d+)\s*x\s*)?(\d+(?:\.\d+)?)\s*(G(?:ig)?)?-?base.*", re.IGNORECASE)


def written(bps: float) -> str:
    """A rate in the form of a scenario, such as `2.5Gbps`."""
    for unit, factor in (("T", 1e12), ("G", 1e9), ("M", 1e6), ("K", 1e3)):
        if bps >= factor:
            return f"{bps / factor:.12g}{unit}bps"
    return f"{bps:.12g}bps"


def of_label(text: str) -> float | None:
    """Rate in bit/s of a label that is one rate. None for a range, a bound, or other words."""
    text = text.strip()
    if found := _LABEL.fullmatch(text):
        return int(found[1] or 1) * float(found[2]) * _TO_BPS[found[3].upper()]
    if found := _CARRIER.fullmatch(text):
        each = _OC * (3 if found[2].upper() == "STM" else 1)
        return int(found[1] or 1) * int(found[3]) * each
    return _FIXED.get(text.upper().replace("-", ""), _NAMED.get(text.lower()))


def of_unit(number: float, unit: str) -> float | None:
    """Rate in bit/s of a number in K, M, G or T with any suffix. None for bytes and other units."""
    factor = _TO_BPS.get(unit.strip()[:1].upper())
    return None if factor is None or (unit and not unit.strip()) or is_bytes(unit) else number * factor


def is_bytes(unit: str) -> bool:
    """True for a unit of a rate that counts bytes, such as `GB/s`."""
    return bool(_BYTES.search(unit))


def of_data_rate(text: str) -> float | None:
    """Rate in bit/s of a text in ns-3's notation: `100Gbps`, `40Gb/s`, `12.5GB/s`, `1MiBps`, or a number of bit/s."""
    found = _DATA_RATE.fullmatch(text)
    if not found:
        return None
    number, prefix, is_binary, kind = float(found[1]), (found[2] or "").upper(), found[3], found[4]
    factor = 1024.0 ** ("KMGT".index(prefix) + 1) if is_binary else _TO_BPS[prefix]
    return number * factor * (8 if kind == "B" else 1)


def of_ethernet(text: str) -> float | None:
    """Rate in bit/s of an Ethernet type such as `100GBASE-CR4`, `10GigBaseSR`, `100gbase-x-qsfp28` or `1000BaseT`."""
    found = _ETHERNET.match(text.strip())
    if not found:
        return None
    return int(found[1] or 1) * float(found[2]) * (1e9 if found[3] else 1e6)
