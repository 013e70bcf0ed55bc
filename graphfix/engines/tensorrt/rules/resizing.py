"""Resize, Upsample, GridSample and RoiAlign, from 8.0 on."""

from __future__ import annotations

from graphfix.authoring.declaring import Unknown
from graphfix.engines.profile import Target
from graphfix.engines.rule import REJECT, WRONG, Answer, Yes, rule
from graphfix.engines.tensorrt.rules.parsed import is_graph_input, is_weights, opset_of
from graphfix.ir.views import NodeView, Value

_MODES = frozenset({"half_pixel", "pytorch_half_pixel", "tf_half_pixel_for_nn", "asymmetric",
                    "align_corners"})  # fmt: skip
_COORDINATES = (
    'Assertion failed: !"TensorRT only supports half_pixel, pytorch_half_pixel, '
    'tf_half_pixel_for_nn, asymmetric and " "align_corners transformation modes!"'
)
_NEAREST = (
    'Assertion failed: ... && "This version of TensorRT only support round_prefer_floor nearest '
    'mode in tf_half_pixel_for_nn!"'
)
_LINEAR = (
    "Assertion failed: canUseNDResize(scaleSize, scaleValues, 3) && "
    '"This version of TensorRT only supports linear resizing on the outermost 3 dimensions."'
)
_CUBIC = (
    "Assertion failed: canUseNDResize(scaleSize, scaleValues, 2) && "
    '"This version of TensorRT only supports cubic resizing on the outermost 2 dimensions."'
)
_RANK = (
    'Assertion failed: (scaleSize == inputRank) && "The shape of input scales must align with the '
    'input rank."'
)


def scales_of(node: NodeView) -> Value | None:
    """Return the scales input of a Resize; None where it is omitted or empty."""
    value = node.input(2 if opset_of(node) >= 11 else 1)
    return None if value is None or value.static_shape == (0,) else value


def sizes_of(node: NodeView) -> Value | None:
    """Return the sizes input of a Resize; None where it is omitted or empty."""
    value = node.input(3) if opset_of(node) >= 11 else None
    return None if value is None or value.static_shape == (0,) else value


@rule(
    "Resize",
    feature="const:Resize.scales",
    versions="trt7.0..trt8.2",
    severity=REJECT,
    text='Assertion failed: scales.is_weights() && "Resize scales must be an initializer!"',
    source="builtin_op_importers.cpp: importResize (8.2)",
)
def resize_scales(node: NodeView, target: Target) -> Answer:
    """TensorRT requires constant scales of Resize."""
    scales = scales_of(node)
    return scales is not None and sizes_of(node) is None and not is_weights(scales)


@rule(
    "Upsample",
    feature="attr:Upsample.mode",
    versions="trt8",
    severity=REJECT,
    text='Assertion failed: ... && "The attribute mode can only be nearest, linear, or bilinear."',
    source="builtin_op_importers.cpp:5060 (8.6.1), importUpsample (8.2)",
)
def upsample_mode(node: NodeView, target: Target) -> Answer:
    """TensorRT supports Upsample modes nearest and linear, from 8.4 on also bilinear."""
    taken = ("nearest", "linear", "bilinear") if target.level >= (8, 4) else ("nearest", "linear")
    mode = node.attr("mode", "nearest")
    return mode not in taken and Yes(feature=f"attr:Upsample.mode={mode}")


@rule(
    "Resize",
    feature="attr:Resize.coordinate_transformation_mode",
    versions="trt8..",
    severity=REJECT,
    text=_COORDINATES,
    source="builtin_op_importers.cpp:3770-3810 (8.6.1)",
)
def resize_coordinates(node: NodeView, target: Target) -> Answer:
    """TensorRT does not support this coordinate_transformation_mode of Resize."""
    if opset_of(node) < 11:
        return None
    mode = node.attr("coordinate_transformation_mode", "half_pixel")
    feature = f"attr:Resize.coordinate_transformation_mode={mode}"
    if mode not in _MODES:
        return Yes(feature=feature)
    if mode == "tf_half_pixel_for_nn":
        if node.attr("nearest_mode", "round_prefer_floor") != "round_prefer_floor":
            return Yes(feature=feature, text=_NEAREST)
        if sizes_of(node) is not None and target.level < (10, 0):
            return Yes(
                feature=feature,
                text="segmentation fault",
                message="TensorRT crashes on tf_half_pixel_for_nn of Resize with sizes",
            )
    return None


