"""Files to import: their text in any common encoding, and errors that name a place in the file."""

import functools
import gzip
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from shortflow import _core
from shortflow.errors import ConfigError

_ENCODINGS = {b"\xef\xbb\xbf": "utf-8-sig", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
"""Byte order marks, and their encodings."""
_HEAD = 65_536
"""Number of bytes from which the format is recognised."""
SEMICOLON = ";"
_COMMENTS = ("#", "//", "%", SEMICOLON)
_MOST = 0.8
"""Minimum share of lines with semicolons for which semicolons separate fields instead of starting comments."""
MOST = 1e15
"""Largest size in bytes, as in the core, and largest value of any other number."""
_GZIP = b"\x1f\x8b"


@dataclass(frozen=True)
class File:
    """A file to import, with the path that the user gave."""

    path: Path
    given: bytes | None = None
    """Contents of a file that is not on a disk, such as a data frame."""

    @property
    def name(self) -> str:
        """Name without directory, for comments and errors."""
        return self.path.name

    @functools.cached_property
    def data(self) -> bytes:
        """Contents, unpacked from gzip. A `ConfigError` names a file that cannot be read."""
        found = _core.read_file(str(self.path)) if self.given is None else self.given
        if not found.startswith(_GZIP):
            return found
        try:
            return gzip.decompress(found)
        except (OSError, EOFError, zlib.error) as error:
            raise ConfigError(f"{self.path}: cannot be unpacked: {error}") from error

    @functools.cached_property
    def text(self) -> str:
        """Contents as text: UTF-8, UTF-16 with a byte order mark, or else Latin-1. Lines end with a newline only."""
        return _decoded(self.data, self.path).replace("\r\n", "\n").replace("\r", "\n")

    @functools.cached_property
    def head(self) -> str:
        """The first `_HEAD` bytes as text, from which the format is recognised. Empty for a binary file."""
        try:
            return _decoded(self.data[:_HEAD], self.path, "ignore").replace("\r\n", "\n").replace("\r", "\n")
        except ConfigError:
            return ""

    @property
    def is_short(self) -> bool:
        """True if the head is the whole text."""
        return len(self.data) <= _HEAD

    def lines(self) -> Iterator[tuple[int, str]]:
        """Lines with their numbers from 1. Empty lines and comments are left out."""
        yield from _with_data(self.text)

    def head_lines(self) -> list[str]:
        """Lines of the head, without empty lines and comments."""
        return [line for _, line in _with_data(self.head)]

    def remarks(self) -> list[tuple[int, str]]:
        """Comments in the head with their line numbers. Comments may name units."""
        lines = enumerate((line.strip() for line in self.head.split("\n")), start=1)
        return [(number, line) for number, line in lines if line.startswith(_COMMENTS)]

    def origin(self, line: int = 0, last: int = 0) -> str:
        """A place in the file for a comment, such as `flow.txt, line 3`."""
        if last > line:
            return f"{self.name}, lines {line} to {last}"
        return f"{self.name}, line {line}" if line else self.name

    def wrong(self, line: int, field: str, value: object, expected: str) -> ConfigError:
        """An error that names file, line (0 for none), field, value, and the expected value."""
        text = str(value)
        shown = text if len(text) <= 60 else f"{text[:57]}…"
        return ConfigError(f'{self.path}{f":{line}" if line else ""}: {field}: "{shown}"; expected {expected}')

    def number(self, line: int, field: str, text: str, least: float = 0, most: float = MOST) -> float:
        """A number from `least` to `most`. Raises `ConfigError` for another text."""
        found = self._within(text, least, most)
        if found is None:
            raise self.wrong(line, field, text, f"a number from {least:g} to {most:g}")
        return found

    def whole(self, line: int, field: str, text: str, least: int = 0, most: float = MOST) -> int:
        """A whole number from `least` to `most`, which may be written as `1e6`.

        Raises `ConfigError` for another text.
        """
        found = self._within(text, least, most)
        if found is None or found != int(found):
            raise self.wrong(line, field, text, f"a whole number from {least:g} to {most:g}")
        return int(found)

    def _within(self, text: str, least: float, most: float) -> float | None:
        try:
            found = float(text)
        except ValueError:
            return None
        return found if least <= found <= most else None


def _decoded(data: bytes, path: Path, errors: str = "strict") -> str:
    encoding = next((name for mark, name in _ENCODINGS.items() if data.startswith(mark)), "utf-8")
    if encoding == "utf-8" and b"\0" in data[:_HEAD]:
        raise ConfigError(f"{path}: is no text: it has bytes of zero")
    try:
        return data.decode(encoding, errors)
    except UnicodeDecodeError:
        return data.decode("latin-1")


def _with_data(text: str) -> Iterator[tuple[int, str]]:
    first = [line.strip() for line in text[:_HEAD].split("\n")]
    rows = [line for line in first if line and not line.startswith(_COMMENTS)]
    is_separated = sum(SEMICOLON in line for line in rows) > _MOST * len(rows)
    comments = tuple(sign for sign in _COMMENTS if sign != SEMICOLON or not is_separated)  # `;5` has an empty cell
    for number, line in enumerate(text.split("\n"), start=1):
        stripped = line.strip()
        if stripped and not stripped.startswith(comments):
            yield number, stripped
