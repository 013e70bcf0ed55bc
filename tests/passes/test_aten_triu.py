import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphfix.report import Status
from graphfix.testing import assert_rewrite, outputs_of, run_pass
from passes.aten.aten_triangles import evaluate_triu
from tests.passes.aten_models import LAYOUTS, array_of, aten_model, becomes
from tests.passes.resize_models import in_branch

PASS = "aten-triu"


@pytest.mark.parametrize("opset", [7, 9, 11, 13, 14, 18, 21])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_opset_and_layout(opset: int, layout: str) -> None:
    x = array_of(2, 3, 4)
    for diagonal in (-2, 0, 1):
        model = aten_model("triu", [2, 3, 4], [np.array(diagonal)], layout=layout, opset=opset)
        ops = ["Where"] if opset >= 9 else ["Mul"]
        becomes(PASS, model, {"x": x}, np.triu(x, diagonal), ops=ops)


def test_against_the_numpy_model() -> None:
    evaluators = {("org.pytorch.aten", "ATen.triu"): evaluate_triu}
    model = aten_model("triu", [4, 3], [np.array(-1)])
    assert_rewrite(PASS, model, feeds=[{"x": array_of(4, 3)}], evaluators=evaluators)


def test_in_a_branch() -> None:
    x = array_of(3, 3)
    done = run_pass(PASS, in_branch(aten_model("triu", [3, 3])))
    assert sum(len(o.sites) for o in done.with_status(Status.APPLIED)) == 2
    y = outputs_of(done.after, {"x": x, "c": np.array(False)})["y"]
    np.testing.assert_array_equal(y, np.triu(x))


@given(
    rows=st.integers(1, 5),
    columns=st.integers(1, 5),
    diagonal=st.integers(-6, 6),
    opset=st.sampled_from([7, 9, 13, 18]),
)
def test_any_triangle(rows: int, columns: int, diagonal: int, opset: int) -> None:
    x = array_of(2, rows, columns)
    model = aten_model("triu", ["N", rows, columns], [np.array(diagonal)], opset=opset)
    becomes(PASS, model, {"x": x}, np.triu(x, diagonal))
