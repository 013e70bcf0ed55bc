"""gather-negative-index: indices counted from the front."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import numpy_helper

from graphfix.report import Status
from graphfix.testing import assert_rewrite, outputs_of, run_pass
from tests.passes.shape_models import text

PASS = "gather-negative-index"
X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)


@pytest.mark.parametrize("opset", [7, 11, 13, 18])
@pytest.mark.parametrize("axis", [1, -2])
def test_known_size(opset: int, axis: int) -> None:
    model = text(
        f"g (float[N,3,4] x) => (float[N,2,4] y) <int32[2] i = {{-1, 1}}> "
        f"{{ y = Gather <axis = {axis}> (x, i) }}",
        opset,
    )
    done = assert_rewrite(PASS, model, feeds=[{"x": X}], after=["Gather"])
    stored = numpy_helper.to_array(done.after.graph.initializer[0])
    assert stored.tolist() == [2, 1]
    assert stored.dtype == np.int32


@given(
    indices=st.lists(st.integers(-4, 3), min_size=1, max_size=5).filter(lambda v: min(v) < 0),
    axis=st.integers(-2, 1),
)
def test_any_indices(indices: list[int], axis: int) -> None:
    model = text(
        f"g (int64[4,4] x) => (int64[A,B] y) <int64[1] i = {{0}}> {{ y = Gather "
        f"<axis = {axis}> (x, i) }}"
    )
    model.graph.initializer[0].CopyFrom(numpy_helper.from_array(np.array(indices), "i"))
    x = np.arange(16).reshape(4, 4)
    done = run_pass(PASS, model)
    assert (numpy_helper.to_array(done.after.graph.initializer[0]) >= 0).all()
    given_ = outputs_of(done.after, {"x": x})["y"]
    np.testing.assert_array_equal(given_, np.take(x, indices, axis=axis))
    assert not run_pass(PASS, done.after).with_status(Status.APPLIED)
