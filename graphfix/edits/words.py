"""The small languages that edits are written in."""

from __future__ import annotations

from graphfix.errors import UsageError

Known = frozenset[str]


def pair(text: str, option: str, form: str) -> tuple[str, str]:
    """Split ``NAME=REST`` at its last ``=``; a name may hold one, too.

    Raises:
        UsageError: A side is missing.
    """
    name, given, rest = text.rpartition("=")
    if not given or not name or not rest:
        raise malformed(text, option, form)
    return name, rest


def listed(text: str, option: str, form: str) -> tuple[str, ...]:
    """Split ``a,b``; blanks around a name do not count.

    Raises:
        UsageError: A name is empty.
    """
    names = tuple(name.strip() for name in text.split(","))
    if not all(names):
        raise malformed(text, option, form)
    return names


def malformed(text: str, option: str, form: str) -> UsageError:
    """Return the error of a text that is not of its form."""
    return UsageError(f"{text!r} is not of the form {form}", where=option)
