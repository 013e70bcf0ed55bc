"""What single operators meet in TensorRT 5.1 to 7.2 and never again."""

from __future__ import annotations

import numpy as np

from graphfix.authoring.declaring import Unknown
from graphfix.engines.profile import Target
from graphfix.engines.rule import REJECT, WRONG, Answer, Yes, rule
from graphfix.engines.tensorrt.rules.parsed import is_weights
from graphfix.ir.views import NodeView

_LARGEST = 2**31 - 1
_INT32 = range(-_LARGEST - 1, _LARGEST + 1)


@rule(
    "Slice",
    feature="form:Slice.axes",
    versions="trt6..trt6",
    severity=WRONG,
    source="builtin_op_importers.cpp:1732-1771 (6.0): bounds are resolved by position, not by axis",
)
def slice_bounds_by_position(node: NodeView, target: Target) -> Answer:
    """TensorRT resolves bounds of Slice by position; axes must list all axes in order."""
    data, axes = node.need(0), _axes(node)
    if axes is None or data.rank is None:
        return Unknown(f"axes of {node.name or node.op}")
    return axes != list(range(1, len(axes) + 1))


@rule(
    "Slice",
    feature="form:Slice.negative",
    versions="trt6-fulldims..trt6-fulldims",
    severity=WRONG,
    source="builtin_op_importers.cpp:1684-1746 (6.0-full-dims): bounds are looked up by the axis "
    "as it is written",
)
def slice_negative(node: NodeView, target: Target) -> Answer:
    """TensorRT ignores negative axes of Slice and adds the size to negative steps."""
    axes, steps = _axes(node), node.input(4)
    if axes is None:
        return Unknown(f"axes of {node.name or node.op}")
    known = None if steps is None else steps.array()
    return any(axis < 0 for axis in axes) or (known is not None and bool((known < 0).any()))


@rule(
    "Slice",
    feature="form:Slice.beyond-int32",
    versions="trt5.1..trt6-fulldims",
    severity=WRONG,
    source="builtin_op_importers.cpp:1682-1696 (5.1), 1736-1768 (6.0): int64 is cut to its lower "
    "half, INT64_MAX to -1; 1584, 1628 (6.0-full-dims): what is too small becomes INT32_MAX",
)
def slice_bounds_beyond_int32(node: NodeView, target: Target) -> Answer:
    """TensorRT truncates bounds of Slice to int32."""
    starts, ends, axes = _written(node, "starts", 1), _written(node, "ends", 2), _axes(node)
    if starts is None or ends is None or axes is None:
        return None
    if target.variant:
        return any(bound < -_LARGEST for bound in (*starts, *ends))
    steps = _written(node, "steps", 4) or [1] * len(starts)
    return any(
        (start not in _INT32 or end not in _INT32)
        and not _is_passed_through(start, end, axis, step, target)
        for start, end, axis, step in zip(starts, ends, axes, steps, strict=False)
    )


def _is_passed_through(start: int, end: int, axis: int, step: int, target: Target) -> bool:
    """Say whether bounds are not computed with: 5.1 skips the batch, 6.0 a cut that takes all."""
    if target.level < (6, 0):
        return axis == 0
    return start == 0 and end > _LARGEST and step == 1


def _axes(node: NodeView) -> list[int] | None:
    """Return the axes as they are written; None where they are computed."""
    axes = _written(node, "axes", 3)
    if axes is not None or node.input(3) is not None:
        return axes
    starts = node.attr("starts")
    if starts is not None:
        return list(range(len(starts)))
    given = node.input(1)
    count = None if given is None else given.dim(0)
    return None if count is None else list(range(count))


def _written(node: NodeView, name: str, index: int) -> list[int] | None:
    """Return what a Slice has as an input or as an attribute; None where computed or left out."""
    value = node.input(index)
    given = node.attr(name) if value is None else value.array()
    return None if given is None else np.asarray(given).reshape(-1).tolist()


@rule(
    "AveragePool",
    feature="attr:AveragePool.asymmetric-pads",
    versions="..trt7",
    severity=REJECT,
    text="Assertion failed: supported_form_of_asymmetric_padding_for_AveragePool",
    source="onnx2trt_utils.cpp:1407 (7.1)",
)
def average_pool_pads(node: NodeView, target: Target) -> Answer:
    """TensorRT supports end pads of AveragePool equal to the start pads, or larger by one."""
    pads = [int(pad) for pad in node.attr("pads", [])]
    half = len(pads) // 2
    pairs = zip(pads[:half], pads[half:], strict=False)
    return any(end - begin not in (0, 1) for begin, end in pairs)


@rule(
    ("GlobalAveragePool", "GlobalMaxPool"),
    feature="shape:GlobalPool.dynamic",
    versions="trt6-fulldims..trt6-fulldims",
    severity=REJECT,
    text='"Cannot run GlobalAveragePool on an input with dynamic spatial dimensions!"',
    source="builtin_op_importers.cpp:872-891 (6.0-full-dims)",
)
def global_pool_dynamic(node: NodeView, target: Target) -> Answer:
    """TensorRT requires static spatial sizes of {op}."""
    data = node.need(0)
    if data.rank is None:
        return Unknown(f"rank of {data.name}")
    unknown = any(data.dim(axis) is None for axis in range(2, data.rank))
    return unknown and Yes(feature=f"shape:{node.op}.dynamic")


@rule(
    "BatchNormalization",
    feature="const:BatchNormalization.scale",
    versions="trt6..trt6",
    severity=REJECT,
    text="Assertion failed: scale_weights.type == ::ONNX_NAMESPACE::TensorProto::FLOAT",
    source="builtin_op_importers.cpp:641-664 (6.0)",
)
def batch_norm_parameters(node: NodeView, target: Target) -> Answer:
    """TensorRT requires parameters of BatchNormalization to be constant float32."""
    for index, name in ((1, "scale"), (2, "B"), (3, "mean"), (4, "var")):
        value = node.input(index)
        if value is not None and not is_weights(value):
            return Yes(feature=f"const:BatchNormalization.{name}")
        if value is not None and value.type_name == "float16":
            return Yes(feature="dtype:BatchNormalization.float16")
    return None
