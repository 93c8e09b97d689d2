"""Files and directories that appear complete or not at all.

Partial output has a hidden name next to its target, and is renamed when complete. Until then, its writer holds a lock
(flock). The kernel releases the lock when the process ends, in any container. A hidden file without a lock has no
writer and can be removed.
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

PARTIAL = ".partial@"
"""Prefix of the hidden names of partial output."""
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
_AT_FDCWD = -100
_RENAME_EXCHANGE = 2
_OCCUPIED = (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR)
_SEAL = re.compile(rb',\n "checksum": "([0-9a-f]{64})"\n}\n\Z')
_LOOKED_AT = 65_536
"""Number of bytes read at each end of a file to recognise its kind."""


@contextlib.contextmanager
def new_directory(target: Path) -> Iterator[Path]:
    """A directory that replaces `target` if the block succeeds, and is removed otherwise.

    An `OSError` names the target.
    """
    with _naming(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        with hidden(target.parent) as partial:
            yield partial
            for path in partial.iterdir():
                _flush(path)
            _swap(partial, target)


class Kind(Enum):
    """Kinds of output files, recognised by their first and last bytes."""

    PAGE = (
        rb"\A\s*<!doctype html>.{,2000}"
        rb"<meta (name=\"generator\" content=\"Shortflow\"|[^>]*default-src 'none'; script-src 'nonce-[^>]*blob:\")>"
    )
    """Version 0.2.0 wrote the second form, which names no generator."""
    CAPTURE = rb"\A\n\r\r\n.{24}shortflow "
    TRACE = rb"\APAR1.*cwnd_seg.*PAR1\Z"
    PERFETTO = rb"\A\n.{,12}shortflow"
    RUNS = rb"\APAR1.*scheme.*PAR1\Z"
    SCHEMA = rb'\A\{.*"title": "a Shortflow scenario"'
    AGREEMENT = rb'\A\[\s*\{\s*"scenario": .*"kept_time": '
    PICTURE = rb"<!-- specification [0-9a-f]{64} -->\s*\Z"
    MARKDOWN = rb"\A<!-- written by Shortflow -->"
    SET_UPS = rb"\Achoices,largest factor"
    TABLE = rb"\A\| scenario \| metric \| "
    CHECKED = rb"\A\{"
    """JSON files whose readers check the contents."""


def is_of_kind(path: Path, kind: Kind) -> bool:
    """True if the path is a file that begins and ends as an output of this kind."""
    if not path.is_file():
        return False
    with _naming(path), path.open("rb") as file:
        ends = file.read(_LOOKED_AT)
        file.seek(max(len(ends), path.stat().st_size - _LOOKED_AT))
        ends += file.read()
    return re.search(kind.value, ends, re.DOTALL) is not None


def check_replaceable(target: Path, kind: Kind) -> None:
    """Raises `ConfigError` if `target` is a file that is neither empty nor an earlier output of this kind."""
    if target.is_file() and target.stat().st_size and not is_of_kind(target, kind):
        raise ConfigError(f"{target}: exists and is no earlier output of this kind; remove it, or name another file")


def write_bytes(path: Path, data: bytes, kind: Kind | None = None) -> None:
    """Writes a file atomically. An `OSError` names the file.

    Raises `ConfigError` if an existing file is of another kind. Without a kind, any file is replaced, as for parts of a
    result, which are known by name. A link stays a link. A device or pipe takes the data directly.
    """
    with new_file(path, kind) as partial:
        partial.write_bytes(data)


@contextlib.contextmanager
def new_file(target: Path, kind: Kind | None, beside: Path | None = None) -> Iterator[Path]:
    """A file that replaces `target` if the block succeeds, and is removed otherwise.

    Until then, the file is in the directory `beside` (default: the directory of the target). An `OSError` names the
    target. A link stays a link. For a device or pipe, the block gets the target itself.
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
        remove_leftovers(place)
        with hidden(place, Path.touch) as partial:
            yield partial
            _flush(partial)
            partial.replace(target)


@contextlib.contextmanager
def _read_by_somebody(pipe: Path) -> Iterator[None]:
    """Holds a device or pipe open during the block. Raises `OSError` if a pipe has no reader: writing would block."""
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


def write_text(path: Path, text: str, kind: Kind) -> None:
    """Writes a UTF-8 text file atomically. Raises `ConfigError` if an existing file is of another kind."""
    write_bytes(path, text.encode(), kind)


