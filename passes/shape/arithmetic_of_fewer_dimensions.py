"""Add, or multiply by, a constant without dimensions of size 1 that nothing needs.

What it does: Between a Reshape that adds dimensions and one that takes them away, constants are
    added or multiplied without those that are of size 1 in the tensor, and so in the constants.
Why engines need it: ncnn has no tensor of more than four dimensions beside a batch of 1. Masks of
    shifted windows are added with five.
Before:
    a = Reshape <[1, 4, 3, 49, 49]> (x)            # x: [4, 3, 49, 49]
    b = Add (a, m)                                 # m: [1, 4, 1, 49, 49], a constant
    y = Reshape <[4, 3, 49, 49]> (b)
After:
    a = Reshape <[4, 3, 49, 49]> (x)
    b = Add (a, m)                                 # m: [4, 1, 49, 49]
    y = Reshape <[4, 3, 49, 49]> (b)
When it refuses: Sizes are unknown, somebody else reads what lies between, a constant is larger than
    the tensor, or no dimension is of size 1.
Accuracy: Exact: the same sums.
References: https://onnx.ai/onnx/operators/onnx__Reshape.html
"""

from collections.abc import Callable

import numpy as np

from graphfix.authoring import Array, Builder, NodeView, Refuse, Value, rewrite

_EMITS = "Add Div Mul Reshape Sub"


@rewrite("Reshape", removes="rank:Reshape.*", emits=_EMITS, since=7, claims="nan inf")
def arithmetic_of_fewer_dimensions(node: NodeView, build: Builder) -> Value:
    """Leave dimensions of size 1 out, see the module."""
    value, last = node.need(0), node.output(0)
    shape = value.static_shape
    if last is None or last.static_shape is None or shape is None:
        raise Refuse("all sizes must be known")
    kept = [axis for axis, size in enumerate(shape) if size != 1]
    if len(kept) == len(shape) or not kept:
        raise Refuse("some dimensions must be of size 1, and others not")
    steps: list[tuple[str, Array, bool]] = []
    while (maker := _alone(value)).op != "Reshape":
        if maker.op not in _EMITS.split():
            raise Refuse(f"{value.name} must be a sum or product; it comes out of {maker.op}")
        first = maker.need(0).is_constant
        array = build.need_const(maker.need(0 if first else 1), "one operand")
        value = maker.need(1 if first else 0)
        if value.static_shape != shape:
            raise Refuse("a constant must not be larger than the tensor; one is")
        full = [1] * (len(shape) - array.ndim) + list(array.shape)
        steps.append((maker.op, np.reshape(array, [full[axis] for axis in kept]), first))
    if not steps:
        raise Refuse("something must be added or multiplied; nothing is")
    x = build.Reshape(maker.need(0), np.array([shape[axis] for axis in kept], np.int64))
    for op, array, first in reversed(steps):
        write: Callable[[Value | Array, Value | Array], Value] = getattr(build, op)
        x = write(array, x) if first else write(x, array)
    return build.Reshape(x, np.array(last.static_shape, np.int64))


def _alone(value: Value) -> NodeView:
    maker = value.producer
    if maker is None or maker.domain:
        raise Refuse(f"{value.name} must be computed")
    if value.is_graph_output or len(value.consumers) != 1:
        raise Refuse(f"nobody else must read {value.name}")
    return maker
