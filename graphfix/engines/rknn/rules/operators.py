"""RKNN: operators that are taken in some uses alone."""

from __future__ import annotations

import numpy as np

from graphfix.analysis.constants_with_shapes import known_with_sizes
from graphfix.authoring.declaring import Unknown
from graphfix.engines.operands import is_stored
from graphfix.engines.profile import Target
from graphfix.engines.rknn.rules.toolkit import TOOLKIT
from graphfix.engines.rule import REJECT, WRONG, Answer, Yes, rule
from graphfix.engines.rule_makers import ignores_output_shape, makes_even_parts_only
from graphfix.ir.views import NodeView, Value, needed
from graphfix.operators.table import ELEMENTWISE

_UNSIGNED = frozenset({"uint8", "uint16", "uint32", "uint64"})
_PARAMETERS = ("scale", "B", "mean", "var")  # of BatchNormalization
# Operator -> what its sizes depend on.
_COUNTING = {
    "ConstantOfShape": (0,),
    "NonMaxSuppression": (0, 1),
    "NonZero": (0,),
    "Range": (0, 1, 2),
    "Unique": (0,),
}

EVEN_PARTS = makes_even_parts_only(
    versions="rknn",
    severity=REJECT,
    text="Cannot split using values in 'split' attribute.",
    source=TOOLKIT,
)

OUTPUT_SHAPE = ignores_output_shape(
    versions="rknn",
    source=f"{TOOLKIT}: the one pad more of an odd sum is at the end; with auto_pad it is right",
    odd=True,
)


@rule(
    tuple(_COUNTING),
    feature="op:{op}",
    severity=REJECT,
    text="The input {index} of {op}('{name}') need to be constant! It will cause the graph to be "
    "a dynamic graph!",
    source=TOOLKIT,
)
def dynamic_sizes(node: NodeView, target: Target) -> Answer:
    """RKNN requires static shapes, and the output shape of {op} depends on input values."""
    given = [node.input(index) for index in _COUNTING[node.op]]
    if all(value is None or known_with_sizes(value) for value in given):
        return None
    return Yes(
        message=f"{target.title} requires constant inputs of {node.op}, which set its output shape",
    )


@rule(
    "Constant",
    feature="form:Constant.value",
    severity=REJECT,
    text="'{type}' object has no attribute 'HasField'",
    source=f"{TOOLKIT}: value_float, value_floats, value_int and value_ints",
)
def constant_without_a_tensor(node: NodeView, target: Target) -> Answer:
    """RKNN requires Constant to have the attribute value, not value_float or value_ints."""
    return not node.has("value") and not node.has("sparse_value")


@rule(
    "LayerNormalization",
    feature="op:LayerNormalization",
    severity=REJECT,
    text="KeyError: 'LayerNormalization'",
    source=f"{TOOLKIT}: with an epsilon that is written, and over several axes, it is taken",
)
def layer_normalization_of_the_last_axis(node: NodeView, target: Target) -> Answer:
    """RKNN supports last-axis LayerNormalization with explicit epsilon and one output."""
    x, axis = node.input(0), int(node.attr("axis", -1))
    if any(node.output(index) is not None for index in (1, 2)):
        return True
    if node.has("epsilon"):
        return False
    if axis == -1 or x is None:
        return axis == -1
    return Unknown(f"rank of {x.name}") if x.rank is None else axis == x.rank - 1


@rule(
    "BatchNormalization",
    feature="const:BatchNormalization.*",
    severity=REJECT,
    text="unsupported operand type(s) for",
    source=f"{TOOLKIT}: facts/graphs.json; where mean and variance are both computed it ends the"
    " process",
)
def computed_normalization(node: NodeView, target: Target) -> Answer:
    """RKNN requires constant parameters of BatchNormalization."""
    for place, name in enumerate(_PARAMETERS, 1):
        value = node.input(place)
        if value is not None and not is_stored(value) and not known_with_sizes(value):
            return Yes(
                feature=f"const:BatchNormalization.{name}",
                message=f"{target.title} requires a constant {name} of BatchNormalization",
            )
    return None


@rule(
    "Upsample",
    feature="form:Upsample.nearest",
    severity=WRONG,
    source=f"{TOOLKIT}: facts/graphs.json; whole scales and halves are equal, as is Resize",
)
def upsampled_by_other_parts(node: NodeView, target: Target) -> Answer:
    """RKNN picks other pixels in nearest Upsample unless the scale is a multiple of 0.5."""
    scales = node.input(1)
    if node.attr("mode", "nearest") != "nearest" or scales is None:
        return None
    factors = needed(scales.array(), f"values of {scales.name}")
    return bool((factors * 2 != np.floor(factors * 2)).any())


