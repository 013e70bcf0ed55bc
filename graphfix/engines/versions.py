"""Versions of targets: how a name is read, how profiles are ordered, and ranges for rules.

A range is text such as ``acme8.0..acme8.4, acme10.1``: see `in_range`. Ranges compare versions, not
lists of profiles, so a profile that is added between two others falls into the ranges around it.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Protocol

from msgspec import Struct

Order = tuple[tuple[int, ...], str]

_VERSIONED = re.compile(
    r"(?P<family>[a-z](?:[a-z0-9_-]*[a-z_])?)-?"
    r"(?P<version>\d+(?:\.\d+)*)"
    r"(?:-(?P<variant>[a-z][a-z0-9]*))?"
)
_FAMILY = re.compile(r"[a-z](?:[a-z0-9_-]*[a-z0-9_])?")
_WIDTH = 4


class HasVersion(Protocol):
    """The part of a `graphfix.engines.profile.Target` that ranges look at."""

    @property
    def family(self) -> str:
        """The engine, such as ``acme``."""
        ...

    @property
    def version(self) -> tuple[int, ...]:
        """The version, such as ``(8, 6)``."""
        ...

    @property
    def variant(self) -> str:
        """What sets it apart from another profile of the same version; mostly empty."""
        ...

    @property
    def like(self) -> VersionedName | None:
        """The version of another family whose ranges hold for it as well; mostly None."""
        ...


class VersionedName(Struct, frozen=True):
    """A name taken apart: ``acme6-wide`` is ``acme``, ``(6,)`` and ``wide``.

    `like` is no part of a name; see `HasVersion`.
    """

    family: str
    version: tuple[int, ...]
    variant: str = ""
    like: VersionedName | None = None


class _Alternative(Struct, frozen=True):
    """One part of a range between commas; an end that is None is open."""

    family: str
    low: VersionedName | None = None
    high: VersionedName | None = None


def parse_name(name: str) -> VersionedName | None:
    """Take a lower-case name apart; None when it is no family followed by a version."""
    match = _VERSIONED.fullmatch(name)
    if match is None:
        return None
    version = tuple(int(part) for part in match["version"].split("."))
    return VersionedName(match["family"], version, match["variant"] or "")


def sort_key(version: tuple[int, ...], variant: str = "") -> Order:
    """Return what orders profiles of one family: acme6 < acme6-wide < acme7.0 < acme10.0."""
    return version + (0,) * (_WIDTH - len(version)), variant


def dotted(version: tuple[int, ...]) -> str:
    """Write a version as text: ``(8, 6)`` is ``8.6``."""
    return ".".join(str(part) for part in version)


def in_range(target: HasVersion, spec: str) -> bool:
    """Whether `target` lies in the range `spec`.

    `spec` is one or more alternatives between commas, each one of:

    - ``acme8.0..acme8.4``: both ends belong to it;
    - ``acme8.2..`` and ``..acme7.2``: one end open, within the family;
    - ``acme8.6``: this version, with every patch release of it; ``acme8`` is every 8.x;
    - ``acme``: every version of the family;
    - ``*``: every target.

    An upper end covers what begins with it: ``..acme7.2`` holds 7.2.3, ``..acme8`` holds 8.6. A
    variant comes after its plain version, so ``..acme6`` does not hold ``acme6-wide``. A target
    that is like a version of another family lies in the ranges of that version, too.

    Raises:
        ValueError: `spec` does not follow this grammar, or its ends are of two families or in
            the wrong order.
    """
    return any(_holds(alternative, target) for alternative in _parse(spec))


def _holds(alternative: _Alternative, target: HasVersion) -> bool:
    if alternative.family != "*" and alternative.family != target.family:
        return target.like is not None and _holds(alternative, target.like)
    low, high = alternative.low, alternative.high
    if low is not None and low is high:
        begin = target.version[: len(low.version)]
        return begin == low.version and target.variant == low.variant
    if low is not None and _order(target) < _order(low):
        return False
    return high is None or _up_to(target, high)


def _up_to(target: HasVersion, high: VersionedName) -> bool:
    begin = target.version[: len(high.version)]
    return (begin, target.variant) <= (high.version, high.variant)


def _order(name: HasVersion | VersionedName) -> Order:
    return sort_key(name.version, name.variant)


@cache
def _parse(spec: str) -> tuple[_Alternative, ...]:
    return tuple(_alternative(part.strip(), spec) for part in spec.split(","))


def _alternative(text: str, spec: str) -> _Alternative:
    if text == "*":
        return _Alternative("*")
    if ".." in text:
        first, _, last = text.partition("..")
        low, high = _end(first, spec), _end(last, spec)
        some = low or high
        if some is None:
            raise ValueError(f"{spec!r} is no range: '..' needs a version on one side at least")
        if low is not None and high is not None:
            if low.family != high.family:
                raise ValueError(f"{spec!r} is no range: {text!r} joins two families")
            if _order(low) > _order(high) and not _up_to(low, high):
                raise ValueError(f"{spec!r} is no range: {text!r} ends before it begins")
        return _Alternative(some.family, low, high)
    named = parse_name(text)
    if named is not None:
        return _Alternative(named.family, named, named)
    if _FAMILY.fullmatch(text) is None:
        raise ValueError(f"{spec!r} is no range: {text!r} is neither a version nor a family")
    return _Alternative(text)


def _end(text: str, spec: str) -> VersionedName | None:
    text = text.strip()
    if not text:
        return None
    named = parse_name(text)
    if named is None:
        raise ValueError(f"{spec!r} is no range: {text!r} is not a family with a version")
    return named
