"""Transports written in Python: subclasses of `CongestionControl`, which run beside the built-in transports.

Such a transport needs no compiler, but is slow, because every ACK calls the interpreter. `docs/adding-a-transport.md`
has an example.
"""

import ast
import hashlib
import importlib.util
import inspect
import math
import os
import sys
import uuid
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import ClassVar, Literal

from shortflow._core import Ack, Flow, Opening, Scheme, Window
from shortflow.errors import ConfigError, did_you_mean

Cause = Literal["ecn-echo", "fast-retransmit", "timeout"]
"""Reason for which a law is asked to reduce its window."""
SOURCE = "transport.source"
"""Key of a Python law's fingerprint among a scheme's parameters."""
Given = tuple[str, str, str]
"""A key, its value, and the value's source: scheme, --set or `OWN`."""
OWN = "scheme+key="
"""Source of a value in the scheme's name, such as `dctcp+g=0.5`. No other setting changes such a value."""
UNSAVED = "unsaved-"
"""Prefix of the fingerprint of a law without a file."""


class CongestionControl:
    """A window law. One instance serves one connection.

    cwnd and ssthresh are in segments, sizes in bytes, times in seconds, rates in bits per second: see `Window`, `Ack`
    and `Flow`. The default hooks behave as TCP with ECN: cwnd grows by one segment per round trip and halves on a mark.
    `parameters` maps names for `--set transport.NAME=…` to defaults. Each parameter is an attribute of the instance.

    Every ACK has its round-trip time, the parts of this time in queues of switches and of hosts, and the delivery rate.
    A law may set `window.pacing_bps`. A window below one segment needs a `floor` below 1. Without `pacing_bps`, such a
    window sends one segment every RTT / cwnd.
    """

    parameters: ClassVar[Mapping[str, float]] = {}
    base: ClassVar[str] = "dctcp"
    """Scheme that supplies loss recovery, ECN behaviour and queue. Only the window law is replaced."""
    floor: ClassVar[float] = 1.0
    """Smallest window of the law, in segments. A smaller window is an error, because the law would stall."""
    timer_s: float | None = None
    """Simulated time in seconds of the next `on_timer`. `None` for no timer. Cleared by the call."""
    alpha: float | None = None
    """Congestion estimate for samples. `None` if there is none."""

    def on_start(self, window: Window, opening: Opening) -> None:
        """Sets the first window, before the first packet.

        On entry, the window is `tcp.initial_window`. Over `dcqcn`, it is infinite.
        """

    def on_ack(self, window: Window, ack: Ack) -> None:
        """Handles an ACK, also of data beyond a gap. Opens the window if `ack.may_grow`."""
        if ack.may_grow:
            self.grow(window, ack)

    def on_congestion(self, window: Window, cause: Cause, flow: Flow) -> None:
        """Shrinks the window once for `cause`. After a timeout, cwnd is one segment."""
        if cause == "ecn-echo":
            self.multiplicative_decrease(window, 0.5)
        else:
            self.on_loss(window, cause, flow)

    def on_timer(self, window: Window, flow: Flow) -> None:
        """Called at the time `timer_s`."""

    @staticmethod
    def grow(window: Window, ack: Ack, step: float = 1.0) -> None:
        """Slow start below ssthresh, otherwise `step` segments per round trip (RFC 5681)."""
        if window.cwnd < window.ssthresh:
            window.cwnd += min(ack.acked / ack.flow.mss, 1.0)
        else:
            window.cwnd += step / window.cwnd

    @staticmethod
    def multiplicative_decrease(window: Window, factor: float, floor: float = 1.0) -> None:
        """Multiplies cwnd by `factor`, not below `floor`, and ends slow start at the new window."""
        window.cwnd = max(window.cwnd * factor, floor)
        window.ssthresh = max(window.cwnd, 2.0)

    @staticmethod
    def on_loss(window: Window, cause: Cause, flow: Flow) -> None:
        """TCP's response to loss (RFC 5681): half the flight, which is at most cwnd, or one segment after a timeout."""
        window.ssthresh = max(flow.flight / flow.mss / 2.0, 2.0)
        window.cwnd = 1.0 if cause == "timeout" else window.ssthresh


