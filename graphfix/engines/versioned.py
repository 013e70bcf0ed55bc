"""Tables of many versions in one file, which says from which version on a value holds.

`packed` makes of one table for each version what `written` writes and `unpacked` takes apart:

- ``names``: the versions, oldest first;
- ``fields``: key -> version from which on -> value, None where it is absent;
- ``members``: key of a list of texts -> text -> versions at which it comes, goes, comes again, ...;
- ``entries``: key of a table -> its key -> version from which on -> value.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias, cast

from graphfix.errors import PassBug

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
