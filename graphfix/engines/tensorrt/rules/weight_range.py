"""Numbers beyond the range of the type that the engine turns theirs into: int64, float64.

Bounds of Slice, which the oldest versions read themselves, are in `oldest`.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from graphfix.analysis.folding.upper_bounds import upper_bound
from graphfix.engines.profile import Target
from graphfix.engines.rule import NOTE, REJECT, WRONG, Answer, Yes, model_rule, rule
from graphfix.engines.tensorrt.rules.parsed import is_weights
from graphfix.ir.graph import Constant, Weights
from graphfix.ir.model import Model
from graphfix.ir.storage.weights import type_name
from graphfix.ir.views import Array, NodeView, Value
from graphfix.operators.table import COMPARISONS

_LARGEST = 2**31 - 1
_SMALLEST = -(2**31)
_LARGEST_FLOAT = float(np.finfo(np.float32).max)

# Operator -> inputs at which the nearest int32 means the same: sizes and rounds never get there.
_BOUNDS = {"Slice": frozenset({1, 2, 3, 4}), "Loop": frozenset({0})}


@rule(
    feature="dtype:int64-beyond-int32",
    versions="trt6-fulldims..trt8",
    severity=WRONG,
    text="One or more weights outside the range of INT32 was clamped",
    source="onnx2trt_utils.cpp:367-405 (8.6.1), 228-262 (7.0); ShapedWeights.cpp:31-47 "
    "(6.0-full-dims)",
)
def weights_clamped(node: NodeView, target: Target) -> Answer:
    """TensorRT clamps int64 weights of {op} to the range of int32."""
    return next(_misread(node), None)


@rule(
    feature="dtype:int64-beyond-int32",
    versions="trt5.1..trt6",
    severity=REJECT,
    text="ERROR: Weights cannot be cast down to INT32.",
    source="ShapedWeights.cpp:29-46, 88-93 (5.1, 6.0): the weights are left empty then",
)
def weights_not_cast(node: NodeView, target: Target) -> Answer:
    """TensorRT does not support int64 weights of {op} beyond int32."""
    for index, value, beyond in _weights_beyond(node):
        # Slice looks into its weights itself: see slice_bounds_beyond_int32.
        if not _is_bound(node, index):
            return _finding(node, value, beyond)
    return None


@rule(
    feature="dtype:float64-beyond-float32",
    versions="trt8.0..",
    severity=WRONG,
    text="One or more weights outside the range of FLOAT was clamped",
    source="onnx2trt_utils.cpp:500-540 (8.6.1), WeightsContext.cpp:38-60 (10.1): infinity "
    "is clamped, too",
)
def doubles_clamped(node: NodeView, target: Target) -> Answer:
    """TensorRT clamps float64 weights of {op} to the range of float32."""
    for value in node.inputs:
        if value is None or value.type_name != "float64" or not is_weights(value):
            continue
        values = value.array()
        beyond = None if values is None else values[np.abs(values) > _LARGEST_FLOAT]
        if beyond is not None and beyond.size:
            number = float(beyond[0])
            return Yes(
                message=f"TensorRT clamps {value.name} of {node.op} to float32: it holds {number}"
            )
    return None


@model_rule(
    feature="io:int64-as-int32",
    versions="..trt8",
    severity=NOTE,
    source="onnx2trt_utils.cpp:346-365 (8.6.1): convertDtype",
)
def int64_bindings(model: Model, target: Target) -> Answer:
    """TensorRT binds int64 inputs and outputs as int32; values must fit."""
    graph = model.graph
    names = [t.name for t in (*graph.inputs, *graph.outputs) if type_name(t.elem_type) == "int64"]
    if not names:
        return None
    listed = ", ".join(names[:3]) + (", ..." if len(names) > 3 else "")
    return f"{target.title} binds int64 {listed} as int32; values must fit"


def _misread(node: NodeView) -> Iterator[Yes]:
    """Yield weights that are clamped to a different value, but for bounds that no value reaches."""
    filled = node.attr("value") if node.op == "ConstantOfShape" and not node.domain else None
    if filled is not None and filled.dtype == np.int64 and _beyond(filled).size:
        yield Yes(message="TensorRT clamps the value of ConstantOfShape to int32")
    for index, value, beyond in _weights_beyond(node):
        if not _is_harmless(node, index, beyond):
            yield _finding(node, value, beyond)


def _weights_beyond(node: NodeView) -> Iterator[tuple[int, Value, Array]]:
    """Yield the position of each input with int64 weights beyond int32, and these values."""
    for index, value in enumerate(node.inputs):
        if value is None or value.type_name != "int64" or not is_weights(value):
            continue
        if isinstance(value.tensor, Constant) and _is_within(value.tensor.weights):
            continue
        values = value.array()
        beyond = None if values is None else _beyond(values)
        if beyond is not None and beyond.size:
            yield index, value, beyond


def _is_within(weights: Weights) -> bool:
    least, largest = weights.span()
    return bool(least >= _SMALLEST and largest <= _LARGEST)


def _beyond(values: Array) -> Array:
    """Return those of int64 numbers that int32 does not hold.

    A file may declare int64 and store four bits, with which these bounds cannot be compared.
    """
    if values.dtype != np.int64:
        return values[:0]
    return values[(values > _LARGEST) | (values < _SMALLEST)]


def _is_bound(node: NodeView, index: int) -> bool:
    return not node.domain and index in _BOUNDS.get(node.op, ())


def _is_harmless(node: NodeView, index: int, beyond: Array) -> bool:
    if node.domain:
        return False
    if _is_bound(node, index):
        return True
    above, below = bool((beyond > 0).any()), bool((beyond < 0).any())
    if node.op == "Min" or (node.op == "Clip" and index == 2):
        return not below  # an upper bound that no int32 is above
    if node.op == "Max" or (node.op == "Clip" and index == 1):
        return not above
    if node.op in COMPARISONS and not below:
        other = upper_bound(node.input(1 - index))
        return other is not None and other < _LARGEST
    return False


def _finding(node: NodeView, value: Value, beyond: Array) -> Yes:
    return Yes(message=f"TensorRT has int32 only; {value.name} of {node.op} holds {int(beyond[0])}")