Transport = type[CongestionControl]


def load_transport(reference: str) -> Transport:
    """Loads the class named by `FILE.py:CLASS`.

    Raises `ConfigError` for a missing file or class, or an error in the file.
    """
    file, _, name = reference.rpartition(":")
    if not file:
        raise ConfigError(f"{reference}: names no class; expected FILE.py:CLASS")
    path = Path(file)
    if not path.is_file():
        raise ConfigError(f"{reference}: there is no file {file!r}; expected FILE.py:CLASS")
    # A module name unique to the file, so that `law.py` of two folders are different modules.
    module_name = f"{path.stem}_{hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:12]}"
    spec = importlib.util.spec_from_file_location(module_name, path)
    if spec is None:
        raise ConfigError(f"{file}: not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    try:
        # no bytecode, because a cached file counts as fresh if the source changes within a second at equal size
        exec(compile(path.read_bytes(), path, "exec"), vars(module))
    except Exception as error:
        hint = ""
        # A module in the law's own folder is not on the path of a program.
        if isinstance(error, ModuleNotFoundError) and error.name and (path.parent / f"{error.name}.py").is_file():
            hint = f"; PYTHONPATH={path.parent} finds it"
        raise ConfigError(f"{file}: {type(error).__name__}: {error}{hint}") from error
    found: dict[str, Transport] = {key: value for key, value in vars(module).items() if is_transport(value)}
    if name not in found:
        known = f" (known: {', '.join(found)})" if found else ""
        raise ConfigError(
            f"{file}: no subclass of CongestionControl is called {name!r}{did_you_mean(name, found)}{known}"
        )
    return found[name]


def as_scheme(transport: Transport, settings: Sequence[Given], label: str | None = None) -> Scheme:
    """A transport as a scheme, with its parameters.

    Other settings go to the base. Later settings override earlier ones. Raises `ConfigError` for an invalid law or
    setting.
    """
    _check_hooks(transport)
    own = {key: text for key, text, _ in settings if _is_own(transport, key)}
    values = dict(transport.parameters)
    for key, text in own.items():
        try:
            values[key.removeprefix("transport.")] = number = float(text)
        except ValueError:
            raise ConfigError(f"{key}: {text!r} is not a number") from None
        if not math.isfinite(number):
            raise ConfigError(f"{key}: {text!r} is not a finite number")
    bound = type(transport.__name__, (transport,), {**values, "__module__": transport.__module__})
    summary = (inspect.getdoc(transport) or "").split("\n")[0]
    sources = {key: source for key, _, source in settings}
    found = [*((f"transport.{name}", repr(value)) for name, value in values.items()), (SOURCE, _fingerprint(transport))]
    resolved = [(key, value, sources.get(key, "default")) for key, value in found]
    of_base = [each for each in settings if each[0] not in own]
    try:
        return Scheme.user_defined(transport.base, label or transport.__name__, summary, of_base, bound, resolved)
    except ConfigError as error:
        raise ConfigError(f"{transport.__name__}, over the scheme {transport.base!r}: {error}") from None


def _check_hooks(transport: Transport) -> None:
    """Raises `ConfigError` for an unknown or wrongly declared hook, or a parameter whose name every law has."""
    if not isinstance(transport.parameters, Mapping):
        raise ConfigError(
            f"{transport.__name__}.parameters: give a mapping of names to numbers, such as {{'gain': 0.5}}"
        )
    for name in transport.parameters:
        if name != "floor" and name in vars(CongestionControl):
            raise ConfigError(f"{transport.__name__}.parameters: {name!r} is a name of every law; choose another name")
    for name, value in transport.parameters.items():
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            raise ConfigError(f"{transport.__name__}.parameters: {name} is {value!r}, and not a finite number")
    hooks = [name for name in vars(CongestionControl) if name.startswith("on_")]
    for name in dir(transport):
        if name.startswith("on_") and name not in hooks:
            hint = did_you_mean(name, hooks) or f"; hooks are {', '.join(hooks)}"
            raise ConfigError(f"{transport.__name__}.{name}: no hook of that name{hint}")
    if all(getattr(transport, name) is getattr(CongestionControl, name) for name in hooks):
        raise ConfigError(
            f"{transport.__name__}: it has no hook, and would run as TCP; define {' or '.join(hooks[:3])}"
        )
    for name in hooks:
        usual, own = (getattr(object.__new__(each), name) for each in (CongestionControl, transport))
        if not callable(own) or inspect.iscoroutinefunction(own):
            raise ConfigError(f"{transport.__name__}.{name}: a hook is a plain function (def {name}(self, …))")
        wanted, given = (", ".join(inspect.signature(each).parameters) for each in (usual, own))
        try:
            inspect.signature(own).bind(*wanted.split(", "))
        except TypeError:
            code = inspect.unwrap(own).__code__
            raise ConfigError(
                f"{code.co_filename}:{code.co_firstlineno}: {transport.__name__}.{name} is called with "
                f"({wanted}), and takes ({given}); give it these parameters"
            ) from None


def _fingerprint(transport: Transport) -> str:
    """Hash of a law's code. A changed law gets a new fingerprint.

    The hash covers the files of the class and its bases, and recursively the modules that they import from the same
    folders. A law without a file gets a unique value each time.
    """
    files: dict[Path, str] = {}
    for each in transport.__mro__:
        if each is object:
            continue
        file = getattr(inspect.getmodule(each), "__file__", None)
        if file is None or not Path(file).is_file():
            return f"{UNSAVED}{uuid.uuid4()}"
        home = Path(file).resolve()
        # Of Shortflow, only the base class runs at each ACK, and the build id covers Shortflow.
        _collect(home, home.parent, files, follow=each is not CongestionControl)
    return hashlib.sha256("\n".join(sorted(files.values())).encode()).hexdigest()[:12]


def _collect(file: Path, folder: Path, files: dict[Path, str], *, follow: bool = True) -> None:
    """Adds a source file (name in the folder, hash) and, with `follow`, the modules that it imports from the folder."""
    if file in files:
        return
    source = file.read_bytes()
    files[file] = f"{os.path.relpath(file, folder)} {hashlib.sha256(source).hexdigest()}"
    for name in _imports(source, file, folder) if follow else ():
        for candidate in (name.with_name(f"{name.name}.py"), name / "__init__.py"):
            if candidate.is_file():
                _collect(candidate.resolve(), folder, files)


def _imports(source: bytes, file: Path, folder: Path) -> Iterator[Path]:
    """Paths in a folder, without suffix, of the modules that a file imports."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):  # the file is not the loaded code, but still counts
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found = [folder.joinpath(*alias.name.split(".")) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = file.parents[min(node.level, len(file.parents)) - 1] if node.level else folder
            module = base.joinpath(*(node.module or "").split("."))
            found = [module / alias.name for alias in node.names]
        else:
            continue
        for each in found:  # a package runs before its modules
            yield from (
                each,
                *(parent for parent in each.parents if parent != folder and parent.is_relative_to(folder)),
            )


def accepts(transport: Transport, key: str, host_queue: str | None = None) -> bool:
    """True if the transport has the parameter `transport.NAME`, or if its base has `key` and keeps it.

    `host_queue` is the discipline of host ports (default: the base's own).
    """
    return _is_own(transport, key) or Scheme.keeps(transport.base, key, host_queue)


def _is_own(transport: Transport, key: str) -> bool:
    return key.startswith("transport.") and key.removeprefix("transport.") in transport.parameters


def is_transport(value: object) -> bool:
    """True for subclasses of `CongestionControl`."""
    return isinstance(value, type) and issubclass(value, CongestionControl) and value is not CongestionControl
