"""Give subgraphs the constants that they read of the scopes around them.

What it does: Writes a constant of an outer scope that a node of a body reads among the initializers
    of the body. What else reads it continues reading the outer one.
Why engines need it: onnx2tf knows in the body of an If or Loop what that computes and stores alone:
    "KeyError: 'l.weight'".
Before:
    k = initializer {2}
    y = If (c) <then_branch = { a = Mul (x, k) }, ...>
After: y = If (c) <then_branch = { k_1 = initializer {2}, a = Mul (x, k_1) }, ...>
When it refuses: A node that has subgraphs of its own reads the constant, or it is of strings.
Accuracy: Exact: the same values.
References: measured on onnx2tf 1.29.24
    https://github.com/onnx/onnx/blob/main/docs/IR.md#names-within-a-graph
"""

from functools import partial

from graphfix.authoring import (
    Builder,
    Editor,
    NodeView,
    Refuse,
    Value,
    graph_pass,
    reads_of_outer_scopes,
)


@graph_pass(removes="scope:outer-constant", emits="*::*", claims="nan inf")
def outer_constants_into_bodies(editor: Editor) -> None:
    """Look at every body, see the module."""
    for graph in editor.graphs():
        if graph.parent is None:
            continue
        readers: dict[NodeView, set[Value]] = {}
        for view, value in reads_of_outer_scopes(graph):
            if value.is_constant:
                readers.setdefault(view, set()).add(value)
        for view, constants in readers.items():
            if not editor.is_blocked(view):
                editor.replace(view, partial(_with_its_own, view, constants))


def _with_its_own(
    node: NodeView, constants: set[Value], build: Builder
) -> tuple[Value | None, ...]:
    if any(True for _ in node.node.graphs()):
        raise Refuse(
            f"{node.op}, which has subgraphs of its own, reads {min(c.name for c in constants)}"
        )
    operands = [
        _copied(value, build) if value is not None and value in constants else value
        for value in node.inputs
    ]
    attributes = {name: node.attr(name) for name in node.attributes}
    count = len(node.outputs)
    made = build.multi(node.op, *operands, outputs=count, domain=node.domain, **attributes)
    return tuple(
        value if old is not None else None for value, old in zip(made, node.outputs, strict=True)
    )


def _copied(value: Value, build: Builder) -> Value:
    array = value.array()
    if array is None or array.dtype.kind in "OUS":
        raise Refuse(f"{value.name} must be a numeric constant; it is not")
    return build.constant(array)
