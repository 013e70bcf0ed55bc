"""Reductions of empty tensors, and such that reduce nothing, by release.

Measured on 1.10.0 to 1.32.0 with tensors of shape [2, 0, 4], of each operator, both `keepdims` and
float32, float64, int8, uint8, int32, int64 and bool.
"""

from __future__ import annotations

from graphfix.engines.onnxruntime.rules import FAILS
from graphfix.engines.profile import Target
from graphfix.engines.rule import REJECT, WRONG, Answer, Yes, rule
from graphfix.ir.views import NodeView, Value

_EXTREMES = ("ReduceMax", "ReduceMin")
_OPERATORS = (
    *_EXTREMES, "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMean",
    "ReduceProd", "ReduceSum", "ReduceSumSquare",
)  # fmt: skip
_KEPT = "Can't reduce on dim with value of 0 if 'keepdims' is false. Invalid output shape would be"
_INTEGERS = ("int8", "uint8", "int32", "int64")


def _empty_axes(node: NodeView) -> tuple[bool, bool]:
    """Say whether an axis of size 0 is reduced, and whether the input is empty at all.

    Where the axes are computed, what is known of the result tells: it has no axis of size 0 then.
    """
    x = node.input(0)
    if x is None or x.rank is None:
        return False, False
    sizes = [x.dim(axis) for axis in range(x.rank)]
    if 0 not in sizes:
        return False, False
    axes, result = _axes(node, x), node.output(0)
    if axes is None:
        given = result.static_shape if result is not None else None
        return given is not None and 0 not in given, given != x.static_shape
    return any(sizes[axis] == 0 for axis in axes), True


def _axes(node: NodeView, x: Value) -> list[int] | None:
    """Return the axes, None where they are not known."""
    assert x.rank is not None
    given = node.input(1)
    values = given.array() if given is not None else None
    if given is not None and values is None:
        return None
    axes = [int(a) for a in (node.attr("axes") or () if values is None else values.reshape(-1))]
    if not axes and node.attr("noop_with_empty_axes", 0):
        return []
    return [axis % x.rank for axis in axes] if axes else list(range(x.rank))


@rule(
    _OPERATORS,
    feature="shape:Reduce.empty",
    versions="..ort-1.16",
    severity=WRONG,
    source="measured on 1.10.0 to 1.16.3",
)
def reduction_of_nothing(node: NodeView, target: Target) -> Answer:
    """ONNX Runtime keeps size 0 when {op} reduces an empty axis, or fails with keepdims=0."""
    if not _empty_axes(node)[0]:
        return None
    feature = f"shape:{node.op}.empty"
    return (
        Yes(feature=feature)
        if node.attr("keepdims", 1)
        else Yes(feature=feature, severity=REJECT, text=_KEPT)
    )


@rule(
    _OPERATORS,
    feature="shape:Reduce.empty",
    versions="ort-1.17..ort-1.31",
    severity=WRONG,
    source="measured on 1.17.3 to 1.31.1; 1.32.0 gives the right shape",
)
def reduction_beside_nothing(node: NodeView, target: Target) -> Answer:
    """ONNX Runtime does not reduce an axis of an empty tensor unless its size is 0."""
    reduced, is_empty = _empty_axes(node)
    return is_empty and not reduced and Yes(feature=f"shape:{node.op}.empty")


@rule(
    "ReduceMax",
    feature="shape:ReduceMax.empty",
    versions="ort-1.17..ort-1.20",
    severity=REJECT,
    text=FAILS.replace("{op}", "ReduceMax"),
    source="measured on 1.17.3 to 1.20.1",
)
def maximum_of_nothing(node: NodeView, target: Target) -> Answer:
    """ONNX Runtime fails on ReduceMax over an axis of size 0."""
    return _empty_axes(node)[0]


@rule(
    _EXTREMES,
    feature="shape:Reduce.empty",
    versions="ort-1.17..ort-1.27",
    severity=WRONG,
    source="measured on 1.17.3 to 1.28.0",
)
def extreme_of_no_integers(node: NodeView, target: Target) -> Answer:
    """ONNX Runtime returns 0 for {op} of an empty integer tensor; ONNX the limit of the type."""
    x = node.input(0)
    if x is None or x.type_name not in _INTEGERS or not _empty_axes(node)[0]:
        return None
    return Yes(feature=f"shape:{node.op}.empty")


@rule(
    _EXTREMES,
    feature="shape:Reduce.empty",
    versions="ort-1.17..",
    severity=REJECT,
    text="{op} is not defined for empty set with bool type",
    source="measured on 1.32.0",
)
def extreme_of_no_bools(node: NodeView, target: Target) -> Answer:
    """ONNX Runtime fails on {op} of an empty bool tensor."""
    x = node.input(0)
    if x is None or x.type_name != "bool" or not _empty_axes(node)[0]:
        return None
    return Yes(feature=f"shape:{node.op}.empty")
