"""split-sizes-explicit: Split-18 in unequal parts, with its sizes written out."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import numpy_helper

from graphfix.testing import assert_refused, assert_rewrite, outputs_of
from tests.passes.shape_models import text

PASS = "split-sizes-explicit"


@pytest.mark.parametrize("opset", [18, 21])
@pytest.mark.parametrize("dtype", ["float", "int64", "bool"])
def test_the_last_part_is_smaller(opset: int, dtype: str) -> None:
    model = text(
        f"g ({dtype}[N,8] x) => ({dtype}[N,3] a, {dtype}[N,3] b, {dtype}[N,2] c) "
        "{ a, b, c = Split <axis = -1, num_outputs = 3> (x) }",
        opset,
    )
    x = np.arange(16).reshape(2, 8).astype({"float": "float32"}.get(dtype, dtype))
    done = assert_rewrite(PASS, model, feeds=[{"x": x}], after=["Split"])
    assert numpy_helper.to_array(done.after.graph.initializer[0]).tolist() == [3, 3, 2]
    np.testing.assert_array_equal(outputs_of(done.after, {"x": x})["c"], x[:, 6:])


@given(size=st.integers(1, 20), count=st.integers(1, 4))
def test_any_size(size: int, count: int) -> None:
    names = [f"o{i}" for i in range(count)]
    outs = ", ".join(f"int32[D{i}] {n}" for i, n in enumerate(names))
    model = text(
        f"g (int32[{size}] x) => ({outs}) "
        f"{{ {', '.join(names)} = Split <num_outputs = {count}> (x) }}",
        18,
    )
    part = -(-size // count)
    if size - part * (count - 1) <= 0:
        assert_refused(PASS, model, f"the size must make {count} parts; it is {size}")
        return
    x = np.arange(size, dtype=np.int32)
    done = assert_rewrite(PASS, model, feeds=[{"x": x}], after=["Split"])
    joined = np.concatenate(list(outputs_of(done.after, {"x": x}).values()))
    np.testing.assert_array_equal(joined, x)
