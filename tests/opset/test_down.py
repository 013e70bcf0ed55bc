"""One case per adapter and verdict on the way down, against onnxruntime on the source."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from graphfix.testing import outputs_of
from tests.opset.conversion import assert_converts, check, converted, model_of

RNG = np.random.default_rng(7)
F = RNG.normal(size=(2, 3, 4)).astype(np.float32)
IMAGE = RNG.normal(size=(1, 2, 6, 6)).astype(np.float32)


def text(opset: int, header: str, body: str) -> str:
    return f'<ir_version: 8, opset_import: ["" : {opset}]>\ng {header}\n{{ {body} }}'


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
