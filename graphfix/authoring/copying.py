"""Emitting the nodes of a body again, with other values in place of some of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from graphfix.authoring.building import Builder
from graphfix.ir.graph import Graph, Node, Tensor, Variable, is_empty
from graphfix.ir.views import NodeView, Refuse, Value

Values = dict[int, Value]
Substitute = Callable[[Builder, NodeView, list[Value | None]], Sequence[Value] | None]


def value_of(tensor: Tensor, values: Values) -> Value:
    """Return what stands for `tensor`: a copy, or the tensor itself where it lies outside."""
    return values.get(id(tensor), Value(tensor))


def copy_constants(build: Builder, graph: Graph, values: Values) -> None:
    """Copy the initializers of a body; `values` learns what stands for each."""
    for constant in graph.initializers:
        array = Value(constant).array()
        if array is None:
            raise Refuse(f"the initializer {constant.name} must be a constant")
        values[id(constant)] = build.constant(array)


def copy_nodes(
    build: Builder, nodes: Sequence[Node], values: Values, known: Substitute | None = None
) -> None:
    """Emit nodes again; `values` maps what they use to what stands for it, and learns more.

    Args:
        build: Where the copies go.
        nodes: The nodes, in an order that can run.
        values: By the id of a tensor, the value to use instead; the outputs are added.
        known: Called before a node is copied; where it returns values, those stand for the
            outputs and nothing is emitted.

    Raises:
        Refuse: A node cannot be written again: an overload, or an inner body with a sequence
            as its input.
    """
    for node in nodes:
        view = NodeView(node)
        if node.overload:
            raise Refuse(f"no overload of a function may be called; {node.op} calls one")
        operands = [None if is_empty(t) else value_of(t, values) for t in node.inputs]
        results = known(build, view, operands) if known is not None else None
        if results is None:
            _refuse_sequences(node)
            attributes = {
                name: _body(build, value, values, known) if isinstance(value, Graph) else value
                for name, value in node.attrs.items()
            }
            results = build.multi(
                node.op, *operands, outputs=len(node.outputs), domain=view.domain, **attributes
            )
            for old, new in zip(node.outputs, results, strict=True):
                _take_over(old, new.tensor)
        for old, new in zip(node.outputs, results, strict=True):
            if not is_empty(old):
                values[id(old)] = new


def _refuse_sequences(node: Node) -> None:
    """Refuse a Loop that carries a sequence: a body is written with tensors as its inputs."""
    if any(True for _ in node.graphs()):
        for tensor in node.inputs:
            if tensor.opaque is not None:
                raise Refuse(
                    f"the inner body must take tensors; it takes the sequence {tensor.name}"
                )


def _take_over(old: Tensor, new: Tensor) -> None:
    if is_empty(old):
        new.name = ""
        return
    if isinstance(new, Variable):
        if not new.elem_type and new.opaque is None:
            new.elem_type, new.opaque = old.elem_type, old.opaque
        if new.shape is None and old.shape is not None:
            # A name of a size in a body may stand for another size in each round.
            new.shape = tuple(dim if isinstance(dim, int) else None for dim in old.shape)


def _body(build: Builder, graph: Graph, values: Values, known: Substitute | None) -> Graph:
    inputs: list[tuple[str, int, Any]] = []
    for tensor in graph.inputs:
        if tensor.opaque is not None:
            raise Refuse(f"the inner body must take tensors; it takes the sequence {tensor.name}")
        inputs.append((tensor.name, tensor.elem_type, tensor.shape))

    def make(inner: Builder, *given: Value) -> list[Value]:
        inside = dict(values)
        for tensor, value in zip(graph.inputs, given, strict=True):
            inside[id(tensor)] = value
        copy_constants(inner, graph, inside)
        copy_nodes(inner, graph.nodes, inside, known)
        return [value_of(tensor, inside) for tensor in graph.outputs]

    return build.body(inputs, make)
