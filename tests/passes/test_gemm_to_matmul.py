"""gemm-to-matmul: product, factors and bias in nodes of their own."""

import numpy as np
import pytest
from onnx import parser

import graphfix
from graphfix.report import Verdict
from graphfix.testing import assert_refused, assert_rewrite, outputs_of
from tests.passes.lowering_models import PLACES, written

PASS = "gemm-to-matmul"
KINDS = {"float": np.float32, "double": np.float64, "float16": np.float16}
RNG = np.random.default_rng(0)
A, B, C = (RNG.integers(-4, 5, size).astype(np.float32) for size in [(2, 3), (3, 4), (4,)])


@pytest.mark.parametrize("dtype", sorted(KINDS))
@pytest.mark.parametrize("opset", [7, 11, 17])
def test_values(opset: int, dtype: str) -> None:
    model = written(
        "@y = Gemm <alpha = 0.5, beta = 2.0> (a, b, c)",
        f"{dtype}[N,3] a, {dtype}[3,4] b, {dtype}[4] c",
        f"{dtype}[N,4]",
        opset=opset,
    )
    feed = {name: array.astype(KINDS[dtype]) for name, array in zip("abc", (A, B, C), strict=True)}
    done = assert_rewrite(
        PASS, model, feeds=[feed], after=["MatMul", "Mul", "Mul", "Add"], rtol=1e-6, atol=1e-6
    )
    np.testing.assert_allclose(outputs_of(done.after, feed)["y"], 0.5 * A @ B + 2 * C)


@pytest.mark.parametrize("place", PLACES)
def test_transposed_without_a_bias(place: str) -> None:
    body = "@y = Gemm <transA = 1, transB = 1> (a, b)"
    model = written(body, "float[3,2] a, float[4,3] b", "float[2,4]", place=place)
    feed = {"a": A.T.copy(), "b": B.T.copy()}
    feed |= {"c": np.array(False)} if place == "branch" else {}
    done = assert_rewrite(PASS, model, feeds=[feed], rtol=1e-6)
    np.testing.assert_allclose(outputs_of(done.after, feed)["y"], A @ B)


@pytest.mark.parametrize("target", ["trt8.6", "ort-1.31"])
def test_products_of_rank_3_are_found_and_written_out(target: str) -> None:
    product = (
        '<ir_version: 8, opset_import: ["" : 17]> g (float[2,3,4] x, float[4,5] w, float[5] b) '
        "=> (float[2,3,5] y) { y = Gemm (x, w, b) }"
    )
    found = graphfix.check(parser.parse_model(product), target)
    assert "rank:Gemm.3" in {finding.feature for finding in found}
    done = graphfix.run(parser.parse_model(product), target)
    assert (done.exit_code, done.report.verification.status) == (0, Verdict.EQUAL)


def test_a_vector_keeps_its_row() -> None:
    """onnxruntime runs it as one row, and gives a matrix."""
    vector = (
        '<ir_version: 8, opset_import: ["" : 17]> g (float[4] x, float[4,5] w) => (float[] y) '
        "{ y = Gemm (x, w) }"
    )
    assert_refused(PASS, vector, "it is a vector")
