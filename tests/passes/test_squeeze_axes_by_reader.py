"""squeeze-axes-by-reader: what reads the result says how many axes go."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import graphfix
from graphfix.testing import assert_refused, assert_rewrite, assert_untouched, outputs_of, parse
from tests.passes.shape_models import text

PASS = "squeeze-axes-by-reader"
GEMM = "g (float[A,B,1,1] x, float[4,3] w) => (float[C,D] y) { s = Squeeze (x) y = Gemm (s, w) }"


def numbers(*shape: int, dtype: Any = np.float32) -> Any:
    return np.random.default_rng(3).integers(-4, 5, shape).astype(dtype)


@pytest.mark.parametrize("opset", [11, 13, 21])
@pytest.mark.parametrize("batch", [2, 5])
def test_gemm_takes_a_matrix(opset: int, batch: int) -> None:
    feed = {"x": numbers(batch, 4, 1, 1), "w": numbers(4, 3)}
    done = assert_rewrite(PASS, text(GEMM, opset), feeds=[feed], after=["Squeeze", "Gemm"])
    np.testing.assert_array_equal(
        outputs_of(done.after, feed)["y"], feed["x"].reshape(batch, 4) @ feed["w"]
    )


@pytest.mark.parametrize(
    ("body", "shape", "result"),
    [
        ("y = Transpose <perm = [1, 0]> (s)", (3, 1, 4), (4, 3)),
        ("y = MaxPool <kernel_shape = [2]> (s)", (2, 3, 1, 4), (2, 3, 3)),
        ("y = AveragePool <kernel_shape = [2]> (s)", (2, 3, 1, 4), (2, 3, 3)),
        ("k = Constant <value = float[1,3,2] {1,2,3,4,5,6}> () y = Conv (s, k)", (2, 3, 1, 4),
         (2, 1, 3)),
    ],
)  # fmt: skip
def test_what_else_takes_one_rank(
    body: str, shape: tuple[int, ...], result: tuple[int, ...]
) -> None:
    names = ",".join("1" if size == 1 else f"N{axis}" for axis, size in enumerate(shape))
    outs = ",".join(f"M{axis}" for axis in range(len(result)))
    model = text(f"g (float[{names}] x) => (float[{outs}] y) {{ s = Squeeze (x) {body} }}")
    done = assert_rewrite(PASS, model, feeds=[{"x": numbers(*shape)}])
    assert outputs_of(done.after, {"x": numbers(*shape)})["y"].shape == result


@pytest.mark.parametrize("dtype", ["float16", "double", "int32", "bool"])
def test_any_type(dtype: str) -> None:
    model = text(
        f"g ({dtype}[A,1,B] x) => ({dtype}[C,D] y) {{ s = Squeeze (x)"
        " y = Transpose <perm = [1, 0]> (s) }"
    )
    kind = {"double": "float64"}.get(dtype, dtype)
    assert_rewrite(PASS, model, feeds=[{"x": numbers(2, 1, 3, dtype=kind)}])


def test_in_a_branch() -> None:
    model = text(
        "g (bool c, float[A,1,B] x) => (float[C,D] y) { y = If (c) <then_branch = t () =>"
        " (float[E,F] p) { s = Squeeze (x) p = Transpose <perm = [1, 0]> (s) }, else_branch = e ()"
        " => (float[E,F] q) { one = Constant <value_ints = [1]> ()"
        " q = ReduceSum <keepdims = 0> (x, one) }> }"
    )
    feeds = [{"c": np.array(chosen), "x": numbers(2, 1, 3)} for chosen in (True, False)]
    assert_rewrite(PASS, model, feeds=feeds)


@pytest.mark.parametrize(
    ("graph", "reason"),
    [
        ("g (float[A,B,1] x) => (float[M] y) { s = Squeeze (x) y = Relu (s) }", "takes several"),
        (
            "g (float[A,B,C] x) => (float[M,N] y) { s = Squeeze (x)"
            " y = Transpose <perm = [1, 0]> (s) }",
            "must be given rank 2; the sizes known to be 1 leave rank 3",
        ),
        (
            "g (float[A,1,1,B] x) => (float[M,N,O] y) { s = Squeeze (x)"
            " y = Transpose <perm = [1, 0, 2]> (s) }",
            "must be given rank 3; the sizes known to be 1 leave rank 2",
        ),
    ],
)
def test_refused(graph: str, reason: str) -> None:
    assert_refused(PASS, text(graph), reason)


@pytest.mark.parametrize(
    "graph",
    [
        "g (float[2,1,4] x) => (float[4,2] y) { s = Squeeze (x) y = Transpose <perm = [1,0]> (s) }",
        "g (float[A,1,4] x) => (float[4,B] y) { k = Constant <value_ints = [1]> ()"
        " s = Squeeze (x, k) y = Transpose <perm = [1, 0]> (s) }",
        "g (float[A,1,4] x) => (float[M,N] y) { y = Squeeze (x) }",
    ],
)
def test_left_alone(graph: str) -> None:
    assert_untouched(PASS, text(graph))


@given(st.integers(2, 4), st.integers(2, 4))
def test_any_sizes(rows: int, columns: int) -> None:
    model = text(
        "g (float[A,1,B] x) => (float[C,D] y) { s = Squeeze (x) y = Transpose <perm = [1, 0]> (s) }"
    )
    assert_rewrite(PASS, model, feeds=[{"x": numbers(rows, 1, columns)}])


def test_for_tensorrt() -> None:
    result = graphfix.run(parse(text(GEMM)), "trt8.6")
    assert result.exit_code == 0
    assert [node.op_type for node in result.model.to_proto().graph.node] == ["Squeeze", "Gemm"]
