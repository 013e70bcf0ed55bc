"""Values that have to be constants, and shapes: rows 2, 5, 12, 14, 17, 20, 21, 28, 32, 37."""

from __future__ import annotations

import numpy as np
import pytest

from tests.issues.rows import Row, check_row, name_of

NEAREST = 'mode = "nearest", coordinate_transformation_mode = "asymmetric", nearest_mode = "floor"'
PAD = (
    "(float[1, 1, H, W] x) => (float[1, C, H, W] y) <int64[4] half = {0, 0, 1, 0}, "
    "int64[2] back = {-1, 2}, int64[1] flat = {-1}, int64[1] two = {2}, int64[1] three = {3}> "
    "{ s = Shape (x)  r = Slice (s, two, three)  q = Mul (half, r)  z = Sub (q, q)"
    "  all = Concat <axis = 0> (q, z)  w = Reshape (all, back)  t = Transpose <perm = [1, 0]> (w)"
    "  pads = Reshape (t, flat)  y = Pad (x, pads) }"
)
DYNAMIC_K = (
    "(float[1, N] x) => (float[1, K] y, int64[1, K] i) <int64[1] last = {1}, int64[1] most = {3}> "
    "{ s = Shape (x)  n = Gather (s, last)  k = Min (n, most)  y, i = TopK (x, k) }"
)
SQUEEZE = "(float[N, 1, 3] x) => (float[a, b] y) { z = Squeeze (x)  y = Flatten (z) }"

ROWS = [
    Row(
        "2",
        "trt8.2",
        "(float[1, 1, 2, 2] x) => (float[1, 1, 4, 4] y) <float[4] given = {1, 1, 2, 2}> "
        f"{{ s = Identity (given)  y = Resize <{NEAREST}> (x, , s) }}",
        'scales.is_weights() && "Resize scales must be an initializer!"',
        "const:Resize.scales",
        ("fold-constants",),
        opset=13,
    ),
    Row(
        "2",
        "trt8.2",
        "(float[1, 1, H, W] x) => (float[1, 1, H2, W2] y) <float[4] f = {1, 1, 2, 2}> "
        "{ s = Shape (x)  a = Cast <to = 1> (s)  b = Mul (a, f)  c = Div (b, a)"
        f"  y = Resize <{NEAREST}> (x, , c) }}",
        'scales.is_weights() && "Resize scales must be an initializer!"',
        "const:Resize.scales",
        ("resize-scales-to-constant",),
        opset=13,
    ),
    Row(
        "5",
        "trt8.6",
        PAD,
        "IShuffleLayer applied to shape tensor must have 0 or 1 reshape dimensions: dimensions "
        "were [-1,2]",
        "shape:Reshape.rank2",
        ("pad-shape-arithmetic-flat",),
    ),
    Row(
        "12",
        "trt8.2",
        "(float[N] x) => (float[N] y) <float start = {0}, float step = {1}> { s = Shape (x)"
        "  n = Squeeze (s)  e = Cast <to = 1> (n)  r = Range (start, e, step)  y = Add (r, x) }",
        'inputs.at(0).isInt32() && "For range operator with dynamic inputs, this version of '
        'TensorRT only supports INT32!"',
        "dtype:Range.float32",
        ("range-of-floats-to-integers",),
        opset=13,
    ),
    Row(
        "14",
        "trt8.6",
        SQUEEZE,
        "Cannot infer squeeze dimensions from a dynamic shape! Please re-export your model with "
        "the Squeeze axes input set.",
        "form:Squeeze.no-axes",
        refused="the size of axis 0 must be known; it is not, and may be 1: say it with --shape",
        opset=13,
    ),
    Row(
        "14",
        "trt8.6",
        SQUEEZE,
        "Cannot infer squeeze dimensions from a dynamic shape!",
        "form:Squeeze.no-axes",
        opset=13,
        given={"shapes": {"x": (3, 1, 3)}},
    ),
    Row(
        "17",
        "trt8.5",
        DYNAMIC_K,
        "This version of TensorRT only supports input K as an initializer",
        "const:TopK.K",
        ("topk-of-computed-k",),
        opset=13,
    ),
    Row(
        "17",
        "trt8.5",
        DYNAMIC_K,
        "This version of TensorRT only supports input K as an initializer",
        "const:TopK.K",
        ("fold-constants",),
        opset=13,
        given={"shapes": {"x": (1, 3)}},
    ),
    Row(
        "20",
        "trt8.4",
        "(float[1, 1, 4, 4] x) => (float[1, 1, 2, 2] y) <int64[4] s = {1, 1, 3, 3}, "
        "float[9] flat = {1, 2, 3, 4, 5, 6, 7, 8, 9}> { w = Reshape (flat, s)  y = Conv (x, w) }",
        "count of 0 weights in kernel, but kernel dimensions were specified",
        "const:Conv.W",
        ("fold-constants",),
        opset=13,
    ),
    Row(
        "20",
        "trt8.4",
        "(float[1, 1, 4, 4] x, float[1, 1, 3, 3] w) => (float[1, 1, 2, 2] y) { y = Conv (x, w) }",
        "count of 0 weights in kernel, but kernel dimensions were specified",
        "const:Conv.W",
        ("conv-of-computed-weights-to-matmul",),
        opset=13,
    ),
    Row(
        "21",
        "trt6-fulldims",
        "(float[2, N] x) => (float[2, N] y) <int64[1] i = {1}, int64[1] rest = {-1}> "
        "{ s = Shape (x)  g = Gather (s, i)  t = Concat <axis = 0> (rest, g)"
        "  y = Reshape (x, t) }",
        '!(data->getType() == nvinfer1::DataType::kINT32 && nbDims == 1) && "Cannot perform '
        'gather on a shape tensor!"',
        "shape:Gather.shape-tensor",
        opset=11,
    ),
    Row(
        "28",
        "trt8.6",
        "(float[3, 4] x) => (float[3, 4] y) <int64 i = {0}, int64 two = {2}> { s = Shape (x)"
        "  n = Gather (s, i)  axis = Sub (n, two)  y = CumSum (x, axis) }",
        "Axis input for CumSum must be an initializer! Try applying constant folding on the model "
        "using Polygraphy",
        "const:CumSum.axis",
        ("fold-constants",),
        opset=13,
    ),
    Row(
        "28",
        "trt8.6",
        "(float[3, 4] x, int64 axis) => (float[3, 4] y) { y = CumSum (x, axis) }",
        "Axis input for CumSum must be an initializer!",
        "const:CumSum.axis",
        ("cumsum-of-computed-axis",),
        feeds={"x": np.arange(12, dtype=np.float32).reshape(3, 4), "axis": np.array(-2)},
        opset=13,
    ),
    Row(
        "32",
        "trt8.0",
        "(float[1, 3] x) => (float[1, 5] y) <int64[2] side = {0, 1}> "
        "{ pads = Concat <axis = 0> (side, side)  y = Pad (x, pads) }",
        "The input pads is required to be an initializer.",
        "const:Pad.pads",
        ("fold-constants",),
        opset=13,
    ),
    Row(
        "37",
        "trt6",
        "(float[1, 3, 4] x) => (float[2, 3, 4] y) <int64[2] i = {0, 0}> "
        "{ y = Gather <axis = 0> (x, i) }",
        "Assertion failed: axis >= 0 && axis < nbDims",
        "attr:Gather.batch-axis",
        refused="",
        opset=11,
    ),
]


@pytest.mark.parametrize("row", ROWS, ids=name_of)
def test_row(row: Row) -> None:
    check_row(row)
