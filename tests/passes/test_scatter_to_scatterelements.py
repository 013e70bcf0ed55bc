"""scatter-to-scatterelements: the new name of an operator that opset 11 deprecated."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphfix.report import EXACT, Status
from graphfix.testing import outputs_of, run_pass
from tests.passes.scatter_models import PLACES, feed_of, scatter_elements, scatter_model

PASS = "scatter-to-scatterelements"


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("opset", [11, 13, 18])
@pytest.mark.parametrize("dtype", ["float32", "int64", "bool"])
def test_the_new_name(opset: int, place: str, dtype: str) -> None:
    # The model is invalid before: the checker and onnxruntime refuse Scatter from opset 11 on.
    sizes: dict[str, Any] = {"data": ("R", 4), "axis": 1, "opset": opset, "dtype": dtype}
    model = scatter_model("Scatter", ("R", 2), ("R", 2), place=place, **sizes)
    feed = {**feed_of(model, {"R": 3}), "i": np.array([[3, 0], [1, 2], [2, 0]])}
    done = run_pass(PASS, model)
    assert done.with_status(Status.APPLIED)[0].sites[0].accuracy is EXACT
    assert not run_pass(PASS, done.after).with_status(Status.APPLIED)
    wanted = scatter_elements(feed["x"], feed["i"], feed["u"], 1)
    np.testing.assert_array_equal(outputs_of(done.after, feed)["y"], wanted)


@given(data=st.data())
def test_any_indices(data: st.DataObject) -> None:
    rows, columns = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 4))
    count = data.draw(st.integers(1, columns))
    lines = [data.draw(st.permutations(range(columns)))[:count] for _ in range(rows)]
    indices = np.array(lines)
    model = scatter_model(
        "Scatter", indices.shape, indices.shape, data=(rows, columns), axis=-1, opset=13
    )
    feed = {**feed_of(model), "i": indices}
    done = run_pass(PASS, model)
    wanted = scatter_elements(feed["x"], indices, feed["u"], -1)
    np.testing.assert_array_equal(outputs_of(done.after, feed)["y"], wanted)
