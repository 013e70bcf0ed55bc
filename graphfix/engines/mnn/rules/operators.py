"""MNN: indices, scatters, casts, reductions, cells and what is constant."""

from __future__ import annotations

from graphfix.authoring.declaring import Unknown
from graphfix.authoring.namesakes import outer_namesake
from graphfix.engines.mnn.rules.wheel import WHEEL
from graphfix.engines.operands import holds_negatives, is_never_negative
from graphfix.engines.profile import Target
from graphfix.engines.rule import REJECT, WRONG, Answer, Yes, model_rule, rule
from graphfix.engines.rule_makers import (
    ignores_sparse_initializers,
    makes_even_parts_only,
    refuses_empty_outputs,
)
from graphfix.engines.stored_numbers import misreads_numbers_in_32_bits
from graphfix.ir.model import Model
from graphfix.ir.views import NodeView, Value

_COMPARISONS = ("Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual")
_ASKS = {"If": 0, "Loop": 1, "Where": 0}  # the input that is asked whether it is 0
_MOVES = frozenset({
    "Expand", "Flatten", "Gather", "Identity", "Reshape", "Slice", "Squeeze", "Tile", "Transpose",
    "Unsqueeze",
})  # fmt: skip
_DEEPEST = 20


@rule(
    "ScatterElements",
    feature="attr:ScatterElements.reduction=none",
    severity=WRONG,
    source=f"{WHEEL}: equal where the axis is first, or there is no reduction",
)
def scatter_axis_behind_reduction(node: NodeView, target: Target) -> Answer:
    """MNN ignores axis of ScatterElements if it is listed after the attribute reduction."""
    names = list(node.node.attrs)
    if "axis" not in names or "reduction" not in names or not int(node.attr("axis")):
        return None
    alone = node.attr("reduction") == "none"
    return alone and names.index("reduction") < names.index("axis")


@rule(
    _COMPARISONS,
    feature="shape:{op}.broadcast",
    severity=WRONG,
    source=f"{WHEEL}: [6, 1] with [1, 4]; integers are equal, and so is one operand alone",
)
def broadcast_comparison(node: NodeView, target: Target) -> Answer:
    """MNN computes {op} of floats wrongly if both operands are broadcast."""
    x, z = node.input(0), node.input(1)
    if x is None or z is None or (x.dtype is not None and x.dtype.kind != "f"):
        return None
    if x.rank is None or z.rank is None or not x.elem_type:
        return None
    pairs = list(zip(_aligned(x, z.rank), _aligned(z, x.rank), strict=True))
    first = any(one == 1 and other != 1 for one, other in pairs)
    second = any(other == 1 and one != 1 for one, other in pairs)
    return first and second


@rule(
    "Less",
    feature="op:Less",
    severity=WRONG,
    source=f"{WHEEL}: -0.5 counts as less than -1.5, with a scalar, a vector or a tensor;"
    " where an operand is not negative it is equal",
)
def order_by_bits(node: NodeView, target: Target) -> Answer:
    """MNN compares floats by their bits, so Less is wrong where both are negative."""
    x, z = node.input(0), node.input(1)
    if x is None or z is None or (x.dtype is not None and x.dtype.kind != "f"):
        return None
    if is_never_negative(x) or is_never_negative(z):
        return None
    if not x.elem_type:
        return Unknown(f"dtype of {x.name}")
    if holds_negatives(x) or holds_negatives(z):
        return True
    return Unknown(f"whether {x.name} and {z.name} are ever negative at once")


def _aligned(value: Value, rank: int) -> list[int | str | None]:
    shape = list(value.shape or ())
    return [1] * (rank - len(shape)) + shape


@rule(
    "TopK",
    feature="form:TopK.ties",
    severity=WRONG,
    source=f"{WHEEL}: of [0.6, 0.1, 0.1] it gives 0, 2, 1; ONNX wants the lower index first",
)
def order_of_equal_elements(node: NodeView, target: Target) -> Answer:
    """MNN orders equal elements of TopK differently; ONNX returns the lower index first."""
    indices = node.output(1)
    if indices is None or not (indices.is_used or indices.is_graph_output):
        return None
    return Unknown(f"whether elements of {node.need(0).name} are equal")


@rule(
    "Cast",
    feature="form:Cast.to-bool",
    severity=WRONG,
    source=f"{WHEEL}: 2 stays 2: And, Not, a Cast back and an output of the model are wrong; the"
    " condition of a Where is right",
)
def cast_to_bool(node: NodeView, target: Target) -> Answer:
    """MNN keeps the value of a number cast to bool; ONNX converts it to 0 or 1."""
    x, y = node.input(0), node.output(0)
    if x is None or y is None or y.type_name != "bool" or not _counts(y):
        return None
    if not x.elem_type:
        return Unknown(f"dtype of {x.name}")
    if x.type_name == "bool":
        return None
    known = x.array()
    if known is not None:
        return bool(((known != 0) & (known != 1)).any())
    return Unknown(f"whether {x.name} has numbers other than 0 and 1")


