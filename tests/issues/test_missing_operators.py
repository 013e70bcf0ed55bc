"""Operators that the engine lacks: rows 3, 4, 6 to 8b, 10, 11, 13, 18, 19, 25, 31, 35 and 41."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from tests.issues.rows import Array, Row, check_row, name_of

ATEN = ', "org.pytorch.aten": 1'
CAFFE2 = ', "org.pytorch._caffe2": 1'
MICROSOFT = ', "com.microsoft": 1'


def plugin(op: str) -> str:
    """Return the second line that the parser prints for an operator it does not know."""
    return f"getPluginCreator could not find plugin: {op} version: 1"


def pooled(feed: Mapping[str, Array]) -> dict[str, Array]:
    """Adaptive average pooling of 7 x 5 to 3 x 3, cell by cell."""
    x = feed["x"]

    def edges(size: int) -> list[slice]:
        return [slice(i * size // 3, -(-(i + 1) * size // 3)) for i in range(3)]

    cells = [[x[..., r, c].mean((2, 3)) for c in edges(5)] for r in edges(7)]
    return {"y": np.moveaxis(np.array(cells), (0, 1), (2, 3)).astype(np.float32)}


def inverse(feed: Mapping[str, Array]) -> dict[str, Array]:
    return {"y": np.linalg.inv(feed["x"].astype(np.float64)).astype(np.float32)}


def nearest_corner(feed: Mapping[str, Array]) -> dict[str, Array]:
    """Sample where every grid point is a corner or the middle of a pixel."""
    return {"y": feed["x"][:, :, ::-1, ::-1]}


MATRIX = np.array([[2, 0, 1], [0, 3, 0], [1, 0, 2]], np.float32)
# The middles of a 2 x 2 picture in reverse order, without align_corners.
GRID = np.array([[[[0.5, 0.5], [-0.5, 0.5]], [[0.5, -0.5], [-0.5, -0.5]]]], np.float32)
PICTURE = np.array([[[[1, 2], [3, 4]]]], np.float32)

NMS = (
    "<int64[1] k = {3}, float t = {0.3}, float m = {0.1}> { y = NonMaxSuppression (b, s, k, t, m) }"
)

ROWS = [
    Row(
        "3",
        "trt8.2",
        "(float[N, 4, 3] x) => (float[N, 4, 3] y) <float[2] s = {1, 2}, float[2] b = {0, 1}> "
        "{ y = GroupNormalization <num_groups = 2> (x, s, b) }",
        plugin("GroupNormalization"),
        "op:GroupNormalization",
        opset=18,
    ),
    Row(
        "3",
        "trt8.6",
        "(float[N, 4, 3] x) => (float[N, 4, 3] y) <float[4] s = {1, 2, 3, 4}, "
        "float[4] b = {0, 1, 0, 1}> { y = GroupNormalization <num_groups = 2> (x, s, b) }",
        "GroupNormalization: scale and bias of length num_groups are expected",
        "form:GroupNormalization.per-channel",
        opset=21,
    ),
    Row(
        "3",
        "trt7.1",
        "(float[N, 2, L] x) => (float[N, 2, L] y) <float[2] s = {1, 2}, float[2] b = {0, 1}> "
        "{ y = InstanceNormalization (x, s, b) }",
        "InstanceNormalization does not support dynamic inputs!",
        "shape:InstanceNormalization.dynamic",
        ("instance-normalization-to-arithmetic",),
        opset=11,
    ),
    Row(
        "4",
        "trt7",
        "(float[3, 4] x, float[1, 4] u) => (float[3, 4] y) <int64[1, 1] i = {1}> "
        "{ y = ScatterND (x, i, u) }",
        plugin("ScatterND"),
        "op:ScatterND",
        opset=11,
    ),
    Row(
        "6",
        "trt7",
        f"(float[1, 5, 4] b, float[1, 1, 5] s) => (int64[n, 3] y) {NMS}",
        plugin("NonMaxSuppression"),
        "op:NonMaxSuppression",
        refused="needs --allow-io-change",
        opset=11,
    ),
    Row(
        "6",
        "trt7",
        f"(float[1, 5, 4] b, float[1, 1, 5] s) => (int64[n, 3] y) {NMS}",
        plugin("NonMaxSuppression"),
        "op:NonMaxSuppression",
        ("nms-by-selection",),
        opset=11,
        given={"allow_io_change": True},
    ),
    Row(
        "6",
        "trt7.2",
        f"(float[1, 5, 4] b, float[1, 1, 5] s) => (int64[n, 3] y) {NMS}",
        plugin("NonMaxSuppression"),
        "op:NonMaxSuppression",
        ("nms-to-batched-nms",),
        opset=11,
        given={"allow_io_change": True, "passes": ["nms-to-batched-nms"]},
    ),
    Row(
        "6",
        "trt8.0",
        f"(float[1, 5, 4] b, float[1, 2, 5] s) => (int64[n, 3] y) {NMS}",
        "",
        "rank:NonMaxSuppression.filled",
        ("nms-to-efficient-nms",),
        opset=13,
        given={"allow_io_change": True, "passes": ["nms-to-efficient-nms"]},
    ),
    Row(
        "6",
        "trt8.4",
        f"(float[2, 5, 4] b, float[2, 3, 5] s) => (int64[n, 3] y) {NMS}",
        "",
        "rank:NonMaxSuppression.filled",
        ("nms-by-selection",),
        opset=13,
        given={"allow_io_change": True},
    ),
    Row(
        "7",
        "trt8.6",
        "(float[1, 2] x) => (float[1, 2] y) { y = custom.DCN (x) }",
        "No importer registered for op: DCN.",
        "op:custom::DCN",
        refused="",
        imports=', "custom": 1',
    ),
    Row(
        "8",
        "trt8.6",
        "(float[1, 2, 7, 5] x) => (float[1, 2, 3, 3] y) <int64[2] s = {3, 3}> "
        '{ y = org.pytorch.aten.ATen <operator = "adaptive_avg_pool2d"> (x, s) }',
        plugin("ATen"),
        "op:aten::adaptive_avg_pool2d",
        ("aten-adaptive-avg-pool2d",),
        imports=ATEN,
        expected=pooled,
    ),
    Row(
        "8b",
        "trt8.6",
        "(float[3, 3] x) => (float[3, 3] y) "
        '{ y = org.pytorch.aten.ATen <operator = "linalg_inv"> (x) }',
        plugin("ATen"),
        "op:aten::linalg_inv",
        ("aten-linalg-inv",),
        imports=ATEN,
        feeds={"x": MATRIX},
        expected=inverse,
    ),
    Row(
        "10",
        "trt8.6",
        "(float[2] x) => (float[2] y) "
        '{ a = org.pytorch._caffe2.AliasWithName <name = "q"> (x)  y = Relu (a) }',
        "No importer registered for op: AliasWithName.",
        "op:org.pytorch._caffe2::AliasWithName",
        ("caffe2-alias-to-identity",),
        imports=CAFFE2,
        expected=lambda feed: {"y": np.maximum(feed["x"], 0)},
    ),
    Row(
        "11",
        "trt8.0",
        "(float[6] x) => (float[6] y) { y = Round (x) }",
        'creator && "Plugin not found, are the plugin name, version, and namespace correct?"',
        "op:Round",
        ("round-to-floor",),
        opset=13,
        feeds={"x": np.array([0.5, 1.5, -2.5, 2.4, -0.49999997, 8388609], np.float32)},
    ),
    Row(
        "11",
        "trt8.4",
        "(int64[4] x) => (float[4, 3] y) <int64 d = {3}, float[2] v = {-1, 5}> "
        "{ y = OneHot <axis = -1> (x, d, v) }",
        'creator && "Plugin not found, are the plugin name, version, and namespace correct?"',
        "op:OneHot",
        ("one-hot-to-equal",),
        opset=13,
        feeds={"x": np.array([0, -1, 2, 7])},
    ),
    Row(
        "11",
        "trt8.4",
        "(float[3] x) => (int64[1, n] y) { y = NonZero (x) }",
        'creator && "Plugin not found, are the plugin name, version, and namespace correct?"',
        "op:NonZero",
        refused="",
        opset=13,
    ),
    Row(
        "13",
        "trt8.4",
        "(float[1, 1, 3, 3] x, float[1, 2, 2, 2] g) => (float[1, 1, 2, 2] y) "
        "{ y = GridSample (x, g) }",
        "No importer registered for op: GridSample.",
        "op:GridSample",
        ("grid-sample-to-gather",),
        opset=16,
    ),
    Row(
        "13",
        "trt8.6",
        "(float[1, 1, 2, 2] x, float[1, 2, 2, 2] g) => (float[1, 1, 2, 2] y) <int64 z = {0}, "
        'bool no = {0}> { y = org.pytorch.aten.ATen <operator = "grid_sampler"> (x, g, z, z, no) }',
        "No importer registered for op: ATen.",
        "op:aten::grid_sampler",
        ("aten-grid-sampler",),
        opset=16,
        imports=ATEN,
        feeds={"x": PICTURE, "g": GRID},
        expected=nearest_corner,
    ),
    Row(
        "18",
        "trt8.5",
        "(float[2, 4] x) => (float[2, 4] y) <float[4] s = {1, 2, 3, 4}> "
        "{ y = LayerNormalization (x, s) }",
        "No importer registered for op: LayerNormalization.",
        "op:LayerNormalization",
        ("layer-normalization-to-arithmetic",),
    ),
    Row(
        "19",
        "trt8.6",
        "(float[2] a, float[2] b) => (float[4] y) { q = SequenceConstruct (a, b)"
        "  y = ConcatFromSequence <axis = 0> (q) }",
        "could not find plugin: SequenceConstruct",
        "op:SequenceConstruct",
        ("concat-from-sequence-to-concat",),
        opset=13,
    ),
    Row(
        "25",
        "trt8.6",
        "(float[2, 3, 5, 4] x) => (float[2, 3, 3, 2] y, int64[2, 3, 3, 2] i) "
        "{ y, i = MaxPool <kernel_shape = [3, 2], strides = [2, 2], pads = [1, 0, 1, 0]> (x) }",
        'node.output().size() == 1 && "TensorRT does not support the indices output in MaxPool!"',
        "form:MaxPool.indices",
        ("maxpool-indices-to-argmax",),
        opset=13,
    ),
    Row(
        "31",
        "trt8.4",
        "(int64[3] x) => (int64[3] y) <int64[1] k = {3}> { y = Mod (x, k) }",
        plugin("Mod"),
        "op:Mod",
        ("mod-elimination",),
        opset=13,
    ),
    Row(
        "35",
        "trt8.6",
        "(int32[1, 2] i) => (float[1, 2, 4] y, int32[1] m) <float[3, 4] w = {1, 2, 3, 5, 5, 6, 7, "
        "8, 9, 1, 2, 3}, float[2, 4] p = {1, 2, 3, 4, 5, 9, 7, 8}, float[4] g = {1, 2, 1, 1}, "
        "float[4] b = {0, 0, 1, 0}> "
        "{ y, m = com.microsoft.EmbedLayerNormalization (i, , w, p, , g, b) }",
        plugin("EmbedLayerNormalization"),
        "op:com.microsoft::EmbedLayerNormalization",
        ("embed-layer-normalization-to-gather",),
        imports=MICROSOFT,
        feeds={"i": np.array([[2, 0]], np.int32)},
    ),
    Row(
        "41",
        "trt8.4",
        "(float[1, 1, 4, 4] x, float[1, 4] r) => (float[1, 1, 2, 2] y) <int64[1] b = {0}> "
        "{ y = RoiAlign <output_height = 2, output_width = 2, sampling_ratio = 2> (x, r, b) }",
        plugin("RoiAlign"),
        "op:RoiAlign",
        ("roi-align-to-matmul",),
        opset=13,
        feeds={
            "x": np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4),
            "r": np.array([[0, 0, 3, 2]], np.float32),
        },
    ),
]


@pytest.mark.parametrize("row", ROWS, ids=name_of)
def test_row(row: Row) -> None:
    check_row(row)


def test_an_operator_of_the_users_plugin_is_a_note() -> None:
    import graphfix

    (row,) = [row for row in ROWS if row.number == "7"]
    arguments: dict[str, Any] = {"assume_ops": ["custom::DCN"]}
    found = graphfix.check(row.model, row.target, **arguments)
    assert [(f.rule, f.severity) for f in found] == [("assumed-operator", "note")]
