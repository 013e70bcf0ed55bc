"""Texts of files that no one vouches for, as a terminal, a shell or a page may have them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable

# A colour of ours (SGR); every other control character is one of a file.
_COLOUR = re.compile(r"(\x1b\[[0-9;]*m)")
_KEPT = "\n\t"


def printable(text: str) -> str:
    """Escape what is not to be seen: control characters, line breaks, marks of direction."""
    return text if text.isprintable() else "".join(map(_seen, text))


def for_terminal(text: str) -> str:
    """Escape what is not to be seen in a whole text, but for line breaks, tabs and colours."""
    parts = _COLOUR.split(text)
    return "".join(
        part if place % 2 else "".join(c if c in _KEPT else _seen(c) for c in part)
        for place, part in enumerate(parts)
    )


def _seen(char: str) -> str:
    return char if char.isprintable() else repr(char)[1:-1]


def shell_word(text: str) -> str:
    """Quote a text for a shell; as ``$'...'``, which bash has, where it is not printable."""
    if text.isprintable():
        return shlex.quote(text)
    return "$'" + "".join(map(_in_dollar_quotes, text)) + "'"


def _in_dollar_quotes(char: str) -> str:
    if char in "\\'":
        return "\\" + char
    if char.isprintable():
        return char
    return "".join(f"\\x{byte:02x}" for byte in char.encode("utf-8", "surrogateescape"))


def shell_line(words: Iterable[str]) -> str:
    """Return words as one line for a shell."""
    return " ".join(map(shell_word, words))


def in_code(text: str) -> str:
    """Return a name that is put between backticks: printable, without a backtick of its own."""
    return printable(text).replace("`", "'")
