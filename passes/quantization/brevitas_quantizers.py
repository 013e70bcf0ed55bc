"""Replace quantizers of QONNX, Brevitas and FINN by arithmetic.

What it does:
    Writes down what they compute in floating point numbers: Quant and IntQuant divide by the scale,
    limit, round and multiply; BipolarQuant gives the scale or its opposite; Trunc drops the lowest
    bits; FloatQuant rounds to a float of few bits, whose steps are found by comparing with powers
    of two; MultiThreshold counts the thresholds that a number has reached. Each has a pass.

Why engines need it:
    Engines know none of their domains.

Before:
    y = qonnx.custom_op.general.Quant <signed = 1, narrow = 0> (x, scale, zero, bits = 4)

After:
    y = Mul (Sub (Round (Clip (Add (Div (x, scale), zero), -8, 7)), zero), scale)

When it refuses:
    A bit width is computed at run time or above 24; the rounding is another than ROUND, CEIL or
    FLOOR; FloatQuant does not saturate or has more than five bits of exponent; the layout of
    MultiThreshold is not known.

Accuracy:
    Exact: the same operations in the same order; integers of 24 bits are floats. NaN is left open.

References:
    https://github.com/fastmachinelearning/qonnx, docs/qonnx-custom-ops and
    src/qonnx/custom_op/general
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphfix.authoring import Array, Builder, NodeView, Refuse, Value, rewrite
from graphfix.passes.quantization._brevitas import (
    ROUND_EMITS,
    bits_at,
    features,
    infer_like,
    named,
    need_floats,
    numpy_rounding,
    quantized_by_numpy,
    range_of,
    rounded_by,
)

_MOST_EXPONENTS = 5


def evaluate_quant(inputs: list[Array | None], attributes: dict[str, Any]) -> tuple[Array, ...]:
    """Quant and IntQuant."""
    x, scale, zero, bits = (np.asarray(given) for given in inputs[:4])
    signed = int(attributes.get("signed", 1))
    if int(bits.item()) == 1 and signed:
        y = np.where(x / scale + zero >= 0, np.float32(1), np.float32(-1))
        return (np.asarray((y - zero) * scale, np.float32),)
    bounds = range_of(int(bits.item()), signed, int(attributes.get("narrow", 1)))
    return (quantized_by_numpy(x, scale, zero, bounds, numpy_rounding(attributes)),)


@rewrite(
    named("Quant", "IntQuant"),
    removes=features("Quant", "IntQuant"),
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
    named("BipolarQuant"),
    removes=features("BipolarQuant"),
    emits="Cast Less Mul Sub",
    infer=infer_like,
    evaluate=evaluate_bipolar,
)
def brevitas_bipolar_to_less(node: NodeView, build: Builder) -> Value:
    """Replace BipolarQuant of QONNX and Brevitas by a comparison with 0."""
    return build.Mul(_signs(build, need_floats(node)), node.need(1))


def evaluate_trunc(inputs: list[Array | None], attributes: dict[str, Any]) -> tuple[Array, ...]:
    """Trunc of four inputs."""
    x, scale, zero, before, after = (np.asarray(given) for given in inputs[:5])
    dropped = np.float32(2.0 ** (before.item() - after.item()))
    rounding = numpy_rounding({"rounding_mode": attributes.get("rounding_mode", "FLOOR")})
    steps = rounding(np.round(x / scale + zero) / dropped)
    return (np.asarray((steps - zero) * scale, np.float32),)


@rewrite(
    named("Trunc"),
    removes=features("Trunc"),
    emits=ROUND_EMITS,
    infer=infer_like,
    evaluate=evaluate_trunc,
)
def brevitas_trunc_to_floor(node: NodeView, build: Builder) -> Value:
    """Replace Trunc of QONNX and Brevitas by dropping the lowest bits."""
    if len(node.inputs) != 5:
        raise Refuse(
            f"there must be five inputs, the last of them both bit widths; there are "
            f"{len(node.inputs)}: export with Brevitas before 0.12 or leave the pool unquantized"
        )
    x, scale, zero = need_floats(node), node.need(1), node.need(2)
    dropped = bits_at(node, build, 3) - bits_at(node, build, 4)
    whole = rounded_by(build, build.Add(build.Div(x, scale), zero), "ROUND")
    steps = build.Mul(whole, 2.0**-dropped)
    cut = rounded_by(build, steps, node.attr("rounding_mode", "FLOOR"))
    return build.Mul(build.Sub(cut, zero), scale)


def evaluate_float(inputs: list[Array | None], attributes: dict[str, Any]) -> tuple[Array, ...]:
    """FloatQuant."""
    x, scale, _, mantissa, bias, most = (np.asarray(given) for given in inputs[:6])
    number = x / scale
    places = np.frexp(np.maximum(np.abs(number), np.finfo(np.float32).tiny))[1] - 1
    step = np.exp2(np.maximum(places - mantissa, 1 - bias - mantissa)).astype(np.float32)
    whole = step * numpy_rounding(attributes)(number / step)
    return (np.asarray(np.clip(whole, -most, most) * scale, np.float32),)


@rewrite(
    named("FloatQuant"),
    removes=features("FloatQuant"),
    emits=(ROUND_EMITS, "Cast Less Max Not"),
    infer=infer_like,
    evaluate=evaluate_float,
)
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
    number = build.Div(x, scale)
    size = build.Abs(number)
    lowest = 1 - bias
    step: Value = build.constant(np.array(2.0 ** (lowest - mantissa), np.float32))
    for place in range(int(lowest) + 1, int(2**exponent - bias) + 1):
        reached = build.Cast(build.Not(build.Less(size, 2.0**place)), to=x.elem_type)
        step = build.Max(step, build.Mul(reached, 2.0 ** (place - mantissa)))
    limited = build.Clip(number, min=np.float32(-2 * most), max=np.float32(2 * most))
    steps = rounded_by(build, build.Div(limited, step), node.attr("rounding_mode", "ROUND"))
    kept = build.Clip(build.Mul(step, steps), min=np.float32(-most), max=np.float32(most))
    return build.Mul(kept, scale)


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
    removes=(
        *features("MultiThreshold"),
        "op:finn.custom_op.thresholding::MultiThreshold",
    ),
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
    """Return thresholds as they broadcast: one more axis for them, behind the others."""
    shape = [1] * rank
    shape[axis] = thresholds.shape[0]
    return thresholds.reshape(*shape, thresholds.shape[1])
