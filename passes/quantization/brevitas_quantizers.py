"""Replace quantizers of QONNX, Brevitas and FINN by arithmetic.

What it does: Writes down what they compute in floating point numbers: Quant and IntQuant divide by
    the scale, limit, round and multiply; BipolarQuant gives the scale or its opposite; Trunc drops
    the lowest bits; FloatQuant rounds to a float of few bits, whose steps are found by comparing
    with powers of two; MultiThreshold counts the thresholds that a number has reached. Each has a
    pass.
Why engines need it: Engines know none of their domains.
Before: y = qonnx.custom_op.general.Quant <signed = 1, narrow = 0> (x, scale, zero, bits = 4)
After: y = Mul (Sub (Round (Clip (Add (Div (x, scale), zero), -8, 7)), zero), scale)
When it refuses: A bit width is computed at run time or above 24; the rounding is another than
    ROUND, CEIL or FLOOR; FloatQuant does not saturate or has more than five bits of exponent; the
    layout of MultiThreshold is not known.
Accuracy: Exact: the same operations in the same order; integers of 24 bits are floats. NaN is left
    open.
References: https://github.com/fastmachinelearning/qonnx, docs/qonnx-custom-ops and
    src/qonnx/custom_op/general
"""

from typing import Any

import numpy as np

from graphfix.authoring import Array, Builder, NodeView, Refuse, Value, rewrite

from ._brevitas import (
    ROUND_EMITS,
    bits_at,
    infer_like,
    named,
    need_floats,
    numpy_rounding,
    quantized_by_numpy,
    range_of,
)
from ._few_bits import FEW_EMITS, FewBits, rounded_by, rounded_to_few_bits

_MOST_EXPONENTS = 5


def evaluate_quant(inputs: list[Array | None], attributes: dict[str, Any]) -> tuple[Array, ...]:
    """Quant and IntQuant."""
    x, scale, zero, bits = (np.asarray(given) for given in inputs[:4])
    signed = int(attributes.get("signed", 1))
    if int(bits.item()) == 1 and signed:
        for name in ("narrow", "rounding_mode"):  # one bit has no other range
            attributes.get(name)
        y = np.where(x / scale + zero >= 0, np.float32(1), np.float32(-1))
        return (np.asarray((y - zero) * scale, np.float32),)
    bounds = range_of(int(bits.item()), signed, int(attributes.get("narrow", 1)))
    return (quantized_by_numpy(x, scale, zero, bounds, numpy_rounding(attributes)),)


@rewrite(
    named("Quant", "IntQuant"),
    emits=(ROUND_EMITS, "Cast Less"),
    infer=infer_like,
    evaluate=evaluate_quant,
)
def brevitas_quant_to_round(node: NodeView, build: Builder) -> Value:
    """Replace Quant and IntQuant of QONNX and Brevitas by dividing and rounding."""
    x, scale, zero = need_floats(node), node.need(1), node.need(2)
    bits, signed = bits_at(node, build, 3), int(node.attr("signed", 1))
    steps = build.Add(build.Div(x, scale), zero)
    if bits == 1 and signed:
        node.waive(("narrow", "rounding_mode"))  # one bit has no other range, and none between
        return build.Mul(build.Sub(_signs(build, steps), zero), scale)
    low, high = range_of(bits, signed, int(node.attr("narrow", 1)))
    limited = build.Clip(steps, min=np.float32(low), max=np.float32(high))
    whole = rounded_by(build, limited, node.attr("rounding_mode", "ROUND"))
    return build.Mul(build.Sub(whole, zero), scale)


def _signs(build: Builder, x: Value) -> Value:
    """Return 1 from 0 on, and -1 below."""
    below = build.Cast(build.Less(x, 0.0), to=x.elem_type)
    return build.Sub(build.constant(np.ones((), np.float32)), build.Mul(below, 2.0))


def evaluate_bipolar(inputs: list[Array | None], _: dict[str, Any]) -> tuple[Array, ...]:
    """BipolarQuant."""
    x, scale = (np.asarray(given) for given in inputs[:2])
    return (np.asarray(np.where(x >= 0, np.float32(1), np.float32(-1)) * scale, np.float32),)


