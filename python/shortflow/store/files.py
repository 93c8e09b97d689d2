"""Files and directories that appear complete or not at all.

What is being written stands under a hidden name beside its place and is renamed when it is whole. Its writer holds a
lock (flock) on it meanwhile, which the kernel drops with the process, in whatever container that runs: what is hidden
and not locked has no writer any more and can be removed.
"""

import contextlib
import ctypes
import errno
import fcntl
import hashlib
import os
import re
import secrets
import shutil
from collections.abc import Callable, Iterator
from enum import Enum
from pathlib import Path
from typing import TypeVar

from shortflow.errors import ConfigError, DamagedResult
from shortflow.lazy import msgspec

Found = TypeVar("Found")

_PARTIAL = ".partial@"
_ASIDE = ".aside@"
"""Before the name of an earlier directory for the moment in which a new one takes its place."""

_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
_AT_FDCWD = -100
_RENAME_EXCHANGE = 2
_OCCUPIED = (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR)
_SEAL = re.compile(rb',\n "checksum": "([0-9a-f]{64})"\n}\n\Z')
_LOOKED_AT = 65_536
"""So many bytes at each end of a file tell its kind."""
_UNSUPPORTED = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP)


@contextlib.contextmanager
def new_directory(target: Path) -> Iterator[Path]:
    """A directory that takes the place of `target` when the block ends well, and vanishes when it does not.

    An `OSError` names the target.
    """
    with _naming(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        with _hidden(target.parent, Path.mkdir) as partial:
            yield partial
            for path in partial.iterdir():
                _flush(path)
            _swap(partial, target)


class Kind(Enum):
    """Kinds of files that users name, by what stands at the beginning and at the end of each."""

    PAGE = (
        rb"\A\s*<!doctype html>.{,2000}"
        rb"<meta (name=\"generator\" content=\"Shortflow\"|[^>]*default-src 'none'; script-src 'nonce-[^>]*blob:\")>"
    )
    """The latter of 0.2.0, which named no generator."""
    CAPTURE = rb"\A\n\r\r\n.{24}shortflow "
    TRACE = rb"\APAR1.*cwnd_seg.*PAR1\Z"
    RUNS = rb"\APAR1.*scheme.*PAR1\Z"
    SCHEMA = rb'\A\{.*"title": "a Shortflow scenario"'
    AGREEMENT = rb'\A\[\s*\{\s*"scenario": .*"kept_time": '
    PICTURE = rb'\A<svg .{,2000} class="drawn">'
    TABLE = rb"\A\| scenario \| metric \| "
    DOCUMENT = rb"\A# (The papers, claim by claim|Beyond the papers: who wins where|\w+\n\n[^\n]+\n\nagrees: )"
    CHECKED = rb"\A\{"
    """JSON of which all was read and checked before."""


def is_of_kind(path: Path, kind: Kind) -> bool:
    """Whether a file is an earlier output of this kind."""
    if not path.is_file():
        return False
    with _naming(path), path.open("rb") as file:
        ends = file.read(_LOOKED_AT)
        file.seek(max(len(ends), path.stat().st_size - _LOOKED_AT))
        ends += file.read()
    return re.search(kind.value, ends, re.DOTALL) is not None


def check_replaceable(target: Path, kind: Kind) -> None:
    """Refuse to replace what is neither empty nor an earlier output of this kind; a `ConfigError` names it."""
    if target.is_file() and target.stat().st_size and not is_of_kind(target, kind):
        raise ConfigError(f"{target}: exists and is no earlier output of this kind; remove it, or name another file")


def write_bytes(path: Path, data: bytes, kind: Kind | None = None) -> None:
    """Write a file that appears complete or not at all; an `OSError` names it.

    It replaces none that is not of its kind; without a kind it is a part of a result, which its name tells. A link
    stays one, and a device or pipe takes the data as it stands.
    """
    with new_file(path, kind) as partial:
        partial.write_bytes(data)


@contextlib.contextmanager
def new_file(target: Path, kind: Kind | None, beside: Path | None = None) -> Iterator[Path]:
    """A file that takes the place of `target` when the block ends well, and vanishes when it does not.

    Until then it stands in the directory `beside`, or in that of the target. An `OSError` names the target. A link
    stays one, and a device or pipe takes the data as it stands.
    """
    target = target.resolve()
    with _naming(target):
        if target.exists() and not target.is_file():
            with _read_by_somebody(target):
                yield target
            return
        if kind:
            check_replaceable(target, kind)
        place = beside or target.parent
        place.mkdir(parents=True, exist_ok=True)
        sweep(place)
        with _hidden(place, Path.touch) as partial:
            yield partial
            _flush(partial)
            partial.replace(target)


@contextlib.contextmanager
def _read_by_somebody(pipe: Path) -> Iterator[None]:
    """An open device or pipe; a pipe without a reader, which would be waited for, is an `OSError`."""
    try:
        descriptor = os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
    except OSError as error:
        raise OSError(
            error.errno, "this pipe has no reader" if error.errno == errno.ENXIO else error.strerror
        ) from None
    try:
        yield
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def hidden_directory(parent: Path) -> Iterator[Path]:
    """A directory for what is needed only while the block lasts."""
    with _hidden(parent, Path.mkdir) as directory:
        yield directory


def write_text(path: Path, text: str, kind: Kind) -> None:
    """Write a text file in UTF-8 that appears complete or not at all, and replaces none that is not of its kind."""
    write_bytes(path, text.encode(), kind)


def read_json(path: Path, shape: type[Found], remedy: str) -> Found:
    """What a JSON file holds, whose types are checked; an `OSError` and a `DamagedResult` name the file."""
    with _naming(path):
        text = path.read_bytes()
    try:
        return msgspec.json.decode(text, type=shape)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise DamagedResult(f"{path}: damaged: {error}; remove it, and {remedy}") from None


def sealed(document: bytes) -> bytes:
    """A JSON object, as text indented by one, with the checksum (SHA-256) of what stands before that as its end."""
    body = document.rstrip().removesuffix(b"\n}")
    return body + b',\n "checksum": "%b"\n}\n' % hashlib.sha256(body).hexdigest().encode()


def check_seal(document: bytes) -> None:
    """A `ValueError` if a sealed text is not as it was written; earlier versions wrote none."""
    found = _SEAL.search(document)
    if found and hashlib.sha256(document[: found.start()]).hexdigest().encode() != found[1]:
        raise ValueError("its checksum is wrong")


def sweep(directory: Path) -> None:
    """Remove what processes that are gone were writing in a directory, and put back what they had moved aside."""
    for path in directory.glob(f"{_PARTIAL}*"):
        with contextlib.suppress(OSError), _opened(path) as handle:
            if _lock(handle, fcntl.LOCK_NB):
                _remove(path)
    for path in directory.glob(f"{_ASIDE}*"):
        _restore(path)


def new_log(target: Path) -> int:
    """A new file to append to, locked for as long as it is open. It has its name only from when it is locked."""
    with _naming(target):
        partial, handle = _claim(target.parent, Path.touch, os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW)
        partial.rename(target)
    return handle


def has_writer(path: Path) -> bool:
    """True if a process may still write a file under its lock. Without file locks the answer is always true."""
    try:
        with _opened(path) as handle:
            return not _lock(handle, fcntl.LOCK_NB)
    except OSError:
        return False


def is_hidden(path: Path) -> bool:
    """Whether this is, or was, a name for what is only being written."""
    return path.name.startswith((_PARTIAL, _ASIDE))


@contextlib.contextmanager
def _hidden(parent: Path, make: Callable[[Path], None]) -> Iterator[Path]:
    """A hidden place under its lock; what has that name in the end is removed."""
    partial, handle = _claim(parent, make)
    try:
        yield partial
    finally:
        os.close(handle)
        _remove(partial)


def _claim(parent: Path, make: Callable[[Path], None], flags: int = _READ) -> tuple[Path, int]:
    while True:
        partial = parent / f"{_PARTIAL}{secrets.token_hex(8)}"
        make(partial)
        with contextlib.suppress(FileNotFoundError):
            handle = os.open(partial, flags)
            _lock(handle)
            if partial.exists():
                return partial, handle
            os.close(handle)  # swept between being made and being locked


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[int]:
    handle = os.open(path, _READ)
    try:
        yield handle
    finally:
        os.close(handle)


def _lock(handle: int, option: int = 0) -> bool:
    """Whether the lock was got; where a file system has none, nobody gets it and nothing is swept."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | option)
    except OSError:
        return False
    return True


def _swap(new: Path, target: Path) -> None:
    """Rename `new` to `target`; an earlier result there takes the name of `new` in the same step.

    At no moment is there neither. Where two processes put the same result there, whoever comes last stays.
    """
    while True:
        try:
            new.rename(target)
            return
        except OSError as error:
            if error.errno not in _OCCUPIED:
                raise
        with contextlib.suppress(FileNotFoundError):
            if _exchange(new, target) or _replace_in_two_steps(new, target):
                return


def _replace_in_two_steps(new: Path, target: Path) -> bool:
    """Move the target aside and then rename; if the process is killed in between, `sweep` undoes the first step."""
    aside = target.with_name(f"{_ASIDE}{target.name}")
    _remove(aside)
    target.rename(aside)
    try:
        new.rename(target)
    except OSError as error:
        if error.errno not in _OCCUPIED:
            raise
        return False  # by another process, which was quicker
    finally:
        _restore(aside)
    return True


def _restore(aside: Path) -> None:
    """Give an earlier directory its name back, or remove it where a newer one has that name."""
    with contextlib.suppress(OSError):
        aside.rename(aside.with_name(aside.name.removeprefix(_ASIDE)))
    _remove(aside)


def _exchange(one: Path, other: Path) -> bool:
    """Exchange two names in one step, as Linux can; false where the system or the file system cannot."""
    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if rename is None:
        return False
    if rename(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), _RENAME_EXCHANGE) == 0:
        return True
    code = ctypes.get_errno()
    if code in _UNSUPPORTED:
        return False
    raise OSError(code, os.strerror(code), str(other))


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)


@contextlib.contextmanager
def _naming(target: Path) -> Iterator[None]:
    """Name the target in errors of the system, which know the hidden name or none."""
    try:
        yield
    except OSError as error:
        if error.errno is None:
            raise
        raise OSError(error.errno, error.strerror, str(target)) from error


def _flush(path: Path) -> None:
    """Make a file's contents safe against a power cut, so that a rename never exposes an empty file."""
    with path.open("rb") as file:
        os.fsync(file.fileno())
