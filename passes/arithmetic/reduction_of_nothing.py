"""Write what a reduction of an empty tensor gives as a constant.

What it does: A sum of no numbers is 0, a product 1, a maximum the least and a minimum the greatest
    number of the type (minus and plus infinity for floats), a logarithm of a sum minus infinity.
    Where no element is left either, the constant is as empty.
Why engines need it: onnxruntime up to 1.19 leaves the axis at 0 where it is to become 1, or fails;
    later ones take a maximum of none for 0, or another axis for reduced.
Before: y = ReduceMax <axes = [1]> (x)            # x: float[2, 0, 4]
After: y = {{-inf, -inf, -inf, -inf}, {-inf, -inf, -inf, -inf}}        # [2, 1, 4] as an initializer
When it refuses: A size is not known, or none is 0; the axes are computed, or missing while
    noop_with_empty_axes is set; a mean of no numbers is not defined; the logarithm is of integers.
Accuracy: Exact.
References: https://onnx.ai/onnx/operators/onnx__ReduceMax.html; onnxruntime 1.10 to 1.32, measured
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from graphfix.authoring import REDUCTIONS, Builder, NodeView, Refuse, Value, rewrite

from ._reductions import reduced

_ZERO = ("ReduceL1", "ReduceL2", "ReduceSum", "ReduceSumSquare")


@rewrite(REDUCTIONS, removes=tuple(f"shape:{op}.empty" for op in REDUCTIONS), emits="")
def reduction_of_nothing(node: NodeView, build: Builder) -> Value:
    """Write the constant, see the module."""
    x = node.need(0)
    sizes = x.static_shape
    if x.dtype is None or sizes is None or 0 not in sizes:
        raise Refuse(f"the sizes of {x.name} must be known, and one be 0; they are {x.shape}")
    shape = _shape(node, sizes, build)
    number = _of_none(node.op, x.dtype) if 0 not in shape else 0
    return build.constant(np.full(shape, number, x.dtype))


def _shape(node: NodeView, sizes: Sequence[int], build: Builder) -> Sequence[int]:
    """Return the shape of the result; where axes are computed, what is known of it says it.

    Raises:
        Refuse: It is not known.
    """
    given, result = node.input(1), node.output(0)
    declared = None if result is None else result.static_shape
    if given is not None and build.const(given) is None and declared is not None:
        return declared
    how = reduced(node, build)
    axes = range(len(sizes)) if how.axes is None else [a % len(sizes) for a in how.axes]
    return [1 if a in axes else n for a, n in enumerate(sizes) if how.keepdims or a not in axes]


def _of_none(op: str, dtype: np.dtype[Any]) -> Any:
    """Return what is left where nothing is reduced.

    Raises:
        Refuse: It is not defined.
    """
    if op in _ZERO:
        return 0
    if op == "ReduceProd":
        return 1
    if op in ("ReduceMax", "ReduceMin"):
        return _extreme(op, dtype)
    if op == "ReduceMean" or dtype.kind in "iub":
        raise Refuse(f"{op} of no {dtype} must be a number; it is not defined")
    return -np.inf


def _extreme(op: str, dtype: np.dtype[Any]) -> Any:
    if dtype.kind == "b":
        return op == "ReduceMin"
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return limits.min if op == "ReduceMax" else limits.max
    return -np.inf if op == "ReduceMax" else np.inf
