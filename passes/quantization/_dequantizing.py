"""What is dequantized in floating point numbers: constants, and what QuantizeLinear gave."""

import numpy as np
from onnx import TensorProto

from graphfix.authoring import (
    Array,
    Builder,
    NodeView,
    Refuse,
    Value,
    least_for_nan,
    may_be_nan,
)

from ._few_bits import FEW_BITS, rounded_to_few_bits
from ._reading import RANGES, by_element, quantized_type, scale_of, zero_of

PAIR_EMITS = "Abs Add Cast Clip Div Greater Less Max Min Mul Not Round Where"


def constant_as_float(node: NodeView, build: Builder, most: int) -> Value:
    """Return what a DequantizeLinear gives of a constant of at most `most` elements.

    Raises:
        Refuse: It is none, or is larger, or something is not known.
    """
    output = node.output(0)
    # An output of the graph keeps its name by an Identity after the constant.
    name = "" if output is None or output.is_graph_output else output.name
    return build.constant(dequantized(node, build, most), replaces=name)


def dequantized(node: NodeView, build: Builder, most: int) -> Array:
    """Return the elements that a DequantizeLinear gives of a constant, in the type of its scale.

    Raises:
        Refuse: It is none, or has more than `most` elements, or something is not known.
    """
    x = node.need(0)
    if x.static_shape is not None and np.prod(x.static_shape) > most:
        raise Refuse(f"{x.name} must have at most max_elements elements; it has more")
    array = build.need_const(x, "the quantized tensor")
    if not _is_quantized(array):
        raise Refuse(f"{x.name} must be integers or floats of 8 bits; it is {x.type_name}")
    scale = build.need_const(node.need(1), f"the scale of {node.op}")
    if scale.dtype not in (np.float32, np.float16):
        raise Refuse(f"the scale must be float32 or float16; it is {scale.dtype}")
    if node.attr("output_dtype", 0) not in (0, node.need(1).elem_type):
        raise Refuse("the result must be of the type of the scale; output_dtype says otherwise")
    # float32 holds every difference of 16 bits; one of int32 is rounded once, as it is there.
    whole = array.astype(np.float64)
    if node.input(2) is not None:
        zero = build.need_const(node.input(2), f"the zero point of {node.op}").astype(np.float64)
        whole = whole - by_element(node, zero, array.shape)
    # Those of float16 are multiplied in float32, as in onnxruntime (measured on 1.32.0).
    scales = by_element(node, scale, array.shape).astype(np.float32)
    with np.errstate(over="ignore"):
        return (whole.astype(np.float32) * scales).astype(scale.dtype)


def _is_quantized(array: Array) -> bool:
    return array.dtype.kind in "iu" or array.dtype.name.startswith(("int", "uint", "float8"))


def pair_as_floats(node: NodeView, build: Builder) -> Value:
    """Return what a DequantizeLinear gives of what a QuantizeLinear gave.

    Raises:
        Refuse: They are no such pair, or something is not known.
    """
    quantized = node.need(0)
    maker = quantized.producer
    if maker is None or maker.op != "QuantizeLinear" or maker.domain:
        raise Refuse(f"{quantized.name} must come from QuantizeLinear; it does not")
    x = maker.need(0)
    kind, half = quantized_type(maker), x.elem_type == TensorProto.FLOAT16
    if x.elem_type != TensorProto.FLOAT and not (half and kind not in FEW_BITS):
        raise Refuse(f"what is quantized must be float32; it is {x.type_name}")
    if node.attr("output_dtype", 0) not in (0, node.need(1).elem_type):
        raise Refuse("the result must be of the type of the scale; output_dtype says otherwise")
    if kind in FEW_BITS:
        return _pair_of_few_bits(node, maker, build)
    if kind not in RANGES:
        raise Refuse(f"{quantized.name} must be integers of 4 to 16 bits or float8; it is not")
    rank = x.rank
    zero = zero_of(maker, build, rank)
    number = build.Cast(x, to=TensorProto.FLOAT) if half else x
    scale = scale_of(maker, build, rank, half=True)
    steps = build.Round(build.Div(number, scale))
    low, high = (bound - zero for bound in RANGES[kind])
    if np.isinf(scale).any() or may_be_nan(x):
        steps = least_for_nan(build, steps, low.astype(np.float32))
    # Round gives -0.0 where an integer is 0; adding, even 0, makes it what the integer becomes.
    shift = zero - zero_of(node, build, rank)
    whole = build.Add(_limited(build, steps, low, high), shift.astype(np.float32))
    real = build.Mul(whole, scale_of(node, build, rank, half=True))
    given = node.need(1).elem_type
    return real if given == TensorProto.FLOAT else build.Cast(real, to=given)


def _pair_of_few_bits(node: NodeView, maker: NodeView, build: Builder) -> Value:
    """Round to float8, which has no zero point but 0."""
    x, form = maker.need(0), FEW_BITS[quantized_type(maker)]
    if zero_of(maker, build, x.rank).any() or zero_of(node, build, x.rank).any():
        raise Refuse("float8 must have no zero point but 0; it has one")
    if not maker.attr("saturate", 1):
        raise Refuse("float8 must saturate; it does not")
    number = build.Div(x, scale_of(maker, build, x.rank))
    kept = rounded_to_few_bits(build, number, form, "ROUND")
    return build.Mul(build.Add(kept, 0.0), scale_of(node, build, x.rank))


def _limited(build: Builder, x: Value, low: Array, high: Array) -> Value:
    if low.ndim == 0:
        return build.Clip(x, min=np.float32(low), max=np.float32(high))
    return build.Min(build.Max(x, low.astype(np.float32)), high.astype(np.float32))
