"""Quantize to int8 around 0 what is quantized to uint8, or with a zero point, by consent.

Why engines need it: TensorRT quantizes to int8 without a zero point, and computes in int8 between
    such pairs alone. quantize-dequantize-to-clip and dequantize-constant-to-float keep the numbers,
    and leave the engine to floats. It runs with --allow-lossy alone, before they do.
References: https://onnx.ai/onnx/operators/onnx__QuantizeLinear.html; NVIDIA, "Working with
    quantized types"; builtin_op_importers.cpp:1155-1253 of onnx-tensorrt, release 8.6
"""

import numpy as np
from onnx import TensorProto

from graphfix.analysis.folding.lower_bounds import not_negative
from graphfix.authoring import (
    EXACT,
    INTEGERS,
    LOSSY,
    Array,
    Builder,
    NodeView,
    Refuse,
    Value,
    moved_inputs,
    rewrite,
)

from ._reading import PRODUCTS, RANGES, quantized_type, scale_of, zero_of

_BYTES = (TensorProto.INT8, TensorProto.UINT8)
_LOW, _HIGH = RANGES[TensorProto.INT8]
_FEATURES = "attr:DequantizeLinear.* dtype:DequantizeLinear.*"
_DEPTH = 4


@rewrite(
    "DequantizeLinear",
    removes=_FEATURES,
    emits="Clip DequantizeLinear Max Min QuantizeLinear Relu",
    accuracy=LOSSY,
    stage=INTEGERS,
    since=10,
)
def asymmetric_pair_to_int8(node: NodeView, build: Builder) -> Value:
    """Quantize an activation to int8 around 0.

    What it does: Takes steps that cover the wider side of the range, and limits what is quantized
        to the narrower side.
    Before: y = DequantizeLinear (QuantizeLinear (x, 0.1, 0), 0.1, 0)                    # uint8
    After: y = DequantizeLinear (QuantizeLinear (Relu (x), 0.2008, 0), 0.2008, 0)        # int8
    When it refuses: The numbers do not come from a QuantizeLinear with the same scale and zero
        point, or these are computed at run time, given by blocks, not float32, not positive or
        infinite; it is int8 around 0 already.
    Accuracy: Lossy: the error is at most half of an old and half of a new step, up to twice an old
        one; the note of the site has it. Exact for uint8 around 128.
    """
    maker = node.need(0).producer
    if maker is None or maker.domain or maker.op != "QuantizeLinear":
        raise Refuse(f"{node.need(0).name} must come from QuantizeLinear; it does not")
    x, kind = maker.need(0), quantized_type(maker)
    if kind not in _BYTES or x.elem_type != TensorProto.FLOAT:
        raise Refuse("float32 must be quantized to int8 or uint8; it is not")
    scale, zero = _scale(maker, build, x.rank), zero_of(maker, build, x.rank)
    same = np.array_equal(scale, scale_of(node, build, x.rank))
    if not same or not np.array_equal(zero, zero_of(node, build, x.rank)):
        raise Refuse("both must have one scale and zero point; they differ")
    if kind == TensorProto.INT8 and not zero.any():
        raise Refuse("the zero point must be other than 0; it is 0 already")
    low, high = (bound - zero for bound in RANGES[kind])
    # -128 and 127 are where the wider side ends, so that saturation cuts off what it did.
    wider = np.maximum(low / _LOW, high / _HIGH)
    coarse = (scale * wider).astype(np.float32)
    error = float(((scale + coarse) / 2).max())
    if (wider == 1).all():
        build.declare(EXACT, "")
    else:
        build.declare(LOSSY, f"int8 steps of {coarse.max():g}: an error of up to {error:g}")
        x = _limited(x, build, (low * scale).astype(np.float32), (high * scale).astype(np.float32))
    flat = build.constant(coarse.reshape(-1) if coarse.ndim else coarse)
    none = build.constant(np.zeros(coarse.size if coarse.ndim else (), np.int8))
    axis = {"axis": int(node.attr("axis", 1))} if coarse.ndim else {}
    return build.DequantizeLinear(build.QuantizeLinear(x, flat, none, **axis), flat, none, **axis)


