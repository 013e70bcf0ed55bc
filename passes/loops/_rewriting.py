"""Writing a Loop again with other operands."""

from collections.abc import Sequence

from graphfix.authoring import (
    Builder,
    Graph,
    NodeView,
    Refuse,
    Value,
    Values,
    copy_constants,
    copy_nodes,
    value_of,
)


def written_again(
    node: NodeView, build: Builder, operands: Sequence[Value | None]
) -> tuple[Value | None, ...]:
    """Write a Loop with other operands, and an Identity of what its body does not compute.

    Args:
        node: The Loop.
        build: The builder.
        operands: Its inputs, those that are left out as None.

    Raises:
        Refuse: The body takes a sequence or what has no known type.
    """
    body = node.attr("body")
    assert isinstance(body, Graph)  # the checker wants one
    for tensor in body.inputs:
        if tensor.opaque is not None or not tensor.elem_type:
            raise Refuse(f"{tensor.name} of the body must be a tensor of a known type; it is not")

    def make(inner: Builder, *given: Value) -> list[Value]:
        values: Values = {}
        copy_constants(inner, body, values)
        values |= {id(tensor): value for tensor, value in zip(body.inputs, given, strict=True)}
        copy_nodes(inner, body.nodes, values)
        # What is not computed in the body gets an Identity there.
        return [value_of(tensor, values) for tensor in body.outputs]

    inputs = [(tensor.name, tensor.elem_type, tensor.shape) for tensor in body.inputs]
    attributes = {name: node.attr(name) for name in node.attributes if name != "body"}
    written = build.body(inputs, make)
    return build.multi(node.op, *operands, outputs=len(node.outputs), **attributes, body=written)
