"""Versions of targets: how a name is read, ranges for rules, and tables of many versions in a file.

A range is text such as ``acme8.0..acme8.4, acme10.1``: see `in_range`. Ranges compare versions, not
lists of profiles, so a profile that is added between two others falls into the ranges around it.

`packed` makes of one table for each version what `written` writes and `unpacked` takes apart:

- ``names``: the versions, oldest first;
- ``fields``: key -> version from which on -> value, None where it is absent;
- ``members``: key of a list of texts -> text -> versions at which it comes, goes, comes again, ...;
- ``entries``: key of a table -> its key -> version from which on -> value.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Protocol, TypeAlias, cast

from msgspec import Struct

from graphfix.errors import PassBug

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


def name_order(name: str) -> tuple[Order, str]:
    """Return what orders names of profiles, where one without a version is the oldest."""
    parsed = parse_name(name) or VersionedName(name, (0,))
    return sort_key(parsed.version, parsed.variant), name


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


PROFILES = Path("profiles", "versions.json")  # in the folder of a family
Table: TypeAlias = Mapping[str, Any]
Changes: TypeAlias = dict[str, Any]
Store: TypeAlias = dict[str, Any]


def packed(tables: Mapping[str, Table]) -> Store:
    """Return the tables of versions as one.

    Args:
        tables: Version -> what JSON can hold; oldest first.

    Raises:
        PassBug: A table does not come back as it is: a key of it holds tables here and something
            else there, an empty table, or the keys of its tables are in several orders.
    """
    names = list(tables)
    store: Store = {"names": names, "fields": {}, "members": {}, "entries": {}}
    for key in _merged(tables.values()):
        column = [table.get(key) for table in tables.values()]
        given = [value for value in column if value is not None]
        if all(isinstance(value, Mapping) for value in given):
            rows = [cast("Table", value) for value in given]
            store["entries"][key] = {
                inner: _changes(names, [_of(value, inner) for value in column])
                for inner in _merged(rows)
            }
        elif all(map(_is_texts, given)) and _keeps_order(given):
            store["members"][key] = {
                text: list(_changes(names, [text in (value or ()) for value in column], False))
                for text in _merged(given)
            }
        else:
            store["fields"][key] = _changes(names, column)
    for name, table in tables.items():
        if _ordered(unpacked(store, name)) != _ordered(table):
            raise PassBug(f"the table of {name} does not come back as it is")
    return store


def _of(value: object, key: str) -> Any:
    return cast("Table", value).get(key) if isinstance(value, Mapping) else None


def _is_texts(value: object) -> bool:
    if not isinstance(value, list):
        return False
    items = cast("list[object]", value)
    return bool(items) and all(isinstance(item, str) for item in items)


def _keeps_order(lists: Sequence[Sequence[str]]) -> bool:
    """Say whether each list is what is left of all texts in one order, each of them once."""
    order = {text: place for place, text in enumerate(_merged(lists))}
    return all(list(texts) == sorted(set(texts), key=order.__getitem__) for texts in lists)


def _merged(lists: Iterable[Iterable[str]]) -> list[str]:
    """Return all texts once: sorted where each list is, else each where a list has it."""
    known = [list(texts) for texts in lists]
    if all(texts == sorted(texts) for texts in known):
        return sorted({text for texts in known for text in texts})
    found: list[str] = []
    for texts in known:
        place = 0
        for text in texts:
            if text not in found:
                found.insert(place, text)
            place = found.index(text) + 1
    return found


def _changes(names: Sequence[str], column: Sequence[Any], before: Any = None) -> Changes:
    changes: Changes = {}
    for name, value in zip(names, column, strict=True):
        if value != before:
            changes[name] = value
        before = value
    return changes


def _ordered(table: Table) -> list[tuple[str, Any]]:
    """Return a table with the order of its tables, in which they are shown."""
    return sorted(
        (key, list(cast("Table", value).items()) if isinstance(value, Mapping) else value)
        for key, value in table.items()
    )


def read_store(folder: Path) -> Store:
    """Return the tables of the family in a folder; of no version where it has no such file."""
    path = folder / PROFILES
    if not path.is_file():
        return {"names": []}
    return cast("Store", json.loads(path.read_text(encoding="utf-8")))


def unpacked(store: Store, name: str) -> dict[str, Any]:
    """Return the table of one version.

    Args:
        store: What `packed` made.
        name: The version.
    """
    place = {known: number for number, known in enumerate(store["names"])}
    here = place[name]

    def held(changes: Changes) -> Any:
        found = None
        for since, value in changes.items():
            if place[since] > here:
                break
            found = value
        return found

    table = {key: held(changes) for key, changes in store["fields"].items()}
    for key, texts in store["members"].items():
        table[key] = [
            text for text, turns in texts.items() if sum(place[turn] <= here for turn in turns) % 2
        ]
    for key, rows in store["entries"].items():
        found = ((inner, held(changes)) for inner, changes in rows.items())
        table[key] = {inner: value for inner, value in found if value is not None}
    return {key: value for key, value in table.items() if value not in (None, [], {})}


def written(store: Store) -> str:
    """Return the text of a file: one line for each field, text and entry."""
    return "{\n" + ",\n".join(_lines(store)) + "\n}\n"


def _lines(store: Store) -> Iterator[str]:
    yield f' "names": {json.dumps(store["names"])}'
    yield f' "fields": {_spread(store["fields"], 1)}'
    for kind in ("members", "entries"):
        parts = [f"  {json.dumps(key)}: {_spread(rows, 2)}" for key, rows in store[kind].items()]
        yield f' "{kind}": {{\n' + ",\n".join(parts) + "\n }"


def _spread(rows: Mapping[str, Any], depth: int) -> str:
    pad = " " * depth
    lines = [f"{pad} {json.dumps(key)}: {json.dumps(value)}" for key, value in rows.items()]
    return "{\n" + ",\n".join(lines) + f"\n{pad}}}"


def write_profiles(family: Path, tables: Mapping[str, Table]) -> None:
    """Write the profiles of a family of engines.

    Args:
        family: The folder of the family.
        tables: The name of a profile -> its table, oldest first.
    """
    path = family / PROFILES
    path.parent.mkdir(exist_ok=True)
    path.write_text(written(packed(tables)), encoding="utf-8")
