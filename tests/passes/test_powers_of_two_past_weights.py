"""powers-of-two-past-weights: small weights and the factor after all that follows."""

import numpy as np
import onnx
import pytest

from graphfix.testing import assert_rewrite, run_pass

PASS = "powers-of-two-past-weights"
HEAD = '<ir_version: 8, opset_import: ["" : {opset}]> g '
IMAGE = "(float[1,1,6,6] x) => (float[A,B,C,D] y) "
# Nine weights of 0.001 leave 0.003, which 256 makes 0.77.
SMALL = ", ".join(["0.001"] * 9)
GIVEN = (
    f"<float[1,1,3,3] w = {{{SMALL}}}, float[1] b = {{0.25}}, float low = {{-0.001}}, "
    "float six = {6.0}> "
)
X = np.linspace(-3, 3, 36, dtype=np.float32).reshape(1, 1, 6, 6)
CONV = "Conv <pads = [1,1,1,1]>"


def _text(body: str, opset: int = 17) -> str:
    return HEAD.format(opset=opset) + IMAGE + GIVEN + f"{{ {body} }}"


def _factors(model: onnx.ModelProto) -> list[float]:
    """Return the factors of products."""
    stored = {held.name: onnx.numpy_helper.to_array(held) for held in model.graph.initializer}
    products = [node for node in model.graph.node if node.op_type == "Mul"]
    return [float(stored[node.input[1]]) for node in products]


def test_one_product() -> None:
    done = assert_rewrite(
        PASS, _text(f"y = {CONV} (x, w)"), feeds=[{"x": X}], after=["Conv", "Mul"]
    )
    assert _factors(done.after) == [1 / 256]


def test_doubles() -> None:
    graph = (
        "(double[3,2] x) => (double[3,1] y) <double[2,1] w = {0.001, 0.003}> { y = MatMul (x, w) }"
    )
    feed = {"x": np.array([[1, -2], [3, 4], [-0.5, 6]])}
    after = ["MatMul", "Mul"]
    done = assert_rewrite(PASS, HEAD.format(opset=17) + graph, feeds=[feed], after=after)
    assert _factors(done.after) == [1 / 256]


@pytest.mark.parametrize(
    ("body", "after"),
    [
        (f"t = {CONV} (x, w) y = Relu (t)", ["Conv", "Relu", "Mul"]),
        (f"t = {CONV} (x, w) y = Clip (t, low, six)", ["Conv", "Clip", "Mul"]),
        (f"t = {CONV} (x, w) y = MaxPool <kernel_shape = [2,2]> (t)", ["Conv", "MaxPool", "Mul"]),
        (f"t = {CONV} (x, w) u = Neg (t) y = Relu (u)", ["Conv", "Mul", "Neg", "Relu"]),
        (f"t = {CONV} (x, w, b) y = Relu (t)", ["Conv", "Relu", "Mul"]),
        (f"t = {CONV} (x, w) y = Add (t, x)", ["Conv", "Mul", "Add"]),
        (f"t = {CONV} (x, w) u = Relu (x) r = {CONV} (u, w) y = Sub (t, r)",
         ["Conv", "Conv", "Relu", "Sub", "Mul"]),
    ],
)  # fmt: skip
def test_what_follows(body: str, after: list[str]) -> None:
    done = assert_rewrite(PASS, _text(body), feeds=[{"x": X}], rtol=1e-6)
    assert sorted(done.ops) == sorted(after)
    assert _factors(done.after).count(1 / 256) == 1


def test_limits_that_are_attributes() -> None:
    body = f"t = {CONV} (x, w) y = Clip <min = -0.001, max = 6.0> (t)"
    done = assert_rewrite(PASS, _text(body, 10), feeds=[{"x": X}], after=["Conv", "Clip", "Mul"])
    clip = next(node for node in done.after.graph.node if node.op_type == "Clip")
    limits = {attribute.name: attribute.f for attribute in clip.attribute}
    assert limits == {"min": np.float32(-0.001) * 256, "max": 1536}


def test_a_sum_of_two_scales() -> None:
    """The larger factor is that of the sum; the other part has what is between them."""
    body = f"a = {CONV} (x, w) c = {CONV} (a, w) y = Add (a, c)"
    ops = ["Conv", "Conv", "Mul", "Add", "Mul"]
    done = assert_rewrite(PASS, _text(body), feeds=[{"x": X}], after=ops, rtol=1e-6)
    assert _factors(done.after) == [1 / 256, 1 / 256]


def test_a_factor_that_float16_lacks_is_taken_in_steps() -> None:
    body = f"a = {CONV} (x, w) c = {CONV} (a, w) y = {CONV} (c, w)"
    ops = ["Conv", "Conv", "Conv", "Mul", "Neg", "Sub", "Mul"]
    done = assert_rewrite(PASS, _text(body), feeds=[{"x": X}], after=ops, rtol=1e-6)
    assert _factors(done.after) == [2.0**-14, 2.0**-11]


@pytest.mark.parametrize("transposed", [0, 1])
def test_rows(transposed: int) -> None:
    sizes, numbers = ("2,3", "3,2")[transposed], "0.001, 0.002, -0.003, 0.004, 0.005, 0.006"
    sizes = "3,2" if transposed else "2,3"
    text = (
        f"(float[4,2] x) => (float[4,3] y) <float[{sizes}] w = {{{numbers}}}, float[3] c = "
        f"{{1, 2, 3}}> {{ y = Gemm <transB = {transposed}> (x, w, c) }}"
    )
    feed = {"x": np.linspace(-3, 3, 8, dtype=np.float32).reshape(4, 2)}
    done = assert_rewrite(
        PASS, HEAD.format(opset=17) + text, feeds=[feed], after=["Gemm", "Mul"], rtol=1e-6
    )
    assert _factors(done.after) == [1 / 256]


def test_a_bias_that_would_be_infinite() -> None:
    body = f"a = {CONV} (x, w) y = {CONV} (a, w, b)"
    text = _text(body).replace("0.25", "3e38")
    done = run_pass(PASS, text)
    assert done.ops == ["Conv", "Mul", "Conv"]
    assert done.reasons == ["the bias divided by 1.53e-05 must be finite; it overflows"]
