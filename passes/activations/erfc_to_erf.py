"""Write TensorFlow's Erfc, which tf2onnx leaves as it is, with Erf.

What it does: Writes Erfc (x), the complement of the error function, as 1 - Erf (x).
Why engines need it: TensorFlow came to compute gelu with erfc, and tf2onnx has no ONNX for it: it
    leaves a node of that name in ONNX's own domain, which no engine knows. Keras exports so.
Before: y = Erfc (x)
After: y = Sub (1, Erf (x))
When it refuses: The dtype is unknown, double or no float, or the opset has no Erf (before 9).
Accuracy: Approximate: the error is at most a rounding of 1, where large inputs have a result next
    to 0; float16 and bfloat16 are computed in float32.
References: onnx/tensorflow-onnx#2463 and #2347 ("creating a mapping from erfc to 1-erf");
    tensorflow/tensorflow tensorflow/core/ops/math_ops.cc (Erfc)
"""

import math

import numpy as np
from onnx import TensorProto

from graphfix.authoring import APPROXIMATE, Array, Builder, NodeView, Refuse, Value, rewrite

_ERF_SINCE = 9
_WIDENED = ("float16", "bfloat16")


def evaluate(inputs: list[Array | None], _: dict[str, object]) -> tuple[Array, ...]:
    """Compute in float64."""
    x = inputs[0]
    if x is None:
        raise ValueError("Erfc has one input")
    complement = np.vectorize(math.erfc, otypes=[np.float64])
    return (complement(x.astype(np.float64)).astype(x.dtype),)


@rewrite("Erfc", removes="op:Erfc", emits="Cast Erf Sub", evaluate=evaluate, accuracy=APPROXIMATE)
def erfc_to_erf(node: NodeView, build: Builder) -> Value:
    """Write the complement, see the module."""
    x = node.need(0)
    if x.type_name not in ("float32", *_WIDENED):
        raise Refuse(f"{x.name} must be float32, float16 or bfloat16; it is {x.type_name}")
    if build.opset < _ERF_SINCE:
        raise Refuse(f"opset {build.opset} has no Erf; it is there from opset {_ERF_SINCE} on")
    if x.type_name not in _WIDENED:
        return build.Sub(1.0, build.Erf(x))
    result = build.Sub(1.0, build.Erf(build.Cast(x, to=TensorProto.FLOAT)))
    return build.Cast(result, to=x.elem_type)
