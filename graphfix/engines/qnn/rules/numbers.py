"""QNN: what is computed differently without a word."""

from __future__ import annotations

import math
from collections.abc import Generator

import numpy as np

from graphfix.analysis.folding.lower_bounds import lower_bound
from graphfix.analysis.memo import kept, kept_stepwise, origin_through
from graphfix.authoring.declaring import Unknown
from graphfix.engines.folded_early import is_folded
from graphfix.engines.profile import Target
from graphfix.engines.qnn.rules.provider import PROVIDER
from graphfix.engines.rule import NOTE, WRONG, Answer, Yes, rule
from graphfix.ir.views import NodeView, Value
from graphfix.operators.table import MOVES_FIRST

_CLIP_BY_INPUTS = 11  # the opset whose Clip has its limits as inputs
_FLAT = 2  # dimensions of an image
_SCALED = ("Resize", "Upsample")
_IMAGES = 4  # dimensions of a row of images
_STEP = 2.0**-11  # from one number of float16 to the next, between a half and 1
_OFF = 1e-2  # of a pixel, what linear sampling may be off
_ROUNDINGS = 4  # of a place that is computed: a sum, a quotient, a product and a difference
_KEEPS_WHOLE = frozenset({"Abs", "Add", "Clip", "Max", "Min", "Mul", "Neg", "Relu", "Sub"})
_DEPTH = 16  # nodes that are looked at one after another
_ALWAYS_RIGHT = 3  # the step with which no window was wrong
_ODD = (3, 5)  # windows whose counted padding is right in steps of 1


@rule(
    "AveragePool",
    feature="attr:AveragePool.ceil_mode=1",
    severity=WRONG,
    source=f"{PROVIDER}: right where the windows end with the tensor",
)
def averaged_beyond_the_end(node: NodeView, target: Target) -> Answer:
    """QNN divides averages past the end (ceil_mode) by a different count than ONNX."""
    if not node.attr("ceil_mode", 0):
        return None
    x, window = node.input(0), node.attr("kernel_shape", ())
    shape = None if x is None else x.static_shape
    if shape is None:
        return Unknown("the sizes of what is averaged")
    sizes = shape[len(shape) - len(window) :]
    pads = node.attr("pads", ()) or (0,) * 2 * len(window)
    strides = node.attr("strides", ()) or (1,) * len(window)
    ends = zip(sizes, pads, pads[len(window) :], window, strides, strict=False)
    return any((size + one + two - width) % step for size, one, two, width, step in ends)


@rule(
    "AveragePool",
    feature="form:AveragePool.padding",
    severity=WRONG,
    source=f"{PROVIDER}: facts/asked.json, average-pool and average-pool-line: windows of 2 to 7 in"
    " steps of 1 to 3; with larger steps some sizes are wrong, or end the process; a Pad before it"
    " is drawn into it",
)
def averaged_padding(node: NodeView, target: Target) -> Answer:
    """QNN computes AveragePool with padding wrongly: another divisor, or memory outside."""
    x, window = node.input(0), node.attr("kernel_shape", ())
    if x is None:
        return None
    count = len(window)
    pads = list(node.attr("pads", ())) or [0] * 2 * count
    maker = x.producer
    if count != _FLAT and maker is not None and maker.op == "Pad":
        return True
    if not any(pads):
        return None
    counted = bool(node.attr("count_include_pad", 0))
    if count > _FLAT:
        return counted or pads[:count] != pads[count:]
    sizes = x.shape[-count:] if x.shape is not None else [None] * count
    steps = node.attr("strides", ()) or [1] * count
    ends = [_reached(*axis) for axis in zip(sizes, pads, pads[count:], window, steps, strict=False)]
    axes = zip(pads, ends, window, steps, strict=False)
    return any(_divides_differently(*axis, counted=counted, flat=count == _FLAT) for axis in axes)


def _reached(size: int | str | None, begin: int, end: int, width: int, step: int) -> int:
    """Return how far the last window reaches beyond the end."""
    if not isinstance(size, int):
        return end
    windows = (size + begin + end - width) // step + 1
    return max((windows - 1) * step + width - begin - size, 0)


def _divides_differently(
    begin: int, end: int, width: int, step: int, *, counted: bool, flat: bool
) -> bool:
    """Say whether windows along an axis are measured to be wrong, or were in steps as large."""
    if step > _ALWAYS_RIGHT:
        return counted or begin != end
    if step == _ALWAYS_RIGHT or (step == 2 and not flat):
        return False
    if counted:
        if step == 1:
            return begin > 0 and not (flat and width in _ODD)
        return begin > 0 and width == 2
    if step == 2:
        return begin > 0 if width == 2 else (begin, end, width) == (0, 2, 3)
    if step == 1 and width == 3 and flat:
        return (begin, end) not in ((0, 0), (1, 1))
    return begin == 0 and end > 0


