"""reduce-axes-explicit: no axes means nothing or everything."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphfix.testing import assert_rewrite, outputs_of
from tests.passes.shape_models import text

PASS = "reduce-axes-explicit"
OPS = ("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd")
X = np.array([[1, 2, 3], [-4, 5, 6]], np.float32)


@pytest.mark.parametrize("op", OPS)
def test_idle_without_axes(op: str) -> None:
    model = text(
        f"g (float[N,3] x) => (float[N,3] y) {{ y = {op} <noop_with_empty_axes = 1> (x) }}", 18
    )
    done = assert_rewrite(PASS, model, feeds=[{"x": X}], after=["Identity"])
    np.testing.assert_array_equal(outputs_of(done.after, {"x": X})["y"], X)


@pytest.mark.parametrize("op", OPS)
@pytest.mark.parametrize("keepdims", [0, 1])
@pytest.mark.parametrize("opset", [18, 20])
def test_an_empty_list_is_every_axis(op: str, keepdims: int, opset: int) -> None:
    out = "float[1,1]" if keepdims else "float"
    model = text(
        f"g (float[N,3] x) => ({out} y) <int64[0] a = {{}}> "
        f"{{ y = {op} <keepdims = {keepdims}> (x, a) }}",
        opset,
    )
    done = assert_rewrite(PASS, model, feeds=[{"x": X}], after=[op], rtol=1e-6)
    wanted = {
        "ReduceSum": X.sum(),
        "ReduceMean": X.mean(),
        "ReduceMax": X.max(),
        "ReduceMin": X.min(),
        "ReduceProd": X.prod(),
    }[op]
    assert float(outputs_of(done.after, {"x": X})["y"].reshape(())) == pytest.approx(wanted)


@pytest.mark.parametrize("opset", [13, 17])
def test_sum_of_opset_13(opset: int) -> None:
    model = text(
        "g (int32[N,3] x) => (int32 y) <int64[0] a = {}> { y = ReduceSum <keepdims = 0> (x, a) }",
        opset,
    )
    feed = {"x": X.astype(np.int32)}
    done = assert_rewrite(PASS, model, feeds=[feed], after=["ReduceSum"])
    assert int(outputs_of(done.after, feed)["y"]) == 13


@given(sizes=st.lists(st.integers(1, 3), max_size=4), keepdims=st.integers(0, 1))
def test_any_rank(sizes: list[int], keepdims: int) -> None:
    out = ",".join("1" for _ in sizes) if keepdims else ""
    model = text(
        f"g (int64[{','.join(map(str, sizes))}] x) => (int64[{out}] y) <int64[0] a = {{}}> "
        f"{{ y = ReduceSum <keepdims = {keepdims}> (x, a) }}"
    )
    for info in (model.graph.input[0], model.graph.output[0]):
        info.type.tensor_type.shape.SetInParent()
    x = np.arange(int(np.prod(sizes))).reshape(sizes)
    done = assert_rewrite(PASS, model, feeds=[{"x": x}])
    assert int(outputs_of(done.after, {"x": x})["y"].reshape(())) == int(x.sum())