def _counts(truth: Value, depth: int = _DEEPEST) -> bool:
    """Say whether more is asked of a truth than whether it is 0."""
    if truth.is_graph_output or not depth:
        return True
    for user in truth.consumers:
        result = user.output(0)
        if user.op in _MOVES and result is not None and user.input(0) == truth:
            if _counts(result, depth - 1):
                return True
        elif user.op not in _ASKS or user.input(_ASKS[user.op]) != truth:
            return True
    return False


@rule(
    ("Softmax", "LogSoftmax"),
    feature="form:{op}.no-axis",
    severity=WRONG,
    source=f"{WHEEL}: Softmax before opset 13 takes the last axis, LogSoftmax ends the process",
)
def no_axis(node: NodeView, target: Target) -> Answer:
    """MNN uses a different default axis for {op} than ONNX."""
    x = node.input(0)
    if node.has("axis") or (node.op == "Softmax" and node.opset >= 13):
        return None
    if node.op == "Softmax" and x is not None and x.rank == 2:
        return None
    return True


@rule(
    "ConstantOfShape",
    feature="shape:ConstantOfShape.0",
    severity=WRONG,
    source=f"{WHEEL}: of any type; a vector is filled",
)
def single_number(node: NodeView, target: Target) -> Answer:
    """MNN returns uninitialised memory from a ConstantOfShape that makes a scalar."""
    return Unknown("what the memory holds") if node.need(0).static_shape == (0,) else None


@rule(
    ("ConcatFromSequence", "SequenceAt"),
    feature="op:{op}",
    severity=WRONG,
    source=f"{WHEEL}: of int32, int64 and bool",
)
def reads_split_integers(node: NodeView, target: Target) -> Answer:
    """MNN reads the elements of a split sequence as float32, whatever their type."""
    sequence = node.input(0)
    made = None if sequence is None else sequence.producer
    x = made.input(0) if made is not None and made.op == "SplitToSequence" else None
    return x is not None and x.dtype is not None and x.dtype.kind != "f"


@model_rule(
    feature="io:constant-output",
    severity=REJECT,
    text="the converter wrote no file",
    source=WHEEL,
)
def constant_output(model: Model, target: Target) -> list[Answer]:
    """MNN cannot convert a model with a constant output."""
    constants = {constant.name for constant in model.graph.initializers}
    return [
        Yes(message=f"MNN cannot convert the constant output {tensor.name}")
        for tensor in model.graph.outputs
        if tensor.name in constants
    ]


SPARSE_INITIALIZER = ignores_sparse_initializers(versions="mnn", source=WHEEL)
NUMBERS_IN_32_BITS = misreads_numbers_in_32_bits(
    wrong=frozenset({"bool", "int8"}),
    refused=frozenset({"float16", "int16", "uint16"}),
    versions="mnn",
    source=f"{WHEEL}: an initializer and a Constant of each type; uint8 and raw_data are equal",
    text="SIGSEGV",
)


EVEN_PARTS = makes_even_parts_only(
    versions="mnn",
    severity=WRONG,
    source=f"{WHEEL}: all parts are of the size rounded down, and the rest is dropped",
)

EMPTY_OUTPUT = refuses_empty_outputs(
    versions="mnn",
    text="returned a result with an exception set",
    source=f"{WHEEL}: with further outputs; alone it crashes",
)


@rule(
    "Loop",
    feature="dtype:Loop.float16",
    severity=REJECT,
    source=f"{WHEEL}: it ends with SIGSEGV; what is carried alone is equal",
)
def loop_that_reads_halves(node: NodeView, target: Target) -> Answer:
    """MNN crashes when a Loop body reads a float16 tensor from outside the Loop."""
    subgraphs = [graph for _, body in node.node.graphs() for graph in body.walk()]
    inner = {id(t) for body in subgraphs for t in (*body.inputs, *body.initializers)}
    inner |= {id(t) for body in subgraphs for made in body.nodes for t in made.outputs}
    read = [Value(t) for body in subgraphs for made in body.nodes for t in made.inputs]
    return any(one.type_name == "float16" and id(one.tensor) not in inner for one in read)


@rule(
    "Loop",
    feature="form:Loop.namesake",
    severity=REJECT,
    text="SIGSEGV",
    source=f"{WHEEL}: a body is known by that name; other names may be alike",
)
def loop_named_as_its_outer(node: NodeView, target: Target) -> Answer:
    """MNN crashes when a Loop and a Loop around it share the name of their first output."""
    return outer_namesake(node.node) is not None
