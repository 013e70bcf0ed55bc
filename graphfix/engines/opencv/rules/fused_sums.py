"""Sums that OpenCV 4 computes within a Conv, and how it uses the memory of the other operand.

``fuseLayers`` of its net_impl_fuse.cpp joins a Conv and the Add after it where the other operand
is computed before the Conv and for that Add alone: the Conv adds to the memory of that operand,
which is given to the layer that computes it. A Concat is no layer by then where nothing is
before its axis: what it joins is written into its memory, and each of its parts is given the memory
of all.
"""

from __future__ import annotations

from math import prod

from graphfix.authoring.declaring import Unknown
from graphfix.engines.opencv.rules.importing import is_known_at_import
from graphfix.engines.operands import is_stored
from graphfix.engines.profile import Target
from graphfix.engines.rule import REJECT, WRONG, Answer, Yes, rule
from graphfix.ir.views import NodeView, Value

_DEEPEST = 40
_FOUR_TEN = (4, 10)
# Their layers are activations, which a Conv before them takes in.
_ACTIVATIONS = frozenset({
    "Abs", "Ceil", "Celu", "Clip", "Cos", "Elu", "Erf", "Exp", "Floor", "HardSigmoid", "HardSwish",
    "LeakyRelu", "Log", "Mish", "Neg", "Reciprocal", "Relu", "Round", "Selu", "Sigmoid", "Sign",
    "Sin", "Softplus", "Softsign", "Sqrt", "Tanh", "ThresholdedRelu",
})  # fmt: skip
_TAKEN_IN = frozenset({"BatchNormalization", "Dropout", "Identity"})  # in any number
# What else compares the sizes of what it is given with those of what it writes to.
_COMPARING = frozenset({
    "AveragePool", "DepthToSpace", "Gather", "MaxPool", "PRelu", "Reshape", "Squeeze", "Transpose",
    "Unsqueeze",
})  # fmt: skip


@rule(
    "Add",
    feature="form:Add.within-conv",
    versions="..opencv4.10",
    severity=WRONG,
    text="ld.inputBlobs.size() == 1 in function 'fuseLayers'",
    source="net_impl_fuse.cpp (4.10.0); measured on 4.8.1 and 4.10.0 with parts of 60 operators,"
    " and with Concats after the Conv, of other axes, of batches of 2 and of what more nodes read,"
    " which are right, as are Mul, Sub and Sum in place of Add",
)
def sum_within_conv(node: NodeView, target: Target) -> Answer:
    """OpenCV fuses this Add into a Conv whose weights or output do not allow it."""
    found = _fused(node)
    if found is None:
        return False
    conv, other = found
    maker = other.producer
    if maker is None:
        return False
    plain = all(is_known_at_import(value) for value in conv.inputs[1:])
    if not plain or len(maker.outputs) > 1:
        severity = REJECT
    elif maker.op == "Concat" and _is_in_place(maker):
        severity = REJECT if _refuses_more(maker, target) else WRONG
    else:
        return False
    made = conv.output(0)
    sizes = [None if value is None else value.static_shape for value in (made, other)]
    if None in sizes:
        return Unknown(f"sizes of {other.name}")
    return sizes[0] == sizes[1] and Yes(
        message=f"OpenCV fuses the Add of {other.name} into the Conv {conv.name}", severity=severity
    )


def _fused(node: NodeView) -> tuple[NodeView, Value] | None:
    """Return the Conv that computes a sum, and what it adds; None where the Add does it itself."""
    operands = [value for value in node.inputs if value is not None]
    if node.op != "Add" or node.domain or len(operands) != 2:
        return None
    for mine, other in (operands, operands[::-1]):
        conv, maker = _conv_after(mine), other.producer
        if conv is None or maker is None or is_known_at_import(other):
            continue
        if _readers(maker) == 1 and _comes_first(maker, conv):
            return conv, other
    return None


def _conv_after(value: Value, depth: int = _DEEPEST) -> NodeView | None:
    """Return the Conv that gives a tensor, with what it takes in, to a single reader."""
    maker = value.producer
    if maker is None or maker.domain or not depth or _readers(maker) != 1:
        return None
    if maker.op in _TAKEN_IN:
        return _conv_after(maker.need(0), depth - 1)
    return maker if maker.op == "Conv" else None


def _readers(node: NodeView) -> int:
    """Return how often what a node gives is read, an output of the graph included."""
    given = [value for value in node.outputs if value is not None]
    return sum(len(value.consumers) + value.is_graph_output for value in given)


def _comes_first(one: NodeView, two: NodeView) -> bool:
    nodes = (node for node in one.graph.nodes if node in (one.node, two.node))
    return next(nodes, None) is one.node


def _is_in_place(concat: NodeView) -> bool:
    """Say whether what a Concat joins is written into its memory, and the Concat left out."""
    if len(concat.inputs) == 1:
        return False
    result, axis = concat.output(0), int(concat.attr("axis", 0))
    shape = None if result is None else result.shape
    if shape is None or prod(size if isinstance(size, int) else 0 for size in shape[:axis]) != 1:
        return False
    return all(value is None or _writes_there(value) for value in concat.inputs)


def _writes_there(part: Value) -> bool:
    """Say whether a layer of its own makes a part of a Concat, and makes no more."""
    if is_stored(part):
        return len(part.consumers) == 1
    maker = part.producer
    if maker is None or _readers(maker) != 1:
        return False
    if maker.op == "Concat":
        return not _is_in_place(maker)
    if maker.op in _ACTIVATIONS or maker.op in _TAKEN_IN:  # a sum takes in one of them
        before = maker.need(0).producer
        maker = maker if before is None or _readers(before) != 1 else before
    return maker.op != "Add" or _fused(maker) is None


def _refuses_more(concat: NodeView, target: Target) -> bool:
    """Say whether a layer that makes a part asks for memory of just its size."""
    for value in concat.inputs:
        maker = None if value is None else value.producer
        if maker is None:
            continue
        if maker.op in _COMPARING or (maker.op == "Softmax" and target.version >= _FOUR_TEN):
            return True
        if maker.op in _ACTIVATIONS and _conv_after(maker.need(0)) is None:
            return True
    return False