@rule(
    "Clip",
    feature="form:Clip.6",
    severity=WRONG,
    source=f"{PROVIDER}: facts/asked.json, clip-attributes",
)
def unclipped(node: NodeView, target: Target) -> Answer:
    """QNN ignores min and max of Clip below opset 11, where they are attributes."""
    limits = (node.attr("min", None), node.attr("max", None))
    return node.opset < _CLIP_BY_INPUTS and any(limit is not None for limit in limits)


@rule(
    "Cast",
    feature="form:Cast.truncates",
    severity=WRONG,
    source=f"{PROVIDER}: Cast to int32 and back to float32 changes nothing; what is made of whole"
    " numbers by Clip, Relu, sums and products has no fraction to lose",
)
def cast_there_and_back(node: NodeView, target: Target) -> Answer:
    """QNN drops a Cast from float to integer and back; ONNX truncates the fraction."""
    x, y = node.input(0), node.output(0)
    if x is None or y is None:
        return None
    if x.dtype is None or y.dtype is None:
        return Unknown(f"dtype of {x.name}")
    if x.dtype.kind != "f" or y.dtype.kind not in "iu":
        return None
    return not _is_whole((x, _DEPTH)) and any(_keeps_fraction(user) for user in y.consumers)


@kept_stepwise(in_a_loop=False)
def _is_whole(asked: tuple[Value, int]) -> Generator[tuple[Value, int], bool, bool]:
    """Say whether no number of a value has a fraction; rounding to another float adds none.

    It is asked with how many more nodes are looked at.
    """
    value, depth = asked
    known = value.array()
    if known is not None:
        return bool((known == np.floor(known)).all())
    if value.dtype is not None and value.dtype.kind in "biu":
        return True
    maker = value.producer
    if maker is None or maker.domain or not depth:
        return False
    if maker.op in ("Ceil", "Floor", "Round") or _is_cut(maker):
        return True
    if maker.op in MOVES_FIRST or maker.op == "Cast":
        return (yield maker.need(0), depth - 1)
    limits = (maker.attr("min", 0.0), maker.attr("max", 0.0))  # of Clip, below opset 11
    if maker.op not in _KEEPS_WHOLE or any(limit != math.floor(limit) for limit in limits):
        return False
    for operand in maker.inputs:
        if operand is not None and not (yield operand, depth - 1):
            return False
    return True


def _keeps_fraction(user: NodeView) -> bool:
    """Say whether a user of integers is a Cast to more than 0 or 1, or bytes."""
    cast = user.output(0) if user.op == "Cast" else None
    return cast is not None and cast.type_name not in ("bool", "uint8")


def _is_cut(maker: NodeView) -> bool:
    """Say whether a floor is given its sign back, as `cast_to_integer_by_floor` leaves it."""
    makers = {v.producer.op for v in maker.inputs if v is not None and v.producer is not None}
    return maker.op == "Mul" and makers == {"Sign", "Floor"}


@rule(
    "Div",
    feature="dtype:Div.int64",
    severity=WRONG,
    source=f"{PROVIDER}: -3 by 2 gives -2, and -7 by 4 -2; by 1, 3, 5, 6, 7, 12, -2, -4, by several"
    " constants, all of them 2 as well, and by computed numbers they are right",
)
def divided_integers(node: NodeView, target: Target) -> Answer:
    """QNN rounds the quotient of negative integers by a power of 2 down; ONNX towards 0."""
    x, divisor = node.input(0), node.input(1)
    if x is None or divisor is None or x.dtype is None or x.dtype.kind != "i":
        return None
    least, by = lower_bound(x), divisor.array()
    if is_folded(x) or (least is not None and least >= 0):
        return None
    if by is None or by.size != 1 or int(by.item()) < 2 or int(by.item()).bit_count() != 1:
        return None
    return Yes(feature=f"dtype:Div.{x.type_name}")


@rule(
    "Mul",
    feature="form:Mul.hard-sigmoid",
    severity=WRONG,
    source=f"{PROVIDER}: x * HardSigmoid(x) with a sixth and a half; HardSigmoid(x) * x, another"
    " alpha or beta, and a HardSigmoid that others read as well, are right",
)
def hard_swish_in_two(node: NodeView, target: Target) -> Answer:
    """QNN computes x * HardSigmoid(x) wrongly."""
    x, gate = node.input(0), node.input(1)
    maker = None if gate is None else gate.producer
    if gate is None or maker is None or maker.op != "HardSigmoid" or maker.input(0) != x:
        return None
    if len(gate.consumers) != 1 or gate.is_graph_output:
        return None
    alpha, beta = float(maker.attr("alpha", 0.2)), float(maker.attr("beta", 0.5))
    return math.isclose(alpha, 1 / 6, rel_tol=1e-3) and math.isclose(beta, 0.5, rel_tol=1e-3)


