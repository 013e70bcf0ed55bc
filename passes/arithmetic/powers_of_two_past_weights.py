"""Give small weights a power of two that is divided out after all that follows.

What it does: Multiplies the weights of Conv, Gemm or MatMul that leave less than an eighth of the
    size of numbers by a power of two, so that they leave about as much as came, and what is given
    by the power below 1. That factor is moved on after what follows: after Relu, Clip with other
    limits, pools, moves, sums of what has been scaled alike, and the next weights.
Why engines need it: rknn-toolkit2 takes an output for a constant that depends on the inputs by less
    than 1e-23, as in a network of small weights in a row: "All outputs of model are constants, The
    model is invalid". In float16 all that such weights give is 0.
Before:
    t = Conv (x, w)                     # w is around 0.001
    u = Clip (t, 0, 6)
    y = Conv (u, v)
After:
    t = Conv (x, w * 1024)
    u = Clip (t, 0, 6 * 1024)
    y = Mul (Conv (u, v), 1 / 1024)
When it refuses: Weights or limits are computed; a bias or a limit becomes infinite: then the factor
    stays before the node. Weights are all 0.
Accuracy: Exact where neither form leaves the range of its values: powers of two change exponents
    alone. What is subnormal in the one is more exact in the other; of numbers that are so large
    that multiplied by a power of two they become infinite, the result is infinite.
References: measured in the simulator of rknn-toolkit2 2.3.2
    https://onnx.ai/onnx/operators/onnx__Conv.html
"""

import math
from functools import partial

import numpy as np
from onnx import TensorProto

from graphfix.authoring import (
    APPROXIMATE,
    Array,
    Builder,
    Editor,
    NodeView,
    Refuse,
    Value,
    graph_pass,
)

