"""Replace ImageScaler by Mul and Add.

What it does: Multiplies the images by the scale and adds to each channel its bias.
Why engines need it: ImageScaler was an experimental operator of ONNX up to 1.5, which converters
    from CoreML wrote; ONNX has no schema for it any more, so that nothing is known of what follows
    it.
Before: y = ImageScaler <scale = 0.5, bias = [1.0, 2.0, 3.0]> (x)          # x: float[N, 3, H, W]
After: y = Add (Mul (x, 0.5), [[[1.0]], [[2.0]], [[3.0]]])
When it refuses: The input has not four dimensions or is not float32 or float16; scale or bias is
    missing; the biases are not as many as the channels, which must be known.
Accuracy: Exact up to rounding: onnxruntime may fuse the product and the sum.
References: onnxruntime/contrib_ops/cpu/image_scaler.h of microsoft/onnxruntime;
    onnx/defs/experiments of onnx/onnx, release 1.4
"""

from typing import Any

import numpy as np
from onnx import TensorProto

from graphfix.authoring import Builder, NodeView, Refuse, Value, need_rank_of, rewrite

Array = np.ndarray[Any, Any]

_RANK = 4


def evaluate(inputs: list[Array | None], attributes: dict[str, Any]) -> tuple[Array, ...]:
    """Scale and add, see the module."""
    (x,) = inputs
    assert x is not None
    bias = np.asarray(attributes["bias"], x.dtype).reshape(-1, 1, 1)
    return (np.asarray(x * x.dtype.type(attributes["scale"]) + bias),)


@rewrite("ImageScaler", removes="op:ImageScaler", emits="Mul Add", evaluate=evaluate)
def image_scaler_to_arithmetic(node: NodeView, build: Builder) -> Value:
    """Scale and add, see the module."""
    x = node.need(0)
    need_rank_of(x, _RANK)
    if x.elem_type not in (TensorProto.FLOAT, TensorProto.FLOAT16):
        raise Refuse(f"{x.name} must be float32 or float16; it is {x.type_name}")
    if "scale" not in node.attributes or "bias" not in node.attributes:
        raise Refuse("scale and bias must be given")
    bias = np.asarray(node.attr("bias"), np.float64)
    assert x.shape is not None
    if bias.size != x.shape[1]:
        raise Refuse(
            f"there must be a bias for each of {x.shape[1]} channels; there are {bias.size}"
        )
    dtype = np.float32 if x.elem_type == TensorProto.FLOAT else np.float16
    scaled = build.Mul(x, np.asarray(node.attr("scale"), dtype))
    return build.Add(scaled, bias.astype(dtype).reshape(-1, 1, 1))
