"""One case per adapter and verdict on the way down, against onnxruntime on the source."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from graphfix.testing import outputs_of
from tests.opset.conversion import assert_converts, check, converted, model_of, reasons

RNG = np.random.default_rng(7)
F = RNG.normal(size=(2, 3, 4)).astype(np.float32)
IMAGE = RNG.normal(size=(1, 2, 6, 6)).astype(np.float32)


def text(opset: int, header: str, body: str) -> str:
    return f'<ir_version: 8, opset_import: ["" : {opset}]>\ng {header}\n{{ {body} }}'


# name, opset, target, signature, body, feed, operators afterwards
CASES: list[tuple[str, int, int, str, str, dict[str, Any], list[str]]] = [
    (
        "softmax-last", 13, 12, "(float[2,3,4] x) => (float[2,3,4] y)", "y = Softmax(x)",
        {"x": F}, ["Softmax"],
    ),
    (
        "softmax-axis-0", 13, 12, "(float[2,3,4] x) => (float[2,3,4] y)",
        "y = Softmax<axis = 0>(x)", {"x": F}, ["Transpose", "Softmax", "Transpose"],
    ),
    (
        "hardmax-axis-1", 13, 11, "(float[2,3,4] x) => (float[2,3,4] y)",
        "y = Hardmax<axis = -2>(x)", {"x": F}, ["Transpose", "Hardmax", "Transpose"],
    ),
    (
        "reduce-noop", 18, 17, "(float[2,3,4] x) => (float[2,3,4] y)",
        "y = ReduceSumSquare<noop_with_empty_axes = 1>(x)", {"x": F}, ["Mul"],
    ),
    (
        "reduce-all", 18, 17, "(float[2,3,4] x) => (float[1,1,1] y)",
        "a = Constant<value = int64[0] {}>() y = ReduceMax(x, a)", {"x": F}, ["ReduceMax"],
    ),
    (
        "reduce-sum", 13, 12, "(float[2,3,4] x) => (float[2,4] y)",
        "a = Constant<value = int64[1] {1}>() y = ReduceSum<keepdims = 0>(x, a)", {"x": F},
        ["ReduceSum"],
    ),
    (
        "split-num-outputs", 18, 13, "(float[2,3,4] x) => (float[2,2,4] y, float[2,1,4] z)",
        "y, z = Split<axis = 1, num_outputs = 2>(x)", {"x": F}, ["Split"],
    ),
    (
        "split-sizes", 18, 11, "(float[2,3,4] x) => (float[2,1,4] y, float[2,2,4] z)",
        "s = Constant<value = int64[2] {1, 2}>() y, z = Split<axis = 1>(x, s)", {"x": F},
        ["Split"],
    ),
    (
        "pad-axes", 18, 17, "(float[2,3,4] x) => (float[2,6,4] y)",
        "p = Constant<value = int64[2] {1, 2}>() a = Constant<value = int64[1] {-2}>() "
        "y = Pad<mode = \"edge\">(x, p, , a)", {"x": F}, ["Pad"],
    ),
    (
        "resize-axes", 18, 17, "(float[1,2,6,6] x) => (float[1,2,6,9] y)",
        "s = Constant<value = float[1] {1.5}>() "
        "y = Resize<axes = [3], mode = \"linear\">(x, , s)", {"x": IMAGE}, ["Resize"],
    ),
    (
        "resize-not-larger", 18, 13, "(float[1,2,6,6] x) => (float[1,2,9,9] y)",
        "s = Constant<value = int64[2] {9, 12}>() "
        "y = Resize<axes = [2, 3], keep_aspect_ratio_policy = \"not_larger\">(x, , , s)",
        {"x": IMAGE}, ["Resize"],
    ),
    (
        "resize-needs-roi", 13, 11, "(float[1,2,6,6] x) => (float[1,2,12,12] y)",
        "s = Constant<value = int64[4] {1, 2, 12, 12}>() y = Resize<mode = \"linear\">(x, , , s)",
        {"x": IMAGE}, ["Resize"],
    ),
    (
        "trilu", 14, 13, "(float[2,3,4] x) => (float[2,3,4] y)",
        "k = Constant<value = int64 {1}>() y = Trilu<upper = 0>(x, k)", {"x": F}, ["Where"],
    ),
    (
        "trilu-dynamic", 14, 13, "(float[b,r,c] x, int64 k) => (float[b,r,c] y)",
        "y = Trilu(x, k)", {"x": F, "k": np.array(-1)},
        ["Shape", "Gather", "Range", "Unsqueeze", "Gather", "Range", "Unsqueeze", "Sub", "Cast",
         "Less", "Where"],
    ),
    (
        "relu-int", 14, 12, "(int32[4] x) => (int32[4] y)", "y = Relu(x)",
        {"x": np.array([-2, 0, 3, -(2**31)], np.int32)}, ["Max"],
    ),
    (
        "hard-swish", 14, 13, "(float[2,3,4] x) => (float[2,3,4] y)", "y = HardSwish(x)",
        {"x": F * 3}, ["HardSigmoid", "Mul"],
    ),
    (
        "shape-slice", 15, 14, "(float[2,3,4] x) => (int64[1] y)",
        "y = Shape<start = -2, end = -1>(x)", {"x": F}, ["Shape", "Slice"],
    ),
    (
        "shape-from-first", 15, 14, "(float[2,3,4] x) => (int64[3] y)",
        "y = Shape<start = 0>(x)", {"x": F}, ["Shape"],
    ),
    (
        "shape-clamped", 15, 14, "(float[2,3,4] x) => (int64[3] y)",
        "y = Shape<start = -7, end = 3>(x)", {"x": F}, ["Shape"],
    ),
    (
        "cast-like", 15, 14, "(float[2,3,4] x, int32[1] t) => (int32[2,3,4] y)",
        "y = CastLike(x, t)", {"x": F * 9, "t": np.zeros(1, np.int32)}, ["Cast"],
    ),
    (
        "cast-saturate", 19, 18, "(float[2,3,4] x) => (int32[2,3,4] y)",
        "y = Cast<to = 6, saturate = 1>(x)", {"x": F * 9}, ["Cast"],
    ),
    (
        "grid-sample-names", 20, 19, "(float[1,2,6,6] x, float[1,2,2,2] g) => (float[1,2,2,2] y)",
        "y = GridSample<mode = \"cubic\">(x, g)",
        {"x": IMAGE, "g": np.clip(F.reshape(-1)[:8].reshape(1, 2, 2, 2), -1, 1)}, ["GridSample"],
    ),
    (
        "batch-norm", 14, 13,
        "(float[2,3,4] x, float[3] s, float[3] b, float[3] m, float[3] v) => (float[2,3,4] y)",
        "y = BatchNormalization<training_mode = 0>(x, s, b, m, v)",
        {"x": F, "s": F[0, :, 0], "b": F[0, :, 1], "m": F[0, :, 2], "v": F[0, :, 3] ** 2},
        ["BatchNormalization"],
    ),
    (
        "scatter-none", 18, 13,
        "(float[2,3,4] x, int64[1,1] i, float[1,3,4] u) => (float[2,3,4] y)",
        "y = ScatterND<reduction = \"none\">(x, i, u)",
        {"x": F, "i": np.array([[1]]), "u": F[:1]}, ["ScatterND"],
    ),
    (
        "average-pool", 22, 18, "(float[1,2,6,6] x) => (float[1,2,3,3] y)",
        "y = AveragePool<kernel_shape = [2, 2], strides = [2, 2], dilations = [1, 1],"
        " ceil_mode = 1>(x)", {"x": IMAGE}, ["AveragePool"],
    ),
    (
        "constant-list", 12, 11, "(float[2,3,4] x) => (float[2,4,3] y)",
        "s = Constant<value_ints = [2, 4, 3]>() y = Reshape(x, s)", {"x": F},
        ["Reshape"],
    ),
    (
        "clip-int", 12, 11, "(int64[4] x, int64 l, int64 h) => (int64[4] y)", "y = Clip(x, l, h)",
        {"x": np.array([-9, 0, 5, 99]), "l": np.array(-1), "h": np.array(7)},
        ["Less", "Where", "Greater", "Where"],
    ),
    (
        "max-int", 12, 11, "(int64[4] x, int64[1] l) => (int64[4] y)", "y = Max(x, l)",
        {"x": np.array([-9, 0, 5, 99]), "l": np.array([3])}, ["Less", "Where"],
    ),
    (
        "min-int", 12, 11, "(int64[4] x, int64[1] l) => (int64[4] y)", "y = Min(x, l)",
        {"x": np.array([-9, 0, 5, 99]), "l": np.array([3])}, ["Greater", "Where"],
    ),
    (
        "pow-int-exponent", 12, 11, "(float[2,3,4] x) => (float[2,3,4] y)",
        "e = Constant<value = int64 {2}>() y = Pow(x, e)", {"x": F}, ["Pow"],
    ),
    (
        "pow-int-base", 12, 11, "(int64[4] x) => (int64[4] y)",
        "e = Constant<value = int64 {3}>() y = Pow(x, e)", {"x": np.array([-9, 0, 5, 99])},
        ["Mul", "Mul"],
    ),
    (
        "greater-or-equal", 12, 11, "(float[4] x, float[4] z) => (bool[4] y)",
        "y = GreaterOrEqual(x, z)",
        {"x": np.array([1, 2, np.nan, 0], np.float32), "z": np.array([1, 3, 1, -0.0], np.float32)},
        ["Greater", "Equal", "Or"],
    ),
    (
        "dropout", 13, 11, "(float[2,3,4] x) => (float[2,3,4] y, bool[2,3,4] m)",
        "r = Constant<value = float {0.25}>() y, m = Dropout<seed = 3>(x, r)", {"x": F},
        ["Dropout", "Shape", "ConstantOfShape"],
    ),
    (
        "dequantize-axis", 13, 12,
        "(uint8[2,3,4] x, float[3] s, uint8[3] z) => (float[2,3,4] y)",
        "y = DequantizeLinear<axis = 1>(x, s, z)",
        {"x": np.arange(24, dtype=np.uint8).reshape(2, 3, 4),
         "s": np.array([0.5, 2, 0.1], np.float32), "z": np.array([0, 9, 128], np.uint8)},
        ["Cast", "Cast", "Unsqueeze", "Sub", "Unsqueeze", "Mul"],
    ),
    (
        "quantize-axis", 13, 12, "(float[2,3,4] x, float[3] s, int8[3] z) => (int8[2,3,4] y)",
        "y = QuantizeLinear<axis = -2>(x, s, z)",
        {"x": F * 20, "s": np.array([0.5, 2, 0.1], np.float32),
         "z": np.array([0, 9, -128], np.int8)},
        ["Unsqueeze", "Div", "Round", "Cast", "Unsqueeze", "Add", "Clip", "Cast"],
    ),
    (
        "quantize-new-attribute", 19, 18, "(float[2,3,4] x) => (uint8[2,3,4] y)",
        "s = Constant<value = float {0.25}>() z = Constant<value = uint8 {9}>() "
        "y = QuantizeLinear<saturate = 1>(x, s, z)", {"x": F},
        ["QuantizeLinear"],
    ),
    (
        "batch-normalization-new-attribute", 14, 13, "(float[2,3,4] x) => (float[2,3,4] y)",
        "s = Constant<value = float[3] {1, 2, 3}>() m = Constant<value = float[3] {0, 1, 2}>() "
        "y = BatchNormalization<training_mode = 0>(x, s, m, m, s)", {"x": F},
        ["BatchNormalization"],
    ),
    (
        "shape-new-attribute", 15, 14, "(float[2,3,4] x) => (int64[3] y)",
        "y = Shape<start = 0>(x)", {"x": F}, ["Shape"],
    ),
    (
        "quantize-one-scale", 13, 12, "(float[2,3,4] x, float[1] s, int8[1] z) => (int8[2,3,4] y)",
        "y = QuantizeLinear(x, s, z)",
        {"x": F * 20, "s": np.array([0.5], np.float32), "z": np.array([3], np.int8)},
        ["Squeeze", "Squeeze", "QuantizeLinear"],
    ),
    (
        "gather-negative", 11, 10, "(float[2,3,4] x, int64[2] i) => (float[2,3,2] y)",
        "y = Gather<axis = -1>(x, i)", {"x": F, "i": np.array([-1, 1])},
        ["Less", "Add", "Where", "Gather"],
    ),
    (
        "gather-constant", 11, 10, "(float[n,3,4] x) => (float[n,4] y)",
        "i = Constant<value = int64 {-2}>() y = Gather<axis = 1>(x, i)", {"x": F}, ["Gather"],
    ),
    (
        "scatter-elements", 11, 10,
        "(float[2,3,4] x, int64[1,1,1] i, float[1,1,1] u) => (float[2,3,4] y)",
        "y = ScatterElements<axis = 1>(x, i, u)",
        {"x": F, "i": np.array([[[-1]]]), "u": F[:1, :1, :1]}, ["Less", "Add", "Where", "Scatter"],
    ),
    (
        "one-hot-negative", 11, 10, "(int64[3] i, float[2] v) => (float[3,4] y)",
        "d = Constant<value = int64 {4}>() y = OneHot(i, d, v)",
        {"i": np.array([-1, 2, -9]), "v": np.array([0, 5], np.float32)},
        ["Less", "Add", "Where", "Less", "Where", "OneHot"],
    ),
    (
        "gemm", 11, 10, "(float[3,4] x) => (float[3,3] y)", "y = Gemm<transB = 1>(x, x)",
        {"x": F[0]}, ["Gemm"],
    ),
    (
        "clip", 11, 10, "(float[2,3,4] x) => (float[2,3,4] y)",
        "l = Constant<value = float {-0.5}>() y = Clip(x, l)", {"x": F}, ["Clip"],
    ),
    (
        "clip-computed", 11, 10, "(float[2,3,4] x, float h) => (float[2,3,4] y)",
        "y = Clip(x, , h)", {"x": F, "h": np.array(0.25, np.float32)}, ["Min"],
    ),
    (
        "pad", 11, 9, "(float[2,3] x) => (float[4,4] y)",
        "p = Constant<value = int64[4] {1, 0, 1, 1}>() v = Constant<value = float {2.5}>() "
        "y = Pad(x, p, v)", {"x": F[0, :2, :3]}, ["Pad"],
    ),
    (
        "top-k-smallest", 11, 9, "(float[2,3,4] x) => (float[2,2,4] y, int64[2,2,4] i)",
        "k = Constant<value = int64[1] {2}>() y, i = TopK<axis = -2, largest = 0>(x, k)",
        {"x": F}, ["Neg", "TopK", "Neg"],
    ),
    (
        "equal-floats", 11, 10, "(float[4] x, float[4] z) => (bool[4] y)", "y = Equal(x, z)",
        {"x": np.array([1, 2, np.nan, 0], np.float32),
         "z": np.array([1, 3, np.nan, -0.0], np.float32)},
        ["Less", "Greater", "Or", "IsNaN", "IsNaN", "Or", "Or", "Not"],
    ),
    (
        "depth-to-space-crd", 11, 10, "(float[1,8,2,3] x) => (float[1,2,4,6] y)",
        "y = DepthToSpace<blocksize = 2, mode = \"CRD\">(x)",
        {"x": np.arange(48, dtype=np.float32).reshape(1, 8, 2, 3)},
        ["Reshape", "Transpose", "Reshape"],
    ),
    (
        "resize-asymmetric", 11, 9, "(float[1,2,6,6] x) => (float[1,2,12,12] y)",
        "r = Constant<value = float[0] {}>() s = Constant<value = float[4] {1., 1., 2., 2.}>() "
        "y = Resize<coordinate_transformation_mode = \"asymmetric\", nearest_mode = \"floor\">"
        "(x, r, s)", {"x": IMAGE}, ["Upsample"],
    ),
    (
        "negative-axes", 11, 9, "(float[2,3,4] x) => (float[2,1,1,4] y)",
        "m = ReduceMean<axes = [-2]>(x) y = Unsqueeze<axes = [-2]>(m)", {"x": F},
        ["ReduceMean", "Unsqueeze"],
    ),
    (
        "slice", 11, 9, "(float[2,3,4] x) => (float[2,3,2] y)",
        "s = Constant<value = int64[1] {-3}>() e = Constant<value = int64[1] {-1}>() "
        "y = Slice(x, s, e, e)", {"x": F}, ["Slice"],
    ),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=[case[0] for case in CASES])
def test_down(case: tuple[str, int, int, str, str, dict[str, Any], list[str]]) -> None:
    _, opset, target, header, body, feed, ops = case
    proto = model_of(text(opset, header, body))
    assert_converts(proto, target, feed, ops=ops, rtol=2e-6, atol=1e-6)


@pytest.mark.parametrize(
    ("axis", "stash", "kind", "tolerance"),
    [(-1, 1, "float", 1e-5), (1, 1, "float", 1e-5), (-2, 1, "float16", 2e-3)],
)
def test_layer_normalization(axis: int, stash: int, kind: str, tolerance: float) -> None:
    proto = model_of(text(
        17, f"({kind}[2,3,4] x, {kind}[4] s, {kind}[4] b) => ({kind}[2,3,4] y, float[2,d,1] m,"
        " float[2,d,1] v)",
        f"y, m, v = LayerNormalization<axis = {axis}, epsilon = 0.001, stash_type = {stash}>"
        "(x, s, b)",
    ))  # fmt: skip
    dtype = np.float32 if kind == "float" else np.float16
    feed = {"x": (F + 3).astype(dtype), "s": F[0, 0].astype(dtype), "b": F[0, 1].astype(dtype)}
    result = assert_converts(proto, 16, feed, rtol=tolerance, atol=tolerance)
    assert "LayerNormalization" not in {node.op_type for node in result.graph.node}


def test_recurrent_batch_first() -> None:
    # onnxruntime has no kernel for layout 1, so the numbers are those of the layout it has.
    head = "float[1,6,4] w, float[1,6,2] r"
    batch_first = model_of(text(
        14, f"(float[2,3,4] x, {head}, float[2,1,2] h) => (float[2,3,1,2] y, float[2,1,2] z)",
        "y, z = GRU<hidden_size = 2, layout = 1>(x, w, r, , , h)",
    ))  # fmt: skip
    time_first = model_of(text(
        13, f"(float[3,2,4] x, {head}, float[1,2,2] h) => (float[3,1,2,2] y, float[1,2,2] z)",
        "y, z = GRU<hidden_size = 2>(x, w, r, , , h)",
    ))  # fmt: skip
    weights = {"w": F[:1, :1].repeat(6, 1), "r": F[:1, :3, :2].repeat(2, 1)}
    state = F[:, :1, :2]
    result = converted(batch_first, 13)
    check(result)
    given = outputs_of(result, {"x": F, "h": state, **weights})
    wanted = outputs_of(
        time_first, {"x": F.transpose(1, 0, 2), "h": state.transpose(1, 0, 2), **weights}
    )
    np.testing.assert_array_equal(given["y"], wanted["y"].transpose(2, 0, 1, 3))
    np.testing.assert_array_equal(given["z"], wanted["z"].transpose(1, 0, 2))


def test_layer_normalization_keeps_its_digits_far_from_zero() -> None:
    proto = model_of(text(
        17, "(float[1,4] x, float[4] s) => (float[1,4] y)", "y = LayerNormalization(x, s)"
    ))  # fmt: skip
    x = np.array([[10000.0, 10001.0, 10002.0, 10003.0]], np.float32)
    result = assert_converts(proto, 16, {"x": x, "s": np.ones(4, np.float32)}, rtol=1e-3)
    assert "Sub" in {node.op_type for node in result.graph.node}


@pytest.mark.parametrize("shape", [(2, 3, 4), (0, 3, 4)])
def test_reshape_with_zeros(shape: tuple[int, ...]) -> None:
    proto = model_of(text(
        14, "(float[a,b,c] x, int64[2] s) => (float[p,q] y)", "y = Reshape<allowzero = 1>(x, s)"
    ))  # fmt: skip
    wanted = [4, 6] if shape[0] else [7, 0]
    assert_converts(proto, 13, {"x": np.zeros(shape, np.float32), "s": np.array(wanted)})


@pytest.mark.parametrize(
    ("opset", "target", "header", "body", "reason"),
    [
        (16, 15, "(float[3] x, int64[1,1] i, float[1] u) => (float[3] y)",
         'y = ScatterND<reduction = "add">(x, i, u)', "no attribute 'reduction'"),
        (18, 17, "(float[3] x, int64[1,1] i, float[1] u) => (float[3] y)",
         'y = ScatterND<reduction = "max">(x, i, u)', "reduction = 'max'"),
        (18, 17, "(float[1,1,4,4] x, float[4] s) => (float[1,1,a,b] y)",
         'y = Resize<mode = "linear", antialias = 1>(x, , s)', "no antialias"),
        (19, 18, "(float[1,1,n,3] x) => (float[1,1,a,b] y)",
         "y = AveragePool<kernel_shape = [2, 2], dilations = [2, 1]>(x)",
         "the size of spatial axis 0 must be known"),
        (19, 18, "(float[1,1,5,5] x) => (float[1,1,a,b] y)",
         "s = Constant<value = float[4] {1.0, 1.0, 0.5, 0.5}>() y = Resize<mode = \"linear\", "
         'coordinate_transformation_mode = "align_corners">(x, , s)',
         "the scales must give whole pixels with align_corners"),
        (22, 21, "(float[1,1,n,n] x) => (float[1,1,a,b] y)",
         "y = MaxPool<kernel_shape = [1, 1], strides = [2, 2], ceil_mode = 1>(x)",
         "the size of spatial axis 0 must be known"),
        (13, 12, "(float[4] x, int64[1] a) => (float[1,4] y)", "y = Unsqueeze(x, a)",
         "axes must be a constant; it is computed at run time"),
        (12, 11, "(float[2] x, int32[2] e) => (float[2] y)", "y = Pow(x, e)",
         "computed at run time"),
        (10, 9, "(float[1,1,7,7] x) => (float[1,1,9,9] y)",
         "s = Constant<value = float[4] {1.0, 1.0, 1.2857142, 1.2857142}>() y = Resize(x, s)",
         "the result would have shape"),
        (18, 17, "(float[1,1,2] x) => (float[1,1,a] y)",
         "y = LpPool<kernel_shape = [2], dilations = [2]>(x)",
         "windows must fit into spatial axis 0; one is larger"),
        (11, 10, "(bool c, float[2,3] x) => (float[n,3] y)",
         "y = If (c) <then_branch = t () => (float[1,3] a) { a = ReduceSum<axes = [0]>(x) }, "
         "else_branch = e () => (float[2,3] b) { b = Identity(x) }>",
         "the branches of an If give output 0 in different shapes"),
        (11, 12, "(float[4] x) => (float[4] y, bool[4] m)", "y, m = Dropout(x)",
         "opset 11 does not say what it is"),
    ],
)  # fmt: skip
def test_refused(opset: int, target: int, header: str, body: str, reason: str) -> None:
    (given,) = reasons(model_of(text(opset, header, body)), target)
    assert reason in given


def test_bfloat16_goes_through_float32() -> None:
    proto = model_of(text(16, "(float[4] x) => (float[4] y)",
                          "a = Cast<to = 16>(x) b = LeakyRelu(a) y = Cast<to = 1>(b)"))  # fmt: skip
    result = assert_converts_without_running(proto, 15)
    assert result == ["Cast", "Cast", "LeakyRelu", "Cast", "Cast"]


def assert_converts_without_running(proto: Any, version: int) -> list[str]:
    """Return the operators after a conversion that onnxruntime has no kernels for."""
    result = converted(proto, version)
    check(result)
    return [node.op_type for node in result.graph.node]


def test_roi_align_keeps_its_old_reading() -> None:
    header = "(float[1,2,6,6] x, float[1,4] r, int64[1] b) => (float[1,2,2,2] y)"
    proto = model_of(text(10, header, "y = RoiAlign<output_height = 2, output_width = 2>(x, r, b)"))
    feed = {"x": IMAGE, "r": np.array([[0, 0, 3.5, 4]], np.float32), "b": np.array([0])}
    result = assert_converts(proto, 16, feed, ops=["RoiAlign"], rtol=1e-6)
    written = {a.name: a.s for a in result.graph.node[0].attribute}
    assert written["coordinate_transformation_mode"] == b"output_half_pixel"
    assert_converts(result, 10, feed, ops=["RoiAlign"], rtol=1e-6)
