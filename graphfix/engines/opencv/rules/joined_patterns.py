"""Patterns that OpenCV joins to one layer without a look at what their nodes share.

onnx_graph_simplifier.cpp describes a pattern as nodes between inputs without a name, and does not
compare what two such inputs stand for: the layer takes the first. So x * HardSigmoid(gate), which
scales the channels of MobileNetV3, becomes the HardSwish of the gate.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations
from typing import TypeAlias

from msgspec import Struct

from graphfix.engines.operands import is_stored
from graphfix.engines.profile import Target
from graphfix.engines.rule import REJECT, WRONG, Answer, rule
from graphfix.ir.views import NodeView, Value

# A tree of operators; its leaves are "x", one tensor in all places, "t", the same where it is
# computed, and "c", a constant.
Tree: TypeAlias = "str | tuple[Tree, ...]"


class Pattern(Struct, frozen=True):
    """What is joined.

    Attributes:
        tree: The nodes, from the last one: the operator, then what it reads. "x" is one tensor in
            all places, "t" one that is computed, "c" a constant.
        then: The operators that follow.
    """

    tree: tuple[Tree, ...]
    then: tuple[str, ...] = ()


_CUBE = ("Mul", "t", ("Mul", "t", "t"))
_CENTRED = ("Sub", "x", ("ReduceMean", "x"))
_VARIANCE = ("ReduceMean", ("Pow", _CENTRED, "c"))
_PATTERNS = (
    Pattern(("Mul", "x", ("HardSigmoid", "x"))),
    Pattern(("Mul", "x", ("Tanh", ("Softplus", "x")))),
    Pattern(("Mul", "x", ("Tanh", ("Log", ("Add", ("Exp", "x"), "c"))))),
    Pattern(("Mul", "t", ("Add", ("Erf", ("Div", "t", "c")), "c")), ("Mul",)),
    Pattern(
        (
            *("Mul", "t"),
            ("Add", ("Tanh", ("Mul", ("Add", "t", ("Mul", _CUBE, "c")), "c")), "c"),
        ),
        ("Mul",),
    ),
    Pattern(("Div", "x", ("ReduceL2", "x"))),
    Pattern(("Div", "x", ("Expand", ("Clip", ("ReduceL2", "x")), ("Shape", "x")))),
    Pattern(("Div", ("Exp", "x"), ("ReduceSum", ("Exp", "x")))),
    Pattern(("Div", _CENTRED, ("Sqrt", ("Add", _VARIANCE, "c"))), ("Mul", "Add")),
)
_COMMUTATIVE = frozenset({"Add", "Mul"})
_SIXTH, _NEAR = 1 / 6, 1e-5
_SQUARE = 2.0


@rule(
    ("Div", "Mul"),
    feature="form:{op}.unshared",
    severity=WRONG,
    versions="opencv4.10..",
    source="onnx_graph_simplifier.cpp (4.10.0): inputs of a pattern are not compared; measured on"
    " 4.10.0 and 5.0.0 for each pattern with the same operand in all places and with another one",
)
def joined_without_a_look(node: NodeView, target: Target) -> Answer:
    """OpenCV takes two operands of this pattern for one and the same."""
    for pattern in _PATTERNS:
        if node.op == pattern.tree[0] and _is_followed(node, pattern.then):
            found = list(_bound(pattern.tree, node))
            if found and not any(all(each == bound[0] for each in bound) for bound in found):
                return True
    return False


@rule(
    "Div",
    feature="form:Div.by-norm",
    severity=WRONG,
    versions="opencv4.10..opencv4.10",
    source="onnx_graph_simplifier.cpp (4.10.0), NormalizeSubgraph; measured on 4.10.0: ranks of 2"
    " to 4 over each axis; the second of all is right, and so is 5.0.0",
)
def normalized_along_another_axis(node: NodeView, target: Target) -> Answer:
    """OpenCV 4 divides by the norm of other axes than those of ReduceL2, but for the second."""
    trees = (p.tree for p in _PATTERNS if p.tree[0] == "Div" and "ReduceL2" in repr(p.tree))
    if not any(list(_bound(tree, node)) for tree in trees):
        return False
    norm = node.need(1).producer
    while norm is not None and norm.op != "ReduceL2":
        norm = norm.need(0).producer
    data = None if norm is None else norm.input(0)
    axes = [int(axis) for axis in norm.attr("axes", ())] if norm is not None else []
    if data is None or data.rank is None or len(axes) != 1:
        return False
    return axes[0] % data.rank != 1


@rule(
    "Div",
    feature="form:Div.unshared",
    severity=WRONG,
    versions="opencv4.10..",
    source="onnx_graph_simplifier.cpp (4.10.0), LayerNormSubGraph; measured on 4.10.0 and 5.0.0",
)
def power_that_is_no_square(node: NodeView, target: Target) -> Answer:
    """OpenCV takes the mean of any power of the distance from the mean for the variance."""
    pattern = _PATTERNS[-1]
    if not _is_followed(node, pattern.then) or not list(_bound(pattern.tree, node)):
        return False
    added = node.need(1).producer
    summed = None if added is None else added.need(0).producer
    for value in () if summed is None else summed.inputs:
        mean = None if value is None else value.producer
        if mean is not None and mean.op == "ReduceMean":
            power = mean.need(0).producer
            exponent = None if power is None else power.need(1).array()
            return exponent is not None and exponent.size == 1 and float(exponent) != _SQUARE
    return False


@rule(
    "Mul",
    feature="form:Mul.unshared",
    severity=REJECT,
    versions="opencv4.10..",
    source="measured on 4.10.0 and 5.0.0: SIGSEGV, onnx_graph_simplifier.cpp, CeluSubgraph",
)
def spelled_out_celu(node: NodeView, target: Target) -> Answer:
    """OpenCV crashes on a Celu that is spelled out as c * Elu(x / c)."""
    return bool(list(_bound(("Mul", "c", ("Elu", ("Div", "x", "c"))), node)))


def _is_followed(node: NodeView, operators: tuple[str, ...]) -> bool:
    """Say whether what a node computes goes through these operators."""
    result = node.output(0)
    if not operators:
        return True
    return result is not None and any(
        user.op == operators[0] and _is_followed(user, operators[1:]) for user in result.consumers
    )


def _bound(tree: Tree, node: NodeView | None) -> Iterator[tuple[Value, ...]]:
    """Yield what the leaves "x" and "t" stand for, for each way in which a tree fits."""
    if not isinstance(tree, tuple) or node is None or node.op != tree[0]:
        return
    if node.op == "HardSigmoid" and not _is_gate(node):
        return
    operands = [value for value in node.inputs if value is not None]
    if len(operands) != len(tree) - 1:  # axes that are an input are no part of any pattern
        return
    orders = permutations(operands) if node.op in _COMMUTATIVE else [tuple(operands)]
    for order in orders:
        yield from _all_bound(tree[1:], order)


def _all_bound(trees: tuple[Tree, ...], values: tuple[Value, ...]) -> Iterator[tuple[Value, ...]]:
    if not trees:
        yield ()
        return
    for one in _of(trees[0], values[0]):
        for others in _all_bound(trees[1:], values[1:]):
            yield (*one, *others)


def _of(tree: Tree, value: Value) -> Iterator[tuple[Value, ...]]:
    if tree == "c":
        yield from [()] if is_stored(value) else []
    elif tree == "x" or (tree == "t" and not is_stored(value)):
        yield (value,)
    else:
        yield from _bound(tree, value.producer)


def _is_gate(node: NodeView) -> bool:
    """Say whether a HardSigmoid is that of HardSwish, with both numbers written out."""
    alpha, beta = node.attr("alpha", 0.0), node.attr("beta", 0.0)
    return abs(float(alpha) - _SIXTH) < _NEAR and float(beta) == 0.5
