import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import TensorProto

from graphfix.report import Status
from graphfix.testing import assert_refused, assert_rewrite, outputs_of, run_pass
from passes.aten.aten_triangles import evaluate_triu
from tests.passes.aten_models import LAYOUTS, array_of, aten_model, becomes, numpy_dtype
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


def test_attribute_and_default() -> None:
    x = array_of(3, 4)
    model = aten_model("triu", [3, 4], layout="default", attributes={"diagonal": -1})
    becomes(PASS, model, {"x": x}, np.triu(x, -1))
    becomes(PASS, aten_model("triu", [3, 4]), {"x": x}, np.triu(x))


def test_infinities_outside_are_dropped() -> None:
    x = np.full((3, 3), np.inf, dtype=np.float32)
    x[1, 1] = np.nan
    becomes(PASS, aten_model("triu", [3, 3]), {"x": x}, np.triu(x))


@pytest.mark.parametrize("opset", [14, 18])
def test_dynamic_sizes_become_trilu(opset: int) -> None:
    x = array_of(2, 3, 4)
    model = aten_model("triu", ["N", "H", 4], [np.array(1)], opset=opset)
    becomes(PASS, model, {"x": x}, np.triu(x, 1), ops=["Trilu"])
    model = aten_model("triu", ["N", "H", 4], [np.array(1)], opset=13)
    assert_refused(
        PASS, model, "the opset must be at least 14, which has Trilu, or the size known and small"
    )


@pytest.mark.parametrize("kind", [TensorProto.INT64, TensorProto.BOOL, TensorProto.DOUBLE])
def test_other_types(kind: int) -> None:
    dtype = numpy_dtype(kind)
    x = np.ones((3, 3), dtype=dtype)
    becomes(PASS, aten_model("triu", [3, 3], dtype=kind), {"x": x}, np.triu(x))


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
