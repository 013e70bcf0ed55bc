"""dequantize-weights-of-floats: no product in 8 bits is left, so that its weights are floats."""

from typing import Any

import numpy as np
import onnx
import pytest

import graphfix
from graphfix.testing import outputs_of, parse

PASS = "dequantize-weights-of-floats"
# A pair that TensorRT refuses for its zero point, and one of int8 around 0.
ASYMMETRIC = "uint8 z = {7}"
SYMMETRIC = "int8 z = {0}"


def model(
    zero: str, product: str, shape: str, w: str = "int8[3, 3] w = {1,2,3,4,5,6,7,8,-9}"
) -> Any:
    return parse(
        f'<ir_version: 8, opset_import: ["" : 17]> g (float{shape} x) => (float y) '
        f"<float s = {{0.1}}, {zero}, {w}, float t = {{0.02}}, int8 o = {{0}}> {{"
        "q = QuantizeLinear (x, s, z) a = DequantizeLinear (q, s, z)"
        f" b = DequantizeLinear (w, t, o) {product} }}"
    )


def run(before: onnx.ModelProto) -> tuple[list[str], onnx.ModelProto]:
    done = graphfix.run(before, target="trt8")
    assert done.exit_code == 0
    applied = [one.pass_id for one in done.report.outcomes if one.status.value == "applied"]
    assert done.model is not None
    return applied, done.model.to_proto()


def dequantized(after: onnx.ModelProto) -> int:
    return sum(node.op_type == "DequantizeLinear" for node in after.graph.node)


X = np.linspace(-3, 30, 6).astype(np.float32).reshape(2, 3)


@pytest.mark.parametrize(
    "product",
    [
        "y = MatMul (a, b)",
        "y = Gemm <transB = 1> (a, b)",
        "r = Reshape (a, n) y = MatMul (r, b)",
        "u = Transpose (b) y = MatMul (a, u)",
        "c = MatMul (a, b) d = MatMul (a, b) y = Add (c, d)",
    ],
)
def test_weights_become_constants(product: str) -> None:
    before = model(ASYMMETRIC + ", int64[2] n = {-1, 3}", product, "[N, 3]")
    applied, after = run(before)
    assert PASS in applied
    assert not dequantized(after)
    # Integers times scales: what differs is the order in which three products are added.
    given, wanted = (outputs_of(each, {"x": X})["y"] for each in (after, before))
    np.testing.assert_allclose(given, wanted, rtol=1e-6, atol=1e-6)


def test_convolutions_with_a_scale_for_each_channel() -> None:
    w = "int8[2, 1, 2, 2] w = {1,2,3,4,-5,6,7,8}, float[2] v = {0.5, 0.25}, int8[2] p = {0, 0}"
    product = "e = DequantizeLinear <axis = 0> (w, v, p) y = Conv (a, e)"
    before = model(ASYMMETRIC, product, "[N, 1, 4, 4]", w)
    applied, after = run(before)
    assert PASS in applied
    held = {one.name: onnx.numpy_helper.to_array(one) for one in after.graph.initializer}
    weights = next(held[n.input[1]] for n in after.graph.node if n.op_type == "Conv")
    np.testing.assert_array_equal(weights[:, 0, 0], np.array([[0.5, 1], [-1.25, 1.5]], np.float32))


@pytest.mark.parametrize(
    ("zero", "product"),
    [
        (SYMMETRIC, "y = MatMul (a, b)"),  # stays in 8 bits
        (ASYMMETRIC, "c = MatMul (a, b) y = Add (c, b)"),  # something else reads the weights
        (ASYMMETRIC, "c = MatMul (x, b) y = Add (c, a)"),  # was a product of floats before
        (ASYMMETRIC, "c = MatMul (b, b) y = Add (c, a)"),
    ],
)
def test_others_stay(zero: str, product: str) -> None:
    applied, after = run(model(zero, product, "[3, 3]"))
    assert PASS not in applied
    assert dequantized(after) >= 1


def test_in_a_branch() -> None:
    inner = (
        "q = QuantizeLinear (x, s, z) a = DequantizeLinear (q, s, z)"
        " b = DequantizeLinear (w, t, o) {0} = MatMul (a, b)"
    )
    text = (
        '<ir_version: 8, opset_import: ["" : 17]> g (bool c, float[N, 3] x) => (float[N, 3] y) '
        "<float s = {0.1}, uint8 z = {7}, int8[3, 3] w = {1,2,3,4,5,6,7,8,-9}, float t = {0.02},"
        " int8 o = {0}> { y = If (c) <then_branch = g1 () => (float[N, 3] m) {"
        + inner.format("m")
        + "}, else_branch = g2 () => (float[N, 3] k) { k = Neg (x) }> }"
    )
    applied, after = run(parse(text))
    assert PASS in applied
    branch = next(a.g for a in after.graph.node[0].attribute if a.name == "then_branch")
    assert not [node for node in branch.node if node.op_type == "DequantizeLinear"]


def test_large_constants_are_refused() -> None:
    before = model(ASYMMETRIC, "y = MatMul (a, b)", "[N, 3]")
    done = graphfix.run(before, target="trt8", options={f"{PASS}.max_elements": 4})
    reasons = [one.reason for one in done.report.outcomes if one.pass_id == PASS]
    assert reasons == ["w must have at most max_elements elements; it has more"]
    assert done.model is not None
    assert dequantized(done.model.to_proto()) == 1