def _scale(node: NodeView, build: Builder, rank: int | None) -> Array:
    """Return the scale as it broadcasts; twice as much is still a number."""
    scale = scale_of(node, build, rank)
    with np.errstate(over="ignore"):
        if not (np.isfinite(scale * np.float32(2)) & (scale > 0)).all():
            raise Refuse("scales must be positive and finite; they are not")
    return scale


def _limited(x: Value, build: Builder, low: Array, high: Array) -> Value:
    """Cut off what is past the narrower side, where saturation does not."""
    above, below = (high < low / _LOW * _HIGH).any(), (low > high / _HIGH * _LOW).any()
    if below and not low.any():
        return x if not_negative(x) else build.Relu(x)
    if not low.ndim:  # the one form that engines fuse with the product before it
        return build.Clip(x, max=high) if above else build.Clip(x, min=low)
    x = build.Min(x, high) if above else x
    return build.Max(x, low) if below else x


@rewrite(
    "DequantizeLinear",
    removes=_FEATURES,
    emits="DequantizeLinear",
    accuracy=LOSSY,
    stage=INTEGERS,
    since=10,
)
def asymmetric_weights_to_int8(node: NodeView, build: Builder) -> Value:
    """Store the weights of a product as int8 around 0.

    What it does: Rounds a constant that is dequantized for Conv, ConvTranspose, MatMul or Gemm to
        int8 again, with 127 steps for its largest element (of each channel, where scales are).
    Before: w = DequantizeLinear (uint8 constant, 0.01, 100)
    After: w = DequantizeLinear (int8 constant, 0.0122, 0)
    When it refuses: Another node than a product reads it, as one of its operands, perhaps moved
        about; it is computed at run time, as its scale or zero point; scales are given by blocks,
        not float32, not positive or infinite; it is int8 around 0 already.
    Accuracy: Lossy: the error of a weight is at most half of a new step; the note of the site has
        it. Exact where all elements, less the zero point, are numbers of int8.
    """
    given = node.need(0)
    kind = given.elem_type
    if kind not in _BYTES:
        raise Refuse(f"{given.name} must be int8 or uint8; it is {given.type_name}")
    bytes_ = build.need_const(given, "the quantized tensor").astype(np.int64)
    output = node.output(0)
    if output is None or not _is_for_products(output, _DEPTH):
        raise Refuse("only products may read the weights; another node does")
    scale, zero = _scale(node, build, bytes_.ndim), zero_of(node, build, bytes_.ndim)
    if kind == TensorProto.INT8 and not zero.any():
        raise Refuse("the zero point must be other than 0; it is 0 already")
    whole = bytes_ - zero
    if not whole.size or (whole.min() >= _LOW and whole.max() <= _HIGH):
        build.declare(EXACT, "")
    else:
        # The axes along which one scale is for all.
        along = tuple(n for n in range(whole.ndim) if not scale.ndim or scale.shape[n] == 1)
        most = np.abs(whole).max(axis=along, keepdims=bool(scale.ndim))
        finer = np.where(most > _HIGH, most / _HIGH, 1.0)
        whole = np.rint(whole / finer)
        scale = (scale * finer).astype(np.float32)
        step = float(scale.max())
        build.declare(LOSSY, f"int8 steps of {step:g}: an error of up to {step / 2:g}")
    flat = build.constant(scale.reshape(-1) if scale.ndim else scale)
    none = build.constant(np.zeros(scale.size if scale.ndim else (), np.int8))
    axis = {"axis": int(node.attr("axis", 1))} if scale.ndim else {}
    return build.DequantizeLinear(build.constant(whole.astype(np.int8)), flat, none, **axis)


def _is_for_products(value: Value, depth: int) -> bool:
    """Say whether nothing but products reads a value, as an operand, perhaps moved about."""
    if value.is_graph_output or not depth or not value.consumers:
        return False
    for reader in value.consumers:
        places = [at for at, read in enumerate(reader.inputs) if read == value]
        if not reader.domain and reader.op in PRODUCTS and max(places) < 2:
            continue
        moved = tuple(moved_inputs(reader.node)) == (0,) == tuple(places)
        result = reader.output(0)
        if not moved or result is None or not _is_for_products(result, depth - 1):
            return False
    return True
