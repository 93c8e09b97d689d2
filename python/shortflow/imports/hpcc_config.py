"""HPCC's `config.txt`: marking thresholds by rate, buffer, packet size, and the congestion control with its constants.

Source: HPCC's `mix/config_doc.txt` and `simulation/scratch/third.cc`.
"""

import re
from collections.abc import Callable, Mapping
from pathlib import Path

from shortflow.imports import columns
from shortflow.imports.files import File
from shortflow.imports.parts import Format, Options, Part, Ports, Value

_MODES = {1: "DCQCN", 3: "HPCC", 7: "TIMELY", 8: "DCTCP", 10: "HPCC-PINT"}
_DCQCN: Mapping[str, tuple[str, str]] = {
    "EWMA_GAIN": ("g", ""),
    "ALPHA_RESUME_INTERVAL": ("alpha_timer", "us"),
    "RP_TIMER": ("rate_timer", "us"),
    "RATE_DECREASE_INTERVAL": ("cnp_every", "us"),
    "FAST_RECOVERY_TIMES": ("fast_recovery", ""),
    "RATE_AI": ("additive", ""),
    "RATE_HAI": ("hyper", ""),
    "MIN_RATE": ("min_rate", ""),
}
"""Keys of DCQCN, and the unit of those that are numbers alone."""
_HPCC: Mapping[str, tuple[str, str]] = {
    "U_TARGET": ("eta", ""),
    "MI_THRESH": ("max_stage", ""),
    "MIN_RATE": ("min_rate", ""),
}
"""Keys of HPCC. RATE_AI is a rate there, and a number of bytes here."""
_TIMELY: Mapping[str, tuple[str, str]] = {"RATE_AI": ("delta", ""), "MIN_RATE": ("min_rate", "")}
"""Keys of TIMELY. RATE_HAI is a rate there, and a multiple of delta here."""
_CURVE: Mapping[str, tuple[str, str]] = {
    "KMIN_MAP": ("mark_above", "KB"),
    "KMAX_MAP": ("mark_all_above", "KB"),
    "PMAX_MAP": ("mark_probability", ""),
}
"""Maps by rate, their keys of [switch], and units."""
_MAPS = tuple(_CURVE)
_INPUTS = ("TOPOLOGY_FILE", "FLOW_FILE")
_KNOWN = {"CC_MODE", "PACKET_PAYLOAD_SIZE", "BUFFER_SIZE", *_MAPS, *_INPUTS}
_KEY = re.compile(r"[A-Z][A-Z0-9_]+")
_LEAST = 3
"""Keys of this form that make a file a configuration."""


def _is_config(file: File) -> bool:
    first = [columns.fields(line)[0] for line in file.head_lines()[:60]]
    keys = [key for key in first if _KEY.fullmatch(key)]
    return len(keys) >= _LEAST and bool({"CC_MODE", "ENABLE_QCN", "PACKET_PAYLOAD_SIZE", "FLOW_FILE"} & set(keys))


def _read(file: File, _: Options) -> Part:
    lines: dict[str, tuple[int, list[str]]] = {}
    for number, line in file.lines():
        words = columns.fields(re.sub(r"\{.*", "", line))
        if _KEY.fullmatch(words[0]) and len(words) > 1:
            lines[words[0]] = (number, words[1:])
    part, used = Part(), set(_KNOWN)
    _put_marks(file, lines, part)
    if "PACKET_PAYLOAD_SIZE" in lines:
        number, words = lines["PACKET_PAYLOAD_SIZE"]
        size = file.whole(number, "PACKET_PAYLOAD_SIZE", words[0], 1)
        part.values["tcp.mss"] = Value(f"{size}B", file.origin(number))
    if "BUFFER_SIZE" in lines:
        number, words = lines["BUFFER_SIZE"]
        megabytes = file.number(number, "BUFFER_SIZE", words[0])
        part.values["switch.memory"] = Value(f"{megabytes:g}MB", file.origin(number))
        part.values["switch.buffer"] = Value("unlimited", f"{file.origin(number)}: ports share the memory")
        part.values["switch.memory_alpha"] = Value(1000, f"{file.origin(number)}: no limit of a port but the memory")
    used |= _put_scheme(file, lines, part)
    _follow(file, lines, part)
    rest = [key for key in lines if key not in used]
    outputs = [key for key in rest if "FILE" in key or "TRACE" in key or key.startswith("QLEN")]
    rest = [key for key in rest if key not in outputs]
    if rest:
        part.left_out.append(f"Keys without a counterpart: {', '.join(rest)}.")
    if outputs:
        part.left_out.append(f"Keys of outputs: {', '.join(outputs)}; see `shortflow export --as fct.txt`.")
    return part