@rule(
    ("Div", "Mod"),
    feature="const:{op}.B",
    severity=REJECT,
    source=f"{TOOLKIT}: SIGFPE, for it is tried with zeros when it is built; Mod with fmod is not",
)
def computed_divisor(node: NodeView, target: Target) -> Answer:
    """RKNN divides by zero while it builds {op} of integers whose divisor is not constant."""
    divisor = node.input(1)
    if divisor is None or known_with_sizes(divisor) or node.attr("fmod", 0):
        return None
    if not divisor.elem_type:
        return Unknown(f"dtype of {divisor.name}")
    return divisor.type_name.startswith("int") and not _is_never_zero(divisor)


def _is_never_zero(divisor: Value) -> bool:
    """Say whether a tensor is the sum of another and of where that one is 0."""
    added = divisor.producer
    if added is None or added.op != "Add":
        return False
    for base, ones in (added.inputs, added.inputs[::-1]):
        cast = ones.producer if ones is not None else None
        asked = cast.need(0).producer if cast is not None and cast.op == "Cast" else None
        if asked is not None and asked.op == "Equal" and asked.input(0) == base:
            zero = asked.need(1).array()
            return zero is not None and not zero.any()
    return False


@rule(
    "Where",
    feature="dtype:Where.int32",
    severity=REJECT,
    text="Meet unsupported tensor dtype in {op}",
    source=f"{TOOLKIT}: facts/graphs.json; it ends the process, and int8 is refused; int64 and"
    " floats are taken",
)
def chosen_integers(node: NodeView, target: Target) -> Answer:
    """RKNN does not support Where of integers of fewer than 64 bits."""
    result = node.output(0)
    if result is None or known_with_sizes(result):
        return False
    if not result.elem_type:
        return Unknown(f"dtype of {result.name}")
    narrow = result.type_name in ("int8", "int32")
    return narrow and Yes(feature=f"dtype:Where.{result.type_name}")


@rule(
    "Where",
    feature="rank:Where.5",
    severity=REJECT,
    source=f"{TOOLKIT}: facts/graphs.json; it ends the process",
)
def choice_of_many_dimensions(node: NodeView, target: Target) -> Answer:
    """RKNN crashes on Where of more than four dimensions."""
    result = node.output(0)
    if result is None or known_with_sizes(result):
        return False
    rank = needed(result.rank, f"rank of {result.name}")
    return rank > 4 and Yes(feature=f"rank:Where.{rank}")


@rule(
    "Slice",
    feature="form:Slice.no-axes",
    severity=REJECT,
    text="Got invalid dimensions for input",
    source=f"{TOOLKIT}: all axes need not be written",
)
def unwritten_axes(node: NodeView, target: Target) -> Answer:
    """RKNN requires axes of Slice unless starts and ends cover all axes."""
    x, starts = node.input(0), node.input(1)
    if x is None or starts is None or node.input(3) is not None or node.has("axes"):
        return None
    count = starts.dim(0)
    if x.rank is None or count is None:
        return Unknown(f"rank of {x.name}")
    return count != x.rank


@rule(
    "MatMul",
    feature="form:MatMul.with-own-transpose",
    severity=REJECT,
    source=f"{TOOLKIT}: it ends the process",
)
def with_its_own_transpose(node: NodeView, target: Target) -> Answer:
    """RKNN crashes on MatMul of a tensor by its own transpose."""
    left, right = node.input(0), node.input(1)
    if left is None or right is None:
        return None
    return any(
        maker is not None and maker.op == "Transpose" and maker.input(0) in (other, _before(other))
        for maker, other in ((left.producer, right), (right.producer, left))
    )


def _before(value: Value) -> Value | None:
    """Return what an operator on numbers alone makes a tensor of: it is moved after others."""
    maker = value.producer
    alone = maker is not None and maker.op in ELEMENTWISE and len(maker.inputs) == 1
    return maker.input(0) if maker is not None and alone else None


@rule(
    feature="dtype:{op}.uint8",
    severity=REJECT,
    text="Not Support Dtype: {type}. please check precision!",
    source=f"{TOOLKIT}: it ends the process; QuantizeLinear becomes a type of its own",
)
def unsigned(node: NodeView, target: Target) -> Answer:
    """RKNN crashes on {op} with an unsigned integer output."""
    if node.op == "QuantizeLinear":
        return None
    for value in node.outputs:
        if value is not None and not value.is_constant and value.type_name in _UNSIGNED:
            return Yes(
                feature=f"dtype:{node.op}.{value.type_name}",
                message=f"{target.title} does not support {value.type_name}",
            )
    return None
