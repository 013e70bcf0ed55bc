"""Lists whose items are compared by identity."""

from __future__ import annotations

from typing import TypeVar

_Item = TypeVar("_Item")


def remove_by_identity(items: list[_Item], item: _Item) -> None:
    """Take one occurrence of an item out of a list of items that are equal to themselves alone."""
    # Nodes mostly go in order or from the end; a constant may have thousands of consumers.
    if items[-1] is item:
        items.pop()
    elif items[0] is item:
        del items[0]
    else:
        items.remove(item)