@rule(
    ("Resize", "Upsample"),
    feature="rank:Resize.scaled-dims",
    versions="trt7.1..",
    severity=REJECT,
    text=_LINEAR,
    source="builtin_op_importers.cpp:3882, onnx2trt_utils.cpp:299 (8.6.1)",
)
def resize_scaled_dims(node: NodeView, target: Target) -> Answer:
    """TensorRT resizes the last three axes at most if linear, the last two if cubic."""
    mode = node.attr("mode", "nearest")
    if mode == "nearest":
        return None
    kept = 2 if mode == "cubic" else 3
    values = node.attr("scales")
    if values is None:
        if node.op == "Resize":
            scales = None if sizes_of(node) is not None else scales_of(node)
        else:
            scales = node.input(1)
        array = scales.array() if scales is not None and is_weights(scales) else None
        values = None if array is None else array.flatten().tolist()
    if values is None or all(scale == 1 for scale in values[:-kept]):
        return None
    return Yes(feature=f"rank:{node.op}.scaled-dims", text=_CUBIC if mode == "cubic" else "")


@rule(
    "Resize",
    feature="form:Resize.axes",
    versions="..trt9.3",
    severity=REJECT,
    text=_RANK,
    source="builtin_op_importers.cpp:3868 (8.6.1): axes is never read",
)
def resize_axes(node: NodeView, target: Target) -> Answer:
    """TensorRT ignores axes of Resize, so scales or sizes have the wrong length."""
    if "axes" not in node.node.attrs:
        return None
    given = sizes_of(node) or scales_of(node)
    data = node.need(0)
    if given is None:
        return None
    length = given.dim(0)
    axes = [int(axis) for axis in node.attr("axes")]
    if length is None or data.rank is None:
        return Unknown(f"rank of {data.name}")
    if length == data.rank:
        in_order = [axis % data.rank for axis in axes] == list(range(data.rank))
        return None if in_order else Yes(severity=WRONG)
    if sizes_of(node) is not None:
        return Yes(
            text=f"IResizeLayer: output dimensions have {length} elements, but input has rank "
            f"{data.rank}"
        )
    return True


@rule(
    "Resize",
    feature="form:Resize.axes",
    versions="trt10.0..",
    severity=REJECT,
    text="Assertion failed: !axesInterlacingNeeded: Currently, `axes` attribute is supported with "
    "`scales` tensor only when it's trivial i.e. it's an iota vector of same length as input rank.",
    source="onnxOpImporters.cpp: importResize (10.1)",
)
def resize_axes_of_scales(node: NodeView, target: Target) -> Answer:
    """TensorRT supports axes of Resize with sizes, not with computed scales."""
    if "axes" not in node.node.attrs or sizes_of(node) is not None:
        return None
    if is_weights(scales_of(node)):
        return None
    data, axes = node.need(0), [int(axis) for axis in node.attr("axes")]
    if data.rank is None:
        return Unknown(f"rank of {data.name}")
    return [axis % data.rank for axis in axes] != list(range(data.rank))


@rule(
    ("Resize", "Upsample"),
    feature="form:Resize.scales-length",
    versions="trt7.0..",
    severity=REJECT,
    text=_RANK,
    source="builtin_op_importers.cpp:3868, 5075 (8.6.1)",
)
def resize_scales_length(node: NodeView, target: Target) -> Answer:
    """TensorRT requires one scale per axis of {op}."""
    if "axes" in node.node.attrs:
        return None
    if node.op == "Resize":
        scales = None if sizes_of(node) is not None else scales_of(node)
    else:
        scales = node.input(1)
    data = node.need(0)
    if scales is None or data.rank is None:
        return None
    length = scales.dim(0)
    return length is not None and length != data.rank


@rule(
    "GridSample",
    feature="form:GridSample.mode",
    versions="trt8.5..trt11.1",
    severity=WRONG,
    source="builtin_op_importers.cpp:4378-4390 (8.6.1); NVIDIA/TensorRT issue 4646; the parsers of "
    "tensorrt-rtx 1.4.0 make a nearest layer of linear, those of 1.6.1 and 1.7.1 a linear one",
)
def grid_sample_mode(node: NodeView, target: Target) -> Answer:
    """TensorRT reads GridSample modes linear and cubic of opset 20 as nearest."""
    mode = node.attr("mode", "linear" if opset_of(node) >= 20 else "bilinear")
    if mode in ("nearest", "bilinear", "bicubic") or "mode" not in node.node.attrs:
        return None
    return Yes(feature=f"form:GridSample.mode={mode}")


@rule(
    "RoiAlign",
    feature="shape:RoiAlign.rois",
    versions="trt8.5..",
    severity=REJECT,
    text="Assertion failed: roiDims.nbDims == 2 && roiDims.d[1] == 4 && "
    '"Found incorrect dimensions for ROIs input!"',
    source="builtin_op_importers.cpp:4165 (8.6.1), onnxOpImporters.cpp:4897 (10.1)",
)
def roi_align_rois(node: NodeView, target: Target) -> Answer:
    """TensorRT requires rois of RoiAlign of static shape [N, 4]."""
    rois = node.input(1)
    if rois is None or rois.rank is None:
        return None
    if rois.rank != 2 or rois.dim(1) not in (None, 4):
        return True
    return rois.dim(1) is None and is_graph_input(rois)
