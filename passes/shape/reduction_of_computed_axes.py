"""Reduce over axes that are computed at run time, axis by axis.

What it does: For each axis an If reduces over it, where it is among the axes, or hands on what
    came. Without keepdims the axes that were reduced are left out of the shape at the end.
Why engines need it: TensorRT wants the axes as an initializer ("Axis input must be an
    initializer!"). From 9.0 on the branches of its If may give other shapes of one rank.
Before: y = ReduceSum <keepdims = 1> (x, axes)          # x: [N, 4]
After:
    hit = Cast <to = 9> (ReduceSum (Cast <to = 6> (Equal (axes, 0))))       # the same for 1
    a = If (hit) <then: ReduceSum <axes = [0]> (x), else: Identity (x)>
    y = If (hit_1) <then: ReduceSum <axes = [1]> (a), else: Identity (a)>
When it refuses: The axes are a constant or left out, the rank is unknown, or integers are reduced
    by anything but ReduceMax and ReduceMin: axis by axis they are rounded or cut off more often.
Accuracy: Exact up to the order of summation.
References: https://onnx.ai/onnx/operators/onnx__ReduceSum.html; importerUtils.cpp: reduceTensor of
    onnx-tensorrt, release 10.0
"""

from graphfix.authoring import (
    REDUCTIONS,
    Builder,
    NodeView,
    Refuse,
    Value,
    reduced_over_computed_axes,
    rewrite,
)

_TAKEN = tuple(sorted(REDUCTIONS))


@rewrite(
    _TAKEN,
    removes=tuple(f"const:{op}.axes" for op in _TAKEN),
    emits=(
        *_TAKEN,
        *("Abs", "Add", "Cast", "Concat", "Equal", "Gather", "Identity", "If", "Less", "Log"),
        *("Expand", "Mul", "NonZero", "Not", "Or", "Reshape", "Shape", "Size", "Where"),
    ),
    since=13,
)
def reduction_of_computed_axes(node: NodeView, build: Builder) -> Value:
    """Reduce axis by axis, see the module."""
    axes = node.input(1)
    if axes is None or build.const(axes) is not None:
        raise Refuse("the axes must be computed at run time; they are known")
    return reduced_over_computed_axes(node, build)