def _put_marks(file: File, lines: Mapping[str, tuple[int, list[str]]], part: Part) -> None:
    """RED's curve of ports by their rate: thresholds in kB, and the probability at the highest."""
    maps = {key: (lines[key][0], _rates(file, key, *lines[key])) for key in _MAPS if key in lines}
    if "KMIN_MAP" not in maps:
        return
    found: dict[float, dict[str, Value]] = {}
    for key, (name, unit) in _CURVE.items():
        number, values = maps.get(key, (0, {}))
        for rate, value in values.items():
            written: str | float = f"{value:g}{unit}" if unit else value
            found.setdefault(rate, {})[name] = Value(written, file.origin(number))
    part.ports = Ports(found, None, file.origin(maps["KMIN_MAP"][0]))


def _rates(file: File, key: str, number: int, words: list[str]) -> dict[float, float]:
    count = file.whole(number, key, words[0], 1)
    if len(words) < 1 + 2 * count:
        raise file.wrong(number, key, " ".join(words), f"{count} pairs of a rate in bit/s and a value")
    pairs = [file.number(number, key, word) for word in words[1 : 1 + 2 * count]]
    return dict(zip(pairs[::2], pairs[1::2], strict=True))


def _put_scheme(file: File, lines: Mapping[str, tuple[int, list[str]]], part: Part) -> set[str]:
    """The scheme of CC_MODE with its constants. Returns the keys that it uses."""
    if "CC_MODE" not in lines:
        return set()
    number, words = lines["CC_MODE"]
    mode = file.whole(number, "CC_MODE", words[0])
    name = _MODES.get(mode, f"mode {mode}")
    schemes: dict[int, Callable[[], tuple[str, set[str]]]] = {
        1: lambda: _dcqcn(file, lines),
        3: lambda: _with_keys("hpcc", _HPCC, file, lines),
        7: lambda: _with_keys("timely", _TIMELY, file, lines),
        8: lambda: _dctcp(file, lines),
    }
    if mode not in schemes:
        part.left_out.append(f"CC_MODE {mode} in line {number}: {name} has no counterpart; choose schemes to compare.")
        return set()
    scheme, used = schemes[mode]()
    part.schemes.append(Value(scheme, f"{file.origin(number)}: {name}"))
    return used


def _dcqcn(file: File, lines: Mapping[str, tuple[int, list[str]]]) -> tuple[str, set[str]]:
    found, used = _with_keys("dcqcn", _DCQCN, file, lines)
    return f"{found}+queue.min=auto", used


def _with_keys(
    scheme: str, keys: Mapping[str, tuple[str, str]], file: File, lines: Mapping[str, tuple[int, list[str]]]
) -> tuple[str, set[str]]:
    """The scheme with the values of these keys, and the keys that are there."""
    found, used = scheme, set()
    for key, (name, unit) in keys.items():
        if key in lines:
            number, words = lines[key]
            value = f"{file.number(number, key, words[0]):.12g}{unit}" if unit or name == "g" else words[0]
            found += f"+{name}={value.replace('b/s', 'bps')}"
            used.add(key)
    return found, used


def _dctcp(file: File, lines: Mapping[str, tuple[int, list[str]]]) -> tuple[str, set[str]]:
    if "EWMA_GAIN" not in lines:
        return "dctcp", set()
    number, words = lines["EWMA_GAIN"]
    return f"dctcp+g={file.number(number, 'EWMA_GAIN', words[0]):.12g}", {"EWMA_GAIN"}


def _follow(file: File, lines: Mapping[str, tuple[int, list[str]]], part: Part) -> None:
    """Files that the configuration names: below its directory, or beside it."""
    for key in _INPUTS:
        if key not in lines:
            continue
        named = Path(lines[key][1][0])
        places = (named, Path("..") / named, Path(named.name))
        found = next((place for place in places if (file.path.parent / place).is_file()), None)
        if found:
            part.more.append(str(found))
        else:
            part.notes.append(f"{key} {named} is not there; give that file too.")


CONFIG = Format(
    "hpcc-config",
    "HPCC's and conweave's config.txt: thresholds, buffer, packet size, congestion control",
    "lines of a key and a value: CC_MODE 3, KMIN_MAP 3 25000000000 100 …",
    _is_config,
    _read,
)
