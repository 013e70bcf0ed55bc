"""Walks over a graph: what a value is made of, what is made of it, and what is around a node.

None recurses, each ends in a graph whose tensors are computed of themselves, and each continues as
far as it is asked for more.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator

from graphfix.analysis.memo import kept, kept_stepwise
from graphfix.ir.graph import Graph
from graphfix.ir.views import NodeView, Value


def operands(node: NodeView) -> list[Value]:
    """Return the inputs of a node that are given."""
    return [value for value in node.inputs if value is not None]


def results(node: NodeView) -> list[Value]:
    """Return the outputs of a node that are given."""
    return [value for value in node.outputs if value is not None]


def walk(start: Iterable[Value], onward: Callable[[Value], Iterable[Value]]) -> Iterator[Value]:
    """Walk values, the last that was found first, each once.

    Args:
        start: Where to begin.
        onward: Returns where to continue from a value; asked when the next value is wanted.
    """
    pending = list(dict.fromkeys(start))
    seen = set(pending)
    while pending:
        value = pending.pop()
        yield value
        for other in onward(value):
            if other not in seen:
                seen.add(other)
                pending.append(other)


def after(value: Value) -> list[Value]:
    """Return what the node that computes a value reads, without what its subgraphs read."""
    maker = value.producer
    return [] if maker is None else operands(maker)


def ahead(value: Value) -> list[Value]:
    """Return what the nodes that read a value compute."""
    return [result for reader in value.consumers for result in results(reader)]


@kept
def inputs_of(graph: Graph) -> frozenset[Value]:
    """Return the inputs of a graph, a body or a function."""
    return frozenset(map(Value, graph.inputs))


def along_first_inputs(value: Value | None) -> Iterator[NodeView]:
    """Walk the node that computes a value, the one that computes what that reads first, and so on.

    It ends at a node without a first input, or whose first input no node computes.
    """
    seen: set[Value] = set()
    while value is not None and value not in seen:
        seen.add(value)
        maker = value.producer
        if maker is None:
            return
        yield maker
        value = maker.input(0)


def origin_through(continues: Callable[[NodeView], bool]) -> Callable[[Value], Value]:
    """Return an analysis: which value one is made of by nodes that only hand on what they read.

    Args:
        continues: Says whether a node hands on its first input; it looks at the node alone.
    """

    @kept_stepwise(in_a_loop=None)
    def origin(value: Value) -> Generator[Value, Value | None, Value | None]:
        maker = value.producer
        if maker is None or not continues(maker):
            return value
        given = maker.input(0)
        return value if given is None else ((yield given) or given)

    def found(value: Value) -> Value:
        return origin(value) or value

    return found
