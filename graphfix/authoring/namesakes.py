"""Constants whose copies would bear names that others have."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from graphfix.authoring.views import Value
from graphfix.graph import Graph


def _is_constant(value: Value) -> bool:
    return value.is_constant


def namesakes(
    graph: Graph, known: Callable[[Value], bool] = _is_constant
) -> Iterator[tuple[Value, str]]:
    """Find constants that are read several times and whose numbered copies have a namesake.

    Of a constant ``c`` with three readers the copies of a converter are ``c_1`` and ``c_2``.

    Args:
        graph: A scope; its bodies are not looked at.
        known: What is constant to the converter.

    Yields:
        The constant, and the name that another tensor of the scope has.
    """
    made = [tensor for node in graph.nodes for tensor in node.outputs]
    tensors = [Value(tensor) for tensor in (*graph.inputs, *graph.initializers, *made)]
    names = {value.name for value in tensors}
    seen: set[Value] = set()
    for value in tensors:
        if value in seen or value.is_graph_output:
            continue
        seen.add(value)
        readers = sum(node.inputs.count(value) for node in set(value.consumers))
        copies = (f"{value.name}_{number}" for number in range(1, readers))
        other = next((name for name in copies if name in names), None)
        if other is not None and known(value):
            yield value, other
