from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphfix.report import Status
from graphfix.testing import assert_rewrite, outputs_of, run_pass
from passes.aten.aten_triangles import evaluate_tril, evaluate_triu
from tests.passes.aten_models import LAYOUTS, array_of, aten_model, becomes
from tests.passes.resize_models import in_branch

Cut = Callable[..., np.ndarray[Any, Any]]

both = pytest.mark.parametrize(("op", "cut"), [("tril", np.tril), ("triu", np.triu)])


@both
@pytest.mark.parametrize("opset", [7, 9, 11, 13, 14, 18, 21])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_opset_and_layout(op: str, cut: Cut, opset: int, layout: str) -> None:
    x = array_of(2, 3, 4)
    for diagonal in (-2, 0, 1):
        model = aten_model(op, [2, 3, 4], [np.array(diagonal)], layout=layout, opset=opset)
        ops = ["Where"] if opset >= 9 else ["Mul"]
        becomes(f"aten-{op}", model, {"x": x}, cut(x, diagonal), ops=ops)


@both
def test_attribute_and_default(op: str, cut: Cut) -> None:
    x = array_of(3, 4)
    model = aten_model(op, [3, 4], layout="default", attributes={"diagonal": -1})
    becomes(f"aten-{op}", model, {"x": x}, cut(x, -1))
    becomes(f"aten-{op}", aten_model(op, [3, 4]), {"x": x}, cut(x))


@pytest.mark.parametrize(("op", "evaluate"), [("tril", evaluate_tril), ("triu", evaluate_triu)])
def test_against_the_numpy_model(op: str, evaluate: Any) -> None:
    evaluators = {("org.pytorch.aten", f"ATen.{op}"): evaluate}
    model = aten_model(op, [4, 3], [np.array(-1)])
    assert_rewrite(f"aten-{op}", model, feeds=[{"x": array_of(4, 3)}], evaluators=evaluators)


@both
def test_in_a_branch(op: str, cut: Cut) -> None:
    x = array_of(3, 3)
    done = run_pass(f"aten-{op}", in_branch(aten_model(op, [3, 3])))
    assert sum(len(o.sites) for o in done.with_status(Status.APPLIED)) == 2
    y = outputs_of(done.after, {"x": x, "c": np.array(False)})["y"]
    np.testing.assert_array_equal(y, cut(x))


@both
@given(
    rows=st.integers(1, 5),
    columns=st.integers(1, 5),
    diagonal=st.integers(-6, 6),
    opset=st.sampled_from([7, 9, 13, 18]),
)
def test_any_triangle(
    op: str, cut: Cut, rows: int, columns: int, diagonal: int, opset: int
) -> None:
    x = array_of(2, rows, columns)
    model = aten_model(op, ["N", rows, columns], [np.array(diagonal)], opset=opset)
    becomes(f"aten-{op}", model, {"x": x}, cut(x, diagonal))
