"""HPCC's `config.txt`: marking by rate, buffer, flow control, packet size, and congestion control with its constants.

Source: HPCC's `mix/config_doc.txt`, `simulation/scratch/third.cc` and `src/point-to-point/model/switch-mmu.cc`.
"""

import re
from collections.abc import Callable, Mapping
from pathlib import Path

from shortflow.imports import columns
from shortflow.imports.files import File
from shortflow.imports.parts import Format, Options, Part, Ports, Value
from shortflow.imports.rates import of_data_rate, written

_HPCC_MODE = 3
_MODES = {1: "DCQCN", 3: "HPCC", 7: "TIMELY", 8: "DCTCP", 10: "HPCC-PINT"}
_DCQCN: Mapping[str, tuple[str, str]] = {
    "EWMA_GAIN": ("g", ""),
    "ALPHA_RESUME_INTERVAL": ("alpha_timer", "us"),
    "RP_TIMER": ("rate_timer", "us"),
    "RATE_DECREASE_INTERVAL": ("decrease_timer", "us"),
    "FAST_RECOVERY_TIMES": ("fast_recovery", ""),
    "RATE_AI": ("additive", ""),
    "RATE_HAI": ("hyper", ""),
    "MIN_RATE": ("min_rate", ""),
}
"""Keys of DCQCN, with the unit of keys whose values are plain numbers."""
_HPCC: Mapping[str, tuple[str, str]] = {
    "U_TARGET": ("eta", ""),
    "MI_THRESH": ("max_stage", ""),
    "MIN_RATE": ("min_rate", ""),
}
"""Keys of HPCC. RATE_AI is a rate in HPCC's file, but a number of bytes in Shortflow."""
_TIMELY: Mapping[str, tuple[str, str]] = {"RATE_AI": ("delta", ""), "MIN_RATE": ("min_rate", "")}
"""Keys of TIMELY. RATE_HAI is a rate in HPCC's file, but a multiple of delta in Shortflow."""
_RATES = ("RATE_AI", "RATE_HAI", "MIN_RATE")
"""Keys whose values are rates. As in ns-3, a rate without a unit is in bit/s."""
_CURVE: Mapping[str, tuple[str, str]] = {
    "KMIN_MAP": ("mark_above", "KB"),
    "KMAX_MAP": ("mark_all_above", "KB"),
    "PMAX_MAP": ("mark_probability", ""),
}
"""Maps by rate, with their keys of [switch] and units."""
_MAPS = tuple(_CURVE)
_INPUTS = ("TOPOLOGY_FILE", "FLOW_FILE")
_ON = "ENABLE_QCN"
"""Key that turns marking on."""
_PFC = ("ENABLE_PFC", "USE_DYNAMIC_PFC_THRESHOLD")
_KNOWN = {"CC_MODE", "PACKET_PAYLOAD_SIZE", "BUFFER_SIZE", _ON, *_PFC, *_MAPS, *_INPUTS}
_FAULTS: Mapping[str, str] = {
    "ERROR_RATE_PER_LINK": "set `loss` in [faults] for such losses",
    "LINK_DOWN": "[faults] has outages of links",
}
_OLD_MARKS = ("KMIN", "KMAX", "PMAX")
"""Keys of the first version, from DCQCN's simulator, which counts packets."""
_MARKS = "queue.mark=departure+queue.drop_not_ect=false"
"""HPCC's switches mark a departing packet by the queue that remains, and do not drop packets instead."""
_STEP = "queue.mark=departure"
_OVER = f"queue.weight=1+queue.gentle=false+queue.spread=false+{_MARKS}"
_SHIFT = 3
"""With the first host's rate, a port pauses above 2^-3 of the free memory."""
_HEADROOM = 3
"""Headroom of a port, in propagation delays of its link times its rate."""
_KEY = re.compile(r"[A-Z][A-Z0-9_]+")
_LEAST = 3
"""Minimum number of keys of this form that make a file a configuration."""


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
    if "KMIN_MAP" in lines:
        part.notes.append("KMIN_MAP, KMAX_MAP and PMAX_MAP have rates in bit/s, and thresholds in kB of 1,000 bytes.")
    alone = [key for key in _RATES if key in lines and columns.is_number(lines[key][1][0])]
    if alone:
        part.notes.append(f"{' and '.join(alone)} without a unit: in bit/s, as ns-3 reads rates.")
    _put_switch(file, lines, part)
    if "PACKET_PAYLOAD_SIZE" in lines:
        number, words = lines["PACKET_PAYLOAD_SIZE"]
        size = file.whole(number, "PACKET_PAYLOAD_SIZE", words[0], 1)
        part.values["tcp.mss"] = Value(f"{size}B", file.origin(number))
    used |= _put_scheme(file, lines, part)
    _follow(file, lines, part)
    for key, why in _FAULTS.items():
        if key in lines and any(float(each) for each in lines[key][1] if columns.is_number(each)):
            part.left_out.append(f"{key} {' '.join(lines[key][1])} in line {lines[key][0]}: {why}.")
    if any(key in lines for key in _OLD_MARKS):
        part.left_out.append(
            "KMIN, KMAX and PMAX. They count packets of 1,030 or 1,500 bytes, depending on the version. Give "
            "switch.mark_above, switch.mark_all_above and switch.mark_probability with --set."
        )
    rest = [key for key in lines if key not in {*used, *_FAULTS, *_OLD_MARKS}]
    outputs = [key for key in rest if "FILE" in key or "TRACE" in key or key.startswith("QLEN")]
    rest = [key for key in rest if key not in outputs]
    if rest:
        part.left_out.append(f"Keys without a counterpart: {', '.join(rest)}.")
    if outputs:
        part.left_out.append(
            f"Keys of outputs: {', '.join(outputs)}. `shortflow export --as fct.txt` writes HPCC's output."
        )
    return part