_FLOATS = (TensorProto.FLOAT, TensorProto.DOUBLE)
_LEAST_LEFT = 1 / 8
_STEP = 2.0**-14  # the smallest number of full precision in float16
_BIAS = 2  # an input of weights
_MOST = 2**26  # weights that are looked at
_WEIGHTED = frozenset({"Conv", "Gemm", "MatMul"})
# What gives a multiple of its first operand for a multiple above 0 of it.
_SCALED_ALIKE = frozenset(
    {
        *("AveragePool", "Flatten", "GlobalAveragePool", "GlobalMaxPool", "Identity", "LeakyRelu"),
        *("MaxPool", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceSum", "Relu", "Reshape"),
        *("Slice", "Squeeze", "Transpose", "Unsqueeze"),
    }
)
_SUMS = frozenset({"Add", "Concat", "Max", "Min", "Sub"})


_NEITHER = frozenset({"Clip", "Pad", "Resize"})  # depends on their other operands
_MOVED = _WEIGHTED | _SCALED_ALIKE | _SUMS | _NEITHER


@graph_pass(
    removes="io:vanishing-output",
    emits=" ".join(sorted(_MOVED | {"Mul", "Neg", "Sub"})),
    accuracy=APPROXIMATE,
)
def powers_of_two_past_weights(editor: Editor) -> None:
    """Look at the nodes of all graphs in their order."""
    for graph in editor.graphs():
        for view in editor.nodes(graph, *_MOVED):
            if view.domain or len(view.outputs) != 1 or _type(view) not in _FLOATS:
                continue
            power = _power(view) if view.op in _WEIGHTED else 1.0
            read = view.inputs if view.op in _SUMS else view.inputs[:1]
            if power != 1 or all(_split(operand)[1] != 1 for operand in read):
                editor.replace(view, partial(_scaled, view, power))


def _scaled(view: NodeView, power: float, build: Builder) -> Value:
    """Return what a node gives as a multiple of what it gives of operands without factors."""
    x, factor = _split(view.need(0))
    given: list[Value | None] = [x, *view.inputs[1:]]
    attributes = view.written()
    if view.op in _SUMS:
        given, factor = _at_one_scale(view, build)
    elif view.op in _WEIGHTED:
        if power != 1:
            weights = build.need_const(view.need(1), "the weights")
            given[1] = build.constant(_over(weights, power, "a weight"))
            factor *= power
        if len(given) > _BIAS and given[_BIAS] is not None:
            bias = build.need_const(view.need(_BIAS), "the bias")
            given[_BIAS] = build.constant(_over(bias, factor, "the bias"))
    elif view.op == "Clip":
        for name in ("min", "max"):
            if name in attributes:
                number = np.asarray(attributes[name], np.float32)
                attributes[name] = float(_over(number, factor, "a limit"))
        for place, limit in enumerate(given[1:], 1):
            if limit is not None:
                numbers = build.need_const(limit, "a limit")
                given[place] = build.constant(_over(numbers, factor, "a limit"))
    else:
        _check(view, build)
    return _multiplied(build.multi(view.op, *given, **attributes)[0], factor, build)


def _type(view: NodeView) -> int:
    result = view.output(0)
    return 0 if result is None else result.elem_type


def _check(view: NodeView, build: Builder) -> None:
    """Refuse what gives numbers of its own where it reads none.

    Raises:
        Refuse: It pads with another value than 0, or does so next to an image.
    """
    if view.op == "Pad" and view.attr("mode", "constant") == "constant":
        filling = view.input(2)
        number = view.attr("value", 0.0)
        if filling is not None:
            number = build.need_const(filling, "what it is padded with")
        if np.any(number):
            raise Refuse("the padding value must be 0; it is not")
    cropped = view.op == "Resize" and "crop" in view.attr(
        "coordinate_transformation_mode", "half_pixel"
    )
    if cropped and view.attr("extrapolation_value", 0.0):
        raise Refuse(f"extrapolation_value must be 0; it is {view.attr('extrapolation_value')}")


def _at_one_scale(view: NodeView, build: Builder) -> tuple[list[Value | None], float]:
    """Return the operands of a sum as parts of the largest factor, and that."""
    parts = [_split(operand) for operand in view.inputs if operand is not None]
    largest = max(factor for _, factor in parts)
    return [_multiplied(x, factor / largest, build) for x, factor in parts], largest


def _split(value: Value | None) -> tuple[Value, float]:
    """Return the value of which another is a part by powers of two below 1, and their product."""
    assert value is not None
    product = 1.0
    while (maker := value.producer) is not None and maker.op == "Mul" and not maker.domain:
        factor = maker.need(1).array()
        if factor is None or factor.ndim or not _is_part(float(factor)):
            break
        value, product = maker.need(0), product * float(factor)
        doubled = value.producer
        if doubled is not None and doubled.op == "Sub" and _is_double(doubled):
            value, product = doubled.need(0), product * 2
    return value, product


def _is_double(view: NodeView) -> bool:
    """Say whether a difference is x - -x."""
    taken = view.need(1).producer
    return taken is not None and taken.op == "Neg" and taken.need(0) == view.need(0)


def _is_part(factor: float) -> bool:
    return 0 < factor < 1 and math.frexp(factor)[0] == 0.5


def _power(view: NodeView) -> float:
    """Return the power of two by which weights are too small; 1 where they are not."""
    weights = view.need(1)
    shape = weights.static_shape
    if not weights.is_constant or shape is None or len(shape) < 2 or not math.prod(shape) > 0:
        return 1.0
    array = weights.array()
    if array is None or array.size > _MOST:
        return 1.0
    squares = np.square(array.astype(np.float64))
    rows = shape[0] if view.op == "Conv" or view.attr("transB", 0) else shape[-1]
    left = math.sqrt(float(squares.sum()) / rows) * abs(float(view.attr("alpha", 1.0)))
    return 1.0 if not 0 < left < _LEAST_LEFT else 2.0 ** round(math.log2(left))


def _over(array: Array, factor: float, what: str) -> Array:
    """Return numbers divided by a power of two.

    Raises:
        Refuse: One becomes infinite that was not.
    """
    with np.errstate(over="ignore"):
        divided = (array.astype(np.float64) / factor).astype(array.dtype)
    if np.isinf(divided).sum() != np.isinf(array).sum():
        raise Refuse(f"{what} divided by {factor:.3g} must be finite; it overflows")
    return divided


def _multiplied(value: Value, factor: float, build: Builder) -> Value:
    """Multiply by a power of two below 1, in steps that float16 has.

    Steps in a row would be joined to one that it has not, so x - -x is between them.
    """
    if factor == 1:
        return value
    value, factor = build.Mul(value, max(factor, _STEP)), factor / max(factor, _STEP)
    while factor < 1:
        step = max(factor / 2, _STEP)
        double = build.Sub(value, build.Neg(value))
        value, factor = build.Mul(double, step), factor / (2 * step)
    return value
