"""Files as text: encodings in and out without loss, and offsets of lines and columns.

Locations count lines and columns from 1, columns in characters of the text without its byte order mark.
"""

from __future__ import annotations

import codecs
import re
from bisect import bisect_right
from dataclasses import dataclass

_COOKIE = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_BLANK = re.compile(rb"^[ \t\f]*(?:#.*)?$")
_NEWLINE = re.compile(r"\r\n|\n|\r")


class Undecodable(Exception):
    """A file's bytes are no text in its encoding; `line` is where the first bad byte stands."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.line = line


@dataclass(frozen=True)
class Decoded:
    """A file's text with what is needed to write it back: its encoding and its byte order mark."""

    text: str
    encoding: str = "utf-8"
    bom: bytes = b""

    def encode(self, text: str) -> bytes:
        """`text` as this file's bytes; raises UnicodeEncodeError where the encoding lacks a character."""
        return self.bom + text.encode(self.encoding)


def decode(data: bytes, *, python: bool = False) -> Decoded:
    """The text of a file's bytes; a Python file's coding cookie (PEP 263) is obeyed. Raises Undecodable."""
    bom = codecs.BOM_UTF8 if data.startswith(codecs.BOM_UTF8) else b""
    body = data[len(bom) :]
    encoding = (_cookie(body) if python else None) or "utf-8"
    try:
        codec = codecs.lookup(encoding)
        text = body.decode(codec.name)
    except LookupError:
        raise Undecodable(f"unknown encoding: {encoding}", _cookie_line(body)) from None
    except UnicodeDecodeError as error:
        line = body.count(b"\n", 0, error.start) + 1
        raise Undecodable(f"byte 0x{body[error.start]:02x} is not {codec.name}", line) from None
    except (UnicodeError, ValueError) as error:
        raise Undecodable(f"not {encoding}: {error}", 1) from None
    if bom and codec.name != "utf-8":
        raise Undecodable(f"a UTF-8 byte order mark in a file that says it is {encoding}", _cookie_line(body))
    return Decoded(text, codec.name, bom)


def encode(text: str, *, python: bool = False) -> bytes:
    """The bytes that an editor saves a text as: in the encoding that a Python file's cookie names, else as UTF-8.

    A text that its encoding cannot hold comes as UTF-8; half a surrogate pair, which nothing can hold, as ``?``.
    """
    body = text.encode("utf-8", "replace")
    try:
        return text.encode((_cookie(body) if python else None) or "utf-8")
    except (LookupError, UnicodeError):
        return body


def _cookie(body: bytes) -> str | None:
    """The encoding that a comment in the first two lines names."""
    for line in re.split(rb"\r\n|\n|\r", body[:1000], maxsplit=2)[:2]:
        if found := _COOKIE.match(line):
            return found.group(1).decode("ascii", "replace")
        if not _BLANK.match(line):
            return None
    return None


def _cookie_line(body: bytes) -> int:
    first = re.split(rb"\r\n|\n|\r", body[:1000], maxsplit=1)[0]
    return 1 if _COOKIE.match(first) else 2


class Lines:
    """The lines of a text; a line ends at ``\\n``, ``\\r\\n`` or ``\\r``."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._starts = [0, *(found.end() for found in _NEWLINE.finditer(text))]

    def __len__(self) -> int:
        return len(self._starts)

    def offset(self, line: int, column: int) -> int:
        """The offset of a position; raises ValueError when the text has no such place.

        The line after the last one has one place, its first column: the end of the text.
        """
        if line == len(self._starts) + 1 and column == 1:
            return len(self.text)
        if not 1 <= line <= len(self._starts) or column < 1:
            raise ValueError(f"no line {line}, column {column}")
        offset = self._starts[line - 1] + column - 1
        end = self._starts[line] if line < len(self._starts) else len(self.text)
        if offset > end:
            raise ValueError(f"line {line} has no column {column}")
        return offset

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column of an offset."""
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1

    def line(self, number: int) -> str:
        """Line `number` without its end, or an empty string when there is none."""
        if not 1 <= number <= len(self._starts):
            return ""
        end = self._starts[number] if number < len(self._starts) else len(self.text)
        return self.text[self._starts[number - 1] : end].rstrip("\r\n")
