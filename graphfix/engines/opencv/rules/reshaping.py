"""Operators that move numbers: axes, padding, slices, copies."""

from __future__ import annotations

import numpy as np

from graphfix.authoring.declaring import Unknown
from graphfix.engines.opencv.rules.importing import is_computed_at_import
from graphfix.engines.operands import has_negative_pads, holds_negatives, is_stored
from graphfix.engines.profile import Target
from graphfix.engines.rule import REJECT, WRONG, Answer, Yes, rule
from graphfix.ir.views import NodeView


@rule(
    "Reshape",
    feature="rank:Reshape.0",
    versions="..opencv4.10",
    severity=REJECT,
    text="clamped.start < clamped.end",
    source="shape_utils.hpp:264 (4.10.0); measured",
)
def reshape_of_a_number(node: NodeView, target: Target) -> Answer:
    """OpenCV does not support Reshape of a scalar graph input."""
    data = node.input(0)
    return data is not None and data.rank == 0 and data.producer is None and not is_stored(data)


@rule(
    "Unsqueeze",
    feature="form:Unsqueeze.several-axes",
    versions="..opencv4.10",
    severity=REJECT,
    text="Multidimensional unsqueeze in function 'parseUnsqueeze'",
    source="onnx_importer.cpp:2281 (4.10.0); measured",
)
def unsqueeze_axes(node: NodeView, target: Target) -> Answer:
    """OpenCV 4 supports Unsqueeze of one axis only."""
    axes = node.attr("axes", None)
    if axes is None:
        value = node.input(1)
        axes = value.array() if value is not None else None
    return Unknown("the axes") if axes is None else len(np.atleast_1d(axes)) > 1


@rule(
    "Pad",
    feature="attr:Pad.mode=*",
    versions="..opencv4.10",
    severity=REJECT,
    text="inputs[0].dims == 4 in function 'forward'",
    source="padding_layer.cpp:139 (4.10.0); measured",
)
def pad_mode_rank(node: NodeView, target: Target) -> Answer:
    """OpenCV supports reflected Pad of the last two of four axes only."""
    mode = node.attr("mode", "constant")
    data = node.input(0)
    if mode == "constant" or data is None:
        return False
    if mode != "reflect":
        return data.rank != 4 and Yes(feature=f"attr:Pad.mode={mode}")
    return data.rank != 4 and Yes(feature="attr:Pad.mode=reflect")


@rule(
    "Pad",
    feature="attr:Pad.negative",
    versions="..opencv4.10",
    severity=REJECT,
    text="paddings[i].first >= 0 in function 'PaddingLayerImpl'",
    source="padding_layer.cpp:51 (4.10.0); measured",
)
def pad_negative(node: NodeView, target: Target) -> Answer:
    """OpenCV does not support negative pads."""
    return has_negative_pads(node)


@rule(
    "Slice",
    feature="form:Slice.negative-steps",
    versions="..opencv4.10",
    severity=REJECT,
    source="measured on 4.8.1 and 4.10.0: only -1 from the last element on is taken",
)
def slice_backwards(node: NodeView, target: Target) -> Answer:
    """OpenCV 4 supports negative Slice steps only to reverse a whole axis."""
    if is_computed_at_import(node):
        return False
    return holds_negatives(node.input(4))


@rule(
    "Tile",
    feature="op:Tile",
    versions="..opencv4.10",
    severity=WRONG,
    source="measured on 4.8.1 and 4.10.0: [2,3] by [1,2] repeats each element in its place",
)
def tile_order(node: NodeView, target: Target) -> Answer:
    """OpenCV 4 repeats elements in place in Tile; ONNX repeats the whole axis."""
    data, repeats = node.input(0), node.input(1)
    values = repeats.array() if repeats is not None else None
    if data is None or values is None:
        return Unknown("the repeats")
    return bool((np.asarray(values) != 1).any())


@rule(
    "Concat",
    feature="form:Concat.constant",
    versions="..opencv4.10",
    severity=WRONG,
    source="measured on 4.8.1 and 4.10.0: an input of the graph next to a constant",
)
def concat_constant(node: NodeView, target: Target) -> Answer:
    """OpenCV 4 computes Concat of a graph input and a constant wrongly."""
    given = [value for value in node.inputs if value is not None]
    constant = any(is_stored(value) for value in given)
    return constant and any(value.producer is None and not is_stored(value) for value in given)


@rule(
    "Flatten",
    feature="attr:Flatten.axis",
    versions="..opencv4.10",
    severity=REJECT,
    text="axis >= -dims && axis < dims",
    source="shape_utils.hpp:243 (4.10.0); measured",
)
def flatten_axis(node: NodeView, target: Target) -> Answer:
    """OpenCV does not support Flatten with axis equal to the rank."""
    data = node.input(0)
    return data is not None and data.rank is not None and node.attr("axis", 1) == data.rank


@rule(
    "Concat",
    feature="rank:Concat.1",
    versions="..opencv4.10",
    severity=REJECT,
    text="curShape.size() == outputs[0].size() in function 'getMemoryShapes'",
    source="concat_layer.cpp:104 (4.10.0); measured",
)
def concat_vectors(node: NodeView, target: Target) -> Answer:
    """OpenCV 4 does not support Concat of a computed and a constant vector."""
    given = [value for value in node.inputs if value is not None]
    if {value.rank for value in given} != {1} or is_computed_at_import(node):
        return False
    return len({is_stored(value) for value in given}) > 1