@rewrite(
    named("BipolarQuant"), emits="Cast Less Mul Sub", infer=infer_like, evaluate=evaluate_bipolar
)
def brevitas_bipolar_to_less(node: NodeView, build: Builder) -> Value:
    """Replace BipolarQuant of QONNX and Brevitas by a comparison with 0."""
    return build.Mul(_signs(build, need_floats(node)), node.need(1))


def evaluate_trunc(inputs: list[Array | None], attributes: dict[str, Any]) -> tuple[Array, ...]:
    """Trunc, in both of its forms."""
    if len(inputs) == 7:
        return (_requantized_by_numpy([np.asarray(one) for one in inputs], attributes),)
    x, scale, zero, before, after = (np.asarray(given) for given in inputs[:5])
    dropped = np.float32(2.0 ** (before.item() - after.item()))
    rounding = numpy_rounding({"rounding_mode": attributes.get("rounding_mode", "FLOOR")})
    steps = rounding(np.round(x / scale + zero) / dropped)
    return (np.asarray((steps - zero) * scale, np.float32),)


def _requantized_by_numpy(inputs: list[Array], attributes: dict[str, Any]) -> Array:
    """Return what Trunc gives that names the scale and range of its result."""
    x, scale, zero, _, coarse, _, bits = inputs
    ratio = np.exp2(np.round(np.log2(coarse / scale))).astype(np.float32)
    rounding = numpy_rounding({"rounding_mode": attributes.get("rounding_mode", "FLOOR")})
    signed, narrow = int(attributes.get("signed", 1)), int(attributes.get("narrow", 0))
    limited = np.clip(
        np.round(x / scale + zero) / ratio, *range_of(int(bits.item()), signed, narrow)
    )
    return np.asarray((rounding(limited) - zero / ratio) * coarse, np.float32)


@rewrite(named("Trunc"), emits=ROUND_EMITS, infer=infer_like, evaluate=evaluate_trunc)
def brevitas_trunc_to_floor(node: NodeView, build: Builder) -> Value:
    """Replace Trunc of QONNX and Brevitas by dropping the lowest bits."""
    if len(node.inputs) == 7:
        return _requantized(node, build)
    if len(node.inputs) != 5:
        raise Refuse(
            f"there must be five inputs, or seven with another scale; there are {len(node.inputs)}"
        )
    x, scale, zero = need_floats(node), node.need(1), node.need(2)
    dropped = bits_at(node, build, 3) - bits_at(node, build, 4)
    whole = rounded_by(build, build.Add(build.Div(x, scale), zero), "ROUND")
    steps = build.Mul(whole, 2.0**-dropped)
    cut = rounded_by(build, steps, node.attr("rounding_mode", "FLOOR"))
    return build.Mul(build.Sub(cut, zero), scale)


def _requantized(node: NodeView, build: Builder) -> Value:
    """Return what the form of seven inputs gives, which names the scale and range of the result."""
    node.waive(inputs=(3, 5))  # what QONNX does not look at: the bits, and the zero of the result
    x, scale, zero, coarse = need_floats(node), node.need(1), node.need(2), node.need(4)
    fine, wide = (build.need_const(v, "the scale").astype(np.float64) for v in (scale, coarse))
    ratio = np.exp2(np.round(np.log2(wide / fine))).astype(np.float32)
    bounds = range_of(
        bits_at(node, build, 6), int(node.attr("signed", 1)), int(node.attr("narrow", 0))
    )
    whole = rounded_by(build, build.Add(build.Div(x, scale), zero), "ROUND")
    low, high = (np.float32(bound) for bound in bounds)
    limited = build.Clip(build.Div(whole, ratio), min=low, max=high)
    cut = rounded_by(build, limited, node.attr("rounding_mode", "FLOOR"))
    return build.Mul(build.Sub(cut, build.Div(zero, ratio)), coarse)


def evaluate_float(inputs: list[Array | None], attributes: dict[str, Any]) -> tuple[Array, ...]:
    """FloatQuant that saturates and has numbers below the normal ones."""
    if not attributes.get("saturation", 1) or not attributes.get("has_subnormal", 1):
        raise NotImplementedError("other floats are not modelled")
    x, scale, _, mantissa, bias, most = (np.asarray(given) for given in inputs[:6])
    number = x / scale
    places = np.frexp(np.maximum(np.abs(number), np.finfo(np.float32).tiny))[1] - 1
    step = np.exp2(np.maximum(places - mantissa, 1 - bias - mantissa)).astype(np.float32)
    whole = step * numpy_rounding(attributes)(number / step)
    return (np.asarray(np.clip(whole, -most, most) * scale, np.float32),)


