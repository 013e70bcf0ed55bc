"""one-hot-depth-as-number: vectors, floats and other integers, at every opset."""

import numpy as np
import pytest

from graphfix.testing import assert_rewrite, outputs_of

PASS = "one-hot-depth-as-number"
INDEX = np.array([0, 3, -1, 7], np.int64)
ROWS = np.array([[1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 0, 1], [0, 0, 0, 0]], np.float32)


def _model(depth: str, opset: int = 13, axis: int = -1, given: str = "int64[4] i") -> str:
    return (
        f'<ir_version: 8, opset_import: ["" : {opset}]> g ({given}) => (float[4,4] y) '
        f"<float[2] v = {{0, 1}}, {depth}> {{ y = OneHot <axis = {axis}> (i, d, v) }}"
    )


@pytest.mark.parametrize("opset", [9, 11, 17])
@pytest.mark.parametrize("axis", [-1, 0, 1])
@pytest.mark.parametrize("depth", ["int64[1] d = {4}", "int32[1] d = {4}", "float[1] d = {4}"])
def test_a_vector(depth: str, axis: int, opset: int) -> None:
    done = assert_rewrite(PASS, _model(depth, opset, axis), feeds=[{"i": INDEX}])
    assert done.ops == ["OneHot"]
    given = outputs_of(done.after, {"i": INDEX})["y"]
    np.testing.assert_array_equal(given, ROWS if axis else ROWS.T)
    stored = {tensor.name: tensor for tensor in done.after.graph.initializer}
    number = stored[done.after.graph.node[0].input[1]]
    assert not number.dims
    assert number.data_type == (6 if "int32" in depth else 7)