def _put_switch(file: File, lines: Mapping[str, tuple[int, list[str]]], part: Part) -> None:
    """Adds marking by the rate of ports, and the buffer with its flow control."""
    by_rate = _marks(file, lines)
    if lines.get(_ON, (0, ["1"]))[1][0] == "0":
        number = lines[_ON][0]
        by_rate = {0.0: {"mark_above": Value("unlimited", f"{file.origin(number)}: {_ON} 0")}}
    origin = file.origin(lines["KMIN_MAP"][0]) if "KMIN_MAP" in lines else file.origin()
    if "BUFFER_SIZE" not in lines:
        if by_rate:
            part.ports = Ports(by_rate, None, origin)
        part.left_out.append(
            "PFC, because the file has no BUFFER_SIZE and so no threshold. Set `switch.xoff` to turn PFC on."
        )
        return
    number, words = lines["BUFFER_SIZE"]
    said = file.origin(number)
    size = f"{file.number(number, 'BUFFER_SIZE', words[0], 1e-6):.12g}MiB"
    part.values["switch.memory"] = Value(size, said)
    part.values["switch.buffer"] = Value("unlimited", f"{said}: ports share the memory")
    enabled = lines.get("ENABLE_PFC")
    if enabled is None:
        part.values["switch.xoff"] = Value(size, f"{said}: no limit but the share of the free memory")
        part.left_out.append(
            "The 3 KiB by which HPCC's XON is below XOFF. In Shortflow, a link resumes at XOFF, a share of the free "
            "memory."
        )
        part.ports = Ports(by_rate, None, origin, lambda rate, delay, first: _flow_control(rate, delay, first, said))
        return
    part.values["switch.memory_alpha"] = Value(1000, f"{said}: no limit of a port but the memory")
    if by_rate:
        part.ports = Ports(by_rate, None, origin)
    if enabled[1][0] != "0":
        part.left_out.append(
            f"ENABLE_PFC {enabled[1][0]} in line {enabled[0]}: versions with this key have the thresholds in their "
            "code. Set `switch.xoff` to turn PFC on."
        )


def _flow_control(rate: float, delay: float | None, first: float, said: str) -> dict[str, Value]:
    """Flow control of a port.

    Its share of the free memory doubles with each doubling of its rate above the first host's, up to 1.
    """
    shift, left = _SHIFT, rate
    while left > first and shift > 0:
        shift, left = shift - 1, left / 2
    found = {"xoff_alpha": Value(2.0**-shift, f"{said}: 2^-{shift} of the free memory, by the rate of the port")}
    if delay:
        headroom = _HEADROOM * int(rate * delay / 8)
        found["headroom"] = Value(f"{headroom}B", f"{said}: {_HEADROOM} delays at the rate of the port")
    return found


