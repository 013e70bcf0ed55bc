"""Reduce*: axes given as an input are read from 10.0 on only."""

from __future__ import annotations

from graphfix.authoring.declaring import Unknown
from graphfix.engines.profile import Target
from graphfix.engines.rule import WRONG, Answer, Yes, rule
from graphfix.ir.views import NodeView

_SUM = ("ReduceSum", "ReduceLogSum")
_OTHERS = (
    "ReduceL1",
    "ReduceL2",
    "ReduceLogSumExp",
    "ReduceMax",
    "ReduceMean",
    "ReduceMin",
    "ReduceProd",
    "ReduceSumSquare",
)


def _axes_change_the_result(node: NodeView) -> bool:
    """Whether reducing all axes, as the engine does, differs from what the axes say."""
    axes, data = node.input(1), node.input(0)
    if axes is None or data is None:
        return False
    if axes.dim(0) == 0 and axes.rank == 1:
        return bool(node.attr("noop_with_empty_axes", 0))
    values = axes.array()
    if values is None or data.rank is None:
        return True
    if not data.rank:
        return False
    return len({int(axis) % data.rank for axis in values.flatten()}) < data.rank


@rule(
    _OTHERS,
    feature="form:Reduce.axes-input",
    versions="..trt9.3",
    severity=WRONG,
    source="builtin_op_importers.cpp:3624-3715, onnx2trt_utils.cpp:1535 (8.6.1)",
)
def reduce_axes_input(node: NodeView, target: Target) -> Answer:
    """TensorRT ignores the axes input of {op} and reduces all axes."""
    if node.input(1) is None or not _axes_change_the_result(node):
        return None
    return Yes(feature=f"form:{node.op}.axes-input")


@rule(
    "ReduceLogSumExp",
    feature="form:ReduceLogSumExp.axes-input",
    versions="trt10.0..trt10.10",
    severity=WRONG,
    source="onnxOpImporters.cpp:4307-4317 (10.1): the axes are not handed on",
)
def log_sum_exp_axes_input(node: NodeView, target: Target) -> Answer:
    """TensorRT ignores the axes input of ReduceLogSumExp and reduces all axes."""
    return node.input(1) is not None and _axes_change_the_result(node)


@rule(
    "ReduceSum",
    feature="form:ReduceSum.axes-input",
    versions="..trt7",
    severity=WRONG,
    source="builtin_op_importers.cpp:2516 (7.1): reduceTensor",
)
def reduce_sum_axes_input(node: NodeView, target: Target) -> Answer:
    """TensorRT ignores the axes input of ReduceSum and reduces all axes."""
    return node.input(1) is not None and _axes_change_the_result(node)


@rule(
    (*_SUM, *_OTHERS),
    feature="form:Reduce.noop_with_empty_axes",
    versions="..trt9.3",
    severity=WRONG,
    source="onnx2trt_utils.cpp:1535 (8.6.1): noop_with_empty_axes is never read",
)
def reduce_noop(node: NodeView, target: Target) -> Answer:
    """TensorRT ignores noop_with_empty_axes=1 of {op} and reduces all axes."""
    attrs = node.node.attrs
    if "noop_with_empty_axes" not in attrs or "axes" in attrs:
        return None
    if not node.attr("noop_with_empty_axes") or node.input(1) is not None:
        return None
    rank = node.need(0).rank
    if rank is None:
        return Unknown(f"rank of {node.need(0).name}")
    return rank > 0 and Yes(feature=f"form:{node.op}.noop_with_empty_axes")
