"""Constants whose copies would bear names that others have, and Loops named as outer ones."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

from graphfix.ir.graph import Graph, Node
from graphfix.ir.views import NodeView, Value


def _is_constant(value: Value) -> bool:
    return value.is_constant


def namesakes(
    graph: Graph, known: Callable[[Value], bool] = _is_constant
) -> Iterator[tuple[Value, str]]:
    """Find constants that several nodes read at run time and whose numbered copies have a namesake.

    Of a constant ``c`` with three readers the copies of a converter are ``c_1`` and ``c_2``.

    Args:
        graph: A scope; its subgraphs are not looked at.
        known: What is constant to the converter.

    Yields:
        The constant, and the name that another tensor of the scope has.
    """
    made = [tensor for node in graph.nodes for tensor in node.outputs]
    tensors = [Value(tensor) for tensor in (*graph.inputs, *graph.initializers, *made)]
    names = {value.name: value for value in tensors}
    seen: set[Value] = set()
    for value in tensors:
        if value in seen or value.is_graph_output:
            continue
        seen.add(value)
        users = set(value.consumers)
        if not _copies(value, users, names) or not known(value):
            continue
        late = {user for user in users if not _is_known(user, known)}
        taken = (name for name in _copies(value, late, names) if _is_left(names[name], known))
        other = next(taken, None)
        if other is not None:
            yield value, other


def _copies(value: Value, readers: Collection[NodeView], names: Collection[str]) -> list[str]:
    """Return the names of copies that are taken."""
    count = sum(node.inputs.count(value) for node in readers)
    copies = (f"{value.name}_{number}" for number in range(1, count))
    return [name for name in copies if name in names]


def _is_left(value: Value, known: Callable[[Value], bool]) -> bool:
    """Say whether a tensor is there at run time: not one that known nodes alone read."""
    if value.is_graph_output or not known(value):
        return True
    return not all(_is_known(user, known) for user in value.consumers)


def _is_known(node: NodeView, known: Callable[[Value], bool]) -> bool:
    """Say whether a node is computed beforehand, so that it reads nothing any more."""
    return all(value is not None and known(value) for value in node.outputs)


def outer_namesake(node: Node) -> Node | None:
    """Return the Loop around a Loop whose first output bears the name of the first of this one."""
    if node.op != "Loop" or not node.outputs:
        return None
    outer = node.graph.parent
    while outer is not None:
        if outer.op == "Loop" and outer.outputs and outer.outputs[0].name == node.outputs[0].name:
            return outer
        outer = outer.graph.parent
    return None