@rule(
    "Cast",
    feature="form:Cast.negatives",
    severity=NOTE,
    source=f"{PROVIDER}: facts/asked.json, casts: -3 becomes false, and 0 of bytes",
)
def negatives_to_bool(node: NodeView, target: Target) -> Answer:
    """QNN casts negative integers to false, and negative values to uint8 0."""
    x, y = node.input(0), node.output(0)
    if x is None or y is None or x.dtype is None:
        return None
    if y.type_name == "bool":
        return x.dtype.kind == "i"
    return y.type_name == "uint8" and x.dtype.kind in "fi"


@rule(
    "Cast",
    feature="form:Cast.uint8-to-float32",
    severity=WRONG,
    source=f"{PROVIDER}: 0, 1, 2, 3, 100, 200 become 0, 1, 1, 1, 1, 1; to int32 and to float16 they"
    " are right",
)
def bytes_as_bools(node: NodeView, target: Target) -> Answer:
    """QNN casts uint8 to float32 as if it were bool: any value above 0 becomes 1."""
    x, y = node.input(0), node.output(0)
    if x is None or y is None:
        return None
    maker = x.producer
    given = maker.input(0) if maker is not None and maker.op == "Cast" else None
    if given is not None and given.type_name == "bool":
        return None  # they are 0 or 1
    return x.type_name == "uint8" and y.type_name == "float32"


@rule(
    "GridSample",
    feature="op:GridSample",
    severity=WRONG,
    source=f"{PROVIDER}: facts/asked.json, grid-sample-large: 32 by 32 is right, 128 by 128 is not",
)
def places_in_float16(node: NodeView, target: Target) -> Answer:
    """QNN computes GridSample coordinates in float16, too coarse for a large image."""
    x, grid = node.input(0), node.input(1)
    shape = None if x is None else x.static_shape
    if x is None or grid is None or shape is None or len(shape) != _IMAGES:
        return None
    if node.attr("mode", "linear") not in ("bilinear", "linear"):
        return None
    side = max(shape[2:])
    if side * _STEP / 2 >= _OFF:  # of places between a half and 1, half of the side times that
        return True
    computed = grid.producer is not None and not is_folded(grid)
    if computed and side * _STEP * _ROUNDINGS / 2 >= _OFF:
        return Unknown(f"how far {grid.name} is off in float16")
    return False


@rule(
    "Round",
    feature="form:Round.of-resized",
    severity=WRONG,
    source=f"{PROVIDER}: facts/asked.json, rounded-images: 2.5 between 2 and 3 is 2.5009766",
)
def rounded_images(node: NodeView, target: Target) -> Answer:
    """QNN resizes in float16, so Round of a value halfway between integers may differ."""
    value = node.input(0)
    maker = None if value is None else _before_arithmetic(value).producer
    if maker is None or maker.op not in _SCALED:
        return None
    linear = maker.attr("mode", "nearest") != "nearest"
    return Unknown("whether pixels are integers") if linear else None


_before_arithmetic = origin_through(
    lambda maker: maker.op in ("Add", "Clip", "Div", "Identity", "Mul", "Sub")
)


@rule(
    ("ConvTranspose", "Gemm"),
    feature="form:{op}.shared-weight",
    severity=WRONG,
    source=f"{PROVIDER}: facts/asked.json, shared-weights: what one of them has turned is read by"
    " the other one as if it had not been",
)
def weight_that_is_turned_for_one(node: NodeView, target: Target) -> Answer:
    """QNN transposes the weight of {op} in place, and another node shares it."""
    weight = node.input(1)
    if weight is None or not weight.is_constant:
        return None
    uses = _uses_as_weight(weight)
    if node.op == "ConvTranspose":
        return ("Conv", False) in uses
    return ("Gemm", not node.attr("transB", 0)) in uses


@kept
def _uses_as_weight(weight: Value) -> frozenset[tuple[str, bool]]:
    """Return which operators have a tensor for their weight, and whether they turn it."""
    users = [user for user in weight.consumers if user.input(1) == weight]
    return frozenset(
        (user.op, user.op == "Gemm" and bool(user.attr("transB", 0))) for user in users
    )


@rule(
    "Softplus",
    feature="form:Softplus.pieces",
    severity=WRONG,
    source=f"{PROVIDER}: drawn around -4, 0 and with a spread of 0.3 to 20: off by up to 0.0125"
    " between -4 and 0, whatever the sizes are; Relu, Exp and Log are right",
)
def softplus_in_pieces(node: NodeView, target: Target) -> Answer:
    """QNN computes Softplus in pieces, with an error of up to 0.0125 below 0."""
    x = node.input(0)
    return Unknown(f"how large {x.name if x is not None else 'it'} becomes")
