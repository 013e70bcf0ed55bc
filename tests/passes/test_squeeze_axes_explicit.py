"""squeeze-axes-explicit: the axes that go are the ones that the sizes say."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import helper, numpy_helper

from graphfix.testing import assert_rewrite
from tests.passes.shape_models import text

PASS = "squeeze-axes-explicit"


def zeros(*shape: int, dtype: str = "float32") -> dict[str, Any]:
    return {"x": np.zeros(shape, dtype)}


@pytest.mark.parametrize("opset", [7, 11, 13, 21])
def test_a_static_shape(opset: int) -> None:
    model = text("g (float[1,3,1,8] x) => (float[3,8] y) { y = Squeeze (x) }", opset)
    done = assert_rewrite(PASS, model, feeds=[zeros(1, 3, 1, 8)], after=["Squeeze"])
    node = done.after.graph.node[0]
    if opset < 13:
        axes = helper.get_attribute_value(node.attribute[0])
    else:
        axes = numpy_helper.to_array(done.after.graph.initializer[0]).tolist()
    assert list(axes) == [0, 2]


def test_the_rank_of_the_output_decides_for_unknown_sizes() -> None:
    model = text("g (float[1,N,1] x) => (float[M] y) { y = Squeeze (x) }")
    done = assert_rewrite(
        PASS, model, feeds=[zeros(1, 4, 1)], after=["Squeeze"],
        no_small_sides="an N of 1 leaves no axis, and the output is declared with one",
    )  # fmt: skip
    assert numpy_helper.to_array(done.after.graph.initializer[0]).tolist() == [0, 2]


@given(sizes=st.lists(st.integers(1, 3), min_size=1, max_size=5).filter(lambda s: 1 in s))
def test_any_shape(sizes: list[int]) -> None:
    left = [size for size in sizes if size != 1]
    model = text(
        f"g (int32[{','.join(map(str, sizes))}] x) => (int32[{','.join(map(str, left))}] y) "
        "{ y = Squeeze (x) }"
    )
    model.graph.output[0].type.tensor_type.shape.SetInParent()
    x = np.arange(int(np.prod(sizes)), dtype=np.int32).reshape(sizes)
    assert_rewrite(PASS, model, feeds=[{"x": x}], after=["Squeeze"])
