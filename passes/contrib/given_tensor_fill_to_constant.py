"""Replace GivenTensorFill and ConstantFill of a known shape by a constant.

What it does: Writes the tensor out that the attributes describe: `values`, or one `value`
    everywhere.
Why engines need it: onnx dropped both in 1.5. Old exporters of Caffe2 wrote them.
Before: y = ConstantFill <shape = [2, 3], value = 0.5> ()
After: y = constant [2, 3] of 0.5
When it refuses: The shape is given by an input, or `extra_shape` adds to it; the type is not
    float32, bool, int32 or int64; the values are not as many as the shape holds, or more than
    max_elements.
Accuracy: Exact.
References: onnx/defs/experiments/defs.cc of onnx 1.4; caffe2/operators/filler_op.h
"""

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto

from graphfix.authoring import (
    Array,
    Builder,
    InferredType,
    NodeView,
    Option,
    Refuse,
    Value,
    rewrite,
)

_TYPES = (TensorProto.FLOAT, TensorProto.BOOL, TensorProto.INT32, TensorProto.INT64)


def _tensor(attributes: dict[str, Any]) -> Array:
    """Return what the attributes describe."""
    kind = int(attributes.get("dtype", TensorProto.FLOAT))
    dtype: np.dtype[Any] = onnx.helper.tensor_dtype_to_np_dtype(kind)
    shape = [int(size) for size in attributes["shape"]]
    if "values" in attributes:
        return np.array(attributes["values"], dtype).reshape(shape)
    return np.full(shape, attributes.get("value", 0.0), dtype)


def evaluate(inputs: list[Array | None], attributes: dict[str, Any]) -> tuple[Array, ...]:
    """Give the tensor."""
    return (_tensor(attributes),)


def _filled(node: NodeView) -> Sequence[InferredType | None]:
    kind, shape = int(node.attr("dtype", TensorProto.FLOAT)), node.attr("shape")
    known = None if shape is None or node.inputs else tuple(int(size) for size in shape)
    return (InferredType(kind, known),)


@rewrite(
    ("GivenTensorFill", "ConstantFill"),
    removes="op:GivenTensorFill op:ConstantFill",
    infer=_filled,
    evaluate=evaluate,
    options={"max_elements": Option(int, 1 << 20, "Larger tensors are refused.")},
)
def given_tensor_fill_to_constant(node: NodeView, build: Builder) -> Value:
    """Write the tensor out, see the module."""
    shape = node.attr("shape")
    if node.inputs or shape is None or node.attr("extra_shape"):
        raise Refuse("the shape must be given by the attribute shape alone; it is not")
    kind = int(node.attr("dtype", TensorProto.FLOAT))
    if kind not in _TYPES:
        named = TensorProto.DataType.Name(kind).lower()
        raise Refuse(f"the dtype must be float32, bool, int32 or int64; it is {named}")
    count = prod(int(size) for size in shape)
    if count > int(build.option("max_elements")) or any(int(size) < 0 for size in shape):
        raise Refuse(f"there must be 0 to max_elements elements; the shape is {list(shape)}")
    values = node.attr("values")
    if node.op == "GivenTensorFill" and (values is None or len(values) != count):
        given = 0 if values is None else len(values)
        raise Refuse(f"there must be {count} values; there are {given}")
    return build.constant(_tensor({name: node.attr(name) for name in node.attributes}))