def _marks(file: File, lines: Mapping[str, tuple[int, list[str]]]) -> dict[float, Mapping[str, Value]]:
    """RED curves by the rate of ports: thresholds in kB, and the probability at the upper threshold."""
    maps = {key: (lines[key][0], _rates(file, key, *lines[key])) for key in _MAPS if key in lines}
    if "KMIN_MAP" not in maps:
        return {}
    rates = dict.fromkeys(rate for _, values in maps.values() for rate in values)
    for key, (number, values) in maps.items():
        for rate in rates:
            if rate not in values:
                said = " ".join(lines[key][1])
                raise file.wrong(number, key, said, f"a pair for {rate:.0f} bit/s, as in another map")
    found: dict[float, dict[str, Value]] = {}
    for key, (name, unit) in _CURVE.items():
        number, values = maps.get(key, (0, {}))
        for rate, value in values.items():
            of_port: str | float = f"{value:.12g}{unit}" if unit else value
            found.setdefault(rate, {})[name] = Value(of_port, file.origin(number))
    return dict(found)


def _rates(file: File, key: str, number: int, words: list[str]) -> dict[float, float]:
    count = file.whole(number, key, words[0], 1)
    if len(words) < 1 + 2 * count:
        raise file.wrong(number, key, " ".join(words), f"{count} pairs of a rate in bit/s and a value")
    pairs = [file.number(number, key, word) for word in words[1 : 1 + 2 * count]]
    return dict(zip(pairs[::2], pairs[1::2], strict=True))


def _put_scheme(file: File, lines: Mapping[str, tuple[int, list[str]]], part: Part) -> set[str]:
    """Adds the scheme of CC_MODE with its constants. Returns the keys that the scheme uses."""
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
        part.left_out.append(f"CC_MODE {mode} in line {number}: {name} has no counterpart. Choose schemes to compare.")
        return set()
    scheme, used = schemes[mode]()
    if mode == _HPCC_MODE and "RATE_AI" in lines:
        used.add("RATE_AI")
        part.left_out.append(
            f"RATE_AI {lines['RATE_AI'][1][0]}. The increase of hpcc is in bytes: add `+increase=BYTES` to the "
            "scheme, with RATE_AI times the base round trip."
        )
    part.schemes.append(Value(scheme, f"{file.origin(number)}: {name}"))
    return used


def _dcqcn(file: File, lines: Mapping[str, tuple[int, list[str]]]) -> tuple[str, set[str]]:
    found, used = _with_keys("dcqcn", _DCQCN, file, lines)
    is_on = {key: key in lines and lines[key][1][0] != "0" for key in ("HAS_WIN", "VAR_WIN", "CLAMP_TARGET_RATE")}
    used |= {key for key, on in is_on.items() if not on}
    if is_on["HAS_WIN"] and is_on["VAR_WIN"]:
        used |= {"HAS_WIN", "VAR_WIN"}
        found += "+window=true"
    return f"{found}+cnp_every=0s+queue.min=auto+{_MARKS}", used


def _with_keys(
    scheme: str, keys: Mapping[str, tuple[str, str]], file: File, lines: Mapping[str, tuple[int, list[str]]]
) -> tuple[str, set[str]]:
    """The scheme with the values of these keys, and the keys that the file has."""
    found, used = scheme, set()
    for key, (name, unit) in keys.items():
        if key in lines:
            number, words = lines[key]
            rate = of_data_rate(words[0]) if key in _RATES else None
            if key in _RATES and not rate:
                raise file.wrong(number, key, words[0], "a rate above zero such as 40Mb/s")
            value = written(rate) if rate else f"{file.number(number, key, words[0]):.12g}{unit}"
            found += f"+{name}={value}"
            used.add(key)
    return found, used


def _dctcp(file: File, lines: Mapping[str, tuple[int, list[str]]]) -> tuple[str, set[str]]:
    """DCTCP over the RED curves of the ports, or over a step threshold if KMIN equals KMAX."""
    ends = [_rates(file, key, *lines[key]) for key in ("KMIN_MAP", "KMAX_MAP") if key in lines]
    is_step = all(each == ends[0] for each in ends)
    over = f"dctcp+{_STEP}" if is_step else f"dctcp over red+{_OVER}"
    if "EWMA_GAIN" not in lines:
        return over, set()
    number, words = lines["EWMA_GAIN"]
    return f"{over}+g={file.number(number, 'EWMA_GAIN', words[0]):.12g}", {"EWMA_GAIN"}


def _follow(file: File, lines: Mapping[str, tuple[int, list[str]]], part: Part) -> None:
    """Adds files that the configuration names: relative to its directory, to the parent directory, or by name only."""
    for key in _INPUTS:
        if key not in lines:
            continue
        named = Path(lines[key][1][0].replace("\\", "/"))
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
