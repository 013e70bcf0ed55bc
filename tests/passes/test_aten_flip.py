import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphfix.report import Status
from graphfix.testing import assert_rewrite, outputs_of, run_pass
from passes.aten.aten_flip import evaluate
from tests.passes.aten_models import LAYOUTS, Array, array_of, aten_model, becomes
from tests.passes.resize_models import in_branch

PASS = "aten-flip"


def ints(*values: int) -> Array:
    return np.array(values, dtype=np.int64)


@pytest.mark.parametrize("opset", [7, 9, 10, 13, 18, 21])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_opset_and_layout(opset: int, layout: str) -> None:
    x = array_of(2, 3, 4)
    model = aten_model("flip", [2, 3, 4], [ints(-2, 0)], layout=layout, opset=opset)
    becomes(PASS, model, {"x": x}, x[::-1, ::-1].copy(), ops=["Gather", "Gather"])


def test_against_the_numpy_model() -> None:
    evaluators = {("org.pytorch.aten", "ATen.flip"): evaluate}
    model = aten_model("flip", [2, 3], [ints(-1)])
    assert_rewrite(PASS, model, feeds=[{"x": array_of(2, 3)}], evaluators=evaluators)


def test_in_a_branch() -> None:
    x = array_of(2, 3)
    done = run_pass(PASS, in_branch(aten_model("flip", [2, 3], [ints(0)])))
    assert sum(len(o.sites) for o in done.with_status(Status.APPLIED)) == 2
    y = outputs_of(done.after, {"x": x, "c": np.array(False)})["y"]
    np.testing.assert_array_equal(y, x[::-1])


@given(axes=st.sets(st.integers(0, 2)), opset=st.sampled_from([7, 9, 13, 18]))
def test_any_axes(axes: set[int], opset: int) -> None:
    x = array_of(2, 3, 4)
    model = aten_model("flip", [2, 3, 4], [ints(*axes)], opset=opset)
    becomes(PASS, model, {"x": x}, np.flip(x, tuple(axes)).copy())
