"""fused-matmul-to-matmul: transpositions and a factor around a product."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphfix.testing import assert_rewrite, outputs_of
from tests.passes.lowering_models import PLACES, written

PASS = "fused-matmul-to-matmul"
MS = ', "com.microsoft" : 1'


def body(**attributes: float) -> str:
    listed = ", ".join(f"{name} = {value}" for name, value in attributes.items())
    return f"@y = com.microsoft.FusedMatMul <{listed}> (a, b)"


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("opset", [11, 17, 21])
@pytest.mark.parametrize("flags", [(0, 0), (0, 1), (1, 0), (1, 1)])
def test_transpositions(flags: tuple[int, int], opset: int, place: str) -> None:
    if place == "function" and opset < 13:
        pytest.skip("local functions came with IR 8; older opsets have none in practice")
    rng = np.random.default_rng(0)
    a = rng.standard_normal((2, 3, 4)).astype(np.float32)
    b = rng.standard_normal((2, 4, 5)).astype(np.float32)
    feed = {
        "a": a.swapaxes(1, 2).copy() if flags[0] else a,
        "b": b.swapaxes(1, 2).copy() if flags[1] else b,
    }
    sizes = [", ".join(map(str, feed[name].shape[1:])) for name in ("a", "b")]
    text = written(body(alpha=0.5, transA=flags[0], transB=flags[1]),
                   f"float[N, {sizes[0]}] a, float[N, {sizes[1]}] b", "float[N, 3, 5]",
                   opset=opset, place=place, imports=MS)  # fmt: skip
    if place == "branch":
        feed["c"] = np.array(True)
    done = assert_rewrite(PASS, text, feeds=[feed], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(
        outputs_of(done.after, feed)["y"], 0.5 * (a @ b), rtol=1e-5, atol=1e-6
    )


@pytest.mark.parametrize("flags", [(0, 0), (1, 0), (0, 1), (1, 1)])
def test_batches_after_the_rows(flags: tuple[int, int]) -> None:
    rng = np.random.default_rng(1)
    a = rng.standard_normal((2, 3, 4)).astype(np.float32)
    b = rng.standard_normal((2, 4, 5)).astype(np.float32)
    # With batches after them the rows (or, where they are transposed too, the columns) come first.
    turned = [np.swapaxes(x, 1, 2) if f else x for x, f in zip((a, b), flags, strict=True)]
    feed = {n: np.moveaxis(x, 0, 1).copy() for n, x in zip("ab", turned, strict=True)}
    sizes = [", ".join(map(str, x.shape)) for x in feed.values()]
    text = written(
        body(transBatchA=1, transBatchB=1, transA=flags[0], transB=flags[1]),
        f"float[{sizes[0]}] a, float[{sizes[1]}] b", "float[2, 3, 5]", imports=MS,
    )  # fmt: skip
    done = assert_rewrite(PASS, text, feeds=[feed], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(outputs_of(done.after, feed)["y"], a @ b, rtol=1e-5, atol=1e-6)


@given(st.integers(1, 4), st.integers(1, 4), st.integers(0, 1), st.sampled_from([0.25, -2.0]))
def test_any_sizes(rows: int, inner: int, turned: int, alpha: float) -> None:
    shape = (inner, rows) if turned else (rows, inner)
    inputs = f"float[{shape[0]}, {shape[1]}] a, float[{inner}, 3] b"
    text = written(body(alpha=alpha, transA=turned), inputs, f"float[{rows}, 3]", imports=MS)
    rng = np.random.default_rng(rows)
    feed = {"a": rng.standard_normal(shape).astype(np.float32),
            "b": rng.standard_normal((inner, 3)).astype(np.float32)}  # fmt: skip
    assert_rewrite(PASS, text, feeds=[feed], rtol=1e-5, atol=1e-5)