def read_json_file(path: Path, shape: type[Found], remedy: str) -> Found:
    """Contents of a JSON file, decoded as the type `shape`.

    Raises `OSError` or `DamagedResult`, which name the file. A `DamagedResult` says to remove the file, and `remedy`.
    """
    with _naming(path):
        text = path.read_bytes()
    try:
        return msgspec.json.decode(text, type=shape)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise DamagedResult(f"{path}: damaged: {error}; remove it, and {remedy}") from None


def sealed(document: bytes) -> bytes:
    """A JSON object, indented by one space, with the SHA-256 of the text before as an additional last member."""
    body = document.rstrip().removesuffix(b"\n}")
    return body + b',\n "checksum": "%b"\n}\n' % hashlib.sha256(body).hexdigest().encode()


def check_seal(document: bytes) -> None:
    """Raises `ValueError` if a sealed text was altered. A text without a seal passes: earlier versions wrote none."""
    found = _SEAL.search(document)
    if found and hashlib.sha256(document[: found.start()]).hexdigest().encode() != found[1]:
        raise ValueError("its checksum is wrong")


def remove_leftovers(directory: Path) -> None:
    """Removes the partial output of ended processes from a directory."""
    for path in directory.glob(f"{PARTIAL}*"):
        with contextlib.suppress(OSError), _opened(path) as handle:
            if _lock(handle, fcntl.LOCK_NB):
                _remove(path)


def new_log(target: Path) -> int:
    """Creates a file for appending, and returns its descriptor. The file is locked while open.

    The file gets its name only after it is locked, so no reader takes it for a log without a writer.
    """
    with _naming(target):
        partial, handle = _claim(target.parent, Path.touch, os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW)
        partial.rename(target)
    return handle


def has_writer(path: Path) -> bool:
    """True if a process may still write the file, because it holds the lock. True if there are no file locks."""
    try:
        with _opened(path) as handle:
            return not _lock(handle, fcntl.LOCK_NB)
    except OSError:
        return False


@contextlib.contextmanager
def hidden(parent: Path, make: Callable[[Path], None] = Path.mkdir) -> Iterator[Path]:
    """A hidden directory, or the file that `make` creates, locked during the block and then removed."""
    partial, handle = _claim(parent, make)
    try:
        yield partial
    finally:
        os.close(handle)
        _remove(partial)


def _claim(parent: Path, make: Callable[[Path], None], flags: int = _READ) -> tuple[Path, int]:
    while True:
        partial = parent / f"{PARTIAL}{secrets.token_hex(8)}"
        make(partial)
        with contextlib.suppress(FileNotFoundError):
            handle = os.open(partial, flags)
            _lock(handle)
            if partial.exists():
                return partial, handle
            os.close(handle)  # another process swept the file before it was locked


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[int]:
    handle = os.open(path, _READ)
    try:
        yield handle
    finally:
        os.close(handle)


def _lock(handle: int, option: int = 0) -> bool:
    """Acquires the lock, and returns True. Returns False on file systems without locks, where no file is swept."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | option)
    except OSError:
        return False
    return True


def _swap(new: Path, target: Path) -> None:
    """Renames `new` to `target`. An earlier result at `target` takes the name of `new` in the same step.

    If the system or the file system cannot exchange names, the earlier result is removed first. If two processes
    write the same target, the later result stays.
    """
    while True:
        try:
            new.rename(target)
            return
        except OSError as error:
            if error.errno not in _OCCUPIED:
                raise
        rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", lambda *_: -1)
        if rename(_AT_FDCWD, os.fsencode(new), _AT_FDCWD, os.fsencode(target), _RENAME_EXCHANGE) == 0:
            return
        _remove(target)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with contextlib.suppress(OSError):
            path.unlink()


@contextlib.contextmanager
def _naming(target: Path) -> Iterator[None]:
    """Replaces the file name in system errors, which is hidden or absent, by the name of the target."""
    try:
        yield
    except OSError as error:
        if error.errno is None:
            raise
        raise OSError(error.errno, error.strerror, str(target)) from error


def _flush(path: Path) -> None:
    """Makes a file's contents durable, so that a rename never exposes an empty file."""
    with path.open("rb") as file:
        os.fsync(file.fileno())
