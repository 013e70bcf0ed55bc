"""Make the condition of an If a scalar.

What it does: Reshapes the condition to no axes.
Why engines need it: onnx2tf gives an If to Keras, which chooses between the branches by a scalar,
    and by anything else element by element: results of different shapes are broadcast to one or
    refused. Inputs of a file have an axis there, scalars, too. Decoders that optimum merges of two
    files have a condition of shape [1], and branches whose results differ in length.
Before: y = If (c) <...>                               c: [1]
After: y = If (Reshape (c, {})) <...>
When it refuses: The condition is reshaped to a scalar as it is.
Accuracy: Exact: the condition has one element.
References: https://onnx.ai/onnx/operators/onnx__If.html; onnx2tf 1.29.24, ops/If.py; measured on
    it: graphfix/engines/tflite/facts/asked.json, if-condition
"""

import numpy as np

from graphfix.authoring import (
    Builder,
    Graph,
    NodeView,
    Refuse,
    Value,
    Values,
    copy_constants,
    copy_nodes,
    rewrite,
    value_of,
)


@rewrite("If", removes="rank:If.cond", emits="*::*", since=5, claims="nan inf")
def if_condition_to_scalar(node: NodeView, build: Builder) -> tuple[Value | None, ...]:
    """Reshape the condition, see the module."""
    condition = node.need(0)
    if _is_scalar_of_reshape(condition):
        raise Refuse("the condition must not be reshaped to a scalar; it is")
    scalar = build.Reshape(condition, np.zeros(0, np.int64))
    then, other = (_copied(node, side, build) for side in ("then_branch", "else_branch"))
    count = len(node.outputs)
    made = build.multi("If", scalar, outputs=count, then_branch=then, else_branch=other)
    return tuple(
        value if old is not None else None for value, old in zip(made, node.outputs, strict=True)
    )


def _is_scalar_of_reshape(value: Value) -> bool:
    maker = value.producer
    if maker is None or maker.op != "Reshape":
        return False
    shape = maker.need(1).array()
    return shape is not None and not shape.size


def _copied(node: NodeView, side: str, build: Builder) -> Graph:
    branch = dict(node.node.graphs())[side]

    def make(inner: Builder) -> list[Value]:
        values: Values = {}
        copy_constants(inner, branch, values)
        copy_nodes(inner, branch.nodes, values)
        return [value_of(output, values) for output in branch.outputs]

    return build.body([], make)
