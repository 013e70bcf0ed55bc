"""Let a Loop begin with what has a shape, where it begins with a constant without elements.

What it does: Writes what is carried along and has no element at first as ConstantOfShape of its
    shape.
Why engines need it: OpenVINO reads a constant without elements as a scalar, and refuses a body that
    appends to it: "Accessing out-of-range dimension". Lists that scripts of PyTorch fill begin with
    such constants, as the masks of Mask R-CNN do.
Before: y = Loop (n, c, Constant {[0, 4]}) <body (i, g, s) => (g, t) { t = Concat (s, x) }>
After: y = Loop (n, c, ConstantOfShape ([0, 4])) <body (i, g, s) => (g, t) { t = Concat (s, x) }>
When it refuses: All that it begins with has elements, or sizes that are not known, or is no number
    or bool; the body takes a sequence or what has no known type.
Accuracy: Exact: there is no element.
References: https://onnx.ai/onnx/operators/onnx__Loop.html; asked of OpenVINO 2026.4.1
"""

import numpy as np

from graphfix.authoring import Builder, NodeView, Refuse, Value, rewrite

from ._rewriting import written_again

_STATES = 2  # where the inputs begin that are carried along
_KINDS = "bfiu"  # bool, floats and integers


@rewrite("Loop", removes="form:Loop.empty-constant", emits="*::*", since=9)
def empty_states_by_shape(node: NodeView, build: Builder) -> tuple[Value | None, ...]:
    """Write the initial values, see the module."""
    operands = [
        value if value is None or place < _STATES else _shaped(value, build)
        for place, value in enumerate(node.inputs)
    ]
    if operands == list(node.inputs):
        raise Refuse("it must begin with a constant without elements; it does not")
    return written_again(node, build, operands)


def _shaped(value: Value, build: Builder) -> Value:
    sizes, dtype = value.static_shape, value.dtype
    made = value.producer is not None and value.producer.op == "ConstantOfShape"
    if made or sizes is None or 0 not in sizes or dtype is None or dtype.kind not in _KINDS:
        return value
    return build.ConstantOfShape(np.array(sizes, np.int64), value=np.zeros(1, dtype))
