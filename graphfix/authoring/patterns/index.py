"""Which of many patterns a node may be the root of: a discrimination tree over operators.

Each pattern becomes sequences of tests, "the input at this path is computed by this operator", in
an order that all patterns share; the sequences are one tree, so that a test is made once for all
patterns that begin alike (as MLIR's PDL does with its predicates, mlir/lib/Conversion/
PDLToPDLInterp/PredicateTree.cpp). What the tree gives is asked of the matcher; what it does not
give cannot match. Operands that commute and alternatives become several sequences.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Generic, TypeVar

from graphfix.authoring.patterns.sought import Call, Checked, Either, Key, Sought, calls_of
from graphfix.ir.graph import Node
from graphfix.ir.protos import normal_domain

DEPTH = 3  # how far from the root operators are tested
MOST_VARIANTS = 64  # of one pattern; one that has more is tested less far from its root
Path = tuple[int, ...]
Tests = tuple[tuple[Path, Key], ...]
ItemT = TypeVar("ItemT")


class _Branch(Generic[ItemT]):
    """A point of the tree: the items whose tests have all held, and the tests that follow."""

    __slots__ = ("following", "items")

    def __init__(self) -> None:
        """Begin without any."""
        self.items: list[ItemT] = []
        self.following: dict[Path, dict[Key, _Branch[ItemT]]] = {}


class Index(Generic[ItemT]):
    """Items by the patterns that they have, asked by node."""

    def __init__(self) -> None:
        """Begin with none."""
        self._tree: _Branch[ItemT] = _Branch()

    def add(self, outputs: Sequence[Sought], item: ItemT) -> None:
        """Let `item` be found at the nodes that may give the first of `outputs`."""
        for tests in _sequences(outputs[0]):
            branch = self._tree
            for path, key in tests:
                keys = branch.following.setdefault(path, {})
                branch = keys.setdefault(key, _Branch())
            if item not in branch.items:
                branch.items.append(item)

    def at(self, node: Node) -> list[ItemT]:
        """Return the items whose patterns may have `node` as their root, each once."""
        found: list[ItemT] = []
        pending = [self._tree]
        known: dict[Path, Key | None] = {}
        while pending:
            branch = pending.pop()
            found.extend(item for item in branch.items if item not in found)
            for path, keys in branch.following.items():
                if path not in known:
                    known[path] = _key_at(node, path)
                key = known[path]
                inner = keys.get(key) if key is not None else None
                if inner is not None:
                    pending.append(inner)
        return found


def _key_at(node: Node, path: Path) -> Key | None:
    """Return domain and operator of what computes the input at a path; None for nothing."""
    for place in path:
        if place >= len(node.inputs) or not node.inputs[place].inputs:
            return None
        node = node.inputs[place].inputs[0]
    return (normal_domain(node.domain), node.op)


def _sequences(root: Sought) -> list[Tests]:
    """Return the tests of a pattern, one sequence for each way in which it may be read."""
    ways = (way for call in calls_of(root) for way in _tested(call))
    return list(dict.fromkeys(tuple(sorted(way, key=_order)) for way in ways))


def _tested(call: Call) -> list[Tests]:
    """Return the tests of all ways, as far from the root as there are not too many."""
    for depth in range(DEPTH, 0, -1):
        ways = list(_limited(_ways(call, (), depth)))
        if len(ways) <= MOST_VARIANTS:
            return ways
    return list(_ways(call, (), 0))


def _limited(ways: Iterator[Tests]) -> Iterator[Tests]:
    return (way for way, _ in zip(ways, range(MOST_VARIANTS + 1), strict=False))


def _order(test: tuple[Path, Key]) -> tuple[int, Path]:
    return (len(test[0]), test[0])


def _ways(sought: Sought | None, path: Path, depth: int) -> Iterator[Tests]:
    """Yield what may be tested of a value, for each way in which it may be read."""
    if isinstance(sought, Either):
        for choice in sought.choices:
            yield from _ways(choice, path, depth)
    elif isinstance(sought, Checked):
        yield from _ways(sought.inner, path, depth)
    elif isinstance(sought, Call):
        own = ((path, sought.node.key),)
        if depth == 0:
            yield own
            return
        operands = sought.node.operands
        orders = [operands, operands[::-1]] if sought.node.commutes else [operands]
        for order in orders:
            inner = [list(_limited(_ways(o, (*path, i), depth - 1))) for i, o in enumerate(order)]
            for way in product(*inner):
                yield (*own, *(test for tests in way for test in tests))
    else:
        yield ()