@rewrite(named("FloatQuant"), emits=FEW_EMITS, infer=infer_like, evaluate=evaluate_float)
def brevitas_float_to_round(node: NodeView, build: Builder) -> Value:
    """Replace FloatQuant of QONNX and Brevitas by rounding to the steps of such floats."""
    x, scale = need_floats(node), node.need(1)
    numbers = [
        float(build.need_const(node.need(place), "the form of the floats").reshape(()))
        for place in (2, 3, 4, 5)
    ]
    exponent, mantissa, bias, most = numbers
    whole = all(number == int(number) for number in numbers[:3])
    if not whole or not 1 <= exponent <= _MOST_EXPONENTS or not node.attr("saturation", 1):
        raise Refuse(
            f"the floats must saturate and have at most {_MOST_EXPONENTS} whole bits of exponent; "
            f"they have {exponent:g}"
        )
    if most > 2.0 ** (2**exponent - bias):
        raise Refuse(f"the greatest float must be one of these bits; it is {most:g}")
    form = FewBits(int(exponent), int(mantissa), int(bias), most)
    mode = node.attr("rounding_mode", "ROUND")
    return build.Mul(rounded_to_few_bits(build, build.Div(x, scale), form, mode), scale)


def evaluate_thresholds(
    inputs: list[Array | None], attributes: dict[str, Any]
) -> tuple[Array, ...]:
    """MultiThreshold."""
    x, thresholds = (np.asarray(given) for given in inputs[:2])
    axis = _channels(x.ndim, str(attributes.get("data_layout", "NCHW")))
    spread = _spread(thresholds, x.ndim, axis)
    count = np.sum(x[..., None] >= spread, axis=-1).astype(np.float32)
    scale = np.float32(attributes.get("out_scale", 1.0))
    return (np.asarray(count * scale + np.float32(attributes.get("out_bias", 0.0)), np.float32),)


@rewrite(
    (*named("MultiThreshold"), "finn.custom_op.thresholding::MultiThreshold"),
    emits="Add Cast Less Mul Not ReduceSum Unsqueeze",
    infer=infer_like,
    evaluate=evaluate_thresholds,
)
def multi_threshold_to_sum(node: NodeView, build: Builder) -> Value:
    """Replace MultiThreshold of FINN and QONNX by counting the thresholds that are reached."""
    x = need_floats(node)
    thresholds = build.need_const(node.need(1), "the thresholds").astype(np.float32)
    if x.rank is None or x.rank < 2 or thresholds.ndim != 2:
        raise Refuse("the ranks must be known: 2 for thresholds, 2 at least for what is compared")
    axis = _channels(x.rank, node.attr("data_layout", "NCHW"))
    if thresholds.shape[0] not in (1, x.dim(axis)):
        raise Refuse(
            f"there must be thresholds for each of {x.dim(axis)} channels or for all; there are "
            f"{thresholds.shape[0]}"
        )
    spread = build.constant(_spread(thresholds, x.rank, axis))
    hit = build.Not(build.Less(build.Unsqueeze(x, axes=[x.rank]), spread))
    count = build.ReduceSum(build.Cast(hit, to=x.elem_type), axes=[x.rank], keepdims=0)
    scale, bias = node.attr("out_scale", 1.0), node.attr("out_bias", 0.0)
    scaled = build.Mul(count, float(scale)) if scale != 1 else count
    return build.Add(scaled, float(bias)) if bias else scaled


def _channels(rank: int, layout: str) -> int:
    """Return the axis of the channels, as qonnx takes it."""
    return 1 if rank == 2 or (rank == 4 and layout == "NCHW") else rank - 1


def _spread(thresholds: Array, rank: int, axis: int) -> Array:
    """Return thresholds as they broadcast: one more axis for them, after the others."""
    shape = [1] * rank
    shape[axis] = thresholds.shape[0]
    return thresholds.reshape(*shape, thresholds.shape[1])
