"""Keep the lower triangle of matrices with a constant mask.

What it does:
    Replaces tril by Where with a constant mask of the matrix size (And for bool, Mul below opset
    9, which has no Where), and by Trilu where the size is dynamic.

Why engines need it:
    ONNX had no triangle before opset 14, and exporters wrote an ATen node.

Before:
    y = ATen <operator = "tril"> (x, 1)            # x: float[3, 4]

After:
    y = Where (mask, x, 0)                          # mask: bool[3, 4], true on and below diagonal 1

When it refuses:
    The diagonal is computed at run time, rank or dtype are unknown, or the matrix size is dynamic
    (or above four million elements) below opset 14.

Accuracy:
    Exact, and bit by bit from opset 9 on. Below it an infinity or NaN in the upper triangle stays
    NaN.

References:
    pytorch/pytorch aten/src/ATen/native/TriangularOps.cpp;
    https://onnx.ai/onnx/operators/onnx__Where.html;
    https://onnx.ai/onnx/operators/onnx__Trilu.html
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graphfix.authoring import Array, Builder, InferredType, NodeView, Value, rewrite
from graphfix.passes.aten._arguments import features, matching
from graphfix.passes.aten._triangle import EMITS, evaluate_triangle, keep_triangle

NAMES = ("tril",)


def infer(node: NodeView) -> Sequence[InferredType | None]:
    """The result is like the input."""
    x = node.input(0)
    return (InferredType(x.elem_type, x.shape) if x is not None and x.elem_type else None,)


def evaluate(inputs: list[Array | None], attributes: dict[str, Any]) -> tuple[Array, ...]:
    """Use numpy."""
    return evaluate_triangle(inputs, attributes, upper=False)


@rewrite(matching(NAMES), removes=features(NAMES), emits=EMITS, infer=infer, evaluate=evaluate)
def aten_tril(node: NodeView, build: Builder) -> Value:
    """Keep the lower triangle, see the module."""
    return keep_triangle(node, build, "tril", upper=False)
